//! Numbers that follow from a seed and a place: no state is kept between two places, so any of them can be made again alone.

/// A sequence of numbers for one place of one purpose.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence for `place`; `purpose` distinguishes sequences of the same place.
    pub(crate) const fn new(seed: u64, purpose: u64, place: u64) -> Self {
        Self(mix(seed ^ mix(purpose.wrapping_mul(0xd6e8_feb8_6659_fd93) ^ mix(place))))
    }

    /// The next number.
    pub(crate) const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `limit`, which is at least 1.
    pub(crate) const fn below(&mut self, limit: u64) -> u64 {
        ((self.next() as u128 * limit as u128) >> 64) as u64
    }

    /// True in `share` of 1,000 cases.
    pub(crate) const fn thousandths(&mut self, share: u32) -> bool {
        self.below(1000) < share as u64
    }

    /// Appends `len` bytes.
    pub(crate) fn fill(&mut self, bytes: &mut Vec<u8>, len: usize) {
        let end = bytes.len() + len;
        while bytes.len() + 8 <= end {
            bytes.extend_from_slice(&self.next().to_le_bytes());
        }
        let rest = end - bytes.len();
        bytes.extend_from_slice(&self.next().to_le_bytes()[..rest]);
    }

    /// A count of at least 1 with a mean of `hundredths / 100`: most are small, a few are up to 200 times as large.
    pub(crate) fn count(&mut self, hundredths: u32) -> u16 {
        let above = u64::from(hundredths.saturating_sub(100));
        // Two fifths of what is above one come from long lists, whose mean is 93 and a half.
        if self.below(100_000) < above * 40_000 / 9_250 {
            let scale = 10 << self.below(5);
            return (scale + self.below(scale) + 1).min(320) as u16;
        }
        // A geometric tail with a mean of three fifths of it: each further one follows with probability mean / (1 + mean).
        let mean = above * 6 / 10;
        let mut count = 1;
        while count < 60 && self.below(100 + mean) < mean {
            count += 1;
        }
        count
    }
}

/// Scatters a number.
pub(crate) const fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_mean_that_was_asked_for() {
        for wanted in [100, 130, 190, 250, 275] {
            let mut random = Random::new(7, 1, u64::from(wanted));
            let sum: u64 = (0..400_000).map(|_| u64::from(random.count(wanted))).sum();
            let mean = crate::import::float(sum) / 4_000.0;
            assert!((mean - f64::from(wanted)).abs() < 0.06 * f64::from(wanted), "{wanted} {mean}");
        }
    }

    #[test]
    fn bytes_have_their_length_and_follow_from_the_place() {
        for len in [0, 1, 7, 8, 9, 33, 520] {
            let (mut one, mut same, mut other) = (Vec::new(), Vec::new(), Vec::new());
            Random::new(1, 2, 3).fill(&mut one, len);
            Random::new(1, 2, 3).fill(&mut same, len);
            Random::new(1, 2, 4).fill(&mut other, len);
            assert_eq!((one.len(), &one), (len, &same));
            assert!(len < 7 || one != other);
        }
    }
}
