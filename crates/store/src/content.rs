//! One digest over everything that the tables hold, to compare two stores row by row.

use sha2::{Digest as _, Sha256};

use crate::engine::Space;
use crate::{Snapshot, StoreError};

/// Collects rows in order of keyspace and key.
#[derive(Default)]
pub(crate) struct ContentDigest(Sha256);

impl ContentDigest {
    pub(crate) fn row(&mut self, key: &[u8], value: &[u8]) {
        self.0.update((key.len() as u64).to_be_bytes());
        self.0.update(key);
        self.0.update((value.len() as u64).to_be_bytes());
        self.0.update(value);
    }

    /// The rows of the next keyspace follow, or none.
    pub(crate) fn end_space(&mut self) {
        self.0.update([u8::MAX; 8]);
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

impl Snapshot {
    /// SHA-256 over all rows of all tables in order of keyspace and key, each key and value preceded by its length. Two
    /// stores that applied the same blocks have the same digest, however the blocks arrived. Reads the whole store:
    /// minutes on mainnet.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn content_digest(&self) -> Result<[u8; 32], StoreError> {
        let mut digest = ContentDigest::default();
        for space in Space::TABLES {
            // The row above all tables has the number of the last commit, which depends on how blocks arrived.
            for row in self.view().range(space, &[], &[u8::MAX]) {
                let (key, value) = row?;
                digest.row(&key, &value);
            }
            digest.end_space();
        }
        Ok(digest.finish())
    }
}
