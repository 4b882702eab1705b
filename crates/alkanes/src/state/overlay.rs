use std::cell::RefCell;
use std::collections::HashMap;

use super::{StateError, StateKey, StateReader};

/// What a block has changed so far, in layers: a base, and one layer for each open checkpoint (protocol B14).
///
/// Reads go from the newest layer down to the base and then to the state of the block before.
pub struct Overlay<'r> {
    reader: &'r dyn StateReader,
    base: HashMap<StateKey, Vec<u8>>,
    layers: Vec<HashMap<StateKey, Vec<u8>>>,
    /// What was read from below, so that each key is read once in a block.
    read: RefCell<HashMap<StateKey, Option<Vec<u8>>>>,
}

impl<'r> Overlay<'r> {
    /// Nothing changed yet.
    pub fn new(reader: &'r dyn StateReader) -> Self {
        Self { reader, base: HashMap::new(), layers: Vec::new(), read: RefCell::default() }
    }

    /// The value of `key` as changed so far.
    ///
    /// # Errors
    /// Reading failed.
    pub fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        for layer in self.layers.iter().rev() {
            if let Some(value) = layer.get(key) {
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
        match self.base.get(key) {
            Some(value) => Ok(Some(value.clone())),
            None => self.read(key),
        }
    }

    /// The value of `key` in the block before.
    fn read(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        if let Some(value) = self.read.borrow().get(key) {
            return Ok(value.clone());
        }
        let value = self.reader.get(key)?;
        self.read.borrow_mut().insert(key.clone(), value.clone());
        Ok(value)
    }

    /// The state of the block before.
    pub fn reader(&self) -> &'r dyn StateReader {
        self.reader
    }

    /// Sets `key` in the newest layer.
    pub fn put(&mut self, key: StateKey, value: Vec<u8>) {
        self.layers.last_mut().unwrap_or(&mut self.base).insert(key, value);
    }

    /// Sets `key` below all checkpoints: no rollback undoes it (protocol B14, "direct writes").
    pub fn put_direct(&mut self, key: StateKey, value: Vec<u8>) {
        self.base.insert(key, value);
    }

    /// Opens a layer.
    pub fn checkpoint(&mut self) {
        self.layers.push(HashMap::new());
    }

    /// Merges the newest layer into the one below.
    pub fn commit(&mut self) {
        if let Some(layer) = self.layers.pop() {
            let below = self.layers.last_mut().unwrap_or(&mut self.base);
            if below.is_empty() {
                *below = layer;
            } else {
                below.extend(layer);
            }
        }
    }

    /// Drops the newest layer.
    pub fn rollback(&mut self) {
        self.layers.pop();
    }

    /// Drops the newest layers until `depth` are left.
    pub fn rollback_to(&mut self, depth: usize) {
        self.layers.truncate(depth);
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
        let mut writes = Vec::with_capacity(self.base.len());
        for (key, value) in std::mem::take(&mut self.base) {
            // What the reference never set reads as empty there, and so does what it set to nothing.
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
