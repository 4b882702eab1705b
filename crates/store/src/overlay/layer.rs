//! Common parts of the layers of waiting rows: slots by key, and the same slots in order.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::StoreError;
use crate::engine::Bytes;
use crate::key::PREFIX_LEN;

/// Rows that are fetched from memory together; one after the other, each would be waited for.
const TOGETHER: usize = 16;

/// Hashes keys of maps that hold bytes which an attacker can put into a block, so each map draws a seed of its own; the standard
/// hasher would cost a tenth of an import.
#[derive(Debug, Clone)]
pub struct KeyHashing(u64);

impl Default for KeyHashing {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0_u64))
    }
}

impl BuildHasher for KeyHashing {
    type Hasher = KeyHasher;

    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(self.0)
    }
}

/// The hasher of one key.
#[derive(Debug)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_usize(&mut self, number: usize) {
        // The length of the key, which goes before its bytes.
        self.0 = self.0.wrapping_add(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A map by key.
pub(super) type KeyMap<T> = HashMap<Bytes, T, KeyHashing>;

/// Slots of rows by key, and in order of the keys after the first scan. The keys stay with the rows: the owner of the rows
/// passes a function from slot to key with each call.
pub(super) struct SlotIndex {
    /// `None`: rows are not looked up by key, and each key is new. A look-up then searches the sorted pieces.
    by_key: Option<HashTable<u32>>,
    hashing: KeyHashing,
    len: u32,
    ordered: Mutex<Ordered>,
}

impl Default for SlotIndex {
    fn default() -> Self {
        Self { by_key: Some(HashTable::new()), hashing: KeyHashing::default(), len: 0, ordered: Mutex::default() }
    }
}

/// Rows in order, up to the last scan: sorted pieces, each at least twice as long as the next. A scan sorts the rows
/// added since the one before and merges pieces of like length, which costs a tenth of keeping a tree.
#[derive(Default)]
struct Ordered {
    pieces: Vec<Vec<Sorted>>,
    /// Rows below this slot are in a piece.
    until: u32,
}

/// A row in a sorted piece: the first bytes of its key, and its slot.
type Sorted = (Head, u32);

/// The sixteen bytes of a key after module and table, which in most tables are all there are.
type Head = (u64, u64);

fn head(key: &[u8]) -> Head {
    let mut head = [0; 16];
    let rest = key.get(PREFIX_LEN..).unwrap_or_default();
    let len = rest.len().min(16);
    head[..len].copy_from_slice(&rest[..len]);
    let number = u128::from_be_bytes(head);
    ((number >> 64) as u64, number as u64)
}

/// By head, then by the whole key.
fn compare<'a>((a, a_slot): &Sorted, (b, b_slot): &Sorted, key_of: &impl Fn(u32) -> &'a [u8]) -> Ordering {
    a.cmp(b).then_with(|| key_of(*a_slot).cmp(key_of(*b_slot)))
}

fn merge<'a>(left: Vec<Sorted>, right: Vec<Sorted>, key_of: &impl Fn(u32) -> &'a [u8]) -> Vec<Sorted> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if compare(a, b, key_of).is_lt() { left.next() } else { right.next() };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    merged
}

impl Ordered {
    /// Sorts the rows up to `len`.
    fn catch_up<'a>(&mut self, len: usize, key_of: &impl Fn(u32) -> &'a [u8]) {
        if self.until as usize == len {
            return;
        }
        let mut piece: Vec<Sorted> = (self.until..len as u32).map(|slot| (head(key_of(slot)), slot)).collect();
        piece.sort_unstable_by(|a, b| compare(a, b, key_of));
        while let Some(last) = self.pieces.pop_if(|last| last.len() < 2 * piece.len()) {
            piece = merge(last, piece, key_of);
        }
        self.pieces.push(piece);
        self.until = len as u32;
    }

    /// All rows as one piece.
    fn whole<'a>(&mut self, len: usize, key_of: &impl Fn(u32) -> &'a [u8]) -> &[Sorted] {
        self.catch_up(len, key_of);
        // The shortest are the last.
        if let Some(shortest) = self.pieces.pop() {
            let whole = self.pieces.drain(..).rev().fold(shortest, |whole, longer| merge(longer, whole, key_of));
            self.pieces.push(whole);
        }
        self.pieces.first().map_or(&[], Vec::as_slice)
    }
}

impl SlotIndex {
    /// Empty, with the capacity for as many rows as `like` has.
    pub(super) fn with_capacity_of(like: &Self) -> Self {
        let by_key = like.by_key.as_ref().map(|by_key| HashTable::with_capacity(by_key.len()));
        Self { by_key, ..Self::default() }
    }

    /// Whether duplicate keys are detected.
    pub(super) fn is_mapped(&self) -> bool {
        self.by_key.is_some()
    }

