//! The task that polls the endpoint: the newest price at its interval, the past in between.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use paraffin_log::Log;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, sleep_until};

use crate::abi::AbiError;
use crate::backfill::{Landmarks, Wanted, wanted};
use crate::error::SourceError;
use crate::feed::Shared;
use crate::history::{point_record, source_record};
use crate::pool::PoolSource;
use crate::series::Sample;

/// Longest interval after failures, as a multiple of the configured one.
const BACKOFF_MAX: u32 = 8;
/// Shortest wait after a failure before the first price is there, so that an endpoint that starts with us delays little.
const FIRST_RETRY: Duration = Duration::from_secs(2);
/// Calls for one point of the past: one or two blocks, and those of a reading.
const CALLS_PER_POINT: u32 = 7;
/// Points of the past that may fail in a row without an answer before the rest waits for the next gap.
const PAST_FAILURES_MAX: u32 = 10;
/// A failure that goes on is logged again after so many.
const REPEATS_LOGGED: u32 = 60;

/// Polls one endpoint.
pub(crate) struct Poller {
    shared: Arc<Shared>,
    source: PoolSource,
    log: Log,
    /// Whether the log refused a record; it has to be opened again, so nothing more is written.
    log_failed: bool,
    /// Held while a record is being written.
    writing: Arc<Mutex<()>>,
    failures: u32,
    past: Past,
}

/// The points of the past that are still missing.
#[derive(Default)]
struct Past {
    /// Whether this run has looked for what is missing.
    is_known: bool,
    wanted: VecDeque<Wanted>,
    landmarks: Landmarks,
    /// The endpoint has no state at or before this, Unix seconds.
    floor: u64,
    failures: u32,
}

impl Poller {
    pub(crate) fn new(shared: Arc<Shared>, source: PoolSource, log: Log) -> Self {
        Self { shared, source, log, log_failed: false, writing: Arc::default(), failures: 0, past: Past::default() }
    }

