//! The ledger over four real mainnet blocks.

use std::collections::BTreeMap;

use bitcoin::Block;
use paraffin_alkanes::codec::{Artifact, Cellpack};
use paraffin_alkanes::{BlockEffects, EffectsPart, Etching, Parameters, StateKey, TraceEvent, TraceStatus};
use paraffin_primitives::{AlkaneId, ConnectedBlock, Height, Network};

use crate::chain::{Memory, engine, id, parameters};
use crate::contracts::real_engine;

/// The block; `None` after counting the test as skipped.
fn real_block(name: &str) -> Option<Block> {
    paraffin_testkit::real_block(name).map(|bytes| bitcoin::consensus::deserialize(&bytes).unwrap())
}

/// Runs the block on an empty state with contracts that revert every call.
fn run(name: &str, height: Height) -> Option<(Block, BlockEffects)> {
    let block = real_block(name)?;
    let connected = ConnectedBlock::new(height, block.clone());
    let rules = Parameters { genesis_height: u64::from(height), ..parameters(943_500) };
    let effects = Memory::default().run(&mut engine(rules), &connected).unwrap();
    let again = Memory::default().run(&mut engine(rules), &connected).unwrap();
    assert_eq!(effects.first_difference(&again), None);
    Some((block, effects))
}

#[test]
fn the_messages_of_block_892614_are_run_in_order() {
    let Some((block, effects)) = run("mainnet-892614", 892_614) else { return };
    let mut expected = Vec::new();
    for transaction in &block.txdata {
        let Some(Artifact::Runestone(runestone)) = Artifact::read(transaction) else { continue };
        for (index, stone) in runestone.protostones().unwrap_or_default().iter().enumerate() {
            if stone.is_alkanes_message() && Cellpack::decode(&stone.message).is_ok() {
                expected.push((transaction.compute_txid(), (transaction.output.len() + 1 + index) as u32));
            }
        }
    }
    let ran: Vec<_> = effects.traces.iter().map(|(outpoint, _)| (outpoint.txid, outpoint.vout)).collect();
    assert_eq!(ran, expected);
    let mut targets: BTreeMap<AlkaneId, usize> = BTreeMap::new();
    for (_, trace) in &effects.traces {
        let [TraceEvent::Enter { context, .. }, TraceEvent::Exit { status, .. }] = &trace.events[..] else {
            panic!("a stand-in has an entry and an exit")
        };
        assert_eq!(*status, TraceStatus::Revert);
        *targets.entry(context.myself).or_default() += 1;
    }
    let expected = [(id(2, 0), 4), (id(2, 19), 158), (id(2, 56), 1), (id(2, 215), 1), (id(6, 33), 1)];
    assert_eq!(targets, BTreeMap::from(expected));
    // Nothing succeeded, so nothing is left but the ids that an edict named.
    assert!(effects.funded.is_empty());
    assert_eq!(
        counts(&effects),
        [("sequence".to_owned(), 2), ("sheets".to_owned(), 1), ("storage".to_owned(), 1)].into()
    );
}

/// The reference ran 164 messages of this block on an empty state, of which 160 met no contract.
#[test]
fn contracts_run_in_block_892614_as_they_did_in_the_reference() {
    let Some(block) = real_block("mainnet-892614") else { return };
    let rules = Parameters { genesis_height: 892_614, ..Parameters::of(Network::Mainnet) };
    let mut engine = real_engine(Network::Mainnet).with_parameters(rules);
    let mut state = Memory::default();
    let effects = state.run(&mut engine, &ConnectedBlock::new(892_614, block)).unwrap();
    assert_eq!(effects.traces.len(), 164);
    let mut answered = 0;
    for (outpoint, trace) in &effects.traces {
        let Some(TraceEvent::Enter { context, .. }) = trace.events.first() else { panic!("{outpoint}: no call") };
        let Some(TraceEvent::Exit { response, .. }) = trace.events.last() else { panic!("{outpoint}: no end") };
        if context.myself == id(2, 0) {
            answered += 1;
        } else {
            // The empty code of a contract that is not there is no module.
            let text = b"\x08\xc3\x79\xa0unexpected end-of-file (at offset 0x0)";
            assert_eq!(response.data[..], text[..], "{outpoint}: {}", String::from_utf8_lossy(&response.data));
        }
    }
    assert_eq!((answered, effects.funded.len()), (4, 4));
}

/// Writes by kind.
fn counts(effects: &BlockEffects) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (key, _) in &effects.writes {
        *counts.entry(EffectsPart::of(key).to_string()).or_default() += 1;
    }
    counts
}

#[test]
fn etchings_of_block_849236_are_recorded() {
    let Some((_, effects)) = run("mainnet-849236", 849_236) else { return };
    let etchings: Vec<_> =
        effects
            .writes
            .iter()
            .filter_map(|(key, value)| {
                if let StateKey::Etching(id) = key { Some((*id, Etching::decode(value).unwrap())) } else { None }
            })
            .collect();
    let [(first, crossed), (second, capped)] = &etchings[..] else { panic!("{etchings:?}") };
    assert_eq!((*first, *second), (id(849_236, 298), id(849_236, 1228)));
    assert_eq!((crossed.premine, crossed.cap, crossed.symbol), (21_000_000, 0, 'Q'));
    assert_eq!((capped.premine, capped.cap, capped.amount), (400_000_000, 20_000, 180_000));
    assert!(
        effects
            .writes
            .iter()
            .any(|(key, value)| { *key == StateKey::MintsRemaining(*second) && value[..] == 20_000u128.to_le_bytes() })
    );
}

#[test]
fn blocks_without_etchings_leave_nothing_behind() {
    let expected = |sheets: Option<usize>| {
        let always = [("sequence".to_owned(), 2), ("storage".to_owned(), 1)];
        always.into_iter().chain(sheets.map(|count| ("sheets".to_owned(), count))).collect::<BTreeMap<_, _>>()
    };
    if let Some((_, effects)) = run("mainnet-849250", 849_250) {
        assert_eq!((counts(&effects), effects.traces.len()), (expected(None), 0));
    }
    if let Some((_, effects)) = run("mainnet-00b93d1e", 880_500) {
        // One message, and edicts that name six alkanes.
        assert_eq!((counts(&effects), effects.traces.len()), (expected(Some(6)), 1));
    }
}
