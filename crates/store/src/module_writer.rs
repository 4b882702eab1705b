//! What a module sees of the store while a block is applied: its own tables.

use std::sync::Arc;

use paraffin_primitives::Height;

use crate::engine::{Bytes, View};
use crate::key::{self, KEY_LEN_MAX, PREFIX_LEN};
use crate::overlay::{ModuleOverlay, TableRows, stored_value};
use crate::rows::TableScan;
use crate::snapshot::{require_versioned, wrong_kind};
use crate::{Row, StoreError, Table, TableKind};

/// Greatest length of a value, bytes.
pub const VALUE_LEN_MAX: usize = 64 * 1024 * 1024;

/// Access of one module to its own tables while a block is applied; reads see the rows written so far.
pub struct ModuleWriter<'a> {
    pub(crate) overlay: &'a mut ModuleOverlay,
    pub(crate) view: &'a Arc<View>,
    pub(crate) height: Height,
}

impl ModuleWriter<'_> {
    /// Height of the block being applied.
    pub fn height(&self) -> Height {
        self.height
    }

    /// Current, `WriteOnce`, Sequence: the value; Versioned: the newest value.
    ///
    /// # Errors
    /// The table is not one of the module, the disk cannot be read, or the store is damaged.
    pub fn get(&self, table: &Table, row_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let found = match &self.overlay.table(table)?.rows {
            TableRows::Keyed(rows) => rows.get(table, row_key, self.view)?,
            TableRows::Sequence(rows) => rows.get(table, row_key, self.view)?,
            TableRows::Versioned(rows) => {
                return rows.get_at(table, row_key, Height::MAX, self.height, self.view);
            }
        };
        Ok(found.map(|value| value.to_vec()))
    }

    /// Versioned tables: the value as of `height`, the rows written so far included.
    ///
    /// # Errors
    /// The table is of another kind or not one of the module, the disk cannot be read, or the store is damaged.
    pub fn get_at(&self, table: &Table, row_key: &[u8], height: Height) -> Result<Option<Vec<u8>>, StoreError> {
        match &self.overlay.table(table)?.rows {
            TableRows::Versioned(rows) => rows.get_at(table, row_key, height, self.height, self.view),
            _ => Err(wrong_kind(table, "values as of a height")),
        }
    }

    /// Owned rows with the prefix, ascending, at most `limit`, those of this writer included.
    ///
    /// # Errors
    /// The table is not one of the module, the disk cannot be read, or the store is damaged.
    pub fn prefix(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
        let overlay = self.overlay.table(table)?;
        let from = match table.kind {
            TableKind::Versioned => key::escaped_prefix(table, prefix),
            _ => key::plain(table, prefix),
        };
        let until = key::after_prefix(&from);
        let mut stored = TableScan::prefix(self.view, table, prefix, Height::MAX);
        let mut merge = Merge { next: None, rows: Vec::new(), limit, error: None };
        merge.next = stored.next();
        match &overlay.rows {
            TableRows::Keyed(rows) => rows.scan(&from, &until, |key, value| {
                merge.waiting(&mut stored, key[PREFIX_LEN..].to_vec(), value.map(|value: &Bytes| value.to_vec()))
            }),
            TableRows::Sequence(rows) => rows.scan(table, &from, &until, |key, value| {
                merge.waiting(&mut stored, key[PREFIX_LEN..].to_vec(), value.map(|value| value.to_vec()))
            }),
            TableRows::Versioned(rows) => rows.scan(&from, &until, |stem, version| {
                let row_key = key::unescape(stem).expect("the stem was made by `key::with_stem`");
                match stored_value(version) {
                    Ok(value) => merge.waiting(&mut stored, row_key, value.map(<[u8]>::to_vec)),
                    Err(error) => {
                        merge.error = Some(error);
                        false
                    }
                }
            }),
        }
        merge.finish(&mut stored)
    }

    /// Current, Versioned: sets. `WriteOnce`: inserts (the key must be new).
    ///
    /// That a `WriteOnce` key is new is checked against the rows that wait in memory, and in debug builds against the
    /// store as well; a module that breaks the rule would lose the older row when the block is undone.
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

    /// Sequence: appends and answers the number of the new row.
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
        match &self.overlay.table(table)?.rows {
            TableRows::Sequence(rows) => Ok(rows.len()),
            _ => Err(wrong_kind(table, "length")),
        }
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
        require_versioned(table, "values as of a height")?;
        let TableRows::Versioned(rows) = &self.overlay.table(table)?.rows else {
            return Err(wrong_kind(table, "values as of a height"));
        };
        let mut found = Vec::new();
        // Keys from the newest state and from the past: a key removed since is in the past only.
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let from = key::escaped_prefix(table, prefix);
        let until = key::after_prefix(&from);
        rows.scan(&from, &until, |stem, _| {
            keys.push(key::unescape(stem).expect("the stem was made by `key::with_stem`"));
            true
        });
        let mut waiting = keys.into_iter().peekable();
        let mut stored = TableScan::prefix(self.view, table, prefix, height).peekable();
        while found.len() < limit {
            let waits_first = match (waiting.peek(), stored.peek()) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) | (Some(_), Some(Err(_))) => false,
                (Some(waits), Some(Ok((stored, _)))) => waits <= stored,
            };
            if waits_first {
                let Some(row_key) = waiting.next() else { break };
                stored.next_if(|row| row.as_ref().is_ok_and(|(other, _)| *other == row_key));
                if let Some(value) = rows.get_at(table, &row_key, height, self.height, self.view)? {
                    found.push((row_key, value));
                }
            } else if let Some(row) = stored.next() {
                found.push(row?);
            }
        }
        Ok(found)
    }
}

fn check_len(table: &Table, what: &'static str, bytes: &[u8], max: usize) -> Result<(), StoreError> {
    if bytes.len() > max {
        return Err(StoreError::TooLong { table: table.name, what, len: bytes.len(), max });
    }
    Ok(())
}

/// Merges stored rows with waiting rows, which win.
struct Merge {
    next: Option<Result<Row, StoreError>>,
    rows: Vec<Row>,
    limit: usize,
    error: Option<StoreError>,
}

impl Merge {
    /// Takes the stored rows below `key`, then the waiting row. Answers whether more is wanted.
    fn waiting(&mut self, stored: &mut TableScan, key: Vec<u8>, value: Option<Vec<u8>>) -> bool {
        while self.rows.len() < self.limit {
            match self.next.take() {
                None => break,
                Some(Err(error)) => {
                    self.error = Some(error);
                    return false;
                }
                Some(Ok(row)) if row.0 < key => {
                    self.rows.push(row);
                    self.next = stored.next();
                }
                Some(Ok(row)) if row.0 == key => {
                    self.next = stored.next();
                    break;
                }
                Some(Ok(row)) => {
                    self.next = Some(Ok(row));
                    break;
                }
            }
        }
        if self.rows.len() < self.limit
            && let Some(value) = value
        {
            self.rows.push((key, value));
        }
        self.rows.len() < self.limit
    }

    fn finish(mut self, stored: &mut TableScan) -> Result<Vec<Row>, StoreError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        while self.rows.len() < self.limit {
            let Some(row) = self.next.take() else { break };
            self.rows.push(row?);
            self.next = stored.next();
        }
        Ok(self.rows)
    }
}
