//! Modules of random host calls, written as text.

use std::fmt::Write as _;

use crate::numbers::Numbers;

/// Host functions as every module of ours imports them.
const IMPORTS: &str = r#"(import "env" "abort" (func $abort (param i32 i32 i32 i32)))
(import "env" "__request_storage" (func $request_storage (param i32) (result i32)))
(import "env" "__load_storage" (func $load_storage (param i32 i32) (result i32)))
(import "env" "__request_context" (func $request_context (result i32)))
(import "env" "__load_context" (func $load_context (param i32) (result i32)))
(import "env" "__request_transaction" (func $request_transaction (result i32)))
(import "env" "__load_transaction" (func $load_transaction (param i32)))
(import "env" "__request_block" (func $request_block (result i32)))
(import "env" "__load_block" (func $load_block (param i32)))
(import "env" "__sequence" (func $sequence (param i32)))
(import "env" "__fuel" (func $fuel (param i32)))
(import "env" "__height" (func $height (param i32)))
(import "env" "__balance" (func $balance (param i32 i32 i32)))
(import "env" "__returndatacopy" (func $returndatacopy (param i32)))
(import "env" "__log" (func $log (param i32)))
(import "env" "__call" (func $call (param i32 i32 i32 i64) (result i32)))
(import "env" "__delegatecall" (func $delegatecall (param i32 i32 i32 i64) (result i32)))
(import "env" "__staticcall" (func $staticcall (param i32 i32 i32 i64) (result i32)))
"#;

/// Addresses of results, of long values and of the response.
const RESULTS: usize = 0x4_0000;
const LOADED: usize = 0x10_0000;
const RESPONSE: usize = 0x80_0000;
/// Bytes of results that the response carries.
const RESULT_LEN_MAX: usize = 1_024;

/// Invalid pointers.
const BAD_POINTERS: [i64; 8] = [0, 3, 4, 65_532, -1, 0x7fff_ffff, 33_554_430, -4];

/// Bits of numbers at the edges of floating point.
const DOUBLES: [u64; 14] = [
    0x7ff8_0000_0000_0000,
    0xfff8_0000_0000_0000,
    0x7ff0_0000_0000_0001,
    0x7ff8_dead_beef_0001,
    0xfff4_0000_0000_1234,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0,
    0x8000_0000_0000_0000,
    1,
    0x3ff0_0000_0000_0000,
    0xbff8_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x41e0_0000_0000_0000,
];

/// Operations on two numbers, on one, and those whose result is an integer.
const OF_TWO: [&str; 7] = ["add", "sub", "mul", "div", "min", "max", "copysign"];
const OF_ONE: [&str; 7] = ["sqrt", "ceil", "floor", "trunc", "nearest", "abs", "neg"];
const COMPARED: [&str; 6] = ["eq", "ne", "lt", "gt", "le", "ge"];

/// An id, as integers of a call or as bytes.
pub(crate) type Id = (u128, u128);

/// A module under construction.
struct Writing<'a> {
    numbers: &'a mut Numbers,
    /// Contracts that may be named.
    ids: &'a [Id],
    data: String,
    next: usize,
    body: String,
}

