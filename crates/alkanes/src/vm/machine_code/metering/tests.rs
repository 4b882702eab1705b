//! Modules that count their own fuel, beside wasmi that counts it.

use std::fmt::Write as _;

use paraffin_testkit::Random;

use super::super::costs::costs_of;
use super::*;

const FUEL: u64 = 20_000;

/// What a call returns and the fuel that it leaves, or nothing where it is trapped.
type Ended = Option<(i32, u64)>;

fn interpreted(code: &[u8], arguments: (i32, i32)) -> (Ended, Vec<FunctionCosts>) {
    let mut config = wasmi::Config::default();
    config.consume_fuel(true);
    let engine = wasmi::Engine::new(&config);
    let module = wasmi::Module::new(&engine, code).unwrap();
    let mut store = wasmi::Store::new(&engine, ());
    store.set_fuel(FUEL).unwrap();
    let instance = wasmi::Linker::new(&engine).instantiate(&mut store, &module).unwrap();
    let instance = instance.ensure_no_start(&mut store).unwrap();
    let run = instance.get_typed_func::<(i32, i32), i32>(&store, "run").unwrap();
    let result = run.call(&mut store, arguments).ok();
    (result.map(|result| (result, store.get_fuel().unwrap())), costs_of(&engine).unwrap())
}

fn compiled(code: &[u8], costs: &[FunctionCosts], arguments: (i32, i32)) -> Result<Ended, Unfit> {
    let metered = metered(code, costs)?;
    let engine = wasmtime::Engine::default();
    let module = wasmtime::Module::new(&engine, metered).unwrap();
    let mut store = wasmtime::Store::new(&engine, ());
    let instance = wasmtime::Linker::new(&engine).instantiate(&mut store, &module).unwrap();
    let left = instance.get_global(&mut store, FUEL_EXPORT).unwrap();
    left.set(&mut store, wasmtime::Val::I64(FUEL.cast_signed())).unwrap();
    let run = instance.get_typed_func::<(i32, i32), i32>(&mut store, "run").unwrap();
    let result = run.call(&mut store, arguments).ok();
    Ok(result.map(|result| (result, left.get(&mut store).i64().unwrap().cast_unsigned())))
}

/// Functions of two parameters and four locals more: two numbers, a counter of loops, and a wide number.
struct Generator {
    random: Random,
    text: String,
    functions: u64,
    /// Labels around, from the outermost on: whether each is a loop.
    labels: Vec<bool>,
}

impl Generator {
    fn module(seed: u64) -> String {
        let random = Random(seed);
        let mut generator = Self { random, text: String::new(), functions: 4, labels: Vec::new() };
        let text = &mut generator.text;
        text.push_str("(module (type $call (func (param i32 i32) (result i32)))\n");
        text.push_str("(memory (export \"memory\") 1 100) (table 6 funcref) (elem (i32.const 0) func 0 1 2 3)\n");
        text.push_str("(global (mut i32) (i32.const 7))\n");
        for function in 0..generator.functions {
            generator.text.push_str("(func (type $call) (local i32 i32 i32 i64)\n");
            generator.statements(3);
            generator.expression(2);
            generator.text.push_str(")\n");
            if function == 0 {
                generator.text.push_str("(export \"run\" (func 0))\n");
            }
        }
        generator.text.push(')');
        generator.text
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..=self.below(4) {
            self.statement(depth);
        }
    }

    fn inside(&mut self, is_loop: bool, depth: u32) {
        self.labels.push(is_loop);
        self.statements(depth - 1);
        self.labels.pop();
    }

    fn statement(&mut self, depth: u32) {
        let kind = if depth == 0 { self.below(7) } else { self.below(17) };
        match kind {
            0..3 => {
                self.expression(2);
                let local = self.below(4);
                writeln!(self.text, "local.set {local}").unwrap();
            }
            3 => {
                self.address();
                self.expression(2);
                let store = ["i32.store", "i32.store8", "i32.store16 offset=9"][self.below(3) as usize];
                self.put(store);
            }
            4 => {
                self.expression(1);
                self.put("i64.extend_i32_s local.get 5 i64.add i64.const 77 i64.mul local.set 5");
            }
            5 => {
                self.expression(1);
                self.put("global.set 0");
            }
            6 => self.put("nop"),
            7 => {
                self.put("block");
                self.inside(false, depth);
                self.put("end");
            }
            8 | 9 => {
                let times = self.below(6);
                writeln!(self.text, "i32.const {times} local.set 4 loop").unwrap();
                self.inside(true, depth);
                self.put("local.get 4 i32.const 1 i32.sub local.tee 4 i32.const 0 i32.gt_s br_if 0 end");
            }
            10 | 11 => {
                self.condition();
                self.put("if");
                self.inside(false, depth);
                if self.below(2) == 0 {
                    self.put("else");
                    self.inside(false, depth);
                }
                self.put("end");
            }
            12 => self.leave(),
            13 => {
                let sum = ["memory.copy", "memory.fill"][self.below(2) as usize];
                self.address();
                self.address();
                let len = self.below(300);
                writeln!(self.text, "i32.const {len} {sum}").unwrap();
            }
            14 => {
                let pages = self.below(3);
                writeln!(self.text, "i32.const {pages} memory.grow local.set 2").unwrap();
            }
            15 => {
                self.condition();
                self.put("if (result i32)");
                self.expression(2);
                self.put("else");
                self.expression(1);
                self.put("end local.set 3");
            }
            _ => {
                // What a block gives is given by a branch as well.
                self.put("block (result i32)");
                self.expression(1);
                self.condition();
                self.put("br_if 0");
                self.expression(1);
                self.put("i32.add end local.set 2");
            }
        }
    }

