use super::RowError;
use super::varint::{put_varint, take_varint};

/// Writes satoshis with their trailing decimal zeros counted instead of stored, for most amounts are round.
///
/// The number written is 0 for 0, else `1 + 10 * (9 * head + last - 1) + zeros` where the amount without its zeros (at
/// most 9 of them) is `10 * head + last`; with 9 zeros stripped it is `1 + 10 * (rest - 1) + 9`. Amounts beyond all
/// money (21e14 satoshis) that do not fit this form follow the marker 2^64-1 as they are.
pub(super) fn put_amount(output: &mut Vec<u8>, satoshis: u64) {
    match squeeze(satoshis) {
        Some(number) => put_varint(output, number),
        None => {
            put_varint(output, u64::MAX);
            put_varint(output, satoshis);
        }
    }
}

pub(super) fn take_amount(input: &mut &[u8]) -> Result<u64, RowError> {
    match take_varint(input)? {
        u64::MAX => take_varint(input),
        number => expand(number).ok_or(RowError("an amount exceeds 64 bits")),
    }
}

fn squeeze(satoshis: u64) -> Option<u64> {
    if satoshis == 0 {
        return Some(0);
    }
    let mut rest = satoshis;
    let mut zeros = 0;
    while zeros < 9 && rest.is_multiple_of(10) {
        rest /= 10;
        zeros += 1;
    }
    let head = if zeros < 9 { (rest / 10).checked_mul(9)?.checked_add(rest % 10 - 1)? } else { rest - 1 };
    let number = head.checked_mul(10)?.checked_add(zeros + 1)?;
    (number != u64::MAX).then_some(number)
}

fn expand(number: u64) -> Option<u64> {
    let Some(number) = number.checked_sub(1) else { return Some(0) };
    let (head, zeros) = (number / 10, number % 10);
    let rest = if zeros < 9 { (head / 9).checked_mul(10)?.checked_add(head % 9 + 1)? } else { head.checked_add(1)? };
    rest.checked_mul(10u64.pow(zeros as u32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(satoshis: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_amount(&mut bytes, satoshis);
        bytes
    }

    proptest! {
        #[test]
        fn amounts_round_trip(satoshis: u64, shift in 0u32..64, zeros in 0u32..12) {
            for satoshis in [satoshis, satoshis >> shift, (satoshis >> shift).saturating_mul(10u64.pow(zeros))] {
                prop_assert_eq!(take_amount(&mut packed(satoshis).as_slice()), Ok(satoshis));
            }
        }
    }

    #[test]
    fn round_amounts_are_short_and_every_edge_round_trips() {
        for satoshis in [0, 1, 9, 10, 546, 21_000_000 * 100_000_000, u64::MAX - 1, u64::MAX] {
            assert_eq!(take_amount(&mut packed(satoshis).as_slice()), Ok(satoshis), "{satoshis}");
        }
        assert_eq!(packed(100_000_000).len(), 1);
        assert_eq!(packed(5_000_000_000).len(), 1);
        assert_eq!(packed(546).len(), 2);
    }
}
