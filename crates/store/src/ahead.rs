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

use parking_lot::Mutex;

use crate::engine::{Bytes, EngineRow, KnownRows, Space, View};
use crate::overlay::{ModuleOverlay, ROW_OVERHEAD};
use crate::rows::plain_row;
use crate::snapshot::wrong_kind;
use crate::{ModuleId, Row, StoreError, Table, TableKind, key, read_together};

/// Rows that are worth a thread that reads them.
const READ_BY_ONE: usize = 32;
/// Bytes of rows that are read ahead of a block, in sum, with what each costs beside its key and value: some 80,000 short ones.
const BYTES_MAX: usize = 16 << 20;

/// A row as the engine knows it.
type EngineKey = (Space, Vec<u8>);

/// Reads rows whose keys follow from other rows.
type ReadBy = Box<dyn FnOnce(&CommittedRows) + Send>;

/// Collects the keys of rows that a block will need.
pub struct KeysAhead<'a> {
    overlays: &'a BTreeMap<ModuleId, ModuleOverlay>,
    keys: Vec<EngineKey>,
    reads: Vec<ReadBy>,
}

impl<'a> KeysAhead<'a> {
    pub(crate) fn new(overlays: &'a BTreeMap<ModuleId, ModuleOverlay>) -> Self {
        Self { overlays, keys: Vec::new(), reads: Vec::new() }
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

    /// Has `read` read rows whose keys follow from others, at the same time as those of keys. What it finds is remembered for the block; what waits in
    /// memory it does not see.
    pub fn read_by(&mut self, read: impl FnOnce(&CommittedRows) + Send + 'static) {
        self.reads.push(Box::new(read));
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
                        collect(&mut keys).map(|()| (keys.keys, keys.reads))
                    })
                })
                .collect();
            first.map_or(Ok(()), |collect| collect(self))?;
            for other in others {
                let (mut keys, mut reads) = other.join().unwrap_or_else(|panic| resume_unwind(panic))?;
                self.keys.append(&mut keys);
                self.reads.append(&mut reads);
            }
            Ok(())
        })
    }

    /// To be read from `view`.
    pub(crate) fn of_view(self, view: &View) -> ReadAhead {
        let found = CommittedRows {
            view: view.with_known(None),
            found: Mutex::default(),
            bytes_left: AtomicUsize::new(BYTES_MAX),
            is_over: Arc::default(),
        };
        ReadAhead { found, keys: self.keys, reads: self.reads }
    }
}

fn engine_key(table: &Table, row_key: &[u8]) -> EngineKey {
    let key = match table.kind {
        TableKind::Versioned => key::newest(&key::stem(table, row_key)),
        _ => key::plain(table, row_key),
    };
    (Space::of(table.placement), key)
}

/// The newest commit as it is read for a block to come. Rows are remembered for it, those that are known to be absent included.
pub struct CommittedRows {
    view: View,
    found: Mutex<KnownRows>,
    /// Bytes that may still be remembered.
    bytes_left: AtomicUsize,
    is_over: Arc<AtomicBool>,
}

impl CommittedRows {
    /// A row of a Current, `WriteOnce` or Sequence table.
    ///
    /// # Errors
    /// The table is Versioned, the disk cannot be read, the turn of the block has come, or 16 MiB are read.
    pub fn get(&self, table: &Table, row_key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let (space, key) = plain_key(table, row_key)?;
        // Also where nothing is read, so that work on what was found ends as well.
        self.take(0)?;
        if let Some(value) = self.found.lock().get(space, &key) {
            return Ok(value.as_ref().map(|value| value.to_vec()));
        }
        let value = self.read(space, &key)?;
        let found = value.as_ref().map(|value| value.to_vec());
        self.found.lock().insert(space, key, value);
        Ok(found)
    }

