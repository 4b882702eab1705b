//! Decimal numbers as feeds and callers write them, read digit by digit.

use ruint::aliases::U256;

/// Longest text that is looked at, bytes.
const TEXT_LEN_MAX: usize = 256;
/// Most digits of a number that a feed reports, before and after the point together.
pub(crate) const RATE_DIGITS_MAX: u32 = 24;
/// Most digits of an amount (docs/forex.md).
pub(crate) const AMOUNT_DIGITS_MAX: u32 = 64;

/// A non-negative number: `mantissa` divided by ten to the `scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) mantissa: U256,
    pub(crate) scale: u32,
}

/// A text is not a number that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecimalError {
    NotANumber,
    Negative,
    TooLong,
}

impl Decimal {
    /// Digits with at most one point and an exponent, as JSON writes a number; leading zeros are passed over. `digits_max`, at most
    /// 64, bounds what stands before and after the point together once the exponent is applied.
    pub(crate) fn parse(text: &str, digits_max: u32) -> Result<Self, DecimalError> {
        if text.len() > TEXT_LEN_MAX {
            return Err(DecimalError::TooLong);
        }
        match text.strip_prefix('-') {
            None => Self::unsigned(text, digits_max),
            Some(rest) => match Self::unsigned(rest, digits_max) {
                Err(DecimalError::NotANumber) => Err(DecimalError::NotANumber),
                _ => Err(DecimalError::Negative),
            },
        }
    }

    fn unsigned(text: &str, digits_max: u32) -> Result<Self, DecimalError> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, self::exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) if !fraction.is_empty() => (whole, fraction),
            Some(_) => return Err(DecimalError::NotANumber),
            None => (number, ""),
        };
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
            return Err(DecimalError::NotANumber);
        }
        let joined = format!("{whole}{fraction}");
        let digits = joined.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Self { mantissa: U256::ZERO, scale: 0 });
        }
        // Lengths are at most 256 and the exponent is at most a million.
        let length = |part: &str| i64::try_from(part.len()).unwrap_or(i64::MAX);
        let dropped = length(digits) - length(significant);
        let scale = length(fraction) - exponent - dropped;
        let before = (length(significant) - scale).max(0);
        if before + scale.max(0) > i64::from(digits_max) {
            return Err(DecimalError::TooLong);
        }
        // At most 64 digits, which 213 bits hold.
        let ten = U256::from(10);
        let mantissa = significant.bytes().fold(U256::ZERO, |sum, digit| sum * ten + U256::from(digit - b'0'));
        let mantissa = (scale..0).fold(mantissa, |mantissa, _| mantissa * ten);
        Ok(Self { mantissa, scale: u32::try_from(scale.max(0)).unwrap_or_default() })
    }

    /// A number given as mantissa and scale; `None` when it has more digits than a feed's number may have.
    pub(crate) fn of_parts(mantissa: U256, scale: u32) -> Option<Self> {
        let bound = U256::from(10).pow(U256::from(RATE_DIGITS_MAX));
        (scale <= RATE_DIGITS_MAX && mantissa < bound).then_some(Self { mantissa, scale })
    }
}

fn exponent(text: &str) -> Result<i64, DecimalError> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(DecimalError::NotANumber);
    }
    // A longer exponent is not a meaningful number.
    let digits = digits.trim_start_matches('0');
    let value: i64 = match digits.len() {
        0 => 0,
        1..=6 => digits.parse().map_err(|_| DecimalError::NotANumber)?,
        _ => return Err(DecimalError::TooLong),
    };
    Ok(if text.starts_with('-') { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mantissa: u64, scale: u32) -> Decimal {
        Decimal { mantissa: U256::from(mantissa), scale }
    }

    #[test]
    fn numbers_are_read_exactly_as_written() {
        for (text, expected) in [
            ("0", of(0, 0)),
            ("0.000", of(0, 0)),
            ("0e5", of(0, 0)),
            ("007.50", of(75, 1)),
            ("100", of(100, 0)),
            ("1.5e3", of(1_500, 0)),
            ("1.5E-3", of(15, 4)),
            ("1e+2", of(100, 0)),
            ("0.1", of(1, 1)),
            ("123456.789", of(123_456_789, 3)),
            ("10e-1", of(1, 0)),
        ] {
            assert_eq!(Decimal::parse(text, 24), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for bad in [
            "", ".", ".5", "5.", "1,5", "1.2.3", "NaN", "Infinity", "inf", "+1", " 1", "1 ", "1e", "e1", "0x1", "١",
            "--1", "1e1.5", "-",
        ] {
            assert_eq!(Decimal::parse(bad, 24), Err(DecimalError::NotANumber), "{bad}");
        }
        for bad in ["-1", "-0", "-0.0", "-1e-5"] {
            assert_eq!(Decimal::parse(bad, 24), Err(DecimalError::Negative), "{bad}");
        }
    }

    #[test]
    fn digits_are_counted_on_both_sides_of_the_point() {
        let (nines, small) = ("9".repeat(64), format!("0.{}1", "0".repeat(63)));
        for good in [nines.as_str(), "1e63", "1e-64", &small, &format!("{}{nines}", "0".repeat(100))] {
            assert!(Decimal::parse(good, 64).is_ok(), "{good}");
        }
        let (long, fine) = ("9".repeat(65), format!("1.{}1", "0".repeat(63)));
        for bad in [long.as_str(), "1e64", "1e80", "1e-65", &fine, "1e99999999999999999999", &"0".repeat(257)] {
            assert_eq!(Decimal::parse(bad, 64), Err(DecimalError::TooLong), "{bad}");
        }
    }
}
