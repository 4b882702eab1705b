//! Memory of a process that indexes the block which takes most of it, through all modules and into the store. Run by
//! `cargo xtask hostile` in a release build; each kind of block has a process of its own, because memory is measured for the whole.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Witness,
};
use paraffin_alkanes::codec::{
    ALKANES_PROTOCOL, Cellpack, Protostone, Runestone, append_envelope, encode_protostones, gzip,
};
use paraffin_alkanes::{AlkanesModule, ChainState, CodeCache, NativeEngine, TraceEvent, TraceStatus};
use paraffin_amm::{AmmModule, Parameters};
use paraffin_bitcoin_index::{BitcoinModule, RawTransactions};
use paraffin_devnet::market::builtins;
use paraffin_indexer::{Indexer, IndexerOptions};
use paraffin_ordinals_index::{OrdinalsModule, OrdinalsOptions};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};
use paraffin_store::{Module, Store, StoreOptions};

/// Most that a process may take before it is stopped: a machine of 16 GiB goes on.
const STOPPED_BYTES: u64 = 12 << 30;

/// Most that a process may take, as `docs/design/bounds.md` states it.
const PEAK_BYTES_MAX: u64 = 6 << 30;

const BLOCKS: [&str; 5] = ["nothing", "memories", "rows", "rows and memories", "inscriptions"];

const WRITER: u128 = 70;
const RECEIVER: u128 = 71;
const MEMORIES: u128 = 72;
const FEWER_MEMORIES: u128 = 73;

/// Calls with 200,000 amounts of nothing each, of which each writes two rows: as many as the work of a block allows.
const CALLS: usize = 16;

/// Memories of 664 pages: with that of every contract below 4 GiB; and as many as are left beside the rows.
const MOST: usize = 95;
const FEWER: usize = 55;

/// Inscriptions in one input: seven bytes of a witness each.
const INSCRIPTIONS: usize = 500_000;

fn status_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// A contract is created with inputs of 0, and then does nothing.
const UNLESS_CREATED: &str = "(drop (call $load_context (i32.const 3004))) (if (i32.eqz (i32.load (i32.const 3100))) (then (return (i32.const 1028))))";

fn writer() -> Vec<u8> {
    let text = format!(
        r#"(module (import "env" "__call" (func $call (param i32 i32 i32 i64) (result i32)))
        (import "env" "__load_context" (func $load_context (param i32) (result i32)))
        (memory (export "memory") 1) (data (i32.const 1024) "\14\00\00\00")
        (func (export "__execute") (result i32) (local $i i32) (local $id i32) (local $calls i32)
            (i32.store (i32.const 1996) (i32.const 32)) (i32.store (i32.const 2000) (i32.const 4))
            (i32.store (i32.const 2016) (i32.const {RECEIVER})) (i32.store (i32.const 2196) (i32.const 4))
            (i32.store (i32.const 99996) (i32.const 9600016)) (i32.store (i32.const 100000) (i32.const 200000))
            {UNLESS_CREATED}
            (loop
                (local.set $i (i32.const 0))
                (loop
                    (i32.store (i32.add (i32.const 100032) (i32.mul (local.get $i) (i32.const 48))) (local.get $id))
                    (local.set $id (i32.add (local.get $id) (i32.const 1)))
                    (br_if 0 (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 200000))))
                (drop (call $call (i32.const 2000) (i32.const 100000) (i32.const 2200) (i64.const 0)))
                (br_if 0 (i32.lt_u (local.tee $calls (i32.add (local.get $calls) (i32.const 1))) (i32.const {CALLS}))))
            (i32.const 1028)))"#
    );
    wat::parse_str(text).unwrap()
}

fn memories(count: usize) -> Vec<u8> {
    let fills: String = (1..=count)
        .flat_map(|memory| [format!("(memory.fill {memory} (i32.const 0) (i32.const 1) (i32.const 43515904))")])
        .collect();
    let text = format!(
        r#"(module (import "env" "__load_context" (func $load_context (param i32) (result i32)))
        (memory (export "memory") 1) {} (data (i32.const 1024) "\14\00\00\00")
        (func (export "__execute") (result i32) {UNLESS_CREATED} {fills} (i32.const 1028)))"#,
        "(memory 664)".repeat(count)
    );
    wat::parse_str(text).unwrap()
}

