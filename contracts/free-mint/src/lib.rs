//! A token that anyone mints, a fixed amount per transaction up to a cap.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::prelude::*;
use paraffin_contract::{Environment, Response, Revert, Slot, contract, ensure, standard};

contract! {
    /// A token that anyone mints.
    FreeMint {
        0 => initialize(
            token_units: u128, value_per_mint: u128, cap: u128, name_part1: u128, name_part2: u128, symbol: u128,
        ) -> Response;
        77 => mint() -> Response;
        99 => get_name() -> String;
        100 => get_symbol() -> String;
        101 => get_total_supply() -> u128;
        102 => get_cap() -> u128;
        103 => get_minted() -> u128;
        104 => get_value_per_mint() -> u128;
        1000 => get_data() -> Vec<u8>;
    }
}

/// How many mints there may be; 0 was given for no limit and is stored as the largest number.
fn cap() -> Slot<u128> {
    Slot::new("/cap")
}

/// How many mints there were.
fn minted() -> Slot<u128> {
    Slot::new("/minted")
}

fn value_per_mint() -> Slot<u128> {
    Slot::new("/value-per-mint")
}

/// Once: the premine goes out. Name (32 bytes) and symbol (16) are UTF-8 in little-endian integers.
fn initialize(
    env: &mut Environment,
    token_units: u128,
    value: u128,
    mints_max: u128,
    name_part1: u128,
    name_part2: u128,
    symbol: u128,
) -> Result<Response, Revert> {
    ensure!(value != 0, "the value per mint must not be 0");
    env.initialize_once()?;
    standard::name().set(env, &standard::text(&[name_part1, name_part2])?);
    standard::symbol().set(env, &standard::text(&[symbol])?);
    value_per_mint().set(env, &value);
    cap().set(env, &if mints_max == 0 { u128::MAX } else { mints_max });
    standard::keep_attachment(env);
    let premine = standard::mint(env, token_units)?;
    let mut response = env.forward();
    response.alkanes.add(premine.id, premine.value);
    Ok(response)
}

/// Once per transaction, until the cap is reached.
fn mint(env: &mut Environment) -> Result<Response, Revert> {
    standard::once_per_transaction(env)?;
    let count = minted().get(env)?;
    ensure!(count < cap().get(env)?, "the cap is reached");
    minted().set(env, &(count + 1));
    let value = value_per_mint().get(env)?;
    let token = standard::mint(env, value)?;
    let mut response = env.forward();
    response.alkanes.add(token.id, token.value);
    Ok(response)
}

fn get_name(env: &mut Environment) -> Result<String, Revert> {
    standard::name().get(env)
}

fn get_symbol(env: &mut Environment) -> Result<String, Revert> {
    standard::symbol().get(env)
}

fn get_total_supply(env: &mut Environment) -> Result<u128, Revert> {
    standard::total_supply().get(env)
}

fn get_cap(env: &mut Environment) -> Result<u128, Revert> {
    cap().get(env)
}

fn get_minted(env: &mut Environment) -> Result<u128, Revert> {
    minted().get(env)
}

fn get_value_per_mint(env: &mut Environment) -> Result<u128, Revert> {
    value_per_mint().get(env)
}

fn get_data(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    standard::attachment().get(env)
}
