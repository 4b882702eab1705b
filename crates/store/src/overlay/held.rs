//! Which keys a table may hold, so that looking for one that it does not hold costs no read.

use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicBool, Ordering};

use super::layer::KeyHashing;
use crate::StoreError;

/// Words of the smallest filter: 64 KiB.
const WORDS_MIN: usize = 1 << 13;
/// Words of the largest: 8 MiB.
const WORDS_MAX: usize = 1 << 20;
/// Keys for each word of 64 bits before a filter is doubled; by then about one absent key in a hundred is looked for all the same.
const KEYS_PER_WORD: usize = 4;
/// Keys for each word of the largest filter, with which it is one in twenty. A table with more has no filter.
const KEYS_PER_WORD_MAX: usize = 8;
/// Bits that a key sets in its word.
const BITS: u32 = 4;

/// The keys of one table while blocks are applied that are too deep to be undone. A first import asks for millions of keys that
/// are not there, and its newest tables have no filters of the engine's own.
///
/// Nearer the tip it is empty: a start would have to read the whole table for it.
#[derive(Debug, Default)]
pub(super) struct HeldKeys {
    filter: State,
    /// Whether the table was asked for a key. The largest tables never are.
    is_asked: AtomicBool,
}

#[derive(Debug, Default)]
enum State {
    /// Nothing is known of the table.
    #[default]
    Unread,
    Filter(Filter),
    /// There are too many keys.
    TooMany,
}

/// A word for each key, with some of its bits set. What it does not hold is in neither the table nor the rows that wait; it
/// may hold what was removed or abandoned.
#[derive(Debug)]
struct Filter {
    /// A power of two of them.
    words: Vec<u64>,
    len: usize,
    hashing: KeyHashing,
}

impl HeldKeys {
    /// Whether a filter says which keys are absent.
    pub(super) fn is_known(&self) -> bool {
        matches!(self.filter, State::Filter(_))
    }

    /// Whether the table may hold the key, which somebody asks for.
    pub(super) fn may_hold(&self, key: &[u8]) -> bool {
        match &self.filter {
            State::Filter(filter) => filter.may_hold(key),
            State::TooMany => true,
            State::Unread => {
                self.is_asked.store(true, Ordering::Relaxed);
                true
            }
        }
    }

    /// The table gets the key. Answers whether it may have had it.
    pub(super) fn insert(&mut self, key: &[u8]) -> bool {
        match &mut self.filter {
            State::Filter(filter) => filter.insert(key),
            State::Unread | State::TooMany => true,
        }
    }

    /// Forgets the keys.
    pub(super) fn forget(&mut self) {
        self.filter = State::Unread;
    }

    /// Reads the keys by `read`, which hands each of them to the function that it is given, where that has not been done or the
    /// filter is too small.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn prepare(
        &mut self,
        read: impl Fn(&mut dyn FnMut(&[u8]) -> bool) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut words = match &self.filter {
            State::Unread if *self.is_asked.get_mut() => WORDS_MIN,
            State::Filter(filter) if filter.is_full() => filter.words.len(),
            _ => return Ok(()),
        };
        loop {
            let mut filter = Filter { words: vec![0; words], len: 0, hashing: KeyHashing::default() };
            read(&mut |key| {
                filter.insert(key);
                !filter.is_full()
            })?;
            if !filter.is_full() {
                self.filter = State::Filter(filter);
                return Ok(());
            }
            if words == WORDS_MAX {
                self.filter = State::TooMany;
                return Ok(());
            }
            words *= 2;
        }
    }
}

impl Filter {
    fn place(&self, key: &[u8]) -> (usize, u64) {
        let hash = self.hashing.hash_one(key);
        // The upper 24 bits choose bits, the lower ones the word.
        let bits = (0..BITS).fold(0, |bits, bit| bits | 1 << (hash >> (40 + 6 * bit) & 63));
        (hash as usize & (self.words.len() - 1), bits)
    }

    fn may_hold(&self, key: &[u8]) -> bool {
        let (word, bits) = self.place(key);
        self.words[word] & bits == bits
    }

    fn insert(&mut self, key: &[u8]) -> bool {
        let (word, bits) = self.place(key);
        let may_hold = self.words[word] & bits == bits;
        self.words[word] |= bits;
        self.len += usize::from(!may_hold);
        may_hold
    }

    fn is_full(&self) -> bool {
        let per_word = if self.words.len() == WORDS_MAX { KEYS_PER_WORD_MAX } else { KEYS_PER_WORD };
        self.len >= self.words.len() * per_word
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> [u8; 8] {
        (u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15)).to_be_bytes()
    }

    /// The table holds the keys below a number.
    fn prepare(held: &mut HeldKeys, end: u32) {
        let read = |each: &mut dyn FnMut(&[u8]) -> bool| {
            let _ = (0..end).try_for_each(|number| each(&key(number)).then_some(()));
            Ok(())
        };
        held.prepare(read).unwrap();
    }

    #[test]
    fn every_key_is_held_and_few_others_however_many_there_are() {
        let mut held = HeldKeys::default();
        prepare(&mut held, 1_000);
        assert!(!held.is_known(), "nobody has asked");
        assert!(held.may_hold(&key(0)));
        prepare(&mut held, 1_000);
        for number in 1_000..300_000 {
            held.insert(&key(number));
            if number % 1_000 == 0 {
                prepare(&mut held, number + 1);
            }
        }
        assert!(held.is_known() && (0..300_000).all(|number| held.may_hold(&key(number))));
        let others = (1_000_000..1_100_000).filter(|number| held.may_hold(&key(*number))).count();
        assert!(others < 2_500, "{others} of 100,000");
        held.forget();
        assert!(held.may_hold(&key(5_000_000)));
    }

    #[test]
    fn a_table_with_too_many_keys_has_no_filter() {
        let mut held = HeldKeys::default();
        held.may_hold(&key(0));
        let keys = (WORDS_MAX * (KEYS_PER_WORD_MAX + 1)) as u32;
        prepare(&mut held, keys);
        assert!(!held.is_known() && held.may_hold(&key(keys)) && held.insert(&key(keys)));
    }
}
