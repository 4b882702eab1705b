//! The points in memory: ascending by time, thinned out with age, never more than a fixed number.

use crate::activity::{Activity, DAY};
use crate::price::{PricePoint, UsdPrice};

/// Most points: a month of one every ten minutes and eleven years of hours.
const SAMPLES_MAX: usize = 100_000;
/// Old points are thinned out to one for each of these spans, seconds.
const OLD_SPACING: u64 = 3_600;
/// A volume of a day is reported where no two neighbouring readings are farther apart than this, seconds.
const GAP_MAX: u64 = 2 * DAY;

/// A point with what volumes are computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    pub(crate) point: PricePoint,
    pub(crate) activity: Option<Activity>,
}

impl Sample {
    fn time(&self) -> u64 {
        self.point.time
    }
}

/// A sample with what was traded since the one before it.
#[derive(Debug, Clone, Copy)]
struct SeriesEntry {
    sample: Sample,
    /// US cents; `None` where unknown.
    traded: Option<u128>,
}

impl SeriesEntry {
    fn new(sample: Sample, before: Option<&Self>) -> Self {
        Self { sample, traded: before.and_then(|before| traded(&before.sample, &sample)) }
    }

    fn time(&self) -> u64 {
        self.sample.point.time
    }
}

/// US cents traded between two samples.
fn traded(before: &Sample, after: &Sample) -> Option<u128> {
    let price = UsdPrice(before.point.price.0.midpoint(after.point.price.0));
    before.activity?.cents_until(&after.activity?, price)
}

/// Points by time.
#[derive(Debug)]
pub(crate) struct Series {
    samples: Vec<SeriesEntry>,
    /// The newest reading while it is too close to the last sample; always later than every sample.
    newest: Option<SeriesEntry>,
    /// Least time between two stored points, seconds.
    spacing: u64,
    /// Points older than this, counted from the newest, are thinned out, seconds.
    thin_after: u64,
}

impl Series {
    pub(crate) fn new(spacing: u64, thin_after: u64) -> Self {
        Self { samples: Vec::new(), newest: None, spacing, thin_after }
    }

    /// Adds stored points of any order at once; of two with the same time the later one given counts.
    pub(crate) fn extend(&mut self, samples: impl IntoIterator<Item = Sample>) {
        self.samples.extend(samples.into_iter().map(|sample| SeriesEntry::new(sample, None)));
        self.samples.sort_by_key(SeriesEntry::time);
        // `dedup` keeps the first of equals, and the sort is stable.
        self.samples.reverse();
        self.samples.dedup_by_key(|entry| entry.time());
        self.samples.reverse();
        self.thin();
        (0..self.samples.len()).for_each(|index| self.trade_anew(index));
    }

    /// Adds a new reading; true when it becomes a sample, which is to be stored. A reading that is not newer than the
    /// newest changes nothing.
    pub(crate) fn observe(&mut self, sample: Sample) -> bool {
        if self.newest().is_some_and(|newest| sample.time() <= newest.time()) {
            return false;
        }
        let last = self.samples.last();
        let is_sample = last.is_none_or(|last| sample.time() - last.time() >= self.spacing);
        let entry = SeriesEntry::new(sample, last);
        if is_sample {
            self.samples.push(entry);
            self.newest = None;
            self.thin();
        } else {
            self.newest = Some(entry);
        }
        is_sample
    }

    /// Adds a point of the past; false when there is one of that very time, or when it is newer than all samples.
    pub(crate) fn insert(&mut self, sample: Sample) -> bool {
        match self.samples.binary_search_by_key(&sample.time(), SeriesEntry::time) {
            Err(index) if index < self.samples.len() => {
                self.samples.insert(index, SeriesEntry::new(sample, None));
                self.trade_anew(index);
                self.trade_anew(index + 1);
                true
            }
            _ => false,
        }
    }

