//! The scripts of a descriptor in a filter of events, independent of the chain.

use std::cell::Cell;

use bitcoin::ScriptBuf;
use bitcoin::secp256k1::Secp256k1;
use paraffin_primitives::Network;
use paraffin_wallet::parse_account;

/// Scripts of each chain of addresses: a filter does not depend on how many addresses the index has seen in use, so that all
/// instances watch the same scripts.
const SCRIPTS_OF_CHAIN: u32 = 1_000;

/// Keys derived for one filter at most.
pub(super) struct ScriptBudget {
    keys_max: usize,
    keys_left: Cell<usize>,
}

impl ScriptBudget {
    pub(super) fn new(keys_max: usize) -> Self {
        Self { keys_max, keys_left: Cell::new(keys_max) }
    }
}

/// The first 1,000 scripts of each chain of addresses of a descriptor, an extended key or an address. Takes up to seconds.
///
/// # Errors
/// The message for the caller.
pub(super) fn descriptor_scripts(
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
