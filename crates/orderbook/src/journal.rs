//! The embedded durable log: every event as it came.
//!
//! ```text
//! orderbook/log/…            records: 8 bytes Unix microseconds (big-endian), then the event as it came
//! orderbook/book-<seq>       the book after record <seq> (book_file.rs)
//! ```
//!
//! A start reads the newest whole book and the records after it. The log reaches back to the older of two books.

use std::io;
use std::path::{Path, PathBuf};

use paraffin_log::{Log, LogError, LogOptions};

use crate::book::{Limits, MarketBook};
use crate::book_file;
use crate::event;
use crate::nats::StreamError;
use crate::tables::Tables;

/// The durable log or a book on disk cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A file of a book.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Events are missing.
    #[error(
        "the log of the orderbook begins at event {first_seq}, but the newest whole book ends at {book_seq}: restore the folder from a copy, or remove it to begin anew with a snapshot of the tables"
    )]
    Gap {
        /// Oldest event of the log.
        first_seq: u64,
        /// Newest event in the book.
        book_seq: u64,
    },
    /// The shared stream.
    #[error("the durable stream of the orderbook: {0}")]
    Stream(#[from] StreamError),
}

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record(Vec<u8>);

impl Record {
    /// Of an event that came at a moment, Unix microseconds.
    pub(crate) fn new(received_at: u64, event: &str) -> Self {
        let mut bytes = Vec::with_capacity(8 + event.len());
        bytes.extend_from_slice(&received_at.to_be_bytes());
        bytes.extend_from_slice(event.as_bytes());
        Self(bytes)
    }

    /// When it came, and its JSON.
    pub(crate) fn read(payload: &[u8]) -> Option<(u64, &str)> {
        let (time, event) = payload.split_first_chunk()?;
        Some((u64::from_be_bytes(*time), std::str::from_utf8(event).ok()?))
    }
}

impl AsRef<[u8]> for Record {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Opens the log.
pub(crate) fn open_log(folder: &Path) -> Result<Log, LogError> {
    Log::open(&folder.join("log"), LogOptions { segment_bytes: 16 << 20, ..LogOptions::default() })
}

/// The book of a folder: the newest whole one with all events after it, the number of the last event, and that of the last
/// one in the book on disk.
pub(crate) fn recover(
    folder: &Path,
    log: &Log,
    tables: &Tables,
    limits: Limits,
) -> Result<(MarketBook, u64, u64), JournalError> {
    let (mut book, position) = book_file::newest(folder, limits)?;
    let mut seq = position.seq;
    if log.first_seq() > seq + 1 {
        return Err(JournalError::Gap { first_seq: log.first_seq(), book_seq: seq });
    }
    let saved_seq = seq;
    catch_up(&mut book, &mut seq, log, tables)?;
    Ok((book, seq, saved_seq))
}

/// Applies all events after `seq` to the book.
pub(crate) fn catch_up(book: &mut MarketBook, seq: &mut u64, log: &Log, tables: &Tables) -> Result<(), LogError> {
    loop {
        let entries = log.read(*seq + 1, 10_000)?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries {
            *seq = entry.seq;
            let Some((received_at, text)) = Record::read(&entry.payload) else { continue };
            // It was valid when it came; the tables may be named differently since.
            match event::effect(text, tables, received_at) {
                Ok(effect) => book.apply(effect),
                Err(error) => tracing::warn!(%error, seq = entry.seq, "a stored event cannot be read any more"),
            }
        }
    }
}

/// Shortens the log to about `bytes`, but never beyond event `seq`, which the older book holds.
pub(crate) fn shorten(log: &Log, seq: u64, bytes: u64) -> Result<(), LogError> {
    /// Events that are dropped at a time, in whole files.
    const STEP: u64 = 10_000;
    let mut upto = log.first_seq();
    while log.disk_bytes() > bytes && upto <= seq {
        upto = (upto + STEP).min(seq + 1);
        log.truncate_before(upto)?;
        if upto == seq + 1 {
            break;
        }
    }
    Ok(())
}
