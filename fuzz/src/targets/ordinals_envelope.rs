//! Any tapscript, and any transaction that a miner may put into a block: envelopes are read in order, what they say is no
//! longer than the script, and nothing of it stops a reader.

use bitcoin::absolute::LockTime;
use bitcoin::consensus::encode::deserialize;
use bitcoin::{Transaction, TxIn, Witness, transaction::Version};
use paraffin_ordinals_index::envelope::{envelopes, inscription_of};
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::inscription::value_of_id;
use paraffin_ordinals_index::properties::Properties;

fn check(transaction: &Transaction, bytes: usize) {
    let found: Vec<_> = envelopes(transaction).collect();
    assert!(found.windows(2).all(|pair| (pair[0].input, pair[0].offset) < (pair[1].input, pair[1].offset)));
    let txid = transaction.compute_txid();
    for (index, envelope) in (0u32..).zip(&found).take(3) {
        let said = &envelope.inscription;
        assert_eq!(inscription_of(transaction, &InscriptionId { txid, index }).as_ref(), Some(said));
    }
    let mut length = 0;
    for envelope in &found {
        let said = &envelope.inscription;
        for part in
            [&said.body, &said.metadata, &said.properties, &said.content_type, &said.pointer].into_iter().flatten()
        {
            length += part.len();
        }
        length += said.parents.iter().map(|parent| value_of_id(parent).len()).sum::<usize>();
        let _ = (said.pointer(), said.delegate(), said.content_type(), said.metaprotocol(), said.content_encoding());
        serde_json::to_string(&Properties::of(said, &|_| true)).expect("properties are always JSON");
    }
    assert!(length <= bytes, "{length} of {bytes}");
}

pub(crate) fn run(bytes: &[u8]) {
    if let Ok(transaction) = deserialize::<Transaction>(bytes) {
        check(&transaction, bytes.len());
    }
    let witness = Witness::from_slice(&[bytes, &[0xc0; 33]]);
    let input = vec![TxIn { witness, ..TxIn::default() }];
    check(&Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input, output: Vec::new() }, bytes.len());
}