    /// Enables the map by key, or disables it while there are no rows.
    pub(super) fn set_mapped<'a>(&mut self, mapped: bool, key_of: impl Fn(u32) -> &'a [u8]) {
        if mapped == self.is_mapped() {
            return;
        }
        if mapped {
            let hash = |slot: u32| self.hashing.hash_one(key_of(slot));
            let mut by_key = HashTable::with_capacity(self.len as usize);
            for slot in 0..self.len {
                by_key.insert_unique(hash(slot), slot, |slot| hash(*slot));
            }
            self.by_key = Some(by_key);
        } else if self.len == 0 {
            self.by_key = None;
        }
    }

    /// The slot of a key.
    pub(super) fn get<'a>(&self, key: &[u8], key_of: impl Fn(u32) -> &'a [u8]) -> Option<u32> {
        if let Some(by_key) = &self.by_key {
            return by_key.find(self.hashing.hash_one(key), |slot| key_of(*slot) == key).copied();
        }
        let mut found = None;
        self.visit(key, &[key, &[0]].concat(), key_of, |slot| {
            found = Some(slot);
            false
        });
        found
    }

    /// The slot of a key, a new one when it has none or there is no map by key; returns whether it is new. Slots are numbered in
    /// order, from 0.
    pub(super) fn add<'a>(&mut self, key: &[u8], key_of: impl Fn(u32) -> &'a [u8]) -> (u32, bool) {
        let next = self.len;
        if let Some(by_key) = &mut self.by_key {
            let hash = |key: &[u8]| self.hashing.hash_one(key);
            match by_key.entry(hash(key), |slot| key_of(*slot) == key, |slot| hash(key_of(*slot))) {
                Entry::Occupied(slot) => return (*slot.get(), false),
                Entry::Vacant(vacant) => _ = vacant.insert(next),
            }
        }
        self.len += 1;
        (next, true)
    }

    /// Drops the slots from `len` on, where there is no map by key.
    pub(super) fn truncate(&mut self, len: usize) {
        debug_assert!(!self.is_mapped(), "the map has these slots, too");
        self.len = len as u32;
        *self.ordered.get_mut() = Ordered::default();
    }

    /// All slots in order of their keys.
    fn order<'a>(&self, key_of: impl Fn(u32) -> &'a [u8]) -> Order {
        let mut ordered = self.ordered.lock();
        if ordered.until <= self.len / 2 {
            // Scans wait for what follows, so most of it is not left to it.
            drop(ordered);
            return order(0..self.len, key_of);
        }
        let whole = ordered.whole(self.len as usize, &key_of);
        let twice = whole.windows(2).find(|two| two[0].0 == two[1].0 && key_of(two[0].1) == key_of(two[1].1));
        Order { twice: twice.map(|two| two[0].1), indices: whole.iter().map(|(_, slot)| *slot).collect() }
    }

    /// Passes the slots of the keys with `from <= key < until` to `take`, in order, until it returns false.
    fn visit<'a>(
        &self,
        from: &[u8],
        until: &[u8],
        key_of: impl Fn(u32) -> &'a [u8],
        mut take: impl FnMut(u32) -> bool,
    ) {
        let mut ordered = self.ordered.lock();
        ordered.catch_up(self.len as usize, &key_of);
        let is_below = |(entry, slot): &Sorted, bound: &[u8], bound_head: Head| match entry.cmp(&bound_head) {
            Ordering::Equal => *key_of(*slot) < *bound,
            unequal => unequal.is_lt(),
        };
        let (from_head, until_head) = (head(from), head(until));
        // The head of a bound of another table is not comparable.
        let same_table = |bound: &[u8], key: &[u8]| bound.get(..PREFIX_LEN) == key.get(..PREFIX_LEN);
        let position = |piece: &[Sorted], bound: &[u8], bound_head: Head| match piece.first() {
            Some((_, slot)) if same_table(bound, key_of(*slot)) => {
                piece.partition_point(|entry| is_below(entry, bound, bound_head))
            }
            Some((_, slot)) if *key_of(*slot) < *bound => piece.len(),
            _ => 0,
        };
        let mut parts: Vec<&[Sorted]> = ordered
            .pieces
            .iter()
            .map(|piece| &piece[position(piece, from, from_head)..position(piece, until, until_head)])
            .filter(|part| !part.is_empty())
            .collect();
        while let Some(least) = (0..parts.len()).min_by(|a, b| compare(&parts[*a][0], &parts[*b][0], &key_of)) {
            let ((_, slot), rest) = (parts[least][0], &parts[least][1..]);
            if !take(slot) {
                return;
            }
            if rest.is_empty() {
                parts.swap_remove(least);
            } else {
                parts[least] = rest;
            }
        }
    }
}

