//! Exact fractions, and how they are rounded when they leave (docs/forex.md, "Rounding").
//!
//! How large they get, in bits: a number of a feed has at most 24 digits (80); a rate against the dollar is one number of a feed over
//! another, each with a unit of at most a million (180); the mean of two such rates 361; its distance from a third 541; the mean of two
//! distances 1,083; two of these compared 1,624. A cross rate of two means has 722; times an amount of 64 digits and ten to the twelfth 975. All
//! stay below 2,048.

use std::cmp::Ordering;

use ruint::Uint;

use crate::decimal::Decimal;

type Wide = Uint<2048, 32>;

/// Significant digits of a rate.
const RATE_DIGITS: usize = 12;
/// Decimal places of a converted amount.
const AMOUNT_PLACES: usize = 12;

/// Largest part of a rate against the dollar, bits.
const RATE_BITS_MAX: usize = 180;

/// A non-negative fraction; the denominator is never zero.
#[derive(Clone, Copy)]
pub(crate) struct Ratio {
    numerator: Wide,
    denominator: Wide,
}

fn product(left: Wide, right: Wide) -> Wide {
    left.checked_mul(right).expect("fractions stay below 2048 bits: the bounds stand at the top of this file")
}

fn sum(left: Wide, right: Wide) -> Wide {
    left.checked_add(right).expect("fractions stay below 2048 bits: the bounds stand at the top of this file")
}

fn ten_to_the(exponent: usize) -> Wide {
    Wide::from(10)
        .checked_pow(Wide::from(exponent))
        .expect("exponents are at most a few hundred: digits of a fraction of 722 bits")
}

impl Ratio {
    pub(crate) const ONE: Self = Self { numerator: Wide::ONE, denominator: Wide::ONE };

    /// The exact value of a decimal number.
    pub(crate) fn of(decimal: Decimal) -> Self {
        Self { numerator: Wide::from(decimal.mantissa), denominator: ten_to_the(decimal.scale as usize) }
    }

    /// A whole number.
    pub(crate) fn whole(number: u32) -> Self {
        Self { numerator: Wide::from(number), denominator: Wide::ONE }
    }

    /// Both parts in decimal digits, for the history.
    pub(crate) fn parts(&self) -> [String; 2] {
        [self.numerator.to_string(), self.denominator.to_string()]
    }