impl Writing<'_> {
    /// Puts bytes into the memory; answers where they begin, behind their length.
    fn buffer(&mut self, bytes: &[u8]) -> usize {
        let mut text = String::new();
        for byte in (bytes.len() as u32).to_le_bytes().iter().chain(bytes) {
            write!(text, "\\{byte:02x}").unwrap();
        }
        writeln!(self.data, "(data (i32.const {}) \"{text}\")", self.next).unwrap();
        let at = self.next + 4;
        self.next = (at + bytes.len()).next_multiple_of(8);
        at
    }

    /// A pointer to these bytes, seldom an invalid one.
    fn pointer(&mut self, bytes: &[u8]) -> i64 {
        if self.numbers.chance(2) {
            self.numbers.pick(&BAD_POINTERS)
        } else {
            i64::try_from(self.buffer(bytes)).unwrap()
        }
    }

    fn id(&mut self) -> Id {
        match self.numbers.below(12) {
            0 => (2, 0),
            1 => (32, 0),
            2 => (32, 1),
            3 => (u128::from(self.numbers.next() % 9), u128::from(self.numbers.next() % 9)),
            _ => self.numbers.pick(self.ids),
        }
    }

    fn id_bytes(&mut self) -> Vec<u8> {
        let (block, tx) = self.id();
        let mut bytes = [block.to_le_bytes(), tx.to_le_bytes()].concat();
        if self.numbers.chance(2) {
            bytes.truncate(self.numbers.below(32));
        }
        bytes
    }

    fn key(&mut self) -> Vec<u8> {
        match self.numbers.below(10) {
            0 => b"/last_block".to_vec(),
            1 => b"/totalsupply".to_vec(),
            2 => Vec::new(),
            3 => {
                let len = self.numbers.below(80);
                self.numbers.bytes(len)
            }
            _ => format!("/k{}", self.numbers.below(4)).into_bytes(),
        }
    }

    /// A storage map, sometimes one that cannot be read.
    fn map(&mut self) -> Vec<u8> {
        let count = if self.numbers.chance(50) { 0 } else { self.numbers.below(4) };
        let mut bytes = (count as u32).to_le_bytes().to_vec();
        for _ in 0..count {
            let len = self.numbers.below(40);
            let value = if self.numbers.chance(15) { Vec::new() } else { self.numbers.bytes(len) };
            for part in [self.key(), value] {
                bytes.extend((part.len() as u32).to_le_bytes());
                bytes.extend(part);
            }
        }
        self.spoil(&mut bytes, 4);
        bytes
    }

    fn parcel(&mut self) -> Vec<u8> {
        let count = if self.numbers.chance(60) { 0 } else { self.numbers.below(4) };
        let mut bytes = (count as u128).to_le_bytes().to_vec();
        for _ in 0..count {
            let (block, tx) = self.id();
            let value = self.numbers.number();
            bytes.extend([block, tx, value].iter().flat_map(|integer| integer.to_le_bytes()));
        }
        self.spoil(&mut bytes, 16);
        bytes
    }

    /// Seldom breaks bytes that begin with a count.
    fn spoil(&mut self, bytes: &mut Vec<u8>, count_len: usize) {
        match self.numbers.below(25) {
            0 => bytes.truncate(self.numbers.below(bytes.len() + 1)),
            1 => {
                let offset = self.numbers.below(bytes.len());
                bytes[offset] ^= 1 << self.numbers.below(8);
            }
            2 => {
                let extra = self.numbers.below(20);
                bytes.extend(self.numbers.bytes(extra));
            }
            3 => bytes[..count_len].fill(self.numbers.pick(&[0xff, 0x7f, 1])),
            _ => {}
        }
    }

    fn cellpack(&mut self) -> Vec<u8> {
        let (block, tx) = match self.numbers.below(14) {
            0 => (800_000_000, self.numbers.below(5) as u128),
            1 => (1, 0),
            2 => (3, self.numbers.below(3_000) as u128),
            3 => (5, self.numbers.below(12) as u128),
            4 => (6, self.numbers.below(3_000) as u128),
            5 => (0, 0),
            _ => self.id(),
        };
        let mut integers = vec![block, tx, self.numbers.pick(&[0, 1, 2, 5, 40, 47, 60, 61, 77, 78, 79, 99, 100, 101])];
        for _ in 0..self.numbers.below(4) {
            let number = self.numbers.number();
            integers.push(number);
        }
        let mut bytes: Vec<u8> = integers.iter().flat_map(|integer| integer.to_le_bytes()).collect();
        if self.numbers.chance(4) {
            bytes.truncate(self.numbers.below(bytes.len() + 1));
        }
        bytes
    }

    fn say(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    /// Keeps an i32 among the results.
    fn keep(&mut self, expression: &str) {
        self.say(&format!(
            "(i32.store (local.get $c) {expression}) (local.set $c (i32.add (local.get $c) (i32.const 4)))"
        ));
    }

    /// Has the host write a value of at most `len` bytes among the results.
    fn take(&mut self, call: &str, len: usize) {
        self.say(&format!(
            "{} (local.set $c (i32.add (local.get $c) (i32.const {})))",
            call.replace("$HERE", "(i32.add (local.get $c) (i32.const 4))"),
            len + 4
        ));
    }

    fn operation(&mut self) {
        match self.numbers.below(30) {
            0..2 => {
                let key = self.key();
                let key = self.pointer(&key);
                self.keep(&format!("(call $request_storage (i32.const {key}))"));
                self.take(&format!("(drop (call $load_storage (i32.const {key}) $HERE))"), 40);
            }
            2 => {
                self.keep("(call $request_context)");
                self.take("(drop (call $load_context $HERE))", 200);
            }
            3 => {
                self.keep("(call $request_transaction)");
                self.say(&format!("(call $load_transaction (i32.const {LOADED}))"));
                self.copy_loaded();
            }
            4 => {
                self.keep("(call $request_block)");
                if self.numbers.chance(40) {
                    self.say(&format!("(call $load_block (i32.const {LOADED}))"));
                    self.copy_loaded();
                }
            }
            5 => self.take("(call $sequence $HERE)", 16),
            6 => self.take("(call $fuel $HERE)", 8),
            7 => self.take("(call $height $HERE)", 8),
            8..11 => {
                let (who, what) = (self.id_bytes(), self.id_bytes());
                let who = self.pointer(&who);
                let what = if self.numbers.chance(20) { who } else { self.pointer(&what) };
                self.take(&format!("(call $balance (i32.const {who}) (i32.const {what}) $HERE)"), 16);
            }
            11 => self.take("(call $returndatacopy $HERE)", 200),
            12 => {
                let len = self.numbers.below(20);
                let text = self.numbers.bytes(len);
                let text = self.pointer(&text);
                self.say(&format!("(call $log (i32.const {text}))"));
            }
            13..19 => self.calls(),
            19 => {
                if self.numbers.chance(10) {
                    self.say("(call $abort (i32.const 1) (i32.const 2) (i32.const 3) (i32.const 4))");
                }
            }
            20 => {
                let pages = self.numbers.pick(&[0, 1, 30, 151, 152, 153, 700, 65_536]);
                self.keep(&format!("(memory.grow (i32.const {pages}))"));
                self.keep("(memory.size)");
            }
            21..25 => self.floats(),
            25 => {
                let turns = self.numbers.pick(&[1, 10, 100, 1_000, 20_000]);
                self.say(&format!(
                    "(local.set $n (i32.const {turns})) (loop $l (local.set $n (i32.sub (local.get $n) (i32.const 1))) \
                     (br_if $l (local.get $n)))"
                ));
            }
            26 => {
                if self.numbers.chance(12) {
                    let ends = ["(unreachable)", "(drop (i32.div_s (i32.const 1) (local.get $n)))"];
                    let end = self.numbers.pick(&ends);
                    self.say(end);
                    self.say("(drop (i32.trunc_f64_s (f64.const 1e30)))");
                }
            }
            27 => {
                let len = self.numbers.pick(&[0, 1, 64, 5_000, 70_000, -1]);
                self.say(&format!("(memory.fill (i32.const {LOADED}) (i32.const 7) (i32.const {len}))"));
            }
            28 => {
                self.keep("(call_indirect (type $t) (i32.const 0))");
            }
            _ => {
                self.keep("(i32.trunc_sat_f64_s (f64.const nan))");
                self.keep("(i32.extend8_s (i32.const 200))");
            }
        }
    }

    fn copy_loaded(&mut self) {
        self.say(&format!(
            "(memory.copy (local.get $c) (i32.const {LOADED}) (i32.const 64)) (local.set $c (i32.add (local.get $c) (i32.const 64)))"
        ));
    }

    fn calls(&mut self) {
        let kind = self.numbers.pick(&["call", "call", "call", "delegatecall", "staticcall"]);
        let (parcel, map) = (self.parcel(), self.map());
        let (parcel, map) = (self.pointer(&parcel), self.pointer(&map));
        let fuel = self.numbers.pick(&[-1, 0, 1_000, 1_000_000]);
        if self.numbers.chance(35) {
            // The target is taken from the context: its inputs behind the first.
            self.say(&format!(
                "(local.set $n (call $load_context (i32.const {LOADED})))
                 (local.set $p (i32.add (i32.const {}) (i32.mul (i32.load (i32.const {})) (i32.const 48))))
                 (local.set $n (i32.sub (call $request_context) (i32.sub (local.get $p) (i32.const {LOADED}))))
                 (if (i32.gt_s (local.get $n) (i32.const 0)) (then (i32.store (i32.sub (local.get $p) (i32.const 4)) (local.get $n))))",
                LOADED + 112,
                LOADED + 80
            ));
            self.keep(&format!(
                "(call ${kind} (local.get $p) (i32.const {parcel}) (i32.const {map}) (i64.const {fuel}))"
            ));
        } else {
            let cellpack = self.cellpack();
            let cellpack = self.pointer(&cellpack);
            self.keep(&format!(
                "(call ${kind} (i32.const {cellpack}) (i32.const {parcel}) (i32.const {map}) (i64.const {fuel}))"
            ));
        }
        if self.numbers.chance(70) {
            self.take("(call $returndatacopy $HERE)", 64);
        }
    }

    fn floats(&mut self) {
        let bits = |numbers: &mut Numbers| if numbers.chance(80) { numbers.pick(&DOUBLES) } else { numbers.next() };
        for _ in 0..=self.numbers.below(4) {
            let (left, right) = (bits(self.numbers), bits(self.numbers));
            let at = self.buffer(&[left.to_le_bytes(), right.to_le_bytes()].concat());
            let is_double = self.numbers.chance(60);
            let (kind, size) = if is_double { ("f64", 8) } else { ("f32", 4) };
            // Upper halves of doubles are what a single would be.
            let offset = 8 - size;
            let left = format!("({kind}.load (i32.const {}))", at + offset);
            let right = format!("({kind}.load (i32.const {}))", at + 8 + offset);
            let result = match self.numbers.below(8) {
                0..4 => format!("({kind}.{} {left} {right})", self.numbers.pick(&OF_TWO)),
                4..6 => format!("({kind}.{} {left})", self.numbers.pick(&OF_ONE)),
                6 if is_double => format!("(f64.promote_f32 (f32.load (i32.const {})))", at + 4),
                6 => format!("(f32.demote_f64 (f64.load (i32.const {at})))"),
                _ => {
                    let compared = format!("({kind}.{} {left} {right})", self.numbers.pick(&COMPARED));
                    self.keep(&compared);
                    continue;
                }
            };
            self.say(&format!(
                "({kind}.store (local.get $c) {result}) (local.set $c (i32.add (local.get $c) (i32.const {size})))"
            ));
        }
    }
}

