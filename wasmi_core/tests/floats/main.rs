//! Float instructions against results in bits that no processor computed.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss)] // bits of one type as another's

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

/// The same rows as a contract has them: loops over operands in memory.
#[test]
fn the_interpreter_gives_the_bits_of_the_table_for_the_fuel_of_ever() {
    let module = module::module();
    let mut config = wasmi::Config::default();
    config.consume_fuel(true);
    let engine = wasmi::Engine::new(&config);
    let compiled = wasmi::Module::new(&engine, &wat::parse_str(&module.text).unwrap()).unwrap();
    let mut store = wasmi::Store::new(&engine, ());
    store.set_fuel(10_000_000).unwrap();
    let linker = wasmi::Linker::new(&engine);
    let instance = linker.instantiate(&mut store, &compiled).unwrap().start(&mut store).unwrap();
    let execute = instance.get_typed_func::<(), i32>(&store, "__execute").unwrap();
    let pointer = execute.call(&mut store, ()).unwrap() as usize;
    assert_eq!(10_000_000 - store.get_fuel().unwrap(), module::FUEL);
    let memory = instance.get_memory(&store, "memory").unwrap();
    let answer = &memory.data(&store)[pointer..][..module.answer_len()];
    module.check(&answer[answer.len() - module.expected.len()..]);
}
