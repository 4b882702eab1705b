//! The real blocks of mainnet go through the index, and every transaction in them is answered with its right txid.

use std::path::{Path, PathBuf};

use crate::support::process::paraffin;
use bitcoin::hashes::Hash as _;
use paraffin_devnet::{Devnet, DevnetOptions};
use paraffin_testkit::{real_block, real_blocks, reference_program};

#[test]
fn four_real_blocks_import_and_every_transaction_is_answered() {
    let files: Vec<PathBuf> = real_blocks().into_iter().map(|(path, _)| path).collect();
    if files.is_empty() {
        return;
    }
    assert_eq!(files.len(), 4);
    let run = paraffin().args(["replay", "--digest", "--blocks"]).args(&files).output().unwrap();
    let output = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let mut transactions = 0;
    for file in &files {
        let block: bitcoin::Block = bitcoin::consensus::deserialize(&std::fs::read(file).unwrap()).unwrap();
        transactions += block.txdata.len();
        let line = output.lines().find(|line| line.contains(&block.block_hash().to_string())).unwrap();
        let height = block.bip34_block_height().unwrap();
        assert!(line.starts_with(&height.to_string()), "{line}");
        assert_eq!(line.split_whitespace().nth(2).unwrap().len(), 64, "{line}");
    }
    assert!(output.contains(&format!("{transactions} of {transactions} transactions answered")), "{output}");

    // The same blocks again, in another order and in one length-prefixed file: the same digests.
    let joined = tempfile::NamedTempFile::new().unwrap();
    let mut bytes = Vec::new();
    for file in files.iter().rev() {
        let block = std::fs::read(file).unwrap();
        bytes.extend_from_slice(&u32::try_from(block.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(&block);
    }
    std::fs::write(joined.path(), &bytes).unwrap();
    let again = paraffin().args(["replay", "--digest", "--blocks"]).arg(joined.path()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&again.stdout), output);
}

#[test]
fn a_truncated_or_foreign_file_is_refused_with_its_name() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let Some(block) = real_block("mainnet-849236") else { return };
    for bytes in [&block[..block.len() - 1], &block[..79], b"<html></html>", b""] {
        std::fs::write(file.path(), bytes).unwrap();
        let run = paraffin().args(["replay", "--blocks"]).arg(file.path()).output().unwrap();
        assert_eq!(run.status.code(), Some(1));
        let errors = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(errors.contains(&file.path().display().to_string()), "{errors}");
    }
}

/// A chain of the development network from its genesis block on.
fn chain(blocks: u32) -> Vec<Vec<u8>> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let devnet = runtime.block_on(Devnet::start(DevnetOptions { blocks, ..DevnetOptions::default() })).unwrap();
    let node = devnet.node();
    (0..=blocks).map(|height| node.block_bytes(&node.block_hash(height).unwrap()).unwrap().to_vec()).collect()
}

fn write_blocks<'b>(file: &Path, blocks: impl IntoIterator<Item = &'b Vec<u8>>) {
    let prefixed =
        blocks.into_iter().flat_map(|block| [&u32::try_from(block.len()).unwrap().to_le_bytes(), &block[..]].concat());
    std::fs::write(file, prefixed.collect::<Vec<u8>>()).unwrap();
}

/// What `replay` with these arguments says: on standard output when it ends well, else on standard error.
fn replay(file: &Path, arguments: &[&str]) -> Result<String, String> {
    let run = paraffin().arg("replay").args(arguments).arg("--blocks").arg(file).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if run.status.success() { Ok(text(&run.stdout)) } else { Err(text(&run.stderr)) }
}

