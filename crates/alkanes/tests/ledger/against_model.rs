use std::collections::{BTreeMap, HashSet};

use bitcoin::hashes::Hash;
use bitcoin::{BlockHash, OutPoint};
use paraffin_alkanes::codec::{Runestone, append_varint, pack_chunks};
use paraffin_alkanes::{SavedSheet, StateKey};
use paraffin_primitives::AlkaneId;
use proptest::prelude::*;

use crate::chain::{Memory, block, engine, id, op_return, output, parameters, script, spend, transaction, with_stones};
use crate::model::Model;
use crate::scenario::Scenario;
use crate::stand_in::{MINT, message};

/// The state of the engine in the shape of the model.
#[derive(Debug, PartialEq, Default)]
struct Ledger {
    outputs: BTreeMap<OutPoint, Vec<(AlkaneId, u128)>>,
    runtime: BTreeMap<AlkaneId, u128>,
    balances: BTreeMap<(AlkaneId, AlkaneId), u128>,
    seen: Vec<AlkaneId>,
}

fn ledger(state: &Memory) -> Ledger {
    let mut ledger = Ledger::default();
    let mut seen = Vec::new();
    for (key, value) in &state.values {
        let amount = || u128::from_le_bytes(value[..].try_into().unwrap());
        match key {
            StateKey::Sheet(outpoint) => {
                ledger.outputs.insert(*outpoint, SavedSheet::decode(value).unwrap().entries);
            }
            StateKey::Runtime(id) => _ = ledger.runtime.insert(*id, amount()),
            StateKey::Balance { what, who } => _ = ledger.balances.insert((*what, *who), amount()),
            StateKey::FirstSeen(id) => {
                let height = u64::from_le_bytes(value[..8].try_into().unwrap());
                let index = u32::from_le_bytes(value[8..].try_into().unwrap());
                seen.push((height, index, *id));
            }
            _ => {}
        }
    }
    seen.sort_unstable();
    ledger.seen = seen.into_iter().map(|(_, _, id)| id).collect();
    ledger
}

/// Sums modulo 2^128, by id.
fn sums(amounts: impl IntoIterator<Item = (AlkaneId, u128)>) -> BTreeMap<AlkaneId, u128> {
    let mut sums = BTreeMap::<_, u128>::new();
    for (id, amount) in amounts {
        let sum = sums.entry(id).or_default();
        *sum = sum.wrapping_add(amount);
    }
    sums.retain(|_, sum| *sum != 0);
    sums
}

/// Counts of effects, so that a test without any is noticed.
#[derive(Debug, Default)]
struct Tally {
    funded: usize,
    lost: usize,
    runtime: usize,
}

fn compare(seed: u64, blocks: usize, transactions: usize) -> Tally {
    let changes_at = blocks as u64 / 2;
    let mut scenario = Scenario::new(seed);
    let mut engine = engine(parameters(changes_at));
    let (mut state, mut model) = (Memory::default(), Model::default());
    let mut spent = HashSet::new();
    let mut funded = 0;
    for height in 0..blocks {
        let block = scenario.grow(transactions);
        funded += state.run(&mut engine, block).unwrap().funded.len();
        for transaction in &block.block.txdata {
            model.apply(transaction, (height as u64) < changes_at);
            spent.extend(transaction.input.iter().map(|input| input.previous_output));
        }

        let ledger = ledger(&state);
        let Model { outputs, runtime, balances, seen, minted, lost } = model.clone();
        let expected = Ledger { outputs, runtime, balances, seen };
        assert_eq!(ledger, expected, "seed {seed}, block {height}");

        // Everything minted is in unspent outputs, in contracts, or lost by a rule.
        let live = ledger.outputs.iter().filter(|(outpoint, _)| !spent.contains(*outpoint));
        let in_outputs = live.flat_map(|(_, entries)| entries.iter().copied());
        let in_contracts = ledger.balances.iter().map(|((what, _), amount)| (*what, *amount));
        assert_eq!(
            sums(in_outputs.chain(in_contracts).chain(lost)),
            sums(minted),
            "the books of seed {seed} after block {height}"
        );
    }
    Tally { funded, lost: model.lost.len(), runtime: model.runtime.len() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn random_blocks_move_what_the_rules_say_and_nothing_vanishes_unseen(seed: u64) {
        compare(seed, 24, 8);
    }
}

/// Integers as hostile writers would choose them: keys, small numbers, numbers at the edges.
fn hostile_integer() -> impl Strategy<Value = u128> {
    prop_oneof![
        4 => prop::sample::select(vec![0u128, 1, 81, 83, 91, 93, 95]),
        6 => 0u128..12,
        1 => prop::sample::select(vec![u128::from(u32::MAX), 1 << 32, (1 << 32) + 4, 1 << 127, u128::MAX]),
        1 => any::<u128>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The content of the protocol field is arbitrary.
    #[test]
    fn arbitrary_protocol_integers_end_as_the_rules_say(integers in prop::collection::vec(hostile_integer(), 0..40)) {
        let mut bytes = Vec::new();
        for integer in integers {
            append_varint(integer, &mut bytes);
        }
        let runestone = Runestone { protocol: pack_chunks(&bytes), ..Runestone::default() };
        let mut engine = engine(parameters(0));
        let (mut state, mut model) = (Memory::default(), Model::default());
        let funding = with_stones(vec![], vec![output(script(1))], &[message(id(2, 1), &[MINT, 1000], 0, 0)]);
        let source = spend(OutPoint { txid: funding.compute_txid(), vout: 0 });
        let mut hostile = transaction(vec![source], vec![output(script(1)), output(op_return()), output(script(2))]);
        hostile.output.push(output(runestone.encode(4).unwrap()));
        for transaction in [&funding, &hostile] {
            model.apply(transaction, false);
        }
        let block = block(0, BlockHash::all_zeros(), vec![funding, hostile]);
        state.run(&mut engine, &block).unwrap();
        let Model { outputs, runtime, balances, seen, .. } = model;
        prop_assert_eq!(ledger(&state), Ledger { outputs, runtime, balances, seen });
    }
}

#[test]
fn a_long_scenario_reaches_every_corner() {
    let tally = compare(1, 120, 20);
    assert!(tally.funded > 400 && tally.lost > 3 && tally.runtime > 3, "{tally:?}");
}
