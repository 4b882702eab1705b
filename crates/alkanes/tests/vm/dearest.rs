//! Blocks of the dearest messages that fuel allows: each ends, and later messages run as usual (decision 0038).

use std::sync::Arc;
use std::time::{Duration, Instant};

use bitcoin::{Amount, Block, ScriptBuf, Transaction, TxOut};
use paraffin_alkanes::codec::{Cellpack, gzip};
use paraffin_alkanes::{
    BLOCK_WORK, BlockEffects, CodeCache, Engine, NativeEngine, Parameters, StateKey, TraceEvent, TraceStatus,
    handle_message,
};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};

use crate::crowded::crowded;
use crate::dear::{CALLEE, CREATE, DEAR, Dear, INNOCENT, dear};
use crate::stage::{Stage, contract, id, transaction};

impl Dear {
    /// A chain with the contract, what it calls, and one that does no harm.
    fn stage(&self, block_work: u64) -> Stage {
        let stage = stage(block_work);
        stage.put_code(DEAR, &self.code);
        for (callee, tx) in self.callees.iter().zip(CALLEE.tx..) {
            if !callee.is_empty() {
                stage.put_code(id(CALLEE.block, tx), callee);
            }
        }
        stage
    }
}

/// A chain with a contract that does no harm.
fn stage(block_work: u64) -> Stage {
    let mut stage = Stage::new();
    stage.parameters = Parameters { block_work, ..Parameters::of(Network::Regtest) };
    stage.put(StateKey::SeenGenesis, vec![1]);
    stage.put(StateKey::Sequence, 1000_u128.to_le_bytes());
    stage.put_code(INNOCENT, &contract("probe"));
    stage
}

/// A chain with a contract that burns all fuel that there is.
fn crowded_stage(block_work: u64) -> Stage {
    let stage = stage(block_work);
    let burning = dear().into_iter().find(|dear| dear.name == "numbers are divided").unwrap();
    stage.put_code(DEAR, &burning.code);
    stage
}

/// A block of these transactions and a message to [`INNOCENT`].
fn block_with(stage: &Stage, transactions: impl IntoIterator<Item = Transaction>) -> ConnectedBlock {
    let Block { header, mut txdata } = stage.block(&[]);
    txdata.truncate(1);
    txdata.extend(transactions);
    txdata.push(call(INNOCENT, u32::MAX, None));
    ConnectedBlock::new(100, Block { header, txdata })
}

fn call(target: AlkaneId, number: u32, envelope: Option<&[u8]>) -> Transaction {
    let mut call = transaction(&[&Cellpack { target, inputs: vec![1] }], envelope);
    call.input[0].previous_output.vout = number;
    call
}

/// A block of `count` messages to [`DEAR`] and one to [`INNOCENT`], and of one large output, for what copies blocks.
fn block_of(stage: &Stage, dear: &Dear, count: usize) -> ConnectedBlock {
    let mut large = call(INNOCENT, u32::MAX - 1, None);
    large.output = vec![TxOut { value: Amount::ZERO, script_pubkey: ScriptBuf::from_bytes(vec![0x6a; 300_000]) }];
    let calls = (0..count as u32).map(|number| match dear.created {
        Some(code) => call(CREATE, number, Some(&gzip(&code(number)))),
        None => call(DEAR, number, None),
    });
    block_with(stage, calls.chain([large]))
}

fn run(stage: &Stage, block: &ConnectedBlock) -> (BlockEffects, Duration) {
    let mut engine = NativeEngine::new(Network::Regtest, Arc::default(), Arc::new(CodeCache::default()))
        .with_parameters(stage.parameters)
        .with_contracts(handle_message, |_| Ok(Vec::new()))
        .with_speculation();
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
        let block = block_of(&stage, &dear, 3);
        let (effects, took) = run(&stage, &block);
        assert!(innocent_succeeded(&effects, &block), "{}", dear.name);
        // Three shares of 10 ms and three times 3,500,000 units of fuel.
        assert!(took < Duration::from_secs(20), "{} took {took:?}", dear.name);
        assert_eq!(run(&stage, &block).0, effects, "{}", dear.name);
    }
}

#[test]
fn one_transaction_that_fills_its_block_ends_and_others_are_run_as_ever() {
    for crowded in crowded(30_000) {
        let stage = crowded_stage(0);
        let block = block_with(&stage, [crowded.transaction]);
        let (effects, took) = run(&stage, &block);
        assert!(innocent_succeeded(&effects, &block), "{}", crowded.name);
        assert!(took < Duration::from_secs(20), "{} took {took:?}", crowded.name);
    }
}

