//! Answers that touch very many rows: the unspent outputs of a script that has 200,000, and what spends the 2,500 outputs of one
//! transaction. Warm, and cold: the store opened again and its files pushed out of the page cache.
//!
//! Catches: a read for each output of a script with many, reads one after the other where they could be together.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure and rounds its figures

mod chain;

use std::path::Path;
use std::time::Instant;

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, OutPoint, Txid};
use chain::{coinbase, connected, median, payment, script, unknown};
use paraffin_bitcoin_index::{
    BitcoinIndex, BitcoinModule, MissingPrevouts, Options, RawTransactions, SCHEMA, ScriptKey,
};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::Network;
use paraffin_store::{Store, StoreOptions};

const UNSPENT: u64 = 200_000;
const PER_BLOCK: u64 = 50;
const OUTPUTS: u64 = 2_500;
/// Reads of each answer; the median counts.
const READS: usize = 11;
/// Number of the script that is paid all the time.
const POPULAR: u64 = 0;

fn open(folder: &Path) -> Store {
    let options = StoreOptions { network: Network::Regtest, undo_blocks: Some(0), memory_bytes: 1 << 30 };
    Store::open(folder, &options, &[SCHEMA]).unwrap()
}

/// Fills the store; answers the transaction with many outputs.
fn fill(folder: &Path) -> Txid {
    let store = open(folder);
    let module = BitcoinModule::with_options(Options {
        raw_transactions: RawTransactions::Node,
        missing_prevouts: MissingPrevouts::Tolerate,
    });
    let mut indexer = Indexer::new(store.clone(), vec![Box::new(module)], IndexerOptions::default()).unwrap();
    let blocks = UNSPENT / PER_BLOCK;
    let (mut previous, mut many) = (BlockHash::all_zeros(), Txid::all_zeros());
    // Half-way one transaction pays 2,500 scripts, each of which is spent in a block of its own or nearly so.
    let half = blocks / 2;
    for number in 0..=blocks {
        let height = u32::try_from(number).unwrap();
        let mut txdata = vec![coinbase(height)];
        if number > 0 {
            let first = (number - 1) * PER_BLOCK;
            txdata
                .extend((first..first + PER_BLOCK).map(|number| payment(unknown(number), [POPULAR, number + 10_000])));
        }
        if number == half {
            let made = payment(unknown(u64::MAX), (0..OUTPUTS).map(|number| number + 1_000_000));
            many = made.compute_txid();
            txdata.push(made);
        } else if number > half {
            let spent = (0..OUTPUTS).filter(|vout| half + 1 + vout % (blocks - half) == number);
            let spent = spent.map(|vout| OutPoint { txid: many, vout: u32::try_from(vout).unwrap() });
            txdata.extend(spent.map(|outpoint| payment(outpoint, [u64::from(outpoint.vout) + 2_000_000])));
        }
        let block = connected(height, previous, txdata);
        previous = block.id.hash;
        indexer.apply(&block).unwrap();
    }
    indexer.commit().unwrap();
    store.flush().unwrap();
    many
}

/// Pushes the files of a folder out of the page cache.
fn forget(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            forget(&entry.path());
        } else {
            let file = std::fs::File::open(entry.path()).unwrap();
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        }
    }
}

/// Seconds of each of some reads.
fn timed(count: usize, mut read: impl FnMut()) -> Vec<f64> {
    let times = (0..count).map(|_| {
        let begin = Instant::now();
        read();
        begin.elapsed().as_secs_f64()
    });
    times.collect()
}

/// Name of a bar, the read, its limit in seconds, outputs.
type Answer<'a> = (&'a str, &'a dyn Fn(&BitcoinIndex), f64, u64);

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let many = fill(folder.path());
    let key = ScriptKey::from_script(&script(POPULAR));
    let unspent = |index: &BitcoinIndex| assert_eq!(index.unspent(&key, None, None).unwrap().len() as u64, UNSPENT);
    let outspends = |index: &BitcoinIndex| {
        let spends = index.outspends(&many).unwrap().unwrap();
        assert_eq!(spends.iter().filter(|spend| spend.is_some()).count() as u64, OUTPUTS);
    };
    let answers: [Answer<'_>; 2] =
        [("unspent outputs", &unspent, 1.0, UNSPENT), ("outspends", &outspends, 0.1, OUTPUTS)];
    for (bar, read, at_most, outputs) in answers {
        let store = open(folder.path());
        forget(folder.path());
        let index = BitcoinIndex::new(store.snapshot(), Network::Regtest);
        let cold = timed(1, || read(&index))[0];
        let warm = timed(READS, || read(&index));
        println!(
            "{{\"bar\":\"{bar}\",\"value\":{:.4},\"at_most\":{at_most},\"how\":\"seconds for {outputs} outputs, median of {READS} reads in this process; {cold:.3} s with a store just opened and nothing in the page cache\"}}",
            median(&warm)
        );
        println!("seconds");
        for seconds in &warm {
            println!("{seconds:.5}");
        }
    }
}
