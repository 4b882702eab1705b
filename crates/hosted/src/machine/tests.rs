use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::*;
use crate::ReadError;

/// Values by key, and the keys that were read.
#[derive(Default)]
struct Values {
    pairs: BTreeMap<Vec<u8>, Vec<u8>>,
    asked: RefCell<Vec<Vec<u8>>>,
}

impl Reads for Values {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        self.asked.borrow_mut().push(key.to_vec());
        Ok(self.pairs.get(key).cloned())
    }
}

const IMPORTS: &str = r#"
    (import "env" "__host_len" (func $host_len (result i32)))
    (import "env" "__load_input" (func $load_input (param i32)))
    (import "env" "__get_len" (func $get_len (param i32) (result i32)))
    (import "env" "__get" (func $get (param i32 i32)))
    (import "env" "__flush" (func $flush (param i32)))
    (import "env" "__log" (func $log (param i32)))
    (import "env" "abort" (func $abort (param i32 i32 i32 i32)))
"#;

/// A program around the given part of its text.
fn program(rest: &str) -> Result<Machine, LoadError> {
    let text = format!("(module {IMPORTS} (memory (export \"memory\") 2) {rest})");
    Machine::load(&wat::parse_str(text).unwrap())
}

/// A program with `_start` alone.
fn starting(start: &str) -> Machine {
    program(&format!("(data (i32.const 16) \"\\01\\00\\00\\00k\") (func (export \"_start\") {start})")).unwrap()
}

fn limits(is_over: &dyn Fn() -> bool) -> RunLimits<'_> {
    RunLimits { memory_bytes_max: 1 << 20, is_over }
}

fn run(machine: &Machine, reads: &Values) -> Result<Flush, ProgramError> {
    machine.run_block(7, b"a block", reads, limits(&|| false))
}

fn error(start: &str) -> ProgramError {
    run(&starting(start), &Values::default()).unwrap_err()
}

/// Flushes `k` with one byte, which `$value` computes.
fn flushing(value: &str) -> String {
    format!(
        "(i32.store (i32.const 100) (i32.const 6)) (i32.store (i32.const 104) (i32.const 0x0a6b010a))
         (i32.store8 (i32.const 108) (i32.const 1)) (i32.store8 (i32.const 109) {value}) (call $flush (i32.const 104))"
    )
}

fn one(value: u8) -> Flush {
    Flush { pairs: BTreeMap::from([(b"k".to_vec(), vec![value])]) }
}

#[test]
fn a_program_is_given_height_and_block_and_its_flush_is_what_it_wrote() {
    // The third byte of the block, behind the height.
    let machine = starting(&format!(
        "(call $load_input (i32.const 200)) {}",
        flushing("(i32.add (i32.load8_u (i32.const 206)) (i32.mul (call $host_len) (i32.load8_u (i32.const 200))))")
    ));
    assert_eq!(run(&machine, &Values::default()).unwrap(), one(b'b' + 11 * 7));
}

#[test]
fn a_program_reads_values_once_and_what_is_absent_is_empty() {
    let text = flushing(
        "(i32.add (call $get_len (i32.const 20)) (i32.add (i32.load8_u (i32.const 301)) (i32.load8_u (i32.const 305))))",
    );
    let machine = starting(&format!(
        "(i32.store8 (i32.const 305) (i32.const 90)) (call $get (i32.const 20) (i32.const 300)) {text}"
    ));
    let mut reads = Values::default();
    assert_eq!(run(&machine, &reads).unwrap(), one(90));
    reads.pairs.insert(b"k".to_vec(), vec![1, 2, 3]);
    reads.asked.borrow_mut().clear();
    assert_eq!(run(&machine, &reads).unwrap(), one(3 + 2 + 90));
    assert_eq!(reads.asked.into_inner(), [b"k".to_vec()]);
}

#[test]
fn a_key_that_cannot_be_read_is_told_to_the_program() {
    let machine = starting(&format!(
        "(call $get (i32.const -1) (i32.const 300)) {}",
        flushing(
            "(i32.and (i32.eq (call $get_len (i32.const 2)) (i32.const 0x7fffffff))
                      (i32.eq (i32.load (i32.const 296)) (i32.const 0x7fffffff)))"
        )
    ));
    assert_eq!(run(&machine, &Values::default()).unwrap(), one(1));
}

