//! Contracts that call contracts (protocol B11, B14).

use paraffin_alkanes::{CallKind, MessageEnd, StateKey, TraceEvent, TraceStatus};
use paraffin_primitives::AlkaneId;

use crate::stage::{Ended, SUBJECT, Stage, answering, contract, id, transfer};

const OTHER: AlkaneId = id(2, 3);

fn stage() -> Stage {
    let stage = Stage::with(&contract("probe"));
    stage.put_code(OTHER, &contract("probe"));
    stage.put(StateKey::Sequence, 9_u128.to_le_bytes());
    stage
}

fn key(number: u128) -> Vec<u8> {
    [&b"/key/"[..], &number.to_le_bytes()].concat()
}

fn enters(ended: &Ended) -> Vec<(CallKind, AlkaneId, AlkaneId)> {
    let entered = ended.events.iter().filter_map(|event| match event {
        TraceEvent::Enter { kind, context, .. } => Some((*kind, context.myself, context.caller)),
        _ => None,
    });
    entered.collect()
}

#[test]
fn a_call_runs_in_the_name_of_the_target_and_moves_alkanes_there_and_back() {
    let stage = stage();
    let ended = stage.message_with(&[40, 2, 3, 1, 10], &[transfer(id(2, 8), 6)]);
    let context = [2, 3, 4, 7, 3, 1, 2, 8, 6, 10].map(u128::to_le_bytes).concat();
    assert_eq!(ended.data()[..context.len()], context);
    assert_eq!(ended.response().alkanes, [transfer(id(2, 8), 6)]);
    let nobody = AlkaneId::default();
    assert_eq!(enters(&ended), [(CallKind::Call, SUBJECT, nobody), (CallKind::Call, OTHER, SUBJECT)]);
    let kept = stage.message_with(&[40, 2, 3, 1, 62], &[transfer(id(2, 8), 6)]);
    assert_eq!(kept.writes[&StateKey::Balance { what: id(2, 8), who: OTHER }], 6_u128.to_le_bytes());
    assert_eq!(kept.writes[&StateKey::Balance { what: id(2, 8), who: SUBJECT }], [0; 16]);
}

#[test]
fn a_call_stores_under_the_target() {
    let ended = stage().message(&[40, 2, 3, 3, 30, 1, 2]);
    assert_eq!(ended.stored(OTHER, &key(1)), Some(&2_u128.to_le_bytes()[..]));
    assert_eq!(ended.stored(SUBJECT, &key(1)), None);
}

#[test]
fn a_delegated_call_keeps_name_caller_and_storage_of_who_calls() {
    let ended = stage().message(&[41, 2, 3, 3, 30, 1, 2]);
    assert_eq!(ended.stored(SUBJECT, &key(1)), Some(&2_u128.to_le_bytes()[..]));
    assert_eq!(ended.stored(OTHER, &key(1)), None);
    let nobody = AlkaneId::default();
    assert_eq!(enters(&ended), [(CallKind::Call, SUBJECT, nobody), (CallKind::Delegate, SUBJECT, nobody)]);
    let context = stage().message_with(&[41, 2, 3, 1, 10], &[transfer(id(2, 8), 6)]);
    assert_eq!(context.data()[..64], [4, 7, 0, 0].map(u128::to_le_bytes).concat());
    // Nothing moves: the alkanes were never the target's.
    assert!(!context.writes.contains_key(&StateKey::Balance { what: id(2, 8), who: OTHER }));
}

