//! The task that polls one source at its interval.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::Uri;
use paraffin_log::Log;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{Mutex, watch};
use tokio::time::sleep;

use crate::adapters::{self, BODY_BYTES_MAX, chainlink};
use crate::board::Board;
use crate::clock::Clock;
use crate::config::{Checked, Way};
use crate::currency::Currency;
use crate::error::FeedError;
use crate::history;
use crate::sheet::{Reading, Sheet};
use crate::web::{Fetched, Validators, Web};

/// Wait after the first failure; it doubles with every further one, up to the interval.
const FIRST_RETRY: Duration = Duration::from_secs(30);
/// A failure that goes on is logged again after so many.
const REPEATS_LOGGED: u32 = 24;

/// The log of received quotes, shared by all pollers.
pub(crate) struct QuoteLog {
    pub(crate) log: Log,
    /// Locked while a record is being written; false once a write has failed.
    pub(crate) is_writable: Arc<Mutex<bool>>,
}

/// Polls one source.
pub(crate) struct Poller {
    pub(crate) board: Arc<Board>,
    /// Index of the source on the board.
    pub(crate) source_index: usize,
    pub(crate) source: Checked,
    pub(crate) web: Web,
    pub(crate) clock: Clock,
    pub(crate) quote_log: Arc<QuoteLog>,
    pub(crate) validators: Validators,
    pub(crate) failures: u32,
}

impl Poller {
    /// Runs until `stopping` turns true.
    pub(crate) async fn run(mut self, mut stopping: watch::Receiver<bool>) {
        let stopped = async move {
            // An error means that the feeds are gone.
            let _ = stopping.wait_for(|stop| *stop).await;
        };
        tokio::select! {
            () = self.work() => {}
            () = stopped => {}
        }
    }

    async fn work(&mut self) {
        loop {
            let wait = self.poll().await;
            sleep(wait).await;
        }
    }

    /// Polls once. Returns the time until the next poll.
    async fn poll(&mut self) -> Duration {
        let outcome = self.ask().await;
        let (now, interval, name) = ((self.clock)(), self.source.poll, self.source.name.as_str());
        match outcome {
            Ok(reading) => {
                if self.failures > 0 {
                    tracing::info!(source = name, after = self.failures, "rates are read again");
                }
                self.failures = 0;
                match reading {
                    None => self.board.confirmed(self.source_index, now),
                    Some(reading) => self.take(reading, now).await,
                }
                jittered(interval)
            }
            Err(error) => {
                let is_other = self.board.failed(self.source_index, error.clone());
                if is_other || self.failures.is_multiple_of(REPEATS_LOGGED) {
                    tracing::warn!(source = name, %error, "no new rates; the last ones stand");
                }
                self.failures = self.failures.saturating_add(1);
                let doubled = FIRST_RETRY.saturating_mul(1 << (self.failures - 1).min(20));
                // A feed without rates today is not polled more often.
                jittered(if error == FeedError::Empty { interval } else { doubled.min(interval) })
            }
        }
    }

    /// `None`: nothing has changed.
    async fn ask(&mut self) -> Result<Option<Reading>, FeedError> {
        match &self.source.way {
            Way::Get(uri) => match self.web.get(uri, &self.validators).await? {
                Fetched::Unchanged => Ok(None),
                Fetched::Body(body, validators) => {
                    let reading = adapters::read(self.source.kind, &body, (self.clock)())?;
                    // An unreadable answer must not lead to "unchanged" later.
                    self.validators = validators;
                    Ok(Some(reading))
                }
            },
            Way::Chainlink(uri, feeds) => self.ask_contracts(uri, feeds).await.map(Some),
            Way::File(path) => {
                let bytes = read_file(path).await?;
                adapters::read(self.source.kind, &bytes, (self.clock)()).map(Some)
            }
            Way::Sample => adapters::sample((self.clock)()).map(Some),
        }
    }

    async fn ask_contracts(&self, uri: &Uri, feeds: &[(Currency, String)]) -> Result<Reading, FeedError> {
        let mut sheet = Sheet::new(Currency::USD, (self.clock)());
        for (currency, contract) in feeds {
            let answer = self.web.post(uri, chainlink::request(contract, chainlink::DECIMALS)).await?;
            let decimals = chainlink::decimals(chainlink::words(&answer, 1)?[0])?;
            let answer = self.web.post(uri, chainlink::request(contract, chainlink::LATEST_ROUND_DATA)).await?;
            sheet.add(currency.code(), &chainlink::row(&chainlink::words(&answer, 5)?, decimals));
        }
        sheet.finish()
    }

    async fn take(&self, reading: Reading, now: u64) {
        for (currency, error) in &reading.refused {
            tracing::warn!(source = self.source.name, %currency, %error, "a rate is not used");
        }
        if let Some(quotes) = self.board.take(self.source_index, reading, now) {
            self.write(history::record(&self.source.name, &quotes)).await;
        }
    }

    /// Appends a record. A failing disk costs the history and not the rates.
    async fn write(&self, record: Vec<u8>) {
        let (board, log, permit) = (
            Arc::clone(&self.board),
            self.quote_log.log.clone(),
            Arc::clone(&self.quote_log.is_writable).lock_owned().await,
        );
        if !*permit {
            return;
        }
        let written = tokio::task::spawn_blocking(move || {
            // Dropped in reverse: who has the permit next finds the log closed.
            let (mut permit, log) = (permit, log);
            let all = || board.by_source().iter().map(|(name, quotes)| history::record(name, quotes)).collect();
            let written = history::append(&log, &record, all);
            *permit = written.is_ok();
            written
        });
        if let Ok(Err(error)) = written.await {
            tracing::error!(%error, "rates are no longer written down; restart when the disk can be written again");
        }
    }
}

async fn read_file(path: &Path) -> Result<Vec<u8>, FeedError> {
    let failed = |error: std::io::Error| FeedError::File(error.kind().to_string());
    let file = tokio::fs::File::open(path).await.map_err(failed)?;
    // Reading a pipe or a terminal would wait for ever.
    if !file.metadata().await.map_err(failed)?.is_file() {
        return Err(FeedError::File("it is not a file".to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(BODY_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).await.map_err(failed)?;
    Ok(bytes)
}

/// A tenth more or less, so that many instances do not poll at the same time.
fn jittered(interval: Duration) -> Duration {
    let mut byte = [128];
    // Without randomness the intervals only differ by the start of each instance.
    let _ = getrandom::fill(&mut byte);
    interval / 10 * 9 + interval / 5 * u32::from(byte[0]) / 255
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
