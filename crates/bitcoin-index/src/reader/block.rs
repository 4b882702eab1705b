use std::collections::HashSet;

use bitcoin::block::Header;
use bitcoin::hashes::Hash;
use bitcoin::{BlockHash, Txid};
use paraffin_primitives::Height;

use super::location::Locator;
use super::{BitcoinIndex, TxLocation};
use crate::activity::PageCursor;
use crate::error::ReadError;
use crate::outputs::visit_outputs;
use crate::rows::{BlockRow, Funding};
use crate::script_key::script_digest;
use crate::tables::{BLOCK_HEIGHTS, BLOCKS};

/// Blocks of whose times a block has the median (BIP113).
const MEDIAN_BLOCKS: u32 = 11;

/// A block without its transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSummary {
    /// Height of the block.
    pub height: Height,
    /// Its header.
    pub header: Header,
    /// Number of transactions.
    pub transaction_count: u32,
    /// Bytes of the consensus encoding.
    pub size: u32,
    /// Weight units (BIP141).
    pub weight: u64,
    /// Median time of this block and the ten before it, Unix seconds.
    pub median_time: u32,
}

/// All methods answer `None` for a block that is not in the indexed chain; their errors are those of reading.
#[allow(clippy::missing_errors_doc)]
impl BitcoinIndex {
    /// Hash of the block at `height`.
    pub fn block_hash(&self, height: Height) -> Result<Option<BlockHash>, ReadError> {
        Ok(self.block_row(height)?.map(|row| row.header.block_hash()))
    }

    /// Height of the block with this hash.
    pub fn block_height(&self, hash: &BlockHash) -> Result<Option<Height>, ReadError> {
        let Some(value) = self.snapshot.get(&BLOCK_HEIGHTS, hash.as_byte_array())? else { return Ok(None) };
        let bytes = <[u8; 4]>::try_from(value.as_slice());
        let damaged = ReadError::Damaged { table: BLOCK_HEIGHTS.name, reason: "a height has 4 bytes" };
        bytes.map(u32::from_be_bytes).map(Some).map_err(|_| damaged)
    }

    /// Header of the block at `height`.
    pub fn block_header(&self, height: Height) -> Result<Option<Header>, ReadError> {
        Ok(self.block_row(height)?.map(|row| row.header))
    }

    /// Bytes of all indexed blocks in consensus encoding. Reads one row per block: about a second on mainnet.
    pub fn block_bytes(&self) -> Result<u64, ReadError> {
        let mut bytes = 0;
        for row in self.snapshot.prefix(&BLOCKS, &[]) {
            let block: BlockRow = decode(&row?.1)?;
            bytes += u64::from(block.size);
        }
        Ok(bytes)
    }

    /// Headers of at most `count` blocks from height `first` on, ascending.
    pub fn headers(&self, first: Height, count: u32) -> Result<Vec<Header>, ReadError> {
        let Some(beyond) = count.checked_sub(1) else { return Ok(Vec::new()) };
        self.block_rows(first, first.saturating_add(beyond)).map(|row| Ok(row?.1.header)).collect()
    }

    /// SHA-256 of every script that a transaction of the block at `height` pays or spends from; `None` when it is not indexed.
    pub fn scripts_of_block(&self, height: Height) -> Result<Option<HashSet<[u8; 32]>>, ReadError> {
        let Some(row) = self.block_row(height)? else { return Ok(None) };
        let mut cursor = PageCursor::default();
        let mut scripts = HashSet::new();
        let mut spent: Vec<(Funding, ())> = Vec::new();
        for number in numbers(&row, 0, row.transaction_count) {
            let transaction = cursor.transaction(&self.snapshot, number)?;
            scripts.extend(transaction.outputs().map(|(_, script)| script_digest(&script.to_script())));
            spent.extend(transaction.inputs().flatten().map(|funding| (funding, ())));
        }
        visit_outputs(&self.snapshot, &mut spent, |(), _, _, script| {
            scripts.insert(script_digest(&script.to_script()));
            Ok(())
        })?;
        Ok(Some(scripts))
    }

    /// Summary of the block at `height`.
    pub fn block_by_height(&self, height: Height) -> Result<Option<BlockSummary>, ReadError> {
        Ok(self.blocks(height, 1)?.into_iter().next())
    }

    /// Summary of the block with this hash.
    pub fn block_by_hash(&self, hash: &BlockHash) -> Result<Option<BlockSummary>, ReadError> {
        match self.block_height(hash)? {
            None => Ok(None),
            Some(height) => self.block_by_height(height),
        }
    }

