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
        if let Some(value) = self.base.get(key) {
            return Ok(Some(value.clone()));
        }
        if let Some(value) = self.read.borrow().get(key) {
            return Ok(value.clone());
        }
        let value = self.reader.get(key)?;
        self.read.borrow_mut().insert(key.clone(), value.clone());
        Ok(value)
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
            self.layers.last_mut().unwrap_or(&mut self.base).extend(layer);
        }
    }

    /// Drops the newest layer.
    pub fn rollback(&mut self) {
        self.layers.pop();
    }

    /// Open layers.
    pub fn depth(&self) -> usize {
        self.layers.len()
    }

    /// Everything changed, sorted by key. Open layers are dropped.
    pub fn into_writes(self) -> Vec<(StateKey, Vec<u8>)> {
        let mut writes: Vec<_> = self.base.into_iter().collect();
        writes.sort_unstable();
        writes
    }
}
