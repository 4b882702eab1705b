//! Real mainnet blocks, isolated: what they spend is not in the index.

use bitcoin::consensus::deserialize;
use bitcoin::{Block, Transaction};
use paraffin_ordinals_index::envelope::{envelopes, inscription_of};
use paraffin_primitives::Network;

use crate::instance::{Instance, TOLERANT};

fn blocks() -> Vec<(String, Block)> {
    let blocks = paraffin_testkit::real_blocks().into_iter();
    blocks.map(|(path, bytes)| (path.display().to_string(), deserialize(&bytes).unwrap())).collect()
}

/// Every envelope of a real block has an inscription, which is in an output of the block, and reads back as it was written.
#[test]
fn every_envelope_of_the_real_blocks_is_an_inscription() {
    for (name, block) in blocks() {
        let mut instance = Instance::of(Network::Mainnet, TOLERANT, None);
        instance.connect(849_236, &block, None);
        instance.commit();
        let index = paraffin_ordinals_index::OrdinalsIndex::new(instance.store.snapshot(), Network::Mainnet);
        let expected: usize = block.txdata.iter().skip(1).map(|transaction| envelopes(transaction).count()).sum();
        let ids = index.ids_of_block(849_236, usize::MAX).unwrap().unwrap();
        assert_eq!(ids.len(), expected, "{name}");
        let transactions: std::collections::HashMap<_, &Transaction> =
            block.txdata.iter().map(|transaction| (transaction.compute_txid(), transaction)).collect();
        let mut with_type = 0;
        for (sequence, id) in (0u32..).zip(&ids) {
            let facts = index.facts(sequence).unwrap().unwrap();
            let inscription = inscription_of(transactions[&id.txid], id).unwrap();
            let record = facts.record(&inscription, None, &|_| true);
            assert_eq!(record.id, *id);
            with_type += usize::from(record.content_type.is_some());
            let at = record.satpoint.outpoint;
            let output = transactions.get(&at.txid).and_then(|transaction| transaction.output.get(at.vout as usize));
            assert_eq!(record.value, output.map(|output| output.value.to_sat()), "{name} {id}");
        }
        assert!(with_type * 10 >= ids.len() * 9, "{name}: {with_type} of {} have a content type", ids.len());
        eprintln!("{name}: {} inscriptions", ids.len());
    }
}