    /// Summaries of at most `limit` blocks from `newest` downwards, newest first; empty when `newest` is not indexed.
    pub fn blocks(&self, newest: Height, limit: u32) -> Result<Vec<BlockSummary>, ReadError> {
        let oldest = newest.saturating_sub(limit.saturating_sub(1));
        let first = oldest.saturating_sub(MEDIAN_BLOCKS - 1);
        let rows = self.block_rows(first, newest).collect::<Result<Vec<_>, _>>()?;
        if rows.last().is_none_or(|(height, _)| *height != newest) {
            return Ok(Vec::new());
        }
        let mut blocks = Vec::new();
        for (position, (height, row)) in rows.iter().enumerate().rev().take(limit as usize) {
            let window = &rows[position.saturating_sub(MEDIAN_BLOCKS as usize - 1)..=position];
            let mut times: Vec<u32> = window.iter().map(|(_, row)| row.header.time).collect();
            times.sort_unstable();
            blocks.push(BlockSummary {
                height: *height,
                header: row.header,
                transaction_count: row.transaction_count,
                size: row.size,
                weight: row.weight,
                median_time: times[times.len() / 2],
            });
        }
        Ok(blocks)
    }

    /// Height of the block with this hash, and the hash of the block after it, `None` for the newest.
    pub fn block_position(&self, hash: &BlockHash) -> Result<Option<(Height, Option<BlockHash>)>, ReadError> {
        let Some(height) = self.block_height(hash)? else { return Ok(None) };
        let next = height.checked_add(1).map(|next| self.block_hash(next)).transpose()?;
        Ok(Some((height, next.flatten())))
    }

    /// Number of transactions of the block at `height`.
    pub fn block_transaction_count(&self, height: Height) -> Result<Option<u32>, ReadError> {
        Ok(self.block_row(height)?.map(|row| row.transaction_count))
    }

    /// Txids of the block at `height`, coinbase first.
    pub fn block_txids(&self, height: Height) -> Result<Option<Vec<Txid>>, ReadError> {
        let Some(row) = self.block_row(height)? else { return Ok(None) };
        let mut cursor = PageCursor::default();
        let mut txids = Vec::with_capacity(row.transaction_count as usize);
        for number in numbers(&row, 0, row.transaction_count) {
            txids.push(cursor.transaction(&self.snapshot, number)?.txid);
        }
        Ok(Some(txids))
    }

    /// Txid at position `index` of the block at `height`; `None` also when the block is shorter.
    pub fn block_txid(&self, height: Height, index: u32) -> Result<Option<Txid>, ReadError> {
        let page = self.block_transactions(height, index, 1)?;
        Ok(page.and_then(|page| page.first().map(|location| location.txid)))
    }

    /// At most `limit` transactions of the block at `height` from position `start` on; empty when the block is shorter.
    pub fn block_transactions(
        &self,
        height: Height,
        start: u32,
        limit: u32,
    ) -> Result<Option<Vec<TxLocation>>, ReadError> {
        let Some(row) = self.block_row(height)? else { return Ok(None) };
        let (mut cursor, mut locator) = (PageCursor::default(), Locator::new(self));
        let mut locations = Vec::new();
        for number in numbers(&row, start, limit) {
            locations.push(locator.locate(&cursor.transaction(&self.snapshot, number)?)?);
        }
        Ok(Some(locations))
    }

    /// The rows of the blocks from height `first` to `last`, ascending.
    pub(super) fn block_rows(
        &self,
        first: Height,
        last: Height,
    ) -> impl Iterator<Item = Result<(Height, BlockRow), ReadError>> {
        self.snapshot.range(&BLOCKS, &first.to_be_bytes(), &last.to_be_bytes()).map(|row| {
            let (key, value) = row?;
            let height = <[u8; 4]>::try_from(key.as_slice())
                .map_err(|_| ReadError::Damaged { table: BLOCKS.name, reason: "a key has 4 bytes" })?;
            Ok((u32::from_be_bytes(height), decode(&value)?))
        })
    }

    pub(super) fn block_row(&self, height: Height) -> Result<Option<BlockRow>, ReadError> {
        self.snapshot.get(&BLOCKS, &height.to_be_bytes())?.map(|value| decode(&value)).transpose()
    }
}

fn decode(value: &[u8]) -> Result<BlockRow, ReadError> {
    BlockRow::decode(value).map_err(|error| ReadError::damaged(&BLOCKS, error))
}

fn numbers(row: &BlockRow, start: u32, limit: u32) -> std::ops::Range<u32> {
    let start = start.min(row.transaction_count);
    let count = limit.min(row.transaction_count - start);
    let first = row.first_number.saturating_add(start);
    first..first.saturating_add(count)
}
