//! The rows of scripts: their transactions, and the messages of these, numbered in the order of the chain.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use bitcoin::{Script, ScriptBuf, Txid};
use paraffin_primitives::Height;
use paraffin_store::{ModuleWriter, read_together};

use super::LOOKED_UP_BY_ONE;
use crate::rows::{ActivityRow, ScriptKey, ScriptRow, activity_key, message_key, position_key};
use crate::tables::{ACTIVITY, MESSAGES, SCRIPTS};
use crate::{BlockEffects, StateError};

/// Rows of scripts that are in memory together: of scripts that can be spent, 10 MB at most.
const ROWS_TOGETHER: usize = 1024;

/// Messages of one transaction: consecutive rows of `block_traces`.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Number of the first trace in the block.
    first: u32,
    count: u32,
}

/// What a block adds to the rows of scripts.
pub(super) struct Scripts<'b> {
    by_transaction: HashMap<Txid, Run>,
    by_key: BTreeMap<ScriptKey, Added<'b>>,
}

/// What a block adds to the rows of a script.
struct Added<'b> {
    /// Not copied where it is of the block: all scripts that a block spends can be 240 MB.
    script: Cow<'b, Script>,
    /// Alkanes were sent to it, so that its key has to be known.
    is_listed: bool,
    /// In the order of the block.
    transactions: Vec<Part>,
}

/// The part of a script in a transaction.
struct Part {
    txid: Txid,
    /// Index of the transaction in the block.
    index: u32,
    roles: u8,
    messages: Option<Run>,
}

impl<'b> Scripts<'b> {
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
        let added =
            |(key, script)| (key, Added { script: Cow::Owned(script), is_listed: true, transactions: Vec::new() });
        Ok(Self { by_transaction, by_key: listed.into_iter().map(added).collect() })
    }

    /// Lists a transaction and its messages under its scripts, each named once with its roles. Transactions come in the order of the block.
    pub(super) fn add(&mut self, txid: Txid, index: u32, scripts: BTreeMap<ScriptKey, (&'b Script, u8)>) {
        let messages = self.by_transaction.get(&txid).copied();
        for (key, (script, roles)) in scripts {
            let new = || Added { script: Cow::Borrowed(script), is_listed: false, transactions: Vec::new() };
            self.by_key.entry(key).or_insert_with(new).transactions.push(Part { txid, index, roles, messages });
        }
    }

    /// One row of `messages` for each transaction of a script, not one for each message: a transaction with a hundred messages and
    /// thousands of scripts would make hundreds of thousands.
    pub(super) fn write(self, height: Height, rows: &mut ModuleWriter<'_>) -> Result<(), StateError> {
        let mut left = self.by_key.into_iter();
        loop {
            let scripts: Vec<_> = left.by_ref().take(ROWS_TOGETHER).collect();
            if scripts.is_empty() {
                return Ok(());
            }
            let before = read_together(&scripts, LOOKED_UP_BY_ONE, |(key, _)| rows.get(&SCRIPTS, &key.0))?;
            for ((key, added), before) in scripts.into_iter().zip(before) {
                let before = before.map(|row| ScriptRow::decode(&row)).transpose()?;
                let known = before.as_ref().map(|row| row.messages);
                let mut row = before.unwrap_or_else(|| ScriptRow { messages: 0, script: added.script.into_owned() });
                for Part { txid, index, roles, messages } in added.transactions {
                    if let Some(run) = messages {
                        rows.put(&MESSAGES, &message_key(key, row.messages), &position_key(height, run.first))?;
                        let full = || StateError::Damaged("a script has 2^32 messages".to_owned());
                        row.messages = row.messages.checked_add(run.count).ok_or_else(full)?;
                    }
                    let activity = ActivityRow { txid, roles, messages: row.messages };
                    rows.put(&ACTIVITY, &activity_key(key, height, index), &activity.encode())?;
                }
                if known.map_or(added.is_listed || row.messages > 0, |messages| messages != row.messages) {
                    rows.put(&SCRIPTS, &key.0, &row.encode())?;
                }
            }
        }
    }
}
