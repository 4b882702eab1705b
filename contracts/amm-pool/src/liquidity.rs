//! Deposits, withdrawals and the protocol's share.

use amm_math::{
    LIQUIDITY_LOCKED, first_liquidity, later_liquidity, multiply_divide, product, protocol_liquidity, sorted,
};
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Call, Environment, Parcel, Response, Revert, decimal, ensure, standard};

use crate::state::{
    Pool, accumulate_prices, alkane, claimable_fees, factory, fee, product_last, require_factory, require_unlocked,
};

/// Opcode of a token that answers its name.
const NAME: u128 = 99;

/// Once, by the factory: names the two alkanes and makes the first deposit of what came in.
pub(crate) fn init_pool(
    env: &mut Environment,
    alkane_a: AlkaneId,
    alkane_b: AlkaneId,
    factory_id: AlkaneId,
) -> Result<Response, Revert> {
    ensure!(alkane_a != alkane_b, "a pool needs two different alkanes");
    ensure!(env.caller() == factory_id, "only the factory may do this");
    env.initialize_once()?;
    let [(first, ()), (second, ())] = sorted((alkane_a, ()), (alkane_b, ()));
    let name = token_name(env, first) + " / " + &token_name(env, second) + " LP";
    standard::name().set(env, &name);
    alkane(0).set(env, &first);
    alkane(1).set(env, &second);
    factory().set(env, &factory_id);
    add_liquidity(env)
}

/// What the token calls itself, or its id when it does not say.
fn token_name(env: &Environment, token: AlkaneId) -> String {
    let answer = env.static_call(&Call::new(token, vec![NAME]));
    match answer {
        Ok(answer) if !answer.data.is_empty() => String::from_utf8_lossy(&answer.data).into_owned(),
        _ => decimal(token.block) + "," + &decimal(token.tx),
    }
}

/// Deposits the two alkanes that came in; liquidity goes out.
pub(crate) fn add_liquidity(env: &mut Environment) -> Result<Response, Revert> {
    require_unlocked(env)?;
    let pool = Pool::load(env)?;
    let amounts = pool.incoming(env);
    ensure!(env.incoming().0.len() == 2 && amounts[0] != 0 && amounts[1] != 0, "both alkanes of the pool must come in");
    let reserves = pool.reserves(env);
    let supply = collect_protocol_share(env, reserves)?;
    let (liquidity, supply) = if supply == 0 {
        let liquidity = first_liquidity(amounts).ok_or("the first deposit is too small")?;
        (liquidity, LIQUIDITY_LOCKED)
    } else {
        (later_liquidity(amounts, reserves, supply).ok_or("the deposit does not fit the pool")?, supply)
    };
    ensure!(liquidity != 0, "the deposit is too small");
    let supply = supply.checked_add(liquidity).ok_or("the total supply overflows")?;
    standard::total_supply().set(env, &supply);
    accumulate_prices(env, reserves)?;
    let balances = pool.balances(env);
    product_last().set(env, &product(balances[0], balances[1]));
    Ok(Response::sending(Parcel::of(env.myself(), liquidity)))
}

/// Burns the liquidity that came in; its share of both alkanes goes out, the lower id first.
pub(crate) fn withdraw_and_burn(env: &mut Environment) -> Result<Response, Revert> {
    require_unlocked(env)?;
    let pool = Pool::load(env)?;
    let liquidity = env.incoming().single()?;
    ensure!(liquidity.id == env.myself(), "liquidity of this pool must come in");
    let reserves = pool.reserves(env);
    let supply = collect_protocol_share(env, reserves)?;
    let left = supply.checked_sub(liquidity.value).ok_or("more liquidity than there is")?;
    let mut response = Response::new();
    let mut reserves_left = reserves;
    for index in 0..2 {
        let amount = multiply_divide(liquidity.value, reserves[index], supply).filter(|amount| *amount != 0);
        let amount = amount.ok_or("too little liquidity to withdraw anything")?;
        reserves_left[index] -= amount;
        response.alkanes.add(pool.alkanes[index], amount);
    }
    standard::total_supply().set(env, &left);
    accumulate_prices(env, reserves)?;
    product_last().set(env, &product(reserves_left[0], reserves_left[1]));
    Ok(response)
}

/// Factory only: what the protocol earned goes out as liquidity.
pub(crate) fn collect_fees(env: &mut Environment) -> Result<Response, Revert> {
    require_unlocked(env)?;
    require_factory(env)?;
    let pool = Pool::load(env)?;
    let reserves = pool.reserves(env);
    let supply = collect_protocol_share(env, reserves)?;
    standard::total_supply().set(env, &supply);
    product_last().set(env, &product(reserves[0], reserves[1]));
    let earned = claimable_fees().get(env)?;
    claimable_fees().set(env, &0);
    let mut response = env.forward();
    response.alkanes.add(env.myself(), earned);
    Ok(response)
}

/// Adds what the protocol earned since the last change of liquidity to `/claimablefees` and to the supply; answers the supply,
/// which the caller stores.
fn collect_protocol_share(env: &mut Environment, reserves: [u128; 2]) -> Result<u128, Revert> {
    let supply = standard::total_supply().get(env)?;
    let last = product_last().get(env)?;
    let earned = protocol_liquidity(reserves, last, supply, fee(env)?).ok_or("the protocol's share overflows")?;
    if earned == 0 {
        return Ok(supply);
    }
    let claimable = claimable_fees().get(env)?.checked_add(earned).ok_or("the protocol's share overflows")?;
    claimable_fees().set(env, &claimable);
    supply.checked_add(earned).ok_or_else(|| Revert::from("the total supply overflows"))
}
