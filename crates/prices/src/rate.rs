//! From the state of a pool to a price: exact integer arithmetic, rounded half-even once at the end.
//!
//! A pool states how many base units of its second token (token1) one base unit of its first (token0) is worth. Which of the
//! two is bitcoin and how many decimals each has comes from the contracts, never from an assumption.

use ruint::aliases::{U256, U512};

use crate::abi::{DECIMALS_MAX, TICK_MAX};
use crate::price::UsdPrice;

/// Least plausible price: one US dollar.
pub(crate) const PRICE_MIN: UsdPrice = UsdPrice::DOLLAR;
/// Greatest plausible price: a billion US dollars.
pub(crate) const PRICE_MAX: UsdPrice = UsdPrice(UsdPrice::DOLLAR.0 * 1_000_000_000);

/// Which token of a pool is bitcoin, and the decimals of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sides {
    /// Whether token0 is bitcoin; token1 is then the dollar.
    pub(crate) bitcoin_is_token0: bool,
    /// Decimals of the bitcoin token, at most 36.
    pub(crate) bitcoin_decimals: u8,
    /// Decimals of the dollar token, at most 36.
    pub(crate) usd_decimals: u8,
}

impl Sides {
    /// The price of a pool of the V3 kind at a square root of its ratio times 2^96. `None` outside 1 to 10^9 US dollars.
    pub(crate) fn of_sqrt_price(self, sqrt_price: U256) -> Option<UsdPrice> {
        let square = U512::from(sqrt_price).checked_mul(U512::from(sqrt_price))?;
        self.price(square, U512::from(1) << 192)
    }

    /// The price of a pool of the V2 kind. `None` when a reserve is zero, or outside 1 to 10^9 US dollars.
    pub(crate) fn of_reserves(self, reserves: [u128; 2]) -> Option<UsdPrice> {
        let [reserve0, reserve1] = reserves;
        if reserve0 == 0 || reserve1 == 0 {
            return None;
        }
        self.price(U512::from(reserve1), U512::from(reserve0))
    }

    /// The geometric mean over `seconds` whose ticks add up to `ticks`: between two whole ticks on a straight line, which is off by
    /// less than two parts in a billion. `None` when no time passed, outside the range of ticks, or outside 1 to 10^9 US dollars.
    pub(crate) fn of_mean_tick(self, ticks: i64, seconds: u32) -> Option<UsdPrice> {
        if seconds == 0 {
            return None;
        }
        let seconds = i64::from(seconds);
        let tick = i32::try_from(ticks.div_euclid(seconds)).ok()?;
        let rest = ticks.rem_euclid(seconds).unsigned_abs();
        let low = self.of_tick(tick)?;
        if rest == 0 {
            return Some(low);
        }
        let high = self.of_tick(tick + 1)?;
        // Prices end at 10^25 and two neighbours are 10^-4 apart, so the product stays below 2^128.
        let part = low.0.abs_diff(high.0) * u128::from(rest) / u128::from(seconds.unsigned_abs());
        Some(UsdPrice(if high > low { low.0 + part } else { low.0 - part }))
    }

    /// The price at a whole tick.
    fn of_tick(self, tick: i32) -> Option<UsdPrice> {
        let (token1, token0) = ratio_of_tick(tick)?;
        self.price(token1, token0)
    }

    /// The price where `token0` base units of the first token are worth `token1` of the second; both below 2^321, and below 2^258
    /// where they are divisors.
    fn price(self, token1: U512, token0: U512) -> Option<UsdPrice> {
        if self.bitcoin_decimals > DECIMALS_MAX || self.usd_decimals > DECIMALS_MAX {
            return None;
        }
        let (usd, bitcoin) = if self.bitcoin_is_token0 { (token1, token0) } else { (token0, token1) };
        let power = |exponent: u32| U512::from(10).checked_pow(U512::from(exponent));
        let numerator = usd.checked_mul(power(UsdPrice::DECIMALS + u32::from(self.bitcoin_decimals))?)?;
        let denominator = bitcoin.checked_mul(power(u32::from(self.usd_decimals))?)?;
        let price = UsdPrice(u128::try_from(half_even(numerator, denominator)?).ok()?);
        (PRICE_MIN..=PRICE_MAX).contains(&price).then_some(price)
    }
}

/// The quotient, rounded to the nearest integer and to the even one in the middle.
fn half_even(numerator: U512, denominator: U512) -> Option<U512> {
    if denominator.is_zero() {
        return None;
    }
    let (quotient, rest) = numerator.div_rem(denominator);
    let other = denominator - rest;
    let is_up = rest > other || (rest == other && quotient.bit(0));
    quotient.checked_add(U512::from(u8::from(is_up)))
}

/// 1.0001 to the power of a tick as a fraction `(token1, token0)`; `None` outside the range of ticks.
///
/// The power is taken with 256 bits behind the point, of a base below one so that it never overflows; at the ends of the range more
/// than 120 significant bits are right.
fn ratio_of_tick(tick: i32) -> Option<(U512, U512)> {
    if tick.unsigned_abs() > TICK_MAX.unsigned_abs() {
        return None;
    }
    let one = U512::from(1) << 256;
    let mut square = (one * U512::from(10_000)) / U512::from(10_001);
    let mut power = one;
    let mut exponent = tick.unsigned_abs();
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = (power * square) >> 256;
        }
        square = (square * square) >> 256;
        exponent >>= 1;
    }
    Some(if tick < 0 { (power, one) } else { (one, power) })
}

/// Whether a tick is that of a square root of a price: the price is in the tick, or at the edge of the next, where a pool is while
/// it crosses.
pub(crate) fn tick_fits(tick: i32, sqrt_price: U256) -> bool {
    let square = U512::from(sqrt_price).saturating_mul(U512::from(sqrt_price));
    // Half a tick on either side, well above the error of the power.
    let tolerance = |(token1, token0): (U512, U512), up: bool| {
        let bound = token1.checked_mul(U512::from(1) << 192).map_or(U512::MAX, |scaled| scaled / token0);
        let half = bound / U512::from(20_000) + U512::from(1);
        if up { bound.saturating_add(half) } else { bound.saturating_sub(half) }
    };
    let Some(low) = ratio_of_tick(tick) else { return false };
    let above = ratio_of_tick((tick + 1).min(TICK_MAX)).unwrap_or(low);
    square >= tolerance(low, false) && square <= tolerance(above, true)
}

/// Whether `price` is farther from `reference` than so many percent of the reference.
pub(crate) fn is_farther(price: UsdPrice, reference: UsdPrice, percent: u32) -> bool {
    let difference = U256::from(price.0.abs_diff(reference.0));
    difference * U256::from(100) > U256::from(reference.0) * U256::from(percent)
}

#[cfg(test)]
#[path = "rate/tests.rs"]
mod tests;