#[test]
fn a_message_that_needs_too_much_work_fails_and_its_trace_says_so() {
    let dear = dear().into_iter().find(|dear| dear.name == "contracts are started").unwrap();
    let stage = dear.stage(0);
    let block = block_of(&stage, &dear, 1);
    let text = revert_of(&run(&stage, &block).0, &block);
    assert_eq!(
        text,
        "the message needs more work that no fuel pays for than is left for its transaction and its block"
    );
}

#[test]
fn pages_are_counted_before_the_next_contract_is_called_and_not_when_all_have_ended() {
    let dear = dear().into_iter().find(|dear| dear.name == "pages are touched as deep as may be").unwrap();
    let stage = dear.stage(0);
    let block = block_of(&stage, &dear, 1);
    let (effects, _) = run(&stage, &block);
    let (_, trace) = effects.traces.iter().find(|(outpoint, _)| outpoint.txid == block.txids[1]).unwrap();
    let entered = trace.events.iter().filter(|event| matches!(event, TraceEvent::Enter { .. })).count();
    // The message, a contract that touches all pages with the share, and none below it.
    assert_eq!(entered, 2);
}

#[test]
fn changes_that_do_not_fit_the_memory_of_the_reference_fail_their_message() {
    let dear = dear().into_iter().find(|dear| dear.name == "amounts of nothing are moved").unwrap();
    let mut stage = dear.stage(BLOCK_WORK);
    stage.parameters.state_bytes = 4 << 20;
    let block = block_of(&stage, &dear, 1);
    let (effects, _) = run(&stage, &block);
    assert_eq!(
        revert_of(&effects, &block),
        "the messages of the block change more than fits the memory of the reference engine"
    );
    assert!(innocent_succeeded(&effects, &block), "what failed takes no memory any more");
}

/// Transactions of the fullest block, and in how many parts it is thought: one of them is run, with its part of the work.
const FULL: usize = 9_000;
const PARTS: usize = 30;

/// Bytes of the largest transaction, which is nearly all of its block.
const CROWDED_LEN_BYTES: usize = 990_000;

/// Most time that a block may take.
const LONGEST: Duration = Duration::from_secs(600);

/// Run by `cargo xtask hostile`: takes some ten minutes. A thirtieth of the fullest block of each kind shows what the whole
/// takes: as many transactions, and as much of the work beyond their shares. `PARAFFIN_DEAREST` names kinds that are run in full
/// instead.
#[test]
#[ignore = "a long run: cargo xtask hostile"]
fn a_full_block_of_the_dearest_messages_takes_less_than_600_seconds() {
    let in_full = std::env::var("PARAFFIN_DEAREST").ok();
    let timed = |dear: &Dear, parts: usize| {
        let (count, pool) = (FULL / parts, BLOCK_WORK / parts as u64);
        let stage = dear.stage(pool);
        let block = block_of(&stage, dear, count);
        let (effects, took) = run(&stage, &block);
        println!("{},{count},{pool},{:.3}", dear.name, took.as_secs_f64());
        if innocent_succeeded(&effects, &block) { Ok(took * parts as u32) } else { Err("stops others".to_owned()) }
    };
    let mut beyond = Vec::new();
    for dear in dear() {
        let took = match &in_full {
            Some(only) if dear.name.contains(only.as_str()) => timed(&dear, 1),
            Some(_) => continue,
            None => timed(&dear, PARTS),
        };
        if in_full.is_none()
            && let Ok(took) = took
        {
            println!("{} (reckoned),{FULL},{BLOCK_WORK},{:.3}", dear.name, took.as_secs_f64());
        }
        match took {
            Ok(took) if took < LONGEST => {}
            Ok(took) => beyond.push(format!("{}: {:.0} s", dear.name, took.as_secs_f64())),
            Err(why) => beyond.push(format!("{}: {why}", dear.name)),
        }
    }
    for crowded in crowded(CROWDED_LEN_BYTES) {
        if in_full.as_ref().is_some_and(|only| !crowded.name.contains(only.as_str())) {
            continue;
        }
        let stage = crowded_stage(BLOCK_WORK);
        let block = block_with(&stage, [crowded.transaction]);
        let (effects, took) = run(&stage, &block);
        println!("{} (one transaction),1,{BLOCK_WORK},{:.3}", crowded.name, took.as_secs_f64());
        if !innocent_succeeded(&effects, &block) {
            beyond.push(format!("{}: stops others", crowded.name));
        } else if took >= LONGEST {
            beyond.push(format!("{}: {:.0} s", crowded.name, took.as_secs_f64()));
        }
    }
    assert!(beyond.is_empty(), "beyond {LONGEST:?}:\n{}", beyond.join("\n"));
}
