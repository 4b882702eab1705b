//! Modules apply a large block concurrently, with the same rows as one by one; one that reads another waits for it when it reads.
#![allow(clippy::unwrap_used, missing_docs)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Barrier, Mutex};

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{Block, BlockHash, CompactTarget, Transaction, TxMerkleNode};
use paraffin_indexer::{Indexer, IndexerError, IndexerOptions};
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{
    Module, ModuleError, ModuleId, ModuleSchema, ModuleWriter, Placement, Store, StoreOptions, Table, TableKind,
};

/// Rows that a module writes for each transaction of a block.
const ROWS: u32 = 8;
const BLOCKS: u32 = 5;

const fn table(module: u8) -> Table {
    Table { module: ModuleId(module), id: 1, name: "rows", kind: TableKind::Versioned, placement: Placement::Hashed }
}

const TABLES: [Table; 4] = [table(1), table(2), table(3), table(4)];

/// Writes rows of its own and, where it reads another module, as many as that has written.
struct Writing {
    number: u8,
    reads: &'static [ModuleId],
    /// Waits for the others, which come as well only when they have threads of their own.
    meeting: Option<Arc<Barrier>>,
    /// Fails at the block of this height.
    failure: Option<(u32, Failure)>,
    follows: Option<ModuleId>,
    /// Gets the number when a block begins, and when it ends.
    log: Option<Arc<Mutex<Vec<u8>>>>,
}

#[derive(Clone, Copy)]
enum Failure {
    Refusal,
    Panic,
}

impl Writing {
    fn note(&self) {
        if let Some(log) = &self.log {
            log.lock().unwrap().push(self.number);
        }
    }
}

impl Module for Writing {
    fn schema(&self) -> ModuleSchema {
        let index = usize::from(self.number) - 1;
        let name = ["first", "second", "third", "reader"][index];
        let tables = &TABLES[index..=index];
        ModuleSchema { id: ModuleId(self.number), name, version: 1, tables, reads: self.reads }
    }

    fn follows(&self) -> Option<ModuleId> {
        self.follows
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let own = table(self.number);
        self.note();
        if let Some(meeting) = &self.meeting {
            meeting.wait();
        }
        match self.failure.filter(|(height, _)| *height == block.id.height) {
            Some((_, Failure::Refusal)) => {
                return Err(ModuleError::Block(format!("{} refuses", self.schema().name)));
            }
            Some((_, Failure::Panic)) => panic!("{} panics", self.schema().name),
            None => {}
        }
        for row in 0..block.block.txdata.len() as u32 * ROWS {
            let mixed = (row ^ block.id.height).wrapping_mul(0x9e37_79b9) % 5_000;
            rows.put(&own, &mixed.to_be_bytes(), &[self.number, row as u8])?;
        }
        if let Some(other) = self.reads.first() {
            let seen = rows.earlier().prefix(&table(other.0), &[], usize::MAX)?;
            rows.put(&own, b"seen", &(seen.len() as u32).to_be_bytes())?;
        }
        self.note();
        Ok(())
    }
}

fn block(height: u32, transactions: u32, prev_blockhash: BlockHash) -> ConnectedBlock {
    let header = Header {
        version: BlockVersion::TWO,
        prev_blockhash,
        merkle_root: TxMerkleNode::all_zeros(),
        time: height,
        bits: CompactTarget::from_consensus(0),
        nonce: 0,
    };
    let transaction = |number| Transaction {
        version: Version::TWO,
        lock_time: LockTime::from_consensus(number),
        input: Vec::new(),
        output: Vec::new(),
    };
    ConnectedBlock::new(height, Block { header, txdata: (0..transactions).map(transaction).collect() })
}

fn chain(transactions: u32) -> Vec<ConnectedBlock> {
    let mut blocks: Vec<ConnectedBlock> = Vec::new();
    for height in 0..BLOCKS {
        let below = blocks.last().map_or(BlockHash::all_zeros(), |below| below.id.hash);
        blocks.push(block(height, transactions, below));
    }
    blocks
}

/// The four modules; `failing` names a module, the height of a block, and what happens there. With `meet` each waits in every block until
/// the others have begun it.
fn modules(meet: bool, failing: &[(u8, u32, Failure)]) -> Vec<Box<dyn Module>> {
    let meeting = meet.then(|| Arc::new(Barrier::new(4)));
    let module = |number: u8| -> Box<dyn Module> {
        let failure = failing.iter().find(|(module, ..)| *module == number).map(|(_, height, what)| (*height, *what));
        let reads: &[ModuleId] = if number == 4 { &[ModuleId(2)] } else { &[] };
        Box::new(Writing { number, reads, meeting: meeting.clone(), failure, follows: None, log: None })
    };
    (1..=4).map(module).collect()
}