    /// What [`Ratio::parts`] wrote of a rate against the dollar; `None` for zero and for what is larger than such a rate gets.
    pub(crate) fn of_parts(parts: &[String; 2]) -> Option<Self> {
        let part = |text: &String| {
            let is_short = text.len() <= 55 && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = is_short.then(|| Wide::from_str_radix(text, 10).ok()).flatten()?;
            (!number.is_zero() && number.bit_len() <= RATE_BITS_MAX).then_some(number)
        };
        Some(Self { numerator: part(&parts[0])?, denominator: part(&parts[1])? })
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// One over it; `None` for zero.
    pub(crate) fn inverse(&self) -> Option<Self> {
        (!self.is_zero()).then_some(Self { numerator: self.denominator, denominator: self.numerator })
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self {
            numerator: product(self.numerator, other.numerator),
            denominator: product(self.denominator, other.denominator),
        }
    }

    /// `None` when `other` is zero.
    pub(crate) fn over(&self, other: &Self) -> Option<Self> {
        Some(self.times(&other.inverse()?))
    }

    /// Half of the sum.
    pub(crate) fn mean(&self, other: &Self) -> Self {
        let numerator = sum(product(self.numerator, other.denominator), product(other.numerator, self.denominator));
        let denominator = product(product(self.denominator, other.denominator), Wide::from(2));
        Self { numerator, denominator }
    }

    /// How far apart two fractions are.
    pub(crate) fn distance(&self, other: &Self) -> Self {
        let (left, right) = (product(self.numerator, other.denominator), product(other.numerator, self.denominator));
        Self { numerator: left.abs_diff(right), denominator: product(self.denominator, other.denominator) }
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        product(self.numerator, other.denominator).cmp(&product(other.numerator, self.denominator))
    }

    /// Rounded half-even to 12 significant digits, without trailing zeros.
    pub(crate) fn to_rate(self) -> String {
        if self.is_zero() {
            return "0".to_owned();
        }
        let whole = self.numerator / self.denominator;
        if whole.is_zero() {
            let ten = Wide::from(10);
            let mut shifted = self.numerator;
            let mut zeros = 0;
            while product(shifted, ten) < self.denominator {
                shifted = product(shifted, ten);
                zeros += 1;
            }
            return self.to_places(zeros + RATE_DIGITS);
        }
        let digits = whole.to_string().len();
        match RATE_DIGITS.checked_sub(digits) {
            Some(places) => self.to_places(places),
            None => {
                let unit = ten_to_the(digits - RATE_DIGITS);
                let rounded = half_even(self.numerator, product(self.denominator, unit));
                product(rounded, unit).to_string()
            }
        }
    }

    /// Rounded half-even to 12 decimal places, without trailing zeros.
    pub(crate) fn to_amount(self) -> String {
        self.to_places(AMOUNT_PLACES)
    }

    fn to_places(self, places: usize) -> String {
        let scaled = half_even(product(self.numerator, ten_to_the(places)), self.denominator);
        let digits = format!("{:0>width$}", scaled.to_string(), width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let fraction = fraction.trim_end_matches('0');
        if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
    }
}

/// Eq and debugging by value, for tests and for comparing what was learnt.
impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

impl std::fmt::Debug for Ratio {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", self.numerator, self.denominator)
    }
}

/// The whole number nearest to a fraction, the even one of two.
fn half_even(numerator: Wide, denominator: Wide) -> Wide {
    let (quotient, rest) = numerator.div_rem(denominator);
    let is_up = match product(rest, Wide::from(2)).cmp(&denominator) {
        Ordering::Less => false,
        Ordering::Greater => true,
        Ordering::Equal => quotient.bit(0),
    };
    if is_up { sum(quotient, Wide::ONE) } else { quotient }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decimal::{AMOUNT_DIGITS_MAX, RATE_DIGITS_MAX};

    fn ratio(text: &str) -> Ratio {
        Ratio::of(Decimal::parse(text, AMOUNT_DIGITS_MAX).unwrap())
    }

    fn over(left: &str, right: &str) -> Ratio {
        ratio(left).over(&ratio(right)).unwrap()
    }

    /// row FX01
    #[test]
    fn a_rate_has_twelve_significant_digits_rounded_half_even() {
        for (value, expected) in [
            (over("1", "3"), "0.333333333333"),
            (over("2", "3"), "0.666666666667"),
            (over("2", "300000"), "0.00000666666666667"),
            (over("200000", "3"), "66666.6666667"),
            (over("2000000000000000", "3"), "666666666667000"),
            (ratio("1"), "1"),
            (ratio("0"), "0"),
            (ratio("25914.61415083"), "25914.6141508"),
            (ratio("154.3240"), "154.324"),
            (ratio("100"), "100"),
            (ratio("0.1"), "0.1"),
            // A half goes to the even neighbour.
            (ratio("1.000000000005"), "1"),
            (ratio("1.000000000015"), "1.00000000002"),
            (ratio("1.000000000025"), "1.00000000002"),
            (ratio("1.0000000000250000001"), "1.00000000003"),
            (ratio("0.1000000000005"), "0.1"),
            (ratio("0.1000000000015"), "0.100000000002"),
            // Rounding carries into the next digit.
            (ratio("9.999999999999"), "10"),
            (ratio("0.9999999999999"), "1"),
            (ratio("9999999999995"), "10000000000000"),
            (ratio("9999999999985"), "9999999999980"),
        ] {
            assert_eq!(value.to_rate(), expected);
        }
    }

    #[test]
    fn an_amount_has_twelve_places_rounded_half_even() {
        for (value, expected) in [
            (over("2", "3"), "0.666666666667"),
            (over("2000000", "3"), "666666.666666666667"),
            (ratio("0.0000000000005"), "0"),
            (ratio("0.0000000000015"), "0.000000000002"),
            (ratio("0.0000000000025"), "0.000000000002"),
            (ratio("0.0000000000004999"), "0"),
            (ratio("1e63"), &format!("1{}", "0".repeat(63))),
        ] {
            assert_eq!(value.to_amount(), expected);
        }
    }

    #[test]
    fn the_largest_fractions_fit() {
        let great =
            Ratio::of(Decimal::parse(&"9".repeat(24), RATE_DIGITS_MAX).unwrap()).times(&Ratio::whole(1_000_000));
        let small =
            Ratio::of(Decimal::parse("1e-24", RATE_DIGITS_MAX).unwrap()).over(&Ratio::whole(1_000_000)).unwrap();
        let odd = Ratio::of(Decimal::parse(&format!("0.{}", "7".repeat(24)), RATE_DIGITS_MAX).unwrap());
        let units = Ratio::whole(999_983);
        let rates: Vec<Ratio> =
            [great.over(&small), small.over(&great), odd.times(&units).over(&odd.over(&units).unwrap())]
                .into_iter()
                .flatten()
                .collect();
        for left in &rates {
            for right in &rates {
                let mean = left.mean(right);
                let distances: Vec<Ratio> = rates.iter().map(|rate| rate.distance(&mean)).collect();
                let spread = distances[0].mean(&distances[1]).times(&Ratio::whole(10));
                assert!(
                    distances.iter().all(|distance| distance.compare(&spread) != Ordering::Less || !spread.is_zero())
                );
                let cross = mean.over(&left.mean(left)).unwrap();
                assert!(!cross.to_rate().is_empty());
                assert!(!cross.times(&ratio(&"9".repeat(64))).to_amount().is_empty());
                assert!(!cross.times(&ratio(&format!("0.{}", "9".repeat(64)))).to_amount().is_empty());
            }
        }
    }

    proptest! {
        /// What is rounded is nearer than half a unit of its last place to the exact value.
        #[test]
        fn rounding_never_errs_by_more_than_half_a_unit(left in 1_u64.., right in 1_u64..) {
            let exact = over(&left.to_string(), &right.to_string());
            let text = exact.to_rate();
            let significant = text.replace('.', "").trim_matches('0').len();
            prop_assert!(significant <= RATE_DIGITS, "{}", text);
            let rounded = ratio(&text);
            // Half a unit of the twelfth digit is at most 5 parts in 10^12 of the value.
            let bound = exact.times(&over("5", "1000000000000"));
            prop_assert!(rounded.distance(&exact).compare(&bound) != Ordering::Greater, "{}", text);
            let amount = ratio(&exact.to_amount());
            prop_assert!(amount.distance(&exact).compare(&ratio("0.0000000000005")) != Ordering::Greater);
        }
    }
}
