//! Reads of the tables of modules that saw the block before.

use std::sync::Arc;

use paraffin_primitives::Height;

use crate::engine::View;
use crate::reading::Reading;
use crate::snapshot::wrong_kind;
use crate::turn::EarlierOverlay;
use crate::{ModuleId, Row, StoreError, Table, TableKind};

/// The tables of earlier modules as of the end of the block being applied.
///
/// Only reads with the same result at any later time are allowed: a module that catches up alone is at an old block while
/// the others are at the tip. So Versioned tables answer as of the block, `Current` tables are refused, and a `WriteOnce` row
/// or one of a Sequence may be one that a later block wrote: its key has to say to which block it belongs, or its value has to.
#[derive(Clone, Copy)]
pub struct EarlierTables<'a> {
    pub(crate) overlays: &'a [(ModuleId, EarlierOverlay<'a>)],
    pub(crate) view: &'a Arc<View>,
    pub(crate) height: Height,
}

impl EarlierTables<'_> {
    /// Height of the block being applied.
    pub fn height(&self) -> Height {
        self.height
    }

    /// Versioned: the value as of the end of the block being applied. `WriteOnce`, Sequence: the value.
    ///
    /// # Errors
    /// The table is of another kind, or of a module that the reader's schema does not name or that could not apply the block; the
    /// disk cannot be read, or the store is damaged.
    pub fn get(&self, table: &Table, row_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        match table.kind {
            TableKind::Versioned => self.reading(table)?.get_at(table, row_key, self.height),
            TableKind::WriteOnce | TableKind::Sequence => self.reading(table)?.get(table, row_key),
            TableKind::Current => Err(wrong_kind(table, "reads by another module")),
        }
    }

    /// Owned rows with the prefix, ascending, at most `limit`, of Versioned and `WriteOnce` tables.
    ///
    /// # Errors
    /// See [`Self::get`].
    pub fn prefix(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        match table.kind {
            TableKind::Versioned => self.reading(table)?.prefix_at(table, prefix, self.height, limit),
            TableKind::WriteOnce => self.reading(table)?.prefix(table, prefix, limit),
            TableKind::Current | TableKind::Sequence => Err(wrong_kind(table, "reads by another module")),
        }
    }

    fn reading(&self, table: &Table) -> Result<Reading<'_>, StoreError> {
        let found = self.overlays.iter().find(|(module, _)| *module == table.module);
        let (_, overlay) = found.ok_or(StoreError::UnknownTable(table.name))?;
        Ok(Reading { overlay: overlay.wait()?, view: self.view, height: self.height })
    }
}
