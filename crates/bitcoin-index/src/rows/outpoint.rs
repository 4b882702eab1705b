use super::varint::{put_ordered, put_varint, take_ordered, take_varint_u32};
use super::{RowError, finished, take_u32};

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

/// Key of table `unspent`: script prefix (8) | transaction number (4) | output index (ordered).
pub(crate) fn unspent_key(prefix: [u8; 8], funding: Funding) -> Vec<u8> {
    let mut key = Vec::with_capacity(17);
    key.extend_from_slice(&prefix);
    key.extend_from_slice(&funding.number.to_be_bytes());
    put_ordered(&mut key, funding.vout);
    key
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
            prop_assert_eq!(take_outpoint(&mut &unspent_key([7; 8], left)[8..]), Ok(left));
            prop_assert_eq!(spend_key(left).cmp(&spend_key(right)), left.cmp(&right));
        }

        #[test]
        fn spenders_round_trip(funding: u32, distance: u32) {
            let spender = funding.saturating_add(distance);
            prop_assert_eq!(decode_spender(funding, &encode_spender(funding, spender)), Ok(spender));
        }
    }
}
