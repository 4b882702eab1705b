//! Re-running one module alone: back to an older block, then forward again over indexed blocks.
//!
//! All steps can be broken off at any point. The module's height and the `clearing` flag in its record show where to go
//! on, and new blocks are refused until every declared module has reached the tip.

use std::sync::Arc;

use paraffin_primitives::{BlockId, Height};

use crate::engine::{Bytes, Space};
use crate::record::{ModuleState, meta_key};
use crate::snapshot::stored_block;
use crate::undo;
use crate::writer::{OpenBlock, OpenKind};
use crate::{ModuleId, StoreError, Writer, key};

/// Rows that one batch of an emptying removes.
const CLEARED_ROWS_MAX: usize = 20_000;

/// Result of [`Writer::rewind_module`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewound {
    /// The module was at that height or below.
    Unchanged,
    /// The blocks were undone one by one.
    Undone {
        /// Number of undone blocks.
        blocks: u32,
    },
    /// Undo did not reach that far, or the tables were of another version or partly emptied: they are empty now.
    Cleared,
}

impl Writer {
    /// Brings the tables of one module back to what they were after block `to` (`None`: empty). The other modules, and
    /// the tip, stay. When undo does not reach that far the tables are emptied instead; the result says which.
    ///
    /// # Errors
    /// The module is not declared, blocks wait for a commit, the store is damaged, or a write failed. Calling it again
    /// goes on where it stopped.
    pub fn rewind_module(&mut self, module: ModuleId, to: Option<Height>) -> Result<Rewound, StoreError> {
        self.settle()?;
        self.require_idle()?;
        let slot = self.modules.get(&module).ok_or(StoreError::UnknownModule(module.0))?;
        if slot.schema.is_none() {
            return Err(StoreError::UnknownModule(module.0));
        }
        if !slot.usable() {
            self.clear_module(module)?;
            return Ok(Rewound::Cleared);
        }
        let (Some(height), Some(first)) = (slot.state.height, self.first_height) else {
            return Ok(Rewound::Unchanged);
        };
        let lowest = to.map_or(first, |to| to.saturating_add(1).max(first));
        if lowest > height {
            return Ok(Rewound::Unchanged);
        }
        if lowest < self.undo_from {
            self.clear_module(module)?;
            return Ok(Rewound::Cleared);
        }
        for height in (lowest..=height).rev() {
            self.undo_module_block(module, height, first)?;
        }
        Ok(Rewound::Undone { blocks: height - lowest + 1 })
    }

    fn undo_module_block(&mut self, module: ModuleId, height: Height, first: Height) -> Result<(), StoreError> {
        let inner = Arc::clone(&self.inner);
        let mut batch = inner.engine.batch();
        let block = stored_block(&self.view, height)?
            .ok_or_else(|| StoreError::Corrupt(format!("the record of block {height} is missing")))?;
        if let Some(entry) = block.module(module) {
            undo::undo_module(&self.view, &mut batch, module, height, entry.undo_chunks)?;
        }
        let below = (height > first).then(|| height - 1);
        self.put_state(&mut batch, module, |state| state.height = below);
        inner.engine.commit(batch, false)?;
        inner.publish()?;
        self.reload()
    }

    /// Empties all tables of a module in bounded steps.
    fn clear_module(&mut self, module: ModuleId) -> Result<(), StoreError> {
        let inner = Arc::clone(&self.inner);
        let mut batch = inner.engine.batch();
        self.put_state(&mut batch, module, |state| {
            state.height = None;
            state.clearing = true;
        });
        inner.engine.commit(batch, false)?;
        inner.publish()?;
        self.reload()?;
        let prefix = [module.0];
        let until = key::after_prefix(&prefix);
        for space in Space::TABLES.into_iter().chain([Space::Undo]) {
            let mut rows = self.view.range(space, &prefix, &until);
            let mut removed = 0_u64;
            loop {
                let keys: Vec<Bytes> = rows
                    .by_ref()
                    .take(CLEARED_ROWS_MAX)
                    .map(|row| row.map(|(key, _)| key))
                    .collect::<Result<_, _>>()?;
                if keys.is_empty() {
                    break;
                }
                removed += keys.len() as u64;
                let mut batch = inner.engine.batch();
                for key in keys {
                    batch.remove(space, key);
                }
                inner.engine.commit(batch, false)?;
                tracing::debug!(module = module.0, keyspace = space.name(), removed, "emptying tables");
            }
        }
        let mut batch = inner.engine.batch();
        let lengths = [5, module.0];
        for row in self.view.range(Space::Meta, &lengths, &key::after_prefix(&lengths)) {
            batch.remove(Space::Meta, row?.0);
        }
        let version = self.modules.get(&module).and_then(|slot| slot.schema).map(|schema| schema.version);
        self.put_state(&mut batch, module, |state| {
            state.clearing = false;
            state.version = version.unwrap_or(state.version);
        });
        inner.engine.commit(batch, false)?;
        inner.publish()?;
        self.reload()
    }

