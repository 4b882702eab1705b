//! A contract that runs the rows of the table and the uses of constants below, and answers with the bits of all results.
//! Other crates' tests take this file as it is.
#![allow(dead_code)] // each test uses another part

use std::fmt::Write as _;

/// `name operands = result`, in hexadecimal digits.
pub(crate) const TABLE: &str = include_str!("table.txt");

/// Fuel of the module in the interpreter, measured with the published arithmetic before ours replaced it. It follows from
/// the instructions alone.
pub(crate) const FUEL: u64 = 40_633;

/// Fuel of [`copies`]: in the reference's host, a constant of 64 bits that is not a number takes a register unless it is the
/// canonical one, and a copy of a register becomes one instruction with the copy before it.
pub(crate) const FUEL_OF_COPIES: u64 = 15;

/// Where operands begin.
const OPERANDS: usize = 1 << 17;
/// Where the answer begins; its length is in the four bytes before.
const ANSWER: usize = 1028;
/// No alkanes, one pair to store.
const HEAD: &str = r"\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\01\00\00\00\04\00\00\00bits";

/// A row of the table.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) operands: Vec<u64>,
    pub(crate) result: Result<u64, &'static str>,
}

pub(crate) fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().map(|line| {
        let (operation, result) = line.split_once(" = ").unwrap();
        let mut words = operation.split(' ');
        let name = words.next().unwrap();
        let operands = words.map(|word| u64::from_str_radix(word, 16).unwrap()).collect();
        Row { name, operands, result: u64::from_str_radix(result, 16).map_err(|_| result) }
    })
}

/// Expressions with constants, and bits that only move. Addresses below 128 have the bits of [`MOVED`].
///
/// The interpreter folds an operation of constants when it translates, takes a constant that is no number as the result of
/// arithmetic with it, and the other operand as the least of it and infinity: these keep their bits. A constant of 64 bits is
/// kept in 32 where no bit is lost.
const CONSTANTS: [(&str, u64); 42] = [
    // Folded.
    ("f64.div (f64.const 0) (f64.const 0)", 0x7FF8_0000_0000_0000),
    ("f64.sqrt (f64.const -1)", 0x7FF8_0000_0000_0000),
    ("f64.sub (f64.const inf) (f64.const inf)", 0x7FF8_0000_0000_0000),
    ("f64.mul (f64.const -0) (f64.const inf)", 0x7FF8_0000_0000_0000),
    ("f64.nearest (f64.const -nan:0x8000000000001)", 0x7FF8_0000_0000_0000),
    ("f64.promote_f32 (f32.const -nan:0x600000)", 0x7FF8_0000_0000_0000),
    ("f64.neg (f64.const nan:0x4000000000001)", 0xFFF4_0000_0000_0001),
    ("f64.abs (f64.const -nan:0x4000000000001)", 0x7FF4_0000_0000_0001),
    ("f64.copysign (f64.const nan:0x4000000000001) (f64.const -1)", 0xFFF4_0000_0000_0001),
    ("f32.add (f32.const inf) (f32.const -inf)", 0x7FC0_0000),
    ("f32.demote_f64 (f64.const nan:0xc000000000000)", 0x7FC0_0000),
    ("f32.max (f32.const 0) (f32.const -0)", 0),
    // A constant that is no number.
    ("f64.add (f64.load (i32.const 0)) (f64.const -nan:0xc000000000000)", 0xFFFC_0000_0000_0000),
    ("f64.add (f64.const nan:0x4000000000001) (f64.load (i32.const 0))", 0x7FF4_0000_0000_0001),
    ("f64.sub (f64.load (i32.const 0)) (f64.const nan:0x4000000000001)", 0x7FF4_0000_0000_0001),
    ("f64.sub (f64.const -nan) (f64.load (i32.const 0))", 0xFFF8_0000_0000_0000),
    ("f64.mul (f64.load (i32.const 0)) (f64.const nan:0x4000000000001)", 0x7FF4_0000_0000_0001),
    ("f64.div (f64.load (i32.const 0)) (f64.const -nan)", 0xFFF8_0000_0000_0000),
    ("f64.min (f64.const nan:0x4000000000001) (f64.load (i32.const 0))", 0x7FF4_0000_0000_0001),
    ("f64.max (f64.load (i32.const 0)) (f64.const -nan:0xc000000000000)", 0xFFFC_0000_0000_0000),
    ("f32.add (f32.load (i32.const 0)) (f32.const -nan:0x200001)", 0xFFA0_0001),
    ("f32.div (f32.const -nan) (f32.load (i32.const 0))", 0xFFC0_0000),
    // The other operand.
    ("f64.min (f64.load (i32.const 8)) (f64.const inf)", 0xFFF4_5678_9ABC_DEF0),
    ("f64.max (f64.load (i32.const 8)) (f64.const -inf)", 0xFFF4_5678_9ABC_DEF0),
    ("f32.min (f32.const inf) (f32.load (i32.const 16))", 0xFFA5_4321),
    // Calculated.
    ("f64.add (f64.load (i32.const 8)) (f64.const 1)", 0x7FF8_0000_0000_0000),
    ("f64.mul (f64.const 0) (f64.load (i32.const 24))", 0x7FF8_0000_0000_0000),
    ("f32.sub (f32.const 1) (f32.load (i32.const 16))", 0x7FC0_0000),
    // Moved.
    ("f64.load (i32.const 8)", 0xFFF4_5678_9ABC_DEF0),
    ("f32.load (i32.const 16)", 0xFFA5_4321),
    ("f64.const -nan:0xc000000000000", 0xFFFC_0000_0000_0000),
    ("f64.const nan:0x4000000000001", 0x7FF4_0000_0000_0001),
    ("f64.reinterpret_i64 (i64.const 0xfff4000000000001)", 0xFFF4_0000_0000_0001),
    ("f32.reinterpret_i32 (i32.reinterpret_f32 (f32.load (i32.const 16)))", 0xFFA5_4321),
    ("f64.copysign (f64.load (i32.const 8)) (f64.const 1)", 0x7FF4_5678_9ABC_DEF0),
    ("f64.neg (f64.load (i32.const 8))", 0x7FF4_5678_9ABC_DEF0),
    ("call $answer", 0xFFFC_0000_0000_0000),
    ("call $same (f64.const -nan:0xc000000000000)", 0xFFFC_0000_0000_0000),
    ("call $kept", 0xFFFC_0000_0000_0000),
    ("call $first", 0xFFFC_0000_0000_0000),
    ("global.get $global", 0xFFFC_0000_0000_0000),
    (
        "select (f64.load (i32.const 0)) (f64.const -nan:0xc000000000000) (i32.load (i32.const 32))",
        0xFFFC_0000_0000_0000,
    ),
];

