//! A contract that no SDK has seen: written by hand in WebAssembly text, deployed and called by real transactions.

use bitcoin::OutPoint;
use paraffin_alkanes::codec::gzip;
use paraffin_alkanes::{StateKey, StateReader as _, TraceEvent, TraceStatus};
use paraffin_devnet::Node;

use super::ledger::Ledger;
use super::vandal::Vandal;

/// Gives seven of itself for every call, keeps a value, and answers a text.
///
/// The response is at 4, its length at 0: one transfer (count, id, amount), one pair to store (count, key, value), data. The
/// id is the first 32 bytes of the context, which is fetched to 4100.
const CONTRACT: &str = r#"(module
  (import "env" "__request_context" (func $request_context (result i32)))
  (import "env" "__load_context" (func $load_context (param i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\5a\00\00\00")
  (data (i32.const 4) "\01\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
  (data (i32.const 52) "\07\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
  (data (i32.const 68) "\01\00\00\00" "\02\00\00\00" "/k" "\03\00\00\00" "abc" "handmade!")
  (data (i32.const 8192) "\02\00\00\00{}")
  (func (export "__execute") (result i32)
    (drop (call $request_context))
    (drop (call $load_context (i32.const 4100)))
    (i64.store (i32.const 20) (i64.load (i32.const 4100)))
    (i64.store (i32.const 28) (i64.load (i32.const 4108)))
    (i64.store (i32.const 36) (i64.load (i32.const 4116)))
    (i64.store (i32.const 44) (i64.load (i32.const 4124)))
    (i32.const 4))
  (func (export "__meta") (result i32) (i32.const 8196)))"#;

#[test]
fn a_contract_assembled_by_hand_is_deployed_called_and_mints() {
    let node = Node::new(None);
    let vandal = Vandal::new(41);
    let mut ledger = Ledger::new();
    node.mine(105, &vandal.script()).unwrap();
    let code = gzip(&wat::parse_str(CONTRACT).unwrap());
    let deployment = vandal.deploy(&node, &code, &[0]);
    node.mine(1, &vandal.script()).unwrap();
    let effects = ledger.follow(&node).pop().unwrap();
    let (_, trace) = effects.traces.iter().find(|(outpoint, _)| outpoint.txid == deployment).unwrap();
    let [TraceEvent::Create(id), TraceEvent::Enter { .. }, TraceEvent::Exit { status, response, fuel_used }] =
        &trace.events[..]
    else {
        panic!("{trace:?}")
    };
    assert_eq!((*status, response.data.as_slice()), (TraceStatus::Success, &b"handmade!"[..]));
    assert!(*fuel_used > 0);
    assert_eq!(ledger.now().get(&StateKey::Storage(*id, b"/k".to_vec())).unwrap(), Some(b"abc".to_vec()));
    assert_eq!(ledger.now().get(&StateKey::Code(*id)).unwrap(), Some(code));
    assert_eq!(ledger.now().sheet(OutPoint { txid: deployment, vout: 0 }), [(*id, 7)].into());

    let calls: Vec<_> = (0..3).map(|_| vandal.send(&node, *id, &[])).collect();
    node.mine(1, &vandal.script()).unwrap();
    ledger.follow(&node);
    for txid in calls {
        assert_eq!(ledger.now().sheet(OutPoint { txid, vout: 0 }), [(*id, 7)].into(), "{txid}");
    }
    assert_eq!(ledger.now().reckoning.books.minted[id], 28);
}