/// The indices of `slots` in order of their keys, which all begin with the same module and table.
///
/// Most keys differ in the sixteen bytes after these, so most comparisons touch no key.
pub(super) fn order<'a>(slots: impl Iterator<Item = u32>, key_of: impl Fn(u32) -> &'a [u8]) -> Order {
    let mut heads: Vec<(Head, u32, u32)> =
        slots.zip(0..).map(|(slot, index)| (head(key_of(slot)), slot, index)).collect();
    heads
        .sort_unstable_by(|(a, a_slot, _), (b, b_slot, _)| a.cmp(b).then_with(|| key_of(*a_slot).cmp(key_of(*b_slot))));
    let twice = heads.windows(2).find(|two| two[0].0 == two[1].0 && key_of(two[0].1) == key_of(two[1].1));
    Order { twice: twice.map(|two| two[0].1), indices: heads.into_iter().map(|(_, _, index)| index).collect() }
}

/// Rows in order of their keys.
#[derive(Default)]
pub(super) struct Order {
    pub(super) indices: Vec<u32>,
    /// The slot of a duplicate key.
    pub(super) twice: Option<u32>,
}

/// Slots of a key: in the newest layer, in the one below.
pub(super) type InLayers = (Option<usize>, Option<usize>);

/// A layer: slots, and the keys of the rows at them.
pub(super) trait KeyedLayer {
    fn slots(&self) -> &SlotIndex;
    fn key(&self, slot: u32) -> &[u8];
    /// Any byte that depends on all memory that a visit of the row reads.
    fn touch(&self, slot: u32) -> u8;

    /// All slots in order of their keys.
    fn order(&self) -> Order {
        self.slots().order(|slot| self.key(slot))
    }

    /// Passes the slots to `each`. In order of their keys, rows are all over the memory.
    ///
    /// # Errors
    /// Those of `each`.
    fn visit(&self, order: &Order, mut each: impl FnMut(u32) -> Result<(), StoreError>) -> Result<(), StoreError> {
        order.indices.chunks(TOGETHER).try_for_each(|slots| {
            black_box(slots.iter().fold(0, |bytes, slot| bytes ^ self.touch(*slot)));
            slots.iter().try_for_each(|slot| each(*slot))
        })
    }

    /// The slot of a key.
    fn slot(&self, key: &[u8]) -> Option<usize> {
        self.slots().get(key, |slot| self.key(slot)).map(|slot| slot as usize)
    }
}

