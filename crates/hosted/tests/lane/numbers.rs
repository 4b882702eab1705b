//! Numbers that depend on a seed alone.

/// A source of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }

    /// A small number mostly, sometimes one at an edge of a type.
    pub(crate) fn number(&mut self) -> u128 {
        match self.below(20) {
            0 => self.pick(&[u128::MAX, 1 << 127, u128::MAX - 1, 1 << 64, u128::from(u64::MAX), 1 << 32, 1 << 31]),
            1..4 => u128::from(self.next() % 1_000_000_000_000),
            4..7 => 0,
            _ => self.below(2_000) as u128,
        }
    }
}
