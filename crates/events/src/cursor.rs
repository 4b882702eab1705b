use std::fmt;
use std::str::FromStr;

use bitcoin::BlockHash;
use paraffin_primitives::{BlockId, Height};

use crate::Kind;

/// The greatest index: the end of a block, after all of its events.
pub const INDEX_MAX: u64 = (1 << 53) - 1;

/// Bits of the number among the events of one kind of one transaction.
const NUMBER_BITS: u32 = 29;
/// Bits of the kind.
const KIND_BITS: u32 = 4;

/// A position in the events of a chain; a client resumes strictly after it.
///
/// As text `<height>-<hash>-<index>`. The index is made of the transaction's index in the block plus one (20 bits), the kind (4 bits),
/// and the number among the events of that kind of that transaction (29 bits); that of `block_connected` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    /// Height of the block.
    pub height: Height,
    /// Its hash.
    pub hash: BlockHash,
    /// Position within the block, at most [`INDEX_MAX`].
    pub index: u64,
}

/// A text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is <height>-<hash of the block>-<index>, as an event or a checkpoint has it")]
pub struct ParseCursorError;

impl Cursor {
    /// After all events of a block.
    pub const fn end_of(block: BlockId) -> Self {
        Self { height: block.height, hash: block.hash, index: INDEX_MAX }
    }

    /// Its block.
    pub const fn block(&self) -> BlockId {
        BlockId { height: self.height, hash: self.hash }
    }
}

/// The index of an event of a transaction.
pub(crate) fn index_of(transaction: u32, kind: Kind, number: u32) -> u64 {
    // A block has far fewer transactions and a transaction far fewer events.
    let transaction = u64::from(transaction.saturating_add(1)).min((1 << (53 - NUMBER_BITS - KIND_BITS)) - 2);
    let number = u64::from(number).min((1 << NUMBER_BITS) - 1);
    transaction << (NUMBER_BITS + KIND_BITS) | (kind as u64) << NUMBER_BITS | number
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}-{}", self.height, self.hash, self.index)
    }
}

impl FromStr for Cursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        let mut parts = text.split('-');
        let (Some(height), Some(hash), Some(index), None) = (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(ParseCursorError);
        };
        let is_lower = hash.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if hash.len() != 64 || !is_lower {
            return Err(ParseCursorError);
        }
        let cursor =
            Self { height: number(height)?, hash: hash.parse().map_err(|_| ParseCursorError)?, index: number(index)? };
        if cursor.index > INDEX_MAX { Err(ParseCursorError) } else { Ok(cursor) }
    }
}

/// A number in decimal digits, as it is written.
fn number<N: FromStr>(text: &str) -> Result<N, ParseCursorError> {
    let is_plain = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
    if is_plain { text.parse().map_err(|_| ParseCursorError) } else { Err(ParseCursorError) }
}

impl serde::Serialize for Cursor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_as_it_is_written_and_nothing_else_does() {
        let hash = "0f".repeat(32);
        for text in [format!("0-{hash}-0"), format!("4294967295-{hash}-9007199254740991")] {
            assert_eq!(text.parse::<Cursor>().unwrap().to_string(), text);
        }
        for bad in [
            String::new(),
            hash.clone(),
            format!("1-{hash}"),
            format!("1-{hash}-"),
            format!("-{hash}-1"),
            format!("+1-{hash}-1"),
            format!("01-{hash}-1"),
            format!("1-{hash}-01"),
            format!("1-{hash}-1-1"),
            format!("1-{}-1", hash.to_uppercase()),
            format!("1-{}-1", &hash[2..]),
            format!("4294967296-{hash}-1"),
            format!("1-{hash}-9007199254740992"),
            format!("1-{}-1", "é".repeat(32)),
        ] {
            assert_eq!(bad.parse::<Cursor>(), Err(ParseCursorError), "{bad}");
        }
    }

    #[test]
    fn the_order_of_indexes_is_transaction_then_kind_then_number() {
        let indexes = [
            index_of(0, Kind::Address, 0),
            index_of(0, Kind::Address, u32::MAX),
            index_of(0, Kind::Rune, 7),
            index_of(1, Kind::Address, 0),
            index_of(u32::MAX, Kind::Rune, u32::MAX),
            INDEX_MAX,
        ];
        assert!(indexes[0] > 0 && indexes.is_sorted_by(|one, other| one < other), "{indexes:?}");
    }
}
