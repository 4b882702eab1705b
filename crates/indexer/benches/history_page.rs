//! A page of a script with a million transactions against one of a script with a hundred.
//!
//! Catches: a history that is read from its beginning, a page token that is looked for by scanning. `cargo xtask bars pages`
//! compares what it prints. `PARAFFIN_HISTORY` sets how many transactions the long history has.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure and rounds its figures

mod chain;

use std::time::Instant;

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, Transaction, Txid};
use chain::{coinbase, connected, median, script};
use paraffin_bitcoin_index::{
    BitcoinIndex, BitcoinModule, MissingPrevouts, Options, RawTransactions, SCHEMA, ScriptKey,
};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::Network;
use paraffin_store::{Store, StoreOptions};

const PER_BLOCK: u64 = 5_000;
const SHORT: u64 = 100;
const PAGE: usize = 25;
/// Reads of each page; the median counts.
const READS: usize = 401;

/// Pays the long script, sometimes the short one, and a script of its own.
fn payment(number: u64, short: bool) -> Transaction {
    let others = [number + 2, 1].into_iter().take(if short { 2 } else { 1 });
    chain::payment(chain::unknown(number), std::iter::once(0).chain(others))
}

fn main() {
    let long = std::env::var("PARAFFIN_HISTORY").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000_u64);
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions { network: Network::Regtest, undo_blocks: Some(0), memory_bytes: 1 << 30 };
    let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
    let module = BitcoinModule::with_options(Options {
        raw_transactions: RawTransactions::Node,
        missing_prevouts: MissingPrevouts::Tolerate,
    });
    let mut indexer = Indexer::new(store.clone(), vec![Box::new(module)], IndexerOptions::default()).unwrap();
    let (mut previous, mut number, mut height) = (BlockHash::all_zeros(), 0, 0);
    let begin = Instant::now();
    let mut deep_at = None;
    while number < long {
        let count = PER_BLOCK.min(long - number);
        let mut txdata = vec![coinbase(height)];
        // Block 0 has no history; it holds the coinbase alone.
        if height > 0 {
            // The newest ones, as the first page of the long history: both pages then touch equally many blocks.
            txdata.extend((number..number + count).map(|number| payment(number, number + SHORT >= long)));
            number += count;
        }
        let block = connected(height, previous, txdata);
        // The last transaction of page 9,999, counted from the newest.
        let from_newest = 9_999 * PAGE as u64;
        if deep_at.is_none() && long > from_newest && number > long - from_newest {
            let first = number - count;
            deep_at = Some(block.txids[1 + (long - from_newest - first) as usize]);
        }
        previous = block.id.hash;
        indexer.apply(&block).unwrap();
        height += 1;
    }
    indexer.commit().unwrap();
    store.flush().unwrap();
    let built = begin.elapsed().as_secs_f64();
    let index = BitcoinIndex::new(store.snapshot(), Network::Regtest);
    let (long_script, short_script) = (ScriptKey::from_script(&script(0)), ScriptKey::from_script(&script(1)));
    let page = |script: &ScriptKey, after: Option<&Txid>| {
        assert_eq!(index.history(script, after, PAGE).unwrap().len(), PAGE);
    };
    let deep = deep_at.expect("the long history has ten thousand pages");
    // Taken in turn, so that a busy moment of the machine meets all three.
    let mut micros: [Vec<f64>; 3] = Default::default();
    for _ in 0..READS {
        let reads: [(&ScriptKey, Option<&Txid>); 3] =
            [(&short_script, None), (&long_script, None), (&long_script, Some(&deep))];
        for ((script, after), micros) in reads.into_iter().zip(&mut micros) {
            let begin = Instant::now();
            page(script, after);
            micros.push(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    let [short_first, long_first, long_deep] = micros.each_ref().map(|micros| median(micros));
    println!(
        "{{\"bar\":\"history page\",\"value\":{:.3},\"at_most\":1.5,\"how\":\"times as long for the first {PAGE} of {long} transactions ({long_first:.1} us) as for those of {SHORT} ({short_first:.1} us), medians of {READS} reads in turns, read in this process; built in {built:.1} s\"}}",
        long_first / short_first
    );
    println!("short_first_micros,long_first_micros,long_deep_micros");
    let [short, first, deep] = &micros;
    for ((short, first), deep) in short.iter().zip(first).zip(deep) {
        println!("{short:.2},{first:.2},{deep:.2}");
    }
    println!(
        "{{\"bar\":\"history page 10,000\",\"value\":{:.3},\"at_most\":2,\"how\":\"times as long for page 10,000 ({long_deep:.1} us) as for page 1 ({long_first:.1} us), of the same reads\"}}",
        long_deep / long_first
    );
}
