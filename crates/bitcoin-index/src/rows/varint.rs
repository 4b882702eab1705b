use super::{RowError, take};

/// Writes `number` in groups of 7 bits, lowest first; the high bit of a byte is set when another follows.
pub(super) fn put_varint(output: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        output.push((number as u8) | 0x80);
        number >>= 7;
    }
    output.push(number as u8);
}

pub(super) fn take_varint(input: &mut &[u8]) -> Result<u64, RowError> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = take(input, 1)?[0];
        let group = u64::from(byte & 0x7f);
        if shift == 63 && group > 1 {
            break;
        }
        number |= group << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(RowError("a number is longer than 64 bits"))
}

pub(super) fn take_varint_u32(input: &mut &[u8]) -> Result<u32, RowError> {
    u32::try_from(take_varint(input)?).map_err(|_| RowError("a number is longer than 32 bits"))
}

/// Writes `number` so that the bytes sort as the numbers do: up to 247 in one byte, else a length byte and the
/// shortest big-endian form.
pub(super) fn put_ordered(output: &mut Vec<u8>, number: u32) {
    const LARGEST_SHORT: u32 = 247;
    if number <= LARGEST_SHORT {
        output.push(number as u8);
        return;
    }
    let bytes = number.to_be_bytes();
    let skipped = number.leading_zeros() as usize / 8;
    output.push(LARGEST_SHORT as u8 + (4 - skipped) as u8);
    output.extend_from_slice(&bytes[skipped..]);
}

pub(super) fn take_ordered(input: &mut &[u8]) -> Result<u32, RowError> {
    let first = take(input, 1)?[0];
    let length = match first {
        0..=247 => return Ok(u32::from(first)),
        248..=251 => usize::from(first - 247),
        _ => return Err(RowError("an ordered number has at most four bytes")),
    };
    let number = take(input, length)?.iter().fold(0u32, |number, byte| (number << 8) | u32::from(*byte));
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_round_trip(number: u64) {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number);
            let mut input = bytes.as_slice();
            prop_assert_eq!(take_varint(&mut input), Ok(number));
            prop_assert!(input.is_empty());
        }

        #[test]
        fn ordered_numbers_round_trip_and_sort_as_numbers(left in number(), right in number()) {
            let encode = |number| { let mut bytes = Vec::new(); put_ordered(&mut bytes, number); bytes };
            prop_assert_eq!(take_ordered(&mut encode(left).as_slice()), Ok(left));
            prop_assert_eq!(encode(left).cmp(&encode(right)), left.cmp(&right));
        }
    }

    fn number() -> impl Strategy<Value = u32> {
        (any::<u32>(), 0u32..32).prop_map(|(number, shift)| number >> shift)
    }

    #[test]
    fn a_number_beyond_64_bits_is_refused() {
        assert!(take_varint(&mut [0xff; 10].as_slice()).is_err());
        assert!(take_varint(&mut [0x80, 0x80].as_slice()).is_err());
    }
}
