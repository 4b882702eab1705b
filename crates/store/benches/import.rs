//! Block-shaped load on the store: how many rows a second the per-block path takes, and what it writes.
//!
//! Catches: a second lookup per row, a lost overlay, compression or filters on the wrong keyspace, an unbounded buffer.
//! Run with `cargo bench -p paraffin-store`. Prints one line of JSON. `STORE_BENCH_BLOCKS` sets the length.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure and rounds its figures

use std::time::Instant;

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::{BlockId, Network};
use paraffin_store::{ModuleId, ModuleSchema, Placement, Store, StoreOptions, Table, TableKind};

const fn table(id: u8, name: &'static str, kind: TableKind, placement: Placement) -> Table {
    Table { module: ModuleId(1), id, name, kind, placement }
}

const TRANSACTIONS: Table = table(0, "transactions", TableKind::Sequence, Placement::Appended);
const BY_HASH: Table = table(1, "by_hash", TableKind::WriteOnce, Placement::Hashed);
const SPENDS: Table = table(2, "spends", TableKind::WriteOnce, Placement::Ordered);
const HISTORY: Table = table(3, "history", TableKind::WriteOnce, Placement::Ordered);
const BALANCES: Table = table(4, "balances", TableKind::Current, Placement::Hashed);
const STATES: Table = table(5, "states", TableKind::Versioned, Placement::Ordered);
const TABLES: [Table; 6] = [TRANSACTIONS, BY_HASH, SPENDS, HISTORY, BALANCES, STATES];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn key(number: u64) -> [u8; 16] {
        let mut random = Self(number);
        let mut key = [0; 16];
        key[..8].copy_from_slice(&random.next().to_be_bytes());
        key[8..].copy_from_slice(&random.next().to_be_bytes());
        key
    }
}

fn resident_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn written_mebibytes() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let line = io.lines().find(|line| line.starts_with("write_bytes"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024 / 1024
}

fn main() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let blocks = number("STORE_BENCH_BLOCKS", 60) as u32;
    let memory = number("STORE_BENCH_MIB", 1024);
    let deep = number("STORE_BENCH_DEEP", 0) == 1;
    let folder = tempfile::tempdir().unwrap();
    let schema = ModuleSchema { id: ModuleId(1), name: "bench", version: 1, tables: &TABLES, reads: &[] };
    let options =
        StoreOptions { network: Network::Regtest, undo_blocks: Some(5000), memory_bytes: memory * 1024 * 1024 };
    let store = Store::open(folder.path(), &options, &[schema]).unwrap();
    let mut writer = store.writer().unwrap();
    if deep {
        writer.expect_tip(u32::MAX);
    }
    let mut random = Random(1);
    let (mut transactions, mut outputs, mut rows, mut payload) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut previous = BlockHash::all_zeros();
    let begin = Instant::now();
    let (mut writing, mut ending, mut committing) = (0, 0, 0);
    for height in 0..blocks {
        let hash = BlockHash::from_byte_array([height as u8; 32]);
        writer.begin_block(BlockId { height, hash }, previous, 0).unwrap();
        previous = hash;
        let step = Instant::now();
        let mut module = writer.module(ModuleId(1)).unwrap();
        for _ in 0..3000 {
            let key = Random::key(transactions);
            module.append(&TRANSACTIONS, &[7; 60]).unwrap();
            module.put(&BY_HASH, &key[..10], &(transactions as u32).to_be_bytes()).unwrap();
            rows += 2;
            payload += 64 + 16;
            for input in 0..2 {
                let spent = random.next() % (outputs + 1);
                let found = module.get(&BY_HASH, &Random::key(random.next() % (transactions + 1))[..10]).unwrap();
                std::hint::black_box(found);
                let key = [&spent.to_be_bytes()[3..], &(transactions * 2 + input).to_be_bytes()[3..]].concat();
                module.put(&SPENDS, &key, &[1; 6]).unwrap();
                rows += 1;
                payload += 16;
            }
            for _ in 0..2 {
                let owner = Random::key(random.next() % 50_000);
                let key = [&owner[..], &outputs.to_be_bytes()[3..]].concat();
                module.put(&HISTORY, &key, &[]).unwrap();
                let balance = module.get(&BALANCES, &owner).unwrap();
                let balance = balance.map_or(0, |value| u64::from_be_bytes(value.try_into().unwrap()));
                module.put(&BALANCES, &owner, &(balance + 1).to_be_bytes()).unwrap();
                outputs += 1;
                rows += 2;
                payload += 23 + 26;
            }
            if transactions.is_multiple_of(10) {
                module.put(&STATES, &Random::key(random.next() % 1000), &transactions.to_be_bytes()).unwrap();
                rows += 1;
                payload += 30;
            }
            transactions += 1;
        }
        writing += step.elapsed().as_millis();
        let step = Instant::now();
        writer.end_block().unwrap();
        ending += step.elapsed().as_millis();
        let step = Instant::now();
        if writer.pending_bytes() > store.memory().pending {
            writer.commit(false).unwrap();
        }
        committing += step.elapsed().as_millis();
    }
    let step = Instant::now();
    writer.commit(true).unwrap();
    committing += step.elapsed().as_millis();
    let took = begin.elapsed();
    let (tables, undo, journal) = store.disk_bytes();
    let stats = store.stats();
    println!(
        "{{\"bar\":\"store rows\",\"value\":{:.0},\"how\":\"rows/s, {rows} rows in {blocks} blocks, {:.1} s: write {writing} ms, end {ending} ms, commit {committing} ms (stalled {} ms)\",\
         \"payload_mib\":{},\"tables_mib\":{},\"undo_mib\":{},\"journal_mib\":{},\"written_mib\":{},\"resident_mib\":{},\"reads\":\"{:?}\"}}",
        rows as f64 / took.as_secs_f64(),
        took.as_secs_f64(),
        stats.stalled.as_millis(),
        payload >> 20,
        tables >> 20,
        undo >> 20,
        journal >> 20,
        written_mebibytes(),
        resident_mebibytes(),
        store.reads(),
    );
    drop(writer);
    drop(store);
    let step = Instant::now();
    let store = Store::open(folder.path(), &options, &[schema]).unwrap();
    let cold = step.elapsed().as_secs_f64();
    let step = Instant::now();
    store.flush().unwrap();
    let flush = step.elapsed().as_secs_f64();
    drop(store);
    let step = Instant::now();
    let store = Store::open(folder.path(), &options, &[schema]).unwrap();
    println!(
        "{{\"bar\":\"store reopen\",\"value\":{:.3},\"how\":\"seconds to open after a flush ({flush:.2} s); {cold:.2} without\"}}",
        step.elapsed().as_secs_f64()
    );
    let snapshot = store.snapshot();
    let count = 100_000;
    let step = Instant::now();
    for _ in 0..count {
        assert!(snapshot.get(&BY_HASH, &Random::key(random.next() % transactions)[..10]).unwrap().is_some());
    }
    let point = f64::from(count) / step.elapsed().as_secs_f64();
    let step = Instant::now();
    for _ in 0..count {
        snapshot.get_at(&STATES, &Random::key(random.next() % 1000), blocks / 2).unwrap();
    }
    let versioned = f64::from(count) / step.elapsed().as_secs_f64();
    println!(
        "{{\"bar\":\"store reads\",\"value\":{point:.0},\"how\":\"point reads/s on hashed keys; {versioned:.0} versioned reads/s\"}}"
    );
}
