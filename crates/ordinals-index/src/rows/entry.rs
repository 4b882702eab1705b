use super::{Fields, RowError, put_optional, put_varint};
use crate::event::InscriptionId;
use bitcoin::hashes::Hash as _;

/// Row of table `inscriptions`; never changed once written.
///
/// ```text
/// txid | index | cursed (1) | -1 - number, or number | fee | height | time | charms | sat, if known | parents
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InscriptionRow {
    pub(crate) id: InscriptionId,
    pub(crate) number: i32,
    /// Its part of the fee of its transaction, in satoshis.
    pub(crate) fee: u64,
    pub(crate) height: u32,
    /// Of the block.
    pub(crate) time: u32,
    /// Bits of [`ordinals::Charm`], as they were at the reveal.
    pub(crate) charms: u16,
    pub(crate) sat: Option<u64>,
    /// Sequence numbers.
    pub(crate) parents: Vec<u32>,
}

impl InscriptionRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = self.id.txid.as_byte_array().to_vec();
        put_varint(&mut bytes, self.id.index);
        bytes.push(u8::from(self.number < 0));
        // Of -1 - number the bits are those of number, inverted.
        let magnitude = if self.number < 0 { !self.number } else { self.number };
        put_varint(&mut bytes, magnitude.unsigned_abs());
        put_varint(&mut bytes, self.fee);
        put_varint(&mut bytes, self.height);
        put_varint(&mut bytes, self.time);
        put_varint(&mut bytes, self.charms);
        put_optional(&mut bytes, self.sat);
        for parent in &self.parents {
            put_varint(&mut bytes, *parent);
        }
        bytes
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, RowError> {
        let mut fields = Fields::of(row);
        let id = InscriptionId { txid: fields.txid()?, index: fields.varint()? };
        let (is_cursed, magnitude): (bool, i32) = (fields.flag()?, fields.varint()?);
        let mut entry = Self {
            id,
            number: if is_cursed { !magnitude } else { magnitude },
            fee: fields.varint()?,
            height: fields.varint()?,
            time: fields.varint()?,
            charms: fields.varint()?,
            sat: fields.optional()?,
            parents: Vec::new(),
        };
        while !fields.is_empty() {
            entry.parents.push(fields.varint()?);
        }
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(
            txid: [u8; 32], index: u32, number: i32, fee: u64, height: u32, time: u32, charms: u16, sat: Option<u64>,
            parents in proptest::collection::vec(any::<u32>(), 0..4), noise in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            let id = InscriptionId { txid: bitcoin::Txid::from_byte_array(txid), index };
            let row = InscriptionRow { id, number, fee, height, time, charms, sat, parents };
            prop_assert_eq!(InscriptionRow::decode(&row.encode()), Ok(row));
            let _ = InscriptionRow::decode(&noise);
        }
    }
}
