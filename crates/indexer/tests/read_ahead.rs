//! Reading rows before their block changes nothing, whatever is committed, undone or given up meanwhile.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Witness,
};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{
    KeysAhead, Module, ModuleError, ModuleId, ModuleSchema, ModuleWriter, Placement, Store, StoreError, StoreOptions,
    Table, TableKind,
};

/// Blocks of each chain; enough transactions each that modules have threads.
const BLOCKS: u32 = 40;
const TRANSACTIONS: u32 = 110;
const OUTPUTS: u32 = 2;

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: ModuleId(3), id, name, kind, placement }
}

const UNSPENT: Table = table(0, "unspent", TableKind::Current, Placement::Hashed);
const MADE: Table = table(1, "made", TableKind::WriteOnce, Placement::Ordered);
const STATES: Table = table(2, "states", TableKind::Versioned, Placement::Hashed);
const SEEN: Table = table(3, "seen", TableKind::WriteOnce, Placement::Bulk);

/// Writes rows for each output, and what it finds of each that is spent; whoever finds something else leaves other rows.
struct Outputs {
    /// Outputs that a block was said to spend.
    named: Arc<AtomicUsize>,
}

fn key(outpoint: &OutPoint) -> Vec<u8> {
    [outpoint.txid.as_byte_array().as_slice(), &outpoint.vout.to_be_bytes()].concat()
}

impl Module for Outputs {
    fn schema(&self) -> ModuleSchema {
        const TABLES: &[Table] = &[UNSPENT, MADE, STATES, SEEN];
        ModuleSchema { id: ModuleId(3), name: "outputs", version: 1, tables: TABLES, reads: &[] }
    }

    fn reads_ahead(&self, _: &ConnectedBlock, spent: &[OutPoint], keys: &mut KeysAhead<'_>) -> Result<(), StoreError> {
        self.named.fetch_add(spent.len(), Ordering::Relaxed);
        for outpoint in spent {
            let key = key(outpoint);
            keys.add(&UNSPENT, &key)?;
            keys.add(&MADE, &key)?;
            keys.add(&STATES, &outpoint.txid.as_byte_array()[..1])?;
        }
        Ok(())
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let height = block.id.height.to_be_bytes();
        for (number, transaction) in (0_u32..).zip(&block.block.txdata) {
            for (index, input) in (0_u32..).zip(&transaction.input) {
                let spent = key(&input.previous_output);
                // Few keys, so that nearly every block writes each again.
                let state = &input.previous_output.txid.as_byte_array()[..1];
                let found = [
                    rows.get(&UNSPENT, &spent)?.unwrap_or_default(),
                    rows.get(&MADE, &spent)?.unwrap_or_default(),
                    rows.get(&STATES, state)?.unwrap_or_default(),
                ];
                let entry = [height, number.to_be_bytes(), index.to_be_bytes()].concat();
                rows.put(&SEEN, &entry, &found.concat())?;
                rows.delete(&UNSPENT, &spent)?;
                rows.put(&STATES, state, &[&height[..], &number.to_be_bytes()].concat())?;
            }
            for vout in 0..OUTPUTS {
                let made = key(&OutPoint { txid: block.txids[number as usize], vout });
                rows.put(&UNSPENT, &made, &height)?;
                rows.put(&MADE, &made, &number.to_be_bytes())?;
            }
        }
        Ok(())
    }
}

/// Blocks on `below` whose inputs spend outputs of any age, of their own block, and some that never were.
fn chain(seed: u32, first: Height, below: &[ConnectedBlock]) -> Vec<ConnectedBlock> {
    let mut random = seed;
    let mut next = move |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % below.max(1)
    };
    let mut blocks = below[..first as usize].to_vec();
    for height in first..BLOCKS {
        let mut txdata: Vec<Transaction> = Vec::new();
        for number in 0..TRANSACTIONS {
            let older: Vec<OutPoint> = (0..next(4))
                .map(|_| {
                    let age = if next(3) == 0 { next(height) } else { next(3).min(height) };
                    let txid = match blocks.get((height - age) as usize) {
                        Some(block) => block.txids[next(TRANSACTIONS) as usize],
                        None => txdata.last().map_or_else(bitcoin::Txid::all_zeros, Transaction::compute_txid),
                    };
                    OutPoint { txid, vout: next(OUTPUTS + 1) }
                })
                .collect();
            let input = |previous_output| TxIn {
                previous_output,
                script_sig: ScriptBuf::new(),
                sequence: Sequence::MAX,
                witness: Witness::new(),
            };
            let output = TxOut { value: Amount::from_sat(u64::from(seed)), script_pubkey: ScriptBuf::new() };
            txdata.push(Transaction {
                version: Version::TWO,
                lock_time: LockTime::from_consensus(height * TRANSACTIONS + number),
                input: older.into_iter().map(input).collect(),
                output: vec![output; OUTPUTS as usize],
            });
        }
        let header = Header {
            version: BlockVersion::TWO,
            prev_blockhash: blocks.last().map_or(BlockHash::all_zeros(), |below| below.id.hash),
            merkle_root: TxMerkleNode::all_zeros(),
            time: seed,
            bits: CompactTarget::from_consensus(0),
            nonce: height,
        };
        blocks.push(ConnectedBlock::new(height, Block { header, txdata }));
    }
    blocks
}

