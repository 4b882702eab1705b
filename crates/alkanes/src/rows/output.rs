use bitcoin::hashes::Hash;
use bitcoin::{OutPoint, ScriptBuf, Txid};

use super::{Parser, ScriptKey};
use crate::StateError;
use crate::codec::append_varint;

/// Length of an outpoint as a key: txid in wire order, vout.
const OUTPOINT_LEN: usize = 36;

/// Key of an outpoint: the txid in wire order, the number of the output, the highest byte first.
pub(crate) fn outpoint_key(outpoint: &OutPoint) -> [u8; OUTPOINT_LEN] {
    let mut key = [0; OUTPOINT_LEN];
    key[..32].copy_from_slice(outpoint.txid.as_byte_array());
    key[32..].copy_from_slice(&outpoint.vout.to_be_bytes());
    key
}

/// Decodes a key of [`outpoint_key`].
pub(crate) fn parse_outpoint_key(parser: &mut Parser<'_>) -> Result<OutPoint, StateError> {
    Ok(OutPoint { txid: Txid::from_byte_array(parser.array()?), vout: parser.number()? })
}

/// An output that alkanes or base runes were ever sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputRow {
    /// Height of its transaction.
    pub(crate) height: u32,
    /// Index of its transaction in the block.
    pub(crate) index: u32,
    /// Satoshi.
    pub(crate) value: u64,
    /// Whether it is listed under its script while unspent: it holds alkanes, not base runes alone.
    pub(crate) is_listed: bool,
    /// The script.
    pub(crate) script: ScriptBuf,
}

impl OutputRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16 + self.script.len());
        append_varint(u128::from(self.height), &mut bytes);
        append_varint(u128::from(self.index) << 1 | u128::from(self.is_listed), &mut bytes);
        append_varint(u128::from(self.value), &mut bytes);
        bytes.extend_from_slice(self.script.as_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("outputs", bytes);
        let height = parser.small()?;
        let index_and_listed: u64 = parser.small()?;
        Ok(Self {
            height,
            index: u32::try_from(index_and_listed >> 1).map_err(|_| parser.damaged())?,
            is_listed: index_and_listed & 1 == 1,
            value: parser.small()?,
            script: ScriptBuf::from_bytes(parser.rest().to_vec()),
        })
    }

    /// The row of this output in the listing of its script.
    pub(crate) fn listing(&self, outpoint: OutPoint) -> Listing {
        Listing { height: self.height, index: self.index, outpoint, value: self.value }
    }
}

/// An output in the listing of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) height: u32,
    pub(crate) index: u32,
    pub(crate) outpoint: OutPoint,
    pub(crate) value: u64,
}

impl Listing {
    /// Key in table `live`; with `spent_at` in table `spent`.
    pub(crate) fn key(&self, script: ScriptKey, spent_at: Option<u32>) -> Vec<u8> {
        let mut key = Vec::with_capacity(48);
        key.extend_from_slice(&script.0);
        key.extend(spent_at.into_iter().flat_map(u32::to_be_bytes));
        for number in [self.height, self.index, self.outpoint.vout] {
            key.extend_from_slice(&number.to_be_bytes());
        }
        key
    }

    /// The value of the row.
    pub(crate) fn value(&self) -> Vec<u8> {
        let mut bytes = self.outpoint.txid.as_byte_array().to_vec();
        append_varint(u128::from(self.value), &mut bytes);
        bytes
    }

    /// Reads a row, `key` from its last three numbers on.
    pub(crate) fn parse(key: &[u8], value: &[u8]) -> Result<Self, StateError> {
        let (mut key, mut value) = (Parser::new("live", key), Parser::new("live", value));
        let [height, index, vout] = [key.number()?, key.number()?, key.number()?];
        let outpoint = OutPoint { txid: Txid::from_byte_array(value.array()?), vout };
        Ok(Self { height, index, outpoint, value: value.small()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_outputs_round_trip() {
        let row = OutputRow {
            height: 900_000,
            index: 77,
            value: 546,
            is_listed: true,
            script: ScriptBuf::from_bytes(vec![0x51, 0x20]),
        };
        assert_eq!(OutputRow::decode(&row.encode()).unwrap(), row);
        let outpoint = OutPoint { txid: Txid::from_byte_array([7; 32]), vout: 3 };
        let listing = row.listing(outpoint);
        let script = ScriptKey::of(&row.script);
        assert_eq!(Listing::parse(&listing.key(script, None)[32..], &listing.value()).unwrap(), listing);
        assert_eq!(Listing::parse(&listing.key(script, Some(5))[36..], &listing.value()).unwrap(), listing);
    }
}
