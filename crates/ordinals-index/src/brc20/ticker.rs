//! Tickers as they were written and as they are compared.

use std::fmt;

/// The name of a token: as written in an inscription, and in the lower case in which tokens are distinguished.
///
/// Length is counted in bytes of the name as written. Its lower case may have another length: the Kelvin sign is three
/// bytes long and its lower case, `k`, one, so that a name of six bytes may name a token of four.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticker {
    lower: String,
    original: String,
}

impl Ticker {
    /// A name as some inscription has it: 4, 5 or 6 bytes without a null byte, the latter with nothing but letters of the
    /// English alphabet, digits and `-` in its lower case. From which height on 6 bytes are allowed is for the engine.
    pub(super) fn of_inscription(original: String) -> Option<Self> {
        let lower = original.to_lowercase();
        let is_plain = || lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_long_enough = match original.len() {
            4 | 5 => true,
            6 => is_plain(),
            _ => false,
        };
        (is_long_enough && !original.contains('\0')).then_some(Self { lower, original })
    }

    /// Both forms as a row has them.
    pub(super) fn from_row(lower: String, original: String) -> Self {
        Self { lower, original }
    }

    /// The form in which tokens are distinguished.
    pub fn lower(&self) -> &str {
        &self.lower
    }

    /// The form in the inscription.
    pub fn original(&self) -> &str {
        &self.original
    }
}

impl fmt::Display for Ticker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(original: &str) -> Option<String> {
        Ticker::of_inscription(original.to_owned()).map(|ticker| ticker.lower)
    }

    #[test]
    fn length_is_counted_in_bytes_of_the_name_as_written() {
        for (original, found) in [
            ("ORDI", Some("ordi")),
            ("Ordi5", Some("ordi5")),
            ("a-B_9", Some("a-b_9")),
            ("é12", Some("é12")),
            ("😀", Some("😀")),
            ("😀x", Some("😀x")),
            ("    ", Some("    ")),
            ("a\nb\"", Some("a\nb\"")),
            ("", None),
            ("abc", None),
            ("é1", None),
            ("abcdefg", None),
            ("ab\0d", None),
            ("\0\0\0\0", None),
        ] {
            assert_eq!(lower(original).as_deref(), found, "{original:?}");
        }
    }

    #[test]
    fn six_bytes_are_english_letters_digits_and_dashes_alone() {
        assert_eq!(lower("AbC-12").as_deref(), Some("abc-12"));
        for original in ["abc_12", "abc 12", "é1234", "ab.def", "😀12", "ab\0def"] {
            assert_eq!(lower(original), None, "{original}");
        }
    }

    #[test]
    fn lower_case_may_change_the_length() {
        // The Kelvin sign.
        assert_eq!(lower("\u{212a}abc").as_deref(), Some("kabc"));
        assert_eq!(lower("\u{212a}a").as_deref(), Some("ka"));
        // A letter whose lower case is longer.
        assert_eq!(lower("\u{23a}\u{23a}").as_deref(), Some("\u{2c65}\u{2c65}"));
        // A sigma at the end of a word.
        assert_eq!(lower("ΑΣ").as_deref(), Some("ας"));
    }
}
