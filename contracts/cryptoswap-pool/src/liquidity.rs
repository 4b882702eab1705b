//! Trades, deposits and withdrawals. What came in and was not needed goes back.

use cryptoswap_math::Coin;
use paraffin_contract::{Environment, Response, Revert, U256};

use crate::Optional;
use crate::state::{Stored, all_but, amount, refusal};
use crate::views::number;

/// Sells `sold` of coin `i` for coin `j`; answers how much of it goes out.
pub(crate) fn exchange(
    env: &mut Environment,
    i: u128,
    j: u128,
    sold: u128,
    smallest: u128,
) -> Result<Response, Revert> {
    let (coin, bought) = Coin::trade(i, j).map_err(refusal)?;
    let mut stored = Stored::load(env)?;
    let mut response = all_but(env, &[(stored.coins[coin.index()], sold)])?;
    let traded = stored.pool.exchange(coin, U256::from(sold), U256::from(smallest), env.height()).map_err(refusal)?;
    stored.store(env, U256::ZERO, U256::ZERO)?;
    response.alkanes.add(stored.coins[bought.index()], amount(traded.amount_out)?);
    Ok(response.with_data(number(traded.amount_out)))
}

/// Deposits both coins or one; answers how much liquidity goes out.
pub(crate) fn add_liquidity(
    env: &mut Environment,
    amount_0: u128,
    amount_1: u128,
    smallest_liquidity: u128,
) -> Result<Response, Revert> {
    let mut stored = Stored::load(env)?;
    let mut response = all_but(env, &[(stored.coins[0], amount_0), (stored.coins[1], amount_1)])?;
    let amounts = [U256::from(amount_0), U256::from(amount_1)];
    let minted = stored.pool.add_liquidity(amounts, U256::from(smallest_liquidity), env.height()).map_err(refusal)?;
    stored.store(env, minted, U256::ZERO)?;
    response.alkanes.add(env.myself(), amount(minted)?);
    Ok(response.with_data(number(minted)))
}

/// Burns liquidity for its share of both coins; answers both amounts. A killed pool allows it too.
pub(crate) fn remove_liquidity(
    env: &mut Environment,
    liquidity: u128,
    smallest_0: u128,
    smallest_1: Optional,
) -> Result<Response, Revert> {
    let mut stored = Stored::load(env)?;
    let mut response = all_but(env, &[(env.myself(), liquidity)])?;
    let burned = U256::from(liquidity);
    let minima = [U256::from(smallest_0), U256::from(smallest_1.0)];
    let out = stored.pool.remove_liquidity(burned, minima).map_err(refusal)?;
    stored.store(env, U256::ZERO, burned)?;
    for (id, value) in stored.coins.into_iter().zip(out) {
        response.alkanes.add(id, amount(value)?);
    }
    Ok(response.with_data(out.map(number).concat()))
}

/// Burns liquidity for coin `i` alone; answers how much of it goes out.
pub(crate) fn remove_liquidity_one_coin(
    env: &mut Environment,
    liquidity: u128,
    i: u128,
    smallest: u128,
) -> Result<Response, Revert> {
    let coin = Coin::from_index(i).map_err(refusal)?;
    let mut stored = Stored::load(env)?;
    let mut response = all_but(env, &[(env.myself(), liquidity)])?;
    let burned = U256::from(liquidity);
    let out =
        stored.pool.remove_liquidity_one_coin(burned, coin, U256::from(smallest), env.height()).map_err(refusal)?;
    stored.store(env, U256::ZERO, burned)?;
    response.alkanes.add(stored.coins[coin.index()], amount(out)?);
    Ok(response.with_data(number(out)))
}