#[test]
fn places_outside_the_memory_end_the_run_and_a_line_of_the_log_is_not_worth_it() {
    let mut reads = Values::default();
    reads.pairs.insert(b"k".to_vec(), vec![1, 2, 3]);
    for call in [
        "(call $get (i32.const 20) (i32.const -1))",
        "(call $get (i32.const 20) (i32.const 131070))",
        // Neither the key can be read nor the error length be written.
        "(call $get (i32.const -1) (i32.const 3))",
        "(call $load_input (i32.const -1))",
        "(call $flush (i32.const 3))",
        "(i32.store (i32.const 60) (i32.const -1)) (call $flush (i32.const 64))",
    ] {
        let ended = run(&starting(call), &reads).unwrap_err();
        assert!(matches!(ended, ProgramError::Pointer(_)), "{call}: {ended}");
    }
    let logging = "(i32.store (i32.const 60) (i32.const -1)) (call $log (i32.const 64)) (call $log (i32.const -1))
        (i32.store (i32.const 60) (i32.const 100000)) (call $log (i32.const 64))";
    let machine = starting(&format!("{logging} {}", flushing("(i32.const 7)")));
    assert_eq!(run(&machine, &reads).unwrap(), one(7));
}

#[test]
fn each_run_begins_in_a_fresh_memory() {
    let count = "(i32.store8 (i32.const 50) (i32.add (i32.load8_u (i32.const 50)) (i32.const 1)))";
    let machine = starting(&format!("{count} {}", flushing("(i32.load8_u (i32.const 50))")));
    for _ in 0..3 {
        assert_eq!(run(&machine, &Values::default()).unwrap(), one(1));
    }
}

#[test]
fn floating_numbers_that_are_none_have_one_form() {
    // 0/0 with a payload: the bits of the result are the canonical ones.
    let nan = "(i32.wrap_i64 (i64.shr_u (i64.reinterpret_f64 (f64.div (f64.const -0) (f64.const 0))) (i64.const 48)))";
    let machine = starting(&flushing(&format!("(i32.shr_u {nan} (i32.const 8))")));
    assert_eq!(run(&machine, &Values::default()).unwrap(), one(0x7f));
}

#[test]
fn what_a_program_does_wrong_is_told_apart() {
    let text = |error: ProgramError| error.to_string();
    assert_eq!(text(error("unreachable")), "the program trapped: wasm trap: wasm `unreachable` instruction executed");
    assert_eq!(
        text(error("(i32.store (i32.const -1) (i32.const 0))")),
        "the program trapped: wasm trap: out of bounds memory access"
    );
    let deep = program("(func $deep (call $deep)) (func (export \"_start\") (call $deep))").unwrap();
    let deep = run(&deep, &Values::default()).unwrap_err();
    assert_eq!(text(deep), "the program trapped: wasm trap: call stack exhausted");
    assert!(matches!(error("nop"), ProgramError::NoFlush));
    let aborting =
        format!("(call $abort (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)) {}", flushing("(i32.const 0)"));
    assert!(matches!(error(&aborting), ProgramError::Aborted));
    // A list whose first element is longer than the message.
    let truncated = "(i32.store (i32.const 40) (i32.const 2)) (i32.store (i32.const 44) (i32.const 0x050a)) (call $flush (i32.const 44))";
    assert!(matches!(error(truncated), ProgramError::Flush(_)));
    assert!(matches!(error("(call $flush (i32.const -5))"), ProgramError::Pointer(_)));
    // The input does not fit at the program's pointer.
    assert!(matches!(error("(call $load_input (i32.const 131070))"), ProgramError::Pointer(_)));
}

#[test]
fn a_program_that_never_ends_is_ended() {
    let machine = starting("(loop br 0)");
    let begun = Instant::now();
    let is_over = || begun.elapsed() > Duration::from_millis(50);
    let ended = machine.run_block(0, &[], &Values::default(), limits(&is_over));
    assert!(matches!(ended, Err(ProgramError::TooLong)));
    assert!(begun.elapsed() < Duration::from_secs(20));
    // So is one that reads for ever, the same key or always another, one that flushes for ever, and one that never begins.
    let another = "(i32.store8 (i32.const 20) (i32.add (i32.load8_u (i32.const 20)) (i32.const 1)))";
    for machine in [
        starting("(loop (drop (call $get_len (i32.const 20))) br 0)"),
        starting(&format!("(loop {another} (drop (call $get_len (i32.const 20))) br 0)")),
        starting(&format!("(loop {} br 0)", flushing("(i32.const 1)"))),
        program("(func $endless (loop br 0)) (start $endless) (func (export \"_start\"))").unwrap(),
    ] {
        let begun = Instant::now();
        let is_over = || begun.elapsed() > Duration::from_millis(50);
        assert!(matches!(machine.run_block(0, &[], &Values::default(), limits(&is_over)), Err(ProgramError::TooLong)));
    }
}

