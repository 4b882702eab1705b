//! The task that asks one source at its interval.

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

/// Where what was learnt is written down.
pub(crate) struct Diary {
    pub(crate) log: Log,
    /// Held while a record is being written; false once the disk has refused.
    pub(crate) works: Arc<Mutex<bool>>,
}

/// Asks one source.
pub(crate) struct Poller {
    pub(crate) board: Arc<Board>,
    /// Place of the source on the board.
    pub(crate) place: usize,
    pub(crate) source: Checked,
    pub(crate) web: Web,
    pub(crate) clock: Clock,
    pub(crate) diary: Arc<Diary>,
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

    /// Asks once. Answers the time until the next question.
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
                    None => self.board.confirmed(self.place, now),
                    Some(reading) => self.take(reading, now).await,
                }
                jittered(interval)
            }
            Err(error) => {
                let is_other = self.board.failed(self.place, error.clone());
                if is_other || self.failures.is_multiple_of(REPEATS_LOGGED) {
                    tracing::warn!(source = name, %error, "no new rates; the last ones stand");
                }
                self.failures = self.failures.saturating_add(1);
                let doubled = FIRST_RETRY.saturating_mul(1 << (self.failures - 1).min(20));
                // A feed that rests is not asked more often for it.
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
                    // What could not be read must not be answered later with "unchanged".
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
        if let Some(quotes) = self.board.take(self.place, reading, now) {
            self.write(history::record(&self.source.name, &quotes)).await;
        }
    }

    /// Writes a record down. A disk that refuses costs the history and not the rates.
    async fn write(&self, record: Vec<u8>) {
        let (board, log, permit) =
            (Arc::clone(&self.board), self.diary.log.clone(), Arc::clone(&self.diary.works).lock_owned().await);
        if !*permit {
            return;
        }
        let written = tokio::task::spawn_blocking(move || {
            let mut permit = permit;
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

/// A tenth more or less, so that many instances do not ask at the same moment.
fn jittered(interval: Duration) -> Duration {
    let mut byte = [128];
    // Without randomness every instance asks at its own start's rhythm, which does as well.
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
