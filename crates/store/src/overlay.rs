//! Rows that wait in memory: the block being written, and ended blocks that are not committed yet.
//!
//! Reads of a [`crate::ModuleWriter`] look here first, then into the committed view. Each table has a hash map, so a read or
//! a write costs one lookup; keys are sorted when the block ends.
//!
//! A table has up to two layers. The newest takes the writes. While a sorted run is on its way into the engine, the rows of
//! the run are frozen below it; they are shared with the thread that writes the run.

mod held;
mod keyed;
mod layer;
mod sequence;
mod versioned;

use std::any::Any;
use std::sync::Arc;

use paraffin_primitives::Height;

use crate::digest::ModuleDigest;
use crate::engine::{Batch, Run, Space, View};
use crate::snapshot::wrong_kind;
use crate::undo::UndoWriter;
use crate::{StoreError, Table, TableKind};

pub(crate) use keyed::KeyedRows;
pub use layer::KeyHashing;
pub(crate) use sequence::SequenceRows;
pub(crate) use versioned::VersionedRows;

/// Bytes that a row costs beside its key and value: map entry, slots, allocation.
pub(crate) const ROW_OVERHEAD: u64 = 128;

/// Rows of one table that wait in memory.
pub(crate) enum TableRows {
    /// Current and `WriteOnce` tables.
    Keyed(KeyedRows),
    Versioned(VersionedRows),
    Sequence(SequenceRows),
}

impl TableRows {
    /// Bytes that the filter of absent rows takes.
    fn held_bytes(&self) -> u64 {
        match self {
            Self::Keyed(rows) => rows.held_bytes(),
            Self::Versioned(rows) => rows.held_bytes(),
            Self::Sequence(_) => 0,
        }
    }
}

/// One table of a module with its waiting rows.
pub(crate) struct TableOverlay {
    pub(crate) table: Table,
    pub(crate) rows: TableRows,
}

impl TableOverlay {
    fn new(table: Table, view: &View) -> Result<Self, StoreError> {
        let rows = match table.kind {
            TableKind::Current | TableKind::WriteOnce => TableRows::Keyed(KeyedRows::default()),
            TableKind::Versioned => TableRows::Versioned(VersionedRows::default()),
            TableKind::Sequence => TableRows::Sequence(SequenceRows::open(&table, view)?),
        };
        Ok(Self { table, rows })
    }
}

/// Waiting rows of one module, by table number.
pub(crate) struct ModuleOverlay {
    tables: Vec<Option<TableOverlay>>,
}

/// Recipients of the writes of an ending block.
pub(crate) struct BlockEnd<'a> {
    pub(crate) view: &'a View,
    pub(crate) height: Height,
    pub(crate) digest: &'a mut ModuleDigest,
    /// `None`: the block is too deep ever to be undone.
    pub(crate) undo: Option<&'a mut UndoWriter>,
}

impl ModuleOverlay {
    /// An empty overlay over the committed rows of `view`.
    pub(crate) fn open(tables: &[Table], view: &View) -> Result<Self, StoreError> {
        let len = tables.iter().map(|table| usize::from(table.id) + 1).max().unwrap_or(0);
        let mut slots: Vec<Option<TableOverlay>> = (0..len).map(|_| None).collect();
        for table in tables {
            slots[usize::from(table.id)] = Some(TableOverlay::new(*table, view)?);
        }
        Ok(Self { tables: slots })
    }

    pub(crate) fn table(&self, table: &Table) -> Result<&TableOverlay, StoreError> {
        match self.tables.get(usize::from(table.id)) {
            Some(Some(slot)) if slot.table.module == table.module && slot.table.kind == table.kind => Ok(slot),
            _ => Err(StoreError::UnknownTable(table.name)),
        }
    }

    pub(crate) fn table_mut(&mut self, table: &Table) -> Result<&mut TableOverlay, StoreError> {
        match self.tables.get_mut(usize::from(table.id)) {
            Some(Some(slot)) if slot.table.module == table.module && slot.table.kind == table.kind => Ok(slot),
            _ => Err(StoreError::UnknownTable(table.name)),
        }
    }

