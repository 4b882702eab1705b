use bitcoin::Txid;
use paraffin_store::ModuleWriter;

use super::outputs::{SheetLookup, SpentOutputs};
use crate::reader::recent_height;
use crate::rows::{SheetKind, read_state};
use crate::tables::RECENT;
use crate::{StateError, StateKey, StateReader};

/// The state before the block being applied.
pub(super) struct WriterState<'a, 'w> {
    pub(super) rows: &'a ModuleWriter<'w>,
    pub(super) known: &'a SpentOutputs,
}

impl StateReader for WriterState<'_, '_> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        // Nearly all inputs of a block hold neither alkanes nor base runes, and one read each has shown it; outputs of the block are new.
        if let Some((kind, outpoint)) = SheetKind::of(key) {
            match self.known.sheet(kind, outpoint) {
                SheetLookup::Unread => {}
                SheetLookup::Absent => return Ok(None),
                SheetLookup::Present(sheet) => return Ok(Some(sheet.to_vec())),
            }
        }
        read_state(key, self.rows.height(), |table, row_key| self.rows.get(table, row_key))
    }

    fn recent_height(&self, txid: &Txid) -> Result<Option<u64>, StateError> {
        let rows = self.rows.prefix(&RECENT, &[], usize::MAX)?;
        recent_height(txid, rows.into_iter().map(Ok))
    }
}
