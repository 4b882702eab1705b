//! Float instructions against results in bits that no processor computed.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::cast_possible_wrap, clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::float_cmp)] // bits of one type as another's

mod module;
mod operations;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use module::{TABLE, rows};
use operations::{Operation, operations};
use wasmi_core::UntypedVal;

fn ours() -> Vec<(&'static str, Operation)> {
    operations!(UntypedVal)
}

#[test]
fn the_table_is_what_soft_floats_compute() {
    let names: Vec<&str> = ours().into_iter().map(|(name, _)| name).collect();
    let table = table::table(&names);
    if std::env::var_os("PARAFFIN_WRITE_VECTORS").is_some() {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/floats/table.txt"), &table).unwrap();
    }
    assert!(table == TABLE, "after a change of the vectors, write them with PARAFFIN_WRITE_VECTORS=1");
}

#[test]
fn every_float_instruction_gives_the_bits_of_the_table() {
    let operations: BTreeMap<&str, Operation> = ours().into_iter().collect();
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for row in rows() {
        let result = operations[row.name].apply(&row.operands);
        seen.insert(row.name);
        if result != row.result.map_err(str::to_owned) {
            wrong.push(format!("{} {:x?}: {result:x?}, not {:x?}", row.name, row.operands, row.result));
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    let floats = operations.keys().copied().filter(|name| name.contains("f32") || name.contains("f64"));
    assert_eq!(seen, floats.collect(), "every float instruction has its rows");
}

/// A module in the interpreter: the answer of `__execute`, the fuel that it took, and the memory.
fn execute(text: &str) -> (Result<i32, String>, u64, Vec<u8>) {
    let mut config = wasmi::Config::default();
    config.consume_fuel(true);
    let engine = wasmi::Engine::new(&config);
    let compiled = wasmi::Module::new(&engine, &wat::parse_str(text).unwrap()).unwrap();
    let mut store = wasmi::Store::new(&engine, ());
    store.set_fuel(10_000_000).unwrap();
    let linker = wasmi::Linker::new(&engine);
    let instance = linker.instantiate(&mut store, &compiled).unwrap().start(&mut store).unwrap();
    let execute = instance.get_typed_func::<(), i32>(&store, "__execute").unwrap();
    let answer = execute.call(&mut store, ()).map_err(|error| error.to_string());
    let memory = instance.get_memory(&store, "memory").unwrap().data(&store).to_vec();
    (answer, 10_000_000 - store.get_fuel().unwrap(), memory)
}

/// The same rows as a contract has them: loops over operands in memory.
#[test]
fn the_interpreter_gives_the_bits_of_the_table_for_the_fuel_of_ever() {
    let module = module::module();
    let (answer, fuel, memory) = execute(&module.text);
    assert_eq!(fuel, module::FUEL);
    let answer = &memory[answer.unwrap() as usize..][..module.answer_len()];
    module.check(&answer[answer.len() - module.expected.len()..]);
}

/// In the reference a constant that is not a number takes a register. The published arithmetic makes neither figure.
#[test]
fn constants_take_the_fuel_and_the_registers_that_they_take_in_the_reference() {
    let (answer, fuel, _) = execute(&module::copies());
    assert_eq!((answer.is_ok(), fuel), (true, module::FUEL_OF_COPIES));
    assert_eq!(execute(&module::deep()).0, Err("call stack exhausted".to_owned()));
}
