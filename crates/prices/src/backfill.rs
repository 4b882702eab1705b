//! History that a new instance lacks: which times need a point, and which block is at each.
//!
//! An archive endpoint answers for any block, so that a new instance has a year of points soon after its first start. Any
//! other endpoint refuses the first old block; then history begins now.

use std::collections::VecDeque;

use crate::activity::DAY;
use crate::endpoint::EvmBlock;
use crate::error::SourceError;
use crate::pool::PoolSource;
use crate::series::Series;

/// Seconds of an hour.
const HOUR: u64 = 3_600;
/// Calls for one time before it is given up.
const TRIES_MAX: u32 = 12;
/// Most blocks that are remembered as landmarks.
const LANDMARKS_MAX: usize = 65_536;
/// First step into the past while the rate of blocks is unknown.
const FIRST_STEP: u64 = 10_000;

/// A moment that lacks a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Unix seconds.
    pub(crate) time: u64,
    /// Largest distance of the block from it, seconds.
    pub(crate) tolerance: u64,
}

/// The moments that lack a point, most useful first: the hours of the last day, the days of the whole span, the
/// hours of a month, then every point of the last day. Nothing at or before `floor` is wanted.
pub(crate) fn wanted(series: &Series, newest: u64, days: u32, spacing: u64, floor: u64) -> VecDeque<Wanted> {
    let span = u64::from(days) * DAY;
    let plan = [(DAY, HOUR), (span, DAY), (30 * DAY, HOUR), (DAY, spacing)];
    let mut wanted = VecDeque::new();
    let mut planned = std::collections::BTreeSet::new();
    for (back, step) in plan {
        let step = step.max(spacing).max(1);
        let oldest = newest.saturating_sub(back.min(span)).max(floor);
        let mut time = newest - newest % step;
        while time > oldest {
            if time < newest && planned.insert(time) && !series.has_near(time, step / 4 * 3) {
                wanted.push_back(Wanted { time, tolerance: step / 8 });
            }
            time = time.saturating_sub(step);
        }
    }
    wanted
}

/// Blocks with their times, ascending; the guess for a time is interpolated between them.
#[derive(Debug, Default)]
pub(crate) struct Landmarks(Vec<EvmBlock>);

impl Landmarks {
    /// With the newest block alone.
    pub(crate) fn new(newest: EvmBlock) -> Self {
        Self(vec![newest])
    }

    /// Adds a block.
    ///
    /// # Errors
    /// Its time contradicts that of another block: blocks are never older than those before them.
    pub(crate) fn insert(&mut self, block: EvmBlock) -> Result<(), SourceError> {
        let index = self.0.partition_point(|landmark| landmark.number < block.number);
        let fits_before = index.checked_sub(1).is_none_or(|before| self.0[before].time <= block.time);
        let fits_after = self.0.get(index).is_none_or(|after| {
            if after.number == block.number { after.time == block.time } else { block.time <= after.time }
        });
        if !fits_before || !fits_after {
            return Err(SourceError::Invalid(format!("the time of block {} contradicts other blocks", block.number)));
        }
        if self.0.get(index).is_none_or(|after| after.number != block.number) && self.0.len() < LANDMARKS_MAX {
            self.0.insert(index, block);
        }
        Ok(())
    }

    /// The block to look at for a moment: on the line between the landmarks around it, or a step below the oldest.
    fn guess(&self, time: u64) -> Option<u64> {
        let after = self.0.partition_point(|landmark| landmark.time <= time);
        let Some(above) = self.0.get(after) else { return self.0.last().map(|last| last.number) };
        match after.checked_sub(1).map(|below| self.0[below]) {
            Some(below) => {
                let (blocks, seconds) = (above.number - below.number, above.time - below.time);
                let part = u128::from(blocks) * u128::from(time - below.time) / u128::from(seconds.max(1));
                Some(below.number + u64::try_from(part).unwrap_or(blocks).clamp(1, blocks.max(2) - 1))
            }
            None => {
                // Older than all landmarks: extrapolate their rate, or take a first step.
                let last = self.0.last()?;
                let (blocks, seconds) = (last.number - above.number, last.time - above.time);
                let back = match blocks {
                    0 => FIRST_STEP,
                    _ => {
                        let back = u128::from(blocks) * u128::from(above.time - time) / u128::from(seconds.max(1));
                        u64::try_from(back).unwrap_or(u64::MAX).saturating_add(1)
                    }
                };
                above.number.checked_sub(1).map(|below| below.min(above.number.saturating_sub(back)))
            }
        }
    }

