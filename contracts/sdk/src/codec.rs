//! Reading little-endian integers, and writing decimal ones.

use alloc::string::String;

/// Takes integers and byte strings off the front of a byte string.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the start of the bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes are left.
    pub const fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Everything that is left.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `length` bytes; `None` when there are fewer.
    pub fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        if length > self.rest.len() {
            return None;
        }
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(taken)
    }

    fn array<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        self.bytes(LENGTH)?.try_into().ok()
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next 16-bit integer.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next 32-bit integer.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next 64-bit integer.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next 128-bit integer.
    pub fn word(&mut self) -> Option<u128> {
        self.array().map(u128::from_le_bytes)
    }

    /// The next LEB128 integer, at most 128 bits.
    pub fn varint(&mut self) -> Option<u128> {
        let mut value = 0u128;
        for index in 0..19u32 {
            let byte = self.byte()?;
            if index == 18 && byte & 0b1111_1100 != 0 {
                return None;
            }
            value |= u128::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }
}

/// The number in decimal digits. Far smaller as wasm than `core::fmt` and the division of 128-bit integers.
pub fn decimal(number: u128) -> String {
    let mut limbs = [number >> 96, number >> 64, number >> 32, number].map(|limb| limb as u32);
    let mut digits = [0u8; 39];
    let mut start = digits.len();
    loop {
        let mut remainder = 0u64;
        for limb in &mut limbs {
            let value = remainder << 32 | u64::from(*limb);
            *limb = (value / 10) as u32;
            remainder = value % 10;
        }
        start -= 1;
        digits[start] = b'0' + remainder as u8;
        if limbs == [0; 4] {
            break;
        }
    }
    digits[start..].iter().map(|digit| char::from(*digit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_writes_every_digit() {
        for number in [0, 7, 10, 65522, u128::from(u64::MAX), u128::MAX] {
            assert_eq!(decimal(number), number.to_string());
        }
    }

    #[test]
    fn a_varint_holds_at_most_128_bits() {
        let mut largest = vec![0xff; 18];
        largest.push(0x03);
        assert_eq!(Reader::new(&largest).varint(), Some(u128::MAX));
        largest[18] = 0x04;
        assert_eq!(Reader::new(&largest).varint(), None);
        assert_eq!(Reader::new(&[0x80]).varint(), None);
    }
}
