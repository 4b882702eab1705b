//! Values of rows, and their forms in the file.

use paraffin_amm::Ratio;
use ruint::aliases::U256;

use crate::column::{DECIMAL_BYTES, DIGITS, PRICE_PLACES};

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Of an optional text.
    Absent,
    Number(u32),
    /// Unix seconds.
    Time(u32),
    Text(String),
    Amount(U256),
    Price(Ratio),
}

impl Cell {
    #[allow(clippy::needless_pass_by_value)] // calls read better with values given away
    pub(crate) fn text(value: impl ToString) -> Self {
        Self::Text(value.to_string())
    }

    pub(crate) fn optional(value: Option<impl ToString>) -> Self {
        value.map_or(Self::Absent, Self::text)
    }

    pub(crate) fn amount(value: u128) -> Self {
        Self::Amount(U256::from(value))
    }
}

/// An amount as a decimal without places; `None` when it has more than 38 digits.
pub(crate) fn decimal(amount: U256) -> Option<[u8; DECIMAL_BYTES]> {
    let bound = U256::from(10_u64).pow(U256::from(DIGITS));
    // Below 10^38, which is below 2^127, so that it has no sign.
    (amount < bound).then(|| amount.to::<u128>().to_be_bytes())
}

/// A price as a decimal of 18 places, rounded half to even as in every answer of the API; `None` from 10^20 on.
pub(crate) fn price(ratio: Ratio) -> Option<[u8; DECIMAL_BYTES]> {
    let text = ratio.to_decimal();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction:0<width$}", width = PRICE_PLACES as usize);
    decimal(digits.parse().ok()?)
}

/// A price as it is.
pub(crate) fn ratio(Ratio { numerator, denominator }: Ratio) -> String {
    format!("{numerator}/{denominator}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: Option<[u8; 16]>) -> Option<i128> {
        bytes.map(i128::from_be_bytes)
    }

    #[test]
    fn an_amount_is_a_decimal_up_to_38_digits() {
        let bound = 10_i128.pow(38);
        assert_eq!(read(decimal(U256::ZERO)), Some(0));
        assert_eq!(read(decimal(U256::from(bound.cast_unsigned() - 1))), Some(bound - 1));
        assert_eq!(decimal(U256::from(bound.cast_unsigned())), None);
        assert_eq!(decimal(U256::from(u128::MAX)), None);
        assert_eq!(decimal(U256::MAX), None);
    }

    #[test]
    fn a_price_has_18_places_and_at_most_20_digits_before_them() {
        let of = |numerator, denominator| read(price(Ratio::new(numerator, denominator).unwrap()));
        let one = 10_i128.pow(18);
        assert_eq!(of(1, 4), Some(one / 4));
        assert_eq!(of(2, 3), Some(666_666_666_666_666_667));
        assert_eq!(of(7, 1), Some(7 * one));
        assert_eq!(of(1, u128::MAX), Some(0));
        let most = 10_u128.pow(20);
        assert_eq!(of(most - 1, 1), Some((10_i128.pow(20) - 1) * one));
        assert_eq!(of(most, 1), None);
        assert_eq!(of(u128::MAX, 1), None);
        assert_eq!(ratio(Ratio::new(u128::MAX, 3).unwrap()), format!("{}/3", u128::MAX));
    }
}
