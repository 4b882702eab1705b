//! The real blocks of mainnet go through the index, and every transaction in them is answered with its right txid.

use std::path::PathBuf;

use crate::support::process::paraffin;
use paraffin_testkit::{real_block, real_blocks};

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
