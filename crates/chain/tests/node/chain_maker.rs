//! Small regtest chains with real proof of work, merkle roots and witness commitments.

use bitcoin::absolute::LockTime;
use bitcoin::block::Version;
use bitcoin::constants::genesis_block;
use bitcoin::hashes::{Hash, sha256d};
use bitcoin::script::Builder;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, Network, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode,
    TxOut, Witness, transaction,
};

const EPOCH: u32 = 1_700_000_000;
const REGTEST_BITS: u32 = 0x207f_ffff;
/// A fee, so that every transaction spends more than it creates.
const FEE: Amount = Amount::from_sat(1_000);

/// A chain from the genesis block on; the index is the height.
#[derive(Clone)]
pub(crate) struct Chain {
    pub(crate) blocks: Vec<Block>,
}

impl Chain {
    /// The genesis block and `length` more.
    pub(crate) fn new(length: u32) -> Self {
        let mut chain = Self { blocks: vec![genesis_block(Network::Regtest)] };
        chain.extend(length, 0);
        chain
    }

    /// Appends blocks; another `salt` makes other blocks.
    pub(crate) fn extend(&mut self, count: u32, salt: u32) {
        for _ in 0..count {
            self.blocks.push(self.next_block(salt));
        }
    }

    /// A chain that shares all blocks up to `height` and goes on for `count` other ones.
    pub(crate) fn fork(&self, height: u32, count: u32, salt: u32) -> Self {
        let mut chain = Self { blocks: self.blocks[..=height as usize].to_vec() };
        chain.extend(count, salt);
        chain
    }

    pub(crate) fn height(&self) -> u32 {
        self.blocks.len() as u32 - 1
    }

    pub(crate) fn hash(&self, height: u32) -> BlockHash {
        self.blocks[height as usize].block_hash()
    }

    pub(crate) fn tip(&self) -> BlockHash {
        self.hash(self.height())
    }

    /// A block for the next height: a coinbase, and a transaction with a witness that spends the coinbase before it.
    pub(crate) fn next_block(&self, salt: u32) -> Block {
        let height = self.blocks.len() as u32;
        let mut txdata = vec![coinbase(height, salt)];
        if height > 1 {
            txdata.push(spend(&self.blocks[height as usize - 1].txdata[0]));
        }
        seal(self.tip(), EPOCH + height * 600 + salt, txdata)
    }

    /// Outputs spent by each transaction of the block at `height`.
    pub(crate) fn spent(&self, height: u32) -> Vec<Vec<TxOut>> {
        self.blocks[height as usize]
            .txdata
            .iter()
            .map(|transaction| {
                if transaction.is_coinbase() {
                    return Vec::new();
                }
                transaction.input.iter().map(|input| self.output(input.previous_output)).collect()
            })
            .collect()
    }

    fn output(&self, outpoint: OutPoint) -> TxOut {
        let mut transactions = self.blocks.iter().flat_map(|block| &block.txdata);
        let transaction = transactions.find(|transaction| transaction.compute_txid() == outpoint.txid).unwrap();
        transaction.output[outpoint.vout as usize].clone()
    }
}

fn coinbase(height: u32, salt: u32) -> Transaction {
    let input = TxIn {
        previous_output: OutPoint::null(),
        script_sig: Builder::new().push_int(i64::from(height)).push_int(i64::from(salt)).push_int(7).into_script(),
        sequence: Sequence::MAX,
        witness: Witness::from_slice(&[[0u8; 32]]),
    };
    let output = TxOut { value: Amount::from_sat(5_000_000_000), script_pubkey: ScriptBuf::from(vec![0x51]) };
    Transaction {
        version: transaction::Version::TWO,
        lock_time: LockTime::ZERO,
        input: vec![input],
        output: vec![output],
    }
}

fn spend(previous: &Transaction) -> Transaction {
    let input = TxIn {
        previous_output: OutPoint { txid: previous.compute_txid(), vout: 0 },
        script_sig: ScriptBuf::new(),
        sequence: Sequence::MAX,
        witness: Witness::from_slice(&[[7u8; 64]]),
    };
    let output = TxOut { value: previous.output[0].value - FEE, script_pubkey: ScriptBuf::from(vec![0x52; 22]) };
    Transaction {
        version: transaction::Version::TWO,
        lock_time: LockTime::ZERO,
        input: vec![input],
        output: vec![output],
    }
}

/// Adds the witness commitment and mines.
pub(crate) fn seal(previous: BlockHash, time: u32, mut txdata: Vec<Transaction>) -> Block {
    let mut block = unsealed(previous, time, txdata.clone());
    let root = block.witness_root().unwrap();
    let commitment = sha256d::Hash::hash(&[root.to_byte_array(), [0; 32]].concat());
    let script = [&[0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed][..], commitment.as_byte_array()].concat();
    txdata[0].output.push(TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::from(script) });
    block = unsealed(previous, time, txdata);
    mine(block)
}

fn unsealed(previous: BlockHash, time: u32, txdata: Vec<Transaction>) -> Block {
    let header = bitcoin::block::Header {
        version: Version::from_consensus(0x2000_0000),
        prev_blockhash: previous,
        merkle_root: TxMerkleNode::all_zeros(),
        time,
        bits: CompactTarget::from_consensus(REGTEST_BITS),
        nonce: 0,
    };
    Block { header, txdata }
}

/// Computes the merkle root of the block as it is, and its proof of work.
pub(crate) fn mine(mut block: Block) -> Block {
    block.header.merkle_root = block.compute_merkle_root().unwrap();
    while !block.header.target().is_met_by(block.block_hash()) {
        block.header.nonce += 1;
    }
    block
}
