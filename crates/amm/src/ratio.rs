//! Prices: exact ratios of two amounts.

use std::cmp::Ordering;
use std::fmt::Write as _;

use ruint::aliases::{U256, U512};

/// Decimal places of a rendered price.
const PLACES: u32 = 18;
/// Most decimal places that are ever rendered: 10^60 times 2^128 fits 512 bits.
const PLACES_MAX: u32 = 60;

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
        decimal(whole.to_string(), &fraction.to_string(), PLACES)
    }

    /// The same with at most `places` places; more than 60 are taken as 60.
    pub fn to_decimal_places(self, places: u32) -> String {
        let places = places.min(PLACES_MAX);
        let scale = U512::from(10u64).pow(U512::from(places));
        let denominator = U512::from(self.denominator);
        let (mut units, rest) = (U512::from(self.numerator) * scale).div_rem(denominator);
        let doubled = rest << 1;
        if doubled > denominator || (doubled == denominator && units.bit(0)) {
            units += U512::ONE;
        }
        let (whole, fraction) = units.div_rem(scale);
        decimal(whole.to_string(), &fraction.to_string(), places)
    }
}

/// Digits before the point, and those of so many places behind it, without zeros at the end.
fn decimal(mut whole: String, fraction: &str, places: u32) -> String {
    if fraction != "0" {
        let _ = write!(whole, ".{fraction:0>width$}", width = places as usize);
        whole.truncate(whole.trim_end_matches('0').len());
    }
    whole
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
    fn more_places_show_the_smallest_prices() {
        let places =
            |numerator, denominator, places| Ratio::new(numerator, denominator).unwrap().to_decimal_places(places);
        for (numerator, denominator) in [(1, 4), (1, 3), (2, 3), (1_000, 10), (3, 2 * 10u128.pow(18)), (u128::MAX, 7)] {
            assert_eq!(places(numerator, denominator, 18), text(numerator, denominator));
        }
        assert_eq!(places(1, u128::MAX, 50), "0.00000000000000000000000000000000000000293873587706");
        assert_eq!(places(1, 3, 99), format!("0.{}", "3".repeat(60)));
        assert_eq!(places(5, 2, 0), "2");
        assert_eq!(places(u128::MAX, 1, 60), u128::MAX.to_string());
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
