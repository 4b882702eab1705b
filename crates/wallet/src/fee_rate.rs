//! Feerates of transactions.

use std::fmt;
use std::str::FromStr;

/// A feerate in satoshis per 1,000 virtual bytes; written in satoshis per virtual byte with up to three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeeRate(u64);

/// The text is no feerate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a feerate is a decimal number of satoshis per virtual byte from 0.001 to 100000 with at most three decimals")]
pub struct ParseFeeRateError;

impl FeeRate {
    /// The highest feerate that is taken: 100,000 satoshis per virtual byte.
    pub const MAX: Self = Self(100_000_000);

    /// A feerate in satoshis per 1,000 virtual bytes; `None` for 0 and above [`FeeRate::MAX`].
    pub const fn from_sats_per_kvb(sats: u64) -> Option<Self> {
        if sats == 0 || sats > Self::MAX.0 { None } else { Some(Self(sats)) }
    }

    /// Satoshis per 1,000 virtual bytes.
    pub const fn sats_per_kvb(self) -> u64 {
        self.0
    }

    /// The fee in satoshis for a transaction of `weight` weight units, rounded up.
    pub const fn fee(self, weight: u64) -> u64 {
        // Weights stay below 4,000,000, so the product fits.
        (weight.div_ceil(4) * self.0).div_ceil(1000)
    }

    /// The feerate that a fee comes to, rounded down.
    pub const fn of(fee: u64, weight: u64) -> Self {
        let vsize = weight.div_ceil(4);
        match fee.saturating_mul(1000).checked_div(vsize) {
            Some(sats) => Self(sats),
            None => Self(0),
        }
    }
}

impl fmt::Display for FeeRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, thousandths) = (self.0 / 1000, self.0 % 1000);
        let text = format!("{whole}.{thousandths:03}");
        formatter.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl FromStr for FeeRate {
    type Err = ParseFeeRateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 6 || decimals.len() > 3 || !is_digits(whole) || !is_digits(decimals) {
            return Err(ParseFeeRateError);
        }
        let whole: u64 = whole.parse().map_err(|_| ParseFeeRateError)?;
        let decimals: u64 = format!("{decimals:0<3}").parse().map_err(|_| ParseFeeRateError)?;
        Self::from_sats_per_kvb(whole * 1000 + decimals).ok_or(ParseFeeRateError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feerates_are_read_exactly_and_nonsense_is_refused() {
        for (text, sats) in [("1", 1000), ("1.5", 1500), ("0.001", 1), ("100000", 100_000_000), ("12.345", 12_345)] {
            assert_eq!(text.parse::<FeeRate>().unwrap().sats_per_kvb(), sats);
            assert_eq!(text.parse::<FeeRate>().unwrap().to_string(), text);
        }
        for text in ["", "0", "0.0", "-1", "+1", "1e3", ".5", "1.2345", "100000.001", "99999999999999999999", "NaN"] {
            assert!(text.parse::<FeeRate>().is_err(), "{text}");
        }
    }

    #[test]
    fn fees_are_rounded_up() {
        let rate: FeeRate = "1.001".parse().unwrap();
        assert_eq!(rate.fee(4), 2);
        assert_eq!(rate.fee(400), 101);
        assert_eq!(FeeRate::of(101, 400), FeeRate(1010));
    }
}
