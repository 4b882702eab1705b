use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;

/// Bytes of a cache line; one script prefix chooses among its counters.
const LINE: usize = 64;
/// Counters of a line, two in a byte.
const COUNTERS: usize = 2 * LINE;
/// Prefixes whose lines are fetched from memory together.
const TOGETHER: usize = 16;
/// Least lines of a sketch that may have as many: half a MiB.
const LINES_MIN: usize = 8192;
/// How many times larger a sketch becomes, as a power of two.
const GROWTH_BITS: u32 = 2;
/// Prefixes for each line from which on a sketch grows: by then a counter in eight is not zero.
const FULL: usize = 8;
/// The most that a counter holds: so many or more.
const COUNT_MAX: u8 = 15;

/// Upper bounds of the lengths of script histories, so that scripts of few transactions are recognized without a read.
///
/// What is counted is the outputs that pay a script. Each of its transactions pays it or spends such an output, so there are at most two for
/// each output. A count-min sketch in lines of 128 counters: each prefix has two counters in one line, the lesser of which is never below
/// the number of outputs counted for the prefix, up to 15. Counters only grow, so blocks that were undone or tried again leave
/// bounds that are too high, never too low. It holds only while every block since block 0 was counted; a module that starts
/// in the middle of a chain has no bounds, and looks.
#[derive(Debug)]
pub(super) struct HistoryBounds {
    /// Empty until block 0; grows with the prefixes, so that a short chain touches little memory.
    counters: Vec<u8>,
    /// Prefixes that were counted first with the lesser of their counters at zero.
    prefixes: usize,
    /// Lines at first, and how many times they can become more.
    size: (usize, u32),
    /// Blocks from 0 on that were counted; `None` when one was missed.
    counted: Option<u32>,
    /// Random key, so that an attacker cannot choose prefixes that share counters.
    key: u64,
}

impl HistoryBounds {
    /// Takes at most `bytes` of memory, and a quarter more while it grows, once block 0 comes, and none otherwise.
    pub(super) fn new(bytes: usize) -> Self {
        let lines_max = (bytes / LINE).max(1);
        let growths = (lines_max / LINES_MIN).checked_ilog2().unwrap_or(0) / GROWTH_BITS;
        let size = (lines_max >> (growths * GROWTH_BITS), growths);
        Self { counters: Vec::new(), prefixes: 0, size, counted: Some(0), key: RandomState::new().hash_one(0_u64) }
    }

    /// To be called before a block's outputs are counted.
    pub(super) fn begin_block(&mut self, height: u32) {
        self.counted = self.counted.filter(|counted| height <= *counted);
        if self.counted.is_none() {
            self.counters = Vec::new();
        } else if self.counters.is_empty() {
            self.counters = vec![0; self.size.0 * LINE];
        }
    }

    /// To be called when all outputs of a block are counted.
    pub(super) fn end_block(&mut self, height: u32) {
        self.counted = self.counted.map(|counted| counted.max(height + 1));
    }

    /// So many more outputs pay scripts of each prefix. Returns for each whether fewer transactions than `limit` have it for certain.
    pub(super) fn count(&mut self, outputs: &[([u8; 8], usize)], limit: u8) -> Vec<bool> {
        if self.counters.is_empty() {
            return vec![false; outputs.len()];
        }
        self.grow(outputs.len());
        let mut are_below = Vec::with_capacity(outputs.len());
        for some in outputs.chunks(TOGETHER) {
            // Each is in another line of memory. One after the other the processor waits for all of them at a time.
            let line = |(prefix, _): &([u8; 8], usize)| self.counters[self.counters_of(*prefix)[0] / 2];
            black_box(some.iter().fold(0, |bytes, one| bytes ^ line(one)));
            for (prefix, outputs) in some {
                self.add(*prefix, *outputs);
                are_below.push(self.is_below(*prefix, limit));
            }
        }
        are_below
    }

    /// Makes the sketch larger while it would be fuller than [`FULL`] with so many `more` prefixes, as far as it may. The lines of a larger
    /// one are pieces of those of a smaller one, and each begins with all that its line has counted.
    fn grow(&mut self, more: usize) {
        while self.prefixes + more > self.counters.len() / LINE * FULL
            && let Some(left) = self.size.1.checked_sub(1)
        {
            let mut larger = Vec::with_capacity(self.counters.len() << GROWTH_BITS);
            for line in self.counters.chunks(LINE) {
                (0..1 << GROWTH_BITS).for_each(|_| larger.extend_from_slice(line));
            }
            (self.counters, self.size.1) = (larger, left);
        }
    }

    /// `outputs` more pay scripts of the prefix.
    fn add(&mut self, prefix: [u8; 8], outputs: usize) {
        if outputs == 0 {
            return;
        }
        let counters = self.counters_of(prefix);
        let least = counters.map(|at| self.get(at)).into_iter().min().unwrap_or_default();
        self.prefixes += usize::from(least == 0);
        let bound = u8::try_from(outputs).map_or(COUNT_MAX, |outputs| least.saturating_add(outputs).min(COUNT_MAX));
        for at in counters {
            let shift = at % 2 * 4;
            let count = self.get(at).max(bound);
            let pair = &mut self.counters[at / 2];
            *pair = *pair & !(0xf << shift) | count << shift;
        }
    }

