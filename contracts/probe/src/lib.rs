//! Every host function and every way to fail, by opcode: for tests of the machine that runs contracts.
//!
//! Opcodes 10 to 29 ask the host and answer what it said, 30 to 39 store, 40 to 59 call others, 60 to 69 move alkanes, 80 to 99
//! fail. What came in goes back unless the opcode says otherwise.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

mod failures;

use failures::{
    abort_only, claim_count, deep_recursion, empty_response, huge_storage, infinite_loop, memory_bomb, memory_pages,
    overdraw, raw_response, revert_bytes, revert_text, trap, trap_later,
};
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Call, Environment, Parcel, Pointer, Response, Revert, contract};

contract! {
    /// Exercises a host.
    Probe {
        0 => initialize();
        1 => nothing();
        2 => echo_inputs(words: Vec<u128>) -> Vec<u8>;

        10 => context() -> Vec<u8>;
        11 => transaction() -> Vec<u8>;
        12 => block() -> Vec<u8>;
        13 => sequence() -> u128;
        14 => fuel() -> u64;
        15 => height() -> u64;
        16 => balance(who: AlkaneId, what: AlkaneId) -> u128;
        17 => log(text: String);
        18 => log_bytes();
        19 => transaction_size() -> u64;
        20 => block_size() -> u64;

        30 => store(key: u128, value: u128);
        31 => load(key: u128) -> Vec<u8>;
        32 => store_and_load(key: u128, value: u128) -> Vec<u8>;
        33 => store_bytes(key: u128, length: u128);
        34 => store_many(count: u128, length: u128);
        35 => store_empty(key: u128);
        36 => load_text(key: String) -> Vec<u8>;

        40 => call(target: AlkaneId, inputs: Vec<u128>) -> Response;
        41 => delegate(target: AlkaneId, inputs: Vec<u128>) -> Response;
        42 => static_call(target: AlkaneId, inputs: Vec<u128>) -> Response;
        43 => call_with_fuel(target: AlkaneId, fuel: u128, inputs: Vec<u128>) -> Response;
        44 => call_sending(target: AlkaneId, id: AlkaneId, value: u128, inputs: Vec<u128>) -> Response;
        45 => nest(depth: u128) -> u128;
        46 => store_then_call(key: u128, value: u128, target: AlkaneId, inputs: Vec<u128>) -> Response;
        47 => call_and_go_on(target: AlkaneId, inputs: Vec<u128>) -> Vec<u8>;
        48 => return_data(length: u128) -> Vec<u8>;
        49 => call_then_load(target: AlkaneId, key: u128, inputs: Vec<u128>) -> Vec<u8>;
        50 => call_twice(target: AlkaneId, inputs: Vec<u128>) -> Vec<u8>;
        51 => static_then_load(key: u128, value: u128, target: AlkaneId, inputs: Vec<u128>) -> Vec<u8>;
        52 => nest_delegate(depth: u128) -> u128;

        60 => mint(value: u128) -> Response;
        61 => send(id: AlkaneId, value: u128) -> Response;
        62 => keep() -> Response;
        63 => split_forward() -> Response;
        64 => mint_and_keep(value: u128) -> Response;

        80 => infinite_loop();
        81 => deep_recursion(depth: u128) -> u128;
        82 => memory_bomb() -> u64;
        83 => memory_pages() -> u64;
        84 => huge_storage(bytes: u128);
        85 => revert_text(text: String);
        86 => revert_bytes(bytes: Vec<u128>);
        87 => trap();
        88 => abort_only();
        89 => raw_response(bytes: Vec<u128>);
        90 => claim_count(count: u128);
        91 => empty_response();
        92 => overdraw(id: AlkaneId, value: u128) -> Response;
        93 => trap_later(key: u128, value: u128);

        99 => get_name() -> String;
        100 => get_symbol() -> String;
    }
}

fn initialize(env: &mut Environment) -> Result<(), Revert> {
    env.initialize_once()
}

fn nothing(_: &mut Environment) -> Result<(), Revert> {
    Ok(())
}