    fn put_state(&self, batch: &mut crate::engine::Batch<'_>, module: ModuleId, change: impl FnOnce(&mut ModuleState)) {
        if let Some(slot) = self.modules.get(&module) {
            let mut state = slot.state.clone();
            change(&mut state);
            batch.insert(Space::Meta, meta_key::module(module), state.encode());
        }
    }

    /// The block that a module has to see next, when it is behind the tip.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn next_replay(&self, module: ModuleId) -> Result<Option<BlockId>, StoreError> {
        let (Some(first), Some(tip)) = (self.first_height, &self.tip) else { return Ok(None) };
        let slot = self.modules.get(&module).ok_or(StoreError::UnknownModule(module.0))?;
        let next =
            if slot.usable() { slot.state.height.map_or(first, |height| height.saturating_add(1)) } else { first };
        if next > tip.id.height {
            return Ok(None);
        }
        let block = stored_block(&self.view, next)?
            .ok_or_else(|| StoreError::Corrupt(format!("the record of block {next} is missing")))?;
        Ok(Some(block.record.id))
    }

    /// Starts an indexed block again, for one module: the one after the module's height. Write its rows with
    /// [`Self::module`], then [`Self::end_block`] and [`Self::commit`] as for a new block. The record of the block gets
    /// the module's new digest, and its own and the cumulative one are computed anew; above the module's height the
    /// cumulative digests are stale until it has reached the tip.
    ///
    /// # Errors
    /// The block is not on the indexed chain or not the next one of the module, its tables have to be rewound first, or
    /// other blocks wait for a commit.
    pub fn replay_block(&mut self, module: ModuleId, id: BlockId) -> Result<(), StoreError> {
        self.settle()?;
        self.inner.engine.check_writable()?;
        self.require_closed()?;
        if self.waiting.last().is_some_and(|block| block.replayed != Some(module)) {
            return Err(StoreError::Misuse("other blocks wait in the writer: commit them before a replay"));
        }
        let slot = self.modules.get(&module).filter(|slot| slot.schema.is_some());
        if !slot.ok_or(StoreError::UnknownModule(module.0))?.usable() {
            return Err(StoreError::Misuse("the tables of the module are not in order: rewind it first"));
        }
        if self.next_replay(module)? != Some(id) {
            return Err(StoreError::UnknownBlock(id));
        }
        let block = stored_block(&self.view, id.height)?.ok_or(StoreError::UnknownBlock(id))?;
        self.open = Some(OpenBlock { id, kind: OpenKind::Replay { module, block } });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::BlockHash;
    use bitcoin::hashes::Hash as _;
    use paraffin_primitives::Network;

    use super::*;
    use crate::{ModuleSchema, Placement, Store, StoreOptions, Table, TableKind};

    const ROWS: Table =
        Table { module: ModuleId(4), id: 0, name: "rows", kind: TableKind::WriteOnce, placement: Placement::Hashed };
    const LIST: Table =
        Table { module: ModuleId(4), id: 1, name: "list", kind: TableKind::Sequence, placement: Placement::Appended };
    const MODULE: ModuleSchema =
        ModuleSchema { id: ModuleId(4), name: "four", version: 1, tables: &[ROWS, LIST], reads: &[] };

    fn open(folder: &std::path::Path, undo_blocks: u32) -> Store {
        let options = StoreOptions {
            network: Network::Regtest,
            undo_blocks: Some(undo_blocks),
            memory_bytes: crate::MemorySplit::FLOOR,
        };
        Store::open(folder, &options, &[MODULE]).unwrap()
    }

    fn id(height: Height) -> BlockId {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&height.to_be_bytes());
        BlockId { height, hash: BlockHash::from_byte_array(hash) }
    }

    fn write(writer: &mut Writer, height: Height, rows: u32) {
        let mut module = writer.module(MODULE.id).unwrap();
        for number in 0..rows {
            module.put(&ROWS, &[height.to_be_bytes(), number.to_be_bytes()].concat(), b"row").unwrap();
        }
        module.append(&LIST, b"item").unwrap();
        writer.end_block().unwrap();
    }

    fn begin(writer: &mut Writer, height: Height) {
        let previous = height.checked_sub(1).map_or(BlockHash::all_zeros(), |below| id(below).hash);
        writer.begin_block(id(height), previous, 0).unwrap();
    }

    fn count(store: &Store, space: Space) -> usize {
        let view = &store.snapshot().published.view;
        view.range(space, &[MODULE.id.0], &[MODULE.id.0 + 1])
            .filter(|row| row.as_ref().is_ok_and(|(key, _)| !key.is_empty()))
            .count()
    }

    #[test]
    fn an_emptying_that_was_broken_off_goes_on_and_nothing_is_written_before() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), 1);
        let mut writer = store.writer().unwrap();
        let rows = CLEARED_ROWS_MAX as u32;
        for height in 0..3 {
            begin(&mut writer, height);
            write(&mut writer, height, rows);
            writer.commit(false).unwrap();
        }
        let straight = store.snapshot().tip().cloned();
        // The state that `clear_module` leaves when it is killed after its first step.
        let mut batch = writer.inner.engine.batch();
        writer.put_state(&mut batch, MODULE.id, |state| {
            state.height = None;
            state.clearing = true;
        });
        for number in 0..10_u32 {
            let row = [0_u32.to_be_bytes(), number.to_be_bytes()].concat();
            batch.remove(Space::Hashed, key::plain(&ROWS, &row));
        }
        // The rows of an appended table go before its length, too.
        for number in 0..3_u32 {
            batch.remove(Space::Appended, key::plain(&LIST, &number.to_be_bytes()));
        }
        writer.inner.engine.commit(batch, false).unwrap();
        drop((writer, store));

        let store = open(folder.path(), 1);
        let mut writer = store.writer().unwrap();
        assert_eq!(store.snapshot().module_height(MODULE.id).unwrap(), None);
        assert!(matches!(writer.begin_block(id(3), id(2).hash, 0), Err(StoreError::ModuleBehind { height: None, .. })));
        assert!(matches!(writer.replay_block(MODULE.id, id(0)), Err(StoreError::Misuse(_))));
        assert_eq!(count(&store, Space::Hashed), 3 * rows as usize - 10);
        assert_eq!(writer.rewind_module(MODULE.id, Some(1)).unwrap(), Rewound::Cleared);
        for space in Space::TABLES.into_iter().chain([Space::Undo]) {
            assert_eq!(count(&store, space), 0, "{}", space.name());
        }
        assert_eq!(store.snapshot().sequence_len(&LIST).unwrap(), 0);
        for height in 0..3 {
            assert_eq!(writer.next_replay(MODULE.id).unwrap(), Some(id(height)));
            writer.replay_block(MODULE.id, id(height)).unwrap();
            write(&mut writer, height, rows);
            writer.commit(false).unwrap();
        }
        assert_eq!(store.snapshot().tip().cloned(), straight);
        assert_eq!(count(&store, Space::Hashed), 3 * rows as usize);
    }

    #[test]
    fn undo_records_outside_the_window_are_gone_from_the_disk_whatever_the_batches() {
        for blocks_per_commit in [1, 2, 7] {
            let folder = tempfile::tempdir().unwrap();
            let store = open(folder.path(), 2);
            let mut writer = store.writer().unwrap();
            for height in 0..30 {
                // The last commit has one block, so it can remove all that the one before it left.
                if height == 29 {
                    writer.commit(false).unwrap();
                }
                begin(&mut writer, height);
                write(&mut writer, height, 1);
                if height == 29 || height % blocks_per_commit == 0 {
                    writer.commit(false).unwrap();
                }
            }
            assert_eq!(writer.undo_from(), 28, "{blocks_per_commit}");
            assert_eq!(count(&store, Space::Undo), 2, "{blocks_per_commit}");
        }
    }
}
