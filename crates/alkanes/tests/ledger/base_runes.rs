//! Base runes of the protocol (protocol B20).

use bitcoin::hashes::Hash;
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::{BlockHash, OutPoint, Transaction, TxIn, TxOut, Witness};
use ordinals::{Etching, Rune, RuneId, Terms};
use paraffin_alkanes::codec::{Protostone, Runestone, encode_protostones};
use paraffin_alkanes::{SavedSheet, StateKey};
use paraffin_primitives::{AlkaneId, Height};

use crate::chain::{Bench, Instance, block, id, op_return, output, parameters, script, spend, transaction};
use crate::stand_in::{MINT, message};

/// A name that is free on every height, 13 letters.
const NAME: &str = "AAAAAAAAAAAAA";

fn with_base(
    input: Vec<TxIn>,
    mut outputs: Vec<TxOut>,
    base: ordinals::Runestone,
    stones: &[Protostone],
) -> Transaction {
    let runestone = Runestone { base, protocol: encode_protostones(stones).unwrap() };
    let script_pubkey = runestone.encode(outputs.len() + 1).unwrap();
    outputs.push(TxOut { value: bitcoin::Amount::ZERO, script_pubkey });
    transaction(input, outputs)
}

fn etching(premine: u128, terms: Option<Terms>) -> Etching {
    Etching { premine: Some(premine), terms, ..Etching::default() }
}

fn named(name: &str) -> Etching {
    Etching { rune: Some(name.parse().unwrap()), ..etching(5, None) }
}

fn etches(etching: Etching) -> ordinals::Runestone {
    ordinals::Runestone { etching: Some(etching), ..ordinals::Runestone::default() }
}

fn runes(bench: &Bench, outpoint: OutPoint) -> Vec<(AlkaneId, u128)> {
    let bytes = bench.state.values.get(&StateKey::BaseSheet(outpoint)).cloned().unwrap_or_default();
    SavedSheet::decode(&bytes).unwrap().entries
}

fn first_output(transaction: &Transaction) -> OutPoint {
    OutPoint { txid: transaction.compute_txid(), vout: 0 }
}

/// Etches without a name; the id is the position of the transaction: block, 1.
fn etch(bench: &mut Bench, etching: Etching) -> (AlkaneId, OutPoint) {
    let etched = with_base(vec![], vec![output(script(u64::from(bench.height)))], etches(etching), &[]);
    let outpoint = first_output(&etched);
    bench.run(etched);
    (id(u128::from(bench.height), 1), outpoint)
}

#[test]
fn a_premine_goes_where_nothing_else_sends_it_and_moves_on() {
    let mut bench = Bench::new(0);
    let (rune, source) = etch(&mut bench, etching(100, None));
    assert_eq!(runes(&bench, source), [(rune, 100)]);
    let rune_id = RuneId { block: u64::from(bench.height), tx: 1 };
    let edicts = vec![ordinals::Edict { id: rune_id, amount: 30, output: 1 }];
    let base = ordinals::Runestone { edicts, pointer: Some(2), ..ordinals::Runestone::default() };
    let moving =
        with_base(vec![spend(source)], vec![output(op_return()), output(script(1)), output(script(2))], base, &[]);
    let txid = moving.compute_txid();
    bench.run(moving);
    let held = |vout| runes(&bench, OutPoint { txid, vout });
    assert_eq!([held(0), held(1), held(2)], [vec![], vec![(rune, 30)], vec![(rune, 70)]]);
    assert_eq!(runes(&bench, source), [(rune, 0)]);
}

#[test]
fn an_edict_of_0_0_means_what_the_transaction_etches_and_is_dropped_otherwise() {
    let mut bench = Bench::new(0);
    let edicts = vec![ordinals::Edict { id: RuneId::default(), amount: 30, output: 1 }];
    let base = ordinals::Runestone { edicts: edicts.clone(), ..etches(etching(100, None)) };
    let etched = with_base(vec![], vec![output(script(1)), output(script(2))], base, &[]);
    let txid = etched.compute_txid();
    bench.run(etched);
    let rune = id(1, 1);
    assert_eq!(runes(&bench, OutPoint { txid, vout: 1 }), [(rune, 30)]);
    let base = ordinals::Runestone { edicts, ..ordinals::Runestone::default() };
    let dropped =
        with_base(vec![spend(OutPoint { txid, vout: 0 })], vec![output(script(1)), output(script(2))], base, &[]);
    let txid = dropped.compute_txid();
    bench.run(dropped);
    assert_eq!(runes(&bench, OutPoint { txid, vout: 0 }), [(rune, 70)]);
}

