//! Damage to the journal that the engine does not repair itself.
//!
//! [`cut`] ends the journal at the first batch that is not whole.
//! The engine itself cuts off a batch that ends too early. But its journal files are allocated ahead, and after a power
//! loss a page in the middle of a batch may never have reached the disk while later ones did: then the checksum of the
//! batch fails and the engine refuses to open. Such a batch was not yet durable, or it was damaged later;
//! either way the batches before it are whole blocks. Whether tables already hold later rows is shown by the commit numbers,
//! which are compared after every opening.
//!
//! The checksum of a batch leaves its sequence number out. A damaged one would put old rows above newer ones, or take a batch
//! for one that tables already hold; [`check_order`] finds it, because the numbers rise from batch to batch.

use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
/// Upper bound of plausible sequence numbers: each commit and each table takes one. The engine panics at 2^63.
const SEQUENCE_NUMBER_MAX: u64 = 1 << 48;
/// Ends every whole batch.
const TRAILER: [u8; 4] = *b"FJL\x03";

/// Cuts the newest journal file at the first batch that is not whole, when there is one. Returns the number of removed bytes.
pub(super) fn cut(engine_folder: &Path) -> io::Result<u64> {
    let Some(path) = journals(engine_folder)?.pop() else { return Ok(0) };
    let file = File::options().read(true).write(true).open(&path)?;
    let len = file.metadata()?.len();
    let whole = whole_len(BufReader::with_capacity(256 * 1024, &file))?;
    if whole == len {
        return Ok(0);
    }
    tracing::warn!(file = %path.display(), offset = whole, "cutting off the torn end of the journal");
    file.set_len(whole)?;
    file.sync_all()?;
    Ok(len - whole)
}

/// Refuses journals in which the sequence number of a whole batch is not above that of the batch before.
pub(super) fn check_order(engine_folder: &Path) -> io::Result<()> {
    let mut newest = None;
    for path in journals(engine_folder)? {
        let mut journal = BufReader::with_capacity(256 * 1024, File::open(&path)?);
        let mut offset = 0;
        while let Some(batch) = next_batch(&mut journal)? {
            let number = batch.sequence_number;
            if number > SEQUENCE_NUMBER_MAX || newest.is_some_and(|newest| number <= newest) {
                let position = format!("at byte {offset} of {}", path.display());
                let message =
                    format!("number {number} {position} is not possible after {}", newest.unwrap_or_default());
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            newest = Some(number);
            offset += batch.len;
        }
    }
    Ok(())
}

/// Empties the only journal file. Everything in it must be in tables; the engine itself leaves an empty journal behind when
/// it begins a new file.
pub(super) fn empty(engine_folder: &Path) -> io::Result<()> {
    if let [path] = &journals(engine_folder)?[..] {
        let file = File::options().write(true).open(path)?;
        file.set_len(0)?;
        file.sync_all()?;
    }
    Ok(())
}

/// Journal files, oldest first.
fn journals(engine_folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(engine_folder)? {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".jnl")?.parse::<u64>().ok());
        if let Some(number) = number {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Length of the whole batches at the start of a journal.
fn whole_len(mut journal: impl Read) -> io::Result<u64> {
    let mut len = 0;
    while let Some(batch) = next_batch(&mut journal)? {
        len += batch.len;
    }
    Ok(len)
}

struct BatchHead {
    sequence_number: u64,
    /// Bytes of the whole batch.
    len: u64,
}

/// The batch that begins here; `None` when it is not whole.
fn next_batch(journal: &mut impl Read) -> io::Result<Option<BatchHead>> {
    match read_batch(journal) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        batch => batch,
    }
}

fn read_batch(journal: &mut impl Read) -> io::Result<Option<BatchHead>> {
    let [START] = take::<1>(journal)? else { return Ok(None) };
    let items = u32::from_le_bytes(take(journal)?);
    let sequence_number = u64::from_le_bytes(take(journal)?);
    let mut len = 1 + 4 + 8;
    let mut hasher = Xxh3::new();
    for _ in 0..items {
        let tag = take::<1>(journal)?;
        hasher.update(&tag);
        len += match tag {
            [ITEM] => {
                // Kind, compression, keyspace (8), key length (2), length (4), length on disk (4).
                let head = take::<20>(journal)?;
                hasher.update(&head);
                let key_len = u64::from(u16::from_le_bytes([head[10], head[11]]));
                let value_len = u64::from(u32::from_le_bytes([head[16], head[17], head[18], head[19]]));
                let body = hash(journal, &mut hasher, key_len + value_len)?;
                1 + 20 + body
            }
            [CLEAR] => {
                let keyspace = take::<8>(journal)?;
                hasher.update(&keyspace);
                1 + 8
            }
            _ => return Ok(None),
        };
    }
    let [END] = take::<1>(journal)? else { return Ok(None) };
    let checksum = u64::from_le_bytes(take(journal)?);
    let trailer: [u8; 4] = take(journal)?;
    let is_whole = checksum == hasher.digest() && trailer == TRAILER;
    Ok(is_whole.then_some(BatchHead { sequence_number, len: len + 1 + 8 + 4 }))
}

fn take<const N: usize>(journal: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    journal.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Hashes the next `len` bytes in pieces, so that a damaged length costs no memory.
fn hash(journal: &mut impl Read, hasher: &mut Xxh3, len: u64) -> io::Result<u64> {
    let mut buffer = [0; 8 * 1024];
    let mut left = len;
    while left > 0 {
        let piece = &mut buffer[..left.min(8 * 1024) as usize];
        journal.read_exact(piece)?;
        hasher.update(piece);
        left -= piece.len() as u64;
    }
    Ok(len)
}
