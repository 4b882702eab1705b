"""Answers the views and operations of random pools with the PyPI package `curvesim`, an independent model of the same contract.

Reads one JSON object per line from standard input and writes one per line to standard output; integers are strings. A view
that the package refuses is null. Nothing is downloaded.
"""

import copy
import json
import sys

from curvesim.pool.cryptoswap.pool import CurveCryptoPool


# The package claims fees after a deposit and before a withdrawal, this contract only inside a price change.
CurveCryptoPool._claim_admin_fees = lambda self: None


def attempt(view):
    try:
        return str(int(view()))
    except Exception:  # the package refuses with several kinds of errors
        return None


def after(pool, operation):
    """What the pool is after an operation on it, or null when the package refuses it."""
    pool = copy.deepcopy(pool)
    try:
        out = operation(pool)
    except Exception:  # as above
        return None
    return {
        "out": str(int(out)),
        "balances": [str(int(value)) for value in pool.balances],
        "d": str(int(pool.D)),
        "total_supply": str(int(pool.tokens)),
        "price_scale": str(int(pool.price_scale[0])),
        "price_oracle": str(int(pool._price_oracle[0])),
        "last_prices": str(int(pool.last_prices[0])),
        "virtual_price": str(int(pool.virtual_price)),
        "xcp_profit": str(int(pool.xcp_profit)),
    }


def answer(case):
    number = {name: int(value) for name, value in case.items() if isinstance(value, str)}
    pool = CurveCryptoPool(
        A=number["ann"],
        gamma=number["gamma"],
        n=2,
        precisions=[int(value) for value in case["precisions"]],
        mid_fee=number["mid_fee"],
        out_fee=number["out_fee"],
        allowed_extra_profit=number["allowed_extra_profit"],
        fee_gamma=number["fee_gamma"],
        adjustment_step=number["adjustment_step"],
        ma_half_time=number["ma_half_time"],
        price_scale=[number["price_scale"]],
        price_oracle=[number["price_oracle"]],
        last_prices=[number["last_prices"]],
        last_prices_timestamp=number["last_prices_time"],
        balances=[int(value) for value in case["balances"]],
        D=number["d"],
        tokens=number["total_supply"],
        admin_fee=number["admin_fee"],
        xcp_profit=number["xcp_profit"],
        xcp_profit_a=number["xcp_profit_a"],
    )
    pool.virtual_price = number["virtual_price"]
    pool._increment_timestamp(timestamp=number["now"])
    sold = number["sold"]
    amounts = [int(value) for value in case["deposit"]]
    return {
        "get_dy": attempt(lambda: pool.get_dy(sold, 1 - sold, number["amount"])),
        "calc_token_amount": attempt(lambda: pool.calc_token_amount(list(amounts))),
        "calc_withdraw_one_coin": attempt(lambda: pool.calc_withdraw_one_coin(number["burned"], sold)),
        "get_virtual_price": attempt(pool.get_virtual_price),
        "lp_price": attempt(pool.lp_price),
        "price_oracle": attempt(lambda: pool.price_oracle()[0]),
        "exchange": after(pool, lambda pool: pool.exchange(sold, 1 - sold, number["amount"])[0]),
        "add_liquidity": after(pool, lambda pool: pool.add_liquidity(list(amounts))),
        "remove_liquidity_one_coin": after(pool, lambda pool: pool.remove_liquidity_one_coin(number["burned"], 1, 0)),
    }


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))))


if __name__ == "__main__":
    main()
