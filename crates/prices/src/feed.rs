//! The feed: its state, and the handle that the rest of the program holds.

use std::path::Path;
use std::sync::Arc;

use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::activity::{DAY, dollars};
use crate::config::PricesConfig;
use crate::error::{PricesError, SourceError};
use crate::history;
use crate::poller::Poller;
use crate::pool::{PoolSource, Reading};
use crate::price::{BitcoinPrices, PricePoint, PriceReport};
use crate::rate::is_farther;
use crate::series::{Sample, Series};

/// Where the time comes from, Unix seconds.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Most seconds by which the time of a block may be ahead of our clock.
const AHEAD_MAX: u64 = 60;
/// Age up to which a price limits the jump to the next one, seconds.
const COMPARABLE: u64 = 3_600;

/// Prices from a pool on an EVM chain, with their history in a folder. Dropping it stops it as well, without waiting.
pub struct PriceFeed {
    shared: Arc<Shared>,
    stop: watch::Sender<bool>,
    task: Option<JoinHandle<()>>,
}

/// State that poller and readers share.
pub(crate) struct Shared {
    config: PricesConfig,
    clock: Clock,
    state: RwLock<FeedState>,
}

struct FeedState {
    series: Series,
    source: Option<String>,
    /// Why the newest reading failed; `None` after a good one.
    failure: Option<SourceError>,
}

impl PriceFeed {
    /// Reads the history in `folder` and begins to poll the endpoint. An unavailable endpoint delays the first price and nothing else.
    /// Must be called within an async runtime.
    ///
    /// # Errors
    /// A setting is out of range, another process uses the folder, or the disk refuses.
    pub fn start(config: PricesConfig, folder: &Path, clock: Clock) -> Result<Self, PricesError> {
        let (endpoint, rules) = config.checked()?;
        let (log, loaded) = history::open(folder, clock())?;
        let mut series = Series::new(config.point_seconds, u64::from(config.thin_days) * DAY);
        // A point written while the clock was wrong must not block all later ones.
        let now = clock().saturating_add(AHEAD_MAX);
        series.extend(loaded.samples.into_iter().filter(|sample| sample.point.time <= now));
        let state = FeedState { series, source: loaded.source, failure: None };
        let shared = Arc::new(Shared { config, clock, state: RwLock::new(state) });
        let (stop, stopping) = watch::channel(false);
        let poller = Poller::new(Arc::clone(&shared), PoolSource::new(endpoint, rules), log);
        let task = tokio::spawn(poller.run(stopping));
        Ok(Self { shared, stop, task: Some(task) })
    }

    /// The prices as other crates read them.
    pub fn prices(&self) -> Arc<dyn BitcoinPrices> {
        Arc::clone(&self.shared) as Arc<dyn BitcoinPrices>
    }

    /// Why the newest reading failed; `None` after a good one and before the first.
    pub fn failure(&self) -> Option<SourceError> {
        self.shared.state.read().failure.clone()
    }

    /// Stops polling and waits until nothing is being written.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        if let Some(task) = self.task.take() {
            // The task ends by itself; a panic in it was reported already.
            let _ = task.await;
        }
    }
}

impl Drop for PriceFeed {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

impl Shared {
    pub(crate) fn config(&self) -> &PricesConfig {
        &self.config
    }

    pub(crate) fn now(&self) -> u64 {
        (self.clock)()
    }

    /// Reads the series.
    pub(crate) fn with_series<T>(&self, look: impl FnOnce(&Series) -> T) -> T {
        look(&self.state.read().series)
    }

    /// Adds a new reading. Returns the name of the source if it has changed, and the point if it is to be stored.
    pub(crate) fn take(
        &self,
        reading: Reading,
        source: String,
    ) -> Result<(Option<String>, Option<Sample>), SourceError> {
        let mut state = self.state.write();
        let newest = state.series.newest().map(|sample| sample.point);
        judge(reading.point, newest, self.now(), self.config.jump_percent_max)?;
        let sample = Sample { point: reading.point, activity: reading.activity };
        let is_other = state.source.as_ref() != Some(&source);
        if is_other && state.source.is_some() {
            state.series.forget_activity();
        }
        let renamed = is_other.then(|| source.clone());
        if is_other {
            state.source = Some(source);
        }
        state.failure = None;
        Ok((renamed, state.series.observe(sample).then_some(sample)))
    }

    /// Adds a point of the past; it is to be stored when this is true.
    pub(crate) fn take_past(&self, sample: Sample) -> bool {
        self.state.write().series.insert(sample)
    }

    pub(crate) fn failed(&self, error: SourceError) {
        self.state.write().failure = Some(error);
    }
}

/// Whether a price can follow the one before: not from the future, and not farther from it than the configured part while that one is
/// younger than an hour.
fn judge(point: PricePoint, newest: Option<PricePoint>, now: u64, jump_percent_max: u32) -> Result<(), SourceError> {
    if point.time > now.saturating_add(AHEAD_MAX) {
        let ahead = point.time - now;
        return Err(SourceError::Implausible(format!("its block is {ahead} s ahead of our clock")));
    }
    let Some(newest) = newest else { return Ok(()) };
    let is_comparable = point.time.saturating_sub(newest.time) < COMPARABLE;
    if is_comparable && is_farther(point.price, newest.price, jump_percent_max) {
        return Err(SourceError::Implausible(format!(
            "{} USD after {} USD within {} s",
            point.price.to_f64(),
            newest.price.to_f64(),
            point.time.saturating_sub(newest.time)
        )));
    }
    Ok(())
}

impl BitcoinPrices for Shared {
    fn current(&self) -> Option<PriceReport> {
        let now = self.now();
        let state = self.state.read();
        let newest = state.series.newest()?.point;
        let is_stale = now.saturating_sub(newest.time) > self.config.stale_seconds;
        Some(PriceReport { newest, source: state.source.clone()?, is_stale })
    }

    fn at(&self, time: u64) -> Option<PricePoint> {
        self.with_series(|series| series.at(time))
    }

    fn range(&self, from: u64, to: u64) -> Vec<PricePoint> {
        self.with_series(|series| series.range(from, to))
    }

    fn volume_day(&self) -> Option<f64> {
        self.with_series(|series| series.cents_of_day(series.newest()?.point.time)).map(dollars)
    }

    fn volume_day_at(&self, time: u64) -> Option<f64> {
        self.with_series(|series| series.cents_of_day(time)).map(dollars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::price::UsdPrice;

    #[test]
    fn a_jump_is_accepted_only_when_the_price_before_is_old() {
        let point = |time, dollars: u128| PricePoint { time, price: UsdPrice(dollars * UsdPrice::DOLLAR.0) };
        let before = Some(point(10_000, 100));
        for (after, accepted) in [
            (point(10_060, 120), true),
            (point(10_060, 121), false),
            (point(10_060, 80), true),
            (point(10_060, 79), false),
            (point(13_599, 121), false),
            (point(13_600, 121), true),
            (point(13_600, 1), true),
            (point(9_000, 1), false),
        ] {
            assert_eq!(judge(after, before, 20_000, 20).is_ok(), accepted, "{after:?}");
        }
        assert!(judge(point(10_000, 1), None, 20_000, 20).is_ok());
    }

    #[test]
    fn a_block_of_the_future_is_refused() {
        let point = |time| PricePoint { time, price: UsdPrice::DOLLAR };
        assert!(judge(point(1_060), None, 1_000, 20).is_ok());
        assert!(judge(point(1_061), None, 1_000, 20).is_err());
        assert!(judge(point(u64::MAX), None, 1_000, 20).is_err());
    }
}
