//! Expensive work for little fuel, each kind as a contract.

use paraffin_primitives::AlkaneId;

use crate::stage::{answering, id, module, module_text, wat};

/// A contract that does much work for little fuel.
pub(crate) struct Dear {
    pub(crate) name: &'static str,
    pub(crate) code: Vec<u8>,
    /// Contracts that it calls, from [`CALLEE`] on.
    pub(crate) callees: Vec<Vec<u8>>,
    /// Code that each transaction creates a contract of, instead of calling one.
    pub(crate) created: Option<fn(u32) -> Vec<u8>>,
}

pub(crate) const DEAR: AlkaneId = id(2, 1);
pub(crate) const INNOCENT: AlkaneId = id(2, 2);
/// The target that creates a contract of the envelope.
pub(crate) const CREATE: AlkaneId = id(1, 0);
pub(crate) const CALLEE: AlkaneId = id(2, 3);

/// Prepares a call to [`CALLEE`] with nothing: the call itself is [`CALL`].
const PREPARE: &str = "(i32.store (i32.const 1996) (i32.const 32)) (i32.store (i32.const 2000) (i32.const 2))
    (i32.store (i32.const 2016) (i32.const 3)) (i32.store (i32.const 2096) (i32.const 16))
    (i32.store (i32.const 2196) (i32.const 4))";
const CALL: &str = "(drop (call $call (i32.const 2000) (i32.const 2100) (i32.const 2200) (i64.const 0)))";

fn forever(before: &str, again: &str) -> Vec<u8> {
    answering(&format!("{before} (loop {again} (br 0))"))
}

