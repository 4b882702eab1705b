//! Records of the `meta` keyspace: the store itself, its modules, its blocks.

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::{BlockId, Height};

use crate::digest::{Digest, block_digest};
use crate::{ModuleId, StoreError, Table};

/// Version of the format that this program reads and writes.
pub const FORMAT_VERSION: u32 = 3;

/// Keys of the `meta` keyspace. The first byte identifies the record; 255 is the engine's commit number.
pub(crate) mod meta_key {
    use super::{Height, ModuleId, Table};

    pub(crate) const STORE: [u8; 1] = [1];
    pub(crate) const TIP: [u8; 1] = [2];
    pub(crate) const UNDO_FROM: [u8; 1] = [3];
    pub(crate) const MODULES: [u8; 1] = [4];
    pub(crate) const BLOCKS: [u8; 1] = [6];
    pub(crate) const UNDONE: [u8; 1] = [7];

    pub(crate) const fn module(module: ModuleId) -> [u8; 2] {
        [4, module.0]
    }

    pub(crate) const fn sequence(table: &Table) -> [u8; 3] {
        sequence_of(table.module, table.id)
    }

    pub(crate) const fn sequence_of(module: ModuleId, table: u8) -> [u8; 3] {
        [5, module.0, table]
    }

    pub(crate) fn block(height: Height) -> [u8; 5] {
        let mut key = [6, 0, 0, 0, 0];
        key[1..].copy_from_slice(&height.to_be_bytes());
        key
    }

    pub(crate) fn undone(number: u64) -> [u8; 9] {
        let mut key = [7, 0, 0, 0, 0, 0, 0, 0, 0];
        key[1..].copy_from_slice(&number.to_be_bytes());
        key
    }
}

/// Most undone blocks with a record; older records are removed.
pub(crate) const UNDONE_MAX: u64 = 1_000;

/// A block that was indexed and left the best chain. Digests do not cover these records, since the rows of a chain do not depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UndoneBlock {
    /// Counts undone blocks from 0 on; one reorganisation has numbers that follow each other, its newest block first.
    pub number: u64,
    /// Height and hash.
    pub id: BlockId,
    /// Hash of the block before.
    pub previous: BlockHash,
    /// Header time, Unix seconds.
    pub time: u32,
}

impl UndoneBlock {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + 32 + 32 + 4);
        out.extend_from_slice(&self.id.height.to_be_bytes());
        out.extend_from_slice(self.id.hash.as_byte_array());
        out.extend_from_slice(self.previous.as_byte_array());
        out.extend_from_slice(&self.time.to_be_bytes());
        out
    }

    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Self, StoreError> {
        Self::parse(key, value)
            .ok_or_else(|| StoreError::Corrupt("the record of an undone block has a wrong length".to_owned()))
    }

    fn parse(key: &[u8], value: &[u8]) -> Option<Self> {
        let number = u64::from_be_bytes(key.get(1..)?.try_into().ok()?);
        let (height, rest) = value.split_first_chunk::<4>()?;
        let (hash, rest) = rest.split_first_chunk::<32>()?;
        let (previous, time) = rest.split_first_chunk::<32>()?;
        Some(Self {
            number,
            id: BlockId { height: u32::from_be_bytes(*height), hash: BlockHash::from_byte_array(*hash) },
            previous: BlockHash::from_byte_array(*previous),
            time: u32::from_be_bytes(time.try_into().ok()?),
        })
    }
}

/// The block record that commits with every block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRecord {
    /// Height and hash.
    pub id: BlockId,
    /// Hash of the block before.
    pub previous: BlockHash,
    /// Header time, Unix seconds.
    pub time: u32,
    /// SHA-256 over the sorted distinct writes of the block, all modules.
    pub digest: [u8; 32],
    /// SHA-256 over the cumulative digest of the block before and `digest`.
    pub cumulative: [u8; 32],
}

/// The digests of one block, as two instances compare them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDigests {
    /// The block with its own and the cumulative digest.
    pub record: BlockRecord,
    /// Those of the modules with a part in the block, by module number.
    pub modules: Vec<ModuleDigest>,
}

/// Digest of the writes of one module in one block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleDigest {
    /// Name of the module.
    pub name: String,
    /// Version of its tables.
    pub version: u32,
    /// SHA-256 over its sorted distinct writes.
    pub digest: [u8; 32],
}

/// Writes of one module in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ModuleEntry {
    pub(crate) module: ModuleId,
    pub(crate) digest: Digest,
    /// Rows of the undo keyspace that undo the module's part of the block.
    pub(crate) undo_chunks: u16,
}

/// A block record with what only the store needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredBlock {
    pub(crate) record: BlockRecord,
    /// Sorted by module.
    pub(crate) modules: Vec<ModuleEntry>,
}

const BLOCK_HEAD_LEN: usize = 32 + 32 + 4 + 32 + 32;
const MODULE_ENTRY_LEN: usize = 1 + 32 + 2;

