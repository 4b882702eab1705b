//! What the owner alone may do. A unit of the ownership token comes in with the call and goes back.

use cryptoswap_math::{Curve, Pool};
use paraffin_contract::{AlkaneId, Environment, Response, Revert, U256, ensure, standard};

use crate::state::{Settings, Stored, blocks, coin, collect_fees, refusal, shortest_ramp};
use crate::views::number;

/// Coins have at most as many decimals as the fixed point.
const DECIMALS_MAX: u128 = 18;

/// Once: names the coins, their decimals, the price of coin 1 in coin 0 that the first depositor is expected to meet (between
/// normalised balances, over 1e18), the curve, and the settings.
#[expect(clippy::too_many_arguments, reason = "one for each parameter of the opcode")]
pub(crate) fn init_pool(
    env: &mut Environment,
    coin_0: AlkaneId,
    coin_1: AlkaneId,
    decimals_0: u128,
    decimals_1: u128,
    price: u128,
    a: u128,
    gamma: u128,
    mid_fee: u128,
    out_fee: u128,
    fee_gamma: u128,
    admin_fee: u128,
    allowed_extra_profit: u128,
    adjustment_step: u128,
    ma_half_time: u128,
    shortest_ramp_blocks: u128,
) -> Result<(), Revert> {
    standard::require_authority(env)?;
    env.initialize_once()?;
    ensure!(coin_0 != coin_1, "a pool needs two different coins");
    ensure!(coin_0 != env.myself() && coin_1 != env.myself(), "a pool cannot trade its own liquidity");
    let settings =
        Settings { mid_fee, out_fee, fee_gamma, admin_fee, allowed_extra_profit, adjustment_step, ma_half_time };
    let parameters = settings.checked([precision(decimals_0)?, precision(decimals_1)?])?;
    blocks(shortest_ramp_blocks)?;
    let pool = Pool::new(parameters, curve(a, gamma), U256::from(price), env.height()).map_err(refusal)?;
    coin(0).set(env, &coin_0);
    coin(1).set(env, &coin_1);
    shortest_ramp().set(env, &shortest_ramp_blocks);
    standard::total_supply().set(env, &0);
    Stored::new([coin_0, coin_1], pool).store(env, U256::ZERO, U256::ZERO)
}

/// What one base unit of a coin counts in 1e18.
fn precision(decimals: u128) -> Result<U256, Revert> {
    ensure!(decimals <= DECIMALS_MAX, "a coin has at most 18 decimals");
    Ok(U256::from(10u64.pow((DECIMALS_MAX - decimals) as u32)))
}

fn curve(a: u128, gamma: u128) -> Curve {
    Curve { ann: U256::from(a), gamma: U256::from(gamma) }
}

/// The owner's part of the profit goes out as liquidity, what was put aside before included; answers how much that is.
pub(crate) fn claim_admin_fees(env: &mut Environment) -> Result<Response, Revert> {
    standard::require_authority(env)?;
    let mut stored = Stored::load(env)?;
    stored.pool.claim_admin_fees(env.height()).map_err(refusal)?;
    stored.store(env, U256::ZERO, U256::ZERO)?;
    let claimed = collect_fees(env)?;
    let mut response = env.forward();
    response.alkanes.add(env.myself(), claimed);
    Ok(response.with_data(number(U256::from(claimed))))
}

/// Moves the curve on a straight line to another one, which it reaches at a height.
pub(crate) fn ramp_a_gamma(env: &mut Environment, a: u128, gamma: u128, end_height: u128) -> Result<(), Revert> {
    let shortest = blocks(shortest_ramp().get(env)?)?;
    change(env, |pool, now| {
        pool.ramp = pool.ramp.begin(now, curve(a, gamma), blocks(end_height)?, shortest).map_err(refusal)?;
        Ok(())
    })
}

/// Leaves the curve as it is at this height.
pub(crate) fn stop_ramp_a_gamma(env: &mut Environment) -> Result<(), Revert> {
    change(env, |pool, now| {
        pool.ramp = pool.ramp.stop(now).map_err(refusal)?;
        Ok(())
    })
}

/// Sets everything but coins and curve. What was earned until now is shared at the part of until now.
#[expect(clippy::too_many_arguments, reason = "one for each parameter of the opcode")]
pub(crate) fn set_parameters(
    env: &mut Environment,
    mid_fee: u128,
    out_fee: u128,
    fee_gamma: u128,
    admin_fee: u128,
    allowed_extra_profit: u128,
    adjustment_step: u128,
    ma_half_time: u128,
) -> Result<(), Revert> {
    let settings =
        Settings { mid_fee, out_fee, fee_gamma, admin_fee, allowed_extra_profit, adjustment_step, ma_half_time };
    change(env, |pool, now| {
        let parameters = settings.checked(pool.parameters.precisions)?;
        if parameters.admin_fee != pool.parameters.admin_fee && !pool.total_supply.is_zero() {
            pool.claim_admin_fees(now).map_err(refusal)?;
        }
        pool.parameters = parameters;
        Ok(())
    })
}

/// From now on only a withdrawal of both coins is possible.
pub(crate) fn kill_me(env: &mut Environment) -> Result<(), Revert> {
    change(env, |pool, _| {
        pool.is_killed = true;
        Ok(())
    })
}

/// Allows everything again.
pub(crate) fn unkill_me(env: &mut Environment) -> Result<(), Revert> {
    change(env, |pool, _| {
        pool.is_killed = false;
        Ok(())
    })
}

/// A change by the owner.
fn change(env: &mut Environment, how: impl FnOnce(&mut Pool, u64) -> Result<(), Revert>) -> Result<(), Revert> {
    standard::require_authority(env)?;
    let mut stored = Stored::load(env)?;
    how(&mut stored.pool, env.height())?;
    stored.store(env, U256::ZERO, U256::ZERO)
}
