//! Formatting of bytes of the chain: as text if printable, as numbers if their length allows it, else as hexadecimal digits.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};

use crate::explorer::text;
use crate::html::grouped;

/// Characters and digits of a value that are shown.
const CHARACTERS_SHOWN: usize = 400;
const DIGITS_SHOWN: usize = 512;
/// Selector of a revert in the convention of Solidity: `Error(string)`.
const REVERT_SELECTOR: &str = "08c379a0";
/// Length of a number in storage and answers, bytes, and how many are read.
const NUMBER_BYTES: usize = 16;
const NUMBERS_MAX: usize = 4;

/// The readings of a byte string.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Bytes {
    /// The bytes as text, where they are printable; empty otherwise.
    pub(super) text: String,
    /// The bytes as an integer of 8 to 64 bits, or as integers of 128 bits, the lowest byte first, where their number is
    /// that of such integers; empty otherwise.
    pub(super) numbers: String,
    /// Hexadecimal digits, cut off where they are many.
    pub(super) digits: String,
    /// Number of bytes.
    pub(super) length: String,
    pub(super) is_empty: bool,
}

impl Bytes {
    /// Of hexadecimal digits, `0x` before them or not.
    pub(super) fn of(digits: &str) -> Self {
        match hex_bytes(digits.strip_prefix("0x").unwrap_or(digits)) {
            Some(bytes) => Self::of_bytes(&bytes),
            None => Self { text: text::clean(digits, CHARACTERS_SHOWN), length: "—".to_owned(), ..Self::default() },
        }
    }

    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let shown = bytes.get(..DIGITS_SHOWN / 2).unwrap_or(bytes);
        let mut digits = HEXLOWER.encode(shown);
        if shown.len() < bytes.len() {
            digits.push('…');
        }
        Self {
            text: printable(bytes).map(|text| text::clean(text, CHARACTERS_SHOWN)).unwrap_or_default(),
            numbers: numbers(bytes).unwrap_or_default(),
            digits,
            length: grouped(i128::try_from(bytes.len()).unwrap_or_default()),
            is_empty: bytes.is_empty(),
        }
    }

    /// Of what a call that failed answered: its text without the selector before it.
    pub(super) fn of_revert(digits: &str) -> Self {
        let digits = digits.strip_prefix("0x").unwrap_or(digits);
        Self::of(digits.strip_prefix(REVERT_SELECTOR).unwrap_or(digits))
    }
}

/// The bytes of hexadecimal digits; `None` for any other text.
pub(super) fn hex_bytes(digits: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok()
}

/// The bytes as text, if that has more than one visible character.
fn printable(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_plain = |character: char| !character.is_control() || matches!(character, '\n' | '\t' | '\r');
    (!text.trim().is_empty() && text.chars().all(is_plain)).then_some(text)
}

fn numbers(bytes: &[u8]) -> Option<String> {
    let is_short = matches!(bytes.len(), 1 | 2 | 4 | 8);
    let is_list = bytes.len().is_multiple_of(NUMBER_BYTES) && bytes.len() <= NUMBERS_MAX * NUMBER_BYTES;
    if bytes.is_empty() || !(is_short || is_list) {
        return None;
    }
    let number = |chunk: &[u8]| chunk.iter().rev().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    Some(bytes.chunks(NUMBER_BYTES).map(|chunk| number(chunk).to_string()).collect::<Vec<_>>().join(", "))
}

/// The contract that 32 bytes name, as `block:tx`.
pub(super) fn contract_id(digits: &str) -> Option<String> {
    let bytes = hex_bytes(digits.strip_prefix("0x").unwrap_or(digits))?;
    let (block, tx) = bytes.split_at_checked(NUMBER_BYTES)?;
    let (block, tx) = (u128::from_le_bytes(block.try_into().ok()?), u128::from_le_bytes(tx.try_into().ok()?));
    Some(format!("{block}:{tx}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_text_numbers_or_digits() {
        let text = Bytes::of("0x4f574e4552");
        assert_eq!((&*text.text, &*text.digits, &*text.length), ("OWNER", "4f574e4552", "5"));
        let id = Bytes::of("0x04000000000000000000000000000000f4ff0000000000000000000000000000");
        assert_eq!((&*id.text, &*id.numbers), ("", "4, 65524"));
        let either = Bytes::of("0x50635565");
        assert_eq!((&*either.text, &*either.numbers), ("PcUe", "1700094800"));
        assert!(Bytes::of("0x").is_empty);
        // Text of control characters, and invalid digits.
        assert_eq!(Bytes::of("0x0a0a").text, "");
        assert_eq!(Bytes::of("0xnone").text, "0xnone");
        assert_eq!(Bytes::of("0xabc").text, "0xabc");
        assert_eq!(Bytes::of("4F").digits, "4f");
    }

    #[test]
    fn reverts_are_their_text() {
        let digits = "0x08c379a0414c4b414e45533a20726576657274";
        assert_eq!(Bytes::of_revert(digits).text, "ALKANES: revert");
        assert_eq!(Bytes::of_revert("0x").digits, "");
    }

    #[test]
    fn bytes_are_bounded_and_cleaned() {
        let long = Bytes::of_bytes(&vec![b'<'; 100_000]);
        assert_eq!((long.text.chars().count(), long.digits.chars().count()), (401, 513));
        assert_eq!(Bytes::of_bytes("a\u{202e}b".as_bytes()).text, "ab");
        assert_eq!(Bytes::of_bytes(&[0xff; 16]).numbers, u128::MAX.to_string());
        assert_eq!(Bytes::of_bytes(&[1; 80]).numbers, "");
    }

    #[test]
    fn contracts_are_read_from_bytes() {
        let digits = "0x04000000000000000000000000000000c0ea0b00000000000000000000000000";
        assert_eq!(contract_id(digits).as_deref(), Some("4:780992"));
        for digits in ["0x", "04", "zz", &"00".repeat(33)] {
            assert_eq!(contract_id(digits), None, "{digits}");
        }
    }
}
