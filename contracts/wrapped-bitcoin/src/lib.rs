//! Bitcoin as an alkane, `32:0`: minted for payments to a signer, burned for payments by it.
//!
//! Whoever pays to the signer's taproot output and calls opcode 77 in the same transaction gets as many units as satoshis, less
//! the premium. Opcode 78 burns units and records a payment that the signer owes: to the script of the protostone's pointer
//! output, for as long as the transaction's own output to the signer is unspent.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

mod signer;

use paraffin_contract::bitcoin::{Output, Transaction};
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Environment, List, Pointer, Response, Revert, Slot, contract, ensure, standard};
use signer::{DEVELOPMENT_SIGNER, script_of};

contract! {
    /// Bitcoin as an alkane.
    WrappedBitcoin {
        0 => initialize();
        1 => set_signer(vout: u128);
        4 => set_premium(premium: u128);
        77 => wrap() -> Response;
        78 => unwrap(vout: u128, amount: u128) -> Response;
        99 => get_name() -> String;
        100 => get_symbol() -> String;
        101 => get_pending_payments() -> Vec<u8>;
        102 => get_decimals() -> u128;
        103 => get_signer() -> Vec<u8>;
        104 => get_premium() -> u128;
        105 => get_total_supply() -> u128;
    }
}

/// The token whose holder is the owner.
const OWNER: AlkaneId = AlkaneId::new(32, 1);
/// The premium is in parts of this.
const PREMIUM_DENOMINATOR: u128 = 100_000_000;
/// The premium until the owner sets another: a thousandth.
const PREMIUM_DEFAULT: u128 = 100_000;
const DECIMALS: u128 = 8;

/// Slot `/premium`.
fn premium() -> Slot<u128> {
    Slot::new("/premium")
}

/// Slot `/signer`: the internal key, 32 bytes.
fn signer_key() -> Slot<Vec<u8>> {
    Slot::new("/signer")
}

/// Slot `/signer_script_cached`: the output script made of the key, which is dear to compute.
fn signer_script() -> Slot<Vec<u8>> {
    Slot::new("/signer_script_cached")
}

/// List `/payments/byheight/` and the height as u64: each item is an outpoint and an output in consensus encoding.
fn payments(height: u64) -> List<Vec<u8>> {
    Pointer::new("/payments/byheight/").select(&height.to_le_bytes()).list()
}

/// Once, by the machine when the chain begins.
fn initialize(env: &mut Environment) -> Result<(), Revert> {
    env.initialize_once()?;
    standard::authority().set(env, &OWNER);
    standard::name().set(env, &"frBTC".to_owned());
    standard::symbol().set(env, &"frBTC".to_owned());
    premium().set(env, &PREMIUM_DEFAULT);
    store_signer(env, &DEVELOPMENT_SIGNER)
}

fn store_signer(env: &mut Environment, key: &[u8; 32]) -> Result<(), Revert> {
    let script = script_of(key).ok_or("the signer is not a public key")?;
    signer_key().set(env, &key.to_vec());
    signer_script().set(env, &script);
    Ok(())
}

fn transaction(env: &Environment) -> Result<Transaction, Revert> {
    Transaction::parse(&env.transaction()).ok_or_else(|| Revert::from("the transaction cannot be read"))
}

fn output(transaction: &Transaction, vout: u128) -> Result<&Output, Revert> {
    let index = usize::try_from(vout).ok();
    index.and_then(|index| transaction.outputs.get(index)).ok_or_else(|| Revert::from("there is no such output"))
}

/// Owner only: the signer is the key in this taproot output of the transaction.
fn set_signer(env: &mut Environment, vout: u128) -> Result<(), Revert> {
    standard::require_authority(env)?;
    let transaction = transaction(env)?;
    let key = output(&transaction, vout)?.script.strip_prefix(&[0x51, 0x20]).and_then(|key| key.try_into().ok());
    store_signer(env, key.ok_or("the output is not a taproot output")?)
}

