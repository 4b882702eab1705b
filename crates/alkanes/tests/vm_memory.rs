//! Contracts that want memory: what they get is bounded, and only what they touch is real.
//!
//! A program of its own, and one test at a time, because memory is measured for the whole process.
#![allow(missing_docs, dead_code, clippy::unwrap_used)] // shares the stage of the other tests of contracts

#[path = "vm/stage.rs"]
mod stage;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use paraffin_alkanes::codec::{append_varint, gzip};
use paraffin_alkanes::{Halt, MessageEnd, StateKey, TraceEvent, TraceStatus};

use stage::{SUBJECT, Stage, contract, id, module, wat};

static ALONE: Mutex<()> = Mutex::new(());

/// Keeps the other tests waiting.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes by which the process has been greater while `run` ran than before it.
fn taken<R>(run: impl FnOnce() -> R) -> (R, u64) {
    // Where the kernel forbids it, the peak is that of the whole program so far, which only makes the tests stricter.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before = status_bytes("VmRSS:");
    let result = run();
    (result, status_bytes("VmHWM:").saturating_sub(before))
}

fn status_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn millions_of_pairs_that_cost_nothing_to_name_are_not_kept() {
    let _alone = alone();
    // Four million pairs of nothing, 32 MiB that cost next to nothing to name.
    let pairs = r#"(func (export "__execute") (result i32)
        (i32.store (i32.const 0) (i32.const 33554428)) (i32.store (i32.const 20) (i32.const 4194300)) (i32.const 4))"#;
    let stage = Stage::with(&wat(&format!(r#"(module (memory (export "memory") 1) {pairs})"#)));
    let (ended, bytes) = taken(|| stage.message(&[]));
    assert_eq!(ended.response().storage, [(Vec::new(), Vec::new())]);
    assert!(bytes < 400 << 20, "{bytes}");
}

#[test]
fn a_bomb_of_packed_code_takes_little_more_than_it_unpacks_to() {
    let _alone = alone();
    let mut stage = Stage::with(&contract("probe"));
    stage.put(StateKey::Sequence, 5_u128.to_le_bytes());
    stage.envelope = Some(gzip(&vec![0; 80 << 20]));
    let (ended, bytes) = taken(|| stage.message_to(id(1, 0), &[1]));
    assert_eq!(ended.end, MessageEnd::Failed);
    assert!(bytes < 200 << 20, "{bytes}");
    // A contract that tries it again and again finds that it has been tried.
    let called = stage.message(&[40, 1, 0, 1, 1]);
    assert!(called.reverts()[0].contains("magic header not detected"), "{:?}", called.reverts());
    let (again, bytes) = taken(|| stage.message(&[40, 1, 0, 1, 1]));
    assert_eq!(again.reverts(), called.reverts());
    assert!(bytes < 32 << 20, "{bytes}");
    stage.envelope = Some(b"\x1f\x8b no gzip".to_vec());
    assert_eq!(stage.message_to(id(1, 0), &[1]).end, MessageEnd::Failed);
}

/// A module whose `__execute` is one body of nothing but nested blocks, as long as a body may be.
fn nested_blocks() -> Vec<u8> {
    let depth = 2_500_000;
    let mut body = vec![0];
    body.extend([0x02, 0x40].repeat(depth));
    body.extend([0x0b].repeat(depth));
    body.extend([0x41, 4, 0x0b]);
    let mut code =
        wat(r#"(module (memory (export "memory") 1) (func (export "__execute") (result i32) (i32.const 4)))"#);
    let section = code.windows(8).position(|window| window == [10, 6, 1, 4, 0, 0x41, 4, 0x0b]).unwrap();
    code.truncate(section);
    let mut content = vec![1];
    append_varint(body.len() as u128, &mut content);
    content.extend(body);
    code.push(10);
    append_varint(content.len() as u128, &mut code);
    code.extend(content);
    code
}

#[test]
fn a_body_of_nothing_but_nested_blocks_is_compiled_in_bounded_time_and_memory() {
    let _alone = alone();
    let code = nested_blocks();
    let stage = Stage::with(&code);
    let begun = Instant::now();
    let (ended, bytes) = taken(|| stage.message(&[]));
    assert!(begun.elapsed() < Duration::from_secs(60));
    assert_eq!(ended.revert(), "ALKANES: revert: failed to fill whole buffer");
    assert!(bytes < 1 << 30, "{bytes}");
}

#[test]
fn nested_calls_take_memory_only_as_they_touch_it() {
    let _alone = alone();
    let stage = Stage::with(&contract("probe"));
    let (ended, bytes) = taken(|| stage.message(&[45, 24]));
    assert_eq!(ended.data(), 24_u128.to_le_bytes());
    assert!(bytes < 64 << 20, "25 instances of 32 MiB each have taken {bytes} bytes");
}

/// A table is filled when it is made and costs no fuel, so twelve of them would take a gigabyte of real memory.
#[test]
fn tables_that_cost_nothing_take_little_in_a_simulation() {
    let _alone = alone();
    let tables = "(table 10000000 funcref)".repeat(12);
    let code = wat(&format!(
        r#"(module (memory (export "memory") 1) {tables} (func (export "__execute") (result i32) (i32.const 4)))"#
    ));
    let stage = Stage::with(&code);
    let (ended, bytes) = taken(|| stage.simulate(SUBJECT, &[0], 1_000_000_000));
    assert!(matches!(ended, Err(Halt::OutOfMemory)), "{ended:?}");
    assert!(bytes < 256 << 20, "the tables have taken {bytes} bytes");
    // One such table is no reason to refuse a contract.
    let code = wat(
        r#"(module (memory (export "memory") 1) (table 10000000 funcref) (func (export "__execute") (result i32) (i32.const 4)))"#,
    );
    assert!(Stage::with(&code).simulate(SUBJECT, &[0], 1_000_000_000).is_ok());
}

/// A contract that calls another `calls` times, which returns all of its memory each time: 33,554,408 bytes.
fn returning_all(calls: u32) -> Stage {
    let caller = module(&format!(
        r#"(data (i32.const 2000) "\20\00\00\00" "\04\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00" "\08\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
        (data (i32.const 2100) "\10\00\00\00")
        (data (i32.const 2200) "\04\00\00\00")
        (func (export "__execute") (result i32) (local $done i32)
            (loop $again
                (drop (call $call (i32.const 2004) (i32.const 2104) (i32.const 2204) (i64.const 0)))
                (local.set $done (i32.add (local.get $done) (i32.const 1)))
                (br_if $again (i32.lt_u (local.get $done) (i32.const {calls}))))
            (i32.const 1028))"#
    ));
    let returning = wat(r#"(module (memory (export "memory") 512) (func (export "__execute") (result i32)
            (i32.store (i32.const 0) (i32.const 33554428)) (i32.const 4)))"#);
    let stage = Stage::with(&caller);
    stage.put_code(id(4, 8), &returning);
    stage
}

#[test]
fn what_calls_return_costs_no_fuel_and_is_not_kept_beyond_the_bound_of_a_message() {
    let _alone = alone();
    let stage = returning_all(300);
    let (ended, bytes) = taken(|| stage.message(&[]));
    assert!(bytes < 160 << 20, "ten gigabytes of returned data have taken {bytes} bytes");
    assert!(matches!(ended.end, MessageEnd::Done { .. }), "{:?}", ended.end);
    let [TraceEvent::Omitted { status: TraceStatus::Success, events: 602, bytes, contracts, .. }] = &ended.events[..]
    else {
        panic!("{} events", ended.events.len())
    };
    assert!(*bytes > 300 * 33_554_408, "{bytes}");
    assert_eq!(contracts[..], [SUBJECT, id(4, 8)]);
    let digest = |stage: &Stage| match &stage.message(&[]).events[..] {
        [TraceEvent::Omitted { digest, .. }] => *digest,
        events => panic!("{} events", events.len()),
    };
    assert_eq!(digest(&returning_all(2)), digest(&returning_all(2)));
    assert_ne!(digest(&returning_all(2)), digest(&returning_all(3)));
}

#[test]
fn a_simulation_ends_where_what_its_calls_return_passes_the_bound() {
    let _alone = alone();
    let stage = returning_all(300);
    let (ended, bytes) = taken(|| stage.simulate(SUBJECT, &[0], 1_000_000_000));
    assert!(matches!(ended, Err(Halt::SimulationTooLarge)), "{ended:?}");
    assert!(bytes < 160 << 20, "{bytes}");
}

#[test]
fn millions_of_keys_that_are_asked_for_are_not_remembered() {
    let _alone = alone();
    // Each round asks for another key of eight bytes, for some 30 units of fuel.
    let asking = module(
        r#"(data (i32.const 2000) "\08\00\00\00")
        (func (export "__execute") (result i32)
            (loop $again
                (drop (call $request_storage (i32.const 2004)))
                (i32.store (i32.const 2004) (i32.add (i32.load (i32.const 2004)) (i32.const 1)))
                (br_if $again (i32.lt_u (i32.load (i32.const 2004)) (i32.const 2000000))))
            (i32.const 1028))"#,
    );
    let stage = Stage::with(&asking);
    let (ended, bytes) = taken(|| stage.simulate(SUBJECT, &[0], 1_000_000_000));
    assert!(ended.unwrap().result.is_ok());
    assert!(bytes < 160 << 20, "two million keys have taken {bytes} bytes");
}

/// Amounts of nothing move for no fuel at all, and each move writes two balances.
#[test]
fn a_simulation_that_moves_millions_of_nothings_ends() {
    let _alone = alone();
    let moving = |transfers: u32| {
        wat(&format!(
            r#"(module
            (import "env" "__call" (func $call (param i32 i32 i32 i64) (result i32)))
            (memory (export "memory") 512)
            (data (i32.const 1024) "\14\00\00\00")
            (data (i32.const 2000) "\20\00\00\00\04\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\08")
            (data (i32.const 2200) "\04\00\00\00")
            (func (export "__execute") (result i32) (local $place i32) (local $round i32)
                (i32.store (i32.const 65536) (i32.const {length}))
                (i32.store (i32.const 65540) (i32.const {transfers}))
                (loop $again
                    (local.set $place (i32.const 65556))
                    (loop $next
                        (i32.store (local.get $place) (i32.add (local.get $round) (local.get $place)))
                        (local.set $place (i32.add (local.get $place) (i32.const 48)))
                        (br_if $next (i32.lt_u (local.get $place) (i32.const {end}))))
                    (drop (call $call (i32.const 2004) (i32.const 65540) (i32.const 2204) (i64.const 0)))
                    (local.set $round (i32.add (local.get $round) (i32.const 100000000)))
                    (br_if $again (i32.lt_u (local.get $round) (i32.const 2000000000))))
                (i32.const 1028)))"#,
            length = 16 + 48 * transfers,
            end = 65556 + 48 * transfers,
        ))
    };
    for transfers in [60_000, 600_000] {
        let stage = Stage::with(&moving(transfers));
        stage.put_code(id(4, 8), &wat(r#"(module (memory (export "memory") 512) (data (i32.const 0) "\14") (func (export "__execute") (result i32) (i32.const 4)))"#));
        let (ended, bytes) = taken(|| stage.simulate(SUBJECT, &[0], 1_000_000_000));
        assert!(matches!(ended, Err(Halt::SimulationTooLarge)), "{transfers}: {ended:?}");
        assert!(bytes < 320 << 20, "{transfers}: {bytes}");
    }
}