#[test]
fn a_program_that_flushes_without_end_is_ended() {
    // A value of 60,000 bytes under one key after the other, in a memory of two pages.
    let start = "(i32.store (i32.const 100) (i32.const 60010)) (i32.store16 (i32.const 104) (i32.const 0x040a))
        (i32.store (i32.const 110) (i32.const 0x03d4e00a))
        (loop (i32.store (i32.const 106) (i32.add (i32.load (i32.const 106)) (i32.const 1)))
            (call $flush (i32.const 104)) br 0)";
    assert_eq!(error(start).to_string(), "the program flushes more than 1048576 bytes");
    // The same one again and again is no more than one.
    let again =
        "(local $n i32) (i32.store (i32.const 100) (i32.const 60010)) (i32.store16 (i32.const 104) (i32.const 0x040a))
        (i32.store (i32.const 110) (i32.const 0x03d4e00a))
        (loop (call $flush (i32.const 104)) (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if 0 (i32.lt_u (local.get $n) (i32.const 100))))";
    let flush = run(&starting(again), &Values::default()).unwrap();
    assert_eq!((flush.pairs.len(), flush.bytes()), (1, 60_004));
}

#[test]
fn a_program_that_takes_memory_without_end_is_ended() {
    let text = error("(loop (drop (memory.grow (i32.const 1))) br 0)").to_string();
    assert_eq!(text, "the program asked for more than 1 MiB of memory");
    // More than there can be is refused to the program, as every host does.
    let machine = starting(&flushing("(i32.eq (memory.grow (i32.const 65535)) (i32.const -1))"));
    assert_eq!(run(&machine, &Values::default()).unwrap(), one(1));
    let module = |memory: &str, start: &str| {
        let text = format!("(module {IMPORTS} {memory} (func (export \"_start\") {start}))");
        Machine::load(&wat::parse_str(text).unwrap())
    };
    let large = module("(memory (export \"memory\") 1000)", "").unwrap();
    assert!(matches!(run(&large, &Values::default()), Err(ProgramError::TooMuchMemory(1))));
    // Beyond what the program itself declares it is refused, however often it asks, and nothing is counted.
    let own = "(local $n i32)
        (loop (drop (memory.grow (i32.const 2))) (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if 0 (i32.lt_u (local.get $n) (i32.const 100))))";
    let refused = flushing("(i32.eq (memory.grow (i32.const 2)) (i32.const -1))");
    let bounded = module("(memory (export \"memory\") 2 3)", &format!("{own} {refused}")).unwrap();
    assert_eq!(run(&bounded, &Values::default()).unwrap(), one(1));
    let second = module("(memory (export \"memory\") 1) (memory 1)", "").err().unwrap();
    assert!(matches!(second, LoadError::Invalid(_)), "{second}");
}

#[test]
fn a_program_that_takes_tables_without_end_is_ended() {
    let growing = |table: &str, by: u32, rest: &str| {
        let text = format!(
            "{table} (func (export \"_start\") (local $grown i32)
                (local.set $grown (table.grow (ref.null func) (i32.const {by}))) {rest})"
        );
        program(&text).unwrap()
    };
    let ended = run(&growing("(table 1 funcref)", 2_000_000, ""), &Values::default()).unwrap_err();
    assert_eq!(ended.to_string(), "the program asked for tables of more than 1048576 elements");
    let ended = run(&growing("(table 2000000 funcref)", 1, ""), &Values::default()).unwrap_err();
    assert!(matches!(ended, ProgramError::TooManyElements(_)), "{ended}");
    let refused = flushing("(i32.eq (local.get $grown) (i32.const -1))");
    assert_eq!(run(&growing("(table 1 5 funcref)", 2_000_000, &refused), &Values::default()).unwrap(), one(1));
}

