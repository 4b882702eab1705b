//! Files of the whole book, so that a start need not read every event ever received.
//!
//! ```text
//! book-<seq>       the book after event <seq>: one JSON text per line, the last line holds the CRC-32 of all before
//! ```
//!
//! The two newest books stay on the disk, so that a damaged one costs only time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::book::{Limits, MarketBook, Rest};
use crate::journal::JournalError;
use crate::name::Name;
use crate::order::{Order, Position};

const BOOK: &str = "book-";
/// Books on the disk; the durable stream reaches back to the oldest of them.
const BOOKS_MAX: usize = 2;
/// Form of the files of a book.
const FORMAT: u32 = 1;

/// The last event of the durable stream that a book contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StreamPosition {
    /// Its number in the durable stream; 0 before the first.
    pub(crate) seq: u64,
    /// When a shared stream stored it, Unix nanoseconds: shows whether a stream is still the one that the book came from.
    pub(crate) stored_at: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    seq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stored_at: Option<u64>,
    changes: u64,
    floors: BTreeMap<Name, Position>,
    orders: usize,
    remembered: usize,
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

/// The newest whole book of a folder, an empty one where there is none. A damaged one is renamed.
pub(crate) fn newest(folder: &Path, limits: Limits) -> Result<(MarketBook, StreamPosition), JournalError> {
    for (seq, path) in books(folder)? {
        match load(&path, limits) {
            Ok(loaded) => return Ok(loaded),
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "a book on the disk is damaged: an older one is used");
                // It must not count as one of those from which a start can read.
                let aside = folder.join(format!("damaged-{seq}"));
                fs::rename(&path, &aside).map_err(file_error(&path))?;
            }
        }
    }
    Ok((MarketBook::new(limits), StreamPosition::default()))
}

/// A writer that computes the checksum of its bytes.
struct ChecksumWriter<W> {
    inner: W,
    crc: crc32fast::Hasher,
}

impl<W: Write> Write for ChecksumWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.inner.write(bytes)?;
        self.crc.update(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a book atomically, and removes books that no start needs any more. Returns the number of the last event that the
/// durable stream may drop.
pub(crate) fn save(
    folder: &Path,
    position: StreamPosition,
    rest: &Rest,
    orders: &[Arc<Order>],
) -> Result<u64, JournalError> {
    let path = folder.join(format!("{BOOK}{:020}", position.seq));
    let next = folder.join("book.next");
    let write = || -> io::Result<()> {
        let file = File::create(&next)?;
        let mut out = ChecksumWriter { inner: BufWriter::new(file), crc: crc32fast::Hasher::new() };
        let head = Head {
            format: FORMAT,
            seq: position.seq,
            stored_at: position.stored_at,
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
    for (_, path) in books.iter().skip(BOOKS_MAX) {
        fs::remove_file(path).map_err(file_error(path))?;
    }
    // Without a second book the stream must be able to rebuild this one.
    Ok(books.get(BOOKS_MAX - 1).map_or(0, |(seq, _)| *seq))
}

/// Reads a book exactly as it was saved, or returns an error.
fn load(path: &Path, limits: Limits) -> Result<(MarketBook, StreamPosition), JournalError> {
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
    let position = StreamPosition { seq: head.seq, stored_at: head.stored_at };
    Ok((MarketBook::restore(limits, Rest { seq: head.changes, floors: head.floors, remembered }, orders), position))
}
