//! How much a pool trades, from the fees that it has collected.
//!
//! A pool of the V3 kind keeps, for each token, the running sum of fees for one unit of liquidity. Between two readings the sum grows by
//! the fees of the swaps that took place; times the liquidity that earned them and divided by the rate of the fee this is what was paid
//! into the pool. It costs two calls where reading every swap would cost thousands. The liquidity between two readings is taken as the
//! mean of both, so the result is an estimate: readings minutes apart are good to a few percent, readings a day apart to some tens.

use ruint::aliases::{U256, U512};

use crate::price::{UsdPrice, nearest};
use crate::rate::Sides;

/// Volumes from here on are no volumes but contradictory readings, US cents.
const CENTS_MAX: u128 = 100_000_000_000_000_000;
/// Seconds of a day.
pub(crate) const DAY: u64 = 86_400;

/// The sums of a pool at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Activity {
    /// Fees for one unit of liquidity times 2^128, of bitcoin and of the dollar; they wrap around.
    pub(crate) growth: [U256; 2],
    /// Liquidity at the price of the moment.
    pub(crate) liquidity: u128,
    /// Part of a swap's input that goes to the providers of liquidity, parts per billion, of bitcoin and of the dollar; never 0.
    pub(crate) fee_ppb: [u32; 2],
    /// Decimals of bitcoin and of the dollar.
    pub(crate) decimals: [u8; 2],
}

impl Activity {
    /// From what the pool returns; `None` where the rate of the fee is zero or of an unknown kind.
    pub(crate) fn new(
        sides: Sides,
        growth: (U256, U256),
        liquidity: u128,
        fee_ppm: u32,
        fee_protocol: u32,
    ) -> Option<Self> {
        let of_providers = |protocol: u32| match protocol {
            0 => Some(fee_ppm * 1000),
            1 => None,
            // One part in `protocol` is the protocol's. Fees are below 10^6, so the product fits.
            _ => Some(fee_ppm * 1000 / protocol * (protocol - 1)),
        };
        let protocol = u8::try_from(fee_protocol).ok()?;
        let fees = (of_providers(u32::from(protocol & 15))?, of_providers(u32::from(protocol >> 4))?);
        let ((growth_bitcoin, growth_usd), (fee_bitcoin, fee_usd)) =
            if sides.bitcoin_is_token0 { (growth, fees) } else { ((growth.1, growth.0), (fees.1, fees.0)) };
        (fee_bitcoin > 0 && fee_usd > 0).then_some(Self {
            growth: [growth_bitcoin, growth_usd],
            liquidity,
            fee_ppb: [fee_bitcoin, fee_usd],
            decimals: [sides.bitcoin_decimals, sides.usd_decimals],
        })
    }

    /// US cents paid into the pool from this reading to a later one, bitcoin counted at `price`. `None` where the readings contradict
    /// each other.
    pub(crate) fn cents_until(&self, later: &Self, price: UsdPrice) -> Option<u128> {
        if self.decimals != later.decimals {
            return None;
        }
        let liquidity = U512::from(self.liquidity.midpoint(later.liquidity));
        let paid = |token: usize| -> U512 {
            let grown = later.growth[token].wrapping_sub(self.growth[token]);
            let fees = (U512::from(grown) * liquidity) >> 128;
            fees * U512::from(1_000_000_000) / U512::from(later.fee_ppb[token])
        };
        let power = |exponent: u8| U512::from(10).checked_pow(U512::from(exponent));
        let usd = paid(1).checked_mul(U512::from(100))? / power(self.decimals[1])?;
        let bitcoin = paid(0).checked_mul(U512::from(price.0 / (UsdPrice::DOLLAR.0 / 100)))? / power(self.decimals[0])?;
        let cents = u128::try_from(usd.checked_add(bitcoin)?).ok()?;
        (cents < CENTS_MAX).then_some(cents)
    }
}

/// US dollars of a number of cents.
pub(crate) fn dollars(cents: u128) -> f64 {
    nearest(cents / 100, cents % 100, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDES: Sides = Sides { bitcoin_is_token0: true, bitcoin_decimals: 8, usd_decimals: 6 };

    /// Growth that a fee of so many base units makes at a liquidity.
    fn growth(fees: u128, liquidity: u128) -> U256 {
        (U256::from(fees) << 128) / U256::from(liquidity)
    }

    #[test]
    fn the_growth_of_fees_tells_what_was_paid_in() {
        let liquidity = 1 << 40;
        let before = Activity::new(SIDES, (U256::MAX, U256::from(5)), liquidity, 3_000, 0).unwrap();
        // 1 bitcoin and 50,000 dollars paid in, 0.3 % of each is the fee; the sum of bitcoin wraps around.
        let after =
            (U256::MAX.wrapping_add(growth(300_000, liquidity)), U256::from(5) + growth(150_000_000, liquidity));
        let after = Activity::new(SIDES, after, liquidity, 3_000, 0).unwrap();
        let price = UsdPrice(60_000 * UsdPrice::DOLLAR.0);
        let cents = before.cents_until(&after, price).unwrap();
        assert!((10_999_900..=11_000_000).contains(&cents), "{cents}");
        assert_eq!(before.cents_until(&before, price), Some(0));
        // The other way round the sums would have wrapped.
        assert_eq!(after.cents_until(&before, price), None);
    }

    #[test]
    fn the_share_of_the_protocol_is_not_in_the_sums() {
        // A quarter of bitcoin's fee and a tenth of the dollar's go to the protocol.
        let activity = Activity::new(SIDES, (U256::ZERO, U256::ZERO), 1, 3_000, 4 | 10 << 4).unwrap();
        assert_eq!(activity.fee_ppb, [2_250_000, 2_700_000]);
        let flipped = Sides { bitcoin_is_token0: false, ..SIDES };
        let activity = Activity::new(flipped, (U256::from(1), U256::from(2)), 1, 3_000, 4 | 10 << 4).unwrap();
        assert_eq!((activity.fee_ppb, activity.growth), ([2_700_000, 2_250_000], [U256::from(2), U256::from(1)]));
        for (fee, protocol) in [(0, 0), (3_000, 1), (3_000, 1 << 4), (3_000, 256), (3_000, u32::MAX)] {
            assert_eq!(Activity::new(SIDES, (U256::ZERO, U256::ZERO), 1, fee, protocol), None, "{fee} {protocol}");
        }
    }

    #[test]
    fn numbers_at_the_ends_of_their_range_give_no_volume() {
        let least = Activity { growth: [U256::ZERO; 2], liquidity: u128::MAX, fee_ppb: [1; 2], decimals: [0; 2] };
        let most = Activity { growth: [U256::MAX; 2], ..least };
        assert_eq!(least.cents_until(&most, UsdPrice(u128::MAX)), None);
        assert_eq!(least.cents_until(&Activity { decimals: [8, 6], ..least }, UsdPrice::DOLLAR), None);
    }
}
