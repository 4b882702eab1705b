//! Fuel of a block and its transactions (protocol B12).

use paraffin_alkanes::codec::{Cellpack, gzip};
use paraffin_alkanes::{FuelTank, MessageEnd, Parameters, Sheet, StateKey};
use paraffin_primitives::Network;

use crate::stage::{SUBJECT, Stage, answering, coinbase, contract, id, in_layers, transaction};

fn mainnet() -> Stage {
    let mut stage = Stage::with(&contract("probe"));
    stage.parameters = Parameters::of(Network::Mainnet);
    stage.height = 960_000;
    stage
}

fn nothing() -> Cellpack {
    Cellpack { target: SUBJECT, inputs: vec![1] }
}

#[test]
fn a_lone_message_has_the_fuel_of_the_whole_block_and_gives_back_what_it_leaves() {
    let stage = mainnet();
    let ended = stage.message(&[1]);
    assert_eq!(ended.fuel_left, (1_000_000_000 - ended.fuel(), 0));
    let mut early = mainnet();
    early.height = 899_086;
    let ended = early.message(&[1]);
    assert_eq!(ended.fuel_left.0, 100_000_000 - ended.fuel());
}

#[test]
fn transactions_share_by_size_and_what_one_leaves_the_next_ones_get() {
    let mut stage = mainnet();
    stage.others = vec![transaction(&[&nothing()], None)];
    let block = stage.block(&[&nothing()]);
    assert_eq!(block.txdata[1].vsize(), block.txdata[2].vsize());
    let mut world = stage.world(&block);
    in_layers(&mut world, 1, &nothing(), &[], &Sheet::new()).unwrap();
    let used = 500_000_000 - world.tank.transaction_fuel();
    assert!(used > 0 && used < 100_000, "{used}");
    assert_eq!(world.tank.block_fuel(), 500_000_000);
    in_layers(&mut world, 2, &nothing(), &[], &Sheet::new()).unwrap();
    assert_eq!((world.tank.transaction_fuel(), world.tank.block_fuel()), (1_000_000_000 - 2 * used, 0));
}

#[test]
fn messages_of_one_transaction_share_what_is_left_and_a_failure_leaves_nothing() {
    let stage = mainnet();
    let trap = Cellpack { target: SUBJECT, inputs: vec![87] };
    let block = stage.block(&[&nothing(), &nothing(), &trap]);
    let mut world = stage.world(&block);
    in_layers(&mut world, 1, &nothing(), &[], &Sheet::new()).unwrap();
    let first = 1_000_000_000 - world.tank.transaction_fuel();
    in_layers(&mut world, 1, &nothing(), &[], &Sheet::new()).unwrap();
    assert_eq!(world.tank.transaction_fuel(), 1_000_000_000 - 2 * first);
    assert_eq!(in_layers(&mut world, 1, &trap, &[], &Sheet::new()).unwrap(), MessageEnd::Failed);
    assert_eq!(world.tank.transaction_fuel(), 0);
    assert_eq!(in_layers(&mut world, 1, &nothing(), &[], &Sheet::new()).unwrap(), MessageEnd::Failed);
    assert_eq!(world.traces.traces().len(), 4, "also a message without fuel is traced");
}

#[test]
fn nobody_gets_less_than_the_minimum() {
    let mut stage = mainnet();
    let padded = Cellpack { target: SUBJECT, inputs: vec![u128::MAX; 2000] };
    stage.others = vec![transaction(&[&padded], None); 10];
    let ended = stage.message(&[1]);
    assert_eq!(ended.fuel_left.0, 3_500_000 - ended.fuel());
}

#[test]
fn the_code_of_a_deployment_does_not_count_as_size() {
    let mut stage = mainnet();
    stage.put(StateKey::Sequence, 3_u128.to_le_bytes());
    let fill = |stage: &Stage, target| {
        let block = stage.block(&[&Cellpack { target, inputs: vec![1] }]);
        FuelTank::fill(&stage.parameters, stage.height, &block)
    };
    let bare = fill(&stage, id(1, 0));
    stage.envelope = Some(gzip(&contract("probe")));
    assert_eq!(fill(&stage, id(1, 0)), bare);
    assert_eq!(fill(&stage, id(3, 9)), bare);
    assert_ne!(fill(&stage, id(1, 1)), bare, "only 1:0 and 3:n deploy");
}

#[test]
fn a_message_in_a_block_whose_sizes_add_up_to_nothing_fails() {
    let stage = Stage::with(&answering(""));
    let mut block = stage.block(&[]);
    block.txdata = vec![coinbase()];
    let mut world = stage.world(&block);
    assert_eq!(in_layers(&mut world, 0, &nothing(), &[], &Sheet::new()).unwrap(), MessageEnd::Failed);
    assert!(world.traces.traces().is_empty());
}

#[test]
fn regtest_gives_every_transaction_the_minimum() {
    let mut stage = Stage::with(&contract("probe"));
    stage.others = vec![transaction(&[&nothing()], None)];
    let ended = stage.message(&[1]);
    assert_eq!(ended.fuel_left.0, 3_500_000 - ended.fuel());
    let loop_forever = stage.message(&[80]);
    assert_eq!(loop_forever.revert(), "ALKANES: revert: all fuel consumed by WebAssembly");
}
