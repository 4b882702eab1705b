use std::cell::RefCell;
use std::collections::HashMap;

use paraffin_store::KeyHashing;

use super::{StateError, StateKey, StateReader};
use crate::work::{Work, cost};
use crate::{Halt, Parameters, STATE_BYTES_MAX};

/// Most bytes of the cache of reads from below. A contract can read millions of keys in one message.
const READ_BYTES_MAX: usize = 64 << 20;

/// The size of a key and its value beside their own bytes: not less than an entry of the map takes.
const ENTRY_BYTES: usize = 256;

fn entry_bytes(key: &StateKey, value_len: usize) -> usize {
    let name_len = if let StateKey::Storage(_, name) = key { name.len() } else { 0 };
    ENTRY_BYTES + name_len + value_len
}

/// The changes of a block so far, in layers: a base, and one layer for each open checkpoint (protocol B14).
///
/// Reads go from the newest layer down to the base and then to the state of the block before.
pub struct Overlay<'r> {
    reader: &'r dyn StateReader,
    base: Layer,
    written_bytes: usize,
    /// Of the base and all layers.
    kept_bytes: usize,
    kept_bytes_max: usize,
    layers: Vec<Layer>,
    read: RefCell<ReadCache>,
    /// What was read from below without counting it, until it is read for good.
    peeked: RefCell<HashMap<StateKey, Option<Vec<u8>>, KeyHashing>>,
    /// Of a run whose reads are recorded.
    recorded: RefCell<Option<RecordedReads>>,
    /// Unmetered work of the block's messages, each access to the state included.
    pub(crate) work: Work,
}

/// Changed values, and their size.
#[derive(Default)]
struct Layer {
    values: HashMap<StateKey, Vec<u8>, KeyHashing>,
    bytes: usize,
}

impl Layer {
    fn insert(&mut self, key: StateKey, value: Vec<u8>) {
        let (key_bytes, value_len) = (entry_bytes(&key, 0), value.len());
        match self.values.insert(key, value) {
            Some(older) => self.bytes -= older.len(),
            None => self.bytes += key_bytes,
        }
        self.bytes += value_len;
    }
}

/// A key, and the value that was read.
pub(crate) type Read = (StateKey, Option<Vec<u8>>);

/// The reads of a run in their order, of as many bytes as a record may have.
#[derive(Debug, Default)]
pub(crate) struct RecordedReads {
    pub(crate) reads: Vec<Read>,
    /// Work that was counted for them.
    pub(crate) work: u64,
    bytes: usize,
}

impl RecordedReads {
    /// Most bytes of a record.
    const BYTES_MAX: usize = 64 << 10;

    /// Whether nothing is missing.
    pub(crate) const fn is_whole(&self) -> bool {
        self.bytes <= Self::BYTES_MAX
    }

    fn add(&mut self, key: &StateKey, value: Option<&Vec<u8>>, work: u64) {
        self.work += work;
        self.bytes = self.bytes.saturating_add(entry_bytes(key, value.map_or(0, Vec::len)));
        if self.is_whole() {
            self.reads.push((key.clone(), value.cloned()));
        }
    }
}

/// Cache of reads from below, so that most keys are read once in a block.
struct ReadCache {
    values: HashMap<StateKey, Option<Vec<u8>>, KeyHashing>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for ReadCache {
    fn default() -> Self {
        Self { values: HashMap::default(), bytes: 0, bytes_max: READ_BYTES_MAX }
    }
}

impl ReadCache {
    fn insert(&mut self, key: StateKey, value: Option<Vec<u8>>) {
        if self.count(&key, value.as_ref()) {
            self.values.insert(key, value);
        }
    }

    /// Counts a value that was read; returns whether it can be cached. The cache is emptied when it is full: a key that is
    /// needed again is read again, and counted as work again, so the moment is a rule (decision 0038).
    fn count(&mut self, key: &StateKey, value: Option<&Vec<u8>>) -> bool {
        let bytes = entry_bytes(key, value.map_or(0, Vec::len));
        if self.bytes + bytes > self.bytes_max {
            *self = Self { bytes_max: self.bytes_max, ..Self::default() };
        }
        let fits = bytes <= self.bytes_max;
        if fits {
            self.bytes += bytes;
        }
        fits
    }
}

impl<'r> Overlay<'r> {
    /// Nothing changed yet.
    pub fn new(reader: &'r dyn StateReader) -> Self {
        Self {
            reader,
            base: Layer::default(),
            written_bytes: 0,
            kept_bytes: 0,
            kept_bytes_max: STATE_BYTES_MAX,
            layers: Vec::new(),
            read: RefCell::default(),
            peeked: RefCell::default(),
            recorded: RefCell::default(),
            work: Work::default(),
        }
    }

