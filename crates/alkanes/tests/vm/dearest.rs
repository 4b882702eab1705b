//! Blocks of the dearest messages that fuel allows: each ends, and what comes behind is run as ever (decision 0038).

use std::sync::Arc;
use std::time::{Duration, Instant};

use bitcoin::{Amount, Block, ScriptBuf, TxOut};
use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::{
    BLOCK_WORK, BlockEffects, CodeCache, Engine, NativeEngine, Parameters, StateKey, TraceEvent, TraceStatus,
    handle_message,
};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};

use crate::stage::{Stage, answering, contract, id, module, module_text, transaction, wat};

/// A contract that does much for little fuel.
struct Dear {
    name: &'static str,
    code: Vec<u8>,
    /// Contracts that it calls, from [`CALLEE`] on.
    callees: Vec<Vec<u8>>,
}

const DEAR: AlkaneId = id(2, 1);
const INNOCENT: AlkaneId = id(2, 2);
const CALLEE: AlkaneId = id(2, 3);

/// Prepares a call to [`CALLEE`] with nothing: the call itself is [`CALL`].
const PREPARE: &str = "(i32.store (i32.const 1996) (i32.const 32)) (i32.store (i32.const 2000) (i32.const 2))
    (i32.store (i32.const 2016) (i32.const 3)) (i32.store (i32.const 2096) (i32.const 16))
    (i32.store (i32.const 2196) (i32.const 4))";
const CALL: &str = "(drop (call $call (i32.const 2000) (i32.const 2100) (i32.const 2200) (i64.const 0)))";

fn forever(before: &str, again: &str) -> Vec<u8> {
    answering(&format!("{before} (loop {again} (br 0))"))
}

