//! Real mainnet blocks, where they are at hand.

use bitcoin::block::Header;
use bitcoin::consensus::{deserialize, serialize};
use paraffin_chain::{BlockFault, check_block};
use paraffin_testkit::real_blocks;

#[test]
fn real_blocks_pass_and_their_offsets_cut_out_their_transactions() {
    for (path, bytes) in real_blocks() {
        let hash = deserialize::<Header>(&bytes[..80]).unwrap().block_hash();
        let checked = check_block(&bytes, hash, true).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        assert_eq!(checked.size as usize, bytes.len());
        assert_eq!(checked.txids.len(), checked.block.txdata.len());
        for ((offset, txid), transaction) in checked.offsets.iter().zip(&checked.txids).zip(&checked.block.txdata) {
            let encoded = serialize(transaction);
            assert_eq!(&bytes[*offset as usize..][..encoded.len()], encoded);
            assert_eq!(transaction.compute_txid(), *txid);
        }
    }
}

#[test]
fn a_real_block_whose_witnesses_were_stripped_is_refused_where_they_are_required() {
    for (path, bytes) in real_blocks() {
        let mut block: bitcoin::Block = deserialize(&bytes).unwrap();
        for input in block.txdata.iter_mut().flat_map(|transaction| &mut transaction.input) {
            input.witness.clear();
        }
        let stripped = serialize(&block);
        assert_eq!(
            check_block(&stripped, block.block_hash(), true).err(),
            Some(BlockFault::WitnessCommitment),
            "{}",
            path.display()
        );
        assert!(check_block(&stripped, block.block_hash(), false).is_ok(), "as before BIP141: {}", path.display());
    }
}