    /// The empty overlay of a block, with the bounds of `parameters` on unmetered work and changes.
    pub(crate) fn of_block(reader: &'r dyn StateReader, parameters: &Parameters) -> Self {
        let work = Work::of_block(parameters.block_work, parameters.message_bytes);
        Self { work, ..Self::new(reader).within(parameters.state_bytes) }
    }

    /// The same for changes of at most so many bytes, and a third of it for what was read.
    #[must_use]
    pub(crate) fn within(mut self, bytes: usize) -> Self {
        self.kept_bytes_max = bytes;
        self.read.get_mut().bytes_max = READ_BYTES_MAX.min(bytes / 3);
        self
    }

    /// # Errors
    /// The transaction has done more than it may, or what its block changes takes too much memory.
    pub(crate) fn check_limits(&self) -> Result<(), Halt> {
        if self.kept_bytes > self.kept_bytes_max { Err(Halt::TooMuchState) } else { self.work.check() }
    }

    /// Bytes of memory that instances may take beside the changes.
    pub(crate) fn memory_left(&self) -> usize {
        let memory_max = usize::try_from(self.work.memory_max()).unwrap_or(usize::MAX);
        memory_max.saturating_sub(self.kept_bytes)
    }

    /// The value of `key` as changed so far.
    ///
    /// # Errors
    /// Reading failed.
    pub fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        let before = self.work.done();
        let value = self.find(key)?;
        if let Some(recorded) = &mut *self.recorded.borrow_mut() {
            recorded.add(key, value.as_ref(), self.work.done() - before);
        }
        Ok(value)
    }

    fn find(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        for layer in self.layers.iter().rev() {
            self.work.add(cost::LAYER);
            if let Some(value) = layer.values.get(key) {
                self.work.add_copied(value.len());
                return Ok(Some(value.clone()));
            }
        }
        self.get_direct(key)
    }

    /// The value of `key` below all checkpoints: what a direct read of the reference sees (protocol B14).
    ///
    /// # Errors
    /// Reading failed.
    pub fn get_direct(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        let value = match self.base.values.get(key) {
            Some(value) => Some(value.clone()),
            None => self.read(key)?,
        };
        self.work.add(2 * cost::LAYER);
        self.work.add_copied(value.as_ref().map_or(0, Vec::len));
        Ok(value)
    }

    /// [`Self::get_direct`] of a key that the block does not read again, and which is therefore not cached.
    pub(crate) fn take_direct(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        if self.base.values.contains_key(key) || self.read.borrow().values.contains_key(key) {
            return self.get_direct(key);
        }
        self.work.add(cost::STORE_READ);
        let value = self.reader.get(key)?;
        self.read.borrow_mut().count(key, value.as_ref());
        self.work.add(2 * cost::LAYER);
        self.work.add_copied(value.as_ref().map_or(0, Vec::len));
        Ok(value)
    }

    /// The value of `key` in the block before.
    fn read(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        if let Some(value) = self.read.borrow().values.get(key) {
            return Ok(value.clone());
        }
        self.work.add(cost::STORE_READ);
        let value = match self.peeked.borrow_mut().remove(key) {
            Some(value) => value,
            None => self.reader.get(key)?,
        };
        self.read.borrow_mut().insert(key.clone(), value.clone());
        Ok(value)
    }

    /// What [`Self::get`] would answer, without work and without a trace in the cache, on which work depends.
    ///
    /// # Errors
    /// Reading failed.
    pub(crate) fn look(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        let mut layers = self.layers.iter().rev().chain([&self.base]);
        if let Some(value) = layers.find_map(|layer| layer.values.get(key)) {
            return Ok(Some(value.clone()));
        }
        if let Some(value) = self.read.borrow().values.get(key) {
            return Ok(value.clone());
        }
        self.reader.get(key)
    }

