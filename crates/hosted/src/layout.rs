//! The keys of the alkanes indexer program, and the translation of its writes into the model of `paraffin_alkanes` (protocol B15 to
//! B17).
//!
//! ```text
//! /seen-genesis                                      SeenGenesis
//! /alkanes/sequence                                  Sequence
//! /alkanes/ id                                       Code; of a built-in a mark, whose content is never read
//! /alkanes/ id /storage/ key                         Storage
//! /alkanes/ what /balances/ who                      Balance
//! /alkanes/ who /inventory/ list of what             Inventory, a set; before release 2.0 `/alkanes` alone stands before the id
//! /alkanes_id_to_outpoint/ id                        Deployment
//! /trace/ outpoint, /trace/ height, list of outpoints    traces, in the order of the list
//! /runes/proto/1/byoutpoint/ outpoint, lists of runes and balances    Sheet
//! /runes/byoutpoint/ outpoint, lists of runes and balances            BaseSheet
//! /runes/proto/1/runtime/balance/id_to_balance id    Runtime
//! /runes/proto/1/byheight/ height, list of id        FirstSeen
//! /etching/byruneid/ id                              Translated::etched
//! /runes/mints-remaining/ name                       Translated::mints_remaining
//! ```
//!
//! What has no counterpart is named in [`LEFT_OUT`]. A key that is neither is reported as [`Translated::unknown`].

mod key;
mod lists;

use std::collections::{BTreeMap, BTreeSet};

use bitcoin::OutPoint;
use paraffin_alkanes::proto::alkanes::AlkanesTrace;
use paraffin_alkanes::views::trace_from_proto;
use paraffin_alkanes::{
    BlockEffects, LARGE_TRACES_BYTES, SavedSheet, StateError, StateKey, StateReader, Trace, TraceLog,
};
use paraffin_primitives::{AlkaneId, ConnectedBlock};
use prost::Message as _;

use crate::Flush;
use key::{ForeignKey, parse};
use lists::ListChange;

pub use key::LEFT_OUT;

/// Built-in contracts, under whose code key a mark is stored.
pub(crate) const BUILTINS: [AlkaneId; 3] =
    [AlkaneId { block: 2, tx: 0 }, AlkaneId { block: 32, tx: 0 }, AlkaneId { block: 32, tx: 1 }];
/// The mark as the native engine writes it.
const DEPLOYED_MARK: [u8; 1] = [1];

/// A flush has not the layout of the alkanes indexer.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// A value does not have the form that its key requires.
    #[error("the program writes a value of {len} bytes under {key}, which cannot be {what}")]
    Value {
        /// The key, readable.
        key: String,
        /// The expected form.
        what: &'static str,
        /// Its length in bytes.
        len: usize,
    },
    /// A list has a hole.
    #[error("the program writes entry {index} of the list {list}, which has {len} entries")]
    Hole {
        /// The list, readable.
        list: String,
        /// Number of the entry.
        index: u64,
        /// Entries before it.
        len: usize,
    },
    /// The state before the block cannot be read.
    #[error("{0}")]
    State(#[from] StateError),
}

/// The writes of a program in a block, in the model of the alkanes index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Translated {
    /// The effects. `undone` is left empty: it follows from the rest.
    pub effects: BlockEffects,
    /// The base runes that were etched. The program's other data of them are in a form of its own.
    pub etched: BTreeSet<AlkaneId>,
    /// Remaining mints of the base runes of which that number was written, 16 bytes each, sorted. Their names are in a form
    /// of the program's own.
    pub mints_remaining: Vec<Vec<u8>>,
    /// The first key, readable, that the alkanes indexer of the known layout does not write.
    pub unknown: Option<String>,
}

/// Translates the writes of a program in a block; `before` is the state before the block.
///
/// # Errors
/// See [`LayoutError`].
pub fn translate(flush: &Flush, block: &ConnectedBlock, before: &dyn StateReader) -> Result<Translated, LayoutError> {
    let height = u64::from(block.id.height);
    let mut found = FlushContents::default();
    for (key, value) in &flush.pairs {
        if let Some(foreign) = parse(key) {
            found.add(height, key, foreign, value)?;
        }
    }
    let unknown = unknown_key(flush);
    let etched = std::mem::take(&mut found.etched);
    let mut mints_remaining = std::mem::take(&mut found.mints_remaining);
    mints_remaining.sort_unstable();
    Ok(Translated { effects: found.into_effects(height, block, before)?, etched, mints_remaining, unknown })
}

/// The first key, readable, that the alkanes indexer of the known layout does not write.
pub(crate) fn unknown_key(flush: &Flush) -> Option<String> {
    flush.pairs.keys().find(|key| parse(key).is_none()).map(|key| readable(key))
}

/// The contents of a flush, sorted by kind.
#[derive(Default)]
struct FlushContents {
    writes: BTreeMap<StateKey, Vec<u8>>,
    sheets: BTreeMap<StateKey, ListChange>,
    first_seen: BTreeMap<u32, AlkaneId>,
    traces: BTreeMap<OutPoint, Trace>,
    trace_order: BTreeMap<u32, OutPoint>,
    etched: BTreeSet<AlkaneId>,
    mints_remaining: Vec<Vec<u8>>,
}