/// 1.0, signalling in 64 and in 32 bits, infinity, 0.
const MOVED: [u64; 5] = [0x3FF0_0000_0000_0000, 0xFFF4_5678_9ABC_DEF0, 0xFFA5_4321, 0x7FF0_0000_0000_0000, 0];

const CONSTANT_FUNCTIONS: &str = r"
    (global $global f64 (f64.const -nan:0xc000000000000))
    (func $answer (result f64) (f64.const -nan:0xc000000000000))
    (func $same (param f64) (result f64) (local.get 0))
    (func $kept (result f64) (local f64)
        (local.set 0 (f64.const -nan:0xc000000000000))
        (if (i32.load (i32.const 32)) (then (local.set 0 (f64.const 1))))
        (local.get 0))
    (func $first (result f64)
        (return (select (f64.const -nan:0xc000000000000) (f64.const nan:0xc000000000000) (i32.load (i32.const 4)))))";

/// The module as text, and what it answers.
pub(crate) struct Module {
    pub(crate) text: String,
    /// Eight bytes for each result, least first.
    pub(crate) expected: Vec<u8>,
    /// What each result is of.
    names: Vec<String>,
}

/// Every row that has a result and every use of a constant: each instruction in a loop over its rows, on operands from memory.
pub(crate) fn module() -> Module {
    let results = ANSWER + 28 + 4;
    let (mut functions, mut calls, mut operands) = (String::new(), String::new(), String::new());
    let (mut expected, mut names) = (Vec::new(), Vec::new());
    let all: Vec<Row> = rows().filter(|row| row.result.is_ok()).collect();
    for group in all.chunk_by(|left, right| left.name == right.name) {
        let (name, is_binary) = (group[0].name, group[0].operands.len() == 2);
        let instruction = name.replacen('_', ".", 1);
        let operand = name.split('_').rfind(|part| ["i32", "i64", "f32", "f64"].contains(part)).unwrap();
        let is_comparison = ["eq", "ne", "lt", "gt", "le", "ge"].contains(&&name[4..]);
        let result = if is_comparison { "i32" } else { &name[..3] };
        let second = if is_binary { format!("({operand}.load offset=8 (local.get 0))") } else { String::new() };
        writeln!(
            functions,
            "(func ${name} (param i32 i32 i32) (loop
                ({result}.store (local.get 1) ({instruction} ({operand}.load (local.get 0)) {second}))
                (local.set 0 (i32.add (local.get 0) (i32.const 16)))
                (local.set 1 (i32.add (local.get 1) (i32.const 8)))
                (br_if 0 (i32.lt_u (local.get 1) (local.get 2)))))"
        )
        .unwrap();
        let (from, to) = (OPERANDS + names.len() * 16, results + names.len() * 8);
        let end = to + group.len() * 8;
        writeln!(calls, "(call ${name} (i32.const {from}) (i32.const {to}) (i32.const {end}))").unwrap();
        for row in group {
            let pair = [row.operands[0], row.operands.get(1).copied().unwrap_or_default()];
            for operand in pair {
                bytes(&mut operands, operand);
            }
            expected.extend(row.result.unwrap().to_le_bytes());
            names.push(format!("{name} {:x?}", row.operands));
        }
    }
    for (expression, result) in CONSTANTS {
        let to = results + names.len() * 8;
        let is_double = expression.starts_with("f64") || result > u64::from(u32::MAX);
        let store = if is_double { "f64.store" } else { "f32.store" };
        writeln!(calls, "({store} (i32.const {to}) ({expression}))").unwrap();
        expected.extend(result.to_le_bytes());
        names.push(expression.to_owned());
    }
    let len = expected.len();
    // The results are stored, and answered once more behind that.
    let answer_len = results - ANSWER + 2 * len;
    let mut moved = String::new();
    for bits in MOVED {
        bytes(&mut moved, bits);
    }
    let text = format!(
        r#"(module (memory (export "memory") 8)
        (data (i32.const 0) "{moved}") (data (i32.const {OPERANDS}) "{operands}") (data (i32.const {ANSWER}) "{HEAD}")
        {CONSTANT_FUNCTIONS}
        {functions}
        (func (export "__execute") (result i32)
            {calls}
            (i32.store (i32.const {}) (i32.const {len}))
            (memory.copy (i32.const {}) (i32.const {results}) (i32.const {len}))
            (i32.store (i32.const {}) (i32.const {answer_len}))
            (i32.const {ANSWER})))"#,
        results - 4,
        results + len,
        ANSWER - 4,
    );
    assert!(ANSWER + answer_len <= OPERANDS, "the answer reaches the operands");
    Module { text, expected, names }
}

