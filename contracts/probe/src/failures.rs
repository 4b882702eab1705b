//! The ways to fail.

use core::hint::black_box;

use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Environment, Pointer, Response, Revert};

/// Runs until the fuel is gone.
pub(crate) fn infinite_loop(_: &mut Environment) -> Result<(), Revert> {
    let mut turns = 0u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}

/// Calls a function inside a function, `depth` deep. The machine stops it at 1024.
pub(crate) fn deep_recursion(_: &mut Environment, depth: u128) -> Result<u128, Revert> {
    Ok(descend(depth))
}

#[inline(never)]
fn descend(depth: u128) -> u128 {
    if depth == 0 { 0 } else { black_box(descend(black_box(depth - 1))) + 1 }
}

/// Takes memory in pieces of 1 MiB until there is no more, then traps.
pub(crate) fn memory_bomb(_: &mut Environment) -> Result<u64, Revert> {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    loop {
        pieces.push(black_box(Vec::with_capacity(1 << 20)));
    }
}

/// Takes memory in pieces of 64 KiB until the machine refuses; answers how many it got beyond what the module had in use.
pub(crate) fn memory_pages(_: &mut Environment) -> Result<u64, Revert> {
    let mut pieces = 0;
    loop {
        let mut piece: Vec<u8> = Vec::new();
        if piece.try_reserve_exact(1 << 16).is_err() {
            return Ok(pieces);
        }
        // Memory is taken back only in reverse order, so forgetting the piece keeps it taken.
        core::mem::forget(black_box(piece));
        pieces += 1;
    }
}

/// One value of this many bytes in the storage map of the response.
pub(crate) fn huge_storage(env: &mut Environment, bytes: u128) -> Result<(), Revert> {
    let bytes = usize::try_from(bytes).map_err(|_| "too long")?;
    env.store(b"/huge", vec![0x5a; bytes]);
    Ok(())
}

/// Reverts with a text.
pub(crate) fn revert_text(_: &mut Environment, text: String) -> Result<(), Revert> {
    Err(Revert::from(text))
}

/// Fails with these bytes as data behind the selector of reverts, UTF-8 or not.
pub(crate) fn revert_bytes(env: &mut Environment, bytes: Vec<u128>) -> Result<(), Revert> {
    env.abort();
    let mut data = Revert::from("").to_data();
    data.extend(low_bytes(&bytes));
    let response = Response::new().with_data(data);
    env.answer_verbatim(response.to_bytes(&paraffin_contract::StorageMap::default()));
    Ok(())
}

fn low_bytes(words: &[u128]) -> Vec<u8> {
    words.iter().map(|word| word.to_le_bytes()[0]).collect()
}

/// Traps.
pub(crate) fn trap(_: &mut Environment) -> Result<(), Revert> {
    panic!("a trap")
}

/// Writes, then traps: the write must be gone.
pub(crate) fn trap_later(env: &mut Environment, key: u128, value: u128) -> Result<(), Revert> {
    Pointer::new("/key/").select(&key.to_le_bytes()).slot().set(env, &value);
    panic!("a trap")
}

/// Marks the call as failed and answers a well-formed response without a reason.
pub(crate) fn abort_only(env: &mut Environment) -> Result<(), Revert> {
    env.abort();
    Ok(())
}

/// Ends with exactly these bytes (the low byte of each integer) where a response is expected.
pub(crate) fn raw_response(env: &mut Environment, bytes: Vec<u128>) -> Result<(), Revert> {
    env.answer_verbatim(low_bytes(&bytes));
    Ok(())
}

/// A response whose parcel claims this many transfers and holds none.
pub(crate) fn claim_count(env: &mut Environment, count: u128) -> Result<(), Revert> {
    let mut bytes = count.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0; 4]);
    env.answer_verbatim(bytes);
    Ok(())
}

/// A response of no bytes.
pub(crate) fn empty_response(env: &mut Environment) -> Result<(), Revert> {
    env.answer_verbatim(Vec::new());
    Ok(())
}

/// Sends out an amount whether held or not.
pub(crate) fn overdraw(_: &mut Environment, id: AlkaneId, value: u128) -> Result<Response, Revert> {
    let mut response = Response::new();
    response.alkanes.add(id, value);
    Ok(response)
}
