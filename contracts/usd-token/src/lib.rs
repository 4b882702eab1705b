//! A dollar that its owner mints against deposits elsewhere, and that is burned towards an EVM address.
//!
//! It runs behind an upgradeable proxy, whose ownership token is the authority to mint.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::prelude::*;
use paraffin_contract::{Environment, List, Pointer, Response, Revert, contract, ensure, standard};

contract! {
    /// A dollar with an authority to mint.
    UsdToken {
        0 => initialize(name: String, symbol: String);
        5 => burn(address_high: u128, address_low: u128, asset: u128) -> Response;
        14 => burn_with_data(address_high: u128, address_low: u128, asset: u128, length: u128, words: Vec<u128>) -> Response;
        50 => forward();
        77 => mint(token_units: u128) -> Response;
        90 => get_burn_count() -> u128;
        91 => get_burn(index: u128) -> Vec<u8>;
        99 => get_name() -> String;
        100 => get_symbol() -> String;
        101 => get_total_supply() -> u128;
        102 => get_decimals() -> u128;
    }
}

/// Digits behind the point.
const DECIMALS: u128 = 8;
/// What can be paid out elsewhere: 0 and 1 are the two dollars that are taken in.
const ASSETS: u128 = 2;
/// Longest data of a burn, in bytes.
const DATA_MAX: u128 = 4096;
/// Bytes in an integer of the calldata.
const WORD: usize = 16;

/// Slots `/burns/length` and `/burns/<index>`: every burn, oldest first.
fn burns() -> List<Vec<u8>> {
    Pointer::new("/burns").list()
}

/// Owner only, once.
fn initialize(env: &mut Environment, name: String, symbol: String) -> Result<(), Revert> {
    standard::require_authority(env)?;
    ensure!(!name.is_empty() && !symbol.is_empty(), "name and symbol must not be empty");
    env.initialize_once()?;
    standard::name().set(env, &name);
    standard::symbol().set(env, &symbol);
    standard::total_supply().set(env, &0);
    Ok(())
}

/// Gives back what came in.
fn forward(_: &mut Environment) -> Result<(), Revert> {
    Ok(())
}

/// Owner only.
fn mint(env: &mut Environment, token_units: u128) -> Result<Response, Revert> {
    standard::require_authority(env)?;
    let minted = standard::mint(env, token_units)?;
    let mut response = env.forward();
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Burns what came in; it is to be paid out to an EVM address.
fn burn(env: &mut Environment, address_high: u128, address_low: u128, asset: u128) -> Result<Response, Revert> {
    burn_with_data(env, address_high, address_low, asset, 0, Vec::new())
}

/// The same with data for whoever pays out: its length in bytes, and big-endian integers of sixteen bytes whose last one is
/// filled up with zeros at its end.
fn burn_with_data(
    env: &mut Environment,
    address_high: u128,
    address_low: u128,
    asset: u128,
    length: u128,
    words: Vec<u128>,
) -> Result<Response, Revert> {
    let high = u32::try_from(address_high).map_err(|_| Revert::from("the address has more than 20 bytes"))?;
    ensure!(address_high != 0 || address_low != 0, "the address is zero");
    ensure!(asset < ASSETS, "there is no such asset");
    ensure!(length <= DATA_MAX, "the data is too long");
    let length = length as usize;
    ensure!(words.len() == length.div_ceil(WORD), "the length of the data does not fit its words");
    let mut data: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    ensure!(data[length..].iter().all(|byte| *byte == 0), "the data goes on behind its length");
    data.truncate(length);
    let burned = standard::burn_incoming(env)?;

    let mut record = Vec::with_capacity(16 + 20 + 1 + length);
    record.extend_from_slice(&burned.to_le_bytes());
    record.extend_from_slice(&high.to_be_bytes());
    record.extend_from_slice(&address_low.to_be_bytes());
    record.push(asset as u8);
    record.extend_from_slice(&data);
    burns().push(env, &record)?;
    Ok(standard::forward_all_but_own(env).with_data(burned.to_le_bytes()))
}

fn get_burn_count(env: &mut Environment) -> Result<u128, Revert> {
    Ok(burns().len(env)?.into())
}

fn get_burn(env: &mut Environment, index: u128) -> Result<Vec<u8>, Revert> {
    let index = u32::try_from(index).ok();
    let record = index.map_or(Ok(None), |index| burns().get(env, index))?;
    record.ok_or_else(|| Revert::from("there is no such burn"))
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

fn get_decimals(_: &mut Environment) -> Result<u128, Revert> {
    Ok(DECIMALS)
}
