//! Size of the index by table, and import speed against parsing and hashing alone, on a chain of mainnet-shaped blocks.
//!
//! `cargo bench -p paraffin-bitcoin-index [-- BLOCKS]`. Prints one line of JSON for each figure.
#![allow(missing_docs, clippy::cast_precision_loss, reason = "figures are printed, not computed with")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use bitcoin::consensus::{deserialize, serialize};
use bitcoin::{Block, Transaction, TxOut};
use paraffin_bitcoin_index::{BitcoinModule, MODULE, RawTransactions, TABLES};
use paraffin_store::Module;
use serde_json::json;
use support::fixtures::mainnet_blocks;
use support::shaped::ShapedChain;
use support::{Instance, connected};

const SIZE_BAR: f64 = 0.35;
const IMPORT_BAR: f64 = 0.03;

fn main() {
    let blocks: u32 = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(64);
    let models: Vec<Block> = mainnet_blocks().into_iter().map(|(_, block)| block).collect();
    if models.is_empty() {
        return;
    }
    for is_supplied in [true, false] {
        run(models.clone(), blocks, is_supplied);
    }
}

fn run(models: Vec<Block>, blocks: u32, is_supplied: bool) {
    let mut chain = ShapedChain::new(models, 1);
    let mut instance = Instance::new(BitcoinModule::new(RawTransactions::Node), 64);
    let mut height = 0;
    for _ in 0..40 {
        instance.connect(height, &chain.funding_block(8000), None);
        height += 1;
    }
    instance.commit();
    let before = table_bytes(&instance);
    let (disk_before, ..) = instance.store.disk_bytes();

    let [mut parsing, mut connecting, mut ending, mut committing] = [Duration::ZERO; 4];
    let mut block_bytes = 0u64;
    for _ in 0..blocks {
        let (block, spent) = chain.next_block();
        let bytes = serialize(&block);
        block_bytes += bytes.len() as u64;
        let start = Instant::now();
        parse(&bytes);
        parsing += start.elapsed();
        let spent: Option<Vec<Vec<TxOut>>> = is_supplied.then_some(spent);
        let block = connected(height, &block, spent);
        let start = Instant::now();
        let header = &block.block.header;
        instance.writer.begin_block(block.id, header.prev_blockhash, header.time).expect("the block follows the tip");
        let mut rows = instance.writer.module(MODULE).expect("the module is declared");
        instance.module.connect(&block, &mut rows).expect("the chain is valid");
        connecting += start.elapsed();
        let start = Instant::now();
        instance.writer.end_block().expect("the block is begun");
        ending += start.elapsed();
        let start = Instant::now();
        instance.commit();
        committing += start.elapsed();
        height += 1;
    }
    let how = format!(
        "{blocks} blocks, {block_bytes} bytes, {} unspent outputs, spent outputs supplied: {is_supplied}",
        chain.unspent_count()
    );
    let after = table_bytes(&instance);
    let mut total = 0;
    for ((name, rows, bytes), (_, rows_before, bytes_before)) in after.into_iter().zip(before) {
        let (rows, bytes) = (rows.saturating_sub(rows_before), bytes.saturating_sub(bytes_before));
        total += bytes;
        let share = bytes as f64 / block_bytes as f64;
        println!(
            "{}",
            json!({"table": name, "rows_per_block": rows / u64::from(blocks), "share_of_block_bytes": share})
        );
    }
    let share = total as f64 / block_bytes as f64;
    println!("{}", json!({"bar": "index size, rows before the engine", "value": share, "floor": SIZE_BAR, "how": how}));
    let (tables, undo, journal) = instance.store.disk_bytes();
    let grown = tables.saturating_sub(disk_before);
    println!(
        "{}",
        json!({"tables_on_disk": grown, "undo": undo, "journal": journal, "share_of_block_bytes": grown as f64 / block_bytes as f64})
    );
    let ratio = parsing.as_secs_f64() / (connecting + ending + committing).as_secs_f64();
    let rate = |time: Duration| block_bytes as f64 / time.as_secs_f64() / 1e6;
    println!(
        "{}",
        json!({
            "bar": "block import, per-block path", "value": ratio, "floor": IMPORT_BAR, "how": how,
            "parse_mb_per_s": rate(parsing), "connect_mb_per_s": rate(connecting), "end_mb_per_s": rate(ending), "commit_mb_per_s": rate(committing),
        })
    );
}

fn parse(bytes: &[u8]) {
    let block: Block = deserialize(bytes).expect("the block was serialized just now");
    std::hint::black_box(block.txdata.iter().map(Transaction::compute_txid).collect::<Vec<_>>());
}

/// Name, rows, and key and value bytes of every table.
fn table_bytes(instance: &Instance) -> Vec<(&'static str, u64, u64)> {
    let snapshot = instance.store.snapshot();
    let measure = |table: &paraffin_store::Table| {
        let (mut rows, mut bytes) = (0, 0);
        for row in snapshot.prefix(table, &[]) {
            let (key, value) = row.expect("the store was written just now");
            rows += 1;
            bytes += (key.len() + value.len() + 2) as u64;
        }
        (table.name, rows, bytes)
    };
    TABLES.iter().map(measure).collect()
}
