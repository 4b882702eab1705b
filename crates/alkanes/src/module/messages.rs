//! The rows of scripts, and the messages of transactions that a script had a part in, numbered in the order of the chain.

use std::collections::{BTreeMap, HashMap};

use bitcoin::{Script, ScriptBuf, Txid};
use paraffin_primitives::Height;
use paraffin_store::{ModuleWriter, read_together};

use super::LOOKED_UP_BY_ONE;
use crate::rows::{ScriptKey, ScriptRow, message_key, position_key};
use crate::tables::{MESSAGES, SCRIPTS};
use crate::{BlockEffects, StateError};

/// Messages of one transaction: consecutive rows of `block_traces`.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Number of the first trace in the block.
    first: u32,
    count: u32,
}

/// What a block adds to the rows of scripts.
pub(super) struct Scripts {
    by_transaction: HashMap<Txid, Run>,
    by_key: BTreeMap<ScriptKey, Added>,
}

/// What a block adds to the row of a script.
struct Added {
    script: ScriptBuf,
    /// Messages of its transactions, in the order of the block.
    runs: Vec<Run>,
}

impl Scripts {
    /// Of a block with these effects. `listed`: scripts of outputs that alkanes were sent to.
    pub(super) fn of(effects: &BlockEffects, listed: BTreeMap<ScriptKey, ScriptBuf>) -> Result<Self, StateError> {
        let mut by_transaction: HashMap<Txid, Run> = HashMap::new();
        for (number, (outpoint, _)) in (0u32..).zip(&effects.traces) {
            let run = by_transaction.entry(outpoint.txid).or_insert(Run { first: number, count: 0 });
            if run.first + run.count != number {
                let txid = outpoint.txid;
                return Err(StateError::Damaged(format!("traces of other transactions stand between those of {txid}")));
            }
            run.count += 1;
        }
        let added = |(key, script)| (key, Added { script, runs: Vec::new() });
        Ok(Self { by_transaction, by_key: listed.into_iter().map(added).collect() })
    }

    /// Lists the messages of a transaction under its scripts, each named once. Transactions come in the order of the block.
    pub(super) fn add<'s>(&mut self, txid: &Txid, scripts: impl IntoIterator<Item = (&'s ScriptKey, &'s Script)>) {
        let Some(run) = self.by_transaction.get(txid) else { return };
        for (key, script) in scripts {
            let new = || Added { script: script.to_owned(), runs: Vec::new() };
            self.by_key.entry(*key).or_insert_with(new).runs.push(*run);
        }
    }

    /// One row for each transaction of a script, not one for each message: a transaction with a hundred messages and
    /// thousands of scripts would make hundreds of thousands.
    pub(super) fn write(self, height: Height, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
        let scripts: Vec<_> = self.by_key.into_iter().collect();
        let before = read_together(&scripts, LOOKED_UP_BY_ONE, |(key, _)| rows.get(&SCRIPTS, &key.0))?;
        for ((key, Added { script, runs }), before) in scripts.into_iter().zip(before) {
            let is_new = before.is_none();
            let row = before.map(|row| ScriptRow::decode(&row)).transpose()?;
            let mut row = row.unwrap_or(ScriptRow { messages: 0, script });
            for run in &runs {
                rows.put(&MESSAGES, &message_key(key, row.messages), &position_key(height, run.first))?;
                let full = || StateError::Damaged("a script has 2^32 messages".to_owned());
                row.messages = row.messages.checked_add(run.count).ok_or_else(full)?;
            }
            if is_new || !runs.is_empty() {
                rows.put(&SCRIPTS, &key.0, &row.encode())?;
            }
        }
        Ok(())
    }
}
