//! The CRC-32 of a sequence of pieces, put together from the checksums of its parts.
//!
//! A CRC is a polynomial over bits modulo a fixed one; text that follows multiplies it by a power of x. So the checksum of two
//! texts in a row needs only both checksums and the power that belongs to the second text's length.

/// The polynomial of CRC-32 (IEEE 802.3), lowest power in the highest bit.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// 1 in the same notation.
const ONE: u32 = 1 << 31;
/// x to the 8th: what one byte that follows multiplies by.
const BYTE: u32 = 1 << 23;

/// Two polynomials, each multiplied by `right`.
fn products(left: [u32; 2], right: u32) -> [u32; 2] {
    let (mut power, mut sums) = (right, [0; 2]);
    for bit in (0..32).rev() {
        // All ones where the bit is set: no branch depends on what is multiplied.
        sums[0] ^= power & 0_u32.wrapping_sub((left[0] >> bit) & 1);
        sums[1] ^= power & 0_u32.wrapping_sub((left[1] >> bit) & 1);
        power = (power >> 1) ^ (POLYNOMIAL & 0_u32.wrapping_sub(power & 1));
    }
    sums
}

/// What a text adds to a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    crc: u32,
    /// x to the number of its bits.
    shift: u32,
}

impl Piece {
    /// No text.
    pub(crate) const EMPTY: Self = Self { crc: 0, shift: ONE };

    /// Of one text.
    pub(crate) fn of(text: &[u8]) -> Self {
        let (mut shift, mut square, mut len) = (ONE, BYTE, text.len());
        while len > 0 {
            let [longer, next] = products([shift, square], square);
            if len & 1 == 1 {
                shift = longer;
            }
            square = next;
            len >>= 1;
        }
        Self { crc: crc32fast::hash(text), shift }
    }

    /// Of this text and then the other.
    pub(crate) fn then(self, next: Self) -> Self {
        if self == Self::EMPTY {
            return next;
        }
        if next == Self::EMPTY {
            return self;
        }
        let [crc, shift] = products([self.crc, self.shift], next.shift);
        Self { crc: crc ^ next.crc, shift }
    }

    /// The checksum.
    pub(crate) fn crc(self) -> u32 {
        self.crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_a_row_have_the_checksum_of_the_whole() {
        assert_eq!(Piece::of(b"123456789").crc(), 0xcbf4_3926);
        let text: Vec<u8> = (0..2_000_u32).map(|number| (number * 7 % 251) as u8).collect();
        for cuts in [[0, 0], [1, 2], [0, 1_999], [17, 900], [1_000, 2_000]] {
            let [first, second] = cuts;
            let pieces = [&text[..first], &text[first..second], &text[second..]].map(Piece::of);
            assert_eq!(pieces[0].then(pieces[1]).then(pieces[2]), Piece::of(&text));
            assert_eq!(pieces[0].then(pieces[1].then(pieces[2])).crc(), crc32fast::hash(&text));
        }
    }
}
