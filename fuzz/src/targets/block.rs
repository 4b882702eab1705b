//! A block as a node sends it: whatever passes the check is the block that was asked for, and its offsets cut out the transactions.

use bitcoin::consensus::{deserialize, serialize};
use bitcoin::hashes::Hash;
use bitcoin::{Block, BlockHash, Transaction};
use paraffin_chain::check_block;

fn check(bytes: &[u8], expected: BlockHash) {
    for witness_required in [false, true] {
        let Ok(checked) = check_block(bytes, expected, witness_required) else { continue };
        assert_eq!(checked.block.block_hash(), expected);
        assert_eq!(serialize(&checked.block), bytes);
        let ends = checked.offsets.iter().skip(1).copied().chain([checked.size]);
        for ((start, end), txid) in checked.offsets.iter().zip(ends).zip(&checked.txids) {
            let transaction: Transaction =
                deserialize(&bytes[*start as usize..end as usize]).expect("the range holds one transaction");
            assert_eq!(transaction.compute_txid(), *txid);
        }
    }
}

pub(crate) fn run(bytes: &[u8]) {
    check(bytes, BlockHash::all_zeros());
    // Random bytes never match a hash or a merkle root: both are put right, so that the checks behind them are reached.
    if let Ok(mut block) = deserialize::<Block>(bytes) {
        check(bytes, block.block_hash());
        if let Some(root) = block.compute_merkle_root() {
            block.header.merkle_root = root;
            check(&serialize(&block), block.block_hash());
        }
    }
}
