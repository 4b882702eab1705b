//! Blocks whose messages run before their turn do and count what they would have.

use std::collections::HashMap;

use bitcoin::absolute::LockTime;
use bitcoin::block::{Header, Version as BlockVersion};
use bitcoin::hashes::Hash as _;
use bitcoin::transaction::Version;
use bitcoin::{
    Amount, Block, BlockHash, CompactTarget, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxMerkleNode, TxOut,
    Txid, Witness,
};
use paraffin_primitives::{AlkaneId, Amount as Units};
use paraffin_testkit::Random;

use super::*;
use crate::codec::{ALKANES_PROTOCOL, Cellpack, Edict, Protostone, Runestone, encode_protostones, gzip};
use crate::{StateError, TraceEvent, TraceStatus};

const GENESIS: AlkaneId = AlkaneId { block: 2, tx: 0 };
const COUNTER: AlkaneId = AlkaneId { block: 2, tx: 1 };
const FREE_MINT: AlkaneId = AlkaneId { block: 2, tx: 2 };
const PROBE: AlkaneId = AlkaneId { block: 4, tx: 3 };

#[derive(Default, Clone)]
struct Memory(HashMap<StateKey, Vec<u8>>);

impl StateReader for Memory {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.get(key).cloned())
    }
}

fn wasm(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../contracts/wasm/{name}.wasm", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn state() -> Memory {
    let mut state = Memory::default();
    for (id, name) in [(COUNTER, "counter"), (FREE_MINT, "free-mint"), (PROBE, "probe")] {
        state.0.insert(StateKey::Code(id), gzip(&wasm(name)));
    }
    state.0.insert(StateKey::SeenGenesis, vec![1]);
    state.0.insert(StateKey::Sequence, 3u128.to_le_bytes().to_vec());
    state
}

fn engine(parameters: Parameters, threads: usize) -> NativeEngine {
    let codes = [
        (GENESIS, "genesis-token"),
        (AlkaneId { block: 32, tx: 0 }, "wrapped-bitcoin"),
        (AlkaneId { block: 32, tx: 1 }, "auth-token"),
    ];
    let builtins = Builtins::given(codes.map(|(id, name)| (id, wasm(name))));
    NativeEngine::new(parameters.network, Arc::new(builtins), Arc::new(CodeCache::default()))
        .with_parameters(parameters)
        .with_speculation_of(threads, 2)
}

/// An engine that makes every attempt that can be made, whatever its threads do.
fn eager(parameters: Parameters, threads: usize) -> NativeEngine {
    let mut engine = engine(parameters, threads);
    engine.speculating.is_eager = true;
    engine
}

fn spend(previous_output: OutPoint) -> TxIn {
    TxIn { previous_output, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness: Witness::new() }
}

fn output(number: u64) -> TxOut {
    let mut script = vec![0x51, 0x20];
    script.extend_from_slice(&[0; 24]);
    script.extend_from_slice(&number.to_be_bytes());
    TxOut { value: Amount::from_sat(546), script_pubkey: ScriptBuf::from_bytes(script) }
}

fn transaction(input: Vec<TxIn>, mut output: Vec<TxOut>, stones: &[Protostone]) -> Transaction {
    if !stones.is_empty() {
        let runestone = Runestone { protocol: encode_protostones(stones).unwrap(), ..Runestone::default() };
        output.push(TxOut { value: Amount::ZERO, script_pubkey: runestone.encode(output.len() + 1).unwrap() });
    }
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input, output }
}

fn connected(height: Height, mut txdata: Vec<Transaction>) -> ConnectedBlock {
    let mut coinbase = transaction(vec![spend(OutPoint::null())], vec![output(u64::MAX)], &[]);
    coinbase.input[0].script_sig = ScriptBuf::builder().push_int(i64::from(height)).push_int(7).into_script();
    txdata.insert(0, coinbase);
    let header = Header {
        version: BlockVersion::TWO,
        prev_blockhash: BlockHash::all_zeros(),
        merkle_root: TxMerkleNode::all_zeros(),
        time: height,
        bits: CompactTarget::from_consensus(0x207f_ffff),
        nonce: 0,
    };
    ConnectedBlock::new(height, Block { header, txdata })
}

