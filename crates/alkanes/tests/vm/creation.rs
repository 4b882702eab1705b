//! Targets that create contracts (protocol B7, B8).

use bitcoin::OutPoint;
use bitcoin::consensus::encode;
use paraffin_alkanes::codec::{Cellpack, gzip};
use paraffin_alkanes::{MessageEnd, StateKey, TraceEvent};

use crate::stage::{Ended, SUBJECT, Stage, contract, id};

fn stage(envelope: bool) -> Stage {
    let mut stage = Stage::with(&contract("probe"));
    stage.put(StateKey::Sequence, 5_u128.to_le_bytes());
    stage.envelope = envelope.then(|| gzip(&contract("probe")));
    stage
}

fn created(ended: &Ended) -> Vec<u128> {
    let created = ended.events.iter().filter_map(|event| match event {
        TraceEvent::Create(id) => Some(id.tx),
        _ => None,
    });
    created.collect()
}

#[test]
fn one_zero_creates_the_next_contract_from_the_witness() {
    let stage = stage(true);
    let ended = stage.message_to(id(1, 0), &[1]);
    assert!(matches!(ended.end, MessageEnd::Done { .. }), "{:?}", ended.reverts());
    assert!(matches!(ended.events[..2], [TraceEvent::Create(new), TraceEvent::Enter { .. }] if new == id(2, 5)));
    assert_eq!(ended.writes[&StateKey::Code(id(2, 5))], gzip(&contract("probe")), "the payload is stored as it is");
    assert_eq!(ended.writes[&StateKey::Sequence], 6_u128.to_le_bytes());
    let block = stage.block(&[&Cellpack { target: id(1, 0), inputs: vec![1] }]);
    let origin = OutPoint { txid: block.txdata[1].compute_txid(), vout: 3 };
    assert_eq!(ended.writes[&StateKey::Deployment(id(2, 5))], encode::serialize(&origin));
}

#[test]
fn a_creation_that_reverts_leaves_nothing() {
    let ended = stage(true).message_to(id(1, 0), &[87]);
    assert_eq!(ended.end, MessageEnd::Failed);
    assert_eq!(created(&ended), [5]);
    assert!(ended.writes.is_empty(), "{:?}", ended.writes.keys());
}

#[test]
fn three_creates_a_reserved_contract_once() {
    let stage = stage(true);
    let ended = stage.apply(id(3, 77), &[1]);
    assert!(matches!(ended.events[0], TraceEvent::Create(new) if new == id(4, 77)));
    assert!(!ended.writes.contains_key(&StateKey::Sequence));
    let again = stage.message_to(id(3, 77), &[1]);
    assert_eq!((again.end, again.events.len()), (MessageEnd::Failed, 0));
    // Inside a call the trace states why.
    let called = stage.message(&[40, 3, 77, 1, 1]);
    assert_eq!(called.reverts()[0], "used CREATERESERVED cellpack but 77 already holds a binary");
}

#[test]
fn without_code_in_the_witness_nothing_is_created() {
    let stage = stage(false);
    for (target, text) in [
        (1, "used CREATE cellpack but no binary found in witness"),
        (3, "used CREATERESERVED cellpack but no binary found in witness"),
    ] {
        let ended = stage.message(&[40, target, 0, 1, 1]);
        assert_eq!(ended.reverts()[0], text);
        let message = stage.message_to(id(target, 0), &[1]);
        assert_eq!((message.end, message.events.len()), (MessageEnd::Failed, 0));
    }
}

#[test]
fn five_and_six_clone_contracts_of_two_and_four_by_their_id() {
    let stage = stage(false);
    let clone = stage.apply(id(6, 7), &[30, 1, 2]);
    assert_eq!(created(&clone), [5]);
    assert_eq!(clone.writes[&StateKey::Code(id(2, 5))], [4_u128, 7].map(u128::to_le_bytes).concat());
    // A clone of the clone, and a call to that: its code is found over two templates.
    assert_eq!(created(&stage.apply(id(5, 5), &[1])), [6]);
    assert_eq!(stage.message_to(id(2, 6), &[15]).data(), 100_u64.to_le_bytes());
    let missing = stage.message_to(id(6, 1), &[1]);
    assert_eq!((missing.end, missing.events.len(), missing.writes.len()), (MessageEnd::Failed, 0, 0));
}

/// The reference halts there (decision 0039).
#[test]
fn a_template_that_would_be_itself_is_refused() {
    let stage = stage(false);
    let ended = stage.message_to(id(5, 5), &[1]);
    assert_eq!((ended.end, ended.events.len(), ended.writes.len()), (MessageEnd::Failed, 0, 0));
    let called = stage.message(&[40, 5, 5, 1, 1]);
    assert_eq!(called.reverts()[0], "factory target 5:5 aliases the alkane id being created (2:5)");
    assert_eq!((called.end.clone(), created(&called), called.writes.len()), (MessageEnd::Failed, vec![], 0));
    let simulated = stage.simulate(id(5, 5), &[1], 1_000_000).unwrap();
    assert!(simulated.result.is_err() && simulated.trace.events.is_empty());
    // One that is created later is none yet.
    assert_eq!(stage.message(&[40, 5, 6, 1, 1]).end, MessageEnd::Failed);
}

#[test]
fn a_contract_can_create_contracts_from_the_witness_of_its_transaction() {
    let stage = stage(true);
    let ended = stage.message(&[40, 1, 0, 1, 15]);
    assert_eq!(created(&ended), [5]);
    assert_eq!(ended.data(), 100_u64.to_le_bytes());
    // It costs 100,000 more than a call to a contract that is there.
    stage.put_code(id(2, 3), &contract("probe"));
    let there = stage.message(&[40, 2, 3, 1, 15]);
    assert_eq!(ended.fuel() - there.fuel(), 100_000);
}

#[test]
fn targets_that_are_no_contracts_have_no_code() {
    let stage = stage(false);
    for target in [id(2, 5), id(0, 0), id(1, 1), id(7, 0), id(31, 0), id(800_000_000, 0)] {
        let ended = stage.message_to(target, &[1]);
        assert_eq!(ended.revert(), "unexpected end-of-file (at offset 0x0)", "{target}");
    }
    assert_eq!(stage.message_to(SUBJECT, &[15]).data(), 100_u64.to_le_bytes());
}

#[test]
fn code_is_followed_when_a_reorganisation_puts_other_code_under_an_id() {
    let stage = stage(false);
    assert_eq!(stage.message(&[15]).data(), 100_u64.to_le_bytes());
    stage.put_code(SUBJECT, &crate::stage::answering(""));
    assert_eq!(stage.message(&[15]).data(), b"");
    stage.put_code(SUBJECT, &contract("probe"));
    assert_eq!(stage.message(&[15]).data(), 100_u64.to_le_bytes());
}
