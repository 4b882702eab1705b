//! Liquidity and trades through the pools, with the limits that the caller sets.

use amm_math::{amount_in, amount_out, quote};
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Call, Environment, Parcel, Response, Revert, ensure};

use crate::pools::{Hop, Pair, find, pool_opcode};

const NO_POOL: &str = "there is no pool of these two alkanes";

/// Reverts above the height `deadline`; 0 is no deadline.
fn require_in_time(env: &Environment, deadline: u128) -> Result<(), Revert> {
    ensure!(deadline == 0 || u128::from(env.height()) <= deadline, "the deadline has passed");
    Ok(())
}

/// Deposits at the pool's ratio, at most the desired and at least the smallest amounts.
#[expect(clippy::too_many_arguments, reason = "the parameters of the opcode")]
pub(crate) fn add_liquidity(
    env: &mut Environment,
    token_a: AlkaneId,
    token_b: AlkaneId,
    amount_a_desired: u128,
    amount_b_desired: u128,
    amount_a_min: u128,
    amount_b_min: u128,
    deadline: u128,
) -> Result<Response, Revert> {
    require_in_time(env, deadline)?;
    let pool = find(env, &Pair::of(token_a, token_b)?)?.ok_or(NO_POOL)?;
    let (reserve_a, reserve_b) = (env.balance(pool, token_a), env.balance(pool, token_b));
    let fitting_b = quote(amount_a_desired, reserve_a, reserve_b).filter(|amount| *amount <= amount_b_desired);
    let (amount_a, amount_b) = if let Some(amount_b) = fitting_b {
        (amount_a_desired, amount_b)
    } else {
        let amount_a = quote(amount_b_desired, reserve_b, reserve_a).ok_or("the pool is empty")?;
        ensure!(amount_a <= amount_a_desired, "the desired amounts do not fit the pool");
        (amount_a, amount_b_desired)
    };
    ensure!(amount_a >= amount_a_min && amount_b >= amount_b_min, "less than the smallest amount would be deposited");
    let mut purse = env.incoming().clone();
    let mut deposit = Parcel::from(purse.take(token_a, amount_a)?);
    deposit.extend(&purse.take(token_b, amount_b)?.into());
    let answer = env.call(&Call::new(pool, vec![pool_opcode::ADD_LIQUIDITY]).sending(deposit))?;
    purse.extend(&answer.alkanes);
    Ok(Response::sending(purse))
}

/// Withdraws for `liquidity` and takes no less than the smallest amounts.
pub(crate) fn burn(
    env: &mut Environment,
    token_a: AlkaneId,
    token_b: AlkaneId,
    liquidity: u128,
    amount_a_min: u128,
    amount_b_min: u128,
    deadline: u128,
) -> Result<Response, Revert> {
    require_in_time(env, deadline)?;
    let pool = find(env, &Pair::of(token_a, token_b)?)?.ok_or(NO_POOL)?;
    let mut purse = env.incoming().clone();
    let burned = Parcel::from(purse.take(pool, liquidity)?);
    let answer = env.call(&Call::new(pool, vec![pool_opcode::WITHDRAW_AND_BURN]).sending(burned))?;
    let enough = answer.alkanes.amount_of(token_a) >= amount_a_min && answer.alkanes.amount_of(token_b) >= amount_b_min;
    ensure!(enough, "less than the smallest amount would be withdrawn");
    purse.extend(&answer.alkanes);
    Ok(Response::sending(purse))
}

/// Trades exactly `amount_in` of the path's first alkane for its last, no less than `amount_out_min`.
pub(crate) fn swap_exact_in(
    env: &mut Environment,
    path: Vec<AlkaneId>,
    amount_in: u128,
    amount_out_min: u128,
    deadline: u128,
) -> Result<Response, Revert> {
    require_in_time(env, deadline)?;
    ensure!(path.len() >= 2, "a path has at least two alkanes");
    let mut purse = env.incoming().clone();
    let mut amount = purse.take(path[0], amount_in)?.value;
    for step in path.windows(2) {
        let hop = Hop::between(env, step[0], step[1])?;
        let out = amount_out(amount, hop.reserve_in, hop.reserve_out, hop.fee).filter(|out| *out != 0);
        let out = out.ok_or("the trade gives nothing")?;
        trade(env, &hop, step[0], amount, step[1], out, &mut purse)?;
        amount = purse.take(step[1], out)?.value;
    }
    ensure!(amount >= amount_out_min, "less than the smallest amount would come out");
    purse.add(path[path.len() - 1], amount);
    Ok(Response::sending(purse))
}

/// Trades all of the one alkane that came in along the path, which does not name it.
pub(crate) fn swap_exact_implicit(
    env: &mut Environment,
    path: Vec<AlkaneId>,
    amount_out_min: u128,
    deadline: u128,
) -> Result<Response, Revert> {
    let paid = env.incoming().single()?;
    let mut whole = vec![paid.id];
    whole.extend(path);
    swap_exact_in(env, whole, paid.value, amount_out_min, deadline)
}

/// Trades no more than `amount_in_max` of the path's first alkane for exactly `wanted` of its last.
pub(crate) fn swap_exact_out(
    env: &mut Environment,
    path: Vec<AlkaneId>,
    wanted: u128,
    amount_in_max: u128,
    deadline: u128,
) -> Result<Response, Revert> {
    require_in_time(env, deadline)?;
    ensure!(path.len() >= 2, "a path has at least two alkanes");
    // From the end to the start: what each hop needs is what the hop before it must give.
    let mut hops = Vec::new();
    let mut amount = wanted;
    for step in path.windows(2).rev() {
        let hop = Hop::between(env, step[0], step[1])?;
        let needed = amount_in(amount, hop.reserve_in, hop.reserve_out, hop.fee).ok_or("the pool holds too little")?;
        hops.push((hop, step[0], needed, step[1], amount));
        amount = needed;
    }
    ensure!(amount <= amount_in_max, "more than the largest amount would go in");
    let mut purse = env.incoming().clone();
    purse.take(path[0], amount)?;
    for (hop, token_in, paid, token_out, out) in hops.iter().rev() {
        trade(env, hop, *token_in, *paid, *token_out, *out, &mut purse)?;
        purse.take(*token_out, *out)?;
    }
    purse.add(path[path.len() - 1], wanted);
    Ok(Response::sending(purse))
}

/// One trade with one pool; what it gives goes into the purse.
fn trade(
    env: &mut Environment,
    hop: &Hop,
    token_in: AlkaneId,
    paid: u128,
    token_out: AlkaneId,
    out: u128,
    purse: &mut Parcel,
) -> Result<(), Revert> {
    let (first_out, second_out) = if hop.first_in { (0, out) } else { (out, 0) };
    // No receiver and no data: what comes out returns with the answer.
    let inputs = vec![pool_opcode::SWAP, first_out, second_out, 0, 0, 0];
    let answer = env.call(&Call::new(hop.pool, inputs).sending(Parcel::of(token_in, paid)))?;
    ensure!(answer.alkanes.amount_of(token_out) >= out, "the pool gave less than agreed");
    purse.extend(&answer.alkanes);
    Ok(())
}
