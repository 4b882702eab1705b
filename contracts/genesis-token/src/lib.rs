//! The token of the chain, `2:0`: everyone who mints in a block shares the block's reward.
//!
//! A block gives out as many base units as its subsidy has satoshis. What miners were paid in fees, at most half of the subsidy,
//! is held back for the owner; the rest is divided by the number of transactions of the block that ask for a mint.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Environment, Pointer, Response, Revert, Slot, contract, ensure, standard};

contract! {
    /// The token of the chain.
    GenesisToken {
        0 => initialize() -> Response;
        1 => upgrade() -> Response;
        77 => mint() -> Response;
        78 => collect_fees() -> Response;
        79 => burn(amount: u128) -> Response;
        99 => get_name() -> String;
        100 => get_symbol() -> String;
        101 => get_total_supply() -> u128;
    }
}

/// What exists before the first mint, in base units.
const INITIAL_SUPPLY: u128 = 50_000_000;
/// Units of the ownership token.
const OWNER_UNITS: u128 = 5;
/// Subsidy of the first block in satoshis, and how many blocks pass until it halves.
const SUBSIDY: u128 = 5_000_000_000;
const HALVING_BLOCKS: u64 = 210_000;

/// Slot `/fees`: held back for the owner and not collected yet, in base units.
fn fees() -> Slot<u128> {
    Slot::new("/fees")
}

/// Slot `/seen/` and the height as u64: u32 1 after the first mint of that block.
fn seen_block(height: u64) -> Slot<u32> {
    Pointer::new("/seen/").select(&height.to_le_bytes()).slot()
}

fn subsidy(height: u64) -> u128 {
    SUBSIDY.checked_shr(u32::try_from(height / HALVING_BLOCKS).unwrap_or(u32::MAX)).unwrap_or(0)
}

/// Once: mints the initial supply.
fn initialize(env: &mut Environment) -> Result<Response, Revert> {
    env.initialize_once()?;
    let minted = standard::mint(env, INITIAL_SUPPLY)?;
    let mut response = env.forward();
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Once: creates the ownership token, which collects fees, for whoever asks first.
fn upgrade(env: &mut Environment) -> Result<Response, Revert> {
    ensure!(!standard::authority().is_set(env), "already upgraded");
    let authority = standard::create_authority(env, OWNER_UNITS)?;
    let mut response = env.forward();
    response.alkanes.add(authority.id, authority.value);
    Ok(response)
}

/// Once per transaction, and only for a transaction: a share of the block's reward.
fn mint(env: &mut Environment) -> Result<Response, Revert> {
    ensure!(env.caller() == AlkaneId::TRANSACTION, "only a transaction mints");
    standard::once_per_transaction(env)?;
    let height = env.height();
    let reward = subsidy(height);
    let held_back = env.coinbase_value()?.saturating_sub(reward).min(reward / 2);
    if !seen_block(height).is_set(env) {
        seen_block(height).set(env, &1);
        let held = fees().get(env)?.checked_add(held_back).ok_or("the fees overflow")?;
        fees().set(env, &held);
    }
    // A view may run outside any block that mints.
    let mints = env.genesis_mints()?.max(1);
    let minted = standard::mint(env, (reward - held_back) / mints)?;
    let mut response = env.forward();
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Owner only: mints what was held back.
fn collect_fees(env: &mut Environment) -> Result<Response, Revert> {
    standard::require_authority(env)?;
    let held = fees().get(env)?;
    fees().set(env, &0);
    let minted = standard::mint(env, held)?;
    let mut response = env.forward();
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Destroys this amount of what came in; the rest goes back.
fn burn(env: &mut Environment, amount: u128) -> Result<Response, Revert> {
    let held = env.incoming().amount_of(env.myself());
    let left = held.checked_sub(amount).ok_or("less came in than is to be burned")?;
    let supply = standard::total_supply().get(env)?.checked_sub(amount).ok_or("more burned than there is")?;
    standard::total_supply().set(env, &supply);
    let mut response = standard::forward_all_but_own(env);
    response.alkanes.add(env.myself(), left);
    Ok(response)
}

fn get_name(_: &mut Environment) -> Result<String, Revert> {
    Ok("DIESEL".to_owned())
}

fn get_symbol(_: &mut Environment) -> Result<String, Revert> {
    Ok("DIESEL".to_owned())
}

fn get_total_supply(env: &mut Environment) -> Result<u128, Revert> {
    standard::total_supply().get(env)
}
