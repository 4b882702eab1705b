//! A contract whose code its owner may exchange: every call runs the implementation's code on the proxy's own storage and
//! balances.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::{AlkaneId, Call, Environment, Response, Revert, Slot, contract, ensure, standard};

contract! {
    /// Runs the code of `/implementation`.
    UpgradeableProxy {
        0x7fff => initialize(implementation: AlkaneId, auth_token_units: u128) -> Response;
        0x7ffc => initialize_with_auth(implementation: AlkaneId, auth_token: AlkaneId);
        0x7ffe => upgrade(implementation: AlkaneId);
        0x8fff => forward();
        _ => delegate;
    }
}

/// Slot `/implementation`.
fn implementation_slot() -> Slot<AlkaneId> {
    Slot::new("/implementation")
}

/// The implementation has its own `/initialized` in the same storage, so the proxy marks itself elsewhere.
fn initialize_proxy(env: &mut Environment) -> Result<(), Revert> {
    let initialized = Slot::<u8>::new("/proxy_initialized");
    ensure!(!initialized.is_set(env), "the proxy is already initialized");
    initialized.set(env, &1);
    Ok(())
}

/// Once: names the implementation and creates the ownership token, which goes out.
fn initialize(env: &mut Environment, implementation: AlkaneId, auth_token_units: u128) -> Result<Response, Revert> {
    initialize_proxy(env)?;
    let authority = standard::create_authority(env, auth_token_units)?;
    // Stored after the call, so that the write stands in this call's own response.
    implementation_slot().set(env, &implementation);
    let mut response = env.forward();
    response.alkanes.add(authority.id, authority.value);
    Ok(response)
}

/// Once: names the implementation and an ownership token that exists already.
fn initialize_with_auth(env: &mut Environment, implementation: AlkaneId, auth_token: AlkaneId) -> Result<(), Revert> {
    initialize_proxy(env)?;
    implementation_slot().set(env, &implementation);
    standard::authority().set(env, &auth_token);
    Ok(())
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

/// Everything else: the same call on the implementation's code.
fn delegate(env: &mut Environment) -> Result<Response, Revert> {
    let implementation = implementation_slot().require(env, "the proxy is not initialized")?;
    let context = env.context();
    let call = Call::new(implementation, context.inputs.clone()).sending(context.incoming.clone());
    env.delegate(&call)
}
