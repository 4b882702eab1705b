//! Properties of every pool. `PARAFFIN_LONG=1` runs at least a million cases of each.

mod pools;

use paraffin_cryptoswap_math::{
    Coin, Curve, MathError, Pool, U256, deposit_fee, geometric_mean, lp_price, moving_average, newton_d, newton_y,
    square_root,
};
use pools::{any_coin, any_curve, any_pool, base_units, cases, int, spread};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

const NOW: u64 = 1_000;

/// A part per million of the pool's balance of a coin.
fn part(pool: &Pool, coin: Coin, per_million: u32) -> U256 {
    pool.balances[coin.index()] * int(per_million.into()) / int(1_000_000)
}

fn any_word() -> impl Strategy<Value = U256> {
    prop_oneof![
        any::<[u64; 4]>().prop_map(U256::from_limbs),
        any::<u64>().prop_map(U256::from),
        any::<u128>().prop_map(U256::from),
        Just(U256::ZERO),
        Just(U256::MAX),
    ]
}

/// The properties below say nothing about a pool that could not be made or a trade that is refused: most are not.
#[test]
fn most_random_pools_stand_and_trade() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut pools, mut trades) = (0, 0);
    for _ in 0..300 {
        let pool = any_pool().new_tree(&mut runner).unwrap().current();
        let Some(mut pool) = pool else { continue };
        pools += 1;
        let amount = part(&pool, Coin::Zero, 50_000);
        trades += u32::from(pool.exchange(Coin::Zero, amount, U256::ZERO, NOW).is_ok());
    }
    assert!(pools >= 240, "{pools} of 300");
    assert!(trades >= 200, "{trades} of {pools}");
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn the_geometric_mean_is_the_root_of_the_product_within_a_unit_of_its_last_digits(
        a in spread(9, 33),
        b in spread(9, 33),
    ) {
        let mean = geometric_mean([int(a), int(b)]).unwrap();
        let root = (int(a) * int(b)).root(2);
        prop_assert!(mean.abs_diff(root) <= int(2) + root / int(10).pow(int(18)), "{} {}", mean, root);
        prop_assert_eq!(Ok(mean), geometric_mean([int(b), int(a)]));
    }

    #[test]
    fn a_balance_from_the_invariant_is_the_balance_that_gave_it(
        curve in any_curve(),
        value in spread(18, 31),
        per_mille in 20u128..1_000,
    ) {
        let x = [int(value), int(value / 1_000 * per_mille)];
        if let Ok(d) = newton_d(curve, x) {
            for coin in [Coin::Zero, Coin::One] {
                if let Ok(y) = newton_y(curve, x, d, coin) {
                    let own = x[coin.index()];
                    let tolerance = own.max(d) / int(10_000_000_000) + int(1_000);
                    prop_assert!(y.abs_diff(own) <= tolerance, "{} for {} at D {}", y, own, d);
                }
            }
        }
    }

    #[test]
    fn the_invariant_is_at_most_the_sum_and_does_not_depend_on_the_order(
        curve in any_curve(),
        a in spread(18, 31),
        per_mille in 20u128..1_000,
    ) {
        let x = [int(a), int(a / 1_000 * per_mille)];
        let d = newton_d(curve, x);
        prop_assert_eq!(&d, &newton_d(curve, [x[1], x[0]]));
        if let Ok(d) = d {
            let sum = x[0] + x[1];
            prop_assert!(d <= sum + sum / int(10).pow(int(14)) + int(1_000), "{} {}", d, sum);
        }
    }

    #[test]
    fn a_pool_at_the_price_of_one_is_the_same_seen_from_either_side(
        pool in any_pool(),
        sold in any_coin(),
        per_million in 1u32..300_000,
    ) {
        let Some(mut pool) = pool else { return Ok(()) };
        pool.price_scale = int(1_000_000_000_000_000_000);
        pool.parameters.precisions = [int(1); 2];
        let value = pool.d;
        pool.balances = [value, value / int(2) + value / int(7)];
        let Ok(d) = newton_d(pool.curve(NOW).unwrap(), pool.balances) else { return Ok(()) };
        pool.d = d;
        let mut mirrored = pool.clone();
        mirrored.balances.swap(0, 1);
        let amount = part(&pool, sold, per_million);
        prop_assert_eq!(pool.get_dy(sold, amount, NOW), mirrored.get_dy(sold.other(), amount, NOW));
    }

    #[test]
    fn more_in_never_gives_less_out(
        pool in any_pool(),
        sold in any_coin(),
        small in 1u32..200_000,
        more in 1u32..200_000,
    ) {
        let Some(pool) = pool else { return Ok(()) };
        // The fee rises with the imbalance; the statement is about the curve, so it is held level.
        let mut pool = pool;
        pool.parameters.mid_fee = pool.parameters.out_fee;
        let less = pool.get_dy(sold, part(&pool, sold, small), NOW);
        let greater = pool.get_dy(sold, part(&pool, sold, small + more), NOW);
        if let (Ok(less), Ok(greater)) = (less, greater) {
            let bought = sold.other();
            let tolerance = base_units(&pool.parameters, pool.price_scale, bought, pool.d / int(10).pow(int(13))) + int(2);
            prop_assert!(greater + tolerance >= less, "{} then {}", less, greater);
        }
    }

    #[test]
    fn a_round_trip_of_quotes_never_gains(pool in any_pool(), sold in any_coin(), per_million in 1u32..300_000) {
        let Some(pool) = pool else { return Ok(()) };
        let amount = part(&pool, sold, per_million);
        let Ok(out) = pool.get_dy(sold, amount, NOW) else { return Ok(()) };
        let mut after = pool.clone();
        after.balances[sold.index()] += amount;
        after.balances[sold.other().index()] -= out;
        if let Ok(back) = after.get_dy(sold.other(), out, NOW) {
            prop_assert!(back <= amount + rounding(&pool, sold), "{} back for {}", back, amount);
        }
    }

    #[test]
    fn a_round_trip_of_trades_never_gains(pool in any_pool(), sold in any_coin(), per_million in 1u32..300_000) {
        let Some(mut pool) = pool else { return Ok(()) };
        let amount = part(&pool, sold, per_million);
        let slack = rounding(&pool, sold);
        let Ok(out) = pool.exchange(sold, amount, U256::ZERO, NOW) else { return Ok(()) };
        if let Ok(back) = pool.exchange(sold.other(), out.amount_out, U256::ZERO, NOW) {
            prop_assert!(back.amount_out <= amount + slack, "{} back for {}", back.amount_out, amount);
        }
    }

    #[test]
    fn an_exchange_pays_its_quote_and_never_lowers_the_virtual_price_below_one(
        pool in any_pool(),
        trades in prop::collection::vec((any_coin(), 1u32..150_000, 0u64..50), 1..12),
    ) {
        let Some(mut pool) = pool else { return Ok(()) };
        let mut now = NOW;
        for (sold, per_million, later) in trades {
            now += later;
            let amount = part(&pool, sold, per_million);
            let (before, quote) = (pool.clone(), pool.get_dy(sold, amount, now));
            if let Ok(traded) = pool.exchange(sold, amount, U256::ZERO, now) {
                    prop_assert_eq!(Ok(traded.amount_out), quote);
                    let bought = sold.other();
                    prop_assert_eq!(pool.balances[sold.index()], before.balances[sold.index()] + amount);
                    prop_assert_eq!(pool.balances[bought.index()], before.balances[bought.index()] - traded.amount_out);
                    prop_assert!(pool.virtual_price >= int(1_000_000_000_000_000_000));
                    prop_assert!(pool.total_supply >= before.total_supply);
                    if pool.price_scale != before.price_scale {
                    scale_moved_by_the_rule(&before, &pool)?;
                }
            } else {
                prop_assert_eq!(&pool, &before, "a refused trade changes nothing");
            }
        }
    }

    #[test]
    fn a_deposit_taken_out_again_never_gains(
        pool in any_pool(),
        zero in 0u32..300_000,
        one in 0u32..300_000,
    ) {
        let Some(mut pool) = pool else { return Ok(()) };
        let amounts = [part(&pool, Coin::Zero, zero), part(&pool, Coin::One, one)];
        let before = pool.clone();
        let Ok(minted) = pool.add_liquidity(amounts, U256::ZERO, NOW) else {
            prop_assert_eq!(&pool, &before);
            return Ok(());
        };
        let Ok(out) = pool.remove_liquidity(minted, [U256::ZERO; 2]) else { return Ok(()) };
        let invariant_of = |balances: [U256; 2]| {
            let mut pool = before.clone();
            pool.balances = balances;
            newton_d(pool.curve(NOW).unwrap(), pool.normalised_balances().unwrap())
        };
        // Those who stay have at least the invariant per token that they had.
        if let (Ok(left), Ok(had)) = (invariant_of(pool.balances), invariant_of(before.balances)) {
            let slack = had / int(10).pow(int(13)) + int(100_000);
            prop_assert!(left * before.total_supply / pool.total_supply + slack >= had, "{} left of {}", left, had);
        }
        prop_assert!(out[0] <= pool.balances[0] + out[0] && out[1] <= pool.balances[1] + out[1]);
        prop_assert!(!(out[0] > amounts[0] && out[1] > amounts[1]), "{:?} for {:?}", out, amounts);
    }

    #[test]
    fn a_withdrawal_in_one_coin_gives_no_more_than_the_share_is_worth(
        pool in any_pool(),
        coin in any_coin(),
        per_million in 1u32..200_000,
    ) {
        let Some(pool) = pool else { return Ok(()) };
        let burned = pool.total_supply * int(per_million.into()) / int(1_000_000);
        let mut after = pool.clone();
        let quoted = pool.calc_withdraw_one_coin(burned, coin, NOW);
        if let Ok(amount) = after.remove_liquidity_one_coin(burned, coin, U256::ZERO, NOW) {
                prop_assert_eq!(Ok(amount), quoted);
                let supply = pool.total_supply - burned;
                prop_assert!(after.d >= pool.d * supply / pool.total_supply || after.price_scale != pool.price_scale);
                prop_assert!(!after.ramp.is_pending());
        } else {
            prop_assert_eq!(&after, &pool, "a refused withdrawal changes nothing");
        }
    }

    #[test]
    fn a_withdrawal_of_both_coins_keeps_the_virtual_price(pool in any_pool(), per_million in 1u32..990_000) {
        let Some(mut pool) = pool else { return Ok(()) };
        let before = pool.get_virtual_price().unwrap();
        let burned = pool.total_supply * int(per_million.into()) / int(1_000_000);
        let quoted = pool.calc_withdraw(burned);
        let out = pool.remove_liquidity(burned, [U256::ZERO; 2]);
        prop_assert_eq!(&out, &quoted);
        if out.is_ok() {
            let after = pool.get_virtual_price().unwrap();
            // The geometric mean may stop some units beside the root, and both numbers that it takes are floored: this counts the
            // more, the smaller they are.
            let one = int(1_000_000_000_000_000_000);
            let sides = [pool.d / int(2), pool.d * one / (pool.price_scale * int(2))];
            let slack = int(3) * one / pool.total_supply + one / sides[0] + one / sides[1] + int(4);
            prop_assert!(after + slack >= before, "{} to {}", before, after);
        }
    }

    #[test]
    fn a_claim_takes_the_admin_part_of_the_profit_and_no_more(
        pool in any_pool(),
        trades in prop::collection::vec((any_coin(), 1_000u32..150_000), 1..6),
    ) {
        let Some(mut pool) = pool else { return Ok(()) };
        for (sold, per_million) in trades {
            let _ = pool.exchange(sold, part(&pool, sold, per_million), U256::ZERO, NOW);
        }
        let before = pool.clone();
        let Ok(minted) = pool.claim_admin_fees(NOW) else { return Ok(()) };
        prop_assert_eq!(pool.total_supply, before.total_supply + minted);
        if !before.parameters.admin_fee_is_paid || before.parameters.admin_fee.is_zero() {
            prop_assert_eq!(minted, U256::ZERO);
        }
        // The profit is shared half and half between the scale and the tokens, so at most half of it leaves.
        let profit = before.xcp_profit.saturating_sub(before.xcp_profit_a);
        prop_assert!(before.virtual_price.saturating_sub(pool.virtual_price) <= profit / int(2) + int(10_000));
        let again = pool.claim_admin_fees(NOW);
        prop_assert_eq!(again, Ok(U256::ZERO), "nothing is left to claim");
    }

    #[test]
    fn an_average_lies_between_the_prices(
        oracle in spread(10, 24),
        last in spread(10, 24),
        elapsed in 0u64..100_000,
        half_time in 1u64..10_000,
    ) {
        let average = moving_average(int(oracle), int(last), elapsed, half_time).unwrap();
        let slack = int(oracle.max(last)) / int(10).pow(int(9)) + int(1);
        prop_assert!(average + slack >= int(oracle.min(last)) && average <= int(oracle.max(last)) + slack);
    }

    #[test]
    fn a_root_is_the_root_where_the_rule_settles(x in spread(1, 38)) {
        match square_root(int(x)) {
            Ok(root) => {
                let exact = (int(x) * int(10).pow(int(18))).root(2);
                prop_assert!(root.abs_diff(exact) <= int(1), "{} {}", root, exact);
            }
            Err(error) => prop_assert_eq!(error, MathError::NotConverged("a square root")),
        }
    }

    #[test]
    fn nothing_panics_whatever_the_numbers(
        pool in any_pool(),
        words in prop::array::uniform8(any_word()),
        times in any::<[u64; 4]>(),
        coin in any_coin(),
    ) {
        let [a, b, c, d, e, f, g, h] = words;
        let wild = Curve { ann: g, gamma: h };
        let _ = (newton_d(wild, [a, b]), newton_y(wild, [a, b], c, coin), geometric_mean([a, b]));
        let _ = (square_root(a), lp_price(a, b), moving_average(a, b, times[0], times[1]));
        let Some(mut pool) = pool else { return Ok(()) };
        let _ = (newton_d(pool.ramp.future, [a, b]), newton_y(pool.ramp.future, [a, b], c, coin));
        let _ = deposit_fee(&pool.parameters, [a, b], [c, d]);
        let steady = pool.clone();
        for step in 0..6 {
            pool = steady.clone();
            match step {
                0 => (pool.balances, pool.d) = ([a, b], c),
                1 => (pool.price_scale, pool.total_supply) = (a, b),
                2 => (pool.price_oracle, pool.last_prices, pool.virtual_price) = (a, b, c),
                3 => (pool.xcp_profit, pool.xcp_profit_a, pool.surplus) = (a, b, [c, d]),
                4 => (pool.ramp.begin, pool.ramp.end, pool.ramp.future) = (times[0], times[1], wild),
                _ => (pool.parameters.ma_half_time, pool.parameters.precisions) = (times[3], [a, b]),
            }
            let now = times[2];
            let _ = (pool.get_dy(coin, e, now), pool.calc_token_amount([e, f], now), pool.calc_withdraw(e));
            let _ = (pool.calc_withdraw_one_coin(e, coin, now), pool.get_virtual_price(), pool.fee());
            let _ = (pool.lp_price(now), pool.price_oracle(now), pool.ramp.at(now), pool.ramp.stop(now));
            let _ = (pool.exchange(coin, e, f, now), pool.add_liquidity([e, f], U256::ZERO, now));
            let _ = (pool.remove_liquidity(e, [f, f]), pool.remove_liquidity_one_coin(e, coin, f, now));
            let _ = pool.claim_admin_fees(now);
        }
    }
}

/// A step of the price scale: towards the average, of the size that the rule says, and with half of the profit left.
fn scale_moved_by_the_rule(before: &Pool, after: &Pool) -> Result<(), TestCaseError> {
    let one = int(1_000_000_000_000_000_000);
    let (scale, oracle) = (before.price_scale, after.price_oracle);
    let distance = (oracle * one / scale).abs_diff(one);
    let step = before.parameters.adjustment_step.max(distance / U256::from(before.parameters.adjustment_divisor));
    prop_assert!(after.not_adjusted && distance > step);
    prop_assert_eq!(after.price_scale, (scale * (distance - step) + step * oracle) / distance);
    prop_assert!(after.virtual_price > one && after.virtual_price * int(2) - one > after.xcp_profit);
    Ok(())
}

/// What flooring may leave in a trader's favour: the iteration's tolerance, in base units.
fn rounding(pool: &Pool, coin: Coin) -> U256 {
    base_units(&pool.parameters, pool.price_scale, coin, pool.d / int(10).pow(int(13))) + int(2)
}
