//! The scripts that a descriptor stands for in a stream, whatever the chain has of them.

use std::cell::Cell;

use bitcoin::ScriptBuf;
use bitcoin::secp256k1::Secp256k1;
use paraffin_primitives::Network;
use paraffin_wallet::parse_account;

/// Scripts of each chain of addresses: a stream does not look into the index how far an account has got, so that all instances watch the
/// same ones.
const SCRIPTS_OF_CHAIN: u32 = 1_000;

/// Keys that may be derived for one filter.
pub(crate) struct ScriptBudget {
    keys_max: usize,
    keys_left: Cell<usize>,
}

impl ScriptBudget {
    pub(crate) fn new(keys_max: usize) -> Self {
        Self { keys_max, keys_left: Cell::new(keys_max) }
    }
}

/// The first 1,000 scripts of each chain of addresses of a descriptor, an extended key or an address. Takes up to seconds.
///
/// # Errors
/// A sentence for the caller.
pub(crate) fn descriptor_scripts(
    network: Network,
    text: &str,
    budget: &ScriptBudget,
) -> Result<Vec<ScriptBuf>, String> {
    let secp = Secp256k1::verification_only();
    let mut scripts = Vec::new();
    for branch in parse_account(network, text).map_err(|error| error.to_string())? {
        for index in 0..SCRIPTS_OF_CHAIN {
            let Some(script) = branch.script(&secp, index) else { break };
            let left = budget.keys_left.get().checked_sub(branch.keys());
            budget.keys_left.set(left.ok_or_else(|| {
                format!("the descriptors of a filter may stand for {} keys together", budget.keys_max)
            })?);
            scripts.push(script);
        }
    }
    Ok(scripts)
}
