use std::collections::BTreeMap;

use bitcoin::hashes::Hash as _;
use bitcoin::{Block, BlockHash, Transaction, Txid};
use ordinals::SpacedRune;
use paraffin_primitives::Height;
use serde::Serialize;

use super::OrdinalsIndex;
use crate::error::ReadError;
use crate::event::InscriptionId;

/// Blocks in the list of the newest.
const NEWEST_BLOCKS: u32 = 100;
/// Of so many the inscriptions that paid most are named.
const FEATURED_BLOCKS: usize = 5;

/// A block as `ord` shows it.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct BlockRecord {
    pub best_height: Height,
    pub hash: BlockHash,
    pub height: Height,
    pub inscriptions: Vec<InscriptionId>,
    pub runes: Vec<SpacedRune>,
    /// The target as a hash that would just meet it.
    pub target: BlockHash,
    pub transactions: Vec<Transaction>,
}

/// The newest blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct BlocksRecord {
    pub last: Height,
    pub blocks: Vec<BlockHash>,
    pub featured_blocks: BTreeMap<BlockHash, Vec<InscriptionId>>,
}

/// A transaction as `ord` shows it.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the members are those of ord's interface")]
pub struct TransactionRecord {
    pub chain: &'static str,
    pub etching: Option<SpacedRune>,
    pub inscription_count: u32,
    pub transaction: Transaction,
    pub txid: Txid,
}

/// Errors are those of reading.
#[allow(clippy::missing_errors_doc)]
impl OrdinalsIndex {
    /// The record of a block of the chain, as the node gave it; `None` when it reveals more than `limit` inscriptions.
    pub fn block_record(&self, height: Height, block: Block, limit: usize) -> Result<Option<BlockRecord>, ReadError> {
        let Some(inscriptions) = self.ids_of_block(height, limit)? else { return Ok(None) };
        Ok(Some(BlockRecord {
            best_height: self.height()?.unwrap_or_default(),
            hash: block.block_hash(),
            height,
            inscriptions,
            runes: self.runes_of_block(height)?,
            target: BlockHash::from_byte_array(block.header.target().to_le_bytes()),
            transactions: block.txdata,
        }))
    }

    /// The newest blocks, newest first.
    pub fn newest_blocks(&self) -> Result<BlocksRecord, ReadError> {
        let Some(last) = self.height()? else {
            return Ok(BlocksRecord { last: 0, blocks: Vec::new(), featured_blocks: BTreeMap::new() });
        };
        let mut blocks = Vec::new();
        let mut featured_blocks = BTreeMap::new();
        for height in (last.saturating_sub(NEWEST_BLOCKS - 1)..=last).rev() {
            let Some(hash) = self.bitcoin.block_hash(height)? else { break };
            if blocks.len() < FEATURED_BLOCKS {
                featured_blocks.insert(hash, self.highest_paying(height)?);
            }
            blocks.push(hash);
        }
        Ok(BlocksRecord { last, blocks, featured_blocks })
    }

    /// The record of a transaction.
    pub fn transaction_record(&self, txid: Txid, transaction: Transaction) -> Result<TransactionRecord, ReadError> {
        Ok(TransactionRecord {
            chain: self.network().name(),
            etching: self.etched_by(&txid)?,
            inscription_count: self.inscription_count(&txid)?,
            transaction,
            txid,
        })
    }
}
