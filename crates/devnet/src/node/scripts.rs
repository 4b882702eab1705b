//! Script verification by Bitcoin Core's own interpreter, once per transaction.

use std::collections::HashSet;

use bitcoin::consensus::serialize;
use bitcoin::{Transaction, Wtxid};

use super::utxo::Coin;

/// Every soft fork that is active on regtest from the first block on.
const FLAGS: u32 = bitcoinconsensus::VERIFY_ALL_PRE_TAPROOT | bitcoinconsensus::VERIFY_TAPROOT;

/// Most entries; the cache is cleared then.
const CACHE_ENTRIES_MAX: usize = 200_000;

/// Transactions whose scripts have been verified. A `wtxid` commits to the outputs that are spent, so it is the whole key.
#[derive(Debug, Default)]
pub(crate) struct ScriptCache {
    verified: HashSet<Wtxid>,
}

impl ScriptCache {
    /// Verifies every input of `tx` against `coins` (in input order); the error is the index of the input that fails.
    pub(crate) fn verify(&self, tx: &Transaction, wtxid: Wtxid, coins: &[Coin]) -> Result<(), usize> {
        if self.verified.contains(&wtxid) {
            return Ok(());
        }
        let bytes = serialize(tx);
        let spent: Vec<bitcoinconsensus::Utxo> = coins
            .iter()
            .map(|coin| bitcoinconsensus::Utxo {
                script_pubkey: coin.output.script_pubkey.as_bytes().as_ptr(),
                script_pubkey_len: u32::try_from(coin.output.script_pubkey.len()).unwrap_or(u32::MAX),
                value: i64::try_from(coin.output.value.to_sat()).unwrap_or(i64::MAX),
            })
            .collect();
        for (index, coin) in coins.iter().enumerate() {
            let script = coin.output.script_pubkey.as_bytes();
            let value = coin.output.value.to_sat();
            bitcoinconsensus::verify_with_flags(script, value, &bytes, Some(&spent), index, FLAGS)
                .map_err(|_| index)?;
        }
        Ok(())
    }

    /// Remembers that the scripts of `wtxid` hold.
    pub(crate) fn remember(&mut self, wtxid: Wtxid) {
        if self.verified.len() >= CACHE_ENTRIES_MAX {
            self.verified.clear();
        }
        self.verified.insert(wtxid);
    }
}

/// The sentence that names a failing input, as Bitcoin Core words it.
pub(crate) fn failing_input(tx: &Transaction, wtxid: Wtxid, index: usize) -> String {
    let spending = tx.input.get(index).map(|input| input.previous_output).unwrap_or_default();
    format!("input {index} of {} (wtxid {wtxid}), spending {}:{}", tx.compute_txid(), spending.txid, spending.vout)
}