    /// All rows of a Current, `WriteOnce` or Sequence table whose key starts with `prefix`, ascending.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub fn prefix(&self, table: &Table, prefix: &[u8]) -> Result<Vec<Row>, StoreError> {
        let (space, from) = plain_key(table, prefix)?;
        let until = key::after_prefix(&from);
        self.take(0)?;
        let known = self.found.lock().range(space, &from, &until).cloned();
        if let Some(rows) = known {
            return Ok(rows.iter().cloned().map(plain_row).collect());
        }
        self.take(ROW_OVERHEAD as usize + from.len() + until.len())?;
        let rows = self.view.range(space, &from, &until).map(|row| {
            let (key, value) = row?;
            self.take(ROW_OVERHEAD as usize + key.len() + value.len())?;
            Ok((Bytes::from(&*key), Bytes::from(&*value)))
        });
        let rows = rows.collect::<Result<Vec<EngineRow>, StoreError>>()?;
        let found = rows.iter().cloned().map(plain_row).collect();
        self.found.lock().insert_range(space, from, until, rows);
        Ok(found)
    }

    /// A row of the engine, or that it is absent.
    fn read(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.take(0)?;
        // A copy: a value of the engine keeps the whole block of its table file in memory.
        let value = self.view.get(space, key)?.as_deref().map(Bytes::from);
        self.take(ROW_OVERHEAD as usize + key.len() + value.as_ref().map_or(0, |value| value.len()))?;
        Ok(value)
    }

    /// Counts bytes that are remembered.
    fn take(&self, bytes: usize) -> Result<(), StoreError> {
        let take = |left: usize| left.checked_sub(bytes);
        if self.is_over.load(Ordering::Relaxed) {
            return Err(StoreError::Abandoned);
        }
        if self.bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            self.is_over.store(true, Ordering::Relaxed);
            return Err(StoreError::Abandoned);
        }
        Ok(())
    }
}

/// Where the engine has a row whose key is that of the table.
fn plain_key(table: &Table, row_key: &[u8]) -> Result<EngineKey, StoreError> {
    match table.kind {
        TableKind::Versioned => Err(wrong_kind(table, "plain reads")),
        _ => Ok((Space::of(table.placement), key::plain(table, row_key))),
    }
}

/// What is to be read before the next block, by any thread.
pub struct ReadAhead {
    found: CommittedRows,
    keys: Vec<EngineKey>,
    reads: Vec<ReadBy>,
}

impl ReadAhead {
    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.reads.is_empty()
    }

    /// Reads the rows on a thread of its own. `None`: there is nothing to read, or the system gives no thread.
    pub fn begin(self) -> Option<ReadingAhead> {
        if self.is_empty() {
            return None;
        }
        let is_over = Arc::clone(&self.found.is_over);
        let thread = thread::Builder::new().name("read-ahead".to_owned()).spawn(move || self.read()).ok()?;
        Some(ReadingAhead { is_over, thread: Some(thread) })
    }

    /// Reads the rows, on several threads where there are many. A row that cannot be read is left out, so that the block meets
    /// the error itself. Nothing is read beyond 16 MiB.
    pub fn read(self) -> RowsAhead {
        let Self { found, mut keys, reads } = self;
        // Rows that are near one another are in the same blocks of filters, indexes and rows, and are then read one after the other.
        keys.sort_unstable();
        let values = thread::scope(|scope| {
            if !reads.is_empty() {
                // Without a thread the block reads in its turn.
                let _ = thread::Builder::new()
                    .name("read-ahead".to_owned())
                    .spawn_scoped(scope, || reads.into_iter().for_each(|read| read(&found)));
            }
            let read = |(space, key): &EngineKey| Ok::<_, Infallible>(found.read(*space, key));
            let Ok(values) = read_together(&keys, READ_BY_ONE, read);
            values
        });
        let CommittedRows { view, found, .. } = found;
        let mut rows = KnownRows::default();
        for ((space, key), value) in keys.into_iter().zip(values) {
            if let Ok(value) = value {
                rows.insert(space, key, value);
            }
        }
        rows.extend(found.into_inner());
        RowsAhead { view, rows }
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
