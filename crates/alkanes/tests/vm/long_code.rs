//! Long code counts against the memory of the messages, whether nothing else needs it or a caller holds some (decision 0011).

use std::sync::Arc;

use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::{
    CodeCache, Engine, NativeEngine, Parameters, TraceEvent, TraceStatus, Transfer, handle_message,
};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Network};

use crate::stage::{Stage, answering, id, module, transaction};

const LONG: AlkaneId = id(2, 1);
const CALLER: AlkaneId = id(2, 2);
const OUT_OF_MEMORY: &str =
    "a message needs more memory for its contracts than the reference engine has, on which that halts";

/// How a message to `target` ends in a block whose messages have `message_bytes`; a failure before the entry has no trace.
fn ending(stage: &Stage, target: AlkaneId, message_bytes: u64) -> Result<(), String> {
    let parameters = Parameters { message_bytes, ..Parameters::of(Network::Regtest) };
    let mut engine = NativeEngine::new(Network::Regtest, Arc::default(), Arc::new(CodeCache::default()))
        .with_parameters(parameters)
        .with_contracts(handle_message, |_| Ok::<Vec<Transfer>, _>(Vec::new()));
    let mut block = stage.block(&[]);
    block.txdata[1] = transaction(&[&Cellpack { target, inputs: vec![1] }], None);
    let block = ConnectedBlock::new(100, block);
    let effects = engine.run_block(100, &block, &stage.state).unwrap();
    match effects.traces.first().map(|(_, trace)| trace.events.last()) {
        Some(Some(TraceEvent::Exit { status: TraceStatus::Success, .. })) => Ok(()),
        Some(Some(TraceEvent::Exit { response, .. })) => Err(String::from_utf8(response.data[4..].to_vec()).unwrap()),
        None => Err(String::new()),
        other => panic!("{other:?}"),
    }
}

/// A contract of four million bytes of instructions, 40 MiB while it is compiled, and one that calls it and holds 32 MiB.
fn stage() -> Stage {
    let stage = Stage::new();
    stage.put(paraffin_alkanes::StateKey::SeenGenesis, vec![1]);
    stage.put(paraffin_alkanes::StateKey::Sequence, 1000_u128.to_le_bytes());
    let body = "unreachable ".repeat(4 << 20);
    stage.put_code(LONG, &answering(&format!("(if (i32.const 0) (then {body}))")));
    let call = r#"(func (export "__execute") (result i32)
        (i32.store (i32.const 1996) (i32.const 32)) (i32.store (i32.const 2000) (i32.const 2))
        (i32.store (i32.const 2016) (i32.const 1)) (i32.store (i32.const 2096) (i32.const 16))
        (i32.store (i32.const 2196) (i32.const 4))
        (drop (call $call (i32.const 2000) (i32.const 2100) (i32.const 2200) (i64.const 10000)))
        (i32.const 1028))"#;
    stage.put_code(CALLER, &module(call));
    stage
}

#[test]
fn what_compiling_takes_counts_beside_the_instances_that_are_running() {
    let stage = stage();
    assert_eq!(ending(&stage, LONG, 64 << 20), Ok(()));
    assert_eq!(ending(&stage, LONG, 36 << 20), Err(String::new()));
    assert_eq!(ending(&stage, CALLER, 64 << 20), Err(OUT_OF_MEMORY.to_owned()));
    assert_eq!(ending(&stage, CALLER, 128 << 20), Ok(()));
}

#[test]
fn code_that_unpacks_to_more_than_a_quarter_of_the_memory_is_not_unpacked() {
    let stage = Stage::new();
    stage.put(paraffin_alkanes::StateKey::SeenGenesis, vec![1]);
    stage.put(paraffin_alkanes::StateKey::Sequence, 1000_u128.to_le_bytes());
    // A section of its own that means nothing, of 20 MiB.
    let len = 20_u32 << 20;
    let mut code = answering("");
    code.push(0);
    code.extend([0, 7, 14].map(|shift| (len >> shift) as u8 | 0x80));
    code.extend([(len >> 21) as u8, 1, b'x']);
    code.resize(code.len() + len as usize - 2, 0);
    stage.put_code(LONG, &code);
    assert_eq!(ending(&stage, LONG, 96 << 20), Ok(()));
    assert_eq!(ending(&stage, LONG, 72 << 20), Err(String::new()));
}
