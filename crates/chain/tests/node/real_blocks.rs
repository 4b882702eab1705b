//! Real mainnet blocks, where the fixtures are: in `PARAFFIN_FIXTURES`, or beside the repository in `shared/fixtures`.

use std::path::PathBuf;

use bitcoin::block::Header;
use bitcoin::consensus::{deserialize, serialize};
use paraffin_chain::{BlockFault, check_block};

fn blocks() -> Vec<(String, Vec<u8>)> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let fixtures = std::env::var_os("PARAFFIN_FIXTURES").map_or(beside, PathBuf::from);
    let Ok(entries) = std::fs::read_dir(fixtures.join("blocks")) else {
        eprintln!("SKIPPED: there are no real blocks; set PARAFFIN_FIXTURES");
        return Vec::new();
    };
    let paths =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "bin"));
    paths.map(|path| (path.display().to_string(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn real_blocks_pass_and_their_offsets_cut_out_their_transactions() {
    for (name, bytes) in blocks() {
        let hash = deserialize::<Header>(&bytes[..80]).unwrap().block_hash();
        let checked = check_block(&bytes, hash, true).unwrap_or_else(|fault| panic!("{name}: {fault}"));
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
    for (name, bytes) in blocks() {
        let mut block: bitcoin::Block = deserialize(&bytes).unwrap();
        for input in block.txdata.iter_mut().flat_map(|transaction| &mut transaction.input) {
            input.witness.clear();
        }
        let stripped = serialize(&block);
        assert_eq!(
            check_block(&stripped, block.block_hash(), true).err(),
            Some(BlockFault::WitnessCommitment),
            "{name}"
        );
        assert!(check_block(&stripped, block.block_hash(), false).is_ok(), "as before BIP141: {name}");
    }
}
