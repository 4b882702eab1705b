//! Access of a module to the store while a block is applied: its own tables, and those of the modules before it.

use std::sync::Arc;

use paraffin_primitives::Height;

use crate::engine::View;
use crate::key::KEY_LEN_MAX;
use crate::overlay::{ModuleOverlay, TableRows};
use crate::reading::Reading;
use crate::snapshot::wrong_kind;
use crate::turn::EarlierOverlay;
use crate::{EarlierTables, ModuleId, Row, StoreError, Table, TableKind};

/// Greatest length of a value, bytes.
pub const VALUE_LEN_MAX: usize = 64 * 1024 * 1024;

/// Access of one module to its own tables while a block is applied; reads see the rows written so far.
pub struct ModuleWriter<'a> {
    pub(crate) overlay: &'a mut ModuleOverlay,
    /// Tables of the modules that its schema declares as read.
    pub(crate) earlier: Vec<(ModuleId, EarlierOverlay<'a>)>,
    pub(crate) view: &'a Arc<View>,
    pub(crate) height: Height,
}

impl ModuleWriter<'_> {
    /// Height of the block being applied.
    pub fn height(&self) -> Height {
        self.height
    }

    /// The tables of the modules that this one's schema declares as read, as of the end of the block being applied. Reads wait for
    /// a module that is still applying it.
    pub fn earlier(&self) -> EarlierTables<'_> {
        EarlierTables { overlays: &self.earlier, view: self.view, height: self.height }
    }

    fn reading(&self) -> Reading<'_> {
        Reading { overlay: self.overlay, view: self.view, height: self.height }
    }

    /// Current, `WriteOnce`, Sequence: the value; Versioned: the newest value.
    ///
    /// # Errors
    /// The table is not one of the module, the disk cannot be read, or the store is damaged.
    pub fn get(&self, table: &Table, row_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.reading().get(table, row_key)
    }

    /// Versioned tables: the value as of `height`, the rows written so far included.
    ///
    /// # Errors
    /// The table is of another kind or not one of the module, the disk cannot be read, or the store is damaged.
    pub fn get_at(&self, table: &Table, row_key: &[u8], height: Height) -> Result<Option<Vec<u8>>, StoreError> {
        self.reading().get_at(table, row_key, height)
    }

    /// Owned rows with the prefix, ascending, at most `limit`, those of this writer included.
    ///
    /// # Errors
    /// The table is not one of the module, the disk cannot be read, or the store is damaged.
    pub fn prefix(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        self.reading().prefix(table, prefix, limit)
    }

    /// Current, Versioned: sets. `WriteOnce`: inserts (the key must be new).
    ///
    /// That a `WriteOnce` key is new is checked against the rows that wait in memory, and in debug builds against the
    /// store as well; a module that breaks the rule would lose the older row when the block is undone. During a first import
    /// rows of tables that are not read are checked when the block ends, against its own, and when they leave the memory.
    ///
    /// # Errors
    /// The table is a Sequence or not one of the module, the key exists in a `WriteOnce` table, or key or value are too
    /// long.
    pub fn put(&mut self, table: &Table, row_key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        check_len(table, "key", row_key, KEY_LEN_MAX)?;
        check_len(table, "value", value, VALUE_LEN_MAX)?;
        match &mut self.overlay.table_mut(table)?.rows {
            TableRows::Keyed(rows) => rows.write(table, row_key, Some(value), self.view),
            TableRows::Versioned(rows) => {
                rows.write(table, row_key, Some(value));
                Ok(())
            }
            TableRows::Sequence(_) => Err(wrong_kind(table, "put: append instead")),
        }
    }

    /// Current, Versioned: removes.
    ///
    /// # Errors
    /// The table is of another kind or not one of the module, or the key is too long.
    pub fn delete(&mut self, table: &Table, row_key: &[u8]) -> Result<(), StoreError> {
        check_len(table, "key", row_key, KEY_LEN_MAX)?;
        match &mut self.overlay.table_mut(table)?.rows {
            TableRows::Keyed(rows) if table.kind == TableKind::Current => rows.write(table, row_key, None, self.view),
            TableRows::Versioned(rows) => {
                rows.write(table, row_key, None);
                Ok(())
            }
            _ => Err(wrong_kind(table, "delete")),
        }
    }

    /// Sequence: appends and returns the number of the new row.
    ///
    /// # Errors
    /// The table is of another kind or not one of the module, it is full, or the value is too long.
    pub fn append(&mut self, table: &Table, value: &[u8]) -> Result<u32, StoreError> {
        check_len(table, "value", value, VALUE_LEN_MAX)?;
        match &mut self.overlay.table_mut(table)?.rows {
            TableRows::Sequence(rows) => rows.append(table, value),
            _ => Err(wrong_kind(table, "append: put instead")),
        }
    }

    /// Sequence: number of rows so far.
    ///
    /// # Errors
    /// The table is of another kind or not one of the module.
    pub fn sequence_len(&self, table: &Table) -> Result<u32, StoreError> {
        self.reading().sequence_len(table)
    }

    /// Versioned tables: owned rows with the prefix as of `height`, ascending, at most `limit`, those of this writer
    /// included.
    ///
    /// # Errors
    /// The table is of another kind or not one of the module, the disk cannot be read, or the store is damaged.
    pub fn prefix_at(
        &self,
        table: &Table,
        prefix: &[u8],
        height: Height,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        self.reading().prefix_at(table, prefix, height, limit)
    }
}

fn check_len(table: &Table, what: &'static str, bytes: &[u8], max: usize) -> Result<(), StoreError> {
    if bytes.len() > max {
        return Err(StoreError::TooLong { table: table.name, what, len: bytes.len(), max });
    }
    Ok(())
}
