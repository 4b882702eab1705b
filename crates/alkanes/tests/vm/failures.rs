//! The ways in which a message fails, and the texts that traces record (protocol B9, B22.4).

use paraffin_alkanes::{Halt, MessageEnd, StateKey};

use crate::stage::{SUBJECT, Stage, answering, contract, id, module, module_text, transfer, wat};

fn revert_of(code: &[u8]) -> String {
    Stage::with(code).message(&[]).revert()
}

/// Bytes as a string of the text format.
fn escaped(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| ["\\".to_owned(), format!("{byte:02x}")]).collect()
}

/// A contract that answers with these bytes.
fn answer_of(bytes: &[u8]) -> Vec<u8> {
    let (text, length) = (escaped(bytes), escaped(&(bytes.len() as u32).to_le_bytes()));
    wat(&format!(
        r#"(module (memory (export "memory") 1) (data (i32.const 96) "{length}{text}")
        (func (export "__execute") (result i32) (i32.const 100)))"#
    ))
}

#[test]
fn code_that_is_no_module_keeps_the_text_of_the_engine() {
    assert_eq!(revert_of(b""), "unexpected end-of-file (at offset 0x0)");
    assert_eq!(Stage::new().message_to(id(0, 5), &[]).revert(), "unexpected end-of-file (at offset 0x0)");
    assert_eq!(Stage::new().message_to(id(8, 1), &[]).revert(), "unexpected end-of-file (at offset 0x0)");
    assert_eq!(revert_of(b"\x7fELF-executable"), "magic header not detected: bad magic number (at offset 0x0)");
}

#[test]
fn a_message_that_names_no_contract_fails_without_a_trace_and_without_fuel() {
    for (target, inputs) in [(id(4, 99), vec![]), (id(2, 0), vec![1]), (id(2, 5), vec![]), (id(1, 0), vec![])] {
        let stage = Stage::new();
        stage.put(paraffin_alkanes::StateKey::Sequence, 6_u128.to_le_bytes());
        match stage.try_message(target, &inputs, &[]) {
            Ok(ended) => {
                assert_eq!((ended.end, ended.events.len(), ended.fuel_left.0), (MessageEnd::Failed, 0, 0), "{target}");
                assert!(ended.writes.is_empty());
            }
            Err(halt) => assert!(matches!(halt, Halt::MissingBuiltin(_)) && target == id(2, 0), "{halt}"),
        }
    }
}