fn indexer(folder: &Path, options: IndexerOptions) -> (Indexer, Arc<AtomicUsize>) {
    let named = Arc::new(AtomicUsize::new(0));
    let module = Outputs { named: Arc::clone(&named) };
    let store_options = StoreOptions { network: Network::Regtest, undo_blocks: Some(8), memory_bytes: 256 << 20 };
    let store = Store::open(folder, &store_options, &[module.schema()]).unwrap();
    (Indexer::new(store, vec![Box::new(module)], options).unwrap(), named)
}

fn content(indexer: &mut Indexer) -> [[u8; 32]; 2] {
    indexer.commit().unwrap();
    let snapshot = indexer.store().snapshot();
    [snapshot.tip().unwrap().cumulative, snapshot.content_digest().unwrap()]
}

fn without_reading_ahead(blocks: &[ConnectedBlock]) -> [[u8; 32]; 2] {
    let folder = tempfile::tempdir().unwrap();
    let (mut indexer, named) = indexer(folder.path(), IndexerOptions::default());
    for block in blocks {
        indexer.expect_tip(BLOCKS - 1);
        indexer.apply(block).unwrap();
    }
    assert_eq!(named.load(Ordering::Relaxed), 0);
    content(&mut indexer)
}

/// Commits of every size: a block each, a few, runs written beside the indexing, none before the end.
fn options() -> [IndexerOptions; 4] {
    let usual = IndexerOptions { commit_interval: Duration::from_secs(3600), ..IndexerOptions::default() };
    [
        IndexerOptions { commit_bytes: 1, ..usual },
        IndexerOptions { commit_bytes: 200 << 10, ..usual },
        IndexerOptions { run_bytes: Some(150 << 10), commit_bytes: 64 << 10, ..usual },
        usual,
    ]
}

#[test]
fn rows_are_those_of_an_import_that_reads_nothing_ahead() {
    for (seed, options) in (1..).zip(options()) {
        let blocks = chain(seed, 0, &[]);
        let folder = tempfile::tempdir().unwrap();
        let (mut indexer, named) = indexer(folder.path(), options);
        for (index, block) in blocks.iter().enumerate() {
            indexer.expect_tip(BLOCKS - 1);
            // Now and then the next block has not been fetched yet.
            let next = blocks.get(index + 1).filter(|_| index % 7 != 3);
            indexer.apply_before(block, next).unwrap();
        }
        assert!(named.load(Ordering::Relaxed) > 2_000, "{options:?}");
        assert_eq!(content(&mut indexer), without_reading_ahead(&blocks), "{options:?}");
    }
}

#[test]
fn what_was_read_for_a_block_that_is_given_up_is_not_used() {
    for (seed, options) in (11..).zip(options()) {
        let blocks = chain(seed, 0, &[]);
        let fork = BLOCKS - 5;
        let others = chain(seed + 100, fork, &blocks);
        let folder = tempfile::tempdir().unwrap();
        let (mut indexer, _) = indexer(folder.path(), options);
        let apply = |indexer: &mut Indexer, blocks: &[ConnectedBlock]| {
            for (index, block) in blocks.iter().enumerate() {
                indexer.expect_tip(BLOCKS - 1);
                indexer.apply_before(block, blocks.get(index + 1)).unwrap();
            }
        };
        // The first block of the other branch comes instead of the one that was announced, and three blocks are undone.
        apply(&mut indexer, &blocks[..fork as usize + 3]);
        indexer.apply_before(&blocks[fork as usize + 3], Some(&blocks[fork as usize + 4])).unwrap();
        for _ in 0..4 {
            indexer.undo().unwrap();
        }
        apply(&mut indexer, &others[fork as usize..]);
        assert_eq!(content(&mut indexer), without_reading_ahead(&others), "{options:?}");
    }
}
