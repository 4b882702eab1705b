//! Filters of the keys of tables, so that the look-up of an absent key costs no read.

use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paraffin_primitives::Height;

use super::layer::KeyHashing;
use crate::engine::View;
use crate::rows::TableScan;
use crate::{StoreError, Table, TableKind, key};

/// Words of the smallest filter: 64 KiB.
const WORDS_MIN: usize = 1 << 13;
/// Words of the largest: 128 MiB.
const WORDS_MAX: usize = 1 << 24;
/// Keys for each word of 64 bits with which a filter is full; by then one absent key in twenty is a false positive.
const KEYS_PER_WORD: usize = 8;
/// A filter that was just read is at most half full, so that the next reading comes after as many new keys.
const KEYS_PER_WORD_READ: usize = KEYS_PER_WORD / 2;
/// A filter that memory does not allow to grow is kept until half of the absent keys are false positives.
const KEYS_PER_WORD_LAST: usize = 3 * KEYS_PER_WORD;
/// The most with which such a filter is worth its reading.
const KEYS_PER_WORD_LAST_READ: usize = 2 * KEYS_PER_WORD;
/// Bits that a key sets in its word.
const BITS: u32 = 4;
/// A filter is worth its memory where one look-up in so many is of an absent key.
const LOOKS_PER_ABSENCE: u64 = 16;
/// It is worth reading so many keys for each look-up of an absent one: that takes tens of microseconds, a key less than one.
const KEYS_PER_ABSENCE: u64 = 16;
/// A table of so many keys is read for the first absent one, in some tens of milliseconds.
const KEYS_AT_ONCE: u64 = 1 << 16;

/// The keys of one table while blocks are applied that are too deep to be undone. A first import looks up millions of keys that
/// are not there, and its newest tables have no filters of the engine's own.
///
/// Nearer the tip it is empty: a start would have to read the whole table for it.
#[derive(Debug, Default)]
pub(super) struct HeldKeys {
    filter: State,
    /// Look-ups so far; of the largest tables there are none.
    looks: AtomicU64,
    /// Those of absent keys.
    absences: AtomicU64,
    /// Look-ups and absences when it was last decided whether a filter is worth its memory.
    decided: (u64, u64),
    /// Absences beyond which a table is read anew that had more keys than those until then were worth.
    next: u64,
}

#[derive(Debug, Default)]
enum State {
    /// The keys of the table were not read.
    #[default]
    Unread,
    Filter(Filter),
    /// There are more keys than memory for them, or nearly all keys that are looked up are there.
    Without,
}

/// A Bloom filter with one word for each key. A key that it lacks is in neither the table nor the waiting rows; it
/// may have keys that were removed or abandoned.
#[derive(Debug)]
struct Filter {
    /// A power of two of them.
    words: Vec<u64>,
    len: usize,
    hashing: KeyHashing,
}

impl HeldKeys {
    /// Whether there is a filter.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.filter, State::Filter(_))
    }

    /// Whether a key of the table was looked up.
    pub(super) fn is_looked_up(&self) -> bool {
        self.looks.load(Ordering::Relaxed) > 0
    }

    /// Whether the table may hold the key of a look-up.
    pub(super) fn may_hold(&self, key: &[u8]) -> bool {
        if matches!(self.filter, State::Without) {
            return true;
        }
        self.looks.fetch_add(1, Ordering::Relaxed);
        match &self.filter {
            State::Filter(filter) if !filter.may_hold(key) => {
                self.count_absence();
                false
            }
            _ => true,
        }
    }

    /// A key that the table may have held is absent.
    pub(super) fn count_absence(&self) {
        self.absences.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether enough of the look-ups since this was last asked were of absent keys, for a filter and for reading as many keys anew as it has.
    fn is_worth_it(&mut self) -> bool {
        let (looks, absences) = (*self.looks.get_mut(), *self.absences.get_mut());
        let (looks_before, absences_before) = std::mem::replace(&mut self.decided, (looks, absences));
        let (looks, absences) = (looks - looks_before, absences - absences_before);
        let keys = match &self.filter {
            State::Filter(filter) => filter.len as u64,
            State::Unread | State::Without => 0,
        };
        absences > 0 && looks <= LOOKS_PER_ABSENCE * absences && keys <= KEYS_AT_ONCE.max(KEYS_PER_ABSENCE * absences)
    }

    /// Adds a key; returns whether the table may have had it.
    pub(super) fn insert(&mut self, key: &[u8]) -> bool {
        match &mut self.filter {
            State::Filter(filter) => filter.insert(key),
            State::Unread | State::Without => true,
        }
    }

    /// Drops the filter.
    pub(super) fn forget(&mut self) {
        self.filter = State::Unread;
    }

    /// Bytes that the filter takes.
    pub(super) fn bytes(&self) -> u64 {
        match &self.filter {
            State::Filter(filter) => size_of_val(&filter.words[..]) as u64,
            State::Unread | State::Without => 0,
        }
    }

    /// Reads the keys by `read`, which passes each of them to its argument until that returns false, where absent keys were looked
    /// up and that has not been done, or the filter is full. The filter takes at most `bytes_max`. A table of more keys than the absences so
    /// far are worth is tried again when there are twice as many.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn prepare(
        &mut self,
        bytes_max: u64,
        read: impl Fn(&mut dyn FnMut(&[u8]) -> bool) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let fits = |words: usize| words <= WORDS_MAX && (words * size_of::<u64>()) as u64 <= bytes_max;
        let mut words = match &self.filter {
            State::Unread if *self.absences.get_mut() > self.decided.1.max(self.next) => WORDS_MIN,
            State::Filter(filter) => {
                let words = filter.words.len();
                let keys_max = if fits(2 * words) { KEYS_PER_WORD } else { KEYS_PER_WORD_LAST };
                if filter.len < words * keys_max {
                    return Ok(());
                }
                words
            }
            State::Unread | State::Without => return Ok(()),
        };
        if !self.is_worth_it() {
            self.filter = State::Without;
            return Ok(());
        }
        let (_, absences) = self.decided;
        let mut keys_left = match &self.filter {
            State::Unread => KEYS_AT_ONCE.max(KEYS_PER_ABSENCE * absences),
            State::Filter(_) | State::Without => u64::MAX,
        };
        // The old filter is dropped before the new one is allocated.
        self.filter = State::Unread;
        while fits(words) {
            let keys_max = if fits(2 * words) { KEYS_PER_WORD_READ } else { KEYS_PER_WORD_LAST_READ };
            let mut filter = Filter { words: vec![0; words], len: 0, hashing: KeyHashing::default() };
            let len_max = words * keys_max;
            read(&mut |key| {
                filter.insert(key);
                keys_left -= 1;
                filter.len <= len_max && keys_left > 0
            })?;
            if keys_left == 0 {
                self.next = 2 * absences;
                return Ok(());
            }
            if filter.len <= len_max {
                self.filter = State::Filter(filter);
                return Ok(());
            }
            words *= 2;
        }
        self.filter = State::Without;
        Ok(())
    }
}

