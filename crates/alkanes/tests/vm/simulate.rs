//! Calls without lasting effects (protocol B21).

use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::{META_FUEL, SimulatedCall, StateKey, TraceEvent, contract_code};

use crate::stage::{SUBJECT, Stage, answering, contract, id, transfer};

#[test]
fn a_simulation_answers_counts_storage_and_leaves_nothing() {
    let stage = Stage::with(&contract("probe"));
    let simulated = stage.simulate(SUBJECT, &[32, 1, 2], 10_000_000).unwrap();
    let response = simulated.result.unwrap();
    assert_eq!(response.data, 2_u128.to_le_bytes());
    assert_eq!(response.storage.len(), 1);
    assert_eq!(simulated.fuel_used, stage.message(&[32, 1, 2]).fuel(), "as in a block, storage included");
    assert_eq!(stage.simulate(SUBJECT, &[31, 1], 10_000_000).unwrap().result.unwrap().data, b"");
    assert!(matches!(simulated.trace.events[..], [TraceEvent::Enter { .. }, TraceEvent::Exit { .. }]));
}

#[test]
fn a_failed_simulation_tells_why_and_uses_no_fuel() {
    let stage = Stage::with(&contract("probe"));
    let failed = stage.simulate(SUBJECT, &[80], 100_000).unwrap();
    assert_eq!(failed.result.unwrap_err(), "ALKANES: revert: all fuel consumed by WebAssembly");
    assert_eq!(failed.fuel_used, 0);
    let unknown = stage.simulate(id(4, 99), &[1], 100_000).unwrap();
    assert!(unknown.result.is_err() && unknown.trace.events.is_empty());
    let unpaid = Stage::with(&answering("")).simulate(SUBJECT, &[], 100).unwrap();
    assert_eq!(unpaid.result.unwrap_err(), "all fuel consumed by WebAssembly", "storage is paid for as well");
}

/// The reference gives views all the fuel that there can be. Contracts see that, in calls as well, and still end.
#[test]
fn contracts_see_the_fuel_that_they_are_given_and_use_no_more_than_the_bound() {
    let stage = Stage::with(&contract("probe"));
    stage.put_code(id(2, 3), &contract("probe"));
    stage.put(StateKey::Sequence, 9_u128.to_le_bytes());
    let reported = |inputs: &[u128], fuel_max| {
        let simulation = stage.simulate_within(SUBJECT, inputs, u64::MAX, fuel_max).unwrap();
        u64::from_le_bytes(simulation.result.unwrap().data.try_into().unwrap())
    };
    for inputs in [&[14][..], &[40, 2, 3, 1, 14]] {
        let seen = reported(inputs, 10_000_000);
        assert!(seen > u64::MAX - 10_000_000, "{seen}");
        assert_eq!(reported(inputs, 20_000_000), seen, "whatever the bound is");
        assert_eq!(seen, reported(inputs, u64::MAX));
    }
    let called = stage.simulate_within(SUBJECT, &[40, 2, 3, 1, 14], u64::MAX, 10_000_000).unwrap();
    let given: Vec<u64> = called
        .trace
        .events
        .iter()
        .filter_map(|event| match event {
            TraceEvent::Enter { fuel, .. } => Some(*fuel),
            _ => None,
        })
        .collect();
    assert!(given[0] == u64::MAX && given[1] < u64::MAX && given[1] > u64::MAX - 10_000_000, "{given:?}");
    let endless = stage.simulate_within(SUBJECT, &[80], u64::MAX, 100_000).unwrap();
    assert_eq!(endless.result.unwrap_err(), "ALKANES: revert: all fuel consumed by WebAssembly");
    let child = stage.simulate_within(SUBJECT, &[47, 2, 3, 1, 87], u64::MAX, 10_000_000).unwrap();
    assert_eq!(
        child.result.unwrap_err(),
        "ALKANES: revert: all fuel consumed by WebAssembly",
        "a failed child leaves none"
    );
}

#[test]
fn what_comes_in_need_not_exist_and_a_transaction_without_outputs_will_do() {
    let stage = Stage::with(&contract("probe"));
    let empty = bitcoin::Transaction {
        version: bitcoin::transaction::Version::TWO,
        lock_time: bitcoin::absolute::LockTime::ZERO,
        input: Vec::new(),
        output: Vec::new(),
    };
    let mut block = stage.block(&[]);
    block.txdata.clear();
    let mut world = stage.world(&block);
    let cellpack = Cellpack { target: SUBJECT, inputs: vec![1] };
    let call = SimulatedCall {
        transaction: &empty,
        vout: 0,
        calldata: &cellpack.encode(),
        incoming: &[transfer(id(2, 9), 12)],
        fuel: 1_000_000,
        interrupted: &|| false,
    };
    let simulated = paraffin_alkanes::simulate(&mut world, &call).unwrap();
    assert_eq!(simulated.result.unwrap().alkanes, [transfer(id(2, 9), 12)]);
    assert!(world.traces.traces().is_empty());
    let malformed = SimulatedCall { calldata: &[2, 0x80], ..call };
    assert!(paraffin_alkanes::simulate(&mut world, &malformed).unwrap().result.is_err());
    // All that stays in this world, which a view drops, is the mark that a balance was read.
    let writes = world.state.into_writes().unwrap();
    assert!(writes.iter().all(|(key, _)| matches!(key, StateKey::Inventory { .. })), "{writes:?}");
}

#[test]
fn a_contract_describes_itself() {
    let stage = Stage::with(&contract("probe"));
    let block = stage.block(&[]);
    let cellpack = Cellpack { target: SUBJECT, inputs: Vec::new() };
    let mut world = stage.world(&block);
    let call = SimulatedCall {
        transaction: &block.txdata[0],
        vout: 0,
        calldata: &cellpack.encode(),
        incoming: &[],
        fuel: META_FUEL,
        interrupted: &|| false,
    };
    let described = paraffin_alkanes::meta(&mut world, &call).unwrap().unwrap();
    let text = String::from_utf8(described).unwrap();
    assert!(text.contains("infinite_loop"), "{text}");
    let nobody = Cellpack { target: id(4, 99), inputs: Vec::new() }.encode();
    assert!(paraffin_alkanes::meta(&mut world, &SimulatedCall { calldata: &nobody, ..call }).unwrap().is_err());
}

#[test]
fn code_is_shown_through_templates() {
    let stage = Stage::with(&contract("probe"));
    stage.put(StateKey::Code(id(2, 3)), [4_u128, 7].map(u128::to_le_bytes).concat());
    let block = stage.block(&[]);
    let world = stage.world(&block);
    let code = |id| contract_code(&world.state, world.builtins, id, 100).unwrap();
    assert_eq!(code(id(2, 3)).unwrap(), contract("probe"));
    assert!(code(id(2, 4)).is_err());
}
