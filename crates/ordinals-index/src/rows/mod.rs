//! Rows of the tables, in bytes.

mod entry;
mod held;
mod location;
mod parts;
mod revealed;
mod rune;

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, Txid};

pub(crate) use self::entry::InscriptionRow;
pub(crate) use self::held::{
    Held, HeldInscription, INSCRIPTION_BYTES, RUNE_BYTES, SharedRunes, decode_ranges, encode_ranges, encode_shared,
    shared_entries,
};
pub(crate) use self::location::Location;
pub(crate) use self::parts::{PART_BYTES_MAX, append, delete_whole, get_whole, put_whole};
pub(crate) use self::revealed::{HighestFees, RevealedRow};
pub use self::rune::RuneEntry;
pub(crate) use self::rune::{decode_rune_id, encode_rune_id};

/// A row that does not have its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowError(pub(crate) &'static str);

impl RowError {
    /// The row is valid, but there is no memory for its content.
    pub(crate) const NO_MEMORY: Self = Self("no memory");
}

pub(crate) fn put_varint(bytes: &mut Vec<u8>, number: impl Into<u128>) {
    ordinals::varint::encode_to_vec(number.into(), bytes);
}

/// Reads a row from its beginning.
pub(crate) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn of(row: &'a [u8]) -> Self {
        Self(row)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn end(&self) -> Result<(), RowError> {
        if self.is_empty() { Ok(()) } else { Err(RowError("bytes after the last field")) }
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], RowError> {
        let (array, rest) = self.0.split_first_chunk().ok_or(RowError("it ends within a field"))?;
        self.0 = rest;
        Ok(*array)
    }

    pub(crate) fn varint<T: TryFrom<u128>>(&mut self) -> Result<T, RowError> {
        let (number, length) = ordinals::varint::decode(self.0).map_err(|_| RowError("not a varint"))?;
        self.0 = &self.0[length..];
        T::try_from(number).map_err(|_| RowError("a number is out of range"))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, RowError> {
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(RowError("a flag is 0 or 1")),
        }
    }

    pub(crate) fn optional<T: TryFrom<u128>>(&mut self) -> Result<Option<T>, RowError> {
        if self.flag()? { self.varint().map(Some) } else { Ok(None) }
    }

    pub(crate) fn txid(&mut self) -> Result<Txid, RowError> {
        self.array().map(Txid::from_byte_array)
    }

    pub(crate) fn outpoint(&mut self) -> Result<OutPoint, RowError> {
        Ok(OutPoint { txid: self.txid()?, vout: u32::from_be_bytes(self.array()?) })
    }
}

pub(crate) fn put_optional(bytes: &mut Vec<u8>, number: Option<impl Into<u128>>) {
    bytes.push(u8::from(number.is_some()));
    if let Some(number) = number {
        put_varint(bytes, number);
    }
}

/// A sequence number as encoded in keys and in rows that hold nothing else.
pub(crate) fn sequence_of(row: &[u8]) -> Result<u32, RowError> {
    row.try_into().map(u32::from_be_bytes).map_err(|_| RowError("a sequence number has four bytes"))
}
