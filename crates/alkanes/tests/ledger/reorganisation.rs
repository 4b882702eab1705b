use std::collections::BTreeMap;

use paraffin_alkanes::{MODULE, TABLES};
use proptest::prelude::*;

use crate::chain::{Instance, parameters};
use crate::scenario::{Numbers, Scenario};

/// Every row, by table and key, and the digest of the newest block.
struct Footprint {
    rows: BTreeMap<(u8, Vec<u8>), Vec<u8>>,
    digest: Option<[u8; 32]>,
}

fn footprint(instance: &Instance) -> Footprint {
    let tip = instance.snapshot().tip().map(|tip| tip.id.height);
    let digest = tip.and_then(|tip| instance.snapshot().module_digest(MODULE, tip).unwrap());
    Footprint { rows: instance.rows().into_iter().map(|(table, key, value)| ((table, key), value)).collect(), digest }
}

/// Names the first row that differs, instead of all of them.
#[track_caller]
fn assert_same(left: &Footprint, right: &Footprint, when: &str) {
    for key in left.rows.keys().chain(right.rows.keys()) {
        let (left, right) = (left.rows.get(key), right.rows.get(key));
        assert_eq!(left, right, "{when}: row {:?} of table {}", key.1, TABLES[usize::from(key.0) - 1].name);
    }
    assert_eq!(left.digest, right.digest, "{when}: the digest");
}

/// Undoes `depth` blocks, follows another branch, returns, and arrives at the same rows each time.
fn reorganise(seed: u64, blocks: usize, depth: usize) {
    let rules = parameters(blocks as u64 / 2);
    let mut instance = Instance::regtest(rules);
    let mut scenario = Scenario::new(seed);
    let mut fork = scenario.clone();
    let mut footprints = vec![footprint(&instance)];
    for height in 0..blocks {
        instance.connect(scenario.grow(6));
        footprints.push(footprint(&instance));
        if height + 1 == blocks - depth {
            fork = scenario.clone();
        }
    }
    for height in (blocks - depth..blocks).rev() {
        instance.writer.undo_block().unwrap();
        assert_same(&footprint(&instance), &footprints[height], &format!("seed {seed}, block {height} undone"));
    }

    fork.numbers = Numbers::new(seed ^ 0x00f0_0f00);
    let mut other = Instance::regtest(rules);
    for block in &fork.blocks {
        other.connect(block);
    }
    for _ in 0..depth {
        let block = fork.grow(6).clone();
        instance.connect(&block);
        other.connect(&block);
    }
    assert_same(&footprint(&instance), &footprint(&other), &format!("seed {seed}, on the other branch"));
    for _ in 0..depth {
        instance.writer.undo_block().unwrap();
    }
    assert_same(&footprint(&instance), &footprints[blocks - depth], &format!("seed {seed}, the other branch undone"));
    for (block, expected) in scenario.blocks.iter().zip(&footprints[1..]).skip(blocks - depth) {
        instance.connect(block);
        assert_same(&footprint(&instance), expected, &format!("seed {seed}, back on the first branch"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_reorganisation_of_any_depth_restores_rows_and_digests(seed: u64, depth in 1usize..=14) {
        reorganise(seed, 14, depth);
    }
}

#[test]
fn several_blocks_in_one_commit_leave_the_same_rows() {
    let mut scenario = Scenario::new(3);
    let (mut single, mut joint) = (Instance::regtest(parameters(5)), Instance::regtest(parameters(5)));
    for _ in 0..10 {
        let block = scenario.grow(8);
        single.connect(block);
        joint.apply(block).unwrap();
    }
    joint.writer.commit(false).unwrap();
    assert_same(&footprint(&single), &footprint(&joint), "one commit or ten");
}
