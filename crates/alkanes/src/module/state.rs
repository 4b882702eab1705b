use std::collections::HashMap;

use bitcoin::Txid;
use paraffin_store::{KeyHashing, ModuleWriter, read_together};

use super::outputs::KnownOutputs;
use crate::reader::recent_height;
use crate::rows::{StateRow, read_value};
use crate::tables::RECENT;
use crate::{StateError, StateKey, StateReader};

/// Sheets that are worth a thread that reads them.
const READ_BY_ONE: usize = 32;
/// The largest sheet that is kept from the beginning of a block, bytes: one of a few alkanes or runes. A block spends at most
/// some 24,000 outputs.
const KEPT_SHEET_BYTES_MAX: usize = 256;

/// The state before the block being applied.
pub(super) struct WriterState<'a, 'w> {
    rows: &'a ModuleWriter<'w>,
    known: &'a KnownOutputs,
    /// Sheets of the outputs that the block spends, but for large ones: read together, since each is looked for in all files.
    sheets: HashMap<StateKey, Option<Vec<u8>>, KeyHashing>,
}

impl<'a, 'w> WriterState<'a, 'w> {
    pub(super) fn new(rows: &'a ModuleWriter<'w>, known: &'a KnownOutputs) -> Result<Self, StateError> {
        let keys: Vec<StateKey> =
            known.holders().flat_map(|outpoint| [StateKey::Sheet(*outpoint), StateKey::BaseSheet(*outpoint)]).collect();
        let kept = read_together(&keys, READ_BY_ONE, |key| {
            let value = read(rows, key)?;
            let is_small = value.as_ref().is_none_or(|value| value.len() <= KEPT_SHEET_BYTES_MAX);
            Ok::<_, StateError>(is_small.then_some(value))
        })?;
        let sheets = keys.into_iter().zip(kept).filter_map(|(key, value)| Some((key, value?))).collect();
        Ok(Self { rows, known, sheets })
    }
}

fn read(rows: &ModuleWriter<'_>, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
    let row = StateRow::of(key);
    rows.get(row.table, &row.key)?.map(|stored| read_value(key, stored)).transpose()
}

impl StateReader for WriterState<'_, '_> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        // Nearly all inputs of a block hold neither alkanes nor base runes, and that was found out with one read each.
        if let StateKey::Sheet(outpoint) | StateKey::BaseSheet(outpoint) = key
            && self.known.is_empty_input(outpoint)
        {
            return Ok(None);
        }
        match self.sheets.get(key) {
            Some(value) => Ok(value.clone()),
            None => read(self.rows, key),
        }
    }

    fn recent_height(&self, txid: &Txid) -> Result<Option<u64>, StateError> {
        let rows = self.rows.prefix(&RECENT, &[], usize::MAX)?;
        recent_height(txid, rows.into_iter().map(Ok))
    }
}
