//! End to end with real contracts: from a transaction to rows, and back.

use std::sync::Arc;

use bitcoin::hashes::Hash;
use bitcoin::script::Builder;
use bitcoin::{BlockHash, OutPoint, Transaction, Witness};
use paraffin_alkanes::codec::{append_envelope, gzip};
use paraffin_alkanes::{
    AlkanesModule, Builtins, CodeCache, Holder, NativeEngine, Order, ScriptKey, StateKey, StateReader, TraceEvent,
    TraceStatus,
};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};

use crate::chain::{Instance, block, id, output, script, spend, with_stones};
use crate::stand_in::message;

const DIESEL: AlkaneId = id(2, 0);
const COUNTER: AlkaneId = id(2, 1);

fn wasm(name: &str) -> Vec<u8> {
    let path = format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The native engine with our own contracts instead of the built-in ones.
pub(crate) fn real_engine(network: Network) -> NativeEngine {
    let builtins = Builtins::given([
        (DIESEL, wasm("genesis-token")),
        (id(32, 0), wasm("wrapped-bitcoin")),
        (id(32, 1), wasm("auth-token")),
    ]);
    NativeEngine::new(network, Arc::new(builtins), Arc::new(CodeCache::default()))
}

fn instance() -> Instance {
    Instance::new(AlkanesModule::new(Box::new(real_engine(Network::Regtest)), Network::Regtest), Network::Regtest)
}

fn deployment(name: &str, inputs: &[u128]) -> Transaction {
    deployment_of(&wasm(name), inputs)
}

fn deployment_of(code: &[u8], inputs: &[u128]) -> Transaction {
    let script_bytes = append_envelope(Builder::new(), &gzip(code)).into_script();
    let mut input = spend(OutPoint { txid: bitcoin::Txid::from_byte_array([1; 32]), vout: 0 });
    input.witness = Witness::from_slice(&[script_bytes.as_bytes(), &[0xc0; 33]]);
    with_stones(vec![input], vec![output(script(1))], &[message(id(1, 0), inputs, 0, 0)])
}

fn blocks() -> (Vec<ConnectedBlock>, Vec<Transaction>) {
    let deploy = deployment("counter", &[0]);
    let mint = with_stones(vec![], vec![output(script(2))], &[message(DIESEL, &[77], 0, 0)]);
    let increment = with_stones(vec![], vec![output(script(3))], &[message(COUNTER, &[1, 5], 0, 0)]);
    let fail = with_stones(vec![], vec![output(script(4))], &[message(COUNTER, &[4711], 0, 0)]);
    let transactions = vec![deploy, mint, increment, fail];
    let [deploy, mint, increment, fail] = [0, 1, 2, 3].map(|index: usize| transactions[index].clone());
    let mut previous = BlockHash::all_zeros();
    let contents = [vec![], vec![deploy, mint], vec![increment, fail]];
    let blocks = (0..)
        .zip(contents)
        .map(|(height, transactions)| {
            let next = block(height, previous, transactions);
            previous = next.id.hash;
            next
        })
        .collect();
    (blocks, transactions)
}

#[test]
fn contracts_are_deployed_minted_and_called_and_everything_can_be_read() {
    let mut instance = instance();
    let (blocks, transactions) = blocks();
    for block in &blocks {
        instance.connect(block);
    }
    let (before, state) = (instance.at(1), instance.at(2));
    let shadow = |index: usize| OutPoint { txid: transactions[index].compute_txid(), vout: 3 };

    let created = state.alkanes(Order::Newest, None, 10).unwrap().items;
    assert_eq!(created.iter().map(|creation| creation.id).collect::<Vec<_>>(), [COUNTER, id(32, 1), id(32, 0), DIESEL]);
    assert_eq!((state.alkane_count().unwrap(), state.sequence().unwrap()), (4, 2));
    assert_eq!(state.creation(COUNTER).unwrap().unwrap().height, 1);
    assert_eq!(state.created_at(COUNTER).unwrap(), Some(shadow(0)));
    assert!(instance.at(0).creation(COUNTER).unwrap().is_none());
    assert_eq!(state.get(&StateKey::Code(COUNTER)).unwrap(), Some(gzip(&wasm("counter"))));

    let count = StateKey::Storage(COUNTER, b"/count".to_vec());
    assert_eq!(state.get(&count).unwrap(), Some(5u128.to_le_bytes().to_vec()));
    assert_ne!(before.get(&count).unwrap(), state.get(&count).unwrap());
    assert!(state.storage(COUNTER, b"/cou", None, 10).unwrap().items.iter().any(|(key, _)| key == b"/count"));

    let minted = OutPoint { txid: transactions[1].compute_txid(), vout: 0 };
    let [(what, amount)] = state.sheet(&minted).unwrap().entries[..] else { panic!("one alkane was minted") };
    assert_eq!((what, amount), (DIESEL, 50 * 100_000_000));
    let holders = state.holders(DIESEL, None, 10).unwrap().items;
    assert_eq!(holders.iter().map(|held| held.holder).collect::<Vec<_>>(), [Holder::Script(ScriptKey::of(&script(2)))]);

    let trace = state.trace(&shadow(0)).unwrap().unwrap();
    assert_eq!(trace.events[0], TraceEvent::Create(COUNTER));
    let traces = state.block_traces(2).unwrap();
    assert_eq!(traces.iter().map(|trace| trace.outpoint).collect::<Vec<_>>(), [shadow(2), shadow(3)]);
    assert!(matches!(traces[1].trace.events.last(), Some(TraceEvent::Exit { status: TraceStatus::Revert, .. })));
}

/// The reference follows the id to itself until its stack is exhausted, and halts (decision 0039).
#[test]
fn a_clone_of_itself_is_refunded_and_the_block_goes_on() {
    let mut instance = instance();
    let (blocks, transactions) = blocks();
    for block in &blocks {
        instance.connect(block);
    }
    let minted = OutPoint { txid: transactions[1].compute_txid(), vout: 0 };
    // 2:2 is the next contract.
    let outputs = || vec![output(script(6)), output(script(7))];
    let clone = with_stones(vec![spend(minted)], outputs(), &[message(id(5, 2), &[0], 0, 1)]);
    let after = with_stones(vec![], outputs(), &[message(COUNTER, &[1, 3], 0, 0)]);
    let tip = instance.snapshot().tip().unwrap().id;
    instance.connect(&block(tip.height + 1, tip.hash, vec![clone.clone(), after.clone()]));
    let state = instance.at(tip.height + 1);
    let [pointer, refund] = [0, 1].map(|vout| OutPoint { txid: clone.compute_txid(), vout });
    assert!(state.sheet(&pointer).unwrap().entries.is_empty());
    assert_eq!(state.sheet(&refund).unwrap().entries, [(DIESEL, 50 * 100_000_000)]);
    assert_eq!(state.sequence().unwrap(), 2);
    assert_eq!(state.get(&StateKey::Code(id(2, 2))).unwrap(), None);
    let traced: Vec<_> = state.block_traces(tip.height + 1).unwrap().iter().map(|trace| trace.outpoint).collect();
    assert_eq!(traced, [OutPoint { txid: after.compute_txid(), vout: 4 }]);
    let count = state.get(&StateKey::Storage(COUNTER, b"/count".to_vec())).unwrap();
    assert_eq!(count, Some(8u128.to_le_bytes().to_vec()));
}

#[test]
fn undoing_and_running_again_leaves_the_same_rows() {
    let mut instance = instance();
    let (blocks, _) = blocks();
    let mut footprints = vec![instance.rows()];
    for block in &blocks {
        instance.connect(block);
        footprints.push(instance.rows());
    }
    for height in (0..blocks.len()).rev() {
        instance.writer.undo_block().unwrap();
        assert!(instance.rows() == footprints[height], "block {height} undone");
    }
    for (block, footprint) in blocks.iter().zip(&footprints[1..]) {
        instance.connect(block);
        assert!(instance.rows() == *footprint, "block {} again", block.id);
    }
}

/// A contract that only calls 2:1 as often as its input, and 2:1, which returns all of its memory.
fn poison() -> [Vec<u8>; 2] {
    let returning = r#"(module (memory (export "memory") 512) (func (export "__execute") (result i32)
        (i32.store (i32.const 0) (i32.const 33554428)) (i32.const 4)))"#;
    // The context: two ids, the output, the count of what comes in, the inputs from byte 96 on.
    let calling = r#"(module
        (import "env" "__load_context" (func $load_context (param i32) (result i32)))
        (import "env" "__call" (func $call (param i32 i32 i32 i64) (result i32)))
        (memory (export "memory") 1)
        (data (i32.const 1024) "\14\00\00\00")
        (data (i32.const 2000) "\20\00\00\00\02\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\01")
        (data (i32.const 2100) "\10\00\00\00")
        (data (i32.const 2200) "\04\00\00\00")
        (func (export "__execute") (result i32)
            (drop (call $load_context (i32.const 3000)))
            (block $end (loop $again
                (br_if $end (i32.eqz (i32.load (i32.const 3096))))
                (drop (call $call (i32.const 2004) (i32.const 2104) (i32.const 2204) (i64.const 0)))
                (i32.store (i32.const 3096) (i32.sub (i32.load (i32.const 3096)) (i32.const 1)))
                (br $again)))
            (i32.const 1028)))"#;
    [returning, calling].map(|text| wat::parse_str(text).unwrap())
}