#[test]
fn a_static_call_answers_and_leaves_nothing_of_what_it_or_its_caller_handed_over() {
    let stage = stage();
    let ended = stage.message(&[42, 2, 3, 3, 32, 1, 2]);
    assert_eq!(ended.data(), 2_u128.to_le_bytes());
    assert_eq!(ended.stored(OTHER, &key(1)), None);
    assert_eq!(enters(&ended)[1], (CallKind::Static, OTHER, SUBJECT));
    // The contract it created and the alkanes it minted for its caller are undone as well.
    let minting = stage.message(&[42, 2, 3, 2, 60, 50]);
    assert!(matches!(minting.end, MessageEnd::Done { .. }));
    assert!(!minting.writes.contains_key(&StateKey::Balance { what: OTHER, who: SUBJECT }));
    // The map that is handed over is written for the time of the call; the caller writes it again at its end.
    let kept = stage.message(&[51, 5, 6, 2, 3, 1, 1]);
    assert_eq!(kept.stored(SUBJECT, &key(5)), Some(&6_u128.to_le_bytes()[..]));
}

#[test]
fn the_target_sees_what_its_caller_has_written_before_the_call() {
    // 4:7 stores and calls 2:3, which delegates to no contract but calls back 4:7, which loads.
    let ended = stage().message(&[46, 1, 77, 2, 3, 6, 40, 4, 7, 2, 31, 1]);
    assert_eq!(ended.data(), 77_u128.to_le_bytes());
}

#[test]
fn twenty_four_calls_inside_each_other_succeed_and_the_twenty_fifth_fails() {
    let deepest = stage().message(&[45, 24]);
    assert_eq!(deepest.data(), 24_u128.to_le_bytes());
    assert_eq!(enters(&deepest).len(), 25);
    let beyond = stage().message(&[45, 25]);
    assert_eq!(beyond.reverts()[0], "Possible infinite recursion encountered: checkpoint depth too large(76)");
    assert_eq!(beyond.end, MessageEnd::Failed);
    let delegated = stage().message(&[52, 24]);
    assert_eq!(delegated.data(), 24_u128.to_le_bytes());
    let simulated = |depth| stage().simulate(SUBJECT, &[45, depth], 100_000_000).unwrap().result;
    assert_eq!(simulated(24).unwrap().data, 24_u128.to_le_bytes());
    assert!(simulated(25).is_err());
}

#[test]
fn a_failed_child_fails_its_caller_before_v220_and_uses_up_its_fuel_afterwards() {
    let mut stage = stage();
    let inputs = [47, 2, 3, 1, 87];
    let after = stage.message(&inputs);
    let child = after.events.iter().find_map(|event| match event {
        TraceEvent::Exit { status: TraceStatus::Revert, fuel_used, .. } => Some(*fuel_used),
        _ => None,
    });
    let given = after.events.iter().rev().find_map(|event| match event {
        TraceEvent::Enter { fuel, .. } => Some(*fuel),
        _ => None,
    });
    assert_eq!(child, given, "the trace tells all the fuel that the child was given");
    assert_eq!(
        after.reverts(),
        [
            "ALKANES: revert: wasm `unreachable` instruction executed",
            "ALKANES: revert: all fuel consumed by WebAssembly"
        ]
    );
    stage.parameters.revert_survives = 101;
    let before = stage.message(&inputs);
    assert!(
        before
            .events
            .iter()
            .any(|event| matches!(event, TraceEvent::Exit { status: TraceStatus::Revert, fuel_used: 0, .. }))
    );
    assert_eq!(before.reverts()[1], "ALKANES: revert", "the caller went on to its end");
}

/// An extcall of the cellpack at 2004, nothing sent, nothing stored.
fn calling(kind: &str, words: &[u128]) -> String {
    let stores = words.iter().enumerate().map(|(index, word)| {
        let place = 2004 + 16 * index;
        ["(i64.store (i32.const ", &place.to_string(), ") (i64.const ", &word.to_string(), "))"].concat()
    });
    format!(
        "(i32.store (i32.const 2000) (i32.const {})) {} (i32.store (i32.const 3000) (i32.const 16))
        (i32.store (i32.const 4000) (i32.const 4))
        (call ${kind} (i32.const 2004) (i32.const 3004) (i32.const 4004) (i64.const 0))",
        words.len() * 16,
        stores.collect::<String>(),
    )
}

