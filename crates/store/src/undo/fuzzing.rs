//! Undo records, opened for the fuzz targets.

use std::path::Path;
use std::sync::Arc;

use super::{UndoReader, undo_table};
use crate::engine::{Engine, Space};
use crate::record::meta_key;
use crate::{MemorySplit, ModuleId, StoreError};

/// An engine in which undo records are tried; nothing of them is ever committed.
pub struct UndoRecords(Arc<Engine>);

impl UndoRecords {
    /// Opens an engine in `folder`, with a Sequence table of `sequence_len` rows for each of the table numbers 0 to 3 of
    /// module 1.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub fn open(folder: &Path, sequence_len: u32) -> Result<Self, StoreError> {
        let engine = Engine::open(folder, MemorySplit::of(MemorySplit::FLOOR)?)?;
        let mut batch = engine.batch();
        for table in 0..4 {
            batch.insert(Space::Meta, meta_key::sequence_of(ModuleId(1), table), sequence_len.to_be_bytes());
        }
        engine.commit(batch, false)?;
        Ok(Self(Arc::new(engine)))
    }

    /// Reads a record of module 1 at height 1; returns whether it can be applied.
    pub fn apply(&self, record: &[u8]) -> bool {
        let (view, mut batch) = (self.0.view(), self.0.batch());
        let mut reader = UndoReader { rest: record };
        while !reader.rest.is_empty() {
            if undo_table(&view, &mut batch, ModuleId(1), 1, &mut reader).is_err() {
                return false;
            }
        }
        true
    }
}
