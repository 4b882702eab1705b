//! The bitcoin price of the pool index, for an instance without an EVM endpoint (docs/configuration.md, `[prices]`).

use paraffin_cryptoswap::{Candle, Identity, IndexError, PoolIndex, PoolRecord, Slot};
use paraffin_hosted::UnknownKey;
use paraffin_prices::{BitcoinPrices, Clock, PricePoint, PriceReport, UsdPrice};
use paraffin_primitives::AlkaneId;
use paraffin_store::Store;
use ruint::aliases::U256;

/// Width of the candles whose ends are the points of the history, seconds.
const HOUR: u32 = 3_600;
/// Seconds of a day.
const DAY: u64 = 86_400;
/// How far back the point before a moment is looked for, seconds.
const LOOK_BACK: u64 = 400 * DAY;
/// Most candles read at once.
const CANDLES_MAX: u32 = 20_000;
/// Greatest accepted price: a billion US dollars.
const PRICE_MAX: UsdPrice = UsdPrice(UsdPrice::DOLLAR.0 * 1_000_000_000);

/// Prices of one pool of wrapped bitcoin and a dollar token, as of the newest indexed block. The newest is the moving average that the pool
/// keeps, which no single trade can move far; those of the past are what the last trade of each hour paid.
pub(super) struct PoolIndexPrices {
    pub(super) store: Store,
    pub(super) pool: AlkaneId,
    /// The coin of the pool that is bitcoin.
    pub(super) bitcoin: AlkaneId,
    /// Whether the contract index is filled from an indexer program, which may write what cannot be read.
    pub(super) program_serves: bool,
    /// Age from which on a price is reported as stale, seconds.
    pub(super) stale_seconds: u64,
    pub(super) clock: Clock,
}

impl PoolIndexPrices {
    /// Reads from the newest block; `None` where there is nothing to read.
    fn read<T>(&self, look: impl FnOnce(&PoolIndex, &PoolRecord) -> Result<Option<T>, IndexError>) -> Option<T> {
        let snapshot = self.store.snapshot();
        if self.program_serves && !matches!(UnknownKey::first(&snapshot), Ok(None)) {
            return None;
        }
        let read = || {
            let Some(height) = PoolIndex::newest(&snapshot)? else { return Ok(None) };
            let index = PoolIndex::at(&snapshot, height);
            match index.pool(self.pool)? {
                Some(record) => look(&index, &record),
                None => Ok(None),
            }
        };
        read().unwrap_or_else(|error: IndexError| {
            tracing::warn!(%error, "the pool index cannot be read for the bitcoin price");
            None
        })
    }

    fn newest(&self) -> Option<PricePoint> {
        self.read(|index, record| {
            let Some(state) = index.state(self.pool)? else { return Ok(None) };
            let price_q = record.identity.price_q(state.number(Slot::PriceOracle));
            let price = price_q.and_then(|price_q| usd(&record.identity, self.bitcoin, price_q));
            Ok(price.map(|price| PricePoint { time: u64::from(state.time), price }))
        })
    }

    /// The candles whose hours end within a span, ascending.
    fn candles(&self, from: u64, to: u64) -> Vec<(Candle, Identity)> {
        let hour = u64::from(HOUR);
        let Some(to) = to.checked_sub(hour - 1) else { return Vec::new() };
        let span = (from.saturating_sub(hour - 1), to);
        let found = self.read(|index, record| {
            let mut candles = index.candles(self.pool, HOUR, span, 0, CANDLES_MAX)?.items;
            candles.sort_by_key(|candle| candle.start);
            Ok(Some(candles.into_iter().map(|candle| (candle, record.identity)).collect()))
        });
        found.unwrap_or_default()
    }

    fn points(&self, from: u64, to: u64) -> Vec<PricePoint> {
        let candles = self.candles(from, to).into_iter();
        let point = |(candle, identity): (Candle, Identity)| {
            let time = candle.start + u64::from(HOUR) - 1;
            Some(PricePoint { time, price: usd(&identity, self.bitcoin, candle.close)? })
        };
        candles.filter_map(point).filter(|point| (from..=to).contains(&point.time)).collect()
    }
}

