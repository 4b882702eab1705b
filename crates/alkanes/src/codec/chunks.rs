//! Byte strings carried in integers, fifteen bytes in each (protocol B4).

/// Bytes that one integer carries; its sixteenth byte is not used (protocol B4).
pub const CHUNK_LEN_BYTES: usize = 15;

/// Splits `bytes` into integers of 15 bytes each, least significant first; the last one is filled up with zeros (protocol B4).
pub fn pack_chunks(bytes: &[u8]) -> Vec<u128> {
    bytes
        .chunks(CHUNK_LEN_BYTES)
        .map(|chunk| {
            let mut integer = [0; 16];
            integer[..chunk.len()].copy_from_slice(chunk);
            u128::from_le_bytes(integer)
        })
        .collect()
}

/// Joins the 15 low bytes of every integer; the highest byte is dropped, zeros at the end stay (protocol B4).
pub fn unpack_chunks(integers: &[u128]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(integers.len() * CHUNK_LEN_BYTES);
    for integer in integers {
        append_chunk(*integer, &mut bytes);
    }
    bytes
}

pub(super) fn append_chunk(integer: u128, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&integer.to_le_bytes()[..CHUNK_LEN_BYTES]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sixteenth_byte_is_dropped() {
        assert_eq!(unpack_chunks(&[u128::MAX]), [0xff; 15]);
        assert_eq!(unpack_chunks(&[0xab << 120 | 7]), [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn sixteen_bytes_take_two_integers() {
        let bytes: Vec<u8> = (1..=16).collect();
        assert_eq!(pack_chunks(&bytes), [0x000f_0e0d_0c0b_0a09_0807_0605_0403_0201, 16]);
    }

    proptest! {
        #[test]
        fn bytes_come_back_filled_up_with_zeros_to_a_multiple_of_fifteen(bytes: Vec<u8>) {
            let mut expected = bytes.clone();
            expected.resize(bytes.len().div_ceil(CHUNK_LEN_BYTES) * CHUNK_LEN_BYTES, 0);
            prop_assert_eq!(unpack_chunks(&pack_chunks(&bytes)), expected);
        }
    }
}
