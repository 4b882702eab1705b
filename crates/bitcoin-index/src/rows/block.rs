use bitcoin::block::Header;
use bitcoin::consensus::{deserialize, serialize};

use super::varint::{put_varint, take_varint, take_varint_u32};
use super::{RowError, finished, take, take_u32};

/// Value of table `blocks`: header (80) | first transaction number (4) | transaction count, size, weight (varints).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockRow {
    pub(crate) header: Header,
    /// Number of the coinbase; the others of the block follow without gaps.
    pub(crate) first_number: u32,
    pub(crate) transaction_count: u32,
    /// Bytes of the consensus encoding.
    pub(crate) size: u32,
    /// Weight units (BIP141).
    pub(crate) weight: u64,
}

impl BlockRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut output = serialize(&self.header);
        output.extend_from_slice(&self.first_number.to_be_bytes());
        put_varint(&mut output, u64::from(self.transaction_count));
        put_varint(&mut output, u64::from(self.size));
        put_varint(&mut output, self.weight);
        output
    }

    pub(crate) fn decode(mut value: &[u8]) -> Result<Self, RowError> {
        let input = &mut value;
        let row = Self {
            header: deserialize(take(input, 80)?).map_err(|_| RowError("the block header is malformed"))?,
            first_number: take_u32(input)?,
            transaction_count: take_varint_u32(input)?,
            size: take_varint_u32(input)?,
            weight: take_varint(input)?,
        };
        finished(input)?;
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip(header: [u8; 80], first_number: u32, transaction_count: u32, size: u32, weight: u64) {
            let header = deserialize(&header).unwrap();
            let row = BlockRow { header, first_number, transaction_count, size, weight };
            prop_assert_eq!(BlockRow::decode(&row.encode()), Ok(row));
        }
    }
}
