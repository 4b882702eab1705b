use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A state in memory.
struct Fixed(BTreeMap<StateKey, Vec<u8>>);

impl StateReader for Fixed {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.get(key).cloned())
    }
}

fn key(number: u8) -> StateKey {
    StateKey::Storage(paraffin_primitives::AlkaneId { block: 2, tx: 0 }, vec![number])
}

#[test]
fn a_direct_write_survives_a_rollback_and_is_hidden_by_an_open_layer() {
    let reader = Fixed(BTreeMap::new());
    let mut overlay = Overlay::new(&reader);
    overlay.checkpoint();
    overlay.put(key(1), vec![1]);
    overlay.put_direct(key(1), vec![2]);
    overlay.put_direct(key(2), vec![3]);
    assert_eq!(overlay.get(&key(1)).unwrap(), Some(vec![1]));
    assert_eq!(overlay.get_direct(&key(1)).unwrap(), Some(vec![2]));
    overlay.rollback();
    assert_eq!(overlay.get(&key(1)).unwrap(), Some(vec![2]));
    assert_eq!(overlay.into_writes().unwrap(), [(key(1), vec![2]), (key(2), vec![3])]);
}

#[test]
fn a_value_written_again_as_it_was_is_no_change() {
    let reader = Fixed(BTreeMap::from([(key(1), vec![1]), (key(2), vec![2])]));
    let mut overlay = Overlay::new(&reader);
    overlay.put(key(1), vec![1]);
    overlay.put(key(2), vec![9]);
    overlay.put(key(3), Vec::new());
    assert_eq!(overlay.into_writes().unwrap(), [(key(2), vec![9]), (key(3), Vec::new())]);
}

#[derive(Debug, Clone)]
enum Step {
    Put(u8, u8),
    Direct(u8, u8),
    Open,
    Commit,
    Rollback,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0u8..6, any::<u8>()).prop_map(|(key, value)| Step::Put(key, value)),
        1 => (0u8..6, any::<u8>()).prop_map(|(key, value)| Step::Direct(key, value)),
        2 => Just(Step::Open),
        1 => Just(Step::Commit),
        1 => Just(Step::Rollback),
    ]
}

proptest! {
    /// The model keeps one list of all writes, each with the checkpoint that it belongs to.
    #[test]
    fn layers_behave_like_a_list_of_writes(
        steps in proptest::collection::vec(step(), 0..60),
        old in proptest::collection::btree_map(0u8..6, any::<u8>(), 0..6),
    ) {
        let reader = Fixed(old.iter().map(|(name, value)| (key(*name), vec![*value])).collect());
        let mut overlay = Overlay::new(&reader);
        let mut writes: Vec<(usize, u8, u8)> = Vec::new();
        let mut depth = 0;
        for step in steps {
            match step {
                Step::Put(name, value) => {
                    overlay.put(key(name), vec![value]);
                    writes.push((depth, name, value));
                }
                Step::Direct(name, value) => {
                    overlay.put_direct(key(name), vec![value]);
                    writes.retain(|write| !(write.0 == 0 && write.1 == name));
                    writes.push((0, name, value));
                }
                Step::Open => {
                    overlay.checkpoint();
                    depth += 1;
                }
                Step::Commit => {
                    overlay.commit();
                    if depth > 0 {
                        // The newer layer wins over whatever the older one holds.
                        let (newer, mut older): (Vec<_>, Vec<_>) = writes.into_iter().partition(|write| write.0 == depth);
                        depth -= 1;
                        older.retain(|write| write.0 != depth || newer.iter().all(|other| other.1 != write.1));
                        older.extend(newer.into_iter().map(|write| (depth, write.1, write.2)));
                        writes = older;
                    }
                }
                Step::Rollback => {
                    overlay.rollback();
                    if depth > 0 {
                        writes.retain(|write| write.0 != depth);
                        depth -= 1;
                    }
                }
            }
            prop_assert_eq!(overlay.depth(), depth);
            for name in 0..6 {
                let newest = (0..=depth).rev().find_map(|layer| {
                    writes.iter().rev().find(|write| write.0 == layer && write.1 == name).map(|write| write.2)
                });
                let expected = newest.or(old.get(&name).copied()).map(|value| vec![value]);
                prop_assert_eq!(overlay.get(&key(name)).unwrap(), expected);
            }
        }
    }
}

#[test]
fn what_has_been_changed_leaves_less_memory_for_instances() {
    let reader = Fixed(BTreeMap::new());
    let parameters = Parameters { message_bytes: 1 << 20, ..Parameters::of(paraffin_primitives::Network::Regtest) };
    let mut overlay = Overlay::of_block(&reader, &parameters);
    assert_eq!(overlay.memory_left(), 1 << 20);
    overlay.put(StateKey::Sequence, vec![0; 1000]);
    assert_eq!(overlay.memory_left(), (1 << 20) - 1000 - ENTRY_BYTES);
    overlay.put(StateKey::SeenGenesis, vec![0; 2 << 20]);
    assert_eq!(overlay.memory_left(), 0);
}