fn echo_inputs(_: &mut Environment, words: Vec<u128>) -> Result<Vec<u8>, Revert> {
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn context(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    Ok(env.context().to_bytes())
}

fn transaction(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    Ok(env.transaction())
}

fn block(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    Ok(env.block())
}

fn transaction_size(env: &mut Environment) -> Result<u64, Revert> {
    Ok(env.transaction().len() as u64)
}

fn block_size(env: &mut Environment) -> Result<u64, Revert> {
    Ok(env.block().len() as u64)
}

fn sequence(env: &mut Environment) -> Result<u128, Revert> {
    Ok(env.sequence())
}

fn fuel(env: &mut Environment) -> Result<u64, Revert> {
    Ok(env.fuel())
}

fn height(env: &mut Environment) -> Result<u64, Revert> {
    Ok(env.height())
}

fn balance(env: &mut Environment, who: AlkaneId, what: AlkaneId) -> Result<u128, Revert> {
    Ok(env.balance(who, what))
}

fn log(env: &mut Environment, text: String) -> Result<(), Revert> {
    env.log(&text);
    Ok(())
}

/// Logs bytes that are not UTF-8.
fn log_bytes(env: &mut Environment) -> Result<(), Revert> {
    env.log_bytes(&[0xff, 0xfe, 0x00, 0xc3]);
    Ok(())
}

/// Keys of this contract: `/key/` and the integer, little-endian.
fn place(key: u128) -> Pointer {
    Pointer::new("/key/").select(&key.to_le_bytes())
}

fn store(env: &mut Environment, key: u128, value: u128) -> Result<(), Revert> {
    place(key).slot().set(env, &value);
    Ok(())
}

fn load(env: &mut Environment, key: u128) -> Result<Vec<u8>, Revert> {
    Ok(env.load(place(key).key()))
}

fn load_text(env: &mut Environment, key: String) -> Result<Vec<u8>, Revert> {
    Ok(env.load(key.as_bytes()))
}

/// A read must see the write of the same call.
fn store_and_load(env: &mut Environment, key: u128, value: u128) -> Result<Vec<u8>, Revert> {
    store(env, key, value)?;
    load(env, key)
}

/// Stores `length` bytes 0xab.
fn store_bytes(env: &mut Environment, key: u128, length: u128) -> Result<(), Revert> {
    let length = usize::try_from(length).map_err(|_| "too long")?;
    env.store(place(key).key(), vec![0xab; length]);
    Ok(())
}

/// Stores `count` values of `length` bytes under the keys 0, 1, 2…
fn store_many(env: &mut Environment, count: u128, length: u128) -> Result<(), Revert> {
    for key in 0..count {
        store_bytes(env, key, length)?;
    }
    Ok(())
}

/// Stores the empty value.
fn store_empty(env: &mut Environment, key: u128) -> Result<(), Revert> {
    env.store(place(key).key(), Vec::new());
    Ok(())
}

/// Calls with all that came in and passes on all that came back.
fn call(env: &mut Environment, target: AlkaneId, inputs: Vec<u128>) -> Result<Response, Revert> {
    let parcel = env.incoming().clone();
    env.call(&Call::new(target, inputs).sending(parcel))
}

fn delegate(env: &mut Environment, target: AlkaneId, inputs: Vec<u128>) -> Result<Response, Revert> {
    let parcel = env.incoming().clone();
    env.delegate(&Call::new(target, inputs).sending(parcel))
}

/// Passes on the data; what came in stays here during the call and goes back.
fn static_call(env: &mut Environment, target: AlkaneId, inputs: Vec<u128>) -> Result<Response, Revert> {
    let answer = env.static_call(&Call::new(target, inputs))?;
    Ok(env.forward().with_data(answer.data))
}

#[expect(clippy::cast_possible_truncation, reason = "a limit of 64 bits, the rest is of no use")]
fn call_with_fuel(env: &mut Environment, target: AlkaneId, fuel: u128, inputs: Vec<u128>) -> Result<Response, Revert> {
    let parcel = env.incoming().clone();
    env.call(&Call::new(target, inputs).sending(parcel).with_fuel(fuel as u64))
}

/// Calls with exactly this amount, held or not, and passes on what came back and what came in of other alkanes.
fn call_sending(
    env: &mut Environment,
    target: AlkaneId,
    id: AlkaneId,
    value: u128,
    inputs: Vec<u128>,
) -> Result<Response, Revert> {
    let mut answer = env.call(&Call::new(target, inputs).sending(Parcel::of(id, value)))?;
    for transfer in &env.incoming().0 {
        if transfer.id != id {
            answer.alkanes.add(transfer.id, transfer.value);
        }
    }
    Ok(answer)
}

/// Calls itself until `depth` calls lie inside each other; answers how many there were.
fn nest(env: &mut Environment, depth: u128) -> Result<u128, Revert> {
    if depth == 0 {
        return Ok(0);
    }
    let inner = env.call(&Call::new(env.myself(), vec![45, depth - 1]))?;
    Ok(word(&inner.data)? + 1)
}

/// The same with delegated calls.
fn nest_delegate(env: &mut Environment, depth: u128) -> Result<u128, Revert> {
    if depth == 0 {
        return Ok(0);
    }
    let inner = env.delegate(&Call::new(env.myself(), vec![52, depth - 1]))?;
    Ok(word(&inner.data)? + 1)
}

fn word(data: &[u8]) -> Result<u128, Revert> {
    data.try_into().map(u128::from_le_bytes).map_err(|_| Revert::from("the answer is not an integer"))
}

/// The callee must see the write when it reads our storage through a call back.
fn store_then_call(
    env: &mut Environment,
    key: u128,
    value: u128,
    target: AlkaneId,
    inputs: Vec<u128>,
) -> Result<Response, Revert> {
    store(env, key, value)?;
    call(env, target, inputs)
}

/// Calls without alkanes and answers 1 when it went well, 0 and the host's return data when it failed.
fn call_and_go_on(env: &mut Environment, target: AlkaneId, inputs: Vec<u128>) -> Result<Vec<u8>, Revert> {
    match env.call(&Call::new(target, inputs)) {
        Ok(_) => Ok(vec![1]),
        Err(_) => Ok(vec![0]),
    }
}

/// The host's return data before any call.
fn return_data(env: &mut Environment, length: u128) -> Result<Vec<u8>, Revert> {
    let length = usize::try_from(length).map_err(|_| "too long")?;
    Ok(env.return_data(length))
}

/// What a key of ours holds after another contract ran.
fn call_then_load(env: &mut Environment, target: AlkaneId, key: u128, inputs: Vec<u128>) -> Result<Vec<u8>, Revert> {
    env.call(&Call::new(target, inputs))?;
    load(env, key)
}

/// Two calls in a row; answers both data, one behind the other.
fn call_twice(env: &mut Environment, target: AlkaneId, inputs: Vec<u128>) -> Result<Vec<u8>, Revert> {
    let mut data = env.call(&Call::new(target, inputs.clone()))?.data;
    data.extend(env.call(&Call::new(target, inputs))?.data);
    Ok(data)
}

/// A write before a static call is still ours afterwards.
fn static_then_load(
    env: &mut Environment,
    key: u128,
    value: u128,
    target: AlkaneId,
    inputs: Vec<u128>,
) -> Result<Vec<u8>, Revert> {
    store(env, key, value)?;
    env.static_call(&Call::new(target, inputs))?;
    load(env, key)
}

/// Mints our own token, as much as asked.
fn mint(env: &mut Environment, value: u128) -> Result<Response, Revert> {
    let mut response = env.forward();
    response.alkanes.add(env.myself(), value);
    Ok(response)
}

/// Sends out an amount that the contract holds, and what came in of other alkanes.
fn send(env: &mut Environment, id: AlkaneId, value: u128) -> Result<Response, Revert> {
    let mut response = Response::new();
    response.alkanes.add(id, value);
    for transfer in &env.incoming().0 {
        if transfer.id != id {
            response.alkanes.add(transfer.id, transfer.value);
        }
    }
    Ok(response)
}

/// Keeps everything that came in.
fn keep(_: &mut Environment) -> Result<Response, Revert> {
    Ok(Response::new())
}

/// Sends back what came in, every amount in two halves.
fn split_forward(env: &mut Environment) -> Result<Response, Revert> {
    let mut response = Response::new();
    for transfer in &env.incoming().0 {
        let half = transfer.value / 2;
        response.alkanes.add(transfer.id, half);
        response.alkanes.add(transfer.id, transfer.value - half);
    }
    Ok(response)
}

/// Sends our own token to ourselves: nothing may be gained by it.
fn mint_and_keep(env: &mut Environment, value: u128) -> Result<Response, Revert> {
    let own = env.myself();
    env.call(&Call::new(own, vec![62]).sending(Parcel::of(own, value)))?;
    Ok(env.forward())
}

fn get_name(_: &mut Environment) -> Result<String, Revert> {
    Ok("Probe".to_owned())
}

fn get_symbol(_: &mut Environment) -> Result<String, Revert> {
    Ok("PROBE".to_owned())
}
