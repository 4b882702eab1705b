//! The encoding of a program's keys and values in the tables. Both may have any length.

use paraffin_primitives::Height;
use paraffin_store::{ModuleWriter, Snapshot, StoreError};
use sha2::{Digest, Sha256};

use crate::tables::{BLOCKS, PIECES, UNKNOWN, VALUES};
use crate::{Flush, ReadError};

/// Longest key that is stored as it is, in bytes. The store ends at 4,096.
const KEY_LEN_MAX: usize = 4000;
/// Longest value that stays beside its key, in bytes; a longer one is cut into pieces.
const VALUE_LEN_MAX: usize = 64 << 10;
/// Bytes of a piece.
const PIECE_LEN: usize = 4 << 20;

const WHOLE: u8 = 0;
const IN_PIECES: u8 = 1;

/// Key of a row of `values`. A long key is cut, and a digest of all of it replaces the rest: 4,032 bytes, which
/// no key has that is stored as it is.
pub(crate) fn row_key(key: &[u8]) -> Vec<u8> {
    let mut row = key[..key.len().min(KEY_LEN_MAX)].to_vec();
    if key.len() > KEY_LEN_MAX {
        row.extend_from_slice(&Sha256::digest(key));
    }
    row
}

fn piece_key(key: &[u8], number: u32) -> Vec<u8> {
    let mut row = Sha256::digest(key).to_vec();
    row.extend_from_slice(&number.to_be_bytes());
    row
}

/// Writes one pair.
pub(crate) fn put(rows: &mut ModuleWriter<'_>, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    let mut stored = Vec::with_capacity(value.len().min(VALUE_LEN_MAX) + 1);
    if value.len() <= VALUE_LEN_MAX {
        stored.push(WHOLE);
        stored.extend_from_slice(value);
    } else {
        stored.push(IN_PIECES);
        stored.extend_from_slice(&(value.len() as u64).to_be_bytes());
        for (number, piece) in (0..).zip(value.chunks(PIECE_LEN)) {
            rows.put(&PIECES, &piece_key(key, number), piece)?;
        }
    }
    rows.put(&VALUES, &row_key(key), &stored)
}

/// Reads a value from a stored row; `piece` reads a row of `pieces`.
fn read(
    key: &[u8],
    stored: Option<Vec<u8>>,
    piece: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, StoreError>,
) -> Result<Option<Vec<u8>>, ReadError> {
    let Some(mut stored) = stored else { return Ok(None) };
    match stored.split_first() {
        Some((&WHOLE, _)) => {
            stored.remove(0);
            Ok(Some(stored))
        }
        Some((&IN_PIECES, length)) => {
            let length = <[u8; 8]>::try_from(length).map_err(|_| ReadError::damaged("a length of a large value"))?;
            let length = u64::from_be_bytes(length);
            let mut value = Vec::new();
            for number in 0.. {
                if value.len() as u64 >= length {
                    break;
                }
                let piece = piece(&piece_key(key, number))?;
                value.extend(piece.ok_or_else(|| ReadError::damaged("a piece of a large value is missing"))?);
            }
            if value.len() as u64 == length { Ok(Some(value)) } else { Err(ReadError::damaged("a large value")) }
        }
        _ => Err(ReadError::damaged("a row of values")),
    }
}

/// The newest value of a key, rows of the open block included.
pub(crate) fn newest(rows: &ModuleWriter<'_>, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
    read(key, rows.get(&VALUES, &row_key(key))?, |piece| rows.get(&PIECES, piece))
}

/// The value of a key as of a height.
pub(crate) fn at(snapshot: &Snapshot, key: &[u8], height: Height) -> Result<Option<Vec<u8>>, ReadError> {
    let stored = snapshot.get_at(&VALUES, &row_key(key), height)?;
    read(key, stored, |piece| snapshot.get_at(&PIECES, piece, height))
}

/// The record of a block that a program ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockRow {
    /// [`Flush::digest`].
    pub digest: [u8; 32],
    /// SHA-256 of the program.
    pub program: [u8; 32],
    /// Keys written, each counted once.
    pub pairs: u32,
    /// Bytes of keys and values.
    pub bytes: u64,
}

impl BlockRow {
    pub(crate) fn of(flush: &Flush, program: [u8; 32]) -> Self {
        Self { digest: flush.digest(), program, pairs: flush.pairs.len() as u32, bytes: flush.bytes() }
    }

    pub(crate) fn write(&self, height: Height, rows: &mut ModuleWriter<'_>) -> Result<(), StoreError> {
        let mut value = [self.digest, self.program].concat();
        value.extend_from_slice(&self.pairs.to_be_bytes());
        value.extend_from_slice(&self.bytes.to_be_bytes());
        rows.put(&BLOCKS, &height.to_be_bytes(), &value)
    }

    /// The row of the block at a height; `None` when no program ran it.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn at(snapshot: &Snapshot, height: Height) -> Result<Option<Self>, ReadError> {
        let Some(value) = snapshot.get(&BLOCKS, &height.to_be_bytes())? else { return Ok(None) };
        let damaged = || ReadError::damaged("a row of blocks");
        let (digest, rest) = value.split_first_chunk().ok_or_else(damaged)?;
        let (program, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let (pairs, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let bytes = rest.try_into().map_err(|_| damaged())?;
        Ok(Some(Self {
            digest: *digest,
            program: *program,
            pairs: u32::from_be_bytes(*pairs),
            bytes: u64::from_be_bytes(bytes),
        }))
    }
}

/// The first key of an unknown kind that a program has written: from then on the contract index lacks a part of the program's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// Height of the block.
    pub height: Height,
    /// The key, readable.
    pub key: String,
}

impl UnknownKey {
    /// Key of the one row.
    const ROW: [u8; 1] = [0];

    /// Records that a block has such a key; returns whether it is the first.
    pub(crate) fn write(height: Height, key: &str, rows: &mut ModuleWriter<'_>) -> Result<bool, StoreError> {
        if rows.get(&UNKNOWN, &Self::ROW)?.is_some() {
            return Ok(false);
        }
        rows.put(&UNKNOWN, &Self::ROW, &[&height.to_be_bytes()[..], key.as_bytes()].concat())?;
        Ok(true)
    }

    /// The first one; `None` when every key is of a known kind.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn first(snapshot: &Snapshot) -> Result<Option<Self>, ReadError> {
        let Some(value) = snapshot.get(&UNKNOWN, &Self::ROW)? else { return Ok(None) };
        let (height, key) = value.split_first_chunk().ok_or_else(|| ReadError::damaged("the row of unknown keys"))?;
        Ok(Some(Self { height: Height::from_be_bytes(*height), key: String::from_utf8_lossy(key).into_owned() }))
    }
}
