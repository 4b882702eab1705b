//! The price of one bitcoin in US dollars, and the interface for its readers.

use ruint::aliases::U256;

/// Satoshis in a bitcoin.
const SATS_PER_BITCOIN: u64 = 100_000_000;

/// US dollars for one bitcoin, times 10^16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UsdPrice(pub u128);

impl UsdPrice {
    /// Digits after the point.
    pub const DECIMALS: u32 = 16;
    /// One US dollar.
    pub const DOLLAR: Self = Self(10_u128.pow(Self::DECIMALS));

    /// US dollars as a number, the nearest that the type can hold. For rendering alone.
    pub fn to_f64(self) -> f64 {
        nearest(self.0 / Self::DOLLAR.0, self.0 % Self::DOLLAR.0, Self::DECIMALS)
    }

    /// The scaled integer in decimal digits, as `ammdata.get_btc_usd_price` answers it (docs/api.md).
    pub fn to_scaled_string(self) -> String {
        self.0.to_string()
    }

    /// What an amount of satoshis is worth in US dollars: computed exactly, cut to whole cents, then rendered. `None` when
    /// the cents do not fit 128 bits.
    pub fn of_sats(self, sats: u128) -> Option<f64> {
        const CENT: u128 = UsdPrice::DOLLAR.0 / 100;
        let cents = U256::from(self.0) * U256::from(sats) / (U256::from(SATS_PER_BITCOIN) * U256::from(CENT));
        let cents = u128::try_from(cents).ok()?;
        Some(nearest(cents / 100, cents % 100, 2))
    }
}

/// The number nearest to `whole` and a fraction of `digits` digits.
pub(crate) fn nearest(whole: u128, fraction: u128, digits: u32) -> f64 {
    let digits = digits as usize;
    // A decimal number always parses; the parser rounds once, which division of two floats would not.
    format!("{whole}.{fraction:0digits$}").parse().unwrap_or(f64::MAX)
}

/// The price at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricePoint {
    /// Unix seconds.
    pub time: u64,
    /// The price then.
    pub price: UsdPrice,
}

/// The newest price and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceReport {
    /// The newest point.
    pub newest: PricePoint,
    /// Name of the source, `uniswap-v3:0x…` or `uniswap-v2:0x…` with the address of the pool.
    pub source: String,
    /// Whether the newest point is older than the configured time.
    pub is_stale: bool,
}

/// The bitcoin price as other crates read it. Every call is short and never waits for the network.
pub trait BitcoinPrices: Send + Sync {
    /// The newest price; `None` until the source has answered for the first time.
    fn current(&self) -> Option<PriceReport>;

    /// The newest point at or before `time` (Unix seconds).
    fn at(&self, time: u64) -> Option<PricePoint>;

    /// The points from `from` to `to`, both included, ascending. The number is bounded by the points in memory.
    fn range(&self, from: u64, to: u64) -> Vec<PricePoint>;

    /// US dollars traded in the source's pool in the 24 hours that end at the newest point, where the source reports it.
    fn volume_day(&self) -> Option<f64>;

    /// The same for the 24 hours that end at `time` (Unix seconds).
    fn volume_day_at(&self, time: u64) -> Option<f64> {
        let _ = time;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_rendered_as_the_nearest_number() {
        let text = |scaled: u128| UsdPrice(scaled).to_f64().to_string();
        assert_eq!(text(923_456_700_000_000_000_000), "92345.67");
        assert_eq!(text(1), "0.0000000000000001");
        assert_eq!(text(0), "0");
        assert_eq!(text(u128::MAX), "34028236692093846000000");
    }

    /// row AN15
    #[test]
    fn the_scaled_text_is_dollars_times_ten_to_the_sixteenth() {
        assert_eq!(UsdPrice(65_000 * UsdPrice::DOLLAR.0).to_scaled_string(), "650000000000000000000");
    }

    #[test]
    fn satoshis_are_worth_their_part_of_the_price_in_whole_cents() {
        let price = UsdPrice(100_000 * UsdPrice::DOLLAR.0);
        for (sats, dollars) in [(0, 0.0), (1, 0.0), (10, 0.01), (100_000_000, 100_000.0), (150_000_019, 150_000.01)] {
            assert_eq!(price.of_sats(sats), Some(dollars), "{sats}");
        }
        let supply = 21_000_000 * u128::from(SATS_PER_BITCOIN);
        assert_eq!(price.of_sats(supply), Some(2.1e12));
        assert_eq!(UsdPrice(u128::MAX).of_sats(u128::MAX), None);
    }
}
