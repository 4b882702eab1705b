//! Rows that the next block needs, read while the block before it is applied.
//!
//! A row that a view has never changes, so what was read ahead is exact as long as the view is the newest one; after a commit it is
//! not used any more. What waits in memory comes before both, as for every read.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use crate::engine::{Bytes, KnownRows, Space, View};
use crate::overlay::{ModuleOverlay, ROW_OVERHEAD};
use crate::{ModuleId, StoreError, Table, TableKind, key, read_together};

/// Rows that are worth a thread that reads them.
const READ_BY_ONE: usize = 32;
/// Bytes of rows that are read ahead of a block, in sum, with what each costs beside its key and value: some 80,000 short ones.
const BYTES_MAX: usize = 16 << 20;

/// A row as the engine knows it.
type EngineKey = (Space, Vec<u8>);

/// Collects the keys of rows that a block will need.
pub struct KeysAhead<'a> {
    overlays: &'a BTreeMap<ModuleId, ModuleOverlay>,
    keys: Vec<EngineKey>,
}

impl<'a> KeysAhead<'a> {
    pub(crate) fn new(overlays: &'a BTreeMap<ModuleId, ModuleOverlay>) -> Self {
        Self { overlays, keys: Vec::new() }
    }

    /// Adds a row of a Current, `WriteOnce` or Versioned table, of the latter the newest value, unless it is known without a read.
    ///
    /// # Errors
    /// The table is of another kind, or its module is not declared.
    pub fn add(&mut self, table: &Table, row_key: &[u8]) -> Result<(), StoreError> {
        // A module without an overlay has applied no block since the start; it begins to read ahead with its second one.
        let Some(overlay) = self.overlays.get(&table.module) else { return Ok(()) };
        if overlay.needs_read(table, row_key)? {
            self.keys.push(engine_key(table, row_key));
        }
        Ok(())
    }

    /// Adds what each of `collect` adds, at the same time; their keys are in this order.
    ///
    /// # Errors
    /// Those of the first that failed.
    pub fn add_side_by_side<E: Send>(
        &mut self,
        collect: impl IntoIterator<Item: FnOnce(&mut Self) -> Result<(), E> + Send>,
    ) -> Result<(), E> {
        let overlays = self.overlays;
        thread::scope(|scope| {
            let mut collect = collect.into_iter();
            let first = collect.next();
            let others: Vec<_> = collect
                .map(|collect| {
                    scope.spawn(move || {
                        let mut keys = Self::new(overlays);
                        collect(&mut keys).map(|()| keys.keys)
                    })
                })
                .collect();
            first.map_or(Ok(()), |collect| collect(self))?;
            for other in others {
                self.keys.append(&mut other.join().unwrap_or_else(|panic| resume_unwind(panic))?);
            }
            Ok(())
        })
    }

    /// To be read from `view`.
    pub(crate) fn of_view(self, view: &View) -> ReadAhead {
        ReadAhead { view: view.with_known(None), keys: self.keys, is_over: Arc::default() }
    }
}

fn engine_key(table: &Table, row_key: &[u8]) -> EngineKey {
    let key = match table.kind {
        TableKind::Versioned => key::newest(&key::stem(table, row_key)),
        _ => key::plain(table, row_key),
    };
    (Space::of(table.placement), key)
}

/// A row cannot be read, or memory is used up.
struct NotRead;

/// What is to be read before the next block, by any thread.
pub struct ReadAhead {
    view: View,
    keys: Vec<EngineKey>,
    is_over: Arc<AtomicBool>,
}

impl ReadAhead {
    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Reads the rows on a thread of its own. `None`: there is nothing to read, or the system gives no thread.
    pub fn begin(self) -> Option<ReadingAhead> {
        if self.is_empty() {
            return None;
        }
        let is_over = Arc::clone(&self.is_over);
        let thread = thread::Builder::new().name("read-ahead".to_owned()).spawn(move || self.read()).ok()?;
        Some(ReadingAhead { is_over, thread: Some(thread) })
    }

    /// Reads the rows, on several threads where there are many. A row that cannot be read is left out, so that the block meets
    /// the error itself. Nothing is read beyond 16 MiB.
    pub fn read(mut self) -> RowsAhead {
        // Rows that are near one another are in the same blocks of filters, indexes and rows, and are then read one after the other.
        self.keys.sort_unstable();
        let left = AtomicUsize::new(BYTES_MAX);
        let Ok(found) = read_together(&self.keys, READ_BY_ONE, |key| Ok::<_, Infallible>(self.row(key, &left)));
        let mut rows = KnownRows::default();
        for ((space, key), value) in self.keys.into_iter().zip(found) {
            if let Ok(value) = value {
                rows.insert(space, key, value);
            }
        }
        RowsAhead { view: self.view, rows }
    }

    /// A row, or that it is absent.
    fn row(&self, (space, key): &EngineKey, left: &AtomicUsize) -> Result<Option<Bytes>, NotRead> {
        if self.is_over.load(Ordering::Relaxed) {
            return Err(NotRead);
        }
        // A copy: a value of the engine keeps the whole block of its table file in memory.
        let value = self.view.get(*space, key).map_err(|_| NotRead)?.as_deref().map(Bytes::from);
        let bytes = ROW_OVERHEAD as usize + key.len() + value.as_ref().map_or(0, |value| value.len());
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_err() {
            self.is_over.store(true, Ordering::Relaxed);
            return Err(NotRead);
        }
        Ok(value)
    }
}

/// A thread that reads ahead.
pub struct ReadingAhead {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<RowsAhead>>,
}

impl ReadingAhead {
    /// What it has read by now. It reads no more: the block reads the rest in its turn.
    pub fn rows(mut self) -> Option<RowsAhead> {
        self.end()
    }

    fn end(&mut self) -> Option<RowsAhead> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for ReadingAhead {
    fn drop(&mut self) {
        // It keeps the store open.
        let _ = self.end();
    }
}

/// Rows that were read ahead, those that are known to be absent included.
pub struct RowsAhead {
    view: View,
    rows: KnownRows,
}

impl RowsAhead {
    /// The rows, if `view` shows the instant that they were read at.
    pub(crate) fn of_view(self, view: &View) -> Option<KnownRows> {
        self.view.is_as_of(view).then_some(self.rows)
    }
}
