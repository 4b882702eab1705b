//! Scan for the used scripts of an account.

use std::collections::HashSet;

use bitcoin::ScriptBuf;
use bitcoin::secp256k1::Secp256k1;
use paraffin_bitcoin_index::{BitcoinIndex, ReadError, ScriptKey, ScriptTotals};
use paraffin_wallet::ScriptChain;

use paraffin_gateway::interrupt::Interrupt;

/// Unused scripts in a row after which a chain of addresses is taken to be at its end (docs/decisions/0009-accounts.md).
const GAP_LIMIT: u32 = 20;

/// Memory of a used script, bytes, about.
const USED_SCRIPT_BYTES: usize = 320;

/// A script of the account with its history.
#[derive(Debug)]
pub(super) struct UsedScript {
    pub(super) script: ScriptBuf,
    pub(super) key: ScriptKey,
    /// Totals of confirmed transactions; all zero for a script that only unconfirmed ones use.
    pub(super) totals: ScriptTotals,
}

/// Why a scan was aborted.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScanError {
    #[error("{0}")]
    Read(#[from] ReadError),
    #[error("the account has more scripts or keys than one answer looks at")]
    TooManyScripts,
    #[error("there is no memory for more scripts")]
    NoMemory,
    #[error("the deadline has passed")]
    TimedOut,
}

/// The bounds of one scan.
pub(super) struct Bounds<'a> {
    /// Keys derived at most, for used and unused scripts.
    pub(super) keys_max: usize,
    /// Signals that the caller has disconnected.
    pub(super) interrupt: &'a Interrupt,
}

/// The used scripts of all branches, each once. `is_pending` returns whether an unconfirmed transaction touches a script.
pub(super) fn used_scripts(
    index: &BitcoinIndex,
    branches: &[ScriptChain],
    is_pending: impl Fn(&ScriptKey) -> bool,
    bounds: &Bounds<'_>,
) -> Result<Vec<UsedScript>, ScanError> {
    let secp = Secp256k1::verification_only();
    let mut used = Vec::new();
    let mut seen = HashSet::new();
    let mut derived = 0;
    for branch in branches {
        let mut unused = 0;
        for position in 0.. {
            if bounds.interrupt.is_over() {
                return Err(ScanError::TimedOut);
            }
            let Some(script) = branch.script(&secp, position) else { break };
            derived += branch.keys();
            if derived > bounds.keys_max {
                return Err(ScanError::TooManyScripts);
            }
            let key = ScriptKey::from_script(&script);
            let totals = index.script_totals(&key)?;
            if totals.tx_count == 0 && !is_pending(&key) {
                unused += 1;
                if unused >= GAP_LIMIT {
                    break;
                }
                continue;
            }
            unused = 0;
            if seen.insert(*key.digest()) {
                if !bounds.interrupt.keep(USED_SCRIPT_BYTES) {
                    return Err(ScanError::NoMemory);
                }
                used.push(UsedScript { script, key, totals });
            }
        }
    }
    Ok(used)
}
