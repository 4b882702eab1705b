//! A random walk of the price, and the running sums that a pool keeps along it.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::node::BLOCK_TIME_EPOCH;

/// Time of block 0: 400 days before the Bitcoin chain, so that there is a year of prices before its first block.
pub(super) const GENESIS_TIME: u64 = BLOCK_TIME_EPOCH as u64 - 400 * 86_400;
/// Seconds during which the price stands still.
pub(super) const STEP: u64 = 600;
/// Most steps: sixty years, should the clock be that wrong.
const STEPS_MAX: u64 = 60 * 366 * 144;
/// Tick of 65,000 dollars, around which the price walks.
const TICK_HOME: i32 = 64_771;
/// Farthest that the price goes from there, ticks: to a quarter and to four times the price.
const TICK_RANGE: i32 = 13_800;
/// Largest move of one step in ticks; the square root of a day's steps times a half of it makes some 3 % a day.
const MOVE_MAX: i32 = 50;
/// One part in so many of the way home is gone in each step.
const PULL: i32 = 4_000;
/// Upper bound of the fees of one step for each token: 150,000 dollars of trade at 0.3 %.
const USD_FEES_MAX: u32 = 450_000_000;

/// What the pool is like during a step.
#[derive(Debug, Clone, Copy)]
struct Step {
    tick: i32,
    /// Sum of the ticks of all seconds before.
    tick_sum: i64,
    /// Base units of fees of all steps before, of bitcoin and of the dollar.
    fees: [u64; 2],
    /// Base units of fees of this step.
    fees_now: [u32; 2],
}

/// The state of the pool at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolAt {
    pub(super) tick: i32,
    pub(super) tick_sum: i64,
    /// Base units of fees collected so far, of bitcoin and of the dollar.
    pub(super) fees: [u64; 2],
}

/// The part of the walk that was computed so far.
#[derive(Debug)]
pub(super) struct Walk {
    random: ChaCha8Rng,
    steps: Vec<Step>,
}

impl Walk {
    pub(super) fn new(seed: u64) -> Self {
        let first = Step { tick: TICK_HOME, tick_sum: 0, fees: [0; 2], fees_now: [0; 2] };
        Self { random: ChaCha8Rng::seed_from_u64(seed ^ 0x0065_766d), steps: vec![first] }
    }

    /// The pool at the end of a second, Unix seconds; before the first block it is as in the first.
    pub(super) fn at(&mut self, time: u64) -> PoolAt {
        let since = time.saturating_sub(GENESIS_TIME).min(STEPS_MAX * STEP);
        let index = usize::try_from(since / STEP).unwrap_or(usize::MAX);
        while self.steps.len() <= index {
            self.walk();
        }
        let (step, seconds) = (self.steps[index], since % STEP);
        let part = |token: usize| step.fees[token] + u64::from(step.fees_now[token]) * seconds / STEP;
        // Steps are 600 seconds long.
        let tick_sum = step.tick_sum + i64::from(step.tick) * seconds.cast_signed();
        PoolAt { tick: step.tick, tick_sum, fees: [part(0), part(1)] }
    }

    fn walk(&mut self) {
        let last = self.steps[self.steps.len() - 1];
        let mut dice = |sides: u32| i32::try_from(self.random.next_u32() % sides).unwrap_or(0);
        // Two dice make small moves likelier than large ones.
        let sides = MOVE_MAX.unsigned_abs() + 1;
        let pull = (TICK_HOME - last.tick) / PULL;
        let tick = last.tick + dice(sides) - dice(sides) + pull;
        let usd = dice(USD_FEES_MAX).unsigned_abs();
        let bitcoin = dice(USD_FEES_MAX / 650).unsigned_abs();
        let sum = |token: usize| last.fees[token] + u64::from(last.fees_now[token]);
        self.steps.push(Step {
            tick: tick.clamp(TICK_HOME - TICK_RANGE, TICK_HOME + TICK_RANGE),
            tick_sum: last.tick_sum + i64::from(last.tick) * STEP.cast_signed(),
            fees: [sum(0), sum(1)],
            fees_now: [bitcoin, usd],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_walks_the_same_way_whatever_is_asked_first() {
        let times = [GENESIS_TIME, GENESIS_TIME + 5, GENESIS_TIME + 7_777_777, GENESIS_TIME + 40_000_000];
        let mut forwards = Walk::new(3);
        let all: Vec<PoolAt> = times.iter().map(|time| forwards.at(*time)).collect();
        let mut backwards = Walk::new(3);
        let reversed: Vec<PoolAt> = times.iter().rev().map(|time| backwards.at(*time)).collect();
        assert!(all.iter().eq(reversed.iter().rev()));
        assert_ne!(Walk::new(4).at(times[3]), all[3]);
        assert_eq!(forwards.at(0), all[0]);
    }

    #[test]
    fn the_sums_are_those_of_every_second() {
        let mut walk = Walk::new(1);
        let mut sum = walk.at(GENESIS_TIME + 1_000_000).tick_sum;
        for second in 0..2_000 {
            let time = GENESIS_TIME + 1_000_000 + second;
            assert_eq!(walk.at(time).tick_sum, sum, "{second}");
            sum += i64::from(walk.at(time).tick);
        }
        let (before, after) = (walk.at(GENESIS_TIME + 1_000_000), walk.at(GENESIS_TIME + 1_086_400));
        let day = after.fees[1] - before.fees[1];
        // Between 5 and 15 million dollars a day at a fee of 0.3 %.
        assert!((15_000_000_000..45_000_000_000).contains(&day), "{day}");
    }

    #[test]
    fn the_price_moves_and_stays_within_its_range() {
        let mut walk = Walk::new(1);
        let ticks: Vec<i32> = (0..4 * 365).map(|day| walk.at(GENESIS_TIME + day * 86_400).tick).collect();
        let (low, high) = (ticks.iter().min().unwrap(), ticks.iter().max().unwrap());
        assert!(high - low > 2_000, "{low} {high}");
        assert!(ticks.windows(2).any(|pair| pair[0] != pair[1]));
        assert!(*low >= TICK_HOME - TICK_RANGE && *high <= TICK_HOME + TICK_RANGE);
    }
}
