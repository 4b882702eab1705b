//! Scan for the used scripts of an account: which ones are looked at is [`GapScan`]'s to say.

use bitcoin::ScriptBuf;
use paraffin_bitcoin_index::{BitcoinIndex, ReadError, ScriptKey, ScriptTotals};
use paraffin_wallet::{GapScan, ScriptChain, TooManyKeys};

use paraffin_gateway::interrupt::Interrupt;

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
    #[error("{0}")]
    TooManyScripts(#[from] TooManyKeys),
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
    let mut scan = GapScan::new(branches, bounds.keys_max);
    let mut used = Vec::new();
    loop {
        if bounds.interrupt.is_over() {
            return Err(ScanError::TimedOut);
        }
        let Some(script) = scan.next_script()? else { return Ok(used) };
        let key = ScriptKey::from_script(&script);
        let totals = index.script_totals(&key)?;
        if totals.tx_count == 0 && !is_pending(&key) {
            scan.found_unused();
        } else if scan.found_used(&script) {
            if !bounds.interrupt.keep(USED_SCRIPT_BYTES) {
                return Err(ScanError::NoMemory);
            }
            used.push(UsedScript { script, key, totals });
        }
    }
}
