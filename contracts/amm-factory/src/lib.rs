//! Creates pools, finds them, and routes trades and liquidity through them.
//!
//! Users call the factory through an upgradeable proxy at `4:65522`. Whatever a call brought and did not use, and whatever the
//! pools gave, goes back to the caller.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

mod pools;
mod routes;

use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Call, Environment, Parcel, Response, Revert, contract, ensure, standard};
use pools::{Pair, beacon, find, pool_at, pool_count, pool_opcode, register, template};
use routes::{add_liquidity, burn, swap_exact_implicit, swap_exact_in, swap_exact_out};

contract! {
    /// Creates pools and routes through them.
    AmmFactory {
        0 => init_factory(pool_template_tx: u128, beacon_id: AlkaneId);
        1 => create_new_pool(token_a: AlkaneId, token_b: AlkaneId, amount_a: u128, amount_b: u128) -> Response;
        2 => find_existing_pool_id(token_a: AlkaneId, token_b: AlkaneId) -> AlkaneId;
        3 => get_all_pools() -> Vec<u8>;
        4 => get_num_pools() -> u128;
        7 => set_pool_factory_id(pool_template_tx: u128);
        10 => collect_fees(pool_id: AlkaneId) -> Response;
        11 => add_liquidity(
            token_a: AlkaneId, token_b: AlkaneId, amount_a_desired: u128, amount_b_desired: u128,
            amount_a_min: u128, amount_b_min: u128, deadline: u128,
        ) -> Response;
        12 => burn(
            token_a: AlkaneId, token_b: AlkaneId, liquidity: u128, amount_a_min: u128, amount_b_min: u128, deadline: u128,
        ) -> Response;
        13 => swap_exact_in(path: Vec<AlkaneId>, amount_in: u128, amount_out_min: u128, deadline: u128) -> Response;
        14 => swap_exact_out(path: Vec<AlkaneId>, amount_out: u128, amount_in_max: u128, deadline: u128) -> Response;
        21 => set_total_fee_for_pool(pool_id: AlkaneId, total_fee_per_1000: u128);
        29 => swap_exact_implicit(path: Vec<AlkaneId>, amount_out_min: u128, deadline: u128) -> Response;
        50 => forward();
    }
}

/// Opcode of a beacon proxy that names its beacon.
const PROXY_INITIALIZE: u128 = 0x7fff;

/// Owner only, once: the number n of the pools' template `4:n`, and the beacon that names their code.
fn init_factory(env: &mut Environment, pool_template_tx: u128, beacon_id: AlkaneId) -> Result<(), Revert> {
    standard::require_authority(env)?;
    env.initialize_once()?;
    template().set(env, &pool_template_tx);
    beacon().set(env, &beacon_id);
    Ok(())
}

/// Owner only: another template for pools to come.
fn set_pool_factory_id(env: &mut Environment, pool_template_tx: u128) -> Result<(), Revert> {
    standard::require_authority(env)?;
    template().set(env, &pool_template_tx);
    Ok(())
}

/// Creates the pool of two alkanes and makes its first deposit; the liquidity and what is left go out.
fn create_new_pool(
    env: &mut Environment,
    token_a: AlkaneId,
    token_b: AlkaneId,
    amount_a: u128,
    amount_b: u128,
) -> Result<Response, Revert> {
    let pair = Pair::of(token_a, token_b)?;
    ensure!(find(env, &pair)?.is_none(), "the pool exists already");
    let mut purse = env.incoming().clone();
    let mut deposit = Parcel::from(purse.take(token_a, amount_a)?);
    deposit.extend(&purse.take(token_b, amount_b)?.into());
    let pool = AlkaneId::new(2, env.sequence());
    let copy = AlkaneId::new(6, template().require(env, "the factory is not initialized")?);
    let beacon = beacon().require(env, "the factory is not initialized")?;
    env.call(&Call::new(copy, vec![PROXY_INITIALIZE]).with_id(beacon))?;
    let initialize = Call::new(pool, vec![pool_opcode::INITIALIZE]).with_id(pair.lower()).with_id(pair.higher());
    let answer = env.call(&initialize.with_id(env.myself()).sending(deposit))?;
    // Stored after the calls, so that the writes stand in this call's own response.
    register(env, &pair, pool)?;
    purse.extend(&answer.alkanes);
    Ok(Response::sending(purse).with_data(pool.to_bytes()))
}

/// The pool of two alkanes, in any order. Reverts when there is none.
fn find_existing_pool_id(env: &mut Environment, token_a: AlkaneId, token_b: AlkaneId) -> Result<AlkaneId, Revert> {
    find(env, &Pair::of(token_a, token_b)?)?.ok_or_else(|| Revert::from("there is no pool of these two alkanes"))
}

/// Number of pools in 16 bytes, then 32 bytes for each id, oldest first.
fn get_all_pools(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    let count = pool_count().get(env)?;
    let mut data = count.to_le_bytes().to_vec();
    for index in 0..count {
        data.extend_from_slice(&pool_at(index).require(env, "a pool is missing in the list")?.to_bytes());
    }
    Ok(data)
}

fn get_num_pools(env: &mut Environment) -> Result<u128, Revert> {
    pool_count().get(env)
}

/// Owner only: the liquidity that the protocol earned in a pool goes out.
fn collect_fees(env: &mut Environment, pool_id: AlkaneId) -> Result<Response, Revert> {
    standard::require_authority(env)?;
    let answer = env.call(&Call::new(pool_id, vec![pool_opcode::COLLECT_FEES]))?;
    let mut response = env.forward();
    response.alkanes.extend(&answer.alkanes);
    Ok(response)
}

/// Owner only: the fee of a pool, per 1000.
fn set_total_fee_for_pool(env: &mut Environment, pool_id: AlkaneId, total_fee_per_1000: u128) -> Result<(), Revert> {
    standard::require_authority(env)?;
    env.call(&Call::new(pool_id, vec![pool_opcode::SET_TOTAL_FEE, total_fee_per_1000]))?;
    Ok(())
}

/// Gives back what came in.
fn forward(_: &mut Environment) -> Result<(), Revert> {
    Ok(())
}
