//! What an amount is worth in dollars, and an alkane with all that there is of it.

use paraffin_alkanes::views::TokenFacts;
use paraffin_primitives::AlkaneId;

use super::worth::held;
use super::{MarketBook, TokenPrice, UnitPrice};
use crate::{Figures, Ratio};

/// Base units of one whole alkane, by the convention of 8 decimal places.
pub const WHOLE: u128 = 100_000_000;
/// Satoshis of a bitcoin.
const BITCOIN: f64 = 100_000_000.0;

/// What makes dollars of satoshis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dollars {
    /// Dollars for one bitcoin; `None` while no source reports them.
    pub for_bitcoin: Option<f64>,
}

impl Dollars {
    /// Satoshis in dollars; `None` where they or the price of bitcoin are unknown.
    #[expect(clippy::cast_precision_loss, reason = "an amount for people")]
    pub fn of(self, satoshis: Option<u128>) -> Option<f64> {
        Some(satoshis? as f64 * self.for_bitcoin? / BITCOIN)
    }

    /// Dollars for `amount` base units at a price, without rounding to satoshis.
    #[expect(clippy::cast_precision_loss, reason = "an amount for people")]
    pub fn at(self, price: UnitPrice, amount: u128) -> Option<f64> {
        Some(price.to_f64() * amount as f64 * self.for_bitcoin? / BITCOIN)
    }
}

/// What an alkane is worth, satoshis; `None` where it has no price.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenWorth {
    /// Its price.
    pub price: Option<TokenPrice>,
    /// Of the supply that there is; `None` also when the contract does not report it.
    pub market_cap: Option<u128>,
    /// Of all that can be minted; `None` also when that has no limit.
    pub fully_diluted: Option<u128>,
    /// Trade in all pools: of the newest 24, 168 and 720 hours, and of all time.
    pub volumes: [Option<u128>; 4],
}

impl MarketBook {
    /// What amounts of two alkanes are worth, each and together, satoshis, as [`PoolWorth::tvl`](super::PoolWorth::tvl); `None` where
    /// one has no price.
    pub fn value(&self, tokens: [AlkaneId; 2], amounts: [u128; 2]) -> ([Option<u128>; 2], Option<u128>) {
        held(tokens, amounts, &self.prices)
    }

    /// What an alkane is worth whose contract reports these facts.
    pub fn token_worth(&self, id: AlkaneId, facts: &TokenFacts) -> TokenWorth {
        let price = self.price(id);
        let worth = |amount: Option<u128>| Some(price?.price.value(amount?));
        TokenWorth {
            price,
            market_cap: worth(facts.total_supply),
            fully_diluted: worth(facts.supply_max()),
            volumes: self.volumes_of_token(id),
        }
    }
}

impl Figures {
    /// Change of the price since the last trade before the newest 24 hours, in parts of one; `None` when there was none.
    pub fn price_change_day(&self) -> Option<f64> {
        change(self.price, self.price_a_day_ago)
    }

    /// The same for 168 hours.
    pub fn price_change_week(&self) -> Option<f64> {
        change(self.price, self.price_a_week_ago)
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn change(now: Option<Ratio>, then: Option<Ratio>) -> Option<f64> {
    let value = |ratio: Ratio| ratio.numerator as f64 / ratio.denominator as f64;
    Some(value(now?) / value(then?) - 1.0)
}

#[cfg(test)]
mod tests {
    use paraffin_alkanes::views::Mints;

    use super::*;
    use crate::book::fake::{FACTORY, MarketFixture, WRAPPED, id};

    #[test]
    fn dollars_follow_from_satoshis_and_are_unknown_without_a_price() {
        let dollars = Dollars { for_bitcoin: Some(50_000.0) };
        assert_eq!(dollars.of(Some(200_000_000)), Some(100_000.0));
        assert_eq!((dollars.of(None), Dollars { for_bitcoin: None }.of(Some(1))), (None, None));
        assert_eq!(dollars.at(UnitPrice::ONE, WHOLE), Some(50_000.0));
    }

    #[test]
    fn a_price_that_doubled_has_changed_by_one() {
        let figures = Figures { price: Ratio::new(4, 1), price_a_day_ago: Ratio::new(2, 1), ..Figures::default() };
        assert_eq!((figures.price_change_day(), figures.price_change_week()), (Some(1.0), None));
    }

    #[test]
    fn a_token_is_worth_its_supply_at_its_price() {
        let mut town = MarketFixture::new();
        town.block(1_700_000_000, |_| {});
        town.block(1_700_000_600, |block| _ = block.create(FACTORY, 100, [(id(1), 4_000_000), (WRAPPED, 1_000_000)]));
        let book = town.book(None);
        let mints = Some(Mints { cap: 10, minted: 5, value_per_mint: 100 });
        let facts = TokenFacts { total_supply: Some(800), mints, ..TokenFacts::default() };
        let worth = book.token_worth(id(1), &facts);
        assert_eq!((worth.price, worth.market_cap, worth.fully_diluted), (book.price(id(1)), Some(200), Some(325)));
        let values = book.value([id(1), WRAPPED], [8_000_000, 5]);
        assert_eq!(values, ([Some(1_000_000), Some(5)], Some(1_000_005)), "at most the depth behind the price");
        let unpriced = book.token_worth(id(2), &facts);
        assert_eq!((unpriced.price, unpriced.market_cap, unpriced.volumes), (None, None, [None; 4]));
        assert_eq!(book.token_worth(id(1), &TokenFacts::default()).fully_diluted, None);
    }
}
