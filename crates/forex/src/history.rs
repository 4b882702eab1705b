//! The quotes of the sources on the disk: an append-only log, read once at the start.
//!
//! A record is its kind `1` and a JSON text: `{"source": name, "quotes": [{"currency", "per_usd": [numerator, denominator], "time"}]}`,
//! everything that one source reports; the last of a source counts. Records of another kind are skipped, so that an older program
//! reads what a newer one wrote. A log that has grown is written anew with what counts, and what was before it is dropped.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use paraffin_log::{Log, LogError, LogOptions};
use serde::{Deserialize, Serialize};

use crate::currency::Currency;
use crate::error::ForexError;
use crate::ratio::Ratio;
use crate::sheet::Quote;

const SOURCE: u8 = 1;
/// Records read at a time.
const READ_RECORDS: usize = 1_000;
/// Size at which a new file of the log is begun, bytes.
const SEGMENT_BYTES: u64 = 1 << 20;
/// Size at which the log is written anew, bytes.
const DISK_BYTES_MAX: u64 = 4 << 20;

/// Quotes of earlier runs by source.
pub(crate) type Loaded = BTreeMap<String, Vec<Quote>>;

#[derive(Serialize, Deserialize)]
struct Record {
    source: String,
    quotes: Vec<QuoteRecord>,
}

#[derive(Serialize, Deserialize)]
struct QuoteRecord {
    currency: String,
    per_usd: [String; 2],
    time: u64,
}

impl QuoteRecord {
    fn quote(&self) -> Option<Quote> {
        let currency = Currency::of_code(&self.currency).filter(|currency| *currency != Currency::USD)?;
        Some(Quote { currency, per_usd: Ratio::of_parts(&self.per_usd)?, time: self.time })
    }
}

/// The record of a source.
pub(crate) fn record(source: &str, quotes: &[Quote]) -> Vec<u8> {
    let to_record = |quote: &Quote| QuoteRecord {
        currency: quote.currency.code().to_owned(),
        per_usd: quote.per_usd.parts(),
        time: quote.time,
    };
    let record = Record { source: source.to_owned(), quotes: quotes.iter().map(to_record).collect() };
    let mut bytes = vec![SOURCE];
    // Texts and integers are always written.
    bytes.extend(serde_json::to_vec(&record).unwrap_or_default());
    bytes
}

pub(crate) fn read_record(payload: &[u8]) -> Option<(String, Vec<Quote>)> {
    let record: Record = serde_json::from_slice(payload.strip_prefix(&[SOURCE])?).ok()?;
    Some((record.source, record.quotes.iter().map(QuoteRecord::quote).collect::<Option<_>>()?))
}

fn options() -> LogOptions {
    LogOptions { segment_bytes: SEGMENT_BYTES, ..LogOptions::default() }
}

/// Opens the history in `folder` and reads it. Damage costs quotes and never the start: a damaged history is put aside, under a
/// name with `now` (Unix seconds) in it, and a new one begins with what could still be read.
///
/// # Errors
/// Another process uses it, or the disk refuses.
pub(crate) fn open(folder: &Path, now: u64) -> Result<(Log, Loaded), ForexError> {
    let (loaded, damage) = match Log::open(folder, options()) {
        Ok(log) => match load(&log) {
            (loaded, None) => return Ok((log, loaded)),
            (loaded, Some(damage)) => (loaded, damage),
        },
        Err(damage @ LogError::Corrupt { .. }) => (Loaded::new(), damage),
        Err(error) => return Err(error.into()),
    };
    let aside = folder.with_extension(format!("damaged-{now}"));
    tracing::warn!(%damage, aside = %aside.display(), "the history of rates is damaged: it is put aside and a new one begins");
    fs::rename(folder, &aside).map_err(|source| ForexError::Aside { folder: folder.to_owned(), source })?;
    let log = Log::open(folder, options())?;
    let records: Vec<Vec<u8>> = loaded.iter().map(|(source, quotes)| record(source, quotes)).collect();
    if !records.is_empty() {
        log.append(&records)?;
    }
    Ok((log, loaded))
}