/// The heights that the lines of blocks begin with.
fn heights(output: &str) -> Vec<u32> {
    let lines = output.lines().filter(|line| line.split(' ').nth(1).is_some_and(|hash| hash.len() == 64));
    lines.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_chain_is_replayed_from_its_genesis_block_and_heights_follow_from_links() {
    let blocks = chain(20);
    let file = tempfile::NamedTempFile::new().unwrap();
    write_blocks(file.path(), &blocks);
    let index = replay(file.path(), &["--network", "regtest", "--digest"]).unwrap();
    assert_eq!(heights(&index), (0..=20).collect::<Vec<_>>(), "{index}");
    let native = replay(file.path(), &["--network", "regtest", "--engine", "native"]).unwrap();
    assert_eq!(heights(&native), (0..=20).collect::<Vec<_>>(), "{native}");
    assert!(native.ends_with("21 blocks run by the native engine\n"), "{native}");
    assert_eq!(replay(file.path(), &["--network", "regtest", "--engine", "native", "--digest"]).unwrap(), native);

    // Backwards, twice, and the middle alone: Core writes the heights 1 to 16 as one instruction.
    write_blocks(file.path(), blocks.iter().rev().chain(&blocks[3..9]));
    assert_eq!(replay(file.path(), &["--network", "regtest", "--digest"]).unwrap(), index);
    write_blocks(file.path(), &blocks[9..19]);
    let middle = replay(file.path(), &["--network", "regtest", "--digest"]).unwrap();
    assert_eq!(heights(&middle), (9..=18).collect::<Vec<_>>(), "{middle}");
}

#[test]
fn blocks_that_say_no_height_lie_where_their_links_lead_or_are_refused() {
    // As before BIP34: version 1, and a coinbase with a text. What a coinbase of version 1 seems to say is no height.
    let old = |previous: bitcoin::BlockHash, text: &[u8]| {
        let mut block = bitcoin::constants::genesis_block(bitcoin::Network::Bitcoin);
        block.txdata[0].input[0].script_sig = text.to_vec().into();
        block.header.prev_blockhash = previous;
        block.header.merkle_root = block.compute_merkle_root().unwrap();
        block
    };
    let genesis = bitcoin::constants::genesis_block(bitcoin::Network::Bitcoin);
    let mut blocks = vec![genesis];
    for text in [&b"any text"[..], b"\x03\x32\x79\x07", b"\x51\x51"] {
        blocks.push(old(blocks.last().unwrap().block_hash(), text));
    }
    let bytes: Vec<Vec<u8>> = blocks.iter().map(bitcoin::consensus::serialize).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    write_blocks(file.path(), &bytes);
    let whole = replay(file.path(), &["--digest"]).unwrap();
    assert_eq!(heights(&whole), [0, 1, 2, 3], "{whole}");
    write_blocks(file.path(), &bytes[1..]);
    let refused = replay(file.path(), &["--digest"]).unwrap_err();
    assert!(refused.contains("block 1 of the file") && refused.contains("its height is not known"), "{refused}");

    // Linked blocks that say what cannot be.
    let mut linked = chain(20);
    let mut last: bitcoin::Block = bitcoin::consensus::deserialize(linked.last().unwrap()).unwrap();
    last.header.prev_blockhash = bitcoin::BlockHash::hash(&linked[18][..80]);
    *linked.last_mut().unwrap() = bitcoin::consensus::serialize(&last);
    write_blocks(file.path(), &linked[17..]);
    let refused = replay(file.path(), &["--network", "regtest"]).unwrap_err();
    assert!(refused.contains("block 1 of the file") && refused.contains("its height is not known"), "{refused}");
}

#[test]
fn a_program_that_is_named_is_run_or_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    write_blocks(file.path(), &chain(1));
    for arguments in [&["--digest"][..], &["--engine", "native"], &["--engine", "hosted"]] {
        let arguments = [arguments, &["--network", "regtest", "--alkanes-wasm", "/no/such.wasm"]].concat();
        let refused = replay(file.path(), &arguments).unwrap_err();
        assert!(refused.contains("/no/such.wasm cannot be read"), "{arguments:?}: {refused}");
    }
    let refused = replay(file.path(), &["--network", "regtest", "--engine", "hosted"]).unwrap_err();
    assert!(refused.contains("name its file with --alkanes-wasm"), "{refused}");
    // Elsewhere the native engine has no contracts of its own.
    let refused = replay(file.path(), &["--engine", "native"]).unwrap_err();
    assert!(refused.contains("missing built-in contracts") && refused.contains("[alkanes] wasm_path"), "{refused}");
    let counter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm/block-counter.wasm");
    let of_another_kind = ["--network", "regtest", "--engine", "native", "--alkanes-wasm", counter];
    let refused = replay(file.path(), &of_another_kind).unwrap_err();
    assert!(refused.contains("holds no contract at all"), "{refused}");
}

#[test]
fn a_real_block_is_run_by_the_native_engine_with_the_contracts_of_the_operators_program() {
    let Some(program) = reference_program("alkanes-2.2.1-mainnet.wasm") else { return };
    let Some(block) = real_block("mainnet-892614") else { return };
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), block).unwrap();
    let program = program.display().to_string();
    let output = replay(file.path(), &["--engine", "native", "--alkanes-wasm", &program]).unwrap();
    assert_eq!(heights(&output), [892_614], "{output}");
    assert!(output.contains(" 164 messages\n1 blocks run by the native engine\n"), "{output}");
    // Before the first block with contracts nothing is run, and that is said.
    let Some(block) = real_block("mainnet-849236") else { return };
    std::fs::write(file.path(), block).unwrap();
    let output = replay(file.path(), &["--engine", "native", "--alkanes-wasm", &program]).unwrap();
    assert_eq!(output, "0 blocks run by the native engine; 1 below block 880000, the first one with contracts\n");
}
