//! A constant-product pool of two alkanes, which is also its liquidity token.
//!
//! Reserves are what the pool holds: there is no slot for them. Every pool is a beacon proxy that runs this code.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

mod liquidity;
mod state;
mod swap;

use liquidity::{add_liquidity, collect_fees, init_pool, withdraw_and_burn};
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Environment, Response, Revert, contract, ensure, standard};
use state::{Pool, require_factory};
use swap::swap;

contract! {
    /// A pool of two alkanes.
    AmmPool {
        0 => init_pool(alkane_a: AlkaneId, alkane_b: AlkaneId, factory: AlkaneId) -> Response;
        1 => add_liquidity() -> Response;
        2 => withdraw_and_burn() -> Response;
        3 => swap(amount_0_out: u128, amount_1_out: u128, to: AlkaneId, data: Vec<u128>) -> Response;
        10 => collect_fees() -> Response;
        20 => get_total_fee() -> u128;
        21 => set_total_fee(total_fee_per_1000: u128);
        50 => forward();
        97 => get_reserves() -> Vec<u8>;
        98 => get_price_cumulative_last() -> Vec<u8>;
        99 => get_name() -> String;
        999 => pool_details() -> Vec<u8>;
    }
}

fn get_total_fee(env: &mut Environment) -> Result<u128, Revert> {
    state::fee(env)
}

/// Factory only. At least the protocol's part, below the whole.
fn set_total_fee(env: &mut Environment, total_fee_per_1000: u128) -> Result<(), Revert> {
    require_factory(env)?;
    let allowed = amm_math::FEE_PROTOCOL..amm_math::FEE_DENOMINATOR;
    ensure!(allowed.contains(&total_fee_per_1000), "the fee is out of range");
    state::total_fee().set(env, &total_fee_per_1000);
    Ok(())
}

/// Gives back what came in.
fn forward(_: &mut Environment) -> Result<(), Revert> {
    Ok(())
}

/// Both reserves, 16 bytes each.
fn get_reserves(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    let reserves = Pool::load(env)?.reserves(env);
    Ok(reserves.iter().flat_map(|reserve| reserve.to_le_bytes()).collect())
}

/// Both sums of price times seconds, 32 bytes each, in 128 fractional bits.
fn get_price_cumulative_last(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    let mut data = Vec::with_capacity(64);
    for index in 0..2 {
        let sum: [u8; 32] = state::price_cumulative(index).get(env)?.to_le_bytes();
        data.extend_from_slice(&sum);
    }
    Ok(data)
}

fn get_name(env: &mut Environment) -> Result<String, Revert> {
    standard::name().get(env)
}

/// Both ids, both reserves, the supply, then the name behind its length in four bytes.
#[expect(clippy::cast_possible_truncation, reason = "a name is far shorter than 4 GiB")]
fn pool_details(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    let pool = Pool::load(env)?;
    let name = standard::name().get(env)?;
    let mut data = Vec::with_capacity(116 + name.len());
    for alkane in pool.alkanes {
        data.extend_from_slice(&alkane.to_bytes());
    }
    for reserve in pool.reserves(env) {
        data.extend_from_slice(&reserve.to_le_bytes());
    }
    data.extend_from_slice(&standard::total_supply().get(env)?.to_le_bytes());
    data.extend_from_slice(&(name.len() as u32).to_le_bytes());
    data.extend_from_slice(name.as_bytes());
    Ok(data)
}
