//! Floats of contracts: the same bits on every processor, for unchanged fuel (decision 0040).

#[path = "../../../../wasmi_core/tests/floats/module.rs"]
mod module;

use crate::stage::{SUBJECT, Stage, wat};

/// Fuel of the message, measured with the published arithmetic before ours replaced it.
const FUEL: u64 = 1_708_153;

#[test]
fn a_contract_computes_with_floats_what_no_processor_decides() {
    let module = module::module();
    let ended = Stage::with(&wat(&module.text)).message(&[]);
    assert_eq!(ended.fuel(), FUEL);
    module.check(ended.data());
    assert_eq!(ended.stored(SUBJECT, b"bits"), Some(ended.data()), "what is stored is what is answered");
}

/// Their own tests run them by the published arithmetic.
#[test]
fn no_committed_contract_computes_with_floats() {
    let mut config = wasmi::Config::default();
    config.floats(false);
    let engine = wasmi::Engine::new(&config);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm");
    let modules = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let modules: Vec<_> =
        modules.filter(|path| path.extension().is_some_and(|extension| extension == "wasm")).collect();
    assert!(modules.len() > 10);
    for path in modules {
        wasmi::Module::new(&engine, &std::fs::read(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
