//! A number that anyone may raise: the contract that the documentation teaches.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::{Environment, Revert, Slot, contract};

contract! {
    /// A number that anyone may raise.
    Counter {
        0 => initialize();
        1 => increment(by: u128) -> u128;
        2 => value() -> u128;
    }
}

fn count() -> Slot<u128> {
    Slot::new("/count")
}

fn initialize(env: &mut Environment) -> Result<(), Revert> {
    env.initialize_once()
}

fn increment(env: &mut Environment, by: u128) -> Result<u128, Revert> {
    let raised = count().get(env)?.checked_add(by).ok_or("the count overflows")?;
    count().set(env, &raised);
    Ok(raised)
}

fn value(env: &mut Environment) -> Result<u128, Revert> {
    count().get(env)
}