    /// The landmark nearest to a time, if it is within the tolerance.
    fn near(&self, wanted: Wanted) -> Option<EvmBlock> {
        let after = self.0.partition_point(|landmark| landmark.time <= wanted.time);
        let around = [after.checked_sub(1).and_then(|before| self.0.get(before)), self.0.get(after)];
        let nearest = around.into_iter().flatten().min_by_key(|block| block.time.abs_diff(wanted.time))?;
        (nearest.time.abs_diff(wanted.time) <= wanted.tolerance).then_some(*nearest)
    }

    /// Finds a block at a time with few calls. `None` when the chain is younger or has no block near it.
    ///
    /// # Errors
    /// The endpoint does not answer, or contradicts itself.
    pub(crate) async fn find(&mut self, source: &PoolSource, wanted: Wanted) -> Result<Option<EvmBlock>, SourceError> {
        for _ in 0..TRIES_MAX {
            if let Some(block) = self.near(wanted) {
                return Ok(Some(block));
            }
            let Some(number) = self.guess(wanted.time) else { return Ok(None) };
            if self.0.binary_search_by_key(&number, |landmark| landmark.number).is_ok() {
                return Ok(None);
            }
            self.insert(source.block(number).await?)?;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::{PricePoint, UsdPrice};
    use crate::series::Sample;

    const NEWEST: u64 = 1_800_000_123;

    #[test]
    fn a_fresh_instance_wants_days_of_a_year_hours_of_a_month_and_the_last_day() {
        let series = Series::new(600, 30 * DAY);
        let wanted = wanted(&series, NEWEST, 365, 600, 0);
        let mut times: Vec<u64> = wanted.iter().map(|wanted| wanted.time).collect();
        assert!(times[..24].iter().all(|time| NEWEST - time <= DAY), "the last day comes first");
        let count = times.len();
        times.sort_unstable();
        times.dedup();
        assert_eq!(times.len(), count, "no moment twice");
        assert!((1_000..1_400).contains(&count), "{count}");
        assert!(times.iter().all(|time| *time < NEWEST && *time >= NEWEST - 365 * DAY));
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] <= DAY));
        // The number is bounded by the span in any case.
        assert!(super::wanted(&series, NEWEST, 0, 600, 0).is_empty());
        assert!(super::wanted(&series, NEWEST, 365, 600, NEWEST).is_empty());
        assert!(super::wanted(&series, 5, 365, 600, 0).is_empty());
    }

    #[test]
    fn what_is_there_is_not_wanted_again() {
        let mut series = Series::new(600, 400 * DAY);
        let point = |time| Sample { point: PricePoint { time, price: UsdPrice::DOLLAR }, activity: None };
        series.extend((0..400 * 144).map(|index| point(NEWEST - index * 600)));
        assert_eq!(wanted(&series, NEWEST, 365, 600, 0), []);
        // A gap of three hours in the last day.
        let mut series = Series::new(600, 400 * DAY);
        series
            .extend((0..400 * 144).filter(|index| !(60..78).contains(index)).map(|index| point(NEWEST - index * 600)));
        let times: Vec<u64> = wanted(&series, NEWEST, 365, 600, 0).iter().map(|wanted| wanted.time).collect();
        assert!((14..=18).contains(&times.len()), "{times:?}");
        assert!(times.iter().all(|time| (NEWEST - 78 * 600..=NEWEST - 59 * 600).contains(time)), "{times:?}");
    }

    #[test]
    fn times_that_run_backwards_are_refused() {
        let mut landmarks = Landmarks::default();
        for (number, time) in [(100, 1_000), (50, 500), (75, 750), (75, 750)] {
            landmarks.insert(EvmBlock { number, time }).unwrap();
        }
        for (number, time) in [(60, 499), (60, 751), (101, 999), (75, 751), (49, 501)] {
            assert!(landmarks.insert(EvmBlock { number, time }).is_err(), "{number} {time}");
        }
    }

    #[test]
    fn a_guess_lies_between_its_landmarks_and_never_below_zero() {
        let mut landmarks = Landmarks::default();
        assert_eq!(landmarks.guess(5), None);
        landmarks.insert(EvmBlock { number: 100, time: 1_200 }).unwrap();
        assert_eq!((landmarks.guess(2_000), landmarks.guess(600)), (Some(100), Some(0)));
        landmarks.insert(EvmBlock { number: 90, time: 1_080 }).unwrap();
        assert_eq!(
            (landmarks.guess(600), landmarks.guess(1_140), landmarks.guess(1_081)),
            (Some(49), Some(95), Some(91))
        );
        landmarks.insert(EvmBlock { number: 0, time: 0 }).unwrap();
        assert_eq!(landmarks.guess(0).map(|guess| guess <= 90), Some(true));
        let mut wide = Landmarks::default();
        for (number, time) in [(u64::MAX, u64::MAX), (u64::MAX - 1, 0)] {
            wide.insert(EvmBlock { number, time }).unwrap();
        }
        assert!(wide.guess(u64::MAX / 2).is_some());
    }
}
