//! One digest over everything that the tables hold, to compare two stores row by row.

use sha2::{Digest as _, Sha256};

use crate::engine::Space;
use crate::{Snapshot, StoreError};

impl Snapshot {
    /// SHA-256 over all rows of all tables in order of keyspace and key, each key and value preceded by its length. Two
    /// stores that applied the same blocks have the same digest, however the blocks arrived. Reads the whole store:
    /// minutes on mainnet.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged.
    pub fn content_digest(&self) -> Result<[u8; 32], StoreError> {
        let mut hasher = Sha256::new();
        for space in Space::TABLES {
            // Above the tables stands the number of the last commit, which tells how blocks arrived.
            for row in self.view().range(space, &[], &[u8::MAX]) {
                let (key, value) = row?;
                hasher.update((key.len() as u64).to_be_bytes());
                hasher.update(&key);
                hasher.update((value.len() as u64).to_be_bytes());
                hasher.update(&value);
            }
            hasher.update([u8::MAX; 8]);
        }
        Ok(hasher.finalize().into())
    }
}
