//! Rows of a table, read lazily from both ends with bounded memory.

use std::sync::Arc;

use paraffin_primitives::Height;

use crate::engine::{EngineRow, EngineRows, Space, View};
use crate::key::{self, PREFIX_LEN};
use crate::version::{Version, long_version, stored_value};
use crate::{Row, StoreError, Table, TableKind};

/// After this many consecutive rows that are skipped, a new seek is cheaper than stepping on.
const STEPS_MAX: u32 = 8;

/// Rows of one table.
pub(crate) enum TableScan {
    Plain(EngineRows),
    Versioned(VersionedScan),
}

impl TableScan {
    /// Rows with `from <= key <= to`.
    pub(crate) fn range(view: &Arc<View>, table: &Table, from: &[u8], to: &[u8], at: Height) -> Self {
        if table.kind == TableKind::Versioned {
            let until = key::after_prefix(&key::stem(table, to));
            return Self::versioned(view, table, key::stem(table, from), until, at);
        }
        let mut until = key::plain(table, to);
        // The smallest key above `to`.
        until.push(0);
        Self::Plain(view.range(Space::of(table.placement), &key::plain(table, from), &until))
    }

    /// Rows whose key starts with `prefix`.
    pub(crate) fn prefix(view: &Arc<View>, table: &Table, prefix: &[u8], at: Height) -> Self {
        let from = if table.kind == TableKind::Versioned {
            key::escaped_prefix(table, prefix)
        } else {
            key::plain(table, prefix)
        };
        let until = key::after_prefix(&from);
        if table.kind == TableKind::Versioned {
            return Self::versioned(view, table, from, until, at);
        }
        Self::Plain(view.range(Space::of(table.placement), &from, &until))
    }

    fn versioned(view: &Arc<View>, table: &Table, from: Vec<u8>, until: Vec<u8>, at: Height) -> Self {
        Self::Versioned(VersionedScan {
            view: Arc::clone(view),
            space: Space::of(table.placement),
            from,
            until,
            at,
            forward: None,
            backward: None,
            held: None,
        })
    }
}

impl Iterator for TableScan {
    type Item = Result<Row, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Plain(rows) => rows.next().map(|row| row.map(plain_row)),
            Self::Versioned(scan) => scan.next_row().transpose(),
        }
    }
}

impl DoubleEndedIterator for TableScan {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Plain(rows) => rows.next_back().map(|row| row.map(plain_row)),
            Self::Versioned(scan) => scan.next_row_back().transpose(),
        }
    }
}

/// A row of a table that is not Versioned.
pub(crate) fn plain_row((key, value): EngineRow) -> Row {
    (key[PREFIX_LEN..].to_vec(), value.to_vec())
}

/// The value of every key as of one height. Both ends share the bounds, which close in on what is still to come.
pub(crate) struct VersionedScan {
    view: Arc<View>,
    space: Space,
    /// Keys below are done.
    from: Vec<u8>,
    /// Keys from here on are done.
    until: Vec<u8>,
    at: Height,
    forward: Option<EngineRows>,
    backward: Option<EngineRows>,
    /// Row that the backward end read but has not used yet.
    held: Option<EngineRow>,
}

impl VersionedScan {
    fn next_row(&mut self) -> Result<Option<Row>, StoreError> {
        let mut steps = 0;
        loop {
            if steps > STEPS_MAX {
                self.forward = None;
                steps = 0;
            }
            let rows = self.forward.get_or_insert_with(|| self.view.range(self.space, &self.from, &self.until));
            let Some((engine_key, stored)) = rows.next().transpose()? else { return Ok(None) };
            steps += 1;
            if *engine_key < *self.from {
                continue;
            }
            if *engine_key >= *self.until {
                return Ok(None);
            }
            let Version { stem, height, stored } = Version::read(&engine_key, &stored)?;
            if height > self.at {
                // Newer than the height of the scan: seek to the version at that height.
                self.from = key::at_height(stem, self.at);
                continue;
            }
            // A long newest version is the next row.
            let Some(stored) = stored else { continue };
            self.from.clear();
            self.from.extend_from_slice(stem);
            // The stem ends in 00 00, so this is the smallest key after all its versions.
            if let Some(last) = self.from.last_mut() {
                *last = 1;
            }
            if let Some(row) = row_of(stem, stored)? {
                return Ok(Some(row));
            }
            steps = 0;
        }
    }

    fn next_row_back(&mut self) -> Result<Option<Row>, StoreError> {
        let mut steps = 0;
        loop {
            if steps > STEPS_MAX {
                self.backward = None;
                steps = 0;
            }
            let Some((engine_key, stored)) = self.step_back()? else { return Ok(None) };
            steps += 1;
            if *engine_key >= *self.until {
                continue;
            }
            if *engine_key < *self.from {
                return Ok(None);
            }
            // The oldest version of the next key. Walk towards the wanted one, or seek to it when it is far.
            let Version { stem, height, stored } = Version::read(&engine_key, &stored)?;
            let stored = stored.ok_or_else(damaged)?;
            self.until.clear();
            self.until.extend_from_slice(stem);
            if height > self.at {
                continue;
            }
            let stored = self.newest_back(stem, stored.to_vec())?;
            if let Some(row) = row_of(stem, &stored)? {
                return Ok(Some(row));
            }
            steps = 0;
        }
    }

    /// Newest version of `stem` at or below the height of the scan, coming from its oldest one.
    fn newest_back(&mut self, stem: &[u8], oldest: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let mut best = oldest;
        for _ in 0..STEPS_MAX {
            let Some((engine_key, row)) = self.step_back()? else { return Ok(best) };
            let version = Version::read(&engine_key, &row)?;
            if version.stem != stem || version.height > self.at {
                self.held = Some((engine_key, row));
                return Ok(best);
            }
            if let Some(stored) = version.stored {
                best.clear();
                best.extend_from_slice(stored);
            }
        }
        let found = self.view.first(self.space, &key::at_height(stem, self.at), &key::after_prefix(stem))?;
        self.backward = None;
        self.held = None;
        let Some((engine_key, row)) = found else { return Ok(best) };
        let version = Version::read(&engine_key, &row)?;
        match version.stored {
            Some(stored) => Ok(stored.to_vec()),
            None => Ok(long_version(&self.view, self.space, stem, version.height)?.to_vec()),
        }
    }

    fn step_back(&mut self) -> Result<Option<EngineRow>, StoreError> {
        if let Some(row) = self.held.take() {
            return Ok(Some(row));
        }
        let rows = self.backward.get_or_insert_with(|| self.view.range(self.space, &self.from, &self.until));
        rows.next_back().transpose()
    }
}

fn row_of(stem: &[u8], stored: &[u8]) -> Result<Option<Row>, StoreError> {
    let Some(value) = stored_value(stored)? else { return Ok(None) };
    Ok(Some((key::unescape(stem).ok_or_else(damaged)?, value.to_vec())))
}

fn damaged() -> StoreError {
    StoreError::Corrupt("a key of a Versioned table cannot be read".to_owned())
}
