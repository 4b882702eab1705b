//! The feed of rates that development reads: a file in the data folder, written anew as time goes by where the chain moves too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use paraffin_forex::SourceKind;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::task::JoinHandle;

use crate::forex::{ForexSection, ForexSource};

/// Name of the file, and its name while it is being written.
pub(super) const FILE: &str = "rates.json";
const NEXT: &str = "rates.json.next";
/// Name of the source in provenance.
const SOURCE: &str = "dev";
/// Time between two figures.
const EVERY: Duration = Duration::from_secs(60);
/// How far a rate moves at once, in thousandths.
const STEP_MAX: u64 = 3;

/// The form of a file source (docs/forex.md).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Feed {
    as_of: String,
    base: String,
    rates: BTreeMap<String, String>,
}

/// The feed at work.
pub(crate) struct Rates {
    task: Option<JoinHandle<()>>,
}

impl Rates {
    /// Writes the first figures, those of the sample with the time of now; goes on where `goes_on`.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn start(folder: &Path, seed: u64, goes_on: bool) -> std::io::Result<Self> {
        let mut feed: Feed = serde_json::from_slice(paraffin_forex::SAMPLE)?;
        feed.as_of = now();
        write(folder, &feed)?;
        let folder = folder.to_owned();
        let task = goes_on.then(|| tokio::spawn(go_on(folder, feed, seed)));
        Ok(Self { task })
    }

    /// The settings that read it.
    pub(crate) fn section(folder: &Path) -> ForexSection {
        let source = ForexSource {
            kind: SourceKind::File,
            name: Some(SOURCE.to_owned()),
            url: None,
            path: Some(folder.join(FILE)),
            poll_minutes: Some(1),
            feeds: BTreeMap::new(),
        };
        ForexSection { sources: vec![source], ..ForexSection::default() }
    }

    /// Ends the work.
    pub(crate) fn stop(self) {
        if let Some(task) = self.task {
            task.abort();
        }
    }
}

async fn go_on(folder: PathBuf, mut feed: Feed, seed: u64) {
    let mut chance = seed;
    loop {
        tokio::time::sleep(EVERY).await;
        for rate in feed.rates.values_mut() {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *rate = moved(rate, 1_000 - STEP_MAX + (chance >> 33) % (2 * STEP_MAX + 1));
        }
        feed.as_of = now();
        if let Err(error) = write(&folder, &feed) {
            tracing::warn!(%error, "the rates of development were not written");
            return;
        }
    }
}

/// A decimal text times so many thousandths, with as many digits as before.
fn moved(rate: &str, thousandths: u64) -> String {
    let (whole, part) = rate.split_once('.').unwrap_or((rate, ""));
    let Ok(digits) = format!("{whole}{part}").parse::<u64>() else { return rate.to_owned() };
    // One digit at least, so that a small figure does not stand still or become nothing.
    let digits = (digits.saturating_mul(thousandths).saturating_add(500) / 1_000).max(1);
    let text = format!("{digits:0>width$}", width = part.len() + 1);
    let (whole, part) = text.split_at(text.len() - part.len());
    if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") }
}

/// Replaces the file atomically, so that no reader sees a partial one.
fn write(folder: &Path, feed: &Feed) -> std::io::Result<()> {
    let next = folder.join(NEXT);
    std::fs::write(&next, serde_json::to_vec_pretty(feed)?)?;
    std::fs::rename(next, folder.join(FILE))
}

fn now() -> String {
    // A clock in the year 10,000 or later cannot be formatted: its time is an empty text.
    let now = OffsetDateTime::now_utc().replace_nanosecond(0).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    now.format(&Rfc3339).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_move_a_little_and_keep_their_digits() {
        for (rate, thousandths, expected) in
            [("0.8631", 1_003, "0.8657"), ("26361", 997, "26282"), ("0.01", 900, "0.01"), ("0.99", 1_010, "1.00")]
        {
            assert_eq!(moved(rate, thousandths), expected);
        }
        assert_eq!(moved("no rate", 1_001), "no rate");
    }

    #[tokio::test]
    async fn the_file_is_one_that_the_source_reads() {
        let folder = tempfile::tempdir().unwrap();
        Rates::start(folder.path(), 1, false).unwrap().stop();
        let bytes = std::fs::read(folder.path().join(FILE)).unwrap();
        let board = paraffin_forex::Board::of_file(&bytes, 60, None, crate::prices::clock()()).unwrap();
        assert_eq!(board.coverage(crate::prices::clock()()).available.len(), 20);
    }
}
