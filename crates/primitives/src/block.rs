use std::fmt;

use bitcoin::{Block, BlockHash, TxOut, Txid};

/// A block height; the genesis block has height 0.
pub type Height = u32;

/// A block named by height and hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockId {
    /// Height of the block.
    pub height: Height,
    /// Hash of the block.
    pub hash: BlockHash,
}

impl fmt::Display for BlockId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.height, self.hash)
    }
}

/// One block as every module of the index sees it, decoded and hashed once.
#[derive(Debug, Clone)]
pub struct ConnectedBlock {
    /// Height and hash.
    pub id: BlockId,
    /// The decoded block.
    pub block: Block,
    /// Size of the consensus encoding in bytes.
    pub size: u32,
    /// Transaction ids, in block order; as long as `block.txdata`.
    pub txids: Vec<Txid>,
    /// Byte offset of every transaction in the consensus encoding of the block; as long as `block.txdata`.
    pub offsets: Vec<u32>,
    /// The outputs that each transaction spends, in input order, when the node told them.
    /// As long as `block.txdata`; the coinbase has an empty list. `None`: modules look them up in the index.
    pub spent: Option<Vec<Vec<TxOut>>>,
}
