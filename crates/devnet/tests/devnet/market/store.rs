//! The market's chain in a store: undone to any depth and connected again it has the same rows and digests.

use std::sync::Arc;

use bitcoin::Block;
use paraffin_alkanes::{AlkanesModule, MODULE, SCHEMA, TABLES};
use paraffin_devnet::{ACCOUNT_NAMES, OutputKind, Wallet};
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{Module as _, Store, StoreOptions, Writer};

use super::grown;
use super::ledger::engine;

struct Instance {
    store: Store,
    writer: Writer,
    module: AlkanesModule,
    _folder: tempfile::TempDir,
}

impl Instance {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
        let writer = store.writer().unwrap();
        let module = AlkanesModule::new(Box::new(engine()), Network::Regtest);
        Self { store, writer, module, _folder: folder }
    }

    fn connect(&mut self, height: u32, block: &Block) {
        let connected = ConnectedBlock::new(height, block.clone());
        self.writer.begin_block(connected.id, block.header.prev_blockhash, block.header.time).unwrap();
        let mut rows = self.writer.module(SCHEMA.id).unwrap();
        self.module.connect(&connected, &mut rows).unwrap();
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
    }

    fn digest(&self, height: u32) -> [u8; 32] {
        self.store.snapshot().module_digest(MODULE, height).unwrap().unwrap()
    }

    /// Every row of every table.
    fn rows(&self) -> Vec<(u8, Vec<u8>, Vec<u8>)> {
        let snapshot = self.store.snapshot();
        let rows = TABLES.iter().flat_map(|table| {
            snapshot.prefix(table, &[]).map(|row| row.map(|(key, value)| (table.id, key, value)).unwrap())
        });
        rows.collect()
    }
}

fn blocks(seed: u64, count: u32) -> Vec<Block> {
    let (node, _) = grown(seed, count);
    (0..=count).map(|height| Block::clone(&node.block(&node.block_hash(height).unwrap()).unwrap())).collect()
}

#[test]
fn a_reorganisation_of_any_depth_restores_rows_and_digests_of_the_market() {
    const HEIGHT: u32 = 130;
    let blocks = blocks(5, HEIGHT);
    let mut instance = Instance::new();
    let mut rows = Vec::new();
    for (height, block) in (0..).zip(&blocks) {
        instance.connect(height, block);
        // Before the market opens, one block is like the other.
        rows.push(if height >= 100 { instance.rows() } else { Vec::new() });
    }
    let digests: Vec<_> = (0..=HEIGHT).map(|height| instance.digest(height)).collect();

    for depth in [1, 2, 5, 13, HEIGHT - 100] {
        for _ in 0..depth {
            instance.writer.undo_block().unwrap();
        }
        let left = HEIGHT - depth;
        assert!(instance.rows() == rows[left as usize], "{depth} blocks undone");
        assert_eq!(instance.digest(left), digests[left as usize]);
        for height in left + 1..=HEIGHT {
            instance.connect(height, &blocks[height as usize]);
            assert_eq!(instance.digest(height), digests[height as usize], "block {height} again, from depth {depth}");
        }
        assert!(instance.rows() == rows[HEIGHT as usize], "{depth} blocks undone and connected again");
    }
}

#[test]
fn an_instance_that_followed_another_branch_has_the_digests_of_one_that_never_did() {
    let (node, mut market) = grown(6, 120);
    let mut turned = Instance::new();
    let block = |height: u32| Block::clone(&node.block(&node.block_hash(height).unwrap()).unwrap());
    for height in 0..=120 {
        turned.connect(height, &block(height));
    }
    let depth = 7;
    node.invalidate(&node.block_hash(121 - depth).unwrap()).unwrap();
    let elsewhere = Arc::new(Wallet::new(99, &ACCOUNT_NAMES)).script(0, OutputKind::Taproot);
    for _ in 0..depth {
        turned.writer.undo_block().unwrap();
        node.mine_block(&elsewhere).unwrap();
    }
    market.observe(&node).unwrap();
    node.mine_block(&elsewhere).unwrap();
    for height in 121 - depth..=121 {
        turned.connect(height, &block(height));
    }
    let mut straight = Instance::new();
    for height in 0..=121 {
        straight.connect(height, &block(height));
        assert_eq!(straight.digest(height), turned.digest(height), "block {height}");
    }
    assert!(straight.rows() == turned.rows());
}
