//! The modules that break a rule of the machine: each is refused, by the rule that it breaks, and only the working one runs.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

use harness::{Compiled, modules};
use paraffin_contract::testing::World;
use paraffin_contract::{AlkaneId, Parcel};

/// Why a message to this module fails; `None` when it does not.
fn failure(name: &str) -> Option<String> {
    let bytes = std::fs::read(modules().join("broken").join(name).with_extension("wasm")).unwrap();
    let world = World::new();
    let contract = AlkaneId::new(2, 1);
    world.install_program(contract, std::rc::Rc::new(Compiled::new(&bytes)));
    world.message(contract, &[0], Parcel::new()).err()
}

#[test]
fn the_working_ones_run() {
    for name in ["working", "memory-maximum-512", "memory-initial-664"] {
        assert_eq!(failure(name), None, "{name}");
    }
}

#[test]
fn every_other_one_is_refused() {
    let mut tried = 0;
    for entry in std::fs::read_dir(modules().join("broken")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if ["working", "memory-maximum-512", "memory-initial-664"].contains(&name) {
            continue;
        }
        let text = failure(name).unwrap_or_else(|| panic!("{name} ran"));
        if name.starts_with("response-") {
            assert_eq!(text, "ALKANES: revert", "{name}");
        }
        tried += 1;
    }
    assert_eq!(tried, 20);
}