#[test]
fn a_system_without_memory_ends_the_run_instead_of_telling_the_program() {
    let mut limit = Limit::new(1 << 20);
    assert!(limit.memory_grow_failed(wasmtime::Error::msg("Cannot allocate memory (os error 12)")).is_err());
    assert!(matches!(limit.exceeded, Some(ProgramError::NoMemory)));
}

#[test]
fn code_that_was_compiled_before_is_refused() {
    let machine = starting(&flushing("(i32.const 1)"));
    let text = format!("(module {IMPORTS} (memory (export \"memory\") 1) (func (export \"_start\")))");
    let compiled = machine.engine.precompile_module(&wat::parse_str(text).unwrap()).unwrap();
    let error = Machine::load(&compiled).err().unwrap();
    assert!(matches!(error, LoadError::Invalid(_)), "{error}");
    // Nor is text taken for a module.
    assert!(matches!(Machine::load(b"(module)").err(), Some(LoadError::Invalid(_))));
}

#[test]
fn an_import_that_no_host_has_traps_when_it_is_called() {
    let foreign = "(import \"env\" \"__syscall\" (func $syscall))";
    let module = |start: &str| {
        let text = format!("(module {foreign} (memory (export \"memory\") 1) (func (export \"_start\") {start}))");
        Machine::load(&wat::parse_str(text).unwrap()).unwrap()
    };
    let called = run(&module("(call $syscall)"), &Values::default()).unwrap_err().to_string();
    assert!(called.contains("__syscall"), "{called}");
    assert!(matches!(run(&module("nop"), &Values::default()), Err(ProgramError::NoFlush)));
}

#[test]
fn what_is_no_indexer_program_is_refused_with_the_reason() {
    let load = |text: &str| Machine::load(&wat::parse_str(text).unwrap()).err().unwrap().to_string();
    for (text, refused) in [
        ("(module)", "exports no memory"),
        ("(module (memory (export \"memory\") 1))", "no function `_start`"),
        ("(module (memory (export \"memory\") 1) (func (export \"_start\") (param i32)))", "no function `_start`"),
        (
            "(module (import \"env\" \"__get\" (func)) (memory (export \"memory\") 1) (func (export \"_start\")))",
            "__get",
        ),
        (
            "(module (import \"env\" \"memory\" (memory 1)) (export \"memory\" (memory 0)) (func (export \"_start\")))",
            "memory",
        ),
    ] {
        let error = load(text);
        assert!(error.contains("not an indexer program") && error.contains(refused), "{error}");
    }
    for bytes in [&b""[..], b"\0asm", b"no module", b"\0asm\x01\0\0\0\xff"] {
        let error = Machine::load(bytes).err().unwrap();
        assert!(matches!(error, LoadError::Invalid(_)), "{error}");
    }
}

#[test]
fn views_answer_what_they_point_to_or_say_why_not() {
    let machine = program(
        "(data (i32.const 16) \"\\02\\00\\00\\00hi\") (func (export \"_start\"))
         (func (export \"hi\") (result i32) (i32.const 20))
         (func (export \"height\") (result i32)
            (i32.store (i32.const 40) (call $host_len)) (call $load_input (i32.const 44)) (i32.const 44))
         (func (export \"nowhere\") (result i32) (i32.const -1))
         (func (export \"traps\") (result i32) unreachable)
         (func (export \"flushes\") (result i32) (call $flush (i32.const 20)) (i32.const 20))
         (func (export \"text\") (result i64) (i64.const 1))",
    )
    .unwrap();
    let reads = Values::default();
    let view = |name: &str| machine.view(name, 9, b"in", &reads, limits(&|| false));
    assert_eq!(view("hi").unwrap(), b"hi");
    assert_eq!(view("height").unwrap(), b"\x09\0\0\0in");
    assert!(matches!(view("nowhere"), Err(ProgramError::Pointer(_))));
    assert!(matches!(view("traps"), Err(ProgramError::Trapped(_))));
    // What a view flushes is ignored.
    assert_eq!(view("flushes").unwrap(), b"hi");
    for unknown in ["text", "_start", "memory", "other"] {
        assert!(matches!(view(unknown), Err(ProgramError::UnknownView)), "{unknown}");
    }
}