    /// Leaves a block, always or on a condition. What follows may never be reached.
    fn leave(&mut self) {
        let outer: Vec<usize> =
            (0..self.labels.len()).filter(|depth| !self.labels[self.labels.len() - 1 - depth]).collect();
        let is_always = self.below(3) == 0;
        match (outer.is_empty(), self.below(4)) {
            (false, 0..2) => {
                let label = outer[self.below(outer.len() as u64) as usize];
                if !is_always {
                    self.condition();
                }
                writeln!(self.text, "{} {label}", if is_always { "br" } else { "br_if" }).unwrap();
            }
            (false, 2) => {
                self.condition();
                let of = |generator: &mut Self| outer[generator.below(outer.len() as u64) as usize];
                let (first, second, last) = (of(self), of(self), of(self));
                writeln!(self.text, "br_table {first} {second} {last}").unwrap();
            }
            (_, _) if is_always => {
                self.expression(1);
                let end = ["return", "return", "return", "drop unreachable"][self.below(4) as usize];
                self.put(end);
            }
            _ => {
                self.condition();
                self.put("if");
                self.expression(1);
                self.put("return end");
            }
        }
    }

    /// Not always the same.
    fn condition(&mut self) {
        self.expression(1);
        self.put("local.get 3 i32.xor");
    }

    fn address(&mut self) {
        self.expression(1);
        self.put("i32.const 32767 i32.and");
    }

    fn expression(&mut self, depth: u32) {
        let kind = if depth == 0 { self.below(4) } else { self.below(13) };
        match kind {
            0 | 1 => {
                let local = self.below(5);
                writeln!(self.text, "local.get {local}").unwrap();
            }
            2 => {
                let number = [0, 1, 5, -1, 70_000, i64::from(i32::MIN)][self.below(6) as usize];
                writeln!(self.text, "i32.const {number}").unwrap();
            }
            3 => self.put("global.get 0"),
            4..8 => {
                self.expression(depth - 1);
                self.expression(depth - 1);
                let operators =
                    ["add", "sub", "mul", "and", "xor", "lt_s", "ge_u", "eq", "shl", "rotr", "div_u", "rem_s"];
                let operator = operators[self.below(12) as usize];
                if operator.contains('_') {
                    self.put("i32.const 1 i32.or");
                }
                writeln!(self.text, "i32.{operator}").unwrap();
            }
            8 => {
                self.address();
                let load = ["i32.load", "i32.load8_s", "i32.load16_u offset=3"][self.below(3) as usize];
                self.put(load);
            }
            9 => {
                self.expression(depth - 1);
                self.expression(depth - 1);
                self.expression(depth - 1);
                self.put("select");
            }
            10 => {
                self.expression(depth - 1);
                self.put(["i32.eqz", "i32.clz", "i32.extend8_s"][kind as usize % 3]);
            }
            11 => {
                self.expression(depth - 1);
                self.expression(depth - 1);
                let function = self.below(self.functions);
                writeln!(self.text, "call {function}").unwrap();
            }
            _ => {
                self.expression(depth - 1);
                self.expression(depth - 1);
                let index = self.below(5);
                writeln!(self.text, "i32.const {index} call_indirect (type $call)").unwrap();
            }
        }
    }
}

#[test]
fn random_modules_leave_the_fuel_that_wasmi_leaves() {
    let seeds = if std::env::var_os("PARAFFIN_LONG").is_some() { 20_000 } else { 400 };
    let (mut ended, mut unfit) = (0, 0);
    for seed in 0..seeds {
        let text = Generator::module(seed);
        let code = wat::parse_str(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        for arguments in [(0, 1), (5, -3)] {
            let (expected, costs) = interpreted(&code, arguments);
            match compiled(&code, &costs, arguments) {
                Ok(found) => assert_eq!(found, expected, "seed {seed}, {arguments:?}\n{text}"),
                // wasmi has found a condition that is always the same.
                Err(Unfit::OtherCosts) => unfit += 1,
                Err(error) => panic!("seed {seed}: {error}\n{text}"),
            }
            ended += u32::from(expected.is_some());
        }
    }
    assert!(unfit < seeds as u32 / 2, "{unfit} of {} calls cannot be counted", 2 * seeds);
    assert!(ended > seeds as u32 / 4, "{ended} of {} calls ended", 2 * seeds);
}

/// Calls as deep as wasmi's stack reaches: what it refuses is refused, and much less than that is not.
#[test]
fn calls_are_no_deeper_than_those_of_wasmi() {
    let code = |locals: usize| {
        let locals = "i64 ".repeat(locals);
        let text = format!(
            r#"(module (memory 1) (global (mut i32) (i32.const 0)) (export "run" (func 0))
                (func (param i32 i32) (result i32) (local {locals})
                    (if (result i32) (local.get 0)
                        (then (call 0 (i32.sub (local.get 0) (i32.const 1)) (local.get 1)))
                        (else (local.get 1)))))"#,
        );
        wat::parse_str(text).unwrap()
    };
    for (locals, shallow) in [(0, 900), (50, 200), (500, 100), (900, 50)] {
        let code = code(locals);
        let mut refused = 0;
        for depth in (0..1_100).step_by(7) {
            let (expected, costs) = interpreted(&code, (depth, 9));
            match compiled(&code, &costs, (depth, 9)).unwrap() {
                None => refused += 1,
                found => assert_eq!(found, expected, "{locals} locals, {depth} calls"),
            }
            assert!(depth > shallow || refused == 0, "{locals} locals, {depth} calls");
        }
        assert!(refused > 0, "{locals} locals");
    }
}

