//! Numbers, locations and contents of outputs against the naive recomputation.

use std::collections::BTreeMap;

use bitcoin::OutPoint;
use paraffin_ordinals_index::envelope::inscription_of;
use paraffin_ordinals_index::event::InscriptionId;
use proptest::prelude::*;

use crate::chain::{Chain, random_chain};
use crate::instance::{Instance, PLAIN, WITH_SATS};
use crate::naive::Naive;

/// Every inscription of the chain has the number, the location and the sat that the recomputation gives.
pub fn agree(instance: &Instance, chain: &Chain, has_sats: bool) {
    let naive = Naive::of(&chain.blocks);
    let index = instance.index();
    let transactions: BTreeMap<_, _> = chain
        .blocks
        .iter()
        .flat_map(|block| &block.txdata)
        .map(|transaction| (transaction.compute_txid(), transaction))
        .collect();
    let mut by_output: BTreeMap<OutPoint, Vec<InscriptionId>> = BTreeMap::new();
    for (sequence, expected) in (0u32..).zip(&naive.inscriptions) {
        let facts = index.facts(sequence).unwrap().unwrap();
        assert_eq!(facts.id, expected.id, "inscription {sequence}");
        let inscription = inscription_of(transactions[&facts.id.txid], &facts.id).unwrap();
        let record = facts.record(&inscription, None, &|_| true);
        assert_eq!(record.number, expected.number, "{}", expected.id);
        assert_eq!(Some(record.satpoint), expected.satpoint, "{}", expected.id);
        assert_eq!(record.sat.map(ordinals::Sat::n), expected.sat.filter(|_| has_sats), "{}", expected.id);
        by_output.entry(record.satpoint.outpoint).or_default().push(expected.id);
    }
    assert!(index.facts(naive.inscriptions.len() as u32).unwrap().is_none());
    for (outpoint, ranges) in &naive.outputs {
        let record = index.output(outpoint, usize::MAX).unwrap().unwrap();
        assert_eq!(record.inscriptions, by_output.remove(outpoint).unwrap_or_default(), "{outpoint}");
        assert_eq!(record.sat_ranges.as_ref(), Some(ranges).filter(|_| has_sats), "{outpoint}");
    }
    for (outpoint, ids) in by_output {
        assert_eq!(index.output(&outpoint, usize::MAX).unwrap().unwrap().inscriptions, ids, "{outpoint}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn every_inscription_is_where_its_sat_is(seed: u64, has_sats: bool) {
        let chain = random_chain(seed, 128, 8);
        let mut instance = Instance::new(if has_sats { WITH_SATS } else { PLAIN });
        instance.follow(&chain, 0);
        agree(&instance, &chain, has_sats);
    }
}

/// The generator makes what the rules are about; else the comparisons would compare nothing.
#[test]
fn random_chains_have_something_of_everything() {
    let chain = random_chain(7, 150, 12);
    let mut instance = Instance::new(PLAIN);
    instance.follow(&chain, 0);
    let index = instance.index();
    let mut charms: BTreeMap<String, u32> = BTreeMap::new();
    let (mut children, mut sequence) = (0, 0);
    while let Some(facts) = index.facts(sequence).unwrap() {
        let record = facts.record(&paraffin_ordinals_index::inscription::Inscription::default(), None, &|_| true);
        record.charms.iter().for_each(|charm| *charms.entry(charm.to_string()).or_default() += 1);
        children += record.child_count;
        sequence += 1;
    }
    for charm in ["cursed", "vindicated", "reinscription", "unbound", "burned", "lost"] {
        assert!(charms.get(charm).is_some_and(|count| *count >= 3), "{charm}: {charms:?}");
    }
    let runes = index.runes(0).unwrap();
    assert!(sequence > 100 && children > 5, "{sequence} inscriptions, {children} children");
    assert!(runes.entries.len() >= 10, "{} runes", runes.entries.len());
    assert!(runes.entries.iter().any(|(_, entry)| entry.mints > 0));
    assert!(runes.entries.iter().any(|(_, entry)| entry.burned > 0));
}
