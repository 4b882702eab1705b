//! BRC-20 on inscriptions that blocks hold, not on events made by tests.

use bitcoin::opcodes::all::OP_PUSHNUM_2;
use bitcoin::script::Builder;
use bitcoin::{Amount, OutPoint, ScriptBuf, TxOut};
use paraffin_ordinals_index::brc20::{Brc20Index, Brc20Module};
use paraffin_primitives::Height;

use crate::envelopes;
use crate::instance::NETWORK;
use crate::rules::{ManualChain, SUBSIDY, output, pays, shows, spends, transaction};

/// Of one token, in units of the 18th decimal place.
const ONE: u128 = 1_000_000_000_000_000_000;

/// Pays another script than [`pays`].
fn pays_bob(value: u64) -> TxOut {
    let script_pubkey = Builder::new().push_opcode(OP_PUSHNUM_2).into_script();
    TxOut { value: Amount::from_sat(value), script_pubkey }
}

/// Reveals a text in an output of [`pays`]; returns the output.
fn inscribe(hand: &mut ManualChain, coin: OutPoint, text: &str) -> OutPoint {
    let reveal = transaction(vec![shows(coin, envelopes::plain(Builder::new(), text))], vec![pays(1_000)]);
    output(hand.block(SUBSIDY, vec![reveal])[1], 0)
}

/// Overall and available balance.
fn balance(hand: &ManualChain, script: &ScriptBuf, height: Height) -> (u128, u128) {
    let snapshot = hand.snapshot();
    let balance = Brc20Index::new(&snapshot).balance_at(script, "test", height).unwrap().unwrap_or_default();
    (balance.overall.0, balance.available.0)
}

#[test]
fn tokens_are_deployed_minted_and_moved_by_inscriptions_of_blocks() {
    let mut hand = ManualChain::with_consumer(Box::new(Brc20Module::new(NETWORK)));
    let coins: Vec<OutPoint> = (0..4).map(|_| output(hand.block(SUBSIDY, Vec::new())[0], 0)).collect();
    let (alice, bob) = (pays(0).script_pubkey, pays_bob(0).script_pubkey);

    inscribe(&mut hand, coins[0], r#"{"p":"brc-20","op":"deploy","tick":"Test","max":"1000","lim":"100"}"#);
    inscribe(&mut hand, coins[1], r#"{"p":"brc-20","op":"mint","tick":"test","amt":"100"}"#);
    let minted = hand.height;
    let note = inscribe(&mut hand, coins[2], r#"{"p":"brc-20","op":"transfer","tick":"test","amt":"30"}"#);
    assert_eq!(balance(&hand, &alice, hand.height), (100 * ONE, 70 * ONE));
    let moved = hand.block(SUBSIDY, vec![transaction(vec![spends(note)], vec![pays_bob(1_000)])])[1];
    assert_eq!(balance(&hand, &alice, hand.height), (70 * ONE, 70 * ONE));
    assert_eq!(balance(&hand, &bob, hand.height), (30 * ONE, 30 * ONE));
    // A transfer is used up: its inscription carries nothing any more.
    hand.block(SUBSIDY, vec![transaction(vec![spends(output(moved, 0))], vec![pays(1_000)])]);
    assert_eq!(balance(&hand, &bob, hand.height), (30 * ONE, 30 * ONE));
    // Any height is answered as it was.
    assert_eq!(balance(&hand, &alice, minted), (100 * ONE, 100 * ONE));
    assert_eq!(balance(&hand, &alice, minted - 1), (0, 0));

    let snapshot = hand.snapshot();
    let index = Brc20Index::new(&snapshot);
    assert_eq!(index.height().unwrap(), Some(hand.height));
    let counts: Vec<u32> = (1..=hand.height).map(|height| index.hashes(height).unwrap().unwrap().1).collect();
    assert_eq!(counts, [0, 0, 0, 0, 1, 1, 1, 1, 0]);
    let token = index.token("test").unwrap().unwrap();
    assert_eq!((token.mints, token.transfers, token.holders), (1, 1, 2));
}
