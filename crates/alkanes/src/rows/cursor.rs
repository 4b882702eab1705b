use std::fmt;
use std::str::FromStr;

use bitcoin::hex::{DisplayHex, FromHex};

/// The position at which a listing continues: after the row with this key. To be passed back unchanged; any other bytes are harmless, they
/// name a position between rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor(pub Vec<u8>);

impl Cursor {
    /// The key, or as much of it as any row can have.
    pub(crate) fn bound(&self) -> &[u8] {
        &self.0[..self.0.len().min(paraffin_store::KEY_LEN_MAX)]
    }
}

/// The text is not hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a cursor is the hexadecimal text that the page before ended with")]
pub struct ParseCursorError;

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hex().fmt(formatter)
    }
}

impl FromStr for Cursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Vec::from_hex(text).map(Self).map_err(|_| ParseCursorError)
    }
}

/// A part of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// In the order of the listing.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` when this one reaches the end.
    pub next: Option<Cursor>,
}
