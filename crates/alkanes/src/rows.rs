//! Keys and values of the tables as bytes.

mod cursor;
mod etching;
mod held;
mod message;
mod output;
mod state;
mod trace;

pub use cursor::{Cursor, Page, ParseCursorError};
pub use etching::Etching;
pub(crate) use held::{CountsRow, HeldRow, WideAmount, held_key, holding_key, parse_ranking_key, rank, ranking_key};
pub use held::{Holder, HolderCounts, ScriptKey};
pub(crate) use message::{ActivityRow, ScriptRow, activity_key, message_key};
pub(crate) use output::{
    Listing, OutputFacts, OutputRow, SavedBytes, SavedSheets, SheetKind, outpoint_key, parse_outpoint_key,
};
pub(crate) use state::{
    STORAGE_KEY_LEN_MAX, StateRow, decode_amount, encode_amount, read_state, storage_key, storage_row, write_value,
};
pub(crate) use trace::{decode_trace, encode_event, encode_trace};

use paraffin_primitives::AlkaneId;

use crate::StateError;
use crate::codec::decode_varint;

/// Appends an integer so that bytes sort as numbers: its length in bytes, then the bytes, the highest first.
pub(crate) fn append_ordered(value: u128, bytes: &mut Vec<u8>) {
    let big_endian = value.to_be_bytes();
    let skipped = value.leading_zeros() as usize / 8;
    bytes.push((big_endian.len() - skipped) as u8);
    bytes.extend_from_slice(&big_endian[skipped..]);
}

/// Appends both parts of an id so that ids sort as numbers; no id is the beginning of another.
pub(crate) fn append_id(id: AlkaneId, bytes: &mut Vec<u8>) {
    append_ordered(id.block, bytes);
    append_ordered(id.tx, bytes);
}

/// Key of an id alone.
pub(crate) fn id_key(id: AlkaneId) -> Vec<u8> {
    let mut key = Vec::with_capacity(12);
    append_id(id, &mut key);
    key
}

/// Key of an id followed by another.
pub(crate) fn pair_key(first: AlkaneId, second: AlkaneId) -> Vec<u8> {
    let mut key = id_key(first);
    append_id(second, &mut key);
    key
}

/// Key of a height and an index in its block.
pub(crate) fn position_key(height: u32, index: u32) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&height.to_be_bytes());
    key[4..].copy_from_slice(&index.to_be_bytes());
    key
}

/// Takes bytes apart from the front.
pub(crate) struct Parser<'b> {
    bytes: &'b [u8],
    what: &'static str,
}

impl<'b> Parser<'b> {
    /// `what` names the row in errors.
    pub(crate) fn new(what: &'static str, bytes: &'b [u8]) -> Self {
        Self { bytes, what }
    }

    /// An error about this row.
    pub(crate) fn damaged(&self) -> StateError {
        StateError::Damaged(format!("a row of {} has a wrong form", self.what))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn rest(&mut self) -> &'b [u8] {
        std::mem::take(&mut self.bytes)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], StateError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(*taken)
    }

    /// Four bytes, the highest first.
    pub(crate) fn number(&mut self) -> Result<u32, StateError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn varint(&mut self) -> Result<u128, StateError> {
        let (value, length) = decode_varint(self.bytes).map_err(|_| self.damaged())?;
        self.bytes = &self.bytes[length..];
        Ok(value)
    }

    /// A varint that must fit.
    pub(crate) fn small<T: TryFrom<u128>>(&mut self) -> Result<T, StateError> {
        T::try_from(self.varint()?).map_err(|_| self.damaged())
    }

    /// An integer of [`append_ordered`].
    pub(crate) fn ordered(&mut self) -> Result<u128, StateError> {
        let length = usize::from(self.array::<1>()?[0]);
        if length > 16 {
            return Err(self.damaged());
        }
        Ok(self.take(length)?.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)))
    }

    /// An id of [`append_id`].
    pub(crate) fn id(&mut self) -> Result<AlkaneId, StateError> {
        Ok(AlkaneId { block: self.ordered()?, tx: self.ordered()? })
    }

    /// Both parts of an id as varints.
    pub(crate) fn varint_id(&mut self) -> Result<AlkaneId, StateError> {
        Ok(AlkaneId { block: self.varint()?, tx: self.varint()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_of_ids_sort_as_ids(a: (u128, u128), b: (u128, u128), shift in 0u32..127) {
            let ids = [a, b].map(|(block, tx)| AlkaneId { block: block >> shift, tx });
            prop_assert_eq!(ids[0].cmp(&ids[1]), id_key(ids[0]).cmp(&id_key(ids[1])));
            prop_assert_eq!(Parser::new("keys", &id_key(ids[0])).id().unwrap(), ids[0]);
            let both = pair_key(ids[0], ids[1]);
            let mut parser = Parser::new("keys", &both);
            prop_assert_eq!((parser.id().unwrap(), parser.id().unwrap()), (ids[0], ids[1]));
            prop_assert!(parser.is_empty());
        }
    }
}
