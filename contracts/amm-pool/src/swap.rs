//! Trades.

use amm_math::keeps_product;
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Call, Environment, Parcel, Response, Revert, ensure};

use crate::state::{Pool, accumulate_prices, fee, lock, require_unlocked};

/// Gives out the two amounts for what came in, or for what the receiver pays back when it is called.
///
/// With a receiver `to` other than 0:0 and non-empty `data`, the amounts go to `to` in a call with the inputs `data[0]`, caller
/// (block, tx), both amounts, and the rest of `data`; what it sends back counts as paid in.
pub(crate) fn swap(
    env: &mut Environment,
    amount_0_out: u128,
    amount_1_out: u128,
    to: AlkaneId,
    data: Vec<u128>,
) -> Result<Response, Revert> {
    require_unlocked(env)?;
    let pool = Pool::load(env)?;
    let amounts_out = [amount_0_out, amount_1_out];
    let reserves = pool.reserves(env);
    ensure!(amounts_out != [0, 0], "a trade must give something out");
    ensure!(amounts_out[0] < reserves[0] && amounts_out[1] < reserves[1], "the pool holds too little");
    let mut outgoing = Parcel::new();
    outgoing.add(pool.alkanes[0], amount_0_out);
    outgoing.add(pool.alkanes[1], amount_1_out);
    let mut response = Response::sending(outgoing);
    let mut owed = amounts_out;
    if to != AlkaneId::TRANSACTION && !data.is_empty() {
        pay_and_call(env, to, &data, amounts_out, core::mem::take(&mut response.alkanes))?;
        owed = [0, 0];
    }
    let held = pool.balances(env);
    let mut balances = [0; 2];
    let mut amounts_in = [0; 2];
    for index in 0..2 {
        balances[index] = held[index].checked_sub(owed[index]).ok_or("the pool holds too little")?;
        amounts_in[index] = balances[index].saturating_sub(reserves[index] - amounts_out[index]);
    }
    ensure!(amounts_in != [0, 0], "nothing was paid in");
    ensure!(keeps_product(balances, reserves, amounts_in, fee(env)?), "too little was paid in");
    accumulate_prices(env, reserves)?;
    for transfer in &env.incoming().0 {
        if !pool.alkanes.contains(&transfer.id) {
            response.alkanes.add(transfer.id, transfer.value);
        }
    }
    Ok(response)
}

/// Sends the amounts to the receiver and lets it run; meanwhile the pool accepts no other call that changes it.
fn pay_and_call(
    env: &mut Environment,
    to: AlkaneId,
    data: &[u128],
    amounts_out: [u128; 2],
    outgoing: Parcel,
) -> Result<(), Revert> {
    let caller = env.caller();
    let mut inputs = vec![data[0], caller.block, caller.tx, amounts_out[0], amounts_out[1]];
    inputs.extend_from_slice(&data[1..]);
    lock().set(env, &1);
    env.call(&Call::new(to, inputs).sending(outgoing))?;
    lock().set(env, &0);
    Ok(())
}