fn dear() -> Vec<Dear> {
    let plain = |name, code| Dear { name, code, callees: Vec::new() };
    let calling = |name, callee| Dear { name, code: forever(PREPARE, CALL), callees: vec![callee] };
    let pages: String =
        (16..8192).flat_map(|page| [format!("(i32.store8 (i32.const {}) (i32.const 1))", page * 4096)]).collect();
    let counting = |again: &str| {
        module(&format!(
            r#"(func (export "__execute") (result i32) (local $i i32) {PREPARE}
            (i32.store (i32.const 2296) (i32.const 32)) (i32.store (i32.const 2396) (i32.const 32))
            (loop (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (i32.store (i32.const 2300) (local.get $i)) {again} (br 0)) (i32.const 1028))"#
        ))
    };
    // Three million units of fuel, and an answer that stores what nobody can pay.
    let unpaid = module(
        r#"(func (export "__execute") (result i32) (local $i i32)
            (loop (br_if 0 (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 700000))))
            (i32.store (i32.const 9996) (i32.const 200032)) (i32.store (i32.const 10016) (i32.const 1))
            (i32.store (i32.const 10024) (i32.const 200000)) (i32.const 10000))"#,
    );
    let returning = module(
        r#"(func (export "__execute") (result i32) (i32.store (i32.const 9996) (i32.const 33500000)) (i32.const 10000))"#,
    );
    // Amounts of nothing of 200,000 alkanes.
    let parcel = format!(
        r#"(func (export "__execute") (result i32) (local $i i32) {PREPARE}
        (i32.store (i32.const 99996) (i32.const 9600016)) (i32.store (i32.const 100000) (i32.const 200000))
        (loop (i32.store (i32.add (i32.const 100032) (i32.mul (local.get $i) (i32.const 48))) (local.get $i))
            (br_if 0 (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 200000))))
        (loop (drop (call $call (i32.const 2000) (i32.const 100000) (i32.const 2200) (i64.const 0))) (br 0))
        (i32.const 1028))"#
    );
    // A map of 2,000,000 pairs in no order, which nobody pays for.
    let pairs = format!(
        r#"(func (export "__execute") (result i32) (local $i i32) {PREPARE}
        (i32.store (i32.const 99996) (i32.const 2400004)) (i32.store (i32.const 100000) (i32.const 200000))
        (loop (i32.store (i32.add (i32.const 100004) (i32.mul (local.get $i) (i32.const 12))) (i32.const 4))
            (i32.store (i32.add (i32.const 100008) (i32.mul (local.get $i) (i32.const 12)))
                (i32.mul (local.get $i) (i32.const 0x9e3779b1)))
            (br_if 0 (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 200000))))
        (loop (drop (call $call (i32.const 2000) (i32.const 2100) (i32.const 100000) (i64.const 0))) (br 0))
        (i32.const 1028))"#
    );
    let small_memory = r#"(func (export "__execute") (result i32) (i32.const 1028)) (memory 1)"#;
    let functions = "(func)".repeat(200_000);
    let table = r#"(table 10000000 funcref) (func (export "__execute") (result i32) (i32.const 1028))"#;
    vec![
        plain("the block is loaded", forever("", "(call $load_block (i32.const 3004))")),
        plain("the transaction is loaded", forever("", "(call $load_transaction (i32.const 3004))")),
        plain("memory is filled", forever("", "(memory.fill (i32.const 65536) (i32.const 1) (i32.const 33000000))")),
        plain(
            "memory is copied",
            forever("", "(memory.copy (i32.const 65536) (i32.const 16842752) (i32.const 16700000))"),
        ),
        plain("numbers are divided", forever("", "(drop (i64.rem_u (i64.const -3) (i64.load (i32.const 1024))))")),
        plain(
            "nothing is logged",
            forever("(i32.store (i32.const 2996) (i32.const 30000000))", "(call $log (i32.const 3000))"),
        ),
        plain("it aborts", forever("", "(call $abort (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0))")),
        plain("storage is looked for", counting("(drop (call $request_storage (i32.const 2300)))")),
        plain(
            "balances are looked for",
            counting("(call $balance (i32.const 2300) (i32.const 2400) (i32.const 2500))"),
        ),
        Dear { name: "amounts of nothing are moved", code: module(&parcel), callees: vec![answering("")] },
        plain("a map is sorted", module(&pairs)),
        plain("block answers are asked for", {
            let prepare = PREPARE.replace("(i32.const 2000) (i32.const 2)", "(i32.const 2000) (i32.const 800000000)");
            forever(&prepare.replace("(i32.const 2016) (i32.const 3)", "(i32.const 2016) (i32.const 1)"), CALL)
        }),
        calling("contracts are started", answering("")),
        calling("pages are touched", answering(&pages)),
        calling("nobody pays for what is burnt", unpaid),
        calling("much is returned", returning),
        calling("memories are grown by hand", wat(&module_text("(memory (export \"memory\") 1)", small_memory))),
        calling(
            "functions are declared",
            module(&format!(r#"{functions} (func (export "__execute") (result i32) (i32.const 1028))"#)),
        ),
        calling("tables are filled", module(table)),
        calling("code unpacks to much", vec![0; 60 << 20]),
        calling("there is no such contract", Vec::new()),
    ]
}

impl Dear {
    /// A chain with the contract, what it calls, and one that does no harm.
    fn stage(&self, block_work: u64) -> Stage {
        let mut stage = Stage::new();
        stage.parameters = Parameters { block_work, ..Parameters::of(Network::Regtest) };
        stage.put(StateKey::SeenGenesis, vec![1]);
        stage.put(StateKey::Sequence, 1000_u128.to_le_bytes());
        stage.put_code(DEAR, &self.code);
        stage.put_code(INNOCENT, &contract("probe"));
        for (callee, tx) in self.callees.iter().zip(CALLEE.tx..) {
            if !callee.is_empty() {
                stage.put_code(id(CALLEE.block, tx), callee);
            }
        }
        stage
    }
}

/// A block of `count` messages to [`DEAR`] and one to [`INNOCENT`], and of one large output, for what copies blocks.
fn block_of(stage: &Stage, count: usize) -> ConnectedBlock {
    let call = |target, number: u32| {
        let mut call = transaction(&[&Cellpack { target, inputs: vec![1] }], None);
        call.input[0].previous_output.vout = number;
        call
    };
    let Block { header, mut txdata } = stage.block(&[]);
    txdata.truncate(1);
    txdata[0].output.push(TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::from_bytes(vec![0x6a; 300_000]) });
    txdata.extend((0..count).map(|number| call(DEAR, number as u32)));
    txdata.push(call(INNOCENT, u32::MAX));
    ConnectedBlock::new(100, Block { header, txdata })
}

fn run(stage: &Stage, block: &ConnectedBlock) -> (BlockEffects, Duration) {
    let mut engine = NativeEngine::new(Network::Regtest, Arc::default(), Arc::new(CodeCache::default()))
        .with_parameters(stage.parameters)
        .with_contracts(handle_message, |_| Ok(Vec::new()));
    let begun = Instant::now();
    let effects = engine.run_block(block.id.height, block, &stage.state).unwrap();
    (effects, begun.elapsed())
}