/// Calls that make series: some read and write, some ask for what is only known in their turn, some fail. One loops until its fuel is burnt, which takes
/// too long where a message can have the fuel of its whole block.
fn calls(network: Network) -> Vec<(AlkaneId, Vec<u128>)> {
    let mut calls = vec![(GENESIS, vec![77]), (COUNTER, vec![1, 5]), (COUNTER, vec![2]), (FREE_MINT, vec![77])];
    // Of the probe: context, transaction, block, sequence, fuel, height; balance of the genesis token; a value that never changes, one that is
    // loaded, one that is stored and loaded, many; calls; amounts that are minted, kept and halved; memory that grows; a failure.
    let asked: [&[u128]; 7] = [&[10], &[11], &[12], &[13], &[14], &[15], &[16, 4, 3, 2, 0]];
    let stored: [&[u128]; 4] = [&[30, 1, 2], &[31, 1], &[32, 3, 4], &[34, 20, 100]];
    let others: [&[u128]; 8] = [&[40, 2, 1, 1, 5], &[42, 2, 1, 2], &[60, 9], &[62], &[63], &[83], &[82], &[85, 0]];
    let endless: &[&[u128]] = if network == Network::Mainnet { &[] } else { &[&[80]] };
    let operations = asked.iter().chain(&stored).chain(&others).chain(endless);
    calls.extend(operations.map(|inputs| (PROBE, inputs.to_vec())));
    calls
}

/// A chain of blocks in which few calls are made by many transactions, which spend each other's outputs, between transfers, calls of
/// another kind, several in one transaction, and transactions that are void.
fn chain(random: &mut Random, network: Network, from: Height, blocks: u32) -> Vec<ConnectedBlock> {
    let calls = calls(network);
    let mut unspent: Vec<OutPoint> = Vec::new();
    let mut number = 0;
    (from..from + blocks)
        .map(|height| {
            let common: Vec<_> =
                (0..=random.below(2)).map(|_| &calls[random.below(calls.len() as u64) as usize]).collect();
            let transactions = (0..4 + random.below(24)).map(|_| {
                number += 1;
                let inputs = (0..=random.below(5) / 4).map(|_| match unspent.len() as u64 {
                    len if len > 0 && random.below(4) > 0 => {
                        spend(unspent.swap_remove((len - 1 - random.below(len.min(3))) as usize))
                    }
                    _ => spend(OutPoint { txid: Txid::from_byte_array([number as u8; 32]), vout: number as u32 }),
                });
                let inputs: Vec<TxIn> = inputs.collect();
                let kind = random.below(20);
                let (target, words) = if kind < 14 {
                    common[random.below(common.len() as u64) as usize]
                } else {
                    &calls[random.below(calls.len() as u64) as usize]
                };
                let message = Protostone { pointer: Some(random.below(2) as u32), ..message(*target, words) };
                let edict =
                    Edict { id: GENESIS, amount: Units(random.below(1 << 30).into()), output: random.below(2).into() };
                let transfer = Protostone { message: Vec::new(), edicts: vec![edict], ..message.clone() };
                let stones = match kind {
                    0..16 => vec![message],
                    16 => vec![message.clone(), message],
                    17 => vec![transfer, message],
                    18 => vec![Protostone { pointer: Some(99), ..message }],
                    _ => vec![transfer],
                };
                let made = transaction(inputs, vec![output(number), output(number + 1)], &stones);
                let txid = made.compute_txid();
                unspent.extend([0, 1].map(|vout| OutPoint { txid, vout }));
                made
            });
            let transactions: Vec<_> = transactions.collect();
            connected(height, transactions)
        })
        .collect()
}

/// Runs a chain with and without threads; returns attempts that were taken and missed, and messages that succeeded.
fn compare(seed: u64, parameters: Parameters, from: Height, blocks: u32, threads: usize) -> (u64, u64, usize) {
    let (mut alone, mut ahead) = (engine(parameters, 0), eager(parameters, threads));
    let mut state = state();
    let mut succeeded = 0;
    for block in chain(&mut Random(seed), parameters.network, from, blocks) {
        let height = block.id.height;
        let expected = alone.run_block(height, &block, &state).unwrap();
        let effects = ahead.run_block(height, &block, &state).unwrap();
        assert_eq!(effects, expected, "seed {seed}, height {height}");
        assert_eq!(ahead.counted, alone.counted, "seed {seed}, height {height}");
        let ends = expected.traces.iter().filter_map(|(_, trace)| trace.events.last());
        succeeded += ends.filter(|end| matches!(end, TraceEvent::Exit { status: TraceStatus::Success, .. })).count();
        state.0.extend(expected.writes);
    }
    #[cfg(feature = "machine-code")]
    for name in ["genesis-token", "counter", "free-mint", "probe"] {
        let counts = machine_code(&ahead, name).machine.counts();
        assert!(!counts.is_refused, "seed {seed}, {name}: {counts:?}");
    }
    let (taken, missed) = ahead.speculation_counts();
    (taken, missed, succeeded)
}

