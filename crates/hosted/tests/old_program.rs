//! A released indexer of alkanes of before 2.0, which keys the inventories of contracts in another form, and programs that write
//! unknown keys.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::collections::HashMap;
use std::sync::Arc;

use paraffin_alkanes::{StateError, StateKey, StateReader};
use paraffin_hosted::{Flush, Program, Serves, UnknownKey, translate};
use paraffin_primitives::{AlkaneId, ConnectedBlock};

use support::{Index, Scripted, TRADING, branches, flushes, run_natively};

struct Nothing;

impl StateReader for Nothing {
    fn get(&self, _: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(None)
    }
}

fn is_of_inventory(key: &[u8]) -> bool {
    key.windows(11).any(|part| part == b"/inventory/")
}

/// Inventories that a block writes.
fn inventories(flush: &Flush, block: &ConnectedBlock) -> Vec<(AlkaneId, AlkaneId)> {
    let pairs = flush.pairs.iter().filter(|(key, _)| is_of_inventory(key));
    let flush = Flush { pairs: pairs.map(|(key, value)| (key.clone(), value.clone())).collect() };
    let writes = translate(&flush, block, &Nothing).unwrap().effects.writes.into_iter();
    let held = writes.filter_map(|(key, _)| match key {
        StateKey::Inventory { who, what } => Some((who, what)),
        _ => None,
    });
    held.collect()
}

#[test]
fn both_forms_of_the_keys_of_inventories_are_read() {
    let branches = branches(5, TRADING);
    let (effects, _) = run_natively(&branches[..1]);
    let mut seen = 0;
    for block in &branches[0] {
        let new = support::encode(block.id.height, &effects[&block.id.hash]);
        let older = |key: &Vec<u8>| [b"/alkanes", &key[b"/alkanes/".len()..]].concat();
        let pairs = new.pairs.iter().filter(|(key, _)| is_of_inventory(key));
        let old = Flush { pairs: pairs.map(|(key, value)| (older(key), value.clone())).collect() };
        let held = inventories(&new, block);
        assert_eq!(inventories(&old, block), held, "block {}", block.id);
        assert_eq!(translate(&old, block, &Nothing).unwrap().unknown, None, "block {}", block.id);
        seen += held.len();
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn the_first_key_of_no_known_kind_is_kept_and_undone_with_its_block() {
    let branches = branches(5, 112);
    let (effects, _) = run_natively(&branches);
    let mut flushes: HashMap<_, _> = flushes(&branches, &effects);
    // In a block that the other branch does not have, and in the one after it.
    let fork = branches[0].iter().zip(&branches[1]).position(|(one, other)| one.id != other.id).unwrap();
    for (block, key) in branches[0][fork..].iter().zip([b"/new\0kind", b"/new\0next"]) {
        flushes.get_mut(&block.id.hash).unwrap().pairs.insert(key.to_vec(), vec![1]);
    }
    let program: Arc<dyn Program> = Arc::new(Scripted(flushes));
    let mut index = Index::of(|store| support::modules(store, &program, Serves::Hosted, None));
    let first = |index: &Index| UnknownKey::first(&index.store.snapshot()).unwrap();
    index.follow(&branches[0][..fork]).unwrap();
    assert_eq!(first(&index), None);
    index.follow(&branches[0]).unwrap();
    let height = branches[0][fork].id.height;
    assert_eq!(first(&index), Some(UnknownKey { height, key: "/new\\00kind".to_owned() }));
    index.follow(&branches[1]).unwrap();
    assert_eq!(first(&index), None);
}

#[cfg(feature = "machine")]
#[test]
fn a_release_of_before_2_0_writes_no_unknown_key_and_its_inventories_are_read() {
    use std::collections::BTreeSet;

    use paraffin_alkanes::ChainState;
    use paraffin_hosted::{HostedState, Reads as _};

    let Some(path) = paraffin_testkit::reference_program("alkanes-2025-07-regtest.wasm") else { return };
    let program = paraffin_hosted::load_file(&path).unwrap();
    let branches = branches(5, TRADING);
    let mut index = Index::of(|store| support::modules(store, &program, Serves::Hosted, None));
    index.follow(&branches[0]).unwrap();
    let snapshot = index.store.snapshot();
    assert_eq!(UnknownKey::first(&snapshot).unwrap(), None);
    let height = index.height().unwrap();
    // The program's inventories are those of the index.
    let kept = HostedState::at(&snapshot, Some(height));
    let state = ChainState::at(&snapshot, height);
    let mut holders = 0;
    for tx in 0..60 {
        let id = AlkaneId { block: 2, tx };
        let list = [b"/alkanes", &id.block.to_le_bytes()[..], &id.tx.to_le_bytes(), b"/inventory/"].concat();
        let entry = |name: &str| kept.get(&[&list, name.as_bytes()].concat()).unwrap();
        let length = entry("/length").map_or(0, |length| u32::from_le_bytes(length.try_into().unwrap()));
        let held: BTreeSet<Vec<u8>> = (0..length).map(|index| entry(&format!("/{index}")).unwrap()).collect();
        let indexed = state.inventory(id, None, 1000).unwrap().items.into_iter();
        let indexed: BTreeSet<Vec<u8>> =
            indexed.map(|(what, _)| [what.block.to_le_bytes(), what.tx.to_le_bytes()].concat()).collect();
        assert_eq!(indexed, held, "{id}");
        holders += usize::from(!held.is_empty());
    }
    assert!(holders > 0, "contracts hold alkanes");
}
