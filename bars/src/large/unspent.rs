//! What can be spent, in the order in which it was made, and the choice of what is spent next.

use std::collections::VecDeque;

use super::random::Random;

/// Marks what has been spent; no transaction has this number.
const SPENT: u64 = u64::MAX;
/// Blocks that a coinbase waits, fewer in a chain so short that nothing would be left to spend.
const MATURITY: u32 = 100;
/// No more than this part of the chain.
const MATURITY_PART: u32 = 20;
/// Slots inspected from the one that an age points to.
const STEPS: usize = 64;
/// Outputs inspected for one choice before any is taken.
const TRIES: usize = 8;
/// Spent slots that are kept before the list is packed, beside as many as can be spent.
const SLACK: usize = 1 << 16;

/// Ages of spent outputs in blocks, in thousandths of them. The first source of `bars/shape.csv` gives 80 % below a day and 15 % from a day to
/// a month; how the first is divided is assumed. What is older than a month is any output at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    Blocks(u32),
    Any,
}

impl Age {
    pub(crate) fn draw(random: &mut Random) -> Self {
        let octaves = |random: &mut Random, from: u64| {
            let scale = from << random.below(5);
            Self::Blocks((scale + random.below(scale)) as u32)
        };
        match random.below(1000) {
            0..100 => Self::Blocks(0),
            100..350 => Self::Blocks(1 + random.below(6) as u32),
            // 5 to 159 blocks.
            350..800 => octaves(random, 5),
            // 144 to 4,607 blocks.
            800..950 => octaves(random, 144),
            _ => Self::Any,
        }
    }
}

/// The unspent outputs: number of the transaction, then 16 bits of the output.
#[derive(Debug, Default)]
pub(crate) struct Unspent {
    coins: Vec<u64>,
    /// Slot of the first output of each block; the last one is the block under way.
    starts: Vec<usize>,
    live: usize,
    maturing: VecDeque<(u32, u64)>,
    maturity: u32,
}

impl Unspent {
    /// Nothing yet, in a chain up to `height`.
    pub(crate) fn new(height: u32) -> Self {
        Self { maturity: MATURITY.min(height / MATURITY_PART), ..Self::default() }
    }

    /// Begins the block at `height`.
    pub(crate) fn begin(&mut self, height: u32) {
        if self.coins.len() > 2 * self.live + SLACK {
            self.pack();
        }
        while self.starts.len() <= height as usize {
            self.starts.push(self.coins.len());
        }
        while self.maturing.front().is_some_and(|(ripe, _)| *ripe <= height) {
            if let Some((_, coin)) = self.maturing.pop_front() {
                self.add(coin);
            }
        }
    }

    pub(crate) fn add(&mut self, coin: u64) {
        self.coins.push(coin);
        self.live += 1;
    }

    /// The output of a coinbase, which waits.
    pub(crate) fn add_coinbase(&mut self, height: u32, coin: u64) {
        self.maturing.push_back((height + self.maturity, coin));
    }

    #[cfg(test)]
    const fn len(&self) -> usize {
        self.live
    }

    /// Takes an output of an age that is drawn; `None` when there is none at all.
    pub(crate) fn take(&mut self, random: &mut Random) -> Option<u64> {
        if self.live == 0 {
            return None;
        }
        for _ in 0..TRIES {
            let (from, to) = match Age::draw(random) {
                Age::Blocks(age) if (age as usize) < self.starts.len() => {
                    let block = self.starts.len() - 1 - age as usize;
                    (self.starts[block], self.starts.get(block + 1).copied().unwrap_or(self.coins.len()))
                }
                _ => (0, self.coins.len()),
            };
            let place = from + random.below((to - from).max(1) as u64) as usize;
            let place = place.min(self.coins.len() - 1);
            let reached = (0..STEPS).map_while(|step| place.checked_sub(step)).find(|at| self.coins[*at] != SPENT);
            if let Some(found) = reached {
                return Some(self.remove(found));
            }
        }
        let last = self.coins.iter().rposition(|coin| *coin != SPENT)?;
        Some(self.remove(last))
    }

    fn remove(&mut self, place: usize) -> u64 {
        self.live -= 1;
        std::mem::replace(&mut self.coins[place], SPENT)
    }

    fn pack(&mut self) {
        let mut packed = Vec::with_capacity(self.live + SLACK);
        let mut block = 0;
        for (place, coin) in self.coins.iter().enumerate() {
            while self.starts.get(block).is_some_and(|start| *start <= place) {
                self.starts[block] = packed.len();
                block += 1;
            }
            if *coin != SPENT {
                packed.push(*coin);
            }
        }
        for start in &mut self.starts[block..] {
            *start = packed.len();
        }
        self.coins = packed;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn four_fifths_are_spent_within_a_day() {
        let mut random = Random::new(1, 1, 1);
        let (mut day, mut month) = (0, 0);
        for _ in 0..100_000 {
            match Age::draw(&mut random) {
                Age::Blocks(0..160) => day += 1,
                Age::Blocks(160..4_608) => month += 1,
                Age::Blocks(age) => panic!("{age}"),
                Age::Any => {}
            }
        }
        assert!((79_000..82_000).contains(&day) && (13_500..15_500).contains(&month), "{day} {month}");
    }

    #[test]
    fn nothing_is_spent_twice_and_nothing_is_lost() {
        let (mut unspent, mut random) = (Unspent::new(600), Random::new(2, 1, 1));
        let (mut taken, mut next) = (HashSet::new(), 0);
        for height in 0..600 {
            unspent.begin(height);
            for _ in 0..500 {
                unspent.add(next);
                next += 1;
            }
            for _ in 0..470 {
                assert!(taken.insert(unspent.take(&mut random).unwrap()));
            }
        }
        assert_eq!(unspent.len(), 600 * 30);
        assert!(unspent.coins.len() <= 2 * unspent.live + SLACK + 500, "spent places are packed");
        while let Some(coin) = unspent.take(&mut random) {
            assert!(taken.insert(coin));
        }
        assert_eq!(taken.len() as u64, next);
    }
}
