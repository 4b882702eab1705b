//! The token that proves ownership of a contract: whoever sends a unit along is an owner.
//!
//! The contract at `4:65517` is the template; each owned contract gets a copy of its own. `32:1` is the one of wrapped bitcoin.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Environment, Response, Revert, contract, ensure, standard};

contract! {
    /// Proof of ownership.
    AuthToken {
        0 => initialize(units: u128) -> Response;
        1 => authenticate() -> Vec<u8>;
        99 => get_name() -> String;
        100 => get_symbol() -> String;
        101 => get_total_supply() -> u128;
    }
}

/// The one that owns wrapped bitcoin.
const WRAPPED_BITCOIN_OWNER: AlkaneId = AlkaneId::new(32, 1);

/// Mints the units, once, to whoever created the token.
fn initialize(env: &mut Environment, units: u128) -> Result<Response, Revert> {
    env.initialize_once()?;
    ensure!(units != 0, "an ownership token of no units would lock the contract");
    let minted = standard::mint(env, units)?;
    let mut response = env.forward();
    response.alkanes.add(minted.id, minted.value);
    Ok(response)
}

/// Answers one byte 1 when a unit came in, reverts otherwise.
fn authenticate(env: &mut Environment) -> Result<Vec<u8>, Revert> {
    ensure!(env.incoming().amount_of(env.myself()) != 0, "the ownership token did not come in");
    Ok(vec![1])
}

fn get_name(env: &mut Environment) -> Result<String, Revert> {
    get_symbol(env)
}

fn get_symbol(env: &mut Environment) -> Result<String, Revert> {
    Ok(if env.myself() == WRAPPED_BITCOIN_OWNER { "frSIGIL" } else { "OWNER" }.to_owned())
}

fn get_total_supply(env: &mut Environment) -> Result<u128, Revert> {
    standard::total_supply().get(env)
}

#[cfg(test)]
mod tests {
    use paraffin_contract::Parcel;
    use paraffin_contract::testing::World;

    use super::*;

    #[test]
    fn units_are_minted_once_and_prove_ownership() {
        let world = World::new();
        let token = AlkaneId::new(2, 1);
        world.install::<AuthToken>(token);
        assert_eq!(world.message(token, &[0, 5], Parcel::new()).unwrap().alkanes, Parcel::of(token, 5));
        assert!(world.message(token, &[0, 5], Parcel::new()).unwrap_err().contains("already initialized"));
        assert!(world.message(token, &[1], Parcel::new()).is_err());
        let proof = world.message(token, &[1], Parcel::of(token, 1)).unwrap();
        assert_eq!((proof.alkanes, proof.data), (Parcel::of(token, 1), vec![1]));
        assert_eq!(world.message(token, &[101], Parcel::new()).unwrap().data, 5u128.to_le_bytes());
    }
}
