//! The whole book on the disk, so that a start need not read every event ever received.
//!
//! ```text
//! book-<seq>       the book after event <seq>: one JSON text per line, the last line holds the CRC-32 of all before
//! ```
//!
//! Two books are kept, so that one that was damaged costs time and nothing else.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::book::{Book, Limits, Rest};
use crate::journal::JournalError;
use crate::name::Name;
use crate::order::{Order, Position};

const BOOK: &str = "book-";
/// Books kept; the durable stream reaches back to the oldest of them.
const BOOKS_KEPT: usize = 2;
/// Form of the files of a book.
const FORMAT: u32 = 1;

/// The event after which a book stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Place {
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

/// The newest whole book of a folder, an empty one where there is none. One that is damaged is put aside.
pub(crate) fn newest(folder: &Path, limits: Limits) -> Result<(Book, Place), JournalError> {
    for (seq, path) in books(folder)? {
        match load(&path, limits) {
            Ok(kept) => return Ok(kept),
            Err(error) => {
                tracing::warn!(%error, file = %path.display(), "a kept book is damaged: an older one is used");
                // It must not count as one of those that a start can use.
                let aside = folder.join(format!("damaged-{seq}"));
                fs::rename(&path, &aside).map_err(file_error(&path))?;
            }
        }
    }
    Ok((Book::new(limits), Place::default()))
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

/// Keeps a book in one step, and removes what no start needs any more. Answers the number of the last event that the durable
/// stream may lose.
pub(crate) fn keep(folder: &Path, place: Place, rest: &Rest, orders: &[Arc<Order>]) -> Result<u64, JournalError> {
    let path = folder.join(format!("{BOOK}{:020}", place.seq));
    let next = folder.join("book.next");
    let write = || -> io::Result<()> {
        let file = File::create(&next)?;
        let mut out = Checked { inner: BufWriter::new(file), crc: crc32fast::Hasher::new() };
        let head = Head {
            format: FORMAT,
            seq: place.seq,
            stored_at: place.stored_at,
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
    // Without a second book the stream is the second way to this one.
    Ok(books.get(BOOKS_KEPT - 1).map_or(0, |(seq, _)| *seq))
}

/// Reads a book; the same as was kept, or an error.
fn load(path: &Path, limits: Limits) -> Result<(Book, Place), JournalError> {
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
    let place = Place { seq: head.seq, stored_at: head.stored_at };
    Ok((Book::restore(limits, Rest { seq: head.changes, floors: head.floors, remembered }, orders), place))
}
