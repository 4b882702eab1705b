//! The chain as a whole: the same from the same seed, made again as it was made first, and accepted.

use std::collections::HashMap;
use std::time::Instant;

use bitcoin::consensus::{deserialize, encode::VarInt};
use bitcoin::hashes::Hash as _;
use bitcoin::{Block, OutPoint, TxOut};
use ordinals::{Artifact, Runestone};

use super::chain::Chain;
use super::generate;
use super::message::Purpose;
use super::node::Node;

/// A chain of about 9 MB that has every row of the table.
const HEIGHT: u32 = 60;

fn chain(folder: &std::path::Path, seed: u64, height: u32) -> Chain {
    generate::provide(folder, seed, height).unwrap().0
}

fn blocks(chain: &Chain) -> Vec<Block> {
    (1..=chain.height()).map(|height| deserialize(&chain.make(height).unwrap().block).unwrap()).collect()
}
