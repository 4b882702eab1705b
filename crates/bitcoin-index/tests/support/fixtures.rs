//! The real mainnet blocks beside the repository.

use bitcoin::Block;
use bitcoin::consensus::deserialize;

/// Name and decoded block of every fixture. Empty, counted as a skipped test, when there are none.
pub fn mainnet_blocks() -> Vec<(String, Block)> {
    let blocks = paraffin_testkit::real_blocks().into_iter();
    blocks.map(|(path, bytes)| (path.display().to_string(), deserialize(&bytes).unwrap())).collect()
}