    /// Whether the value of a row is neither in memory nor known to be absent.
    ///
    /// # Errors
    /// The table is a Sequence or not one of the module.
    pub(crate) fn needs_read(&self, table: &Table, row_key: &[u8]) -> Result<bool, StoreError> {
        match &self.table(table)?.rows {
            TableRows::Keyed(rows) => Ok(rows.needs_read(table, row_key)),
            TableRows::Versioned(rows) => Ok(rows.needs_read(table, row_key)),
            TableRows::Sequence(_) => Err(wrong_kind(table, "reads ahead")),
        }
    }

    /// Prepares for a block that can be undone later, or not. Filters of this module may take `filter_bytes_max` together.
    ///
    /// # Errors
    /// The disk cannot be read.
    pub(crate) fn prepare(
        &mut self,
        undoable: bool,
        view: &Arc<View>,
        filter_bytes_max: u64,
    ) -> Result<(), StoreError> {
        let mut left = filter_bytes_max.saturating_sub(self.filter_bytes());
        for slot in self.tables.iter_mut().flatten() {
            left += slot.rows.held_bytes();
            match &mut slot.rows {
                TableRows::Keyed(rows) => rows.prepare(&slot.table, undoable, view, left)?,
                TableRows::Versioned(rows) => rows.prepare(&slot.table, undoable, view, left)?,
                TableRows::Sequence(_) => {}
            }
            left = left.saturating_sub(slot.rows.held_bytes());
        }
        Ok(())
    }

    /// Bytes that filters of absent rows take.
    pub(crate) fn filter_bytes(&self) -> u64 {
        self.tables.iter().flatten().map(|slot| slot.rows.held_bytes()).sum()
    }

    /// Rows that the open block has written.
    pub(crate) fn open_rows(&self) -> usize {
        let rows = self.tables.iter().flatten().map(|slot| match &slot.rows {
            TableRows::Keyed(rows) => rows.open_rows(),
            TableRows::Versioned(rows) => rows.open_rows(),
            TableRows::Sequence(rows) => rows.open_rows(),
        });
        rows.sum()
    }

    /// Ends the block: its rows become waiting rows, and go to the digest and the undo record once each, sorted.
    pub(crate) fn end_block(&mut self, mut end: BlockEnd<'_>) -> Result<(), StoreError> {
        for slot in self.tables.iter_mut().flatten() {
            if let Some(undo) = &mut end.undo {
                undo.table(&slot.table);
            }
            match &mut slot.rows {
                TableRows::Keyed(rows) => rows.end_block(&slot.table, &mut end)?,
                TableRows::Versioned(rows) => rows.end_block(&slot.table, &mut end),
                TableRows::Sequence(rows) => rows.end_block(&slot.table, &mut end),
            }
        }
        Ok(())
    }

    /// Drops the rows of the block that did not end.
    pub(crate) fn abandon_block(&mut self) {
        for slot in self.tables.iter_mut().flatten() {
            match &mut slot.rows {
                TableRows::Keyed(rows) => rows.abandon_block(),
                TableRows::Versioned(rows) => rows.abandon_block(),
                TableRows::Sequence(rows) => rows.abandon_block(),
            }
        }
    }

    /// Moves all waiting rows into a batch.
    pub(crate) fn drain_into(&mut self, batch: &mut Batch<'_>) {
        for slot in self.tables.iter_mut().flatten() {
            match &mut slot.rows {
                TableRows::Keyed(rows) => rows.drain_into(&slot.table, batch),
                TableRows::Versioned(rows) => rows.drain_into(&slot.table, batch),
                TableRows::Sequence(rows) => rows.drain_into(&slot.table, batch),
            }
        }
    }