    /// Whether fewer transactions than `limit` have the prefix for certain.
    pub(super) fn is_below(&self, prefix: [u8; 8], limit: u8) -> bool {
        if self.counters.is_empty() {
            return false;
        }
        let outputs = self.counters_of(prefix).map(|at| self.get(at)).into_iter().min().unwrap_or(COUNT_MAX);
        outputs < COUNT_MAX && 2 * outputs < limit
    }

    fn get(&self, at: usize) -> u8 {
        self.counters[at / 2] >> (at % 2 * 4) & 0xf
    }

    /// The two counters of a prefix, in the order of memory two for each byte.
    fn counters_of(&self, prefix: [u8; 8]) -> [usize; 2] {
        let product = u128::from(self.key ^ u64::from_le_bytes(prefix)) * 0x9e37_79b9_7f4a_7c15_u128;
        let hash = (product >> 64) as u64 ^ product as u64;
        let lines = self.counters.len() / LINE;
        let line = ((u128::from(hash) * lines as u128) >> 64) as usize * COUNTERS;
        let first = hash as usize % COUNTERS;
        // Another one of the same line.
        let second = (first + 1 + (hash as usize / COUNTERS) % (COUNTERS - 1)) % COUNTERS;
        [line + first, line + second]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Prefixes of a heavy tail: few of them are met very often.
    fn prefixes() -> impl Iterator<Item = [u8; 8]> {
        (0_u64..40_000).map(|step| {
            let draw = step.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 44;
            ((draw * draw) >> 26).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()
        })
    }

    #[test]
    fn a_bound_is_never_below_what_so_many_outputs_can_have_however_full_the_counters_are() {
        for bytes in [0, 64, 4096, 1 << 20] {
            let mut bounds = HistoryBounds::new(bytes);
            let mut counts: HashMap<[u8; 8], usize> = HashMap::new();
            bounds.begin_block(0);
            for (step, prefix) in prefixes().enumerate() {
                bounds.count(&[(prefix, 1 + step % 3)], 32);
                *counts.entry(prefix).or_default() += 1 + step % 3;
            }
            for (prefix, count) in &counts {
                let limit = u8::try_from(2 * count).unwrap_or(u8::MAX);
                assert!(!bounds.is_below(*prefix, limit), "{bytes}: {count}");
            }
            let spared = counts.keys().filter(|prefix| bounds.is_below(**prefix, 32)).count();
            let quiet = counts.values().filter(|count| **count < 15).count();
            assert!(spared <= quiet);
            if bytes == 1 << 20 {
                assert!(spared * 10 > quiet * 9, "{spared} of {quiet}");
            }
        }
    }

    #[test]
    fn bounds_hold_over_undone_blocks_and_not_over_missing_ones() {
        let mut bounds = HistoryBounds::new(4096);
        for height in [0, 1, 2, 1, 2, 3] {
            bounds.begin_block(height);
            bounds.count(&[([7; 8], 1)], 32);
            bounds.end_block(height);
        }
        assert!(bounds.is_below([7; 8], 13) && !bounds.is_below([7; 8], 12));
        bounds.begin_block(5);
        assert!(!bounds.is_below([8; 8], u8::MAX), "block 4 is missing");
        bounds.end_block(5);
        bounds.begin_block(0);
        assert!(!bounds.is_below([8; 8], u8::MAX), "what was missed does not come back");

        let mut late = HistoryBounds::new(4096);
        late.begin_block(1);
        assert_eq!(late.count(&[([7; 8], 1)], 32), [false]);
        assert!(!late.is_below([8; 8], u8::MAX), "block 0 was not counted");
    }

    #[test]
    fn bounds_hold_while_the_sketch_grows_and_it_grows_only_with_its_prefixes() {
        const MOST: usize = 16 * LINES_MIN * LINE;
        let mut bounds = HistoryBounds::new(MOST);
        bounds.begin_block(0);
        let prefix = |number: usize| (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
        // A tenth has too many transactions.
        let outputs = |number: usize| if number.is_multiple_of(10) { 15 } else { 1 };
        let mut sizes = vec![bounds.counters.len()];
        let all: Vec<usize> = (0..LINES_MIN * FULL * 5).collect();
        for some in all.chunks(1000) {
            let counted: Vec<_> = some.iter().map(|number| (prefix(*number), outputs(*number))).collect();
            let are_below = bounds.count(&counted, 32);
            assert!(some.iter().zip(are_below).all(|(number, is_below)| !is_below || outputs(*number) == 1));
            sizes.push(bounds.counters.len());
        }
        assert!(all.iter().all(|number| outputs(*number) == 1 || !bounds.is_below(prefix(*number), 32)));
        let spared = all.iter().filter(|number| bounds.is_below(prefix(**number), 32)).count();
        assert!(spared * 10 > all.len() * 8, "{spared}");
        sizes.dedup();
        assert_eq!(sizes, [MOST / 16, MOST / 4, MOST]);
    }

    #[test]
    fn many_outputs_at_once_are_no_fewer_than_one_after_the_other() {
        let mut bounds = HistoryBounds::new(4096);
        bounds.begin_block(0);
        for outputs in [14, 15, 255, 256, 1_000_000] {
            let are_below = bounds.count(&[([outputs as u8; 8], outputs)], 32);
            assert_eq!(are_below, [outputs == 14], "{outputs}");
            assert_eq!(bounds.is_below([outputs as u8; 8], 32), outputs == 14, "{outputs}");
        }
    }
}
