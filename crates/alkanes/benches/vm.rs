//! What a call of a contract costs: a small one with a warm module, and 10,000 mixed ones against a machine that compiles at
//! every call and grows every memory by hand, as the reference does. Both in this process, in turns.
//!
//! Catches: a module that is compiled, unpacked or hashed at every call, a memory of 32 MiB that is zeroed by hand, a linker
//! or a state that grows dear. `cargo bench -p paraffin-alkanes --bench vm`; `--test` runs a short one. Prints one line of
//! JSON for each bar and fails when one is missed.
#![allow(missing_docs, dead_code, clippy::unwrap_used, clippy::cast_precision_loss)] // a bench stops at the first failure; it shares the tests' parts

#[path = "../tests/vm/stage.rs"]
mod stage;

use std::sync::Arc;
use std::time::Instant;

use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::{CodeCache, MessageEnd, Parameters, Sheet, World};
use paraffin_primitives::{AlkaneId, Network};
use stage::{Stage, contract, id, in_layers};

const SMALL_CALL_MS_MAX: f64 = 0.3;
const SPEEDUP_MIN: f64 = 20.0;

const PROBE: AlkaneId = id(4, 1);
const COUNTER: AlkaneId = id(4, 2);
const GENESIS: AlkaneId = id(4, 3);
const FACTORY: AlkaneId = id(4, 4);

fn main() {
    let short = std::env::args().any(|argument| argument == "--test");
    let (calls, compiled_calls) = if short { (200, 20) } else { (10_000, 400) };
    let stage = stage();

    let small = Cellpack { target: COUNTER, inputs: vec![2] };
    let block = stage.block(&[&small]);
    let mut world = stage.world(&block);
    run(&mut world, &small);
    let mut small_ms: Vec<f64> = (0..calls).map(|_| milliseconds(|| run(&mut world, &small))).collect();
    small_ms.sort_by(f64::total_cmp);
    let small_ms = small_ms[small_ms.len() / 2];

    let reference = Stage { codes: Arc::new(CodeCache::disabled()), ..self::stage() };
    let mixed = mixed();
    let all: Vec<_> = mixed.iter().collect();
    let block = stage.block(&all);
    let (mut kept, mut compiled) = (stage.world(&block), reference.world(&block));
    let (mut kept_ms, mut compiled_ms) = (0.0, 0.0);
    // In turns, so that a busy moment of the machine meets both.
    let turns = compiled_calls / mixed.len();
    for turn in 0..turns {
        compiled_ms += milliseconds(|| mixed.iter().for_each(|cellpack| run(&mut compiled, cellpack)));
        let begin = turn * calls / turns;
        let end = (turn + 1) * calls / turns;
        kept_ms += milliseconds(|| (begin..end).for_each(|call| run(&mut kept, &mixed[call % mixed.len()])));
    }
    let kept_ms = kept_ms / calls as f64;
    let compiled_ms = compiled_ms / (turns * mixed.len()) as f64;
    let speedup = compiled_ms / kept_ms;

    println!(
        r#"{{"bar":"contract call","value":{small_ms:.4},"at_most":{SMALL_CALL_MS_MAX},"how":"ms, median of {calls} calls of a view of the counter contract, module warm"}}"#
    );
    println!(
        r#"{{"bar":"vm","value":{speedup:.1},"at_least":{SPEEDUP_MIN},"kept_ms":{kept_ms:.4},"compiled_ms":{compiled_ms:.4},"how":"times as fast: {calls} mixed calls with kept modules against {} that compile and grow at every call"}}"#,
        turns * mixed.len()
    );
}

fn stage() -> Stage {
    let mut stage = Stage::new();
    // All messages are of one transaction, which has the fuel of the whole block.
    stage.parameters = Parameters::of(Network::Mainnet);
    stage.height = 960_000;
    for (contract_id, name) in
        [(PROBE, "probe"), (COUNTER, "counter"), (GENESIS, "genesis-token"), (FACTORY, "amm-factory")]
    {
        stage.put_code(contract_id, &contract(name));
    }
    stage
}

/// What a block of a busy chain holds: small views, writes, and calls of contracts by contracts.
fn mixed() -> Vec<Cellpack> {
    let calls: [(AlkaneId, &[u128]); 10] = [
        (COUNTER, &[1, 1]),
        (COUNTER, &[2]),
        (PROBE, &[1]),
        (PROBE, &[30, 1, 2]),
        (PROBE, &[31, 1]),
        (PROBE, &[40, 4, 2, 2, 1, 1]),
        (PROBE, &[42, 4, 3, 1, 99]),
        (GENESIS, &[99]),
        (GENESIS, &[101]),
        (FACTORY, &[4]),
    ];
    calls.iter().map(|(target, inputs)| Cellpack { target: *target, inputs: inputs.to_vec() }).collect()
}

fn run(world: &mut World<'_>, cellpack: &Cellpack) {
    let index = world.block.txdata.len() - 1;
    let end = in_layers(world, index, cellpack, &[], &Sheet::new()).unwrap();
    assert!(matches!(end, MessageEnd::Done { .. }), "{cellpack:?}: {:?}", world.traces.traces().last());
}

fn milliseconds(run: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    run();
    begun.elapsed().as_secs_f64() * 1000.0
}
