use bitcoin::Txid;
use paraffin_store::ModuleWriter;

use super::outputs::KnownOutputs;
use crate::reader::recent_height;
use crate::rows::{StateRow, read_value};
use crate::tables::RECENT;
use crate::{StateError, StateKey, StateReader};

/// The state before the block being applied.
pub(super) struct WriterState<'a, 'w> {
    rows: &'a ModuleWriter<'w>,
    known: &'a KnownOutputs,
}

impl<'a, 'w> WriterState<'a, 'w> {
    pub(super) fn new(rows: &'a ModuleWriter<'w>, known: &'a KnownOutputs) -> Self {
        Self { rows, known }
    }
}

impl StateReader for WriterState<'_, '_> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        // Nearly all inputs of a block hold neither alkanes nor base runes, and that was found out with one read each.
        if let StateKey::Sheet(outpoint) | StateKey::BaseSheet(outpoint) = key
            && self.known.is_empty_input(outpoint)
        {
            return Ok(None);
        }
        let row = StateRow::of(key);
        self.rows.get(row.table, &row.key)?.map(|stored| read_value(key, stored)).transpose()
    }

    fn recent_height(&self, txid: &Txid) -> Result<Option<u64>, StateError> {
        let rows = self.rows.prefix(&RECENT, &[], usize::MAX)?;
        recent_height(txid, rows.into_iter().map(Ok))
    }
}