/// A contract of random host calls, which may call `ids`.
pub(crate) fn random(numbers: &mut Numbers, ids: &[Id]) -> String {
    let mut writing = Writing { numbers, ids, data: String::new(), next: 0x100, body: String::new() };
    for _ in 0..=writing.numbers.below(9) {
        writing.operation();
    }
    let map = writing.map();
    let (map_at, map_len) = (writing.buffer(&map), map.len());
    // Outgoing alkanes: the incoming ones, or others.
    let parcel = if writing.numbers.chance(60) {
        format!(
            "(drop (call $load_context (i32.const {LOADED})))
             (local.set $n (i32.add (i32.const 16) (i32.mul (i32.load (i32.const {})) (i32.const 48))))
             (memory.copy (local.get $p) (i32.const {}) (local.get $n)) (local.set $p (i32.add (local.get $p) (local.get $n)))",
            LOADED + 80,
            LOADED + 80
        )
    } else {
        let parcel = writing.parcel();
        let at = writing.buffer(&parcel);
        let len = parcel.len();
        format!(
            "(memory.copy (local.get $p) (i32.const {at}) (i32.const {len})) (local.set $p (i32.add (local.get $p) (i32.const {len})))"
        )
    };
    let memory = writing.numbers.pick(&["1", "2", "5", "40", "512", "600", "2 1000", "16 65536"]);
    let pages: usize = memory.split(' ').next().map_or(1, |pages| pages.parse().unwrap());
    let pages = pages.max(writing.next.div_ceil(65_536));
    let memory = memory.split_once(' ').map_or(pages.to_string(), |(_, most)| format!("{pages} {most}"));
    let Writing { data, body, .. } = writing;
    format!(
        "(module\n{IMPORTS}(memory (export \"memory\") {memory})\n(type $t (func (result i32)))\n(table 1 funcref)\n\
         (elem (i32.const 0) $indirect)\n(func $indirect (result i32) (i32.const 99))\n{data}\
         (func (export \"__meta\") (result i32) (i32.const {map_at}))\n\
         (func (export \"__execute\") (result i32) (local $c i32) (local $n i32) (local $p i32)\n\
         (local.set $c (i32.const {RESULTS}))\n{body}\
         (local.set $p (i32.const {RESPONSE}))\n{parcel}\n\
         (memory.copy (local.get $p) (i32.const {map_at}) (i32.const {map_len})) (local.set $p (i32.add (local.get $p) (i32.const {map_len})))\n\
         (local.set $n (i32.sub (local.get $c) (i32.const {RESULTS})))\n\
         (if (i32.gt_u (local.get $n) (i32.const {RESULT_LEN_MAX})) (then (local.set $n (i32.const {RESULT_LEN_MAX}))))\n\
         (memory.copy (local.get $p) (i32.const {RESULTS}) (local.get $n)) (local.set $p (i32.add (local.get $p) (local.get $n)))\n\
         (i32.store (i32.const {}) (i32.sub (local.get $p) (i32.const {RESPONSE})))\n\
         (i32.const {RESPONSE})))",
        RESPONSE - 4
    )
}