/// A contract as the engine runs it.
#[cfg(feature = "machine-code")]
fn machine_code(engine: &NativeEngine, name: &str) -> Arc<crate::vm::Compiled> {
    engine.codes.compile(&crate::vm::Code::new(wasm(name))).unwrap()
}

#[cfg(feature = "machine-code")]
#[test]
fn attempts_are_made_as_machine_code() {
    let parameters = Parameters::of(Network::Regtest);
    let kinds: [(_, _, &[u128]); 4] = [
        ("counter", COUNTER, &[1, 5]),
        ("probe", PROBE, &[34, 20, 100]),
        ("probe", PROBE, &[31, 1]),
        ("probe", PROBE, &[60, 9]),
    ];
    for (name, target, inputs) in kinds {
        let block = messages(10, std::iter::repeat_n(message(target, inputs), 40));
        let expected = engine(parameters, 0).run_block(10, &block, &state()).unwrap();
        let mut ahead = eager(parameters, 0);
        assert_eq!(ahead.run_block(10, &block, &state()).unwrap(), expected, "{name}");
        let counts = machine_code(&ahead, name).machine.counts();
        assert!(counts.checked >= 15 && counts.failures == 0 && !counts.is_refused, "{name}: {counts:?}");
        let (taken, missed) = ahead.speculation_counts();
        assert!(taken >= 30 && missed <= 1, "{name}: {taken} attempts taken, {missed} missed");
    }
}

/// The interpreter runs beside, finds the difference, and its result is the one that counts.
#[cfg(feature = "machine-code")]
#[test]
fn machine_code_that_does_something_else_is_found_and_not_used_again() {
    let parameters = Parameters::of(Network::Regtest);
    let block = messages(10, std::iter::repeat_n(message(COUNTER, &[1, 5]), 40));
    let expected = engine(parameters, 0).run_block(10, &block, &state()).unwrap();
    // Every other attempt is made by both, so that the first is: it is found before one is taken.
    let mut ahead = eager(parameters, 0);
    let compiled = machine_code(&ahead, "counter");
    compiled.machine.set_dearer(&compiled);
    assert_eq!(ahead.run_block(10, &block, &state()).unwrap(), expected);
    assert!(compiled.machine.counts().is_refused);
}

#[test]
fn random_blocks_have_the_same_effects_work_and_fuel_with_other_threads_ahead() {
    let rounds = if std::env::var_os("PARAFFIN_LONG").is_some() { 400 } else { 12 };
    let (mut taken, mut missed, mut succeeded) = (0, 0, 0);
    for seed in 0..rounds {
        let threads = seed as usize % 4;
        let mainnet = seed % 2 == 0;
        let parameters = Parameters::of(if mainnet { Network::Mainnet } else { Network::Regtest });
        // So little work beyond each transaction's own that it can end within the block.
        let block_work = [40_000_000, parameters.block_work][usize::from(seed % 3 > 0)];
        let counts =
            compare(seed, Parameters { block_work, ..parameters }, if mainnet { 890_000 } else { 10 }, 12, threads);
        taken += counts.0;
        missed += counts.1;
        succeeded += counts.2;
    }
    assert!(taken > 20 * rounds && missed > 0, "{taken} attempts taken, {missed} missed");
    assert!(succeeded > 50 * rounds as usize, "{succeeded} messages succeeded");
}

fn message(target: AlkaneId, inputs: &[u128]) -> Protostone {
    Protostone {
        protocol_tag: ALKANES_PROTOCOL,
        message: Cellpack { target, inputs: inputs.to_vec() }.encode(),
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    }
}

/// One message in each transaction.
fn messages(height: Height, messages: impl IntoIterator<Item = Protostone>) -> ConnectedBlock {
    let transactions = (0..).zip(messages).map(|(vout, message)| {
        let input = spend(OutPoint { txid: Txid::from_byte_array([9; 32]), vout });
        transaction(vec![input], vec![output(vout.into())], &[message])
    });
    connected(height, transactions.collect())
}