#[test]
fn every_transaction_uses_up_the_runes_of_its_inputs() {
    let mut bench = Bench::new(0);
    let (rune, source) = etch(&mut bench, etching(100, None));
    bench.run(transaction(vec![spend(source)], vec![output(script(1))]));
    assert_eq!(runes(&bench, source), [(rune, 0)]);
}

#[test]
fn mints_end_with_their_count_and_keep_to_their_heights() {
    let mut bench = Bench::new(0);
    let mint = |bench: &mut Bench, rune: AlkaneId| {
        let mint = Some(RuneId { block: rune.block as u64, tx: 1 });
        let base = ordinals::Runestone { mint, ..ordinals::Runestone::default() };
        let minting = with_base(vec![], vec![output(script(900 + u64::from(bench.height)))], base, &[]);
        let outpoint = first_output(&minting);
        bench.run(minting);
        runes(bench, outpoint).iter().map(|(_, amount)| amount).sum::<u128>()
    };
    let terms = |cap, height, offset| Some(Terms { amount: Some(7), cap: Some(cap), height, offset });
    let (rune, _) = etch(&mut bench, etching(0, terms(2, (None, None), (None, None))));
    assert_eq!([mint(&mut bench, rune), mint(&mut bench, rune), mint(&mut bench, rune)], [7, 7, 0]);
    // From three blocks after the etching on, and for two blocks: whichever limit is the narrower.
    let at = u64::from(bench.height) + 1;
    let (rune, _) = etch(&mut bench, etching(0, terms(9, (Some(1), Some(at + 5)), (Some(3), Some(9)))));
    let minted: Vec<_> = (0..6).map(|_| mint(&mut bench, rune)).collect();
    assert_eq!(minted, [0, 0, 7, 7, 0, 0]);
    // A mint of the transaction's own etching is not open yet, and a mint of an unknown rune has no effect.
    assert_eq!(mint(&mut bench, id(999, 0)), 0);
}

#[test]
fn runes_that_cannot_be_added_up_void_the_alkanes_of_the_transaction_too() {
    let mut bench = Bench::new(0);
    let (_, first) = etch(&mut bench, etching(u128::MAX, None));
    let alkanes = bench.fund(&[(id(2, 1), 9)]);
    let stones = [Protostone { protocol_tag: 1, pointer: Some(0), ..Protostone::default() }];
    // The sum of one rune from two outputs would be needed, so mint it with the most there is and again.
    let terms = Terms { amount: Some(1), cap: Some(5), height: (None, None), offset: (None, None) };
    let (rune, premined) = etch(&mut bench, etching(u128::MAX - 5, Some(terms)));
    let minting = |inputs: Vec<TxIn>, salt: u64| {
        let mint = Some(RuneId { block: rune.block as u64, tx: 1 });
        let base = ordinals::Runestone { mint, ..ordinals::Runestone::default() };
        with_base(inputs, vec![output(script(salt))], base, &stones)
    };
    let joined = minting(vec![spend(alkanes), spend(premined), spend(first)], 1);
    let held = first_output(&joined);
    bench.run(joined);
    assert_eq!(bench.state.saved(held), [(id(2, 1), 9)]);
    assert_eq!(runes(&bench, held).last(), Some(&(rune, u128::MAX - 4)));

    // A supply above the limit cannot be etched, but two premines of it can be written into one state.
    let mut twice = SavedSheet::decode(&bench.state.values[&StateKey::BaseSheet(held)]).unwrap();
    twice.entries = vec![(rune, u128::MAX)];
    bench.state.values.insert(StateKey::BaseSheet(held), twice.encode());
    let overflowing = minting(vec![spend(held)], 2);
    let lost = first_output(&overflowing);
    let effects = bench.run(overflowing);
    assert!(effects.funded.is_empty() && bench.state.saved(lost).is_empty());
    // The mint was counted past all checkpoints (protocol B14).
    assert_eq!(bench.state.amount(&StateKey::MintsRemaining(rune)), Some(3));
}

