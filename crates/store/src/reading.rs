//! Reads of one module's tables: rows that wait in memory over the committed ones.

use std::sync::Arc;

use paraffin_primitives::Height;

use crate::engine::View;
use crate::key::{self, PREFIX_LEN};
use crate::overlay::{ModuleOverlay, TableRows};
use crate::rows::TableScan;
use crate::snapshot::{require_versioned, wrong_kind};
use crate::version::stored_value;
use crate::{Row, StoreError, Table, TableKind};

/// One module's tables while a block at `height` is applied.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) overlay: &'a ModuleOverlay,
    pub(crate) view: &'a Arc<View>,
    pub(crate) height: Height,
}

impl Reading<'_> {
    /// Current, `WriteOnce`, Sequence: the value; Versioned: the newest value.
    pub(crate) fn get(&self, table: &Table, row_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let found = match &self.overlay.table(table)?.rows {
            TableRows::Keyed(rows) => return rows.get(table, row_key, self.view),
            TableRows::Sequence(rows) => rows.get(table, row_key, self.view)?,
            TableRows::Versioned(rows) => {
                return rows.get_at(table, row_key, Height::MAX, self.height, self.view);
            }
        };
        Ok(found.map(|value| value.to_vec()))
    }

    /// Versioned tables: the value as of `height`, the rows written so far included.
    pub(crate) fn get_at(&self, table: &Table, row_key: &[u8], height: Height) -> Result<Option<Vec<u8>>, StoreError> {
        match &self.overlay.table(table)?.rows {
            TableRows::Versioned(rows) => rows.get_at(table, row_key, height, self.height, self.view),
            _ => Err(wrong_kind(table, "values as of a height")),
        }
    }

    /// Owned rows with the prefix, ascending, at most `limit`.
    pub(crate) fn prefix(&self, table: &Table, prefix: &[u8], limit: usize) -> Result<Vec<Row>, StoreError> {
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
                merge.waiting(&mut stored, key[PREFIX_LEN..].to_vec(), value.map(<[u8]>::to_vec))
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

    /// Sequence: number of rows so far.
    pub(crate) fn sequence_len(&self, table: &Table) -> Result<u32, StoreError> {
        match &self.overlay.table(table)?.rows {
            TableRows::Sequence(rows) => Ok(rows.len()),
            _ => Err(wrong_kind(table, "length")),
        }
    }

    /// Versioned tables: owned rows with the prefix as of `height`, ascending, at most `limit`,
    pub(crate) fn prefix_at(
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

/// Merges stored rows with waiting rows, which win.
struct Merge {
    next: Option<Result<Row, StoreError>>,
    rows: Vec<Row>,
    limit: usize,
    error: Option<StoreError>,
}

impl Merge {
    /// Takes the stored rows below `key`, then the waiting row. Returns whether more is wanted.
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
