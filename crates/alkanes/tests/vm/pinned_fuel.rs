//! Fuel of the committed contracts. It is consensus among instances: a figure changes only when a contract is rebuilt, or
//! when the machine has a defect.

use std::fmt::Write as _;
use std::path::PathBuf;

use paraffin_alkanes::{MessageEnd, StateKey};

use crate::stage::{SUBJECT, Stage, contract, id};

/// Contract, inputs.
const CALLS: [(&str, &[u128]); 24] = [
    ("counter", &[0]),
    ("counter", &[1, 5]),
    ("counter", &[2]),
    ("genesis-token", &[0]),
    ("genesis-token", &[99]),
    ("genesis-token", &[100]),
    ("genesis-token", &[101]),
    ("amm-factory", &[3]),
    ("amm-factory", &[4]),
    ("probe", &[1]),
    ("probe", &[2, 2, 5, 6]),
    ("probe", &[10]),
    ("probe", &[11]),
    ("probe", &[12]),
    ("probe", &[30, 1, 2]),
    ("probe", &[31, 1]),
    ("probe", &[34, 20, 30]),
    ("probe", &[40, 2, 3, 3, 30, 1, 2]),
    ("probe", &[40, 800_000_000, 2, 0]),
    ("probe", &[41, 2, 3, 1, 10]),
    ("probe", &[42, 2, 3, 1, 15]),
    ("probe", &[45, 8]),
    ("probe", &[60, 1000]),
    ("probe", &[99]),
];

#[test]
fn fuel_of_the_committed_contracts_is_as_pinned() {
    let mut figures = String::new();
    for (name, inputs) in CALLS {
        let stage = Stage::with(&contract(name));
        stage.put_code(id(2, 3), &contract(name));
        stage.put(StateKey::Sequence, 9_u128.to_le_bytes());
        let ended = stage.try_message(SUBJECT, inputs, &[]).unwrap();
        assert!(matches!(ended.end, MessageEnd::Done { .. }), "{name} {inputs:?}: {:?}", ended.reverts());
        writeln!(figures, "{name} {inputs:?} {}", ended.fuel()).unwrap();
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/vm/pinned_fuel.txt");
    if std::env::var_os("PARAFFIN_PIN_FUEL").is_some() {
        std::fs::write(&path, &figures).unwrap();
    }
    let pinned = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        figures, pinned,
        "after building the contracts anew, pin with PARAFFIN_PIN_FUEL=1 and look at the changes"
    );
}