/// US dollars for one bitcoin where `price_q` is token 1 for token 0 in base units, over 10^18. `None` where neither token is bitcoin, and
/// outside 1 to 10^9 US dollars.
fn usd(identity: &Identity, bitcoin: AlkaneId, price_q: U256) -> Option<UsdPrice> {
    let tokens = identity.tokens();
    let precisions = identity.to_tokens(identity.precisions);
    let place = tokens.iter().position(|token| *token == bitcoin)?;
    let (of_bitcoin, of_usd) = (precisions[place], precisions[1 - place]);
    let power = |exponent: u64| U256::from(10).pow(U256::from(exponent));
    let (numerator, denominator) = if place == 0 {
        (price_q.checked_mul(of_usd)?, of_bitcoin.checked_mul(power(2))?)
    } else {
        (power(34).checked_mul(of_usd)?, price_q.checked_mul(of_bitcoin)?)
    };
    let price = UsdPrice(u128::try_from(numerator.checked_div(denominator)?).ok()?);
    (UsdPrice::DOLLAR..=PRICE_MAX).contains(&price).then_some(price)
}

impl BitcoinPrices for PoolIndexPrices {
    fn current(&self) -> Option<PriceReport> {
        let newest = self.newest()?;
        let is_stale = (self.clock)().saturating_sub(newest.time) > self.stale_seconds;
        Some(PriceReport { newest, source: format!("pool-index:{}", self.pool), is_stale })
    }

    fn at(&self, time: u64) -> Option<PricePoint> {
        let newest = self.newest()?;
        if newest.time <= time {
            return Some(newest);
        }
        self.points(time.saturating_sub(LOOK_BACK), time).pop()
    }

    fn range(&self, from: u64, to: u64) -> Vec<PricePoint> {
        let Some(newest) = self.newest() else { return Vec::new() };
        let mut points = self.points(from, to.min(newest.time.saturating_sub(1)));
        points.extend(Some(newest).filter(|newest| (from..=to).contains(&newest.time)));
        points
    }

    fn volume_day(&self) -> Option<f64> {
        self.volume_day_at(self.newest()?.time)
    }

    /// The whole hours that end within the day; every trade moves both tokens, so that of the dollar is all of it.
    fn volume_day_at(&self, time: u64) -> Option<f64> {
        let from = time.checked_sub(DAY)?;
        let mut cents = 0_u128;
        for (candle, identity) in self.candles(from + 1, time) {
            let usd = identity.tokens().iter().position(|token| *token != self.bitcoin)?;
            let precision = identity.to_tokens(identity.precisions)[usd];
            let traded = candle.volumes[usd].checked_mul(precision)? / U256::from(10_u64.pow(16));
            cents = cents.checked_add(u128::try_from(traded).ok()?)?;
        }
        // A decimal number always parses, and rounds once.
        format!("{}.{:02}", cents / 100, cents % 100).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(block: u128, tx: u128) -> AlkaneId {
        AlkaneId { block, tx }
    }

    /// row RB12
    #[test]
    fn the_price_of_the_pool_is_dollars_for_one_bitcoin_whichever_token_comes_first() {
        let bitcoin = id(32, 0);
        let eight = U256::from(10_u64.pow(10));
        // 4:1776 before 32:0: bitcoin for a dollar, over 10^18; 65,536 dollars are 2^-16 bitcoin each.
        let seed = Identity { number: 0, coins: [bitcoin, id(4, 1776)], precisions: [eight; 2] };
        let price_q = U256::from(10_u64.pow(18) >> 16);
        let price = usd(&seed, bitcoin, price_q).unwrap();
        assert!((price.to_f64() - 65_536.0).abs() < 0.000_001, "{price:?}");
        // A dollar token of 6 decimals that comes after bitcoin.
        let six = U256::from(10_u64.pow(12));
        let other = Identity { number: 0, coins: [bitcoin, id(40, 1)], precisions: [eight, six] };
        let price_q = U256::from(650) * U256::from(10_u64.pow(18));
        assert_eq!(usd(&other, bitcoin, price_q), Some(UsdPrice(65_000 * UsdPrice::DOLLAR.0)));
        for price_q in [U256::ZERO, U256::from(1), U256::MAX] {
            assert_eq!(usd(&seed, bitcoin, price_q), None, "{price_q}");
            assert_eq!(usd(&other, bitcoin, price_q), None, "{price_q}");
        }
        assert_eq!(usd(&seed, id(2, 0), U256::from(10_u64.pow(18))), None);
    }
}
