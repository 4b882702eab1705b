use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use bitcoin::Txid;
use paraffin_store::{KeyHashing, ModuleWriter, read_together};

use super::outputs::SpentOutputs;
use crate::reader::recent_height;
use crate::rows::{StateRow, read_value};
use crate::tables::RECENT;
use crate::{StateError, StateKey, StateReader};

/// Sheets that are worth a thread that reads them.
const READ_BY_ONE: usize = 32;
/// Bytes of sheets that are read before a block is applied, in sum; the others are read when their message comes, and count
/// as its work. Enough for 24,000 outputs, the most that a block spends, with a few alkanes or runes each.
const EARLY_BYTES_MAX: usize = 16 << 20;

/// Sheets by their keys, as far as they were read before the block.
pub(super) type Sheets = HashMap<StateKey, Option<Vec<u8>>, KeyHashing>;

/// The state before the block being applied.
pub(super) struct WriterState<'a, 'w> {
    rows: &'a ModuleWriter<'w>,
    known: &'a SpentOutputs,
    /// Sheets of the outputs that the block spends, up to the limit: read together, since each is looked for in all files.
    sheets: Sheets,
}

impl<'a, 'w> WriterState<'a, 'w> {
    pub(super) fn new(rows: &'a ModuleWriter<'w>, known: &'a SpentOutputs) -> Result<Self, StateError> {
        let keys: Vec<StateKey> =
            known.holders().flat_map(|outpoint| [StateKey::Sheet(*outpoint), StateKey::BaseSheet(*outpoint)]).collect();
        let bytes = AtomicUsize::new(0);
        let early = read_together(&keys, READ_BY_ONE, |key| {
            if bytes.load(Ordering::Relaxed) > EARLY_BYTES_MAX {
                return Ok(None);
            }
            let value = read(rows, key)?;
            bytes.fetch_add(value.as_ref().map_or(0, Vec::len), Ordering::Relaxed);
            Ok::<_, StateError>(Some(value))
        })?;
        let sheets = keys.into_iter().zip(early).filter_map(|(key, value)| Some((key, value?))).collect();
        Ok(Self { rows, known, sheets })
    }

    pub(super) fn into_sheets(self) -> Sheets {
        self.sheets
    }
}

fn read(rows: &ModuleWriter<'_>, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
    let row = StateRow::of(key);
    rows.get(row.table, &row.key)?.map(|stored| read_value(key, stored)).transpose()
}

impl StateReader for WriterState<'_, '_> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        // Nearly all inputs of a block hold neither alkanes nor base runes, and one read each has shown it; outputs of the block are new.
        if let StateKey::Sheet(outpoint) | StateKey::BaseSheet(outpoint) = key
            && self.known.was_empty(outpoint)
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
