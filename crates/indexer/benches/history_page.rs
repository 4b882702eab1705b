//! A page of a script with a million transactions against one of a script with a hundred.
//!
//! Catches: a history that is read from its beginning, a page token that is looked for by scanning. Prints one line of JSON;
//! `cargo xtask bars pages` compares. `PARAFFIN_HISTORY` sets how many transactions the long history has.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure and rounds its figures

use std::time::Instant;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version};
use bitcoin::hashes::Hash as _;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness, transaction,
};
use paraffin_bitcoin_index::{
    BitcoinIndex, BitcoinModule, MissingPrevouts, Options, RawTransactions, SCHEMA, ScriptKey,
};
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{Store, StoreOptions};

const PER_BLOCK: u64 = 5_000;
const SHORT: u64 = 100;
const PAGE: usize = 25;
/// Pages are read this often; the median counts.
const ROUNDS: usize = 401;

fn script(number: u64) -> ScriptBuf {
    let mut bytes = vec![0, 20];
    bytes.extend_from_slice(&number.to_be_bytes());
    bytes.extend_from_slice(&[7; 12]);
    ScriptBuf::from_bytes(bytes)
}

/// Pays the long script, sometimes the short one, and a script of its own.
fn payment(number: u64, short: bool) -> Transaction {
    let mut txid = [1; 32];
    txid[..8].copy_from_slice(&number.to_be_bytes());
    let pay = |number| TxOut { value: Amount::from_sat(1_000), script_pubkey: script(number) };
    let mut output = vec![pay(0), pay(number + 2)];
    if short {
        output.push(pay(1));
    }
    let previous_output = OutPoint { txid: Txid::from_byte_array(txid), vout: 0 };
    let input =
        TxIn { previous_output, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness: Witness::new() };
    Transaction { version: transaction::Version::TWO, lock_time: LockTime::ZERO, input: vec![input], output }
}

fn coinbase(height: u32) -> Transaction {
    let mut made = payment(u64::MAX - u64::from(height), false);
    made.input[0].previous_output = OutPoint::null();
    made.input[0].script_sig = ScriptBuf::from_bytes([&[4][..], &height.to_le_bytes()].concat());
    made.output[0].script_pubkey = script(u64::MAX);
    made
}

fn connected(height: u32, previous: BlockHash, txdata: Vec<Transaction>) -> ConnectedBlock {
    let header = Header {
        version: Version::TWO,
        prev_blockhash: previous,
        merkle_root: TxMerkleNode::all_zeros(),
        time: height,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce: height,
    };
    ConnectedBlock::new(height, Block { header, txdata })
}

/// Median of the time of `read`, in microseconds.
fn median(mut read: impl FnMut()) -> f64 {
    let mut times: Vec<u128> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            read();
            begin.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2] as f64 / 1_000.0
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
            let every = (long / SHORT).max(1);
            txdata.extend((number..number + count).map(|number| payment(number, number % every == 0)));
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
    let short_first = median(|| page(&short_script, None));
    let long_first = median(|| page(&long_script, None));
    let long_deep = median(|| page(&long_script, Some(&deep)));
    println!(
        "{{\"bar\":\"history page\",\"transactions\":{long},\"short_first_micros\":{short_first:.2},\"long_first_micros\":{long_first:.2},\"long_deep_micros\":{long_deep:.2},\"built_seconds\":{built:.1}}}"
    );
}
