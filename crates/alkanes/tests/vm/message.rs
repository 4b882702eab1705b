//! One message from end to end (protocol B6).

use paraffin_alkanes::{CallKind, MessageEnd, StateKey, TraceEvent};
use paraffin_primitives::AlkaneId;

use crate::stage::{SUBJECT, Stage, answering, contract, id, transfer};

#[test]
fn a_contract_answers_stores_and_is_traced() {
    let stage = Stage::with(&contract("probe"));
    let ended = stage.message_with(&[30, 5, 6], &[transfer(id(2, 9), 40)]);
    let MessageEnd::Done { outgoing, runtime } = &ended.end else { panic!("{:?}", ended.reverts()) };
    assert_eq!(*outgoing, [transfer(id(2, 9), 40)]);
    assert_eq!(runtime.get(id(2, 9)), 0);
    let key = [&b"/key/"[..], &5_u128.to_le_bytes()].concat();
    assert_eq!(ended.stored(SUBJECT, &key), Some(&6_u128.to_le_bytes()[..]));
    let TraceEvent::Enter { kind: CallKind::Call, context, fuel: 3_500_000 } = &ended.events[0] else {
        panic!("{:?}", ended.events)
    };
    assert_eq!((context.myself, context.caller, context.vout), (SUBJECT, AlkaneId::default(), 3));
    assert_eq!((&context.incoming[..], &context.inputs[..3]), (&[transfer(id(2, 9), 40)][..], &[30, 5, 6][..]));
    assert_eq!(ended.events.len(), 2);
    assert_eq!(ended.fuel_left.0, 3_500_000 - ended.fuel());
    // What came in went out again, and looking at the balance left a mark.
    assert_eq!(ended.writes[&StateKey::Balance { what: id(2, 9), who: SUBJECT }], [0; 16]);
    assert!(ended.writes.contains_key(&StateKey::Inventory { who: SUBJECT, what: id(2, 9) }));
}

#[test]
fn the_smallest_contract_uses_the_fuel_of_its_instructions_and_of_an_empty_storage_map() {
    let ended = Stage::with(&answering("")).message(&[]);
    assert_eq!(ended.fuel(), 4 * 40 + 2);
}
