//! Formatting of bytes of contracts.

use data_encoding::HEXLOWER_PERMISSIVE;

use super::super::text;

/// Longest text and longest line of hexadecimal digits that is shown, characters.
const SHOWN_MAX: usize = 2_000;

/// All readings of a byte string.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) size: usize,
    /// Where they are text.
    pub(super) text: Option<String>,
    /// Where they are an integer of at most 128 bits, the lowest byte first.
    pub(super) number: Option<String>,
    /// Where they are the id of an alkane: two such integers.
    pub(super) id: Option<String>,
    pub(super) hex: String,
}

impl Reading {
    /// Of `0x` and hexadecimal digits.
    pub(super) fn of_hex(hex: &str) -> Self {
        let Some(bytes) = decode(hex) else { return Self { hex: text::clean(hex, 100), ..Self::default() } };
        let is_text = |text: &&str| !text.is_empty() && !text.chars().any(|c| c.is_control() && !c.is_whitespace());
        let text = std::str::from_utf8(&bytes).ok().filter(is_text).map(|text| text::clean(text, SHOWN_MAX));
        let number = (1..=16).contains(&bytes.len()).then(|| integer(&bytes));
        let id = bytes.split_at_checked(16).filter(|(_, tx)| tx.len() == 16);
        let id =
            id.map(|(block, tx)| (integer(block), integer(tx))).filter(|(block, _)| *block <= u128::from(u32::MAX));
        Self {
            size: bytes.len(),
            text,
            number: number.map(|number| text::amount(number, 0)),
            id: id.map(|(block, tx)| format!("{block}:{tx}")),
            hex: text::clean(hex, SHOWN_MAX),
        }
    }

    /// In one line of a table.
    pub(super) fn line(&self) -> String {
        if let (1 | 4 | 8 | 16, Some(number)) = (self.size, &self.number) {
            // Of the length of an integer, and text perhaps by chance.
            let word = self.text.as_ref().map(|text| format!(" “{text}”")).unwrap_or_default();
            return format!("{number}{word}");
        }
        let whole = self.text.as_ref().or(self.id.as_ref()).or(self.number.as_ref());
        text::clean(whole.unwrap_or(&self.hex), 64)
    }
}

/// A little-endian integer of at most 16 bytes.
fn integer(bytes: &[u8]) -> u128 {
    bytes.iter().take(16).rev().fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// The bytes of `0x` and hexadecimal digits; `None` for anything else.
pub(crate) fn decode(hex: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(hex.strip_prefix("0x")?.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_every_way() {
        let diesel = Reading::of_hex("0x44494553454c");
        assert_eq!(diesel.text.as_deref(), Some("DIESEL"));
        assert_eq!((diesel.size, diesel.line().as_str()), (6, "DIESEL"));
        assert_eq!(Reading::of_hex("0x41424344").line(), "1,145,258,561 “ABCD”");
        let number = Reading::of_hex("0xb85934a70b0000000000000000000000");
        assert_eq!((number.number.as_deref(), number.text), (Some("50,049,866,168"), None));
        let id = Reading::of_hex(&format!("0x20{}03{}", "0".repeat(30), "0".repeat(30)));
        assert_eq!((id.id.as_deref(), id.number), (Some("32:3"), None));
        let empty = Reading::of_hex("0x");
        assert_eq!((empty.size, empty.text, empty.number, empty.hex.as_str()), (0, None, None, "0x"));
    }

    #[test]
    fn hostile_bytes_are_bounded_and_plain() {
        let long = Reading::of_hex(&format!("0x{}", "41".repeat(100_000)));
        assert_eq!((long.size, long.hex.chars().count()), (100_000, SHOWN_MAX + 1));
        assert_eq!(long.text.map(|text| text.chars().count()), Some(SHOWN_MAX + 1));
        assert_eq!(long.number, None);
        assert_eq!(Reading::of_hex("0xe280ae41").text.as_deref(), Some("A"));
        assert_eq!(Reading::of_hex("0xzz").hex, "0xzz");
        assert_eq!(Reading::of_hex(&"é".repeat(500)).hex.chars().count(), 101);
        for wrong in ["", "44", "0x4", "0xé1", "0x+1"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