fn indexer(folder: &Path, modules: Vec<Box<dyn Module>>) -> Indexer {
    let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
    let schemas: Vec<ModuleSchema> = modules.iter().map(|module| module.schema()).collect();
    let store = Store::open(folder, &options, &schemas).unwrap();
    Indexer::new(store, modules, IndexerOptions::default()).unwrap()
}

fn content(indexer: &mut Indexer) -> [[u8; 32]; 2] {
    indexer.commit().unwrap();
    let snapshot = indexer.store().snapshot();
    [snapshot.tip().unwrap().cumulative, snapshot.content_digest().unwrap()]
}

/// Rows of the store when the modules of a block run one after the other.
fn one_by_one(folder: &Path, blocks: &[ConnectedBlock]) -> [[u8; 32]; 2] {
    let mut modules = modules(false, &[]);
    let schemas: Vec<ModuleSchema> = modules.iter().map(|module| module.schema()).collect();
    let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
    let store = Store::open(folder, &options, &schemas).unwrap();
    let mut writer = store.writer().unwrap();
    for block in blocks {
        writer.begin_block(block.id, block.block.header.prev_blockhash, block.block.header.time).unwrap();
        for module in &mut modules {
            module.connect(block, &mut writer.module(module.schema().id).unwrap()).unwrap();
        }
        writer.end_block().unwrap();
    }
    writer.commit(true).unwrap();
    let snapshot = store.snapshot();
    [snapshot.tip().unwrap().cumulative, snapshot.content_digest().unwrap()]
}

#[test]
fn modules_meet_in_a_block_and_leave_the_rows_of_one_by_one() {
    let blocks = chain(200);
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let expected = one_by_one(folders[0].path(), &blocks);
    // They would wait for one another for ever if one began when another has ended.
    let mut indexer = indexer(folders[1].path(), modules(true, &[]));
    for block in &blocks {
        indexer.apply(block).unwrap();
    }
    assert_eq!(content(&mut indexer), expected);
    let before = indexer.undo().unwrap();
    assert_eq!(before.id.height, BLOCKS - 1);
    indexer.apply(&blocks[BLOCKS as usize - 1]).unwrap();
    assert_eq!(content(&mut indexer), expected);
}

#[test]
fn a_block_that_several_modules_refuse_leaves_no_trace_and_names_the_first() {
    let blocks = chain(200);
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let expected = one_by_one(folders[0].path(), &blocks[..3]);
    let failing = [(3, 3, Failure::Refusal), (2, 3, Failure::Refusal)];
    let mut indexer = indexer(folders[1].path(), modules(true, &failing));
    for block in &blocks[..3] {
        indexer.apply(block).unwrap();
    }
    let error = indexer.apply(&blocks[3]).unwrap_err();
    assert!(matches!(&error, IndexerError::Module { module: "second", .. }), "{error}");
    assert_eq!(content(&mut indexer), expected);
}

/// The first module follows the third, which stands before it in the list, in large blocks and in small ones.
#[test]
fn a_module_begins_when_the_one_that_it_follows_has_ended() {
    for transactions in [20, 200] {
        let (log, folder) = (Arc::new(Mutex::new(Vec::new())), tempfile::tempdir().unwrap());
        let module = |number: u8, follows: Option<ModuleId>, failure| -> Box<dyn Module> {
            let log = Some(Arc::clone(&log));
            Box::new(Writing { number, reads: &[], meeting: None, failure, follows, log })
        };
        let failure = Some((3, Failure::Refusal));
        let modules = vec![module(3, None, failure), module(1, Some(ModuleId(3)), None)];
        let mut indexer = indexer(folder.path(), modules);
        let blocks = chain(transactions);
        for block in &blocks[..3] {
            indexer.apply(block).unwrap();
        }
        assert_eq!(*log.lock().unwrap(), [3, 3, 1, 1].repeat(3));
        let error = indexer.apply(&blocks[3]).unwrap_err();
        assert!(matches!(&error, IndexerError::Module { module: "third", .. }), "{error}");
        assert_eq!(log.lock().unwrap().len(), 3 * 4 + 1, "the other one has not begun");
    }
}

/// The reader would wait for ever for a module that ended without a word.
#[test]
fn a_module_that_panics_ends_the_wait_of_the_one_that_reads_it() {
    let blocks = chain(200);
    let folder = tempfile::tempdir().unwrap();
    let mut indexer = indexer(folder.path(), modules(true, &[(2, 0, Failure::Panic)]));
    let panic = catch_unwind(AssertUnwindSafe(|| indexer.apply(&blocks[0]))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "second panics");
}

#[test]
fn a_small_block_takes_one_thread() {
    let blocks = chain(20);
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let expected = one_by_one(folders[0].path(), &blocks);
    let mut indexer = indexer(folders[1].path(), modules(false, &[]));
    for block in &blocks {
        indexer.apply(block).unwrap();
    }
    assert_eq!(content(&mut indexer), expected);
}
