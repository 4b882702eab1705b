//! What survives a power loss: every event in the durable log, and now and then the whole book.
//!
//! ```text
//! orderbook/log/…            records: 8 bytes Unix microseconds (big-endian), then the event as it came
//! orderbook/book-<seq>       the book after record <seq>: one JSON text per line, the last line holds the CRC-32 of all before
//! ```
//!
//! A start reads the newest whole book and the records after it. Two books are kept, and the log down to the older one, so a
//! book that was damaged costs time and nothing else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use paraffin_store::log::{Log, LogError, LogOptions};
use serde::{Deserialize, Serialize};

use crate::book::{Book, Limits, Rest};
use crate::event;
use crate::name::Name;
use crate::order::{Order, Position};
use crate::tables::Tables;

const BOOK: &str = "book-";
/// Books kept; the log reaches back to the oldest of them.
const BOOKS_KEPT: usize = 2;
/// Form of the files of a book.
const FORMAT: u32 = 1;

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
        /// What the system said.
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
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    seq: u64,
    changes: u64,
    floors: BTreeMap<Name, Position>,
    orders: usize,
    remembered: usize,
}

/// An event as it is kept.
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

fn file_error(file: &Path) -> impl FnOnce(io::Error) -> JournalError + use<> {
    let file = file.to_owned();
    move |source| JournalError::File { file, source }
}

/// The books in a folder with the number of their last event, newest first.
fn books(folder: &Path) -> Result<Vec<(u64, PathBuf)>, JournalError> {
    let mut books = Vec::new();
    for entry in fs::read_dir(folder).map_err(file_error(folder))? {
        let path = entry.map_err(file_error(folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(seq) = name.strip_prefix(BOOK).and_then(|seq| seq.parse().ok()) {
            books.push((seq, path));
        }
    }
    books.sort_unstable_by(|left, right| right.cmp(left));
    Ok(books)
}

/// The book of a folder: the newest whole one with all events after it, the number of the last event, and that of the last
/// one in the book on disk.
pub(crate) fn recover(
    folder: &Path,
    log: &Log,
    tables: &Tables,
    limits: Limits,
) -> Result<(Book, u64, u64), JournalError> {
    let mut kept = None;
    for (seq, path) in books(folder)? {
        match load(&path, limits) {
            Ok(book) => {
                kept = Some((book, seq));
                break;
            }
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "a kept book is damaged: an older one is used");
                // It must not count as one of those that a start can use.
                let aside = folder.join(format!("damaged-{seq}"));
                fs::rename(&path, &aside).map_err(file_error(&path))?;
            }
        }
    }
    let (mut book, mut seq) = kept.unwrap_or_else(|| (Book::new(limits), 0));
    if log.first_seq() > seq + 1 {
        return Err(JournalError::Gap { first_seq: log.first_seq(), book_seq: seq });
    }
    let kept_seq = seq;
    catch_up(&mut book, &mut seq, log, tables)?;
    Ok((book, seq, kept_seq))
}

/// Takes all events after `seq` into the book.
pub(crate) fn catch_up(book: &mut Book, seq: &mut u64, log: &Log, tables: &Tables) -> Result<(), LogError> {
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
                Err(error) => tracing::warn!(%error, seq = entry.seq, "an event is not understood any more"),
            }
        }
    }
}

/// Passes bytes on and keeps their checksum.
struct Checked<W> {
    inner: W,
    crc: crc32fast::Hasher,
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.inner.write(bytes)?;
        self.crc.update(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Keeps a book after event `seq`, in one step, and removes what no start needs any more. Answers the number of the last event
/// that the log may lose.
pub(crate) fn keep(folder: &Path, seq: u64, rest: &Rest, orders: &[Arc<Order>]) -> Result<u64, JournalError> {
    let path = folder.join(format!("{BOOK}{seq:020}"));
    let next = folder.join("book.next");
    let write = || -> io::Result<()> {
        let file = File::create(&next)?;
        let mut out = Checked { inner: BufWriter::new(file), crc: crc32fast::Hasher::new() };
        let head = Head {
            format: FORMAT,
            seq,
            changes: rest.seq,
            floors: rest.floors.clone(),
            orders: orders.len(),
            remembered: rest.remembered.len(),
        };
        serde_json::to_writer(&mut out, &head)?;
        out.write_all(b"\n")?;
        for order in orders {
            serde_json::to_writer(&mut out, order.as_ref())?;
            out.write_all(b"\n")?;
        }
        for (digest, position) in &rest.remembered {
            serde_json::to_writer(&mut out, &(format!("{digest:032x}"), position))?;
            out.write_all(b"\n")?;
        }
        let crc = out.crc.clone().finalize();
        writeln!(out.inner, "{crc:08x}")?;
        let file = out.inner.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&next, &path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(file_error(&path))?;
    let books = books(folder)?;
    for (_, path) in books.iter().skip(BOOKS_KEPT) {
        fs::remove_file(path).map_err(file_error(path))?;
    }
    // Without a second book the log is the second way to this one.
    Ok(books.get(BOOKS_KEPT - 1).map_or(0, |(seq, _)| *seq))
}

/// Reads a book; the same as was kept, or an error.
fn load(path: &Path, limits: Limits) -> Result<Book, JournalError> {
    let damaged = || JournalError::File { file: path.to_owned(), source: io::Error::from(io::ErrorKind::InvalidData) };
    let mut reader = BufReader::new(File::open(path).map_err(file_error(path))?);
    let mut crc = crc32fast::Hasher::new();
    let mut line = String::new();
    let mut next = |is_last: bool| -> Result<String, JournalError> {
        line.clear();
        reader.read_line(&mut line).map_err(file_error(path))?;
        if !is_last {
            crc.update(line.as_bytes());
        }
        match line.strip_suffix('\n') {
            Some(text) if is_last && text != format!("{:08x}", crc.clone().finalize()) => Err(damaged()),
            Some(text) => Ok(text.to_owned()),
            None => Err(damaged()),
        }
    };
    let head: Head = serde_json::from_str(&next(false)?).map_err(|_| damaged())?;
    if head.format != FORMAT {
        return Err(damaged());
    }
    let mut orders = Vec::new();
    for _ in 0..head.orders {
        let order: Order = serde_json::from_str(&next(false)?).map_err(|_| damaged())?;
        orders.push(Arc::new(order));
    }
    let mut remembered = Vec::new();
    for _ in 0..head.remembered {
        let (digest, position): (String, Position) = serde_json::from_str(&next(false)?).map_err(|_| damaged())?;
        remembered.push((u128::from_str_radix(&digest, 16).map_err(|_| damaged())?, position));
    }
    next(true)?;
    Ok(Book::restore(limits, Rest { seq: head.changes, floors: head.floors, remembered }, orders))
}

/// Shortens the log to about `bytes`, but never beyond event `seq`, which the older book holds.
pub(crate) fn shorten(log: &Log, seq: u64, bytes: u64) -> Result<(), LogError> {
    /// Events that are given up at a time; whole files go.
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
