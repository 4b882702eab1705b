//! Contracts that want memory: what they get is bounded, and only what they touch is real.
//!
//! A program of its own, and one test at a time, because memory is measured for the whole process.
#![allow(missing_docs, dead_code, clippy::unwrap_used)] // shares the stage of the other tests of contracts

#[path = "vm/stage.rs"]
mod stage;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use paraffin_alkanes::codec::{append_varint, gzip};
use paraffin_alkanes::{Halt, MessageEnd, StateKey};

use stage::{SUBJECT, Stage, contract, id, wat};

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
fn a_bomb_of_packed_code_does_not_resolve() {
    let _alone = alone();
    let mut stage = Stage::with(&contract("probe"));
    stage.put(StateKey::Sequence, 5_u128.to_le_bytes());
    stage.envelope = Some(gzip(&vec![0; 80 << 20]));
    let (ended, bytes) = taken(|| stage.message_to(id(1, 0), &[1]));
    assert_eq!((ended.end, ended.events.len()), (MessageEnd::Failed, 0));
    assert!(bytes < 200 << 20, "{bytes}");
    // A contract that tries it again and again finds that it has been tried.
    stage.envelope = Some(gzip(&vec![0; 80 << 20]));
    let called = stage.message(&[40, 1, 0, 1, 1]);
    assert_eq!(called.reverts()[0], "the code unpacks to more than 67108864 bytes");
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
