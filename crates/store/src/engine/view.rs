//! Consistent reads of all keyspaces.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fjall::Readable;

use super::{Bytes, Engine, EngineRow, Space, classify};
use crate::StoreError;

impl Engine {
    pub(crate) fn view(self: &Arc<Self>) -> View {
        View { snapshot: self.database.snapshot(), engine: Arc::clone(self) }
    }
}

/// All keyspaces at one instant.
pub(crate) struct View {
    // Before the engine, so that the snapshot is given back while the engine is open.
    snapshot: fjall::Snapshot,
    engine: Arc<Engine>,
}

impl View {
    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.engine.counters.gets.fetch_add(1, Ordering::Relaxed);
        self.snapshot
            .get(&self.engine.spaces[space as usize], key)
            .map_err(|error| classify("reading", error, &self.engine.folder))
    }

    /// Rows with `from <= key < until`, ascending; the other way with `next_back`.
    pub(crate) fn range(self: &Arc<Self>, space: Space, from: &[u8], until: &[u8]) -> EngineRows {
        let inner = (from < until).then(|| self.seek(space, from, until));
        EngineRows { inner, view: Arc::clone(self) }
    }

    /// First row with `from <= key < until`.
    pub(crate) fn first(&self, space: Space, from: &[u8], until: &[u8]) -> Result<Option<EngineRow>, StoreError> {
        if from >= until {
            return Ok(None);
        }
        self.seek(space, from, until).next().map(|guard| self.row(guard)).transpose()
    }

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

/// Rows of a range, read as they are asked for.
pub(crate) struct EngineRows {
    inner: Option<fjall::Iter>,
    view: Arc<View>,
}

impl Iterator for EngineRows {
    type Item = Result<EngineRow, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let guard = self.inner.as_mut()?.next()?;
        Some(self.view.row(guard))
    }
}

impl DoubleEndedIterator for EngineRows {
    fn next_back(&mut self) -> Option<Self::Item> {
        let guard = self.inner.as_mut()?.next_back()?;
        Some(self.view.row(guard))
    }
}
