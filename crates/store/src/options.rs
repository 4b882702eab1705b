//! Settings of a store, and how its memory ceiling is divided.

use paraffin_primitives::Network;

use crate::StoreError;
use crate::engine::Space;

const MIB: u64 = 1024 * 1024;

/// Settings of a store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// Chain that the store belongs to; a store of another chain is refused.
    pub network: Network,
    /// Blocks that can be undone; `None` keeps undo down to height 0.
    pub undo_blocks: Option<u32>,
    /// Ceiling in bytes for cache, write buffers and journal together; at least 256 MiB.
    pub memory_bytes: u64,
}

/// How `memory_bytes` is spent. The arithmetic is drawn in `docs/design/store.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySplit {
    /// Block cache of the engine, bytes.
    pub cache: u64,
    /// Write buffer of one keyspace, bytes; each keyspace may hold three (one filling, two being flushed).
    pub memtable: u64,
    /// Journal that a start after a kill reads back, bytes.
    pub journal: u64,
    /// Uncommitted rows after which a writer should commit, bytes.
    pub pending: u64,
    /// Uncommitted rows after which a writer should commit a sorted run, bytes. Write buffers and journal are all but empty
    /// while runs are written, so a run takes their share, and more of it where the cache has enough.
    pub run: u64,
    /// Filters of absent rows of all tables together, bytes; while runs are written, out of the third that is neither of the two.
    pub filters: u64,
    /// Memory of modules for caches between blocks, bytes: an eighth of the ceiling as far as the cache can spare it.
    pub modules: u64,
}

/// Least share of the block cache, bytes.
const CACHE_FLOOR: u64 = 64 * MIB;
/// Share of the block cache above which memory goes to sorted runs, bytes, until these have [`RUN_MAX`]: during a first import nearly
/// every look for an old row reads the disk whatever the cache has, and the larger the runs, the fewer there are to merge and to look into.
const CACHE_BEFORE_RUNS: u64 = 480 * MIB;
/// Largest sorted run, bytes.
const RUN_MAX: u64 = 1024 * MIB;

impl MemorySplit {
    /// Least ceiling in bytes.
    pub const FLOOR: u64 = 256 * MIB;
    /// Number of keyspaces that have write buffers of their own.
    pub const KEYSPACES: u64 = Space::COUNT as u64;

    /// Divides `memory_bytes`.
    ///
    /// # Errors
    /// [`StoreError::InvalidOptions`] below [`Self::FLOOR`].
    pub fn of(memory_bytes: u64) -> Result<Self, StoreError> {
        if memory_bytes < Self::FLOOR {
            return Err(StoreError::InvalidOptions(format!(
                "memory_bytes is {memory_bytes}, the least is {} (256 MiB): raise it",
                Self::FLOOR
            )));
        }
        let memtable = (memory_bytes / 80).clamp(3 * MIB, 32 * MIB);
        let journal = (memory_bytes / 32).clamp(64 * MIB, 128 * MIB);
        let pending = (memory_bytes / 16).clamp(16 * MIB, 128 * MIB);
        // Pending rows are counted twice: they wait in the overlay while the engine copies them into its buffers.
        let buffers = 3 * Self::KEYSPACES * memtable + journal + 2 * pending;
        // One run fills while another is written; a third of the share is for sorting, filters and allocation.
        let share = memory_bytes / 8;
        let beside_cache = (memory_bytes - share).saturating_sub(CACHE_BEFORE_RUNS) / 3;
        let run = (buffers / 3).max(share).max(beside_cache).min(RUN_MAX);
        let spare = memory_bytes - buffers.max(3 * run);
        let modules = share.min(spare.saturating_sub(CACHE_FLOOR));
        Ok(Self { cache: spare - modules, memtable, journal, pending, run, filters: run / 2, modules })
    }

    /// The most that the parts take together, bytes; never above the ceiling it was divided from.
    pub const fn total(&self) -> u64 {
        self.cache + 3 * Self::KEYSPACES * self.memtable + self.journal + 2 * self.pending + self.modules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_never_exceed_the_ceiling_and_the_floor_is_refused_below() {
        for mebibytes in [256, 257, 300, 512, 1000, 1024, 4096, 65_536] {
            let split = MemorySplit::of(mebibytes * MIB).unwrap();
            assert!(split.total() <= mebibytes * MIB, "{mebibytes}: {split:?}");
            assert!(split.cache >= CACHE_FLOOR && split.modules >= 16 * MIB, "{mebibytes}: {split:?}");
            assert!(split.cache + 3 * split.run + split.modules <= mebibytes * MIB, "{mebibytes}: {split:?}");
            assert!(split.run > split.pending, "{mebibytes}: {split:?}");
        }
        // Cache, run: what is more than a cache of 480 MiB goes to runs until they are large.
        let of = |mebibytes: u64| {
            let split = MemorySplit::of(mebibytes * MIB).unwrap();
            [split.cache, split.run, split.modules].map(|bytes| bytes.div_ceil(MIB))
        };
        let splits =
            [(256, [71, 52, 32]), (1024, [474, 141, 128]), (3072, [480, 736, 384]), (8192, [4096, 1024, 1024])];
        for (mebibytes, split) in splits {
            assert_eq!(of(mebibytes), split, "{mebibytes}");
        }
        let message = MemorySplit::of(255 * MIB).unwrap_err().to_string();
        assert!(message.contains("256 MiB"), "{message}");
    }
}