    /// Runs until `stopping` turns true and nothing is being written.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>) {
        let stopped = async move {
            // An error means that the feed is gone.
            let _ = stopping.wait_for(|stop| *stop).await;
        };
        tokio::select! {
            () = self.work() => {}
            () = stopped => {}
        }
        drop(self.writing.lock().await);
    }

    async fn work(&mut self) {
        loop {
            let next = Instant::now() + self.poll().await;
            while !self.past.wanted.is_empty() && Instant::now() < next {
                if !self.fill_one().await {
                    break;
                }
            }
            sleep_until(next).await;
        }
    }

    /// Reads the newest price. Returns the time until the next try.
    async fn poll(&mut self) -> Duration {
        let interval = self.shared.config().poll;
        match self.read_newest().await {
            Ok(()) => {
                if self.failures > 0 {
                    tracing::info!(after = self.failures, "the bitcoin price is read again");
                }
                self.failures = 0;
                jittered(interval)
            }
            Err(error) => {
                if self.failures.is_multiple_of(REPEATS_LOGGED) {
                    tracing::warn!(%error, "no new bitcoin price; the last one stands");
                }
                self.failures = self.failures.saturating_add(1);
                // Chain and tokens are checked again: another endpoint may answer behind the same address.
                self.source.forget();
                self.shared.failed(error);
                let longer = interval.saturating_mul(1 << self.failures.min(BACKOFF_MAX.ilog2()));
                let has_price = self.shared.with_series(|series| series.newest().is_some());
                jittered(if has_price { longer } else { longer.min(FIRST_RETRY.saturating_mul(self.failures)) })
            }
        }
    }

    async fn read_newest(&mut self) -> Result<(), SourceError> {
        let block = self.source.newest_block().await?;
        let before = self.shared.with_series(|series| series.newest().map(|sample| sample.point.time));
        let reading = self.source.read(block).await?;
        let source = self.source.name().unwrap_or_default();
        let (renamed, sample) = self.shared.take(reading, source)?;
        let mut records: Vec<Vec<u8>> = renamed.iter().map(|name| source_record(name)).collect();
        records.extend(sample.iter().map(point_record));
        self.write(records).await;
        let spacing = self.shared.config().point_seconds;
        let is_gap = before.is_none_or(|before| block.time.saturating_sub(before) > 3 * spacing);
        // The first reading of a run looks for what is missing, too: an earlier run may have been stopped on its way.
        if is_gap || !self.past.is_known {
            (self.past.is_known, self.past.failures) = (true, 0);
            self.past.landmarks = Landmarks::new(block);
            self.past.wanted = self.shared.with_series(|series| {
                wanted(series, block.time, self.shared.config().backfill_days, spacing, self.past.floor)
            });
            if !self.past.wanted.is_empty() {
                tracing::info!(points = self.past.wanted.len(), "filling in the past of the bitcoin price");
            }
        }
        Ok(())
    }

    /// Reads one point of the past. False when no further ones should be read before the next price.
    async fn fill_one(&mut self) -> bool {
        let Some(wanted) = self.past.wanted.pop_front() else { return false };
        if wanted.time <= self.past.floor {
            return true;
        }
        let pause = self.pause();
        let outcome = self.read_past(wanted).await;
        match outcome {
            Ok(Some(sample)) => {
                self.past.failures = 0;
                if self.shared.take_past(sample) {
                    self.write(vec![point_record(&sample)]).await;
                }
            }
            Ok(None) => {}
            Err(error) if error.is_passing() => {
                self.past.failures += 1;
                if self.past.failures < PAST_FAILURES_MAX {
                    self.past.wanted.push_back(wanted);
                } else {
                    tracing::warn!(%error, "the past of the bitcoin price is left as it is for now");
                    self.past.wanted.clear();
                }
                return false;
            }
            Err(error @ (SourceError::Refused { .. } | SourceError::Contract { source: AbiError::Empty, .. })) => {
                tracing::info!(%error, time = wanted.time, "the endpoint keeps no older state; the history begins after that");
                self.past.floor = self.past.floor.max(wanted.time);
            }
            Err(error @ SourceError::Implausible(_)) => {
                tracing::debug!(%error, time = wanted.time, "a point of the past is left out");
            }
            Err(error) => {
                tracing::warn!(%error, "the past of the bitcoin price cannot be read");
                self.past.wanted.clear();
            }
        }
        sleep(pause).await;
        true
    }

    async fn read_past(&mut self, wanted: Wanted) -> Result<Option<Sample>, SourceError> {
        let Some(block) = self.past.landmarks.find(&self.source, wanted).await? else { return Ok(None) };
        let reading = self.source.read(block).await?;
        Ok(Some(Sample { point: reading.point, activity: reading.activity }))
    }

    fn pause(&self) -> Duration {
        match self.shared.config().backfill_calls_per_second {
            0 => Duration::ZERO,
            calls => Duration::from_secs(1).saturating_mul(CALLS_PER_POINT) / calls,
        }
    }

    /// Appends records. A failing disk costs the history and not the price.
    async fn write(&mut self, records: Vec<Vec<u8>>) {
        if self.log_failed || records.is_empty() {
            return;
        }
        let (log, permit) = (self.log.clone(), Arc::clone(&self.writing).lock_owned().await);
        let written = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            log.append(&records)
        });
        if let Ok(Err(error)) = written.await {
            tracing::error!(%error, "prices are no longer written down; restart when the disk can be written again");
            self.log_failed = true;
        }
    }
}

/// A tenth more or less, so that many instances do not poll at the same time.
fn jittered(interval: Duration) -> Duration {
    let mut byte = [128];
    // Without randomness the intervals only differ by the start of each instance.
    let _ = getrandom::fill(&mut byte);
    interval.mul_f64(0.9 + f64::from(byte[0]) / 1_275.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_vary_by_a_tenth() {
        let interval = Duration::from_secs(100);
        let all: Vec<Duration> = (0..200).map(|_| jittered(interval)).collect();
        assert!(all.iter().all(|jittered| (90..=110).contains(&jittered.as_secs())), "{all:?}");
        assert!(all.iter().any(|jittered| *jittered != all[0]));
    }
}
