use bitcoin::absolute::LockTime;
use bitcoin::transaction::Version;
use bitcoin::{Amount, ScriptBuf, TxOut};
use paraffin_alkanes::codec::{Runestone, encode_protostones};
use paraffin_primitives::AlkaneId;

use super::*;

const A: AlkaneId = AlkaneId { block: 2, tx: 0 };
const B: AlkaneId = AlkaneId { block: 2, tx: 7 };

fn alkanes(amounts: &[(AlkaneId, u128)]) -> Alkanes {
    let mut alkanes = Alkanes::default();
    for (id, amount) in amounts {
        alkanes.add(*id, *amount).unwrap();
    }
    alkanes
}

/// A transaction of `spendable` outputs and a runestone behind them.
fn transaction(spendable: usize, stones: &[Protostone]) -> Transaction {
    let mut output =
        vec![TxOut { value: Amount::from_sat(546), script_pubkey: ScriptBuf::from_bytes(vec![0x51]) }; spendable];
    let protocol = encode_protostones(stones).unwrap();
    let script_pubkey = Runestone { protocol, ..Runestone::default() }.encode(spendable + 1).unwrap();
    output.push(TxOut { value: Amount::ZERO, script_pubkey });
    Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output }
}

fn stone(pointer: u32, edicts: &[(AlkaneId, u128, u128)]) -> Protostone {
    let edict = |(id, amount, output): &(AlkaneId, u128, u128)| Edict {
        id: *id,
        amount: paraffin_primitives::Amount(*amount),
        output: *output,
    };
    let edicts = edicts.iter().map(edict).collect();
    Protostone { protocol_tag: 1, pointer: Some(pointer), edicts, ..Protostone::default() }
}

fn outputs(flow: &Flow) -> Vec<(u32, Vec<(AlkaneId, u128)>)> {
    flow.outputs.iter().map(|(vout, alkanes)| (*vout, alkanes.iter().collect())).collect()
}

#[test]
fn edicts_move_what_they_say_and_the_rest_follows_the_pointer() {
    let transaction = transaction(2, &[stone(0, &[(A, 30, 1), (B, 0, 1)])]);
    let flow = follow(&transaction, &[alkanes(&[(A, 100)]), alkanes(&[(B, 5)])]).unwrap();
    assert_eq!(outputs(&flow), [(0, vec![(A, 70)]), (1, vec![(A, 30), (B, 5)])]);
    assert!(flow.lost.is_empty());
}

#[test]
fn without_a_protostone_everything_is_lost() {
    let mut bare = transaction(1, &[]);
    assert_eq!(follow(&bare, &[alkanes(&[(A, 1)])]).unwrap().lost, alkanes(&[(A, 1)]));
    bare.output.pop();
    assert_eq!(follow(&bare, &[alkanes(&[(A, 1)])]).unwrap().lost, alkanes(&[(A, 1)]));
    let foreign = Protostone { protocol_tag: 2, pointer: Some(0), ..Protostone::default() };
    assert_eq!(follow(&transaction(1, &[foreign]), &[alkanes(&[(A, 1)])]).unwrap().lost, alkanes(&[(A, 1)]));
}

#[test]
fn what_reaches_the_runestone_or_no_output_is_lost() {
    // Outputs: 0 spendable, 1 runestone, 2 spreads, 3 the shadow of the only protostone, which has been read already.
    for vout in [1, 3, u128::from(u32::MAX)] {
        let flow = follow(&transaction(1, &[stone(0, &[(A, 4, vout)])]), &[alkanes(&[(A, 10)])]).unwrap();
        assert_eq!(flow.lost, alkanes(&[(A, 4)]), "{vout}");
        assert_eq!(outputs(&flow), [(0, vec![(A, 6)])]);
    }
}

#[test]
fn an_edict_to_the_number_of_outputs_is_spread() {
    let all = follow(&transaction(3, &[stone(0, &[(A, 0, 4)])]), &[alkanes(&[(A, 11)])]).unwrap();
    assert_eq!(outputs(&all), [(0, vec![(A, 4)]), (1, vec![(A, 4)]), (2, vec![(A, 3)])]);
    let each = follow(&transaction(3, &[stone(2, &[(A, 4, 4)])]), &[alkanes(&[(A, 9)])]).unwrap();
    assert_eq!(outputs(&each), [(0, vec![(A, 4)]), (1, vec![(A, 4)]), (2, vec![(A, 1)])]);
}

#[test]
fn a_message_is_given_what_is_at_its_shadow_output() {
    let message = Protostone {
        protocol_tag: 1,
        message: vec![2, 0, 77],
        pointer: Some(0),
        refund: Some(0),
        ..Protostone::default()
    };
    // Two outputs, so the shadows are 3 and 4.
    let flow = follow(&transaction(1, &[stone(0, &[(A, 6, 4)]), message.clone()]), &[alkanes(&[(A, 10)])]).unwrap();
    assert_eq!(outputs(&flow), [(0, vec![(A, 4)])]);
    assert_eq!(flow.messages, BTreeMap::from([(1, alkanes(&[(A, 6)]))]));
    let without_refund = Protostone { refund: None, ..message };
    assert!(matches!(follow(&transaction(1, &[without_refund]), &[]), Err(LedgerError::Void(_))));
}

#[test]
fn amounts_that_overflow_void_the_transaction() {
    let held = [alkanes(&[(A, u128::MAX)]), alkanes(&[(A, 1)])];
    assert!(matches!(follow(&transaction(1, &[stone(0, &[])]), &held), Err(LedgerError::Void(_))));
}
