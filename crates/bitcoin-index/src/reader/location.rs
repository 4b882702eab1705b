use std::collections::{BTreeSet, HashMap};

use bitcoin::{BlockHash, Txid};
use paraffin_primitives::{BlockId, Height};

use super::BitcoinIndex;
use crate::error::ReadError;
use crate::rows::{BlockRow, TransactionRow};
use crate::tables::BLOCKS;

/// The block that confirms a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confirmation {
    /// Height of the block.
    pub height: Height,
    /// Hash of the block.
    pub hash: BlockHash,
    /// Header time of the block, Unix seconds.
    pub time: u32,
}

/// A confirmed transaction and the location of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxLocation {
    /// Transaction id.
    pub txid: Txid,
    /// Number in chain order; valid within one snapshot, a reorg hands it to another transaction.
    pub number: u32,
    /// Height of its block.
    pub height: Height,
    /// Hash of its block.
    pub block_hash: BlockHash,
    /// Header time of its block, Unix seconds.
    pub block_time: u32,
    /// Position in its block; the coinbase has 0.
    pub index: u32,
    /// First byte in the consensus encoding of its block.
    pub offset: u32,
    /// Bytes of its consensus encoding.
    pub size: u32,
    /// Weight units (BIP141).
    pub weight: u64,
}

impl TxLocation {
    /// The block that confirms it.
    pub fn block(&self) -> BlockId {
        BlockId { height: self.height, hash: self.block_hash }
    }

    /// The same with the header time of the block.
    pub fn confirmation(&self) -> Confirmation {
        Confirmation { height: self.height, hash: self.block_hash, time: self.block_time }
    }
}

/// The members of a block that locations repeat.
#[derive(Clone, Copy)]
struct BlockFacts {
    hash: BlockHash,
    time: u32,
    first_number: u32,
}

impl BlockFacts {
    fn of(row: &BlockRow) -> Self {
        Self { hash: row.header.block_hash(), time: row.header.time, first_number: row.first_number }
    }
}

/// Rows of blocks that a scan may read for each wanted one: about the cost of one point lookup.
const SCANNED_FOR_ONE: usize = 8;

/// Blocks met while locations are made, for neighbours share theirs.
pub(super) struct Locator<'a> {
    index: &'a BitcoinIndex,
    blocks: HashMap<Height, BlockFacts>,
}

impl<'a> Locator<'a> {
    pub(super) fn new(index: &'a BitcoinIndex) -> Self {
        Self { index, blocks: HashMap::new() }
    }

    pub(super) fn locate(&mut self, row: &TransactionRow<'_>) -> Result<TxLocation, ReadError> {
        let block = self.block(row.height)?;
        let index = row.number.checked_sub(block.first_number);
        Ok(TxLocation {
            txid: row.txid,
            number: row.number,
            height: row.height,
            block_hash: block.hash,
            block_time: block.time,
            index: index.ok_or(ReadError::Damaged {
                table: BLOCKS.name,
                reason: "a block starts after one of its transactions",
            })?,
            offset: row.offset,
            size: row.size,
            weight: (u64::from(row.size) * 4).saturating_sub(u64::from(row.witness_size) * 3),
        })
    }

    /// The block of what is confirmed at `height`.
    pub(super) fn confirmation(&mut self, height: Height) -> Result<Confirmation, ReadError> {
        let BlockFacts { hash, time, .. } = self.block(height)?;
        Ok(Confirmation { height, hash, time })
    }

    /// Reads the blocks at some heights: by one scan where they are close together.
    pub(super) fn read_blocks(&mut self, heights: impl Iterator<Item = Height>) -> Result<(), ReadError> {
        let missing: BTreeSet<Height> = heights.filter(|height| !self.blocks.contains_key(height)).collect();
        let (Some(first), Some(last)) = (missing.first(), missing.last()) else { return Ok(()) };
        if (last - first) as usize >= missing.len().saturating_mul(SCANNED_FOR_ONE) {
            return missing.iter().try_for_each(|height| self.block(*height).map(drop));
        }
        for row in self.index.block_rows(*first, *last) {
            let (height, row) = row?;
            if missing.contains(&height) {
                self.blocks.insert(height, BlockFacts::of(&row));
            }
        }
        Ok(())
    }

    fn block(&mut self, height: Height) -> Result<BlockFacts, ReadError> {
        if let Some(facts) = self.blocks.get(&height) {
            return Ok(*facts);
        }
        let row = self.index.block_row(height)?.ok_or(ReadError::Damaged {
            table: BLOCKS.name,
            reason: "the block of an indexed transaction is missing",
        })?;
        let facts = BlockFacts::of(&row);
        self.blocks.insert(height, facts);
        Ok(facts)
    }
}