#[test]
fn a_cenotaph_takes_its_name_and_nothing_else() {
    let mut bench = Bench::new(0);
    bench.height = 9;
    let committed = |salt: u64| {
        let mut input = spend(OutPoint { txid: bitcoin::Txid::from_byte_array([salt as u8; 32]), vout: 0 });
        input.witness = commitment(NAME);
        input
    };
    // Tag 126 is unknown to runes, and even.
    let mut bytes = etches(named(NAME)).encipher().into_bytes();
    bytes[2] += 2;
    bytes.extend_from_slice(&[126, 1]);
    let cenotaph =
        transaction(vec![committed(1)], vec![output(bitcoin::ScriptBuf::from_bytes(bytes)), output(script(1))]);
    let stones = [message(id(2, 1), &[MINT, 5], 0, 0)];
    assert!(matches!(ordinals::Runestone::decipher(&cenotaph), Some(ordinals::Artifact::Cenotaph(_))));
    bench.run(cenotaph.clone());
    let name = StateKey::EtchedName(NAME.parse::<Rune>().unwrap().0);
    assert_eq!(bench.state.values[&name][..], [10u128.to_le_bytes(), 1u128.to_le_bytes()].concat());
    assert!(runes(&bench, OutPoint { txid: cenotaph.compute_txid(), vout: 1 }).is_empty());
    // A later etching of the same name is ignored; its alkanes are not.
    let late = with_base(vec![committed(2)], vec![output(script(2))], etches(named(NAME)), &stones);
    let outpoint = first_output(&late);
    bench.run(late);
    assert!(runes(&bench, outpoint).is_empty());
    assert_eq!(bench.state.saved(outpoint), [(id(2, 1), 5)]);
}

/// A witness that looks like a tapscript spend with a push of the commitment.
fn commitment(name: &str) -> Witness {
    let push = PushBytesBuf::try_from(name.parse::<Rune>().unwrap().commitment()).unwrap();
    let script = Builder::new().push_slice(push).into_script();
    Witness::from_slice(&[script.as_bytes(), &[0xc0; 33]])
}

#[test]
fn a_commitment_needs_six_confirmations_by_the_record_of_the_index() {
    // The output to be spent is made at height 1; an etching at height h has h confirmations, its own block counted.
    for height in 1..=8 {
        let mut instance = Instance::regtest(parameters(0));
        let committed = transaction(
            vec![spend(OutPoint { txid: bitcoin::Txid::from_byte_array([3; 32]), vout: 0 })],
            vec![output(script(3))],
        );
        let mut input = spend(first_output(&committed));
        input.witness = commitment(NAME);
        let etched = with_base(vec![input], vec![output(script(4))], etches(named(NAME)), &[]);
        let outpoint = first_output(&etched);
        let mut previous = BlockHash::all_zeros();
        for number in 0..=height {
            let mut transactions = Vec::new();
            if number == 1 {
                transactions.push(committed.clone());
            }
            if number == height {
                transactions.push(etched.clone());
            }
            let next = block(number, previous, transactions);
            previous = next.id.hash;
            instance.connect(&next);
        }
        let state = instance.at(height as Height);
        assert_eq!(state.base_sheet(&outpoint).unwrap().entries.is_empty(), height < 6, "height {height}");
        let etchings = state.etchings(height as Height).unwrap();
        assert_eq!(etchings.len(), usize::from(height >= 6));
        if let [(rune, etching)] = &etchings[..] {
            assert_eq!((rune.block, etching.premine, etching.symbol), (u128::from(height), 5, '¤'));
            assert_eq!(state.etching(*rune).unwrap().as_ref(), Some(etching));
        }
    }
}

#[test]
fn an_output_from_before_the_index_counts_as_deep_and_names_must_be_free() {
    let mut bench = Bench::new(0);
    bench.height = 9;
    let mut try_name = |name: &str| {
        let mut input = spend(OutPoint { txid: bitcoin::Txid::from_byte_array([name.len() as u8; 32]), vout: 0 });
        input.witness = commitment(name);
        let etched = with_base(vec![input], vec![output(script(1))], etches(named(name)), &[]);
        let outpoint = first_output(&etched);
        bench.run(etched);
        !runes(&bench, outpoint).is_empty()
    };
    assert!(try_name(NAME));
    assert!(!try_name("AAAAAAAAAAAA"), "twelve letters are not free before mainnet's schedule says so");
    assert!(!try_name("AAAAAAAAAAAAAAAAAAAAAAAAAAA"), "reserved names are for etchings without one");
}