/// Modules with unusual declarations and exports, or without required ones.
pub(crate) fn odd(numbers: &mut Numbers) -> String {
    let answer = "\"\\14\\00\\00\\00\" \"\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\\00\" \"\\00\\00\\00\\00\"";
    let memory = numbers.pick(&[
        "(memory (export \"memory\") 1)",
        "(memory (export \"memory\") 0)",
        "(memory (export \"memory\") 512 512)",
        "(memory (export \"memory\") 663)",
        "(memory (export \"memory\") 664)",
        "(memory (export \"memory\") 665)",
        "(memory (export \"memory\") 1) (memory 1)",
        "(memory 1) (export \"other\" (memory 0))",
        "(memory (export \"memory\") 1 65536)",
    ]);
    let more = numbers.pick(&[
        "",
        "",
        "(table 10 funcref)",
        "(table 1000000 funcref)",
        "(table 10 externref)",
        "(global (mut i64) (i64.const 1)) (global (export \"g\") f64 (f64.const nan:0x4000000000001))",
        "(func $start) (start $start)",
        "(import \"env\" \"nothing\" (func))",
        "(import \"other\" \"__height\" (func (param i32)))",
        "(import \"env\" \"__height\" (func (param i64)))",
        "(func (export \"f\") (result i32 i32) (i32.const 1) (i32.const 2))",
        "(func $r (param i32) (result i32) (return_call $r (local.get 0)))",
        "(data \"passive\") (elem funcref)",
    ]);
    let body = numbers.pick(&[
        "(i32.const 1028)",
        "(i32.const 1028)",
        "(i32.const 0)",
        "(i32.const 3)",
        "(i32.const 4)",
        "(i32.const -1)",
        "(i32.const 33554432)",
        "(unreachable)",
        "(call $deep (i32.const 900))",
        "(call $deep (i32.const 1100))",
        "(memory.grow (i32.const 1))",
    ]);
    let signature = numbers.pick(&["(result i32)", "(result i32)", "(result i32)", "(param i32) (result i32)"]);
    let name = numbers.pick(&["__execute", "__execute", "__execute", "__execute", "execute"]);
    // Imports come first.
    let (first, then) = if more.starts_with("(import") { (more, "") } else { ("", more) };
    format!(
        "(module {first} {memory} (data (i32.const 1024) {answer}) {then}\n\
         (func $deep (param $n i32) (result i32) (if (result i32) (local.get $n) \
         (then (call $deep (i32.sub (local.get $n) (i32.const 1)))) (else (i32.const 1028))))\n\
         (func (export \"{name}\") {signature} {body}))"
    )
}