    /// Adds the rows of ended blocks to a run; they stay readable until [`Self::thaw`].
    pub(crate) fn freeze_into(&mut self, run: &mut Run, batch: &mut Batch<'_>) {
        for slot in self.tables.iter_mut().flatten() {
            let part = match &mut slot.rows {
                TableRows::Keyed(rows) => rows.freeze(&slot.table),
                TableRows::Versioned(rows) => rows.freeze(),
                TableRows::Sequence(rows) => rows.freeze(&slot.table, batch),
            };
            if let Some(part) = part {
                run.push(Space::of(slot.table.placement), part);
            }
        }
    }

    /// The committed view has the rows that were frozen. Adds what is to be dropped to `dropped`: a million rows take a
    /// while.
    pub(crate) fn thaw(&mut self, dropped: &mut Vec<Box<dyn Any + Send>>) {
        for slot in self.tables.iter_mut().flatten() {
            dropped.extend(match &mut slot.rows {
                TableRows::Keyed(rows) => rows.thaw(),
                TableRows::Versioned(rows) => rows.thaw(),
                TableRows::Sequence(rows) => rows.thaw(),
            });
        }
    }

    /// Bytes that wait in the newest layer, an estimate.
    pub(crate) fn bytes(&self) -> u64 {
        self.tables
            .iter()
            .flatten()
            .map(|slot| match &slot.rows {
                TableRows::Keyed(rows) => rows.bytes(),
                TableRows::Versioned(rows) => rows.bytes(),
                TableRows::Sequence(rows) => rows.bytes(),
            })
            .sum()
    }
}

/// Result of a look-up of a row in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lookup<T> {
    /// The row is not in memory; the committed view decides.
    #[default]
    Unknown,
    Absent,
    Present(T),
}

impl<T> Lookup<T> {
    fn of(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Present)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemorySplit, ModuleId, Placement};

    const fn table(id: u8) -> Table {
        Table { module: ModuleId(4), id, name: "rows", kind: TableKind::Current, placement: Placement::Hashed }
    }

    #[test]
    fn filters_of_all_tables_together_stay_within_their_memory_and_hide_no_row() {
        const SMALLEST: u64 = 64 << 10;
        let folder = tempfile::tempdir().unwrap();
        let split = MemorySplit::of(MemorySplit::FLOOR).unwrap();
        let engine = Arc::new(crate::engine::Engine::open(folder.path(), split).unwrap());
        let view = Arc::new(engine.view());
        let tables: Vec<Table> = (0..5).map(table).collect();
        let mut overlay = ModuleOverlay::open(&tables, &view).unwrap();
        let rows = |overlay: &ModuleOverlay, key: &[u8]| -> Vec<bool> {
            let held = |table: &Table| match &overlay.table(table).unwrap().rows {
                TableRows::Keyed(rows) => rows.get(table, key, &view).unwrap().is_some(),
                TableRows::Versioned(_) | TableRows::Sequence(_) => unreachable!("all are Current"),
            };
            tables.iter().map(held).collect()
        };
        let write = |overlay: &mut ModuleOverlay, key: &[u8]| {
            for table in &tables {
                let TableRows::Keyed(rows) = &mut overlay.table_mut(table).unwrap().rows else { unreachable!() };
                rows.write(table, key, Some(b"row"), &view).unwrap();
            }
        };
        overlay.prepare(false, &view, 3 * SMALLEST).unwrap();
        assert_eq!(overlay.filter_bytes(), 0, "no key was looked up");
        write(&mut overlay, b"before");
        assert_eq!(rows(&overlay, b"absent"), [false; 5]);
        for part in [3, 2] {
            overlay.prepare(true, &view, part * SMALLEST).unwrap();
            assert_eq!((overlay.filter_bytes(), rows(&overlay, b"before")), (0, vec![true; 5]));
            overlay.prepare(false, &view, part * SMALLEST).unwrap();
            assert_eq!(overlay.filter_bytes(), part * SMALLEST);
            write(&mut overlay, &part.to_be_bytes());
            for (key, is_held) in [(&b"before"[..], true), (&part.to_be_bytes(), true), (b"absent", false)] {
                assert_eq!(rows(&overlay, key), [is_held; 5], "{key:?}");
            }
        }
    }
}