    /// Computes what was traded up to the sample at an index.
    fn trade_anew(&mut self, index: usize) {
        let before = index.checked_sub(1).map(|before| self.samples[before]);
        let entry = &mut self.samples[index];
        *entry = SeriesEntry::new(entry.sample, before.as_ref());
    }

    /// The newest reading.
    pub(crate) fn newest(&self) -> Option<&Sample> {
        self.newest.as_ref().or_else(|| self.samples.last()).map(|entry| &entry.sample)
    }

    /// The newest point at or before a time.
    pub(crate) fn at(&self, time: u64) -> Option<PricePoint> {
        if let Some(newest) = self.newest.filter(|newest| newest.time() <= time) {
            return Some(newest.sample.point);
        }
        let after = self.samples.partition_point(|sample| sample.time() <= time);
        Some(self.samples[after.checked_sub(1)?].sample.point)
    }

    /// The points of a span, both ends included.
    pub(crate) fn range(&self, from: u64, to: u64) -> Vec<PricePoint> {
        let first = self.samples.partition_point(|sample| sample.time() < from);
        let after = self.samples.partition_point(|sample| sample.time() <= to);
        let samples = self.samples.get(first..after).unwrap_or_default().iter();
        let newest = self.newest.iter().filter(|newest| (from..=to).contains(&newest.time()));
        samples.chain(newest).map(|entry| entry.sample.point).collect()
    }

    /// Whether a point is within `distance` of a time.
    pub(crate) fn has_near(&self, time: u64, distance: u64) -> bool {
        let first = self.samples.partition_point(|sample| sample.time() < time.saturating_sub(distance));
        self.samples.get(first).is_some_and(|sample| sample.time() <= time.saturating_add(distance))
    }

    /// US cents traded in the day that ends at `time`: the spans between readings in that day, those at its edges
    /// proportionally. `None` unless readings cover the whole day.
    pub(crate) fn cents_of_day(&self, time: u64) -> Option<u128> {
        let from = time.checked_sub(DAY)?;
        let first = self.samples.partition_point(|sample| sample.time() <= from).checked_sub(1)?;
        let newest = self.newest.iter();
        let mut readings = self.samples[first..].iter().chain(newest);
        let mut before = readings.next()?;
        let mut cents = 0_u128;
        for after in readings {
            let span = after.time() - before.time();
            if span > GAP_MAX {
                return None;
            }
            let overlap = after.time().min(time).saturating_sub(before.time().max(from));
            let traded = after.traded?;
            // Volumes end at 10^17 and overlaps at 2 * 10^5.
            cents += traded * u128::from(overlap) / u128::from(span.max(1));
            if after.time() >= time {
                return Some(cents);
            }
            before = after;
        }
        None
    }

    /// Removes the data of volumes, because it belongs to another pool.
    pub(crate) fn forget_activity(&mut self) {
        for entry in self.samples.iter_mut().chain(&mut self.newest) {
            (entry.sample.activity, entry.traded) = (None, None);
        }
    }

    fn thin(&mut self) {
        let Some(newest) = self.samples.last().map(SeriesEntry::time) else { return };
        let young = newest.saturating_sub(self.thin_after);
        let (mut hour, mut before): (Option<u64>, Option<SeriesEntry>) = (None, None);
        let mut lost_previous = false;
        self.samples.retain_mut(|entry| {
            let this = entry.time() / OLD_SPACING;
            let stays = entry.time() >= young || hour.replace(this) != Some(this);
            if stays && lost_previous {
                // The sample before it was removed.
                *entry = SeriesEntry::new(entry.sample, before.as_ref());
            }
            lost_previous = !stays;
            before = if stays { Some(*entry) } else { before };
            stays
        });
        let excess = self.samples.len().saturating_sub(SAMPLES_MAX);
        self.samples.drain(..excess);
    }
}

#[cfg(test)]
#[path = "series/tests.rs"]
mod tests;
