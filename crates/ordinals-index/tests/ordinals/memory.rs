//! The memory of answers is counted before it is allocated.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bitcoin::{Address, OutPoint};
use paraffin_ordinals_index::reader::OutputKind;
use paraffin_ordinals_index::{OrdinalsIndex, ReadError, unbound_outpoint};
use serde::Serialize;

use crate::chain::random_chain;
use crate::instance::{Instance, NETWORK, WITH_SATS};

const LIMIT: usize = 1_000;

/// Reads with memory for everything, for nothing, and for a little less than everything. Returns the bytes that were counted.
#[track_caller]
fn check<T: Serialize>(index: &OrdinalsIndex, read: impl Fn(&OrdinalsIndex) -> Result<Option<T>, ReadError>) -> usize {
    let counted_bytes = Arc::new(AtomicUsize::new(0));
    let sum = Arc::clone(&counted_bytes);
    let counted = index.clone().counting(Arc::new(move |bytes| {
        sum.fetch_add(bytes, Ordering::Relaxed);
        true
    }));
    let Some(answer) = read(&counted).unwrap() else { return 0 };
    let counted_bytes = counted_bytes.load(Ordering::Relaxed);
    let written = serde_json::to_string(&answer).unwrap();
    assert_eq!(written, serde_json::to_string(&read(index).unwrap()).unwrap(), "counting changes nothing");
    // A record has some members of its own beside what its lists hold.
    assert!(counted_bytes + 1_000 >= written.len(), "{counted_bytes} bytes for {written}");
    if counted_bytes > 0 {
        for memory in [0, counted_bytes - 1] {
            let left = AtomicUsize::new(memory);
            let take = move |bytes| {
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
            };
            let outcome = read(&index.clone().counting(Arc::new(take)));
            assert!(matches!(outcome, Err(ReadError::OutOfMemory)), "{memory} of {counted_bytes} bytes for {written}");
        }
    }
    counted_bytes
}

#[test]
fn lists_are_counted_before_they_are_kept() {
    let chain = random_chain(11, 140, 12);
    let mut instance = Instance::new(WITH_SATS);
    instance.follow(&chain, 0);
    let index = instance.index();
    let (mut most, mut addresses) = (0, std::collections::BTreeSet::new());
    for (height, block) in (0..).zip(&chain.blocks) {
        for transaction in &block.txdata {
            let txid = transaction.compute_txid();
            for (vout, output) in (0..).zip(&transaction.output) {
                most = most.max(check(&index, |index| index.output(&OutPoint { txid, vout }, LIMIT)));
                addresses.extend(Address::from_script(&output.script_pubkey, NETWORK.bitcoin()).ok());
            }
        }
        check(&index, |index| index.ids_of_block(height, LIMIT));
        check(&index, |index| index.runes_of_block(height).map(Some));
    }
    assert!(most > 1_000, "an output with more than a few entries: {most} bytes");
    for outpoint in [OutPoint::null(), unbound_outpoint()] {
        assert!(check(&index, |index| index.output(&outpoint, LIMIT)) > 0, "{outpoint}");
    }
    let mut held = [0; 2];
    for address in &addresses {
        // The caller counts the outputs.
        held[0] += check(&index, |index| {
            index.address_record(address, LIMIT).map(|record| record.map(|record| record.inscriptions))
        });
        held[1] += check(&index, |index| index.outputs_of(address, OutputKind::Inscribed, LIMIT));
    }
    assert!(held.iter().all(|bytes| *bytes > 1_000), "{held:?}");
    assert_eq!(index.keep(usize::MAX).ok(), Some(()), "without a counter there is memory for everything");
}