#[test]
fn what_cannot_be_started_fails_with_the_text_of_the_engine() {
    let execute = r#"(func (export "__execute") (result i32) (i32.const 1028))"#;
    assert_eq!(
        revert_of(&wat(r#"(module (func (export "__execute") (result i32) (i32.const 4)))"#)),
        "memory segment not found"
    );
    let started = wat(r#"(module (memory (export "memory") 1) (func) (start 0))"#);
    assert_eq!(revert_of(&started), "found an unexpected start function with index 0");
    let great = wat(&module_text(r#"(memory (export "memory") 665)"#, execute));
    assert_eq!(revert_of(&great), "out of bounds memory allocation");
    let outside = wat(r#"(module (memory (export "memory") 1) (data (i32.const 65536) "x"))"#);
    assert_eq!(revert_of(&outside), "out of bounds memory access");
    let unknown = wat(r#"(module (import "env" "__output" (func)) (memory (export "memory") 1))"#);
    assert!(revert_of(&unknown).contains("__output"), "{}", revert_of(&unknown));
    let wrong = wat(r#"(module (import "env" "__fuel" (func)) (memory (export "memory") 1))"#);
    assert!(revert_of(&wrong).contains("__fuel"), "{}", revert_of(&wrong));
}

#[test]
fn a_memory_that_cannot_grow_to_512_pages_fails_the_message_and_a_simulation() {
    let code =
        wat(r#"(module (memory (export "memory") 1 511) (func (export "__execute") (result i32) (i32.const 4)))"#);
    let ended = Stage::with(&code).message(&[]);
    let text = "contract 4:7 declares a memory of less than 512 pages, on which the reference engine halts";
    assert_eq!((ended.revert(), ended.fuel_left.0), (text.to_owned(), 0));
    let simulated = Stage::with(&code).simulate(SUBJECT, &[], 1_000_000).unwrap_err();
    assert!(matches!(simulated, Halt::SmallMemory(SUBJECT)), "{simulated}");
    // However deep it is called: the message fails as a whole, and leaves no layer.
    let stage = Stage::with(&contract("probe"));
    stage.put_code(id(2, 3), &code);
    stage.put(StateKey::Sequence, 9_u128.to_le_bytes());
    let ended = stage.message(&[40, 2, 3, 1, 1]);
    assert_eq!(ended.revert(), text.replace("4:7", "2:3"));
}

#[test]
fn what_goes_wrong_while_running_stands_behind_the_word_revert() {
    let execute = |body: &str| revert_of(&module(&format!(r#"(func (export "__execute") {body})"#)));
    assert_eq!(
        revert_of(&module("")),
        "ALKANES: revert: __execute not found -- is this WASM built with the ALKANES SDK?"
    );
    assert_eq!(execute("(result i64) (i64.const 1)"), "ALKANES: revert: result is not an i32");
    assert_eq!(execute("(result i32) unreachable"), "ALKANES: revert: wasm `unreachable` instruction executed");
    assert_eq!(execute("(result i32) (loop (br 0)) unreachable"), "ALKANES: revert: all fuel consumed by WebAssembly");
    assert_eq!(execute("(result i32) (i32.const -1)"), "ALKANES: revert: invalid start offset");
    assert_eq!(execute("(result i32) (i32.const 2)"), "ALKANES: revert: failed to read length prefix");
    assert_eq!(execute("(result i32) (i32.const 33554433)"), "ALKANES: revert: failed to read length prefix");
    assert_eq!(execute("(result i32) (i32.const 33554432)"), "ALKANES: revert: failed to fill whole buffer");
    assert_eq!(
        execute("(result i32) (i32.store (i32.const 0) (i32.const -1)) (i32.const 4)"),
        "ALKANES: revert: invalid buffer range"
    );
    assert_eq!(
        execute("(result i32) (i32.div_s (i32.const 1) (i32.const 0))"),
        "ALKANES: revert: integer divide by zero"
    );
    assert_eq!(execute("(result i32) (i32.load (i32.const 33554430))"), "ALKANES: revert: out of bounds memory access");
}

#[test]
fn malformed_answers_are_reverts() {
    let whole = [&[0; 16][..], &[0; 4]].concat();
    assert_eq!(Stage::with(&answer_of(&whole)).message(&[]).data(), b"");
    for len in 0..whole.len() {
        assert_eq!(revert_of(&answer_of(&whole[..len])), "ALKANES: revert: failed to fill whole buffer", "{len}");
    }
    let too_many_transfers = [&2_u128.to_le_bytes()[..], &[0; 48 + 47]].concat();
    let endless_transfers = [&u128::MAX.to_le_bytes()[..], &[0; 100]].concat();
    for bytes in [too_many_transfers, endless_transfers] {
        assert_eq!(revert_of(&answer_of(&bytes)), "ALKANES: revert: failed to fill whole buffer");
    }
}

/// The texts of the current release, which name what is wrong with a storage map, in answers and in calls.
#[test]
fn a_storage_map_that_says_more_than_it_holds_is_a_revert_that_says_so() {
    for (words, rest, text) in [
        (&[u32::MAX][..], 100, "StorageMap: entry count 4294967295 exceeds remaining input"),
        (&[2], 15, "StorageMap: entry count 2 exceeds remaining input"),
        (&[1, 5], 4, "StorageMap: key length 5 exceeds remaining input"),
        (&[1, u32::MAX], 8, "StorageMap: key length 4294967295 exceeds remaining input"),
        (&[1, 0, 1], 0, "StorageMap: value length 1 exceeds remaining input"),
        (&[1, 4, 0], 0, "failed to fill whole buffer"),
        (&[1, 0, u32::MAX], 9, "StorageMap: value length 4294967295 exceeds remaining input"),
        (&[2, 0, 0, 0, 5], 4, "StorageMap: value length 5 exceeds remaining input"),
    ] {
        let mut map: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        map.resize(map.len() + rest, 0);
        let answered = answer_of(&[&[0; 16][..], &map].concat());
        assert_eq!(revert_of(&answered), format!("ALKANES: revert: {text}"));
        let (bytes, length) = (escaped(&map), escaped(&(map.len() as u32).to_le_bytes()));
        let called = module(&format!(
            r#"(data (i32.const 2000) "\20\00\00\00\04") (data (i32.const 2020) "\07")
            (data (i32.const 2100) "\10\00\00\00") (data (i32.const 2200) "{length}{bytes}")
            (func (export "__execute") (result i32)
                (drop (call $call (i32.const 2004) (i32.const 2104) (i32.const 2204) (i64.const 0)))
                (i32.const 1028))"#
        ));
        assert_eq!(Stage::with(&called).message(&[]).reverts(), [text, "ALKANES: revert"]);
    }
}

#[test]
fn a_contract_can_tell_why_it_fails() {
    let probe = Stage::with(&contract("probe"));
    let text = u128::from_le_bytes(*b"because\0\0\0\0\0\0\0\0\0");
    assert_eq!(probe.message(&[85, text]).revert(), "ALKANES: revert: because");
    assert_eq!(probe.message(&[86, 2, 0xff, 0x01]).revert().get(..21), Some("ALKANES: revert: ff01"));
    assert_eq!(probe.message(&[88]).revert(), "ALKANES: revert");
    assert_eq!(probe.message(&[87]).revert(), "ALKANES: revert: wasm `unreachable` instruction executed");
    let ended = probe.message(&[93, 1, 2]);
    assert_eq!(ended.end, MessageEnd::Failed);
    assert!(ended.writes.is_empty(), "what a failed message wrote is gone");
}

#[test]
fn only_its_own_alkane_can_be_given_without_holding_it() {
    let probe = Stage::with(&contract("probe"));
    let minted = probe.message(&[60, 1000]);
    let MessageEnd::Done { outgoing, runtime } = &minted.end else { panic!("{:?}", minted.reverts()) };
    assert_eq!((&outgoing[..], runtime.get(SUBJECT)), (&[transfer(SUBJECT, 1000)][..], 0));
    assert_eq!(
        probe.message(&[92, 2, 9, 5]).revert(),
        "balance underflow, transferring(AlkaneTransfer { id: AlkaneId { block: 2, tx: 9 }, value: 5 }), \
         from(AlkaneId { block: 4, tx: 7 }), balance(0)"
    );
    probe.put_balance(SUBJECT, id(2, 9), 5);
    assert_eq!(probe.message(&[92, 2, 9, 5]).response().alkanes, [transfer(id(2, 9), 5)]);
}

#[test]
fn a_balance_that_would_overflow_fails_before_the_contract_runs() {
    let probe = Stage::with(&contract("probe"));
    probe.put_balance(SUBJECT, id(2, 9), u128::MAX);
    let ended = probe.message_with(&[1], &[transfer(id(2, 9), 1)]);
    assert_eq!((ended.end, ended.events.len()), (MessageEnd::Failed, 0));
}

#[test]
fn the_runtime_sheet_takes_what_is_kept_and_gives_what_is_sent() {
    let mut probe = Stage::with(&contract("probe"));
    let kept = probe.message_with(&[62], &[transfer(id(2, 9), 7)]);
    let MessageEnd::Done { runtime, .. } = kept.end else { panic!("{:?}", kept.reverts()) };
    assert_eq!(runtime.get(id(2, 9)), 7);

    // Stored and not touched in this transaction; and touched, which counts instead of what is stored.
    probe.put_balance(SUBJECT, id(2, 9), 100);
    probe.put(paraffin_alkanes::StateKey::Runtime(id(2, 9)), 30_u128.to_le_bytes());
    let runtime_after = |stage: &Stage, value| match stage.message(&[61, 2, 9, value]).end {
        MessageEnd::Done { runtime, .. } => runtime.get(id(2, 9)),
        MessageEnd::Failed => panic!("failed"),
    };
    assert_eq!(runtime_after(&probe, 10), 20);
    assert_eq!(runtime_after(&probe, 50), 0, "what is short counts as minted");
    probe.runtime.set(id(2, 9), 12);
    assert_eq!(runtime_after(&probe, 10), 2);
    probe.put(paraffin_alkanes::StateKey::Etching(id(2, 9)), [1]);
    assert_eq!(probe.message(&[61, 2, 9, 13]).revert(), "balance underflow during debit_mintable");
    probe.runtime.set(id(2, 8), u128::MAX);
    let overflow = probe.message_with(&[62], &[transfer(id(2, 8), 2)]).revert();
    assert_eq!(
        overflow,
        format!("overflow error during balance sheet increase, current({}) + additional(2)", u128::MAX)
    );
}

#[test]
fn an_alkane_that_goes_out_is_touched_even_when_nothing_of_it_does() {
    let nothing = [1_u128, 2, 9, 0].map(u128::to_le_bytes).concat();
    let stage = Stage::with(&answer_of(&[&nothing[..], &[0; 4]].concat()));
    stage.put(paraffin_alkanes::StateKey::Runtime(id(2, 9)), 30_u128.to_le_bytes());
    let ended = stage.message(&[]);
    let MessageEnd::Done { outgoing, runtime } = &ended.end else { panic!("{:?}", ended.reverts()) };
    assert_eq!(*outgoing, [transfer(id(2, 9), 0)]);
    assert_eq!(runtime.iter().collect::<Vec<_>>(), [(id(2, 9), 30)]);
}

#[test]
fn a_stored_integer_of_the_wrong_length_halts_the_engine() {
    let stage = Stage::with(&answering(""));
    stage.put(paraffin_alkanes::StateKey::Sequence, [1, 2, 3]);
    let halt = stage.try_message(SUBJECT, &[], &[]).err().unwrap();
    assert!(matches!(halt, Halt::WrongLength { length: 3, expected: 16, .. }), "{halt}");
}

#[test]
fn nothing_runs_before_the_genesis_height() {
    let mut stage = Stage::with(&answering(""));
    stage.parameters.genesis_height = 101;
    let ended = stage.message(&[]);
    assert_eq!((ended.end, ended.events.len()), (MessageEnd::Failed, 0));
}