    /// [`Self::look`] at a key that is read next: a value from below is held until then.
    ///
    /// # Errors
    /// Reading failed.
    pub(crate) fn peek(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        if let Some(value) = self.peeked.borrow().get(key) {
            return Ok(value.clone());
        }
        let value = self.look(key)?;
        let is_changed = self.layers.iter().chain([&self.base]).any(|layer| layer.values.contains_key(key));
        if !is_changed && !self.read.borrow().values.contains_key(key) {
            self.peeked.borrow_mut().insert(key.clone(), value.clone());
        }
        Ok(value)
    }

    /// Forgets what was looked at and not read.
    pub(crate) fn end_peeking(&mut self) {
        self.peeked.get_mut().clear();
    }

    /// Records what is read from now on.
    pub(crate) fn record_reads(&mut self) {
        *self.recorded.get_mut() = Some(RecordedReads::default());
    }

    /// Ends the record.
    pub(crate) fn recorded_reads(&mut self) -> RecordedReads {
        self.recorded.get_mut().take().unwrap_or_default()
    }

    /// Whether anything was written.
    pub(crate) fn is_changed(&self) -> bool {
        !self.base.values.is_empty() || !self.layers.is_empty()
    }

    /// The state of the block before.
    pub fn reader(&self) -> &'r dyn StateReader {
        self.reader
    }

    /// Sets `key` in the newest layer.
    pub fn put(&mut self, key: StateKey, value: Vec<u8>) {
        self.written_bytes += entry_bytes(&key, value.len());
        self.work.add(cost::WRITE);
        let layer = self.layers.last_mut().unwrap_or(&mut self.base);
        let before = layer.bytes;
        layer.insert(key, value);
        self.kept_bytes = self.kept_bytes - before + layer.bytes;
    }

    /// Sets `key` below all checkpoints: no rollback undoes it (protocol B14, "direct writes").
    pub fn put_direct(&mut self, key: StateKey, value: Vec<u8>) {
        self.work.add(cost::WRITE);
        let before = self.base.bytes;
        self.base.insert(key, value);
        self.kept_bytes = self.kept_bytes - before + self.base.bytes;
    }

    /// Bytes of memory of all values set in layers so far, those that were set again or undone included.
    pub fn written_bytes(&self) -> usize {
        self.written_bytes
    }

    /// Opens a layer.
    pub fn checkpoint(&mut self) {
        self.layers.push(Layer::default());
    }

    /// Merges the newest layer into the one below.
    pub fn commit(&mut self) {
        if let Some(layer) = self.layers.pop() {
            let below = self.layers.last_mut().unwrap_or(&mut self.base);
            if below.values.is_empty() {
                *below = layer;
                return;
            }
            self.kept_bytes -= below.bytes + layer.bytes;
            self.work.add_times(layer.values.len(), cost::WRITE);
            for (key, value) in layer.values {
                below.insert(key, value);
            }
            self.kept_bytes += below.bytes;
        }
    }

    /// Drops the newest layer.
    pub fn rollback(&mut self) {
        if let Some(layer) = self.layers.pop() {
            self.kept_bytes -= layer.bytes;
        }
    }

    /// Drops the newest layers until `depth` are left.
    pub fn rollback_to(&mut self, depth: usize) {
        while self.layers.len() > depth {
            self.rollback();
        }
    }

    /// Open layers.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Everything that differs from the block before, sorted by key. Open layers are dropped; a value that is written again
    /// as it was is no change, so that engines which write more often than they must still agree.
    ///
    /// # Errors
    /// Reading failed.
    pub fn into_writes(mut self) -> Result<Vec<(StateKey, Vec<u8>)>, StateError> {
        let mut writes = Vec::with_capacity(self.base.values.len());
        for (key, value) in std::mem::take(&mut self.base.values) {
            // In the reference a key that was never set reads as empty, and so does one set to nothing.
            if self.read(&key)?.as_ref() != Some(&value) {
                writes.push((key, value));
            }
        }
        writes.sort_unstable();
        Ok(writes)
    }
}

#[cfg(test)]
mod tests;