#[test]
fn a_caller_that_needs_no_more_fuel_outlives_its_child_and_then_cannot_pay_for_the_end() {
    let stage = Stage::with(&answering(&format!("(drop {})", calling("call", &[2, 3]))));
    stage.put_code(OTHER, &answering("unreachable"));
    stage.put(StateKey::Sequence, 9_u128.to_le_bytes());
    let ended = stage.message(&[]);
    let text = ended.revert();
    assert!(
        text.starts_with("all fuel consumed by WebAssembly: requested 3500160 units, but only 3500000 remaining."),
        "{text}"
    );
}

#[test]
fn a_call_costs_five_hundred_and_forty_for_each_byte_of_its_map() {
    let mut stage = Stage::with(&answering(&format!("(drop {})", calling("call", &[2, 3]))));
    stage.put_code(OTHER, &answering(""));
    stage.put(StateKey::Sequence, 9_u128.to_le_bytes());
    let deducted = stage.message(&[]).fuel();
    stage.parameters.host_fuel_deducted = 101;
    assert_eq!(deducted - stage.message(&[]).fuel(), 500 + 40 * 4);
    stage.parameters.host_fuel_deducted = 0;
    stage.parameters.fuel_change = 101;
    // 8 for each byte of the map of the call and of the two responses.
    assert_eq!(deducted - stage.message(&[]).fuel(), (40 - 8) * (4 + 4 + 4));
}

#[test]
fn a_negative_answer_is_the_length_of_what_tells_why() {
    let store = |call: &str| format!("(i32.store (i32.const 1048) {call}) (i32.store (i32.const 1024) (i32.const 24))");
    // The length of parcel, selector and text of the failure, from the trace of a caller that cannot survive it.
    let stage = Stage::with(&answering(&store(&calling("call", &[800_000_000, 9]))));
    let ended = stage.message(&[]);
    assert_eq!(ended.reverts(), ["Unknown precompiled contract: [800000000, 9]", "ALKANES: revert"]);
    let missing = Stage::with(&answering(&store(&calling("call", &[4, 99])))).message(&[]);
    assert_eq!(missing.reverts().len(), 2, "an id without code cannot be called");
    assert_eq!(enters(&missing).len(), 1, "{:?}", missing.events);
}

#[test]
fn alkanes_that_are_not_held_cannot_be_sent_with_a_call() {
    let ended = stage().message(&[44, 2, 3, 2, 8, 5, 1, 1]);
    assert_eq!(
        ended.reverts()[0],
        "balance underflow, transferring(AlkaneTransfer { id: AlkaneId { block: 2, tx: 8 }, value: 5 }), \
         from(AlkaneId { block: 4, tx: 7 }), balance(0)"
    );
    // Its own alkane is minted by sending it.
    let minted = stage().message(&[44, 2, 3, 4, 7, 5, 1, 62]);
    assert_eq!(minted.writes[&StateKey::Balance { what: SUBJECT, who: OTHER }], 5_u128.to_le_bytes());
}

#[test]
fn sending_to_oneself_gains_nothing_but_what_is_minted() {
    let ended = stage().message(&[64, 9]);
    assert_eq!(ended.writes[&StateKey::Balance { what: SUBJECT, who: SUBJECT }], 9_u128.to_le_bytes());
}

#[test]
fn two_calls_in_a_row_both_answer() {
    assert_eq!(stage().message(&[50, 2, 3, 3, 32, 1, 4]).data(), [4, 4].map(u128::to_le_bytes).concat());
}

#[test]
fn what_is_sent_to_nobody_is_taken_from_nobody() {
    // A delegated call has the message's caller 0:0; what comes back from it is not moved either way.
    let stage = stage();
    let ended = stage.message(&[41, 2, 3, 2, 60, 25]);
    assert_eq!(ended.response().alkanes, [transfer(SUBJECT, 25)]);
    assert_eq!(ended.writes[&StateKey::Balance { what: SUBJECT, who: SUBJECT }], [0; 16]);
}
