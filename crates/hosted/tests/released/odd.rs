//! A contract that answers and calls with malformed bytes, and reads balances and fuel.

use std::fmt::Write as _;

use crate::chain::{ODD, RUNE};

/// One input of the contract.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) operation: u128,
    /// Pointer to the bytes that it answers or calls with.
    pub(crate) pointer: u32,
}

/// The contract's data, and what to do with them.
pub(crate) struct Odd {
    pub(crate) cases: Vec<Case>,
    /// An answer without anything.
    pub(crate) answer: u32,
    /// An answer that gives units of [`RUNE`].
    pub(crate) rune: u32,
    /// Ids of which the balance in themselves is read.
    balances: Vec<u32>,
    /// A call to itself for [`Odd::FUEL`].
    cellpack: u32,
    /// No alkanes.
    parcel: u32,
    /// No pairs.
    map: u32,
    data: String,
    end: u32,
}

impl Odd {
    const ANSWER: u128 = 0;
    const CALL: u128 = 1;
    const BALANCES: u128 = 2;
    /// Answers `__fuel`.
    pub(crate) const FUEL: u128 = 3;
    /// Calls itself for `__fuel`, and answers that.
    pub(crate) const CALLED_FUEL: u128 = 4;

    pub(crate) fn new() -> Self {
        let mut odd = Self {
            cases: Vec::new(),
            answer: 0,
            rune: 0,
            balances: Vec::new(),
            cellpack: 0,
            parcel: 0,
            map: 0,
            data: String::new(),
            end: 1024,
        };
        odd.answer = odd.append(&[0; 20]);
        odd.parcel = odd.append(&[0; 16]);
        odd.cellpack = odd.append(&[ODD.block, ODD.tx, Self::FUEL, 0].map(u128::to_le_bytes).concat());
        odd.map = odd.append(&[0; 4]);
        for id in [[2, 0], [32, 1], [32, 0], [7, 7]] {
            let id = odd.append(&id.map(u128::to_le_bytes).concat());
            odd.balances.push(id);
        }
        let transfer = [1, RUNE.block, RUNE.tx, 5].map(u128::to_le_bytes).concat();
        odd.rune = odd.append(&[&transfer[..], &[0; 4]].concat());
        let word = |value: u32| value.to_le_bytes();
        let maps: [(&str, &str, Vec<u8>); 9] = [
            ("answer without a count", "call without a count", vec![1, 0, 0]),
            ("answer with endless pairs", "call with endless pairs", [&word(u32::MAX)[..], &[0; 100]].concat()),
            ("answer with a pair too many", "call with a pair too many", [&word(2)[..], &[0; 15]].concat()),
            ("answer with a long key", "call with a long key", [word(1), word(5), word(0)].concat()),
            ("answer with an endless key", "call with an endless key", [word(1), word(u32::MAX), word(0)].concat()),
            ("answer that ends behind a key", "call that ends behind a key", [word(1), word(2), word(0)].concat()),
            ("answer with a long value", "call with a long value", [word(1), word(0), word(1)].concat()),
            ("answer with a long second value", "call with a long second value", {
                [word(2), word(0), word(4), *b"abcd", word(0), word(7), word(9)].concat()
            }),
            ("answer with one pair and more", "call with one pair and more", {
                [word(1), word(1), *b"k\x01\0\0", word(0)].concat()
            }),
        ];
        for (answered, called, map) in maps {
            let pointer = odd.append(&[&[0; 16][..], &map].concat());
            odd.cases.push(Case { name: answered, operation: Self::ANSWER, pointer });
            let pointer = odd.append(&map);
            odd.cases.push(Case { name: called, operation: Self::CALL, pointer });
        }
        odd.cases.push(Case {
            name: "lengths of balances of contracts in themselves",
            operation: Self::BALANCES,
            pointer: 0,
        });
        odd
    }

    /// Appends bytes to the memory, with their length in front; returns the pointer.
    fn append(&mut self, bytes: &[u8]) -> u32 {
        let start = self.end + 4;
        let length = u32::try_from(bytes.len()).unwrap();
        let escape = |byte: &u8| ["\\".to_owned(), format!("{byte:02x}")];
        let text: String = length.to_le_bytes().iter().chain(bytes).flat_map(escape).collect();
        writeln!(self.data, "(data (i32.const {}) \"{text}\")", self.end).unwrap();
        self.end = start + length.next_multiple_of(4);
        start
    }

    /// The module. The context is at 30,000, its first input 96 bytes behind; an answer of 8 bytes of data at 40,000.
    pub(crate) fn module(&self) -> Vec<u8> {
        let Self { data, balances, cellpack, parcel, map, .. } = self;
        let asked = balances.iter().zip((40_020..).step_by(4)).flat_map(|(id, output)| {
            [
                format!("(call $balance (i32.const {id}) (i32.const {id}) (i32.const 41000))"),
                format!("(i32.store (i32.const {output}) (i32.load (i32.const 40996)))"),
            ]
        });
        let asked: String = asked.collect();
        let text = format!(
            r#"(module
            (import "env" "__load_context" (func $load_context (param i32) (result i32)))
            (import "env" "__call" (func $call (param i32 i32 i32 i64) (result i32)))
            (import "env" "__returndatacopy" (func $returndatacopy (param i32)))
            (import "env" "__balance" (func $balance (param i32 i32 i32)))
            (import "env" "__fuel" (func $fuel (param i32)))
            (memory (export "memory") 1)
            {data}
            (func $is (param $operation i32) (result i32)
                (i32.eq (i32.load (i32.const 30096)) (local.get $operation)))
            (func $call_with (param $map i32) (result i32)
                (call $call (i32.const {cellpack}) (i32.const {parcel}) (local.get $map) (i64.const 0)))
            (func (export "__execute") (result i32)
                (drop (call $load_context (i32.const 30000)))
                (i32.store (i32.const 39996) (i32.const 28))
                (if (call $is (i32.const {ANSWER})) (then (return (i32.load (i32.const 30112)))))
                (if (call $is (i32.const {CALL})) (then
                    (i32.store (i32.const 40020) (i32.const 0xa079c308))
                    (i32.store (i32.const 40024) (call $call_with (i32.load (i32.const 30112))))))
                (if (call $is (i32.const {BALANCES})) (then
                    (i32.store (i32.const 39996) (i32.const 36))
                    {asked}))
                (if (call $is (i32.const {FUEL})) (then
                    (call $fuel (i32.const 41000))
                    (i64.store (i32.const 40020) (i64.load (i32.const 41000)))))
                (if (call $is (i32.const {CALLED_FUEL})) (then
                    (drop (call $call_with (i32.const {map})))
                    (call $returndatacopy (i32.const 41000))
                    (i64.store (i32.const 40020) (i64.load (i32.const 41016)))))
                (i32.const 40000)))"#,
            ANSWER = Self::ANSWER,
            CALL = Self::CALL,
            BALANCES = Self::BALANCES,
            FUEL = Self::FUEL,
            CALLED_FUEL = Self::CALLED_FUEL,
        );
        wat::parse_str(&text).unwrap()
    }
}