impl StoredBlock {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(BLOCK_HEAD_LEN + self.modules.len() * MODULE_ENTRY_LEN);
        out.extend_from_slice(self.record.id.hash.as_byte_array());
        out.extend_from_slice(self.record.previous.as_byte_array());
        out.extend_from_slice(&self.record.time.to_be_bytes());
        out.extend_from_slice(&self.record.digest);
        out.extend_from_slice(&self.record.cumulative);
        for entry in &self.modules {
            out.push(entry.module.0);
            out.extend_from_slice(&entry.digest);
            out.extend_from_slice(&entry.undo_chunks.to_be_bytes());
        }
        out
    }

    pub(crate) fn decode(height: Height, bytes: &[u8]) -> Result<Self, StoreError> {
        Self::parse(height, bytes)
            .ok_or_else(|| StoreError::Corrupt(format!("the record of block {height} has a wrong length")))
    }

    fn parse(height: Height, bytes: &[u8]) -> Option<Self> {
        let (hash, rest) = bytes.split_first_chunk::<32>()?;
        let (previous, rest) = rest.split_first_chunk::<32>()?;
        let (time, rest) = rest.split_first_chunk::<4>()?;
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        let (cumulative, rest) = rest.split_first_chunk::<32>()?;
        if !rest.len().is_multiple_of(MODULE_ENTRY_LEN) {
            return None;
        }
        let modules = rest
            .chunks_exact(MODULE_ENTRY_LEN)
            .map(|entry| {
                Some(ModuleEntry {
                    module: ModuleId(entry[0]),
                    digest: entry[1..33].try_into().ok()?,
                    undo_chunks: u16::from_be_bytes([entry[33], entry[34]]),
                })
            })
            .collect::<Option<Vec<_>>>()?;
        let record = BlockRecord {
            id: BlockId { height, hash: BlockHash::from_byte_array(*hash) },
            previous: BlockHash::from_byte_array(*previous),
            time: u32::from_be_bytes(*time),
            digest: *digest,
            cumulative: *cumulative,
        };
        Some(Self { record, modules })
    }

    pub(crate) fn module(&self, module: ModuleId) -> Option<&ModuleEntry> {
        self.modules.iter().find(|entry| entry.module == module)
    }

    /// Adds or replaces the entry of a module.
    pub(crate) fn set_module(&mut self, entry: ModuleEntry) {
        match self.modules.binary_search_by_key(&entry.module, |other| other.module) {
            Ok(index) => self.modules[index] = entry,
            Err(index) => self.modules.insert(index, entry),
        }
    }

    /// Computes the digest of the block from those of its modules.
    pub(crate) fn set_digest(&mut self) {
        self.record.digest = block_digest(self.modules.iter().map(|entry| (entry.module, entry.digest)));
    }
}

/// The record of one module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModuleState {
    pub(crate) version: u32,
    pub(crate) height: Option<Height>,
    /// The tables are being emptied; what is left of them is meaningless.
    pub(crate) clearing: bool,
    pub(crate) name: String,
}

const HAS_HEIGHT: u8 = 1;
const CLEARING: u8 = 2;

impl ModuleState {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(9 + self.name.len());
        out.extend_from_slice(&self.version.to_be_bytes());
        let height_flag = if self.height.is_some() { HAS_HEIGHT } else { 0 };
        out.push(height_flag | if self.clearing { CLEARING } else { 0 });
        out.extend_from_slice(&self.height.unwrap_or(0).to_be_bytes());
        out.extend_from_slice(self.name.as_bytes());
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        Self::parse(bytes).ok_or_else(|| StoreError::Corrupt("a module record cannot be read".to_owned()))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first_chunk::<4>()?;
        let (flags, rest) = rest.split_first()?;
        let (height, name) = rest.split_first_chunk::<4>()?;
        Some(Self {
            version: u32::from_be_bytes(*version),
            height: (flags & HAS_HEIGHT != 0).then(|| u32::from_be_bytes(*height)),
            clearing: flags & CLEARING != 0,
            name: String::from_utf8(name.to_vec()).ok()?,
        })
    }
}

/// Format version and network name, the first record of a store.
pub(crate) fn encode_store(network: &str) -> Vec<u8> {
    let mut out = FORMAT_VERSION.to_be_bytes().to_vec();
    out.extend_from_slice(network.as_bytes());
    out
}

/// Format version and network name.
pub(crate) fn decode_store(bytes: &[u8]) -> Result<(u32, String), StoreError> {
    let corrupt = || StoreError::Corrupt("the record of the store cannot be read".to_owned());
    let (version, network) = bytes.split_first_chunk::<4>().ok_or_else(corrupt)?;
    Ok((u32::from_be_bytes(*version), String::from_utf8_lossy(network).into_owned()))
}

/// A 4-byte big-endian number.
pub(crate) fn decode_number(bytes: &[u8], what: &str) -> Result<u32, StoreError> {
    let bytes = bytes.try_into().map_err(|_| StoreError::Corrupt(format!("{what} has a wrong length")))?;
    Ok(u32::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_every_cut_is_refused() {
        let mut block = StoredBlock {
            record: BlockRecord {
                id: BlockId { height: 9, hash: BlockHash::from_byte_array([1; 32]) },
                previous: BlockHash::from_byte_array([2; 32]),
                time: 77,
                digest: [0; 32],
                cumulative: [4; 32],
            },
            modules: Vec::new(),
        };
        for module in [5, 2, 9, 2] {
            block.set_module(ModuleEntry { module: ModuleId(module), digest: [module; 32], undo_chunks: 3 });
        }
        assert_eq!(block.modules.iter().map(|entry| entry.module.0).collect::<Vec<_>>(), [2, 5, 9]);
        let bytes = block.encode();
        assert_eq!(StoredBlock::decode(9, &bytes).unwrap(), block);
        for len in 0..bytes.len() {
            let whole_entries = len >= BLOCK_HEAD_LEN && (len - BLOCK_HEAD_LEN).is_multiple_of(MODULE_ENTRY_LEN);
            assert_eq!(StoredBlock::decode(9, &bytes[..len]).is_ok(), whole_entries, "{len}");
        }
        for height in [None, Some(0), Some(u32::MAX)] {
            let state = ModuleState { version: 4, height, clearing: height.is_none(), name: "bitcoin".to_owned() };
            assert_eq!(ModuleState::decode(&state.encode()).unwrap(), state);
        }
        assert!(ModuleState::decode(&[0; 8]).is_err());
    }
}
