//! Single rules of runes on chains made by hand.

use bitcoin::opcodes::all::{OP_DROP, OP_PUSHNUM_1, OP_PUSHNUM_13, OP_RETURN, OP_VERIFY};
use bitcoin::script::Builder;
use bitcoin::{Amount, OutPoint, ScriptBuf, TxIn, TxOut, Txid};
use ordinals::{Edict, Etching, Rune, RuneId, Runestone, Terms};
use paraffin_ordinals_index::reader::{RuneQuery, RuneRecord};

use crate::envelopes;
use crate::rules::{ManualChain, SUBSIDY, burns, output, pays, shows, spends, transaction};

/// A name that regtest allows from the first block on.
fn name() -> Rune {
    Rune(Rune::minimum_at_height(bitcoin::Network::Regtest, ordinals::Height(0)).0 + 77)
}

fn taproot(value: u64) -> TxOut {
    TxOut {
        value: Amount::from_sat(value),
        script_pubkey: ScriptBuf::from_bytes([&[0x51, 0x20][..], &[7; 32]].concat()),
    }
}

fn runestone_output(runestone: &Runestone) -> TxOut {
    TxOut { value: Amount::ZERO, script_pubkey: runestone.encipher() }
}

fn cenotaph() -> TxOut {
    let script = Builder::new().push_opcode(OP_RETURN).push_opcode(OP_PUSHNUM_13).push_opcode(OP_VERIFY);
    TxOut { value: Amount::ZERO, script_pubkey: script.into_script() }
}

/// An input whose script shows the name.
fn commits(previous: OutPoint, rune: Rune) -> TxIn {
    let script = envelopes::push(Builder::new(), &rune.commitment()).push_opcode(OP_DROP).push_opcode(OP_PUSHNUM_1);
    shows(previous, script)
}

fn etches(etching: Etching) -> Runestone {
    Runestone { etching: Some(etching), ..Runestone::default() }
}

impl ManualChain {
    fn rune(&self, id: RuneId) -> Option<RuneRecord> {
        self.index().rune(&RuneQuery::Id(id)).unwrap()
    }

    fn here(&self, tx: u32) -> RuneId {
        RuneId { block: u64::from(self.height), tx }
    }

    /// What an output holds of a rune.
    fn held(&self, outpoint: OutPoint, id: RuneId) -> u128 {
        let Some(rune) = self.rune(id) else { return 0 };
        let record = self.index().output(&outpoint, 0).unwrap().unwrap();
        record.runes.get(&rune.entry.spaced_rune).map_or(0, |pile| pile.amount)
    }

    /// An output with this many of a rune of no name, and the rune.
    fn issue(&mut self, premine: u128, terms: Option<Terms>) -> (OutPoint, RuneId) {
        let coin = self.block(SUBSIDY, Vec::new())[0];
        let runestone = etches(Etching { premine: Some(premine), terms, ..Etching::default() });
        let etching = transaction(vec![spends(output(coin, 0))], vec![pays(SUBSIDY), runestone_output(&runestone)]);
        let txid = self.block(SUBSIDY, vec![etching])[1];
        (output(txid, 0), self.here(1))
    }
}

/// Makes an output and etches a name from it so many blocks later; whether the name was taken.
fn etched_after(blocks: u32, commitment: TxOut) -> bool {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let made = hand.block(SUBSIDY, vec![transaction(vec![spends(output(coin, 0))], vec![commitment])])[1];
    let made_at = hand.height;
    hand.grow_to(made_at + blocks - 1);
    let runestone = etches(Etching { rune: Some(name()), ..Etching::default() });
    let etching =
        transaction(vec![commits(output(made, 0), name())], vec![pays(SUBSIDY), runestone_output(&runestone)]);
    hand.block(SUBSIDY, vec![etching]);
    assert_eq!(hand.height, made_at + blocks);
    let found = hand.rune(hand.here(1)).is_some();
    assert_eq!(hand.index().rune(&RuneQuery::Name(name())).unwrap().is_some(), found);
    found
}

#[test]
fn a_name_needs_a_commitment_in_a_taproot_output_of_six_confirmations() {
    assert!(!etched_after(4, taproot(SUBSIDY)), "five confirmations");
    assert!(etched_after(5, taproot(SUBSIDY)), "six confirmations");
    assert!(!etched_after(9, pays(SUBSIDY)), "no taproot output");
}

#[test]
fn a_name_is_taken_once_and_not_by_who_does_not_show_it() {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let split = transaction(vec![spends(output(coin, 0))], vec![taproot(1_000), taproot(1_000), taproot(1_000)]);
    let made = hand.block(SUBSIDY, vec![split])[1];
    hand.grow_to(20);
    let runestone = etches(Etching { rune: Some(name()), spacers: Some(1), ..Etching::default() });
    let with = |input| transaction(vec![input], vec![pays(1_000), runestone_output(&runestone)]);
    let other = Rune(name().0 + 1);
    let first = with(commits(output(made, 0), name()));
    let txid = first.compute_txid();
    hand.block(SUBSIDY, vec![with(commits(output(made, 1), other)), first, with(commits(output(made, 2), name()))]);
    assert!(hand.rune(hand.here(1)).is_none() && hand.rune(hand.here(3)).is_none());
    let taken = hand.rune(hand.here(2)).unwrap();
    assert_eq!((taken.entry.etching, taken.entry.number, taken.entry.spaced_rune.spacers), (txid, 0, 1));
    assert_eq!(hand.index().etched_by(&txid).unwrap(), Some(taken.entry.spaced_rune));
}

