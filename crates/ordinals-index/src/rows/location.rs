use bitcoin::OutPoint;
use ordinals::SatPoint;

use super::{Fields, RowError, put_varint};
use crate::tables::outpoint_key;

/// Row of table `locations`: where an inscription is.
///
/// ```text
/// txid | vout (4) | offset | moves | whether it was burned (1)
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) outpoint: OutPoint,
    /// Sats of the output before it; for a lost one, all lost sats before it; for an unbound one, its number among the unbound.
    pub(crate) offset: u64,
    /// How often it moved, a move through fees counted as two.
    pub(crate) moves: u32,
    /// Whether a move brought it into an output that cannot be spent.
    pub(crate) is_burned: bool,
}

impl Location {
    pub(crate) fn satpoint(&self) -> SatPoint {
        SatPoint { outpoint: self.outpoint, offset: self.offset }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = outpoint_key(&self.outpoint).to_vec();
        put_varint(&mut bytes, self.offset);
        put_varint(&mut bytes, self.moves);
        bytes.push(u8::from(self.is_burned));
        bytes
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, RowError> {
        let mut fields = Fields::of(row);
        let location = Self {
            outpoint: fields.outpoint()?,
            offset: fields.varint()?,
            moves: fields.varint()?,
            is_burned: fields.flag()?,
        };
        fields.end()?;
        Ok(location)
    }
}