/// Owner only: what is held back of a wrap, in parts of 100,000,000.
fn set_premium(env: &mut Environment, parts: u128) -> Result<(), Revert> {
    standard::require_authority(env)?;
    ensure!(parts <= PREMIUM_DENOMINATOR, "the premium is more than everything");
    premium().set(env, &parts);
    Ok(())
}

/// Once per transaction: mints for all its outputs that pay to the signer.
fn wrap(env: &mut Environment) -> Result<Response, Revert> {
    standard::once_per_transaction(env)?;
    let script = signer_script().require(env, "there is no signer")?;
    let outputs = transaction(env)?.outputs;
    let paid =
        outputs.iter().filter(|output| output.script == script).map(|output| u128::from(output.value)).sum::<u128>();
    ensure!(paid != 0, "nothing was paid to the signer");
    let held_back = paid * premium().get(env)? / PREMIUM_DENOMINATOR;
    let minted = standard::mint(env, paid - held_back)?;
    let mut response = env.forward();
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Burns at most `amount` of what came in and owes as many satoshis to the script of the pointer output. Output `vout` must pay
/// to the signer: it spends it when it pays, which marks the payment as made.
fn unwrap(env: &mut Environment, vout: u128, amount: u128) -> Result<Response, Revert> {
    ensure!(env.caller() == AlkaneId::TRANSACTION, "only a transaction unwraps");
    let transaction = transaction(env)?;
    let receiver = receiver(env, &transaction)?;
    let marker = output(&transaction, vout)?;
    ensure!(
        marker.script == signer_script().require(env, "there is no signer")?,
        "the output does not pay to the signer"
    );
    let incoming = env.incoming().single()?;
    ensure!(incoming.id == env.myself(), "only wrapped bitcoin can be unwrapped");
    let burned = incoming.value.min(amount);
    ensure!(burned != 0, "nothing to unwrap");
    let value = u64::try_from(burned).map_err(|_| "more than there are satoshis")?;
    let supply = standard::total_supply().get(env)?.checked_sub(burned).ok_or("more burned than there is")?;
    standard::total_supply().set(env, &supply);

    let vout = u32::try_from(vout).map_err(|_| "there is no such output")?;
    let mut payment = transaction.txid.to_vec();
    payment.extend_from_slice(&vout.to_le_bytes());
    Output { value, script: receiver }.write(&mut payment);
    payments(env.height()).push(env, &payment)?;

    let mut response = Response::new().with_data(value.to_le_bytes());
    response.alkanes.add(incoming.id, incoming.value - burned);
    Ok(response)
}

/// The script of the pointer output of the protostone that runs, which must have no edicts.
fn receiver(env: &Environment, transaction: &Transaction) -> Result<Vec<u8>, Revert> {
    let index = env.context().vout.checked_sub(transaction.outputs.len() as u128 + 1);
    let stones = transaction.protostones();
    let stone =
        index.and_then(|index| stones.get(usize::try_from(index).ok()?)).ok_or("the protostone cannot be read")?;
    ensure!(stone.edicts.is_empty(), "the protostone has edicts");
    let pointer = stone.pointer.ok_or("the protostone has no pointer")?;
    Ok(output(transaction, pointer.into())?.script.clone())
}

fn get_name(env: &mut Environment) -> Result<String, Revert> {
    standard::name().get(env)
}

fn get_symbol(env: &mut Environment) -> Result<String, Revert> {
    standard::symbol().get(env)
}

/// The payments recorded at this height, one behind the other.
fn get_pending_payments(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    let list = payments(env.height());
    let mut data = Vec::new();
    for index in 0..list.len(env)? {
        data.extend(list.get(env, index)?.unwrap_or_default());
    }
    Ok(data)
}

fn get_decimals(_: &mut Environment) -> Result<u128, Revert> {
    Ok(DECIMALS)
}

/// The internal key, 32 bytes, before the taproot tweak.
fn get_signer(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    signer_key().get(env)
}

fn get_premium(env: &mut Environment) -> Result<u128, Revert> {
    premium().get(env)
}

fn get_total_supply(env: &mut Environment) -> Result<u128, Revert> {
    standard::total_supply().get(env)
}
