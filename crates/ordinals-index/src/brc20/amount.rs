//! Amounts: whole numbers of the 18th decimal place, independent of the token's own decimals, as in OPI.

use std::fmt;

/// Decimal places of all stored amounts, and the most that a token can have.
pub const DECIMALS_MAX: u8 = 18;

/// An amount in units of the 18th decimal place. Never above [`Amount::MAX`] where a user chose it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(pub u128);

impl Amount {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// The largest supply, limit or amount: 2^64 - 1 whole tokens.
    pub const MAX: Self = Self((u64::MAX as u128) * 1_000_000_000_000_000_000);

    /// Reads the text of an inscription: digits, at most one dot with digits on both sides, at most `decimals` digits after
    /// it, at most [`Amount::MAX`]. No sign, exponent or space. Leading zeros are allowed.
    pub(super) fn parse(text: &str, decimals: u8) -> Option<Self> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some((whole, fraction)) => (whole, fraction),
            None => (text, ""),
        };
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty()
            || !all_digits(whole)
            || !all_digits(fraction)
            || fraction.len() > usize::from(decimals.min(DECIMALS_MAX))
        {
            return None;
        }
        let places = whole.bytes().chain(fraction.bytes());
        let mut places = places.chain(std::iter::repeat_n(b'0', usize::from(DECIMALS_MAX) - fraction.len()));
        let value =
            places.try_fold(0u128, |value, digit| value.checked_mul(10)?.checked_add(u128::from(digit - b'0')))?;
        (value <= Self::MAX.0).then_some(Self(value))
    }

    /// The amount with exactly `decimals` places, and without a dot when there are none: the form in event strings.
    pub fn canonical(self, decimals: u8) -> String {
        let decimals = usize::from(decimals.min(DECIMALS_MAX));
        let digits = format!("{:0>19}", self.0);
        let (whole, fraction) = digits.split_at(digits.len() - usize::from(DECIMALS_MAX));
        if decimals == 0 { whole.to_owned() } else { format!("{whole}.{}", &fraction[..decimals]) }
    }

    /// The sum, unless it does not fit.
    pub(super) fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, unless it is negative.
    pub(super) fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Reads the `dec` of a deploy: digits, at most 18. Leading zeros are allowed.
pub(super) fn parse_decimals(text: &str) -> Option<u8> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|decimals| *decimals <= DECIMALS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: u128 = 1_000_000_000_000_000_000;

    #[test]
    fn amounts_are_kept_in_the_18th_place_whatever_the_decimals_are() {
        for (text, decimals, units) in [
            ("1", 18, ONE),
            ("1", 0, ONE),
            ("0", 0, 0),
            ("1.5", 1, ONE * 3 / 2),
            ("0.000000000000000001", 18, 1),
            ("0007.50", 2, ONE * 15 / 2),
            ("18446744073709551615", 18, Amount::MAX.0),
        ] {
            assert_eq!(Amount::parse(text, decimals), Some(Amount(units)), "{text}");
        }
        assert_eq!(Amount::parse(&format!("{}1", "0".repeat(100_000)), 18), Some(Amount(ONE)));
    }

    #[test]
    fn what_is_no_plain_decimal_number_is_no_amount() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "1.2.3",
            "+1",
            "-1",
            " 1",
            "1 ",
            "1e3",
            "1E3",
            "0x10",
            "1,5",
            "1_000",
            "١",
            "∞",
            "NaN",
            "1.٥",
            "\u{0}1",
            "18446744073709551616",
            "18446744073709551615.1",
            "340282366920938463463374607431768211456",
        ] {
            assert_eq!(Amount::parse(text, 18), None, "{text:?}");
        }
        assert_eq!(Amount::parse(&"9".repeat(1_000_000), 18), None);
    }

    #[test]
    fn more_places_than_the_token_has_are_refused_even_when_they_are_zeros() {
        assert_eq!(Amount::parse("1.0", 0), None);
        assert_eq!(Amount::parse("1.000", 2), None);
        assert_eq!(Amount::parse("1.0000000000000000000", 18), None);
    }

    #[test]
    fn event_strings_show_all_places_of_the_token_and_no_dot_without_places() {
        for (units, decimals, text) in [
            (ONE / 5, 18, "0.200000000000000000"),
            (21_000_000 * ONE, 8, "21000000.00000000"),
            (ONE * 123_456_789 / 100, 2, "1234567.89"),
            (ONE * 123 / 10, 5, "12.30000"),
            (12_345_678 * ONE, 0, "12345678"),
            (0, 3, "0.000"),
            (0, 0, "0"),
        ] {
            assert_eq!(Amount(units).canonical(decimals), text);
        }
    }

    #[test]
    fn decimals_are_digits_up_to_18() {
        for (text, decimals) in [("0", Some(0)), ("18", Some(18)), ("008", Some(8)), ("19", None), ("256", None)] {
            assert_eq!(parse_decimals(text), decimals, "{text}");
        }
        for text in ["", "-1", "+1", "1.0", " 1", "١"] {
            assert_eq!(parse_decimals(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_the_same(units in 0..=Amount::MAX.0, decimals in 0..=18u8) {
            let step = 10u128.pow(u32::from(18 - decimals));
            let amount = Amount(units / step * step);
            prop_assert_eq!(Amount::parse(&amount.canonical(decimals), decimals), Some(amount));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,40}", decimals in 0..=18u8) {
            let _ = Amount::parse(&text, decimals);
            let _ = parse_decimals(&text);
        }
    }
}