pub(crate) fn dear() -> Vec<Dear> {
    let plain = |name, code| Dear { name, code, callees: Vec::new(), created: None };
    let calling = |name, callee| Dear { name, code: forever(PREPARE, CALL), callees: vec![callee], created: None };
    let created = |name, code| Dear { name, code: Vec::new(), callees: Vec::new(), created: Some(code) };
    let counting = |again: &str| {
        module(&format!(
            r#"(func (export "__execute") (result i32) (local $i i32) {PREPARE}
            (i32.store (i32.const 2296) (i32.const 32)) (i32.store (i32.const 2396) (i32.const 32))
            (loop (local.set $i (i32.add (local.get $i) (i32.const 1)))
                (i32.store (i32.const 2300) (local.get $i)) {again} (br 0)) (i32.const 1028))"#
        ))
    };
    // Three million units of fuel, and an answer whose storage costs more than the fuel left.
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
    // A map of 2,000,000 pairs in no order, which is not paid for.
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
        Dear {
            name: "amounts of nothing are moved",
            code: module(&parcel),
            callees: vec![answering("")],
            created: None,
        },
        plain("a map is sorted", module(&pairs)),
        plain("block answers are asked for", {
            let prepare = PREPARE.replace("(i32.const 2000) (i32.const 2)", "(i32.const 2000) (i32.const 800000000)");
            forever(&prepare.replace("(i32.const 2016) (i32.const 3)", "(i32.const 2016) (i32.const 1)"), CALL)
        }),
        calling("contracts are started", answering("")),
        calling("pages are touched", answering(&touches(8192))),
        calling("nobody pays for what is burnt", unpaid),
        calling("much is returned", returning),
        calling("memories are grown by hand", wat(&module_text("(memory (export \"memory\") 1)", small_memory))),
        calling(
            "functions are declared",
            module(&format!(r#"{functions} (func (export "__execute") (result i32) (i32.const 1028))"#)),
        ),
        calling("tables are filled", module(table)),
        calling("code unpacks to much", vec![0; 60 << 20]),
        touching("pages are touched by two calls for each share", 4400),
        touching_as_deep_as_may_be(),
        calling("pages of many memories are touched", {
            let touched: String = (1..20)
                .flat_map(|memory| (0..8192).map(move |page| (memory, page * 4096)))
                .flat_map(|(memory, place)| [format!("(i32.store8 {memory} (i32.const {place}) (i32.const 1))")])
                .collect();
            let memories = "(memory 512)".repeat(19);
            let execute = format!(r#"(func (export "__execute") (result i32) {touched} (i32.const 1028))"#);
            wat(&module_text(&format!("(memory (export \"memory\") 1) {memories}"), &execute))
        }),
        Dear {
            name: "pages are touched when the fuel is burnt",
            // 8,050 pages of its own, and a call that touches all there are.
            code: answering(&format!(
                "{PREPARE} {fills} {CALL}",
                fills = "(memory.fill (i32.const 65536) (i32.const 1) (i32.const 33000000))".repeat(6),
            )),
            callees: vec![answering(&touches(8192))],
            created: None,
        },
        calling("there is no such contract", Vec::new()),
        calling("data lies in every page", spread_data()),
        plain("functions with many locals are called", locals_called()),
        plain("many parameters are handed on", parameters_handed_on()),
        plain("many values are carried round a loop", values_carried()),
        created("functions of many locals are compiled", locals_compiled),
        created("calls of many parameters are compiled", wide_calls_compiled),
        created("blocks of many values are compiled", wide_blocks_compiled),
        created("blocks in blocks are compiled", nested_blocks_compiled),
        created("targets of jumps are compiled", jump_targets_compiled),
        created("jumps of many values are compiled", wide_jumps_compiled),
        delegating("code of others is called in its own name", "$delegatecall"),
        delegating("calls that may change nothing are made", "$staticcall"),
        deep(),
        plain("calls have many inputs", {
            let prepare = PREPARE.replace(
                "(i32.store (i32.const 1996) (i32.const 32))",
                "(i32.store (i32.const 1996) (i32.const 33500000))",
            );
            forever(&prepare.replace("(i32.const 2100)", "(i32.const 33553000)"), CALL)
        }),
        plain("the context is loaded", forever("", "(drop (call $load_context (i32.const 3004)))")),
        plain("the next number is asked for", forever("", "(call $sequence (i32.const 3004))")),
        plain("what was returned is copied", returndata_copied()),
    ]
}

/// Touches the pages from 16 on.
fn touches(end: usize) -> String {
    (16..end).flat_map(|page| [format!("(i32.store8 (i32.const {}) (i32.const 1))", page * 4096)]).collect()
}

fn touching(name: &'static str, end: usize) -> Dear {
    Dear { name, code: forever(PREPARE, CALL), callees: vec![answering(&touches(end))], created: None }
}

/// Each contract touches all pages and then calls itself.
fn touching_as_deep_as_may_be() -> Dear {
    let callee = answering(&format!("{PREPARE} {} {CALL}", touches(8192)));
    Dear {
        name: "pages are touched as deep as may be",
        code: forever(PREPARE, CALL),
        callees: vec![callee],
        created: None,
    }
}

/// A byte of data in every page of a memory that starts at its full size.
fn spread_data() -> Vec<u8> {
    let data: String = (1..8192).flat_map(|page| [format!("(data (i32.const {}) \"a\")", page * 4096)]).collect();
    let execute = r#"(func (export "__execute") (result i32) (i32.const 1028))"#;
    wat(&module_text(&format!("(memory (export \"memory\") 512) {data}"), execute))
}

fn locals_called() -> Vec<u8> {
    let locals = "i64 ".repeat(30_000);
    module(&format!(
        r#"(func $many (local {locals})) (func (export "__execute") (result i32)
            (loop (call $many) (br 0)) (i32.const 1028))"#
    ))
}

fn parameters_handed_on() -> Vec<u8> {
    let (types, zeros) = ("i64 ".repeat(WIDE), "(i64.const 7)".repeat(WIDE));
    module(&format!(
        r#"(func $many (param {types})) (func (export "__execute") (result i32)
            (loop {zeros} (call $many) (br 0)) (i32.const 1028))"#
    ))
}

fn values_carried() -> Vec<u8> {
    let (types, zeros) = ("i64 ".repeat(WIDE), "(i64.const 7)".repeat(WIDE));
    module(&format!(
        r#"(type $wide (func (param {types}) (result {types})))
        (func (export "__execute") (result i32)
            {zeros} (loop (type $wide) (i64.const 9) drop (br 0)) unreachable)"#
    ))
}

/// Units of work that a module may take to compile within the share of a transaction, and what a byte of code takes.
const COMPILING: usize = 3_900_000;
const CODE_BYTE: usize = 22;

/// Parameters and results of a wide function: as many as there may be.
const WIDE: usize = 1000;

/// Targets that a jump may have.
const TARGETS: usize = 58_000;

