//! The probe's committed module against every host function and every way to fail.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

use harness::Compiled;
use paraffin_contract::testing::World;
use paraffin_contract::{AlkaneId, Parcel};

const PROBE: AlkaneId = AlkaneId::new(2, 1);
const OTHER: AlkaneId = AlkaneId::new(2, 7);

fn world() -> World {
    let world = World::new();
    world.install_program(PROBE, Compiled::named("probe"));
    world
}

fn data(world: &World, inputs: &[u128]) -> Vec<u8> {
    world.message(PROBE, inputs, Parcel::new()).unwrap().data
}

fn failure(inputs: &[u128]) -> String {
    world().message(PROBE, inputs, Parcel::new()).unwrap_err()
}

#[test]
fn storage_is_read_back_in_the_same_call_and_the_next() {
    let world = world();
    assert_eq!(data(&world, &[32, 5, 77]), 77u128.to_le_bytes());
    assert_eq!(data(&world, &[31, 5]), 77u128.to_le_bytes());
    assert_eq!(data(&world, &[31, 6]), Vec::<u8>::new());
}

#[test]
fn a_callee_sees_the_writes_of_its_caller_and_a_static_call_undoes_its_own() {
    let world = world();
    assert_eq!(data(&world, &[46, 9, 4, 2, 1, 2, 31, 9]), 4u128.to_le_bytes());
    assert_eq!(data(&world, &[42, 2, 1, 3, 30, 3, 1]), Vec::<u8>::new());
    assert_eq!(data(&world, &[31, 3]), Vec::<u8>::new(), "the static call's write is gone");
    assert_eq!(data(&world, &[51, 8, 6, 2, 1, 1, 1]), 6u128.to_le_bytes());
    assert_eq!(data(&world, &[31, 8]), 6u128.to_le_bytes(), "a write before a static call is kept");
}

#[test]
fn twenty_four_calls_nest_and_twenty_five_do_not() {
    let world = world();
    assert_eq!(data(&world, &[45, 24]), 24u128.to_le_bytes());
    assert!(world.message(PROBE, &[45, 25], Parcel::new()).is_err());
    assert_eq!(data(&world, &[52, 24]), 24u128.to_le_bytes());
}

#[test]
fn every_way_to_fail_is_a_revert_with_its_text() {
    assert_eq!(failure(&[85, u128::from_le_bytes(*b"no such thing\0\0\0")]), "ALKANES: revert: no such thing");
    assert!(failure(&[80]).contains("fuel"), "{}", failure(&[80]));
    assert!(failure(&[87]).contains("nreachable"), "{}", failure(&[87]));
    assert_eq!(failure(&[88]), "ALKANES: revert");
    assert_eq!(failure(&[89, 1, 9]), "ALKANES: revert");
    assert_eq!(failure(&[90, 1 << 100]), "ALKANES: revert");
    assert_eq!(failure(&[91]), "ALKANES: revert");
    assert!(failure(&[81, 5000]).contains("tack"), "{}", failure(&[81, 5000]));
    assert!(failure(&[82]).contains("nreachable"), "{}", failure(&[82]));
    assert_eq!(failure(&[92, 2, 7, 1]), "balance underflow");
    assert_eq!(failure(&[1234]), "ALKANES: revert: unknown opcode");
    assert_eq!(failure(&[]), "ALKANES: revert: no opcode");
    assert_eq!(failure(&[30]), "ALKANES: revert: missing or malformed parameter: key");
}

#[test]
fn memory_ends_at_the_limit() {
    let pieces = u64::from_le_bytes(data(&world(), &[83]).try_into().unwrap());
    assert!((640..=663).contains(&pieces), "{pieces} pieces of 64 KiB within 664 pages");
}

#[test]
fn alkanes_go_where_the_response_says() {
    let world = world();
    let token = Parcel::of(OTHER, 100);
    assert_eq!(world.message(PROBE, &[1], token.clone()).unwrap().alkanes, token);
    assert_eq!(world.message(PROBE, &[62], token).unwrap().alkanes, Parcel::new());
    assert_eq!(world.balance(PROBE, OTHER), 100);
    assert_eq!(data(&world, &[16, 2, 1, 2, 7]), 100u128.to_le_bytes());
    assert_eq!(world.message(PROBE, &[61, 2, 7, 60], Parcel::new()).unwrap().alkanes, Parcel::of(OTHER, 60));
    assert!(world.message(PROBE, &[61, 2, 7, 41], Parcel::new()).is_err());
    assert_eq!(world.message(PROBE, &[60, 9], Parcel::new()).unwrap().alkanes, Parcel::of(PROBE, 9));
}

#[test]
fn a_failed_child_leaves_its_caller_without_fuel() {
    let error = failure(&[47, 2, 1, 1, 87]);
    assert!(error.contains("fuel"), "{error}");
}

#[test]
fn the_surroundings_are_what_the_world_says() {
    let world = world();
    world.set_height(4242);
    world.set_block(vec![7; 300]);
    assert_eq!(data(&world, &[15]), 4242u64.to_le_bytes());
    assert_eq!(data(&world, &[12]), vec![7; 300]);
    assert_eq!(data(&world, &[13]), 2u128.to_le_bytes());
    assert_eq!(data(&world, &[2, 3, 1, 2, 3]).len(), 48);
    world.message(PROBE, &[17, u128::from_le_bytes(*b"a line\0\0\0\0\0\0\0\0\0\0")], Parcel::new()).unwrap();
    world.message(PROBE, &[18], Parcel::new()).unwrap();
    assert_eq!(world.log(), [b"a line".to_vec(), vec![0xff, 0xfe, 0, 0xc3]]);
}
