//! Fuel of common calls on the committed modules, to the unit: a change here is a change for everyone who pays for the calls.
//!
//! A message costs its instructions, host functions and calls, and 40 per byte of its response's storage map.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use paraffin_contract::testing::{TransactionBuilder, World};
use paraffin_contract::{AlkaneId, Parcel};
use scene::{Form, id, program, word, world};

struct Meter {
    world: World,
    measured: Vec<(&'static str, u64)>,
}

impl Meter {
    fn install(&self, id: AlkaneId, name: &str) {
        self.world.install_program(id, program(Form::Compiled, name));
    }

    fn run(&mut self, what: &'static str, target: AlkaneId, inputs: &[u128], incoming: Parcel) {
        self.world.message(target, inputs, incoming).unwrap();
        self.measured.push((what, self.world.fuel_used()));
    }
}

#[test]
fn fuel_of_common_calls_is_pinned() {
    let mut meter = Meter { world: world(Form::Compiled), measured: Vec::new() };
    let (counter, probe, diesel, frbtc) = (id(2, 100), id(2, 101), id(2, 0), id(32, 0));
    meter.install(counter, "counter");
    meter.install(probe, "probe");
    meter.install(diesel, "genesis-token");
    meter.install(frbtc, "wrapped-bitcoin");
    meter.install(id(4, 1), "owned-token");
    meter.world.set_precompile(2, 1u128.to_le_bytes());
    meter.world.set_precompile(3, 5_000_000_000u128.to_le_bytes());
    meter.run("counter 0 initialize", counter, &[0], Parcel::new());
    meter.run("counter 1 increment", counter, &[1, 5], Parcel::new());
    meter.run("counter 2 value", counter, &[2], Parcel::new());
    meter.run("probe 1 nothing", probe, &[1], Parcel::new());
    meter.run("probe 45 nest 1", probe, &[45, 1], Parcel::new());
    meter.run("probe 45 nest 24", probe, &[45, 24], Parcel::new());
    meter.run("genesis token 0 initialize", diesel, &[0], Parcel::new());
    meter.run("genesis token 77 mint", diesel, &[77], Parcel::new());
    meter.run("genesis token 99 name", diesel, &[99], Parcel::new());
    meter.run("wrapped bitcoin 0 initialize", frbtc, &[0], Parcel::new());
    let signer = meter.world.storage(frbtc, b"/signer_script_cached");
    meter.world.set_transaction(&TransactionBuilder::new().paying(100_000, signer));
    meter.run("wrapped bitcoin 77 wrap", frbtc, &[77], Parcel::new());
    meter.run("owned token 1 initialize", id(6, 1), &[1, 1, 1_000, word("Token"), word("TKN")], Parcel::new());
    let expected: &[(&str, u64)] = &[
        ("counter 0 initialize", 3622),
        ("counter 1 increment", 4408),
        ("counter 2 value", 2667),
        ("probe 1 nothing", 2911),
        ("probe 45 nest 1", 8668),
        ("probe 45 nest 24", 132_063),
        ("genesis token 0 initialize", 6570),
        ("genesis token 77 mint", 25_537),
        ("genesis token 99 name", 2607),
        ("wrapped bitcoin 0 initialize", 1_687_481),
        ("wrapped bitcoin 77 wrap", 35_705),
        ("owned token 1 initialize", 134_923),
    ];
    assert_eq!(meter.measured, expected);
}
