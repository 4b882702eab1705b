//! Consistent reads of all keyspaces.

use std::collections::HashMap;
use std::ops::{Bound, Range};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fjall::Readable;

use super::{Bytes, Engine, EngineRow, Space, classify};
use crate::StoreError;

impl Engine {
    pub(crate) fn view(self: &Arc<Self>) -> View {
        let snapshot = self.merge_state.open_view(&self.database);
        View { open: Some(Arc::new(Open { snapshot, engine: Arc::clone(self) })), known: None }
    }
}

/// All keyspaces at one instant; without an engine, none.
pub(crate) struct View {
    open: Option<Arc<Open>>,
    /// Rows of this instant that were read before they are asked for.
    known: Option<KnownRows>,
}

/// Rows of one instant.
#[derive(Default)]
pub(crate) struct KnownRows {
    /// Values of rows, `None` of those that are absent.
    values: [HashMap<Vec<u8>, Option<Bytes>>; Space::COUNT],
    /// All rows of ranges, by where these begin.
    ranges: [HashMap<Vec<u8>, KnownRange>; Space::COUNT],
}

struct KnownRange {
    until: Vec<u8>,
    rows: Arc<[EngineRow]>,
}

impl KnownRows {
    pub(crate) fn insert(&mut self, space: Space, key: Vec<u8>, value: Option<Bytes>) {
        self.values[space as usize].insert(key, value);
    }

    /// `rows`: all with `from <= key < until`, ascending.
    pub(crate) fn insert_range(&mut self, space: Space, from: Vec<u8>, until: Vec<u8>, rows: Vec<EngineRow>) {
        self.ranges[space as usize].insert(from, KnownRange { until, rows: rows.into() });
    }

    /// Adds those of another.
    pub(crate) fn extend(&mut self, other: Self) {
        for (values, others) in self.values.iter_mut().zip(other.values) {
            values.extend(others);
        }
        for (ranges, others) in self.ranges.iter_mut().zip(other.ranges) {
            ranges.extend(others);
        }
    }

    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Option<&Option<Bytes>> {
        self.values[space as usize].get(key)
    }

    pub(crate) fn range(&self, space: Space, from: &[u8], until: &[u8]) -> Option<&Arc<[EngineRow]>> {
        self.ranges[space as usize].get(from).filter(|range| range.until == until).map(|range| &range.rows)
    }
}

pub(crate) struct Open {
    // Before the engine, so that the snapshot is released while the engine is open.
    snapshot: fjall::Snapshot,
    engine: Arc<Engine>,
}

impl View {
    /// An empty view.
    pub(crate) const fn of_nothing() -> Self {
        Self { open: None, known: None }
    }

    /// The same instant, of which `known` was read.
    pub(crate) fn with_known(&self, known: Option<KnownRows>) -> Self {
        Self { open: self.open.clone(), known }
    }

    /// Whether both show the same instant.
    pub(crate) fn is_as_of(&self, other: &Self) -> bool {
        match (&self.open, &other.open) {
            (Some(open), Some(other)) => Arc::ptr_eq(open, other),
            (None, None) => true,
            _ => false,
        }
    }

    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let Some(open) = &self.open else { return Ok(None) };
        if let Some(found) = self.known.as_ref().and_then(|known| known.get(space, key)) {
            return Ok(found.clone());
        }
        open.engine.counters.gets.fetch_add(1, Ordering::Relaxed);
        open.snapshot
            .get(&open.engine.spaces[space as usize], key)
            .map_err(|error| classify("reading", error, &open.engine.folder))
    }

    /// Rows with `from <= key < until`, ascending; the other way with `next_back`.
    pub(crate) fn range(&self, space: Space, from: &[u8], until: &[u8]) -> EngineRows {
        if let Some(rows) = self.known.as_ref().and_then(|known| known.range(space, from, until)) {
            return EngineRows::Known(Arc::clone(rows), 0..rows.len());
        }
        match self.open.as_ref().filter(|_| from < until) {
            None => EngineRows::Known(Arc::new([]), 0..0),
            Some(open) => EngineRows::Read(open.seek(space, from, until), Arc::clone(open)),
        }
    }

    /// First row with `from <= key < until`.
    pub(crate) fn first(&self, space: Space, from: &[u8], until: &[u8]) -> Result<Option<EngineRow>, StoreError> {
        let Some(open) = self.open.as_ref().filter(|_| from < until) else { return Ok(None) };
        open.seek(space, from, until).next().map(|guard| open.row(guard)).transpose()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.engine.merge_state.close_view(self.snapshot.seqno());
    }
}

impl Open {
    fn seek(&self, space: Space, from: &[u8], until: &[u8]) -> fjall::Iter {
        self.engine.counters.seeks.fetch_add(1, Ordering::Relaxed);
        let bounds: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Included(from), Bound::Excluded(until));
        self.snapshot.range::<&[u8], _>(&self.engine.spaces[space as usize], bounds)
    }

    fn row(&self, guard: fjall::Guard) -> Result<EngineRow, StoreError> {
        self.engine.counters.rows.fetch_add(1, Ordering::Relaxed);
        guard.into_inner().map_err(|error| classify("reading", error, &self.engine.folder))
    }
}

/// Rows of a range.
pub(crate) enum EngineRows {
    /// Read lazily.
    Read(fjall::Iter, Arc<Open>),
    /// Known, and which of them are still to come.
    Known(Arc<[EngineRow]>, Range<usize>),
}

impl Iterator for EngineRows {
    type Item = Result<EngineRow, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Read(rows, open) => Some(open.row(rows.next()?)),
            Self::Known(rows, left) => Some(Ok(rows.get(left.next()?)?.clone())),
        }
    }
}

impl DoubleEndedIterator for EngineRows {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Self::Read(rows, open) => Some(open.row(rows.next_back()?)),
            Self::Known(rows, left) => Some(Ok(rows.get(left.next_back()?)?.clone())),
        }
    }
}