/// A module written byte by byte, for what is too long as text: functions of these types and bodies, and `__execute`, which
/// the number makes another in each module. Type 0 is that of `__execute`, 1 that of `()`, 2 one of so many values on both sides,
/// which makes all code of its module count for more.
fn compiled(number: u32, values: usize, functions: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let length = |bytes: &[u8]| [&leb(bytes.len())[..], bytes].concat();
    let section =
        |id: u8, count: usize, items: &[u8]| [&[id][..], &length(&[&leb(count)[..], items].concat())].concat();
    let wide = [&leb(values)[..], &vec![0x7e; values]].concat();
    let types = [&[0x60, 0, 1, 0x7f, 0x60, 0, 0, 0x60][..], &wide, &wide].concat();
    let kinds: Vec<u8> = functions.iter().map(|(kind, _)| *kind).chain([0]).collect();
    let exports = [&length(b"memory")[..], &[2, 0], &length(b"__execute"), &[0], &leb(functions.len())].concat();
    let execute = [&[0, 0x41][..], &leb(number as usize & 0x3fff_ffff), &[0x1a, 0x41, 0xc0, 0, 0x0b]].concat();
    let mut code = Vec::new();
    for body in functions.iter().map(|(_, body)| body).chain([&execute]) {
        code.extend(length(body));
    }
    [
        &b"\0asm\x01\0\0\0"[..],
        &section(1, 3, &types),
        &section(3, kinds.len(), &kinds),
        &section(5, 1, &[0, 1]),
        &section(7, 2, &exports),
        &section(10, kinds.len(), &code),
        // At 64: a response without alkanes, storage and data.
        &section(11, 1, &[&[0, 0x41, 60, 0x0b][..], &length(&[&[20, 0, 0, 0][..], &[0; 20]].concat())].concat()),
    ]
    .concat()
}

fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    // One byte more than is needed, so that the same bytes are signed numbers as well.
    while number >= 64 {
        bytes.push(number as u8 & 0x7f | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// A function that has [`WIDE`] values and then does something again and again.
fn wide(again: &[u8], last: &[u8]) -> Vec<u8> {
    let count = COMPILING / CODE_BYTE / again.len();
    [&[0][..], &[0x42, 7].repeat(WIDE), &again.repeat(count), last, &[0, 0x0b]].concat()
}

fn locals_compiled(number: u32) -> Vec<u8> {
    let function = (1, [&[1][..], &leb(30_000), &[0x7e, 0x0b]].concat());
    compiled(number, 0, &vec![function; COMPILING / 176])
}

fn wide_calls_compiled(number: u32) -> Vec<u8> {
    compiled(number, WIDE, &[(2, vec![0, 0, 0x0b]), (1, wide(&[0x10, 0], &[]))])
}

fn wide_blocks_compiled(number: u32) -> Vec<u8> {
    compiled(number, WIDE, &[(1, wide(&[2, 2, 0x0b], &[]))])
}

fn wide_jumps_compiled(number: u32) -> Vec<u8> {
    let jump = [&[0x41, 0, 0x0e][..], &leb(TARGETS), &vec![0; TARGETS + 1]].concat();
    let function = (2, [&[0][..], &[0x42, 7].repeat(WIDE), &jump, &[0x0b]].concat());
    compiled(number, WIDE, &vec![function; COMPILING / CODE_BYTE / TARGETS])
}

fn nested_blocks_compiled(number: u32) -> Vec<u8> {
    let depth = COMPILING / CODE_BYTE / 3;
    compiled(number, 0, &[(1, [&[0][..], &[2, 0x40].repeat(depth), &vec![0x0b; depth + 1]].concat())])
}

fn jump_targets_compiled(number: u32) -> Vec<u8> {
    let function = (1, [&[0, 0x41, 0, 0x0e][..], &leb(TARGETS), &vec![0; TARGETS + 1], &[0x0b]].concat());
    compiled(number, 0, &vec![function; COMPILING / CODE_BYTE / TARGETS])
}

/// Calls of another kind.
fn delegating(name: &'static str, call: &str) -> Dear {
    Dear { name, code: forever(PREPARE, &CALL.replace("$call", call)), callees: vec![answering("")], created: None }
}

/// Each contract calls itself until the recursion is refused.
fn deep() -> Dear {
    let callee = answering(&format!("{PREPARE} {CALL} {CALL}"));
    Dear {
        name: "contracts call themselves as deep as they may",
        code: forever(PREPARE, CALL),
        callees: vec![callee],
        created: None,
    }
}

/// Answers about the block are copied again and again.
fn returndata_copied() -> Vec<u8> {
    let prepare = PREPARE.replace("(i32.const 2000) (i32.const 2)", "(i32.const 2000) (i32.const 800000000)");
    forever(&format!("{prepare} {CALL}"), "(call $returndatacopy (i32.const 3004))")
}
