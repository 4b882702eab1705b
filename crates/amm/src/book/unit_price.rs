//! The price of one base unit of an alkane.

use std::fmt::Write as _;

use ruint::aliases::{U256, U512};

/// Decimal places of a [`UnitPrice`].
const PLACES: usize = 24;
/// The price of 1 satoshi for one base unit: 10^24.
const ONE: U256 = U256::from_limbs([0x1bce_cced_a100_0000, 0xd3c2, 0, 0]);

/// Satoshis for one base unit, times 10^24, rounded down; never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitPrice(U256);

impl UnitPrice {
    /// One satoshi for one base unit: the price of wrapped bitcoin.
    pub const ONE: Self = Self(ONE);

    /// Satoshis for one base unit, given times 10^24; `None` for 0, which is no price.
    pub fn from_scaled(scaled: U256) -> Option<Self> {
        (!scaled.is_zero()).then_some(Self(scaled))
    }

    /// Satoshis for one base unit, times 10^24.
    pub const fn scaled(self) -> U256 {
        self.0
    }

    /// The value of `amount` base units: whole satoshis, rounded down, at most 2^128 - 1.
    pub fn value(self, amount: u128) -> u128 {
        self.value_of(U256::from(amount))
    }

    /// [`Self::value`] of an amount that may exceed 128 bits, like a volume.
    pub fn value_of(self, amount: U256) -> u128 {
        let value = match self.0.checked_mul(amount) {
            Some(product) => u128::try_from(product / ONE).ok(),
            None => u128::try_from(U512::from(self.0) * U512::from(amount) / U512::from(ONE)).ok(),
        };
        value.unwrap_or(u128::MAX)
    }

    /// Satoshis for one base unit, rounded to the nearest double.
    pub fn to_f64(self) -> f64 {
        f64::from(self.0) / f64::from(ONE)
    }

    /// Satoshis for one base unit as a decimal text of at most 24 places, without zeros at its end.
    pub fn to_decimal(self) -> String {
        let (whole, fraction) = self.0.div_rem(ONE);
        let mut text = whole.to_string();
        if !fraction.is_zero() {
            let _ = write!(text, ".{:0>width$}", fraction.to_string(), width = PLACES);
            text.truncate(text.trim_end_matches('0').len());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_ten_to_the_places() {
        assert_eq!(ONE, U256::from(10u64).pow(U256::from(PLACES)));
        assert_eq!(UnitPrice::ONE.to_decimal(), "1");
        assert_eq!(UnitPrice::ONE.value(u128::MAX), u128::MAX);
        assert!((UnitPrice::ONE.to_f64() - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn values_are_rounded_down_and_stop_at_the_greatest_amount() {
        let price = |scaled| UnitPrice::from_scaled(scaled).unwrap();
        assert_eq!(UnitPrice::from_scaled(U256::ZERO), None);
        assert_eq!(price(U256::ONE).value(u128::MAX), u128::MAX / 10u128.pow(24));
        assert_eq!(price(U256::MAX).value(u128::MAX), u128::MAX);
        assert_eq!(price(U256::MAX).value_of(U256::MAX), u128::MAX);
        assert_eq!(price(ONE / U256::from(3)).value(10), 3);
        assert_eq!(price(ONE * U256::from(3) / U256::from(2)).to_decimal(), "1.5");
        assert_eq!(price(U256::ONE).to_decimal(), "0.000000000000000000000001");
    }
}
