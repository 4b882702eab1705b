use std::fmt;

use bitcoin::block::Header;
use bitcoin::{Block, BlockHash, Transaction, TxOut, Txid, VarInt};
use sha2::{Digest as _, Sha256};

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
    /// The outputs that each transaction spends, in input order, when the node supplied them.
    /// As long as `block.txdata`; the coinbase has an empty list. `None`: modules look them up in the index.
    pub spent: Option<Vec<Vec<TxOut>>>,
    /// Digests of the scripts, when whoever made the block had the time for them. `None`: modules that need them compute them.
    pub script_digests: Option<ScriptDigests>,
}

/// SHA-256 of the scripts of a block, in the order of its transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptDigests {
    /// Of every output of every transaction.
    pub outputs: Vec<[u8; 32]>,
    /// Of every output that is spent; empty when the block has none of them.
    pub spent: Vec<[u8; 32]>,
}

impl ScriptDigests {
    /// Of all outputs that a block makes, and of those that it spends.
    pub fn of(block: &Block, spent: Option<&Vec<Vec<TxOut>>>) -> Self {
        let digest = |output: &TxOut| -> [u8; 32] { Sha256::digest(output.script_pubkey.as_bytes()).into() };
        let of = |outputs: &[&[TxOut]]| {
            let mut digests = Vec::with_capacity(outputs.iter().map(|outputs| outputs.len()).sum());
            digests.extend(outputs.iter().copied().flatten().map(digest));
            digests
        };
        let made: Vec<&[TxOut]> = block.txdata.iter().map(|transaction| &transaction.output[..]).collect();
        let spent: Vec<&[TxOut]> = spent.into_iter().flatten().map(Vec::as_slice).collect();
        Self { outputs: of(&made), spent: of(&spent) }
    }
}

impl ConnectedBlock {
    /// From an unchecked block: nothing is verified, and the outputs that it spends are not supplied.
    ///
    /// # Panics
    /// The block is larger than 4 GiB, which no block that was read is.
    pub fn new(height: Height, block: Block) -> Self {
        let small = |bytes: usize| u32::try_from(bytes).expect("a block is smaller than 4 GiB");
        let mut offset = Header::SIZE + VarInt::from(block.txdata.len()).size();
        let mut offsets = Vec::with_capacity(block.txdata.len());
        for transaction in &block.txdata {
            offsets.push(small(offset));
            offset += transaction.total_size();
        }
        Self {
            id: BlockId { height, hash: block.block_hash() },
            size: small(offset),
            txids: block.txdata.iter().map(Transaction::compute_txid).collect(),
            offsets,
            spent: None,
            script_digests: None,
            block,
        }
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::Network;
    use bitcoin::consensus::encode::{deserialize_partial, serialize};

    use super::*;

    #[test]
    fn transactions_begin_where_it_is_said() {
        let mut block = bitcoin::constants::genesis_block(Network::Regtest);
        // From 253 on their number takes three bytes.
        block.txdata.resize(300, block.txdata[0].clone());
        let connected = ConnectedBlock::new(7, block.clone());
        let bytes = serialize(&block);
        assert_eq!((connected.id.height, connected.size as usize), (7, bytes.len()));
        for (offset, txid) in connected.offsets.iter().zip(&connected.txids) {
            let (found, _) = deserialize_partial::<Transaction>(&bytes[*offset as usize..]).unwrap();
            assert_eq!(found.compute_txid(), *txid);
        }
        assert_eq!((connected.offsets.len(), connected.txids.len(), connected.spent), (300, 300, None));
    }
}