/// Visits the keys with `from <= key < until` of two layers in order, until `visit` returns false.
pub(super) fn scan_layers<L: KeyedLayer>(
    newest: &L,
    below: Option<&L>,
    from: &[u8],
    until: &[u8],
    mut visit: impl FnMut(&[u8], InLayers) -> bool,
) {
    let Some(below) = below else {
        newest.slots().visit(
            from,
            until,
            |slot| newest.key(slot),
            |slot| visit(newest.key(slot), (Some(slot as usize), None)),
        );
        return;
    };
    // The upper layer is walked; what the lower one has before each of its keys is fetched on the way.
    let mut rest = from.to_vec();
    let mut goes_on = true;
    newest.slots().visit(
        from,
        until,
        |slot| newest.key(slot),
        |slot| {
            let key = newest.key(slot);
            below.slots().visit(
                &rest,
                key,
                |slot| below.key(slot),
                |lower| {
                    goes_on = visit(below.key(lower), (None, Some(lower as usize)));
                    goes_on
                },
            );
            goes_on = goes_on && visit(key, (Some(slot as usize), below.slot(key)));
            rest.clear();
            rest.extend_from_slice(key);
            // The first key above.
            rest.push(0);
            goes_on
        },
    );
    if goes_on {
        below.slots().visit(
            &rest,
            until,
            |slot| below.key(slot),
            |lower| visit(below.key(lower), (None, Some(lower as usize))),
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_ordered_by_all_of_their_bytes() {
        // Short keys, keys that differ after the sixteenth byte only, zeros at the end.
        let tails: Vec<Vec<u8>> = (0..400_u32)
            .map(|number| {
                let mixed = number.wrapping_mul(0x9e37_79b9);
                vec![[0, 0, 1, 255][(mixed >> 8) as usize % 4]; mixed as usize % 24]
                    .into_iter()
                    .chain([mixed as u8 % 3])
                    .collect()
            })
            .collect();
        let keys: Vec<Bytes> = tails.iter().map(|tail| Bytes::from([&[1, 2], tail.as_slice()].concat())).collect();
        let slots: Vec<u32> = (0..keys.len() as u32).rev().collect();
        let ordered = order(slots.iter().copied(), |slot| &keys[slot as usize][..]);
        let twice = &keys[ordered.twice.unwrap() as usize];
        assert!(keys.iter().filter(|key| *key == twice).count() > 1);
        let found: Vec<&Bytes> = ordered.indices.iter().map(|index| &keys[slots[*index as usize] as usize]).collect();
        let mut wanted: Vec<&Bytes> = keys.iter().collect();
        wanted.sort();
        assert_eq!(found, wanted);
        wanted.dedup();
        assert!(order(0..wanted.len() as u32, |slot| &wanted[slot as usize][..]).twice.is_none());
    }

    #[derive(Default)]
    struct Layer(SlotIndex, Vec<Bytes>);

    impl KeyedLayer for Layer {
        fn slots(&self) -> &SlotIndex {
            &self.0
        }

        fn key(&self, slot: u32) -> &[u8] {
            &self.1[slot as usize]
        }

        fn touch(&self, slot: u32) -> u8 {
            self.key(slot)[0]
        }
    }

    impl Layer {
        fn new(mapped: bool) -> Self {
            let mut layer = Self::default();
            layer.0.set_mapped(mapped, |_| &[]);
            layer
        }

        fn add(&mut self, key: &[u8]) {
            let rows = &self.1;
            assert_eq!(self.0.add(key, |slot| &rows[slot as usize]), (rows.len() as u32, true));
            self.1.push(Bytes::from(key));
        }
    }

    fn scan(newest: &Layer, below: &Layer, from: &[u8], until: &[u8], limit: usize) -> Vec<(Vec<u8>, InLayers)> {
        let mut found = Vec::new();
        scan_layers(newest, Some(below), from, until, |key, slots| {
            found.push((key.to_vec(), slots));
            found.len() < limit
        });
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn two_layers_are_visited_in_order_and_each_key_once_however_they_grew(
            keys in proptest::collection::vec((proptest::collection::vec(0_u8..3, 0..11), any::<bool>(), 0_u8..12), 0..120),
            from in proptest::collection::vec(0_u8..3, 0..3),
            limit in 1_usize..40,
            mapped in any::<(bool, bool)>(),
            mapped_late in any::<bool>(),
        ) {
            // All keys of a table begin alike; the bounds may lie in the tables beside it.
            // Some differ after the sixteenth byte only.
            let of_table = |tail: &[u8]| [&[7, 1], &[1; 14][..14 * (tail.len() % 2)], tail].concat();
            let (from, until) = (of_table(&from), [7, 2].to_vec());
            let mut layers = [Layer::new(mapped.0), Layer::new(mapped.1)];
            for (tail, upper, scans) in &keys {
                let layer = &mut layers[usize::from(!upper)];
                if layer.slot(&of_table(tail)).is_none() {
                    layer.add(&of_table(tail));
                }
                // A scan in between sorts what is there.
                if *scans == 0 {
                    scan(&layers[0], &layers[1], &[7, 0], &until, usize::MAX);
                }
            }
            for layer in &layers {
                let mut wanted: Vec<u32> = (0..layer.1.len() as u32).collect();
                wanted.sort_by_key(|slot| layer.key(*slot));
                let Order { indices, twice } = layer.order();
                prop_assert_eq!((&indices, twice), (&wanted, None));
                let mut visited = Vec::new();
                layer.visit(&Order { indices, twice }, |slot| {
                    visited.push(slot);
                    Ok(())
                }).unwrap();
                prop_assert_eq!(visited, wanted);
            }
            if mapped_late {
                let Layer(slots, rows) = &mut layers[0];
                slots.set_mapped(true, |slot| &rows[slot as usize]);
                assert!(slots.is_mapped());
            }
            let mut wanted: Vec<(Vec<u8>, InLayers)> = Vec::new();
            let mut sorted: Vec<Vec<u8>> = keys.iter().map(|(tail, ..)| of_table(tail)).filter(|key| *key >= from).collect();
            sorted.sort();
            sorted.dedup();
            for key in sorted {
                let slots = (layers[0].slot(&key), layers[1].slot(&key));
                prop_assert!([slots.0.map(|at| &layers[0].1[at]), slots.1.map(|at| &layers[1].1[at])].iter().flatten().all(|found| ***found == *key));
                wanted.push((key, slots));
            }
            prop_assert_eq!(&scan(&layers[0], &layers[1], &from, &until, usize::MAX), &wanted);
            wanted.truncate(limit);
            prop_assert_eq!(&scan(&layers[0], &layers[1], &from, &until, limit), &wanted);
            prop_assert!(scan(&layers[0], &layers[1], &[7], &[7, 1], limit).is_empty());
            prop_assert!(scan(&layers[0], &layers[1], &[7, 2], &[8], limit).is_empty());
        }
    }
}
