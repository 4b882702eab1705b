//! What is worth how much, as numbers of answers: satoshis are integers, dollars are numbers or `null` (docs/api.md).

use paraffin_amm::UnitPrice;
use serde_json::{Value, json};

use super::MarketMoment;

/// Base units of one whole alkane, by the convention of 8 decimals.
pub(crate) const WHOLE: u128 = 100_000_000;
/// Satoshis of a bitcoin.
const BITCOIN: f64 = 100_000_000.0;

/// What turns satoshis into dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dollars {
    /// Dollars for one bitcoin; `None` while no source reports them.
    pub(crate) for_bitcoin: Option<f64>,
}

impl Dollars {
    /// By the newest price of bitcoin.
    pub(crate) fn now(moment: &MarketMoment<'_>) -> Self {
        Self { for_bitcoin: moment.dollars_for_bitcoin }
    }

    /// An amount in dollars; `null` where it or the price is unknown.
    pub(crate) fn of(self, satoshis: Option<u128>) -> Value {
        json!(self.number(satoshis))
    }

    /// The same as a number.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn number(self, satoshis: Option<u128>) -> Option<f64> {
        Some(satoshis? as f64 * self.for_bitcoin? / BITCOIN)
    }

    /// Dollars for `amount` base units at a price, without rounding to satoshis.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn at(self, price: UnitPrice, amount: u128) -> Option<f64> {
        Some(price.to_f64() * amount as f64 * self.for_bitcoin? / BITCOIN)
    }
}

/// Parts of one as percent.
pub(crate) fn percent(part: Option<f64>) -> Value {
    json!(part.map(|part| part * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_follow_from_satoshis_and_are_null_without_a_price() {
        let dollars = Dollars { for_bitcoin: Some(50_000.0) };
        assert_eq!(dollars.of(Some(200_000_000)), json!(100_000.0));
        assert_eq!(dollars.of(None), Value::Null);
        assert_eq!(Dollars { for_bitcoin: None }.of(Some(1)), Value::Null);
        assert_eq!(dollars.at(UnitPrice::ONE, WHOLE), Some(50_000.0));
        assert_eq!(percent(Some(0.25)), json!(25.0));
        assert_eq!(percent(None), Value::Null);
    }
}
