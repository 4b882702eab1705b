//! Unsigned LEB128 integers of up to 128 bits (protocol B3).

/// The longest varint, in bytes (protocol B3).
pub const VARINT_LEN_MAX_BYTES: usize = 19;

/// Bits of the nineteenth byte beyond the 128th bit (protocol B3).
const LAST_BYTE_OVERFLOW: u8 = 0b0111_1100;

/// An error of decoding a varint (protocol B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VarintError {
    /// The bytes end inside an integer.
    #[error("the bytes end inside a varint: the last byte of an integer has its high bit clear")]
    Unterminated,
    /// More than 19 bytes.
    #[error("a varint is longer than 19 bytes")]
    Overlong,
    /// The value does not fit 128 bits.
    #[error("a varint holds more than 128 bits")]
    Overflow,
}

/// Reads the varint at the start of `bytes`: its value and how many bytes it took, 1 to 19 (protocol B3).
///
/// Padded forms such as `80 00` are accepted, as the protocol does.
///
/// # Errors
/// The bytes end early, or the integer is longer than 19 bytes or 128 bits.
pub fn decode_varint(bytes: &[u8]) -> Result<(u128, usize), VarintError> {
    let mut value = 0_u128;
    for (index, &byte) in bytes.iter().enumerate() {
        if index == VARINT_LEN_MAX_BYTES {
            return Err(VarintError::Overlong);
        }
        if index == VARINT_LEN_MAX_BYTES - 1 && byte & LAST_BYTE_OVERFLOW != 0 {
            return Err(VarintError::Overflow);
        }
        value |= u128::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok((value, index + 1));
        }
    }
    Err(VarintError::Unterminated)
}

/// Appends `value` in its shortest form, 1 to 19 bytes.
pub fn append_varint(mut value: u128, bytes: &mut Vec<u8>) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Bytes that were checked to be varints from end to end, read one at a time.
///
/// The integers are not collected: a byte can stand for sixteen, and the bytes are untrusted.
#[derive(Debug, Clone)]
pub struct VarintList<'a> {
    rest: &'a [u8],
    count: usize,
}

impl<'a> VarintList<'a> {
    /// Checks all of `bytes`. One bad integer anywhere makes the whole list bad (protocol B3, B4).
    ///
    /// # Errors
    /// The first integer that is not a varint.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, VarintError> {
        let mut count = 0;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (_, len) = decode_varint(rest)?;
            rest = &rest[len..];
            count += 1;
        }
        Ok(Self { rest: bytes, count })
    }
}

impl Iterator for VarintList<'_> {
    type Item = u128;

    fn next(&mut self) -> Option<u128> {
        if self.rest.is_empty() {
            return None;
        }
        let (value, len) = decode_varint(self.rest).ok()?; // never an error: `parse` has read these very bytes
        self.rest = &self.rest[len..];
        self.count -= 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl ExactSizeIterator for VarintList<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(value: u128) -> Vec<u8> {
        let mut bytes = Vec::new();
        append_varint(value, &mut bytes);
        bytes
    }

    #[test]
    fn known_integers_have_their_known_bytes() {
        let cases: [(u128, &[u8]); 5] =
            [(0, &[0]), (127, &[0x7f]), (128, &[0x80, 1]), (16383, &[0xff, 0x7f]), (16384, &[0x80, 0x80, 1])];
        for (value, bytes) in cases {
            assert_eq!(encoded(value), bytes);
            assert_eq!(decode_varint(bytes), Ok((value, bytes.len())));
        }
        let mut greatest = [0xff; 19];
        greatest[18] = 0x03;
        assert_eq!(encoded(u128::MAX), greatest);
        assert_eq!(decode_varint(&greatest), Ok((u128::MAX, 19)));
    }

    #[test]
    fn padded_integers_are_accepted() {
        assert_eq!(decode_varint(&[0x80, 0x00]), Ok((0, 2)));
        assert_eq!(decode_varint(&[0x85, 0x80, 0x00, 0x07]), Ok((5, 3)));
    }

    #[test]
    fn only_the_two_low_bits_of_the_nineteenth_byte_count() {
        let mut bytes = [0x80; 19];
        for last in 0..=0xff {
            bytes[18] = last;
            let expected = match last {
                0..=3 => Ok((u128::from(last) << 126, 19)),
                0x80..=0x83 => Err(VarintError::Unterminated),
                _ => Err(VarintError::Overflow),
            };
            assert_eq!(decode_varint(&bytes), expected, "{last:#x}");
        }
    }

    #[test]
    fn a_twentieth_byte_is_too_many() {
        assert_eq!(decode_varint(&[0x80; 20]), Err(VarintError::Overlong));
        assert_eq!(decode_varint(&[0x80; 18]), Err(VarintError::Unterminated));
        assert_eq!(decode_varint(&[]), Err(VarintError::Unterminated));
    }

    #[test]
    fn one_bad_integer_spoils_the_list() {
        assert!(VarintList::parse(&[1, 2, 0x80]).is_err());
        assert_eq!(VarintList::parse(&[]).map(Iterator::count), Ok(0));
    }

    proptest! {
        #[test]
        fn integers_round_trip(value: u128, shift in 0_u32..128) {
            let value = value >> shift;
            let bytes = encoded(value);
            prop_assert_eq!(decode_varint(&bytes), Ok((value, bytes.len())));
        }

        #[test]
        fn lists_round_trip(values: Vec<u128>) {
            let mut bytes = Vec::new();
            for value in &values {
                append_varint(*value, &mut bytes);
            }
            let list = VarintList::parse(&bytes).unwrap();
            prop_assert_eq!(list.len(), values.len());
            prop_assert_eq!(list.collect::<Vec<_>>(), values);
        }

        #[test]
        fn arbitrary_bytes_are_decoded_as_the_rune_library_does(bytes: Vec<u8>) {
            let theirs = ordinals::varint::decode(&bytes).ok();
            prop_assert_eq!(decode_varint(&bytes).ok(), theirs);
        }
    }
}