fn receiver() -> Vec<u8> {
    memories(0)
}

/// A transaction that calls a contract, or creates it.
fn message(target: AlkaneId, code: Option<&[u8]>, spent: OutPoint) -> Transaction {
    let stone = Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: if code.is_some() { vec![0] } else { vec![1] } }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    };
    let runestone = Runestone { protocol: encode_protostones(&[stone]).unwrap(), ..Runestone::default() };
    let mut witness = Witness::new();
    if let Some(code) = code {
        witness.push(append_envelope(bitcoin::script::Builder::new(), &gzip(code)).into_script().as_bytes());
        witness.push([0xc0; 33]);
    }
    transaction(spent, witness, Some(runestone.encode(2).unwrap()))
}

fn transaction(previous_output: OutPoint, witness: Witness, data: Option<ScriptBuf>) -> Transaction {
    let input = vec![TxIn { previous_output, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness }];
    let holding = TxOut { value: Amount::from_sat(1_000_000), script_pubkey: ScriptBuf::from_bytes(vec![0x51]) };
    let data = data.map(|script_pubkey| TxOut { value: Amount::ZERO, script_pubkey });
    Transaction {
        version: Version::TWO,
        lock_time: LockTime::ZERO,
        input,
        output: [holding].into_iter().chain(data).collect(),
    }
}

/// Makes blocks, each with outputs for the next to spend.
#[derive(Default)]
struct Chain {
    tip: Option<ConnectedBlock>,
    outputs: HashMap<OutPoint, TxOut>,
}

impl Chain {
    /// An output of the newest coinbase.
    fn coin(&self, vout: u32) -> OutPoint {
        OutPoint { txid: self.tip.as_ref().unwrap().txids[0], vout }
    }

    fn mine(&mut self, transactions: Vec<Transaction>) -> ConnectedBlock {
        let height = self.tip.as_ref().map_or(0, |tip| tip.id.height + 1);
        let coins = (0..8).map(|vout| TxOut {
            value: Amount::from_sat(2_000_000),
            script_pubkey: ScriptBuf::from_bytes(vec![0x51, vout]),
        });
        let mut coinbase = transaction(OutPoint::null(), Witness::new(), None);
        coinbase.input[0].script_sig = ScriptBuf::from_bytes(vec![4, height as u8, 0, 0, 0]);
        coinbase.output = coins.collect();
        let txdata: Vec<_> = [coinbase].into_iter().chain(transactions).collect();
        let header = Header {
            version: BlockVersion::TWO,
            prev_blockhash: self.tip.as_ref().map_or(BlockHash::all_zeros(), |tip| tip.id.hash),
            merkle_root: TxMerkleNode::all_zeros(),
            time: 1_700_000_000 + height,
            bits: CompactTarget::from_consensus(0x207f_ffff),
            nonce: height,
        };
        let mut block = ConnectedBlock::new(height, Block { header, txdata });
        for (transaction, txid) in block.block.txdata.iter().zip(&block.txids) {
            for (vout, output) in (0..).zip(&transaction.output) {
                self.outputs.insert(OutPoint { txid: *txid, vout }, output.clone());
            }
        }
        let spent = block.block.txdata.iter().skip(1).map(|transaction| {
            transaction.input.iter().map(|input| self.outputs[&input.previous_output].clone()).collect()
        });
        block.spent = Some([Vec::new()].into_iter().chain(spent).collect());
        self.tip = Some(block.clone());
        block
    }
}

fn indexer(folder: &std::path::Path) -> Indexer {
    let engine = NativeEngine::new(Network::Regtest, Arc::new(builtins()), Arc::new(CodeCache::default()));
    // A message alone in its block has all of its fuel, as on mainnet.
    let parameters =
        paraffin_alkanes::Parameters { fuel_is_minimum: false, ..paraffin_alkanes::Parameters::of(Network::Regtest) };
    let engine = engine.with_parameters(parameters).with_speculation();
    let modules: Vec<Box<dyn Module>> = vec![
        Box::new(BitcoinModule::new(RawTransactions::Store)),
        Box::new(OrdinalsModule::new(Network::Regtest, OrdinalsOptions::default())),
        Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest)),
        Box::new(AmmModule::new(Parameters::default())),
    ];
    let schemas: Vec<_> = modules.iter().map(|module| module.schema()).collect();
    let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
    let store = Store::open(folder, &options, &schemas).unwrap();
    Indexer::new(store, modules, IndexerOptions::default()).unwrap()
}