/// Passes the keys of a table's rows in the engine, those of a Versioned table as stems, to `each` until it returns false.
///
/// # Errors
/// The disk cannot be read.
pub(super) fn read_keys(
    view: &Arc<View>,
    table: &Table,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), StoreError> {
    for row in TableScan::prefix(view, table, &[], Height::MAX) {
        let (row_key, _) = row?;
        let wants_more = match table.kind {
            TableKind::Versioned => key::with_stem(table, &row_key, |stem| each(stem)),
            _ => key::with_plain(table, &row_key, |key| each(key)),
        };
        if !wants_more {
            break;
        }
    }
    Ok(())
}

impl Filter {
    fn word_bits(&self, key: &[u8]) -> (usize, u64) {
        let hash = self.hashing.hash_one(key);
        // The upper 24 bits choose bits, the lower ones the word.
        let bits = (0..BITS).fold(0, |bits, bit| bits | 1 << (hash >> (40 + 6 * bit) & 63));
        (hash as usize & (self.words.len() - 1), bits)
    }

    fn may_hold(&self, key: &[u8]) -> bool {
        let (word, bits) = self.word_bits(key);
        self.words[word] & bits == bits
    }

    fn insert(&mut self, key: &[u8]) -> bool {
        let (word, bits) = self.word_bits(key);
        let may_hold = self.words[word] & bits == bits;
        self.words[word] |= bits;
        self.len += usize::from(!may_hold);
        may_hold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> [u8; 8] {
        (u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes()
    }

    /// The table holds the keys of some numbers. Returns how many were read.
    fn prepare(held: &mut HeldKeys, bytes_max: u64, keys: std::ops::Range<u32>) -> usize {
        let count = std::cell::Cell::new(0);
        let read = |each: &mut dyn FnMut(&[u8]) -> bool| {
            let _ = keys.clone().try_for_each(|number| {
                count.set(count.get() + 1);
                each(&key(number)).then_some(())
            });
            Ok(())
        };
        held.prepare(bytes_max, read).unwrap();
        count.get()
    }

    const LARGEST: u64 = (WORDS_MAX * 8) as u64;

    /// So many look-ups were of absent keys.
    fn looked_up(absences: u32) -> HeldKeys {
        let held = HeldKeys::default();
        for number in 0..absences {
            assert!(held.may_hold(&key(number)));
            held.count_absence();
        }
        held
    }

    #[test]
    fn every_key_is_held_and_few_others_however_many_there_are() {
        let mut held = HeldKeys::default();
        prepare(&mut held, LARGEST, 0..1_000);
        assert!(!held.is_known() && held.bytes() == 0, "no key was looked up");
        assert!(held.may_hold(&key(0)));
        prepare(&mut held, LARGEST, 0..1_000);
        assert!(!held.is_known() && held.is_looked_up(), "no absent key was looked up");
        assert!(held.may_hold(&key(1_000_000)));
        held.count_absence();
        prepare(&mut held, LARGEST, 0..1_000);
        for number in 1_000..300_000 {
            held.insert(&key(number));
            held.may_hold(&key(1_000_000 + number));
            if number % 1_000 == 0 {
                prepare(&mut held, LARGEST, 0..number + 1);
            }
        }
        assert!(held.is_known() && (0..300_000).all(|number| held.may_hold(&key(number))));
        let others = (1_000_000..1_100_000).filter(|number| held.may_hold(&key(*number))).count();
        assert!(others < 5_000, "{others} of 100,000");
        held.forget();
        assert!(held.may_hold(&key(5_000_000)));
    }

    #[test]
    fn keys_that_come_and_go_have_the_table_read_no_more_often_than_it_is_renewed() {
        let mut held = looked_up(100_000);
        let (live, mut read) = (100_000_u32, prepare(&mut held, LARGEST, 0..100_000));
        for number in live..10 * live {
            held.insert(&key(number));
            held.may_hold(&key(10 * number));
            if number % 100 == 0 {
                read += prepare(&mut held, LARGEST, number + 1 - live..number + 1);
            }
        }
        assert!(held.is_known() && held.bytes() <= 1 << 20, "{}", held.bytes());
        assert!(read < 3 * 10 * live as usize, "{read}");
    }

    #[test]
    fn a_table_whose_keys_are_looked_up_to_be_found_has_no_filter_once_it_would_grow() {
        let mut held = looked_up(1);
        prepare(&mut held, LARGEST, 0..10);
        assert!(held.is_known());
        for number in 10..200_000 {
            held.insert(&key(number));
            assert!(held.may_hold(&key(number)));
            // One in a hundred is absent.
            if number % 100 == 0 {
                held.may_hold(&key(1_000_000 + number));
                prepare(&mut held, LARGEST, 0..number + 1);
            }
        }
        assert!(!held.is_known() && held.bytes() == 0 && held.may_hold(&key(1_000_000)));
        // Nor is one made when the first look-ups are.
        let mut held = looked_up(1);
        (0..100).for_each(|number| assert!(held.may_hold(&key(number))));
        prepare(&mut held, LARGEST, 0..100);
        assert!(!held.is_known());
    }

    #[test]
    fn a_table_with_too_many_keys_for_the_memory_has_no_filter() {
        for bytes_max in [0, 1 << 16, 1 << 18] {
            let keys = (bytes_max / 8) as u32 * KEYS_PER_WORD_LAST_READ as u32;
            let mut held = looked_up(keys.max(1));
            prepare(&mut held, bytes_max, 0..keys);
            assert_eq!((held.is_known(), held.bytes()), (bytes_max > 0, bytes_max), "{bytes_max}");
            // It takes more keys while most of those that are absent are known to be.
            for number in keys..10 * keys {
                held.insert(&key(number));
                held.may_hold(&key(100 * number));
                if number % 8192 > 0 {
                    continue;
                }
                prepare(&mut held, bytes_max, 0..number + 1);
                if !held.is_known() {
                    assert!(number > keys + keys / 4, "{number} of {keys}");
                    break;
                }
                assert!((0..=number).step_by(11).all(|number| held.may_hold(&key(number))));
                let absent = (100 * keys..100 * keys + 1000).filter(|number| !held.may_hold(&key(*number))).count();
                assert!(absent > 450, "{absent}");
            }
            assert!(!held.is_known(), "{bytes_max}");
            let mut held = looked_up(keys.max(1));
            // Some keys look like others.
            prepare(&mut held, bytes_max, 0..2 * keys + 1);
            assert!(!held.is_known() && held.may_hold(&key(keys)) && held.insert(&key(keys)), "{bytes_max}");
        }
    }

    #[test]
    fn a_table_of_many_keys_is_read_for_as_many_absences_as_are_worth_it() {
        const KEYS: u32 = 4_000_000;
        let mut held = looked_up(1);
        assert_eq!(prepare(&mut held, LARGEST, 0..KEYS) as u64, KEYS_AT_ONCE);
        let mut read = 0;
        let mut absences = 1;
        while !held.is_known() {
            read += prepare(&mut held, LARGEST, 0..KEYS);
            held.count_absence();
            absences += 1;
            assert!(absences < KEYS, "never");
        }
        assert!(u64::from(absences) * KEYS_PER_ABSENCE >= u64::from(KEYS), "{absences}");
        assert!(read as u64 <= 64 * KEYS_AT_ONCE + 2 * KEYS_PER_ABSENCE * u64::from(absences), "{read} for {absences}");
        // It is full of keys that were put without a look-up.
        assert!(!held.may_hold(&key(KEYS + 1)));
        let full = KEYS + held.bytes() as u32;
        (KEYS..full).for_each(|number| _ = held.insert(&key(number)));
        assert_eq!(prepare(&mut held, LARGEST, 0..full), 0);
        assert!(!held.is_known());
    }
}
