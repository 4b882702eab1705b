//! A token with name, symbol and supply, whose owner mints more.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::prelude::*;
use paraffin_contract::{Environment, Response, Revert, contract, ensure, standard};

contract! {
    /// A token with an owner.
    OwnedToken {
        0 => initialize(auth_token_units: u128, token_units: u128) -> Response;
        1 => initialize_with_name_symbol(auth_token_units: u128, token_units: u128, name: String, symbol: String) -> Response;
        77 => mint(token_units: u128) -> Response;
        88 => burn() -> Response;
        99 => get_name() -> String;
        100 => get_symbol() -> String;
        101 => get_total_supply() -> u128;
        1000 => get_data() -> Vec<u8>;
    }
}

/// Names the token `OWNED`; else as [`initialize_with_name_symbol`].
fn initialize(env: &mut Environment, auth_token_units: u128, token_units: u128) -> Result<Response, Revert> {
    initialize_with_name_symbol(env, auth_token_units, token_units, "OWNED".to_owned(), "OWNED".to_owned())
}

/// Once: creates the ownership token, mints the first units, and sends out both.
fn initialize_with_name_symbol(
    env: &mut Environment,
    auth_token_units: u128,
    token_units: u128,
    name: String,
    symbol: String,
) -> Result<Response, Revert> {
    ensure!(!name.is_empty() && !symbol.is_empty(), "name and symbol must not be empty");
    env.initialize_once()?;
    let authority = standard::create_authority(env, auth_token_units)?;
    standard::name().set(env, &name);
    standard::symbol().set(env, &symbol);
    standard::keep_attachment(env);
    let minted = standard::mint(env, token_units)?;
    let mut response = env.forward();
    response.alkanes.add(authority.id, authority.value);
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Owner only.
fn mint(env: &mut Environment, token_units: u128) -> Result<Response, Revert> {
    standard::require_authority(env)?;
    let minted = standard::mint(env, token_units)?;
    let mut response = env.forward();
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Destroys what came in of the token; the rest goes back.
fn burn(env: &mut Environment) -> Result<Response, Revert> {
    let burned = standard::burn_incoming(env)?;
    Ok(standard::forward_all_but_own(env).with_data(burned.to_le_bytes()))
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

fn get_data(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    standard::attachment().get(env)
}
