//! Names the code that beacon proxies run; its owner may name another.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::{AlkaneId, Environment, Response, Revert, Slot, contract, standard};

contract! {
    /// Names an implementation.
    UpgradeableBeacon {
        0x7fff => initialize(implementation: AlkaneId, auth_token_units: u128) -> Response;
        0x7ffd => implementation() -> AlkaneId;
        0x7ffe => upgrade(implementation: AlkaneId);
        0x8fff => forward();
    }
}

/// Slot `/implementation`.
fn implementation_slot() -> Slot<AlkaneId> {
    Slot::new("/implementation")
}

/// Once: names the implementation and creates the ownership token, which goes out.
fn initialize(env: &mut Environment, implementation: AlkaneId, auth_token_units: u128) -> Result<Response, Revert> {
    env.initialize_once()?;
    let authority = standard::create_authority(env, auth_token_units)?;
    // Stored after the call, so that the write stands in this call's own response.
    implementation_slot().set(env, &implementation);
    let mut response = env.forward();
    response.alkanes.add(authority.id, authority.value);
    Ok(response)
}

/// The implementation.
fn implementation(env: &mut Environment) -> Result<AlkaneId, Revert> {
    implementation_slot().require(env, "the beacon is not initialized")
}

/// Owner only: names another implementation.
fn upgrade(env: &mut Environment, implementation: AlkaneId) -> Result<(), Revert> {
    standard::require_authority(env)?;
    implementation_slot().set(env, &implementation);
    Ok(())
}

/// Gives back what came in.
fn forward(_: &mut Environment) -> Result<(), Revert> {
    Ok(())
}
