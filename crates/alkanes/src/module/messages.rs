//! The messages of transactions that a script had a part in, numbered in the order of the chain.

use std::collections::{BTreeMap, HashMap};

use bitcoin::Txid;
use paraffin_primitives::Height;
use paraffin_store::{ModuleWriter, read_together};

use super::LOOKED_UP_BY_ONE;
use crate::rows::{ScriptKey, decode_message_count, message_key, position_key};
use crate::tables::{MESSAGE_COUNTS, MESSAGES};
use crate::{BlockEffects, StateError};

/// Messages of one transaction: consecutive rows of `block_traces`.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Number of the first trace in the block.
    first: u32,
    count: u32,
}

/// Lists of a block.
pub(super) struct Messages {
    by_transaction: HashMap<Txid, Run>,
    by_script: BTreeMap<ScriptKey, Vec<Run>>,
}

impl Messages {
    /// The messages that a block has traces of.
    pub(super) fn of(effects: &BlockEffects) -> Result<Self, StateError> {
        let mut by_transaction: HashMap<Txid, Run> = HashMap::new();
        for (number, (outpoint, _)) in (0u32..).zip(&effects.traces) {
            let run = by_transaction.entry(outpoint.txid).or_insert(Run { first: number, count: 0 });
            if run.first + run.count != number {
                let txid = outpoint.txid;
                return Err(StateError::Damaged(format!("traces of other transactions stand between those of {txid}")));
            }
            run.count += 1;
        }
        Ok(Self { by_transaction, by_script: BTreeMap::new() })
    }

    /// Lists a transaction under its scripts, each named once. Transactions come in the order of the block.
    pub(super) fn list<'s>(&mut self, txid: &Txid, scripts: impl IntoIterator<Item = &'s ScriptKey>) {
        let Some(run) = self.by_transaction.get(txid) else { return };
        for script in scripts {
            self.by_script.entry(*script).or_default().push(*run);
        }
    }

    /// One row for each transaction of a script, not one for each message: a transaction with a hundred messages and
    /// thousands of scripts would make hundreds of thousands.
    pub(super) fn write(self, height: Height, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
        let lists: Vec<_> = self.by_script.into_iter().collect();
        let counts = read_together(&lists, LOOKED_UP_BY_ONE, |(script, _)| rows.get(&MESSAGE_COUNTS, &script.0))?;
        for ((script, runs), count) in lists.into_iter().zip(counts) {
            let mut count = decode_message_count(count.as_deref())?;
            for run in runs {
                rows.put(&MESSAGES, &message_key(script, count), &position_key(height, run.first))?;
                let full = || StateError::Damaged("a script has 2^32 messages".to_owned());
                count = count.checked_add(run.count).ok_or_else(full)?;
            }
            rows.put(&MESSAGE_COUNTS, &script.0, &count.to_be_bytes())?;
        }
        Ok(())
    }
}