#[test]
fn a_block_whose_messages_return_gigabytes_is_indexed_and_undone_like_any_other() {
    let mut instance = instance();
    let [returning, calling] = poison();
    let call = |times: u128, payee: u64| {
        with_stones(vec![], vec![output(script(payee))], &[message(id(2, 2), &[times], 0, 0)])
    };
    let calls = [(60, 1), (3, 2), (1, 3), (0, 4)].map(|(times, payee)| call(times, payee));
    let contents = [
        vec![],
        vec![deployment_of(&returning, &[9]), deployment_of(&calling, &[0])],
        calls.to_vec(),
        vec![call(2, 5)],
    ];
    let mut previous = BlockHash::all_zeros();
    for (height, transactions) in (0..).zip(contents) {
        let next = block(height, previous, transactions);
        previous = next.id.hash;
        instance.connect(&next);
    }
    let state = instance.at(3);
    let traces: Vec<_> = state.block_traces(2).unwrap().into_iter().map(|traced| traced.trace.events).collect();
    for (trace, calls) in traces.iter().zip([60, 3, 1]) {
        let [TraceEvent::Omitted { status: TraceStatus::Success, events, bytes, contracts, .. }] = &trace[..] else {
            panic!("{} events", trace.len());
        };
        assert_eq!((*events, &contracts[..]), (2 + 2 * calls, &[COUNTER, id(2, 2)][..]));
        assert!(*bytes > calls * 33_554_408);
    }
    assert!(matches!(traces[3][..], [TraceEvent::Enter { .. }, TraceEvent::Exit { .. }]));
    let shadow = OutPoint { txid: calls[0].compute_txid(), vout: 3 };
    assert_eq!(state.trace(&shadow).unwrap().unwrap().events, traces[0]);
    assert_eq!(state.block_traces_within(2, 100).unwrap(), None);
    for _ in 0..2 {
        instance.writer.undo_block().unwrap();
    }
    instance.writer.commit(false).unwrap();
    assert!(instance.at(1).trace(&shadow).unwrap().is_none());
}