impl FlushContents {
    fn add(&mut self, height: u64, key: &[u8], foreign: ForeignKey, value: &[u8]) -> Result<(), LayoutError> {
        let wrong = |what| LayoutError::Value { key: readable(key), what, len: value.len() };
        let id = || lists::id(value).ok_or_else(|| wrong("an id"));
        match foreign {
            ForeignKey::LeftOut => {}
            ForeignKey::Etched(id) => _ = self.etched.insert(id),
            ForeignKey::MintsRemaining => self.mints_remaining.push(value.to_vec()),
            ForeignKey::State(state) => {
                let value = match &state {
                    StateKey::Code(id) if BUILTINS.contains(id) => DEPLOYED_MARK.to_vec(),
                    StateKey::Sequence | StateKey::Balance { .. } | StateKey::Runtime(_) if value.len() != 16 => {
                        return Err(wrong("an amount of 16 bytes"));
                    }
                    _ => value.to_vec(),
                };
                self.writes.insert(state, value);
            }
            ForeignKey::Inventory(who) => _ = self.writes.insert(StateKey::Inventory { who, what: id()? }, vec![1]),
            ForeignKey::Trace(outpoint) => {
                let trace = AlkanesTrace::decode(value).map_err(|_| wrong("a trace"))?;
                self.traces.insert(outpoint, trace_from_proto(trace));
            }
            ForeignKey::TraceAt { height: at, index } if at == height => {
                let outpoint = key::outpoint(value).ok_or_else(|| wrong("an outpoint"))?;
                self.trace_order.insert(index, outpoint);
            }
            ForeignKey::FirstSeenAt { height: at, index } if at == height => _ = self.first_seen.insert(index, id()?),
            ForeignKey::TraceAt { .. } | ForeignKey::FirstSeenAt { .. } => {
                return Err(wrong("written in a block of another height"));
            }
            ForeignKey::SheetId { sheet, index } => {
                let id = id()?;
                self.sheets.entry(sheet).or_default().ids.insert(index, id);
            }
            ForeignKey::SheetAmount { sheet, index } => {
                let amount = lists::amount(value).ok_or_else(|| wrong("an amount of 16 bytes"))?;
                self.sheets.entry(sheet).or_default().amounts.insert(index, amount);
            }
        }
        Ok(())
    }

    fn into_effects(
        self,
        height: u64,
        block: &ConnectedBlock,
        before: &dyn StateReader,
    ) -> Result<BlockEffects, LayoutError> {
        let Self { mut writes, sheets, first_seen, mut traces, trace_order, .. } = self;
        let mut funded = BTreeSet::new();
        for (key, change) in sheets {
            let saved = SavedSheet::decode(&before.get(&key)?.unwrap_or_default())?;
            let (sheet, grew) = change.apply(saved, &key)?;
            if let (StateKey::Sheet(outpoint), true) = (&key, grew) {
                funded.insert(*outpoint);
            }
            writes.insert(key, sheet.encode());
        }
        for (index, id) in first_seen {
            let value = [&height.to_le_bytes()[..], &index.to_le_bytes()].concat();
            writes.insert(StateKey::FirstSeen(id), value);
        }
        // An equal value is no change.
        let mut changed = Vec::with_capacity(writes.len());
        for (key, value) in writes {
            if before.get(&key)?.as_ref() != Some(&value) {
                changed.push((key, value));
            }
        }
        // Bounded as the traces of the native engine.
        let mut ordered = TraceLog::of(&block.block, LARGE_TRACES_BYTES);
        for outpoint in trace_order.into_values() {
            if let Some(trace) = traces.remove(&outpoint) {
                ordered.push(outpoint, trace);
            }
        }
        // Traces that no list names come last.
        for (outpoint, trace) in traces {
            ordered.push(outpoint, trace);
        }
        let (traces, funded) = (ordered.into_traces(), in_order(block, &funded));
        Ok(BlockEffects { writes: changed, traces, undone: Vec::new(), funded })
    }
}

/// The outputs of a block that are among `funded`, in the order of the block.
fn in_order(block: &ConnectedBlock, funded: &BTreeSet<OutPoint>) -> Vec<OutPoint> {
    let of = |txid| funded.range(OutPoint { txid, vout: 0 }..=OutPoint { txid, vout: u32::MAX });
    block.txids.iter().flat_map(|txid| of(*txid).copied()).collect()
}

/// A readable key: text as it is, all else in hexadecimal digits.
fn readable(key: &[u8]) -> String {
    use std::fmt::Write as _;
    /// Bytes that are shown.
    const SHOWN: usize = 200;
    let mut text = String::new();
    for byte in &key[..key.len().min(SHOWN)] {
        if byte.is_ascii_graphic() {
            text.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            _ = write!(text, "\\{byte:02x}");
        }
    }
    if key.len() > SHOWN {
        _ = write!(text, "… ({} bytes)", key.len());
    }
    text
}

#[cfg(test)]
mod tests;
