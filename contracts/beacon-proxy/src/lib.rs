//! A contract whose code a beacon names, so that many change at once: every call asks the beacon, then runs the code that it
//! named on the proxy's own storage and balances.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Call, Environment, Response, Revert, Slot, contract, ensure};

contract! {
    /// Runs the code that `/beacon` names.
    BeaconProxy {
        0x7fff => initialize(beacon: AlkaneId);
        0x8fff => forward();
        _ => delegate;
    }
}

/// The beacon's opcode that answers the implementation.
const IMPLEMENTATION: u128 = 0x7ffd;

/// Slot `/beacon`.
fn beacon_slot() -> Slot<AlkaneId> {
    Slot::new("/beacon")
}

/// Once: names the beacon. The implementation has its own `/initialized` in the same storage.
fn initialize(env: &mut Environment, beacon: AlkaneId) -> Result<(), Revert> {
    let initialized = Slot::<u8>::new("/proxy_initialized");
    ensure!(!initialized.is_set(env), "the proxy is already initialized");
    initialized.set(env, &1);
    beacon_slot().set(env, &beacon);
    Ok(())
}

/// Gives back what came in.
fn forward(_: &mut Environment) -> Result<(), Revert> {
    Ok(())
}

/// Everything else: the same call on the code that the beacon names.
fn delegate(env: &mut Environment) -> Result<Response, Revert> {
    let beacon = beacon_slot().require(env, "the proxy is not initialized")?;
    let answer = env.static_call(&Call::new(beacon, vec![IMPLEMENTATION]))?;
    let implementation = AlkaneId::from_bytes(&answer.data).ok_or("the beacon did not answer an id")?;
    let context = env.context();
    let call = Call::new(implementation, context.inputs.clone()).sending(context.incoming.clone());
    env.delegate(&call)
}
