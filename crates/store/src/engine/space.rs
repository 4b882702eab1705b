//! The keyspaces, and how each keeps its tables.

use std::sync::Arc;

use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry, PartitioningPolicy,
};
use fjall::{CompressionType, KeyspaceCreateOptions};

use super::merges::idle_strategy;
use crate::Placement;

/// A keyspace of the engine. The numbers are on disk (undo records).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Space {
    /// Most of all rows.
    Ordered = 0,
    Hashed = 1,
    Bulk = 2,
    Meta = 3,
    Undo = 4,
    Appended = 5,
}

impl Space {
    pub(crate) const COUNT: usize = 6;
    pub(crate) const ALL: [Self; Self::COUNT] =
        [Self::Ordered, Self::Hashed, Self::Bulk, Self::Meta, Self::Undo, Self::Appended];
    /// The keyspaces that hold rows of modules.
    pub(crate) const TABLES: [Self; 4] = [Self::Appended, Self::Ordered, Self::Hashed, Self::Bulk];
    /// The keyspaces with a row that holds the number of the newest commit. In the one that is missing it would lie above all
    /// numbers of rows, so that the files of commits would overlap; what it holds follows from the lengths of its tables.
    pub(crate) const NUMBERED: [Self; Self::COUNT - 1] =
        [Self::Ordered, Self::Hashed, Self::Bulk, Self::Meta, Self::Undo];

    pub(crate) const fn of(placement: Placement) -> Self {
        match placement {
            Placement::Appended => Self::Appended,
            Placement::Ordered => Self::Ordered,
            Placement::Hashed => Self::Hashed,
            Placement::Bulk => Self::Bulk,
        }
    }

    /// Keyspace of tables with this number on disk.
    pub(crate) fn table_space(number: u8) -> Option<Self> {
        Self::TABLES.into_iter().find(|space| *space as u8 == number)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Appended => "appended",
            Self::Ordered => "ordered",
            Self::Hashed => "hashed",
            Self::Bulk => "bulk",
            Self::Meta => "meta",
            Self::Undo => "undo",
        }
    }

    pub(super) fn options(self) -> KeyspaceCreateOptions {
        let lz4 = CompressionType::Lz4;
        let none = CompressionType::None;
        // The store rotates write buffers itself (see `Engine::commit`), because the engine keeps the size it was
        // created with for ever, while the ceiling of the configuration may change from start to start.
        // Blocks of filters and indexes are small in all tables: those of a run are neither pinned nor, whole, worth the cache.
        let options = KeyspaceCreateOptions::default()
            .filter_block_partitioning_policy(PartitioningPolicy::all(true))
            .index_block_partitioning_policy(PartitioningPolicy::all(true))
            .max_memtable_size(u64::MAX)
            .compaction_strategy(Arc::new(idle_strategy()));
        // Keys that are looked up are nearly always there: filters select one of the upper levels, and the last needs none. (The
        // engine has a switch for that, which takes the filters of runs away as well.)
        let filter = FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(10.0));
        let upper_levels = FilterPolicy::new([filter, filter, filter, filter, filter, filter, FilterPolicyEntry::None]);
        match self {
            Self::Ordered => options
                .data_block_size_policy(BlockSizePolicy::all(8 * 1024))
                .data_block_compression_policy(CompressionPolicy::all(lz4))
                .filter_policy(upper_levels),
            // A number is in one file, and only numbers that are there are looked up.
            Self::Appended => options
                .data_block_size_policy(BlockSizePolicy::all(8 * 1024))
                .data_block_compression_policy(CompressionPolicy::all(lz4))
                .filter_policy(FilterPolicy::disabled()),
            // Hashes do not compress, and reads of unknown keys are common: filters at every level.
            Self::Hashed => options
                .data_block_size_policy(BlockSizePolicy::all(4 * 1024))
                .data_block_compression_policy(CompressionPolicy::all(none)),
            Self::Bulk => options
                .data_block_size_policy(BlockSizePolicy::all(16 * 1024))
                .data_block_compression_policy(CompressionPolicy::all(lz4))
                .expect_point_read_hits(true),
            Self::Meta => options.data_block_compression_policy(CompressionPolicy::all(lz4)),
            Self::Undo => options
                .data_block_size_policy(BlockSizePolicy::all(32 * 1024))
                .data_block_compression_policy(CompressionPolicy::all(lz4))
                .expect_point_read_hits(true),
        }
    }
}