/// Whether the message of the last transaction succeeded.
fn innocent_succeeded(effects: &BlockEffects, block: &ConnectedBlock) -> bool {
    let txid = *block.txids.last().unwrap();
    effects.traces.iter().any(|(outpoint, trace)| {
        outpoint.txid == txid
            && matches!(trace.events.last(), Some(TraceEvent::Exit { status: TraceStatus::Success, .. }))
    })
}

/// Why the first message failed.
fn revert_of(effects: &BlockEffects, block: &ConnectedBlock) -> String {
    let trace = effects.traces.iter().find(|(outpoint, _)| outpoint.txid == block.txids[1]);
    match trace.and_then(|(_, trace)| trace.events.last()) {
        Some(TraceEvent::Exit { status: TraceStatus::Revert, response, .. }) => {
            String::from_utf8(response.data[4..].to_vec()).unwrap()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_costs_no_fuel_ends_where_its_work_does_and_others_are_run_as_ever() {
    for dear in dear() {
        let stage = dear.stage(0);
        let block = block_of(&stage, 3);
        let (effects, took) = run(&stage, &block);
        assert!(innocent_succeeded(&effects, &block), "{}", dear.name);
        // Three shares of 10 ms and three times 3,500,000 units of fuel.
        assert!(took < Duration::from_secs(20), "{} took {took:?}", dear.name);
        assert_eq!(run(&stage, &block).0, effects, "{}", dear.name);
    }
}

#[test]
fn a_message_that_needs_too_much_work_fails_and_its_trace_says_so() {
    let dear = dear().into_iter().find(|dear| dear.name == "contracts are started").unwrap();
    let stage = dear.stage(0);
    let block = block_of(&stage, 1);
    let text = revert_of(&run(&stage, &block).0, &block);
    assert_eq!(
        text,
        "the message needs more work that no fuel pays for than is left for its transaction and its block"
    );
}

#[test]
fn changes_that_do_not_fit_the_memory_of_the_reference_fail_their_message() {
    let dear = dear().into_iter().find(|dear| dear.name == "amounts of nothing are moved").unwrap();
    let mut stage = dear.stage(BLOCK_WORK);
    stage.parameters.state_bytes = 4 << 20;
    let block = block_of(&stage, 1);
    let (effects, _) = run(&stage, &block);
    assert_eq!(
        revert_of(&effects, &block),
        "the messages of the block change more than fits the memory of the reference engine"
    );
    assert!(innocent_succeeded(&effects, &block), "what failed takes no memory any more");
}

/// Transactions of the fullest block, and how many of them are run to learn what one takes.
const FULL: usize = 9_000;
const SAMPLE: usize = 300;

/// Work beyond the shares that is done to learn what a unit takes.
const SAMPLE_WORK: u64 = BLOCK_WORK / 20;

/// Run by `cargo xtask hostile`: takes some ten minutes. Two blocks of each kind tell what a transaction with its share takes, and what the
/// work beyond the shares takes, of which a block has a fixed amount; `PARAFFIN_DEAREST` names kinds that are run in full instead.
#[test]
#[ignore = "a long run: cargo xtask hostile"]
fn a_full_block_of_the_dearest_messages_takes_less_than_600_seconds() {
    let in_full = std::env::var("PARAFFIN_DEAREST").ok();
    let timed = |dear: &Dear, count: usize, pool: u64| {
        let stage = dear.stage(pool);
        let block = block_of(&stage, count);
        let (effects, took) = run(&stage, &block);
        println!("{},{count},{pool},{:.3}", dear.name, took.as_secs_f64());
        assert!(innocent_succeeded(&effects, &block), "{}", dear.name);
        took
    };
    for dear in dear() {
        let took = match &in_full {
            Some(only) if dear.name.contains(only.as_str()) => timed(&dear, FULL, BLOCK_WORK),
            Some(_) => continue,
            None => {
                let shares = timed(&dear, SAMPLE, 0) * (FULL / SAMPLE) as u32;
                let took = shares + timed(&dear, 1, SAMPLE_WORK) * (BLOCK_WORK / SAMPLE_WORK) as u32;
                println!("{} (reckoned),{FULL},{BLOCK_WORK},{:.3}", dear.name, took.as_secs_f64());
                took
            }
        };
        assert!(took < Duration::from_secs(600), "{} takes {took:?}", dear.name);
    }
}
