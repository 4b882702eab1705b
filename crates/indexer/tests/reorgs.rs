//! Random reorgs end in the same rows and digests as a straight sync of the final chain.
//!
//! `PARAFFIN_REORGS` sets how many (default 40; the long run uses 1,000).

#![allow(clippy::unwrap_used)] // a failed `unwrap` fails the test

use std::path::Path;
use std::sync::Arc;

use paraffin_bitcoin_index::{BitcoinModule, RawTransactions, SCHEMA};
use paraffin_chain::{CheckedBlock, check_block};
use paraffin_devnet::{ACCOUNT_NAMES, Node, Scenario, Wallet};
use paraffin_indexer::{Indexer, IndexerError, IndexerOptions};
use paraffin_primitives::{BlockId, ConnectedBlock, Network};
use paraffin_store::{Store, StoreError, StoreOptions};

const SEED: u64 = 5;

fn indexer(folder: &Path, undo_blocks: Option<u32>) -> Indexer {
    let options = StoreOptions { network: Network::Regtest, undo_blocks, memory_bytes: 256 << 20 };
    let store = Store::open(folder, &options, &[SCHEMA]).unwrap();
    let bitcoin = BitcoinModule::new(RawTransactions::Store);
    Indexer::new(store, vec![Box::new(bitcoin)], IndexerOptions::default()).unwrap()
}

fn connected(node: &Node, height: u32) -> ConnectedBlock {
    let hash = node.block_hash(height).unwrap();
    let checked = check_block(&node.block_bytes(&hash).unwrap(), hash, true).unwrap();
    let CheckedBlock { block, size, txids, offsets } = checked;
    ConnectedBlock { id: BlockId { height, hash }, block, size, txids, offsets, spent: None, script_digests: None }
}

/// Undoes stale blocks and applies new ones.
fn follow(indexer: &mut Indexer, node: &Node) -> Result<(), IndexerError> {
    while let Some(tip) = indexer.tip().map(|record| record.id) {
        if node.block_hash(tip.height) == Some(tip.hash) {
            break;
        }
        indexer.undo()?;
    }
    let next = indexer.tip().map_or(0, |record| record.id.height + 1);
    for height in next..=node.tip().height {
        indexer.apply(&connected(node, height))?;
    }
    indexer.commit()
}

/// State for the comparison of two stores: cumulative digest and all rows.
fn state(indexer: &Indexer) -> ([u8; 32], [u8; 32]) {
    let snapshot = indexer.store().snapshot();
    (snapshot.tip().unwrap().cumulative, snapshot.content_digest().unwrap())
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32 % limit
    }
}

fn mine(node: &Node, scenario: &mut Scenario, count: u32) {
    for _ in 0..count {
        scenario.step(node).unwrap();
        let script = scenario.miner_script(node.tip().height + 1);
        node.mine_block(&script).unwrap();
    }
}

/// Cuts `depth` blocks off and mines a longer branch.
fn reorg(node: &Node, scenario: &mut Scenario, depth: u32) {
    let fork = node.tip().height - depth;
    let first = node.block_hash(fork + 1).unwrap();
    node.invalidate(&first).unwrap();
    assert_eq!(node.tip().height, fork);
    mine(node, scenario, depth + 1);
}

#[test]
fn random_reorgs_end_in_the_rows_of_a_straight_sync() {
    let count: u32 = std::env::var("PARAFFIN_REORGS").map_or(40, |text| text.parse().unwrap());
    let node = Node::default();
    let mut scenario = Scenario::new(SEED, Arc::new(Wallet::new(SEED, &ACCOUNT_NAMES)));
    mine(&node, &mut scenario, 130);
    let folder = tempfile::tempdir().unwrap();
    let mut wanderer = indexer(folder.path(), None);
    follow(&mut wanderer, &node).unwrap();
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for round in 0..count {
        let limit = if round % 4 == 0 { 100 } else { 12 };
        let depth = 1 + chance.below(limit.min(node.tip().height - 1));
        reorg(&node, &mut scenario, depth);
        follow(&mut wanderer, &node).unwrap();
    }
    // One down to the genesis block.
    let whole = node.tip().height;
    reorg(&node, &mut scenario, whole);
    follow(&mut wanderer, &node).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let mut straight = indexer(folder.path(), None);
    follow(&mut straight, &node).unwrap();
    assert_eq!(state(&wanderer), state(&straight));
}

#[test]
fn a_reorg_below_the_undo_window_is_refused_with_the_ways_out_and_nothing_is_undone() {
    let node = Node::default();
    let mut scenario = Scenario::new(SEED, Arc::new(Wallet::new(SEED, &ACCOUNT_NAMES)));
    mine(&node, &mut scenario, 60);
    let folder = tempfile::tempdir().unwrap();
    let mut indexer = indexer(folder.path(), Some(10));
    follow(&mut indexer, &node).unwrap();
    reorg(&node, &mut scenario, 10);
    follow(&mut indexer, &node).unwrap();
    let before = state(&indexer);
    assert!(indexer.check_undo(10).is_ok());
    let error = indexer.check_undo(30).unwrap_err();
    assert!(matches!(error, IndexerError::Store(StoreError::UndoExhausted { .. })), "{error}");
    let text = error.to_string();
    assert!(text.contains("snapshot import") && text.contains("reindex"), "{text}");
    assert_eq!(state(&indexer), before);
}
