//! Digests that two stores compare: equal when the blocks wrote the same rows, whatever the order of the calls.

use sha2::{Digest as _, Sha256};

use crate::ModuleId;

/// A SHA-256 digest.
pub(crate) type Digest = [u8; 32];

/// Collects the writes of one module in one block. They must come sorted by table and key, each key once.
pub(crate) struct ModuleDigest {
    hasher: Sha256,
    buffer: Vec<u8>,
}

const BUFFER_LEN: usize = 16 * 1024;

impl ModuleDigest {
    pub(crate) fn new() -> Self {
        Self { hasher: Sha256::new(), buffer: Vec::with_capacity(BUFFER_LEN) }
    }

    /// Adds a row: table, length and bytes of the key, then `01` with length and bytes of the value, or `00`.
    pub(crate) fn row(&mut self, table: u8, key: &[u8], value: Option<&[u8]>) {
        if self.buffer.len() + key.len() + 10 > BUFFER_LEN {
            self.spill();
        }
        self.buffer.push(table);
        self.buffer.extend_from_slice(&(key.len() as u32).to_be_bytes());
        self.buffer.extend_from_slice(key);
        match value {
            None => self.buffer.push(0),
            Some(value) => {
                self.buffer.push(1);
                self.buffer.extend_from_slice(&(value.len() as u32).to_be_bytes());
                if self.buffer.len() + value.len() > BUFFER_LEN {
                    self.spill();
                    self.hasher.update(value);
                } else {
                    self.buffer.extend_from_slice(value);
                }
            }
        }
    }

    fn spill(&mut self) {
        self.hasher.update(&self.buffer);
        self.buffer.clear();
    }

    pub(crate) fn finish(mut self) -> Digest {
        self.spill();
        self.hasher.finalize().into()
    }
}

/// Digest of a block: SHA-256 over module number and module digest, sorted by number.
pub(crate) fn block_digest(modules: impl IntoIterator<Item = (ModuleId, Digest)>) -> Digest {
    let mut hasher = Sha256::new();
    for (module, digest) in modules {
        hasher.update([module.0]);
        hasher.update(digest);
    }
    hasher.finalize().into()
}

/// Cumulative digest: SHA-256 over the one of the block before (zeros below the first block) and the block's digest.
pub(crate) fn cumulative_digest(previous: &Digest, block: &Digest) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update(previous);
    hasher.update(block);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_does_not_show_in_the_digest() {
        let rows: Vec<(u8, Vec<u8>, Option<Vec<u8>>)> = (0_u32..900)
            .map(|number| {
                let key = number.to_be_bytes().repeat(1 + number as usize % 900);
                (1, key, (number % 3 != 0).then(|| vec![7; number as usize * 61 % 40_000]))
            })
            .collect();
        let mut digest = ModuleDigest::new();
        let mut plain = Sha256::new();
        for (table, key, value) in &rows {
            digest.row(*table, key, value.as_deref());
            plain.update([*table]);
            plain.update((key.len() as u32).to_be_bytes());
            plain.update(key);
            match value {
                None => plain.update([0]),
                Some(value) => {
                    plain.update([1]);
                    plain.update((value.len() as u32).to_be_bytes());
                    plain.update(value);
                }
            }
        }
        assert_eq!(digest.finish(), <[u8; 32]>::from(plain.finalize()));
    }
}
