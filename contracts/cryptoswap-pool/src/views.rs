//! What the pool answers without changing: numbers of 32 bytes, little-endian.

use cryptoswap_math::{Coin, MathError, Pool};
use paraffin_contract::prelude::*;
use paraffin_contract::{Environment, Revert, U256};

use crate::state::{Stored, refusal};

/// A number as every view answers it.
pub(crate) fn number(value: U256) -> Vec<u8> {
    value.to_le_bytes::<32>().to_vec()
}

/// The answer of a view from the pool and the height.
fn view(env: &Environment, of: impl FnOnce(&Pool, u64) -> Result<U256, MathError>) -> Result<Vec<u8>, Revert> {
    of(&Stored::load(env)?.pool, env.height()).map(number).map_err(refusal)
}

pub(crate) fn get_virtual_price(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, |pool, _| pool.get_virtual_price())
}

/// Both balances, coin 0 first.
pub(crate) fn get_balances(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    let [zero, one] = Stored::load(env)?.pool.balances;
    Ok([number(zero), number(one)].concat())
}

/// A times 40,000, as it is at this height.
pub(crate) fn get_a(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, |pool, now| Ok(pool.curve(now)?.ann))
}

/// As it is at this height.
pub(crate) fn get_gamma(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, |pool, now| Ok(pool.curve(now)?.gamma))
}

/// The average price, as it is at this height.
pub(crate) fn price_oracle(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, Pool::price_oracle)
}

pub(crate) fn price_scale(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, |pool, _| Ok(pool.price_scale))
}

/// Coin 0 per unit of liquidity. That this is answered tells a pool from a token.
pub(crate) fn lp_price(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, Pool::lp_price)
}

/// What [`crate::exchange`] would give.
pub(crate) fn get_dy(env: &mut Environment, i: u128, j: u128, amount: u128) -> Result<Vec<u8>, Revert> {
    let (sold, _) = Coin::trade(i, j).map_err(refusal)?;
    view(env, |pool, now| pool.get_dy(sold, U256::from(amount), now))
}

/// What [`crate::add_liquidity`] would mint.
pub(crate) fn calc_token_amount(env: &mut Environment, amount_0: u128, amount_1: u128) -> Result<Vec<u8>, Revert> {
    view(env, |pool, now| pool.calc_token_amount([U256::from(amount_0), U256::from(amount_1)], now))
}

/// What [`crate::remove_liquidity_one_coin`] would give.
pub(crate) fn calc_withdraw_one_coin(env: &mut Environment, liquidity: u128, i: u128) -> Result<Vec<u8>, Revert> {
    let coin = Coin::from_index(i).map_err(refusal)?;
    view(env, |pool, now| pool.calc_withdraw_one_coin(U256::from(liquidity), coin, now))
}

/// The fee at the balances of now, over 1e10.
pub(crate) fn fee(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, |pool, _| pool.fee())
}

pub(crate) fn total_supply(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    view(env, |pool, _| Ok(pool.total_supply))
}