impl Module {
    /// Bytes of the answer.
    pub(crate) fn answer_len(&self) -> usize {
        32 + 2 * self.expected.len()
    }

    /// Compares results one by one.
    #[track_caller]
    pub(crate) fn check(&self, results: &[u8]) {
        assert_eq!(results.len(), self.expected.len());
        let pairs = results.chunks(8).zip(self.expected.chunks(8)).zip(&self.names);
        let bits = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let wrong: Vec<String> = pairs
            .filter(|((result, expected), _)| result != expected)
            .map(|((result, expected), name)| format!("{name}: {:x}, not {:x}", bits(result), bits(expected)))
            .collect();
        assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
    }
}

/// Eight bytes of a data segment, least first.
fn bytes(text: &mut String, value: u64) {
    for byte in value.to_le_bytes() {
        write!(text, "\\{byte:02x}").unwrap();
    }
}

/// A contract that copies constants to locals beside one another, and answers with nothing.
pub(crate) fn copies() -> String {
    answering(
        r"(func $copies (param f64) (result f64) (local f64 f64 f64 f64 f64 f64 f64 f64)
            (local.set 1 (f64.const -nan)) (local.set 2 (local.get 0))
            (local.set 3 (f64.const nan:0xc000000000000)) (local.set 4 (local.get 0))
            (local.set 5 (f64.const nan)) (local.set 6 (local.get 0))
            (local.set 7 (f64.add (local.get 0) (f64.const -nan:0xc000000000000))) (local.set 8 (local.get 0))
            (f64.add (f64.add (local.get 1) (local.get 3)) (f64.add (local.get 5) (local.get 7))))",
        "(drop (call $copies (f64.load (i32.const 0))))",
    )
}

/// A contract whose calls reach deep, with frames of all constants: more than the stack holds.
pub(crate) fn deep() -> String {
    let mut constants = String::new();
    for number in 1..=1300_u64 {
        write!(constants, "(local.set 1 (f64.const nan:{:#x}))", 1 << 51 | number << 29).unwrap();
    }
    answering(
        &format!(
            "(func $deep (param i32) (local f64) {constants}
                (if (local.get 0) (then (call $deep (i32.sub (local.get 0) (i32.const 1))))))"
        ),
        "(call $deep (i32.const 200))",
    )
}

fn answering(functions: &str, body: &str) -> String {
    format!(
        r#"(module (memory (export "memory") 1) (data (i32.const {}) "\14") {functions}
        (func (export "__execute") (result i32) {body} (i32.const {ANSWER})))"#,
        ANSWER - 4
    )
}
