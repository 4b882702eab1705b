//! Answers about the block (protocol B13).

use bitcoin::consensus::encode;
use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::{TraceEvent, TraceStatus};

use crate::stage::{SUBJECT, Stage, coinbase, contract, id, transaction};

const PRECOMPILE: u128 = 800_000_000;

fn cellpack(target: (u128, u128), inputs: &[u128]) -> Cellpack {
    Cellpack { target: id(target.0, target.1), inputs: inputs.to_vec() }
}

#[test]
fn header_coinbase_and_its_sum_are_answered_without_fuel_and_without_an_enter_event() {
    let stage = Stage::with(&contract("probe"));
    let block = stage.block(&[]);
    let ended = stage.message(&[40, PRECOMPILE, 0, 0]);
    assert_eq!(ended.data(), encode::serialize(&block.header));
    let TraceEvent::Exit { status: TraceStatus::Success, response, fuel_used: 0 } = &ended.events[1] else {
        panic!("{:?}", ended.events)
    };
    assert_eq!(response.data.len(), 80);
    assert_eq!(ended.events.len(), 3);
    assert_eq!(stage.message(&[40, PRECOMPILE, 1, 0]).data(), encode::serialize(&coinbase()));
    assert_eq!(stage.message(&[40, PRECOMPILE, 3, 0]).data(), 62_u128.to_le_bytes());
    assert_eq!(stage.message(&[40, PRECOMPILE, 4, 0]).reverts()[0], "Unknown precompiled contract: [800000000, 4]");
}

#[test]
fn transactions_that_mint_are_counted_once_each() {
    let mut stage = Stage::with(&contract("probe"));
    let mint = cellpack((2, 0), &[77]);
    let count = |stage: &Stage| u128::from_le_bytes(stage.message(&[40, PRECOMPILE, 2, 0]).data().try_into().unwrap());
    assert_eq!(count(&stage), 0);
    stage.others = vec![
        transaction(&[&mint], None),
        transaction(&[&mint, &mint], None),
        transaction(&[&cellpack((2, 0), &[78]), &cellpack((2, 0), &[77, 5])], None),
        transaction(&[&cellpack((2, 0), &[])], None),
        transaction(&[&cellpack((2, 1), &[77])], None),
        transaction(&[], None),
        coinbase(),
    ];
    assert_eq!(count(&stage), 3);
    assert_eq!(stage.message_to(SUBJECT, &[42, PRECOMPILE, 2, 0]).data(), 3_u128.to_le_bytes());
}