/// Everything that can be read, and what stopped the reading.
fn load(log: &Log) -> (Loaded, Option<LogError>) {
    let mut loaded = Loaded::new();
    let (mut seq, mut skipped) = (log.first_seq(), 0_u64);
    let damage = loop {
        let entries = match log.read(seq, READ_RECORDS) {
            Ok(entries) => entries,
            Err(error) => break Some(error),
        };
        let Some(last) = entries.last() else { break None };
        seq = last.seq + 1;
        for entry in &entries {
            match read_record(&entry.payload) {
                Some((source, quotes)) => _ = loaded.insert(source, quotes),
                None => skipped += 1,
            }
        }
    };
    if skipped > 0 {
        tracing::warn!(skipped, "records of the history of rates are of an unknown kind and were skipped");
    }
    (loaded, damage)
}

/// Appends a record; a log that has grown is written anew from what `all` returns.
///
/// # Errors
/// The disk refuses.
pub(crate) fn append(log: &Log, record: &[u8], all: impl FnOnce() -> Vec<Vec<u8>>) -> Result<(), LogError> {
    log.append(&[record])?;
    if log.disk_bytes() > DISK_BYTES_MAX {
        let first = log.append(&all())?;
        log.truncate_before(first)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use proptest::prelude::*;

    use super::*;
    use crate::adapters::{SourceKind, read};

    fn quotes(rate: &str) -> Vec<Quote> {
        let text = format!(r#"{{"as_of":"2026-02-17","base":"USD","rates":{{"EUR":"{rate}","JPY":150.25}}}}"#);
        read(SourceKind::File, text.as_bytes(), 1_800_000_000).unwrap().quotes
    }

    #[test]
    fn the_last_record_of_every_source_comes_back_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = open(folder.path(), 0).unwrap();
        log.append(&[record("ecb", &quotes("0.8")), record("bcra", &quotes("0.7")), record("ecb", &quotes("0.9"))])
            .unwrap();
        log.append(&[vec![], vec![9, 9], b"\x01{}".to_vec(), b"\x01{\"source\":\"x\",\"quotes\":[{}]}".to_vec()])
            .unwrap();
        drop(log);
        let (_log, loaded) = open(folder.path(), 1).unwrap();
        let expected = Loaded::from([("bcra".to_owned(), quotes("0.7")), ("ecb".to_owned(), quotes("0.9"))]);
        assert_eq!(loaded, expected);
        assert!(matches!(open(folder.path(), 1), Err(ForexError::History(LogError::Locked { .. }))));
    }

    #[test]
    fn a_damaged_history_is_put_aside_and_a_new_one_begins() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("forex");
        let (log, _) = open(&folder, 0).unwrap();
        log.append(&vec![record("ecb", &quotes("0.8")); 50]).unwrap();
        drop(log);
        let mut file = fs::File::options().write(true).open(folder.join("00000000000000000001.log")).unwrap();
        file.seek(SeekFrom::Start(100)).unwrap();
        file.write_all(&[0xff; 50]).unwrap();
        drop(file);
        drop(open(&folder, 77).unwrap());
        assert!(parent.path().join("forex.damaged-77").join("00000000000000000001.log").is_file());
        assert!(open(&folder, 78).is_ok());
    }

    #[test]
    fn a_log_that_has_grown_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (log, _) = open(folder.path(), 0).unwrap();
        let others = vec![record("bcra", &quotes("0.7"))];
        let padding = vec![0; 1 << 20];
        for _ in 0..8 {
            append(&log, &padding, || others.clone()).unwrap();
        }
        append(&log, &record("ecb", &quotes("0.8")), || others.clone()).unwrap();
        assert!(log.disk_bytes() <= DISK_BYTES_MAX + SEGMENT_BYTES + padding.len() as u64, "{}", log.disk_bytes());
        drop(log);
        let names: Vec<String> = open(folder.path(), 0).unwrap().1.into_keys().collect();
        assert_eq!(names, ["bcra", "ecb"]);
    }

    proptest! {
        #[test]
        fn arbitrary_records_never_panic(payload in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_record(&payload);
            let _ = read_record(&[&[SOURCE], &payload[..]].concat());
        }

        #[test]
        fn parts_of_a_rate_are_digits_of_a_bounded_size(numerator in ".{0,60}", denominator in "[0-9]{0,60}") {
            if let Some(ratio) = Ratio::of_parts(&[numerator, denominator]) {
                prop_assert!(!ratio.is_zero());
                prop_assert_eq!(Ratio::of_parts(&ratio.parts()), Some(ratio));
            }
        }
    }
}
