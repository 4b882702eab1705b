use std::fmt;
use std::str::FromStr;

/// An amount of token base units; never narrowed to 64 bits and never a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Amount(pub u128);

/// The text is not a decimal integer of 0 to 2^128-1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an amount is a decimal integer from 0 to 340282366920938463463374607431768211455")]
pub struct ParseAmountError;

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Amount {
    type Err = ParseAmountError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ParseAmountError);
        }
        text.parse().map(Self).map_err(|_| ParseAmountError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_the_whole_128_bit_range_as_decimal_text() {
        let greatest = Amount(u128::MAX);
        assert_eq!(greatest.to_string().parse(), Ok(greatest));
        for text in ["", "-1", "+1", "1.0", "1e3", "340282366920938463463374607431768211456"] {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }
}
