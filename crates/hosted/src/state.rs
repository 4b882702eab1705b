//! The state of a program as of a height, and with a preview's block on top.

use paraffin_primitives::Height;
use paraffin_store::{Snapshot, StoreError};

use crate::{Flush, Reads, rows};

/// The state of a program cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A stored row is not what this program writes.
    #[error("the state of the hosted program is damaged: {0}")]
    Damaged(&'static str),
}

impl ReadError {
    pub(crate) fn damaged(what: &'static str) -> Self {
        Self::Damaged(what)
    }
}

/// The state at the end of the block at a height.
#[derive(Clone)]
pub struct HostedState {
    snapshot: Snapshot,
    height: Option<Height>,
}

impl HostedState {
    /// The state at the end of the block at `height`; `None` is the state before every block.
    pub fn at(snapshot: &Snapshot, height: Option<Height>) -> Self {
        Self { snapshot: snapshot.clone(), height }
    }
}

impl Reads for HostedState {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        self.height.map_or(Ok(None), |height| rows::at(&self.snapshot, key, height))
    }
}

/// A state with the writes of one block on top, in memory alone.
pub(crate) struct Tried<'a> {
    pub(crate) below: &'a dyn Reads,
    pub(crate) block: &'a Flush,
}

impl Reads for Tried<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        match self.block.pairs.get(key) {
            Some(value) => Ok(Some(value.clone())),
            None => self.below.get(key),
        }
    }
}
