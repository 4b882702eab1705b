use bitcoin::Txid;
use bitcoin::hashes::Hash;

use super::amount::{put_amount, take_amount};
use super::varint::{put_ordered, put_varint, take_ordered, take_varint_u32};
use super::{RowError, finished, take, take_u32};

/// An output named by the number of its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Funding {
    pub(crate) number: u32,
    pub(crate) vout: u32,
}

/// Reads `transaction number (4, big-endian) | output index (ordered)`, the end of a key.
pub(crate) fn take_outpoint(key: &mut &[u8]) -> Result<Funding, RowError> {
    let funding = Funding { number: take_u32(key)?, vout: take_ordered(key)? };
    finished(key)?;
    Ok(funding)
}

/// Key of table `spends`: funding transaction number (4) | output index (ordered).
pub(crate) fn spend_key(funding: Funding) -> Vec<u8> {
    let mut key = Vec::with_capacity(9);
    key.extend_from_slice(&funding.number.to_be_bytes());
    put_ordered(&mut key, funding.vout);
    key
}

/// Value of table `spends`: how many numbers after its funding transaction the spender came.
pub(crate) fn encode_spender(funding_number: u32, spender: u32) -> Vec<u8> {
    let mut value = Vec::with_capacity(5);
    put_varint(&mut value, u64::from(spender.saturating_sub(funding_number)));
    value
}

pub(crate) fn decode_spender(funding_number: u32, mut value: &[u8]) -> Result<u32, RowError> {
    let distance = take_varint_u32(&mut value)?;
    finished(value)?;
    funding_number.checked_add(distance).ok_or(RowError("the spender's number exceeds 32 bits"))
}

/// Key of table `unspent`: script digest (32) | transaction number (4) | output index (ordered).
pub(crate) fn unspent_key(digest: &[u8; 32], funding: Funding) -> Vec<u8> {
    let mut key = Vec::with_capacity(41);
    key.extend_from_slice(digest);
    key.extend_from_slice(&funding.number.to_be_bytes());
    put_ordered(&mut key, funding.vout);
    key
}

/// Value of table `unspent`: all that an answer contains of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnspentRow {
    pub(crate) txid: Txid,
    pub(crate) height: u32,
    pub(crate) satoshis: u64,
}

impl UnspentRow {
    /// `txid (32) | height (varint) | satoshis (amount)`.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut value = Vec::with_capacity(40);
        value.extend_from_slice(self.txid.as_byte_array());
        put_varint(&mut value, u64::from(self.height));
        put_amount(&mut value, self.satoshis);
        value
    }

    pub(crate) fn decode(mut value: &[u8]) -> Result<Self, RowError> {
        let input = &mut value;
        let mut txid = [0; 32];
        txid.copy_from_slice(take(input, 32)?);
        let (height, satoshis) = (take_varint_u32(input)?, take_amount(input)?);
        finished(input)?;
        Ok(Self { txid: Txid::from_byte_array(txid), height, satoshis })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_round_trip_and_sort_by_number_then_index(left: (u32, u32), right: (u32, u32)) {
            let [left, right] = [left, right].map(|(number, vout)| Funding { number, vout });
            prop_assert_eq!(take_outpoint(&mut spend_key(left).as_slice()), Ok(left));
            prop_assert_eq!(take_outpoint(&mut &unspent_key(&[7; 32], left)[32..]), Ok(left));
            prop_assert_eq!(spend_key(left).cmp(&spend_key(right)), left.cmp(&right));
        }

        #[test]
        fn unspent_rows_round_trip(txid: [u8; 32], height: u32, satoshis: u64) {
            let row = UnspentRow { txid: Txid::from_byte_array(txid), height, satoshis };
            prop_assert_eq!(UnspentRow::decode(&row.encode()), Ok(row));
        }

        #[test]
        fn spenders_round_trip(funding: u32, distance: u32) {
            let spender = funding.saturating_add(distance);
            prop_assert_eq!(decode_spender(funding, &encode_spender(funding, spender)), Ok(spender));
        }
    }
}