#[test]
fn costs_of_other_code_are_refused() {
    let text = r#"(module (memory 1) (global (mut i32) (i32.const 0)) (export "run" (func 0))
        (func (param i32 i32) (result i32) (if (local.get 0) (then (return (local.get 1)))) (local.get 0)))"#;
    let code = wat::parse_str(text).unwrap();
    let (_, costs) = interpreted(&code, (0, 0));
    assert_eq!(costs.len(), 1);
    assert_eq!(costs[0].blocks.len(), 2, "{costs:?}");
    assert!(metered(&code, &costs).is_ok());
    let changed = |change: fn(&mut Vec<u32>)| {
        let mut costs = costs.clone();
        change(&mut costs[0].blocks);
        costs
    };
    for other in [changed(|blocks| blocks.push(1)), changed(|blocks| blocks.truncate(1)), Vec::new()] {
        assert!(matches!(metered(&code, &other), Err(Unfit::OtherCosts)), "{other:?}");
    }
}

#[test]
fn what_is_not_counted_is_refused() {
    let of = |body: &str| {
        let text = format!(
            r#"(module (memory 1) (table 1 funcref) (data $data "x") (global (mut i32) (i32.const 0)) (export "run" (func 0))
                (func (param i32 i32) (result i32) {body} (local.get 0)))"#
        );
        let code = wat::parse_str(text).unwrap();
        let engine = wasmi::Engine::new(wasmi::Config::default().consume_fuel(true));
        wasmi::Module::new(&engine, &code).unwrap();
        metered(&code, &costs_of(&engine).unwrap())
    };
    assert!(of("").is_ok());
    let floats = of("(drop (f64.add (f64.const 1) (f64.const 2)))");
    assert!(matches!(floats, Err(Unfit::Invalid(_))), "{floats:?}");
    let references = of("(drop (table.grow (ref.null func) (i32.const 1)))");
    assert!(matches!(references, Err(Unfit::Invalid(_))), "{references:?}");
    let segments = of("(memory.init $data (i32.const 0) (i32.const 0) (i32.const 1))");
    assert!(matches!(segments, Err(Unfit::Unsupported(_))), "{segments:?}");
    let long = of(&"(local.set 0 (local.get 1)) ".repeat((64 << 10) / 4));
    assert!(matches!(long, Err(Unfit::Unsupported("a large function"))), "{long:?}");
    let many = of(&format!("(local {})", "i32 ".repeat(1_000)));
    assert!(matches!(many, Err(Unfit::Unsupported("a large function"))), "{many:?}");
}

/// wasmi 0.37.2 takes a branch that is too far for one instruction for another one, and lets registers overlap where a function has too many.
/// What it does there is part of the protocol, and nothing that a compiler would do.
#[test]
fn functions_that_wasmi_translates_wrongly_are_refused() {
    let costs = |body: &str| {
        let text = format!(
            r#"(module (memory 1) (global (mut i32) (i32.const 0)) (export "run" (func 0)) (func (param i32 i32) (result i32) {body}))"#
        );
        let engine = wasmi::Engine::new(wasmi::Config::default().consume_fuel(true));
        wasmi::Module::new(&engine, &wat::parse_str(text).unwrap()).unwrap();
        costs_of(&engine)
    };
    let far = |targets: usize| {
        format!(
            "(block $late (br_if $late (i32.lt_s (local.get 0) (i32.const 0))) \
             (block $a (block $b (br_table {} (i32.and (local.get 0) (i32.const 1))))) (return (i32.const 1))) (i32.const 2)",
            "$a $b ".repeat(targets / 2)
        )
    };
    assert!(costs(&far(30_000)).is_some());
    assert!(costs(&far(33_000)).is_none());
    let many =
        |values: usize| format!("(if (local.get 0) (then {} (br 0))) (local.get 1)", "(global.get 0) ".repeat(values));
    assert!(costs(&many(4_000)).is_some());
    assert!(costs(&many(9_000)).is_none());
}
