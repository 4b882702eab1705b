//! The real mainnet blocks that lie beside the repository.

use std::path::PathBuf;

use bitcoin::Block;
use bitcoin::consensus::deserialize;

/// Name and decoded block of every fixture. Looks in `PARAFFIN_FIXTURES`, then in `../shared/fixtures` beside the
/// repository. Empty, said on standard error, when there are none; `cargo xtask test` names that among what it leaves out.
pub fn mainnet_blocks() -> Vec<(String, Block)> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("PARAFFIN_FIXTURES").map_or(beside, PathBuf::from);
    let folder = if folder.join("blocks").is_dir() { folder.join("blocks") } else { folder };
    let mut blocks = Vec::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "bin") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            blocks.push((name, deserialize(&std::fs::read(&path).unwrap()).unwrap()));
        }
    }
    blocks.sort_by(|(left, _), (right, _)| left.cmp(right));
    if blocks.is_empty() {
        let folder = folder.display();
        eprintln!("SKIPPED: no block in {folder}: set PARAFFIN_FIXTURES; this test has checked nothing");
    }
    blocks
}
