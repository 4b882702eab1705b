//! Consistent reads of all keyspaces.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fjall::Readable;

use super::{Bytes, Engine, EngineRow, Space, classify};
use crate::StoreError;

impl Engine {
    pub(crate) fn view(self: &Arc<Self>) -> View {
        let snapshot = self.merge_state.open_view(&self.database);
        View(Some(Arc::new(Open { snapshot, engine: Arc::clone(self) })))
    }
}

/// All keyspaces at one instant; without an engine, none.
pub(crate) struct View(Option<Arc<Open>>);

struct Open {
    // Before the engine, so that the snapshot is released while the engine is open.
    snapshot: fjall::Snapshot,
    engine: Arc<Engine>,
}

impl View {
    /// An empty view.
    pub(crate) const fn of_nothing() -> Self {
        Self(None)
    }

    pub(crate) fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let Some(open) = &self.0 else { return Ok(None) };
        open.engine.counters.gets.fetch_add(1, Ordering::Relaxed);
        open.snapshot
            .get(&open.engine.spaces[space as usize], key)
            .map_err(|error| classify("reading", error, &open.engine.folder))
    }

    /// Rows with `from <= key < until`, ascending; the other way with `next_back`.
    pub(crate) fn range(&self, space: Space, from: &[u8], until: &[u8]) -> EngineRows {
        let open = self.0.as_ref().filter(|_| from < until);
        EngineRows(open.map(|open| (open.seek(space, from, until), Arc::clone(open))))
    }

    /// First row with `from <= key < until`.
    pub(crate) fn first(&self, space: Space, from: &[u8], until: &[u8]) -> Result<Option<EngineRow>, StoreError> {
        let Some(open) = self.0.as_ref().filter(|_| from < until) else { return Ok(None) };
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

/// Rows of a range, read lazily.
pub(crate) struct EngineRows(Option<(fjall::Iter, Arc<Open>)>);

impl Iterator for EngineRows {
    type Item = Result<EngineRow, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (rows, open) = self.0.as_mut()?;
        Some(open.row(rows.next()?))
    }
}

impl DoubleEndedIterator for EngineRows {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (rows, open) = self.0.as_mut()?;
        Some(open.row(rows.next_back()?))
    }
}