/// With more fuel a larger table is granted, and the contract sees it.
#[test]
fn an_attempt_that_was_refused_a_larger_table_is_not_taken() {
    const GROWING: AlkaneId = AlkaneId { block: 2, tx: 1 };
    const HEIGHT: Height = 890_000;
    const SAME: usize = 5;
    let code = |elements: u64| {
        let text = format!(
            r#"(module (memory (export "memory") 1) (table $table 0 funcref)
                (data (i32.const 12) "\21")
                (data (i32.const 32) "\01\00\00\00\01\00\00\00r\04\00\00\00")
                (func (export "__execute") (result i32)
                    (i32.store (i32.const 45) (table.grow $table (ref.null func) (i32.const {elements})))
                    (i32.const 16)))"#,
        );
        gzip(&wat::parse_str(text).unwrap())
    };
    let others = (0..22).map(|number| message(PROBE, &[2, number]));
    let block = messages(HEIGHT, std::iter::repeat_n(message(GROWING, &[0]), SAME).chain(others));
    let parameters = Parameters::of(Network::Mainnet);
    let mut state = state();
    let mut run = |mut engine: NativeEngine, elements| {
        state.0.insert(StateKey::Code(GROWING), code(elements));
        engine.run_block(HEIGHT, &block, &state).unwrap()
    };
    // Each share of the fuel is larger than the one before.
    let fuel = |effects: &BlockEffects, index: usize| match effects.traces[index].1.events[0] {
        TraceEvent::Enter { fuel, .. } => fuel,
        _ => panic!("a message that does not begin"),
    };
    let measured = run(engine(parameters, 0), 1);
    let elements = 4 * (fuel(&measured, SAME - 2) + fuel(&measured, SAME - 1));
    let stored = |effects: &BlockEffects, index: usize| match &effects.traces[index].1.events[..] {
        [.., TraceEvent::Exit { response, .. }] => response.storage[0].1.clone(),
        events => panic!("{events:?}"),
    };
    let expected = run(engine(parameters, 0), elements);
    assert_eq!(stored(&expected, SAME - 2), [255; 4]);
    assert_eq!(stored(&expected, SAME - 1), [0; 4], "the last one has the fuel for it");
    assert_eq!(run(eager(parameters, 0), elements), expected);
}

#[test]
fn an_attempt_is_not_taken_where_its_message_would_do_too_much() {
    let of = |block_work| Parameters { block_work, ..Parameters::of(Network::Mainnet) };
    let block = messages(890_000, std::iter::repeat_n(message(PROBE, &[34, 1_500, 0]), 16));
    let run = |mut engine: NativeEngine| (engine.run_block(890_000, &block, &state()).unwrap(), engine);
    // Each message takes a little more than the share of its transaction. What the block has beyond is enough for three of them.
    let (_, measured) = run(engine(of(crate::BLOCK_WORK), 0));
    let block_work = measured.counted[1..4].iter().map(|(work, _)| work - crate::TRANSACTION_WORK).sum();
    let (expected, _) = run(engine(of(block_work), 0));
    let ends = expected.traces.iter().filter_map(|(_, trace)| trace.events.last());
    let succeeded = ends.filter(|end| matches!(end, TraceEvent::Exit { status: TraceStatus::Success, .. })).count();
    assert_eq!(succeeded, 3);
    assert_eq!(run(eager(of(block_work), 0)).0, expected);
    let (_, enough) = run(eager(of(crate::BLOCK_WORK), 0));
    let (taken, missed) = enough.speculation_counts();
    assert!(taken > 5 && missed == 0, "{taken} attempts taken, {missed} missed");
}

/// Each job has a copy of what comes into its message.
#[test]
fn messages_into_which_very_many_alkanes_come_run_in_their_turn() {
    let counts = |alkanes: u128| {
        let held = OutPoint { txid: Txid::from_byte_array([8; 32]), vout: 0 };
        let mut sheet = Sheet::new();
        (0..alkanes).for_each(|tx| sheet.set(AlkaneId { block: 2, tx: 100 + tx }, 5));
        let mut saved = crate::SavedSheet::decode(&[]).unwrap();
        saved.append(&sheet);
        let mut state = state();
        state.0.insert(StateKey::Sheet(held), saved.encode());
        // Each mints, and gives what came in to the next one.
        let mut previous = held;
        let chain = (0..12).map(|number| {
            let made = transaction(vec![spend(previous)], vec![output(number)], &[message(PROBE, &[60, 0])]);
            previous = OutPoint { txid: made.compute_txid(), vout: 0 };
            made
        });
        let block = connected(10, chain.collect());
        let parameters = Parameters::of(Network::Regtest);
        let expected = engine(parameters, 0).run_block(10, &block, &state).unwrap();
        let mut ahead = eager(parameters, 0);
        assert_eq!(ahead.run_block(10, &block, &state).unwrap(), expected);
        ahead.speculation_counts()
    };
    assert_eq!(counts(62), (9, 0));
    assert_eq!(counts(65), (0, 0));
}