/// Indexes the block of this name as the last of a short chain and prints what that took.
fn index(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut indexer = indexer(folder.path());
    let mut chain = Chain::default();
    let apply = |indexer: &mut Indexer, block: ConnectedBlock| {
        indexer.apply(&block).unwrap();
    };
    apply(&mut indexer, chain.mine(Vec::new()));
    let codes =
        [(WRITER, writer()), (RECEIVER, receiver()), (MEMORIES, memories(MOST)), (FEWER_MEMORIES, memories(FEWER))];
    let mut created: Vec<_> = (0..)
        .zip(&codes)
        .map(|(vout, (tx, code))| message(AlkaneId { block: 3, tx: *tx }, Some(code), chain.coin(vout + 1)))
        .collect();
    if name == "inscriptions" {
        let witness = Witness::from_slice(&[&b"\x00\x63\x03ord\x68".repeat(INSCRIPTIONS)[..], &[0xc0; 33]]);
        created = vec![transaction(chain.coin(0), witness, None)];
    }
    apply(&mut indexer, chain.mine(created));
    indexer.commit().unwrap();
    let inscribed = OutPoint { txid: chain.tip.as_ref().unwrap().txids[1], vout: 0 };
    let calls: &[u128] = match name {
        "memories" => &[MEMORIES],
        "rows" => &[WRITER],
        "rows and memories" => &[WRITER, FEWER_MEMORIES],
        _ => &[],
    };
    let calls = (0..).zip(calls).map(|(vout, tx)| message(AlkaneId { block: 4, tx: *tx }, None, chain.coin(vout)));
    let mut last: Vec<_> = calls.collect();
    let messages = last.len();
    if name == "inscriptions" {
        last.push(transaction(inscribed, Witness::new(), None));
    }
    let last = chain.mine(last);
    // Where the kernel forbids it, the peak is that of the whole process, which only makes the test stricter.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = status_bytes("VmRSS:");
    let begun = Instant::now();
    apply(&mut indexer, last);
    indexer.commit().unwrap();
    let (peak, after) = (status_bytes("VmHWM:"), status_bytes("VmRSS:"));
    let mib = [before, peak, after].map(|bytes| (bytes >> 20).to_string()).join(",");
    // Every message has had its effect.
    let height = chain.tip.as_ref().unwrap().id.height;
    let traces = ChainState::at(&indexer.store().snapshot(), height).block_traces(height).unwrap();
    let succeeded = traces.iter().filter(|traced| {
        matches!(
            traced.trace.events.last(),
            Some(
                TraceEvent::Exit { status: TraceStatus::Success, .. }
                    | TraceEvent::Omitted { status: TraceStatus::Success, .. }
            )
        )
    });
    let succeeded = succeeded.count();
    assert_eq!(
        succeeded,
        messages,
        "{name}: {:?}",
        traces.iter().map(|traced| traced.trace.events.last()).collect::<Vec<_>>()
    );
    println!("{name},{mib},{:.1}", begun.elapsed().as_secs_f64());
    assert!(peak < PEAK_BYTES_MAX, "{name}: {} MiB", peak >> 20);
}

/// Run by `cargo xtask hostile`: takes some minutes and up to twelve gigabytes.
#[test]
#[ignore = "a long run: cargo xtask hostile"]
fn the_block_that_takes_most_memory_is_indexed_below_the_stated_ceiling() {
    const THIS: &str = "the_block_that_takes_most_memory_is_indexed_below_the_stated_ceiling";
    const NAME: &str = "PARAFFIN_HOSTILE_BLOCK";
    if let Ok(name) = std::env::var(NAME) {
        std::thread::spawn(|| {
            while status_bytes("VmRSS:") < STOPPED_BYTES {
                std::thread::sleep(Duration::from_millis(20));
            }
            println!("more than {STOPPED_BYTES} bytes: stopped");
            std::process::exit(1);
        });
        return index(&name);
    }
    let mut failed = Vec::new();
    for name in BLOCKS {
        let mut own = Command::new(std::env::current_exe().unwrap());
        own.args(["--ignored", "--nocapture", "--exact", THIS]).env(NAME, name);
        if !own.status().unwrap().success() {
            failed.push(name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}
