//! Prices: exact ratios of two amounts.

use std::cmp::Ordering;
use std::fmt::Write as _;

use ruint::aliases::U256;

/// Decimal places of a rendered price.
const PLACES: u32 = 18;

/// A ratio of two amounts, both above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    /// Above the line.
    pub numerator: u128,
    /// Below the line.
    pub denominator: u128,
}

impl Ratio {
    /// The ratio of two amounts; `None` when one of them is 0, which prices nothing.
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        (numerator != 0 && denominator != 0).then_some(Self { numerator, denominator })
    }

    /// The price seen from the other side.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { numerator: self.denominator, denominator: self.numerator }
    }

    /// Compares the values exactly.
    pub fn compare(&self, other: &Self) -> Ordering {
        let left = U256::from(self.numerator) * U256::from(other.denominator);
        left.cmp(&(U256::from(other.numerator) * U256::from(self.denominator)))
    }

    /// The decimal text with at most 18 places, rounded half to even, without zeros at its end.
    pub fn to_decimal(self) -> String {
        let scale = U256::from(10u64).pow(U256::from(PLACES));
        let denominator = U256::from(self.denominator);
        // At most 128 + 60 bits.
        let (mut units, rest) = (U256::from(self.numerator) * scale).div_rem(denominator);
        let doubled = rest << 1;
        if doubled > denominator || (doubled == denominator && units.bit(0)) {
            units += U256::ONE;
        }
        let (whole, fraction) = units.div_rem(scale);
        let mut text = whole.to_string();
        if !fraction.is_zero() {
            let _ = write!(text, ".{:0>18}", fraction.to_string());
            text.truncate(text.trim_end_matches('0').len());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(numerator: u128, denominator: u128) -> String {
        Ratio::new(numerator, denominator).unwrap().to_decimal()
    }

    #[test]
    fn decimals_are_rounded_half_to_even_at_the_eighteenth_place() {
        assert_eq!(text(1, 4), "0.25");
        assert_eq!(text(1, 3), "0.333333333333333333");
        assert_eq!(text(2, 3), "0.666666666666666667");
        assert_eq!(text(1_000, 10), "100");
        let ten18 = 10u128.pow(18);
        assert_eq!(text(1, 2 * ten18), "0");
        assert_eq!(text(3, 2 * ten18), "0.000000000000000002");
        assert_eq!(text(5, 2 * ten18), "0.000000000000000002");
        assert_eq!(text(u128::MAX, 1), u128::MAX.to_string());
        assert_eq!(text(1, u128::MAX), "0");
    }

    #[test]
    fn ratios_compare_by_value_at_the_ends_of_the_range() {
        let ratio = |a, b| Ratio::new(a, b).unwrap();
        assert_eq!(ratio(2, 4).compare(&ratio(1, 2)), Ordering::Equal);
        assert_eq!(ratio(u128::MAX, u128::MAX - 1).compare(&ratio(1, 1)), Ordering::Greater);
        assert_eq!(ratio(1, u128::MAX).compare(&ratio(1, u128::MAX - 1)), Ordering::Less);
        assert_eq!(Ratio::new(0, 1), None);
        assert_eq!(Ratio::new(1, 0), None);
    }
}