#[test]
fn an_etching_without_a_name_gets_a_reserved_one() {
    let mut hand = ManualChain::new();
    let (at, id) = hand.issue(500, None);
    let rune = hand.rune(id).unwrap();
    assert_eq!(rune.entry.spaced_rune.rune, Rune::reserved(id.block, id.tx));
    assert_eq!((hand.held(at, id), rune.mintable), (500, false));
}

#[test]
fn mints_end_with_the_cap_and_count_in_order() {
    let mut hand = ManualChain::new();
    let terms = Terms { amount: Some(7), cap: Some(2), ..Terms::default() };
    let (_, id) = hand.issue(0, Some(terms));
    let coins: Vec<Txid> = (0..3).map(|_| hand.block(SUBSIDY, Vec::new())[0]).collect();
    let minting = Runestone { mint: Some(id), ..Runestone::default() };
    let mint =
        |coin: &Txid| transaction(vec![spends(output(*coin, 0))], vec![pays(SUBSIDY), runestone_output(&minting)]);
    let txids = hand.block(SUBSIDY, coins.iter().map(mint).collect());
    let held: Vec<u128> = txids[1..].iter().map(|txid| hand.held(output(*txid, 0), id)).collect();
    assert_eq!(held, [7, 7, 0]);
    let rune = hand.rune(id).unwrap();
    assert_eq!((rune.entry.mints, rune.mintable), (2, false));
}

#[test]
fn a_cenotaph_burns_what_came_in_and_counts_its_mint() {
    let mut hand = ManualChain::new();
    let terms = Terms { amount: Some(7), cap: Some(2), ..Terms::default() };
    let (at, id) = hand.issue(100, Some(terms));
    let spend = transaction(vec![spends(at)], vec![pays(SUBSIDY), cenotaph()]);
    let txid = hand.block(SUBSIDY, vec![spend])[1];
    assert_eq!(hand.held(output(txid, 0), id), 0);
    let rune = hand.rune(id).unwrap();
    assert_eq!((rune.entry.burned, rune.entry.mints), (100, 0));
}

#[test]
fn runes_go_to_edicts_then_the_pointer_and_burn_where_nothing_can_hold_them() {
    let mut hand = ManualChain::new();
    let (at, id) = hand.issue(100, None);
    let runestone = Runestone {
        edicts: vec![Edict { id, amount: 30, output: 1 }, Edict { id, amount: 5, output: 3 }],
        pointer: Some(2),
        ..Runestone::default()
    };
    let outputs = vec![pays(1), pays(1), pays(1), burns(0), runestone_output(&runestone)];
    // The second edict's output is an OP_RETURN.
    let txid = hand.block(SUBSIDY, vec![transaction(vec![spends(at)], outputs)])[1];
    let held: Vec<u128> = (0..3).map(|vout| hand.held(output(txid, vout), id)).collect();
    assert_eq!((held, hand.rune(id).unwrap().entry.burned), (vec![0, 30, 65], 5));
    let gone = transaction(vec![spends(output(txid, 2))], vec![burns(0)]);
    hand.block(SUBSIDY, vec![gone]);
    assert_eq!(hand.rune(id).unwrap().entry.burned, 70);
    // Without a runestone they go to the first output that can hold them.
    let moved = transaction(vec![spends(output(txid, 1))], vec![burns(0), pays(1)]);
    let moved = hand.block(SUBSIDY, vec![moved])[1];
    assert_eq!(hand.held(output(moved, 1), id), 30);
}

/// Nine runes for each of 600 outputs are more balances than are written one by one.
#[test]
fn balances_that_outputs_share_are_read_and_spent_like_others() {
    let mut hand = ManualChain::new();
    let issued: Vec<(OutPoint, RuneId)> = (0..9).map(|place| hand.issue(6_000 + place, None)).collect();
    let edicts = issued.iter().map(|(_, id)| Edict { id: *id, amount: 0, output: 601 }).collect();
    let to_all = Runestone { edicts, ..Runestone::default() };
    let mut outputs = vec![pays(1); 600];
    outputs.push(runestone_output(&to_all));
    let gives = transaction(issued.iter().map(|(at, _)| spends(*at)).collect(), outputs);
    let given = gives.compute_txid();
    // Two outputs are spent in the same block, three in the next.
    let same = transaction(vec![spends(output(given, 0)), spends(output(given, 599))], vec![pays(1)]);
    let same_txid = same.compute_txid();
    hand.block(SUBSIDY, vec![gives, same]);
    let each = |vout: u128, place: u128| 10 + u128::from(vout < place);
    for (place, (_, id)) in (0u128..).zip(&issued) {
        for vout in [1u32, 5, 8, 9, 300] {
            assert_eq!(hand.held(output(given, vout), *id), each(u128::from(vout), place), "{vout} {place}");
        }
        assert_eq!(hand.held(output(same_txid, 0), *id), each(0, place) + 10);
    }
    let shared = paraffin_ordinals_index::TABLES.iter().find(|table| table.name == "shared_runes").unwrap();
    assert_eq!(hand.snapshot().prefix(shared, &[]).count(), 1);
    let next = [output(given, 1), output(given, 400), output(same_txid, 0)].map(spends);
    let next = hand.block(SUBSIDY, vec![transaction(next.to_vec(), vec![pays(1)])])[1];
    for (place, (_, id)) in (0u128..).zip(&issued) {
        let sum = each(1, place) + 10 + each(0, place) + 10;
        assert_eq!(hand.held(output(next, 0), *id), sum);
        assert_eq!(hand.rune(*id).unwrap().entry.burned, 0);
    }
}
