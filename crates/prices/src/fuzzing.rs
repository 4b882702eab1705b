//! Readers of a contract's answers, for the fuzz targets.

use crate::abi;
use crate::activity::Activity;
use crate::price::UsdPrice;
use crate::rate::{Sides, tick_fits};

/// Reads a price and a volume from a pool of either kind that returns these bytes for every call; the first bytes decide
/// order and decimals of its tokens.
pub fn prices(bytes: &[u8]) -> Vec<UsdPrice> {
    let Some((&[order, bitcoin_decimals, usd_decimals], answer)) = bytes.split_first_chunk::<3>() else {
        return Vec::new();
    };
    let sides = Sides { bitcoin_is_token0: order & 1 == 1, bitcoin_decimals, usd_decimals };
    let mut prices = Vec::new();
    if let Ok(slot0) = abi::slot0(answer) {
        let fits = tick_fits(slot0.tick, slot0.sqrt_price);
        prices.extend(sides.of_sqrt_price(slot0.sqrt_price).filter(|_| fits));
        let growth = (slot0.sqrt_price, slot0.sqrt_price);
        let activity = Activity::new(sides, growth, u128::from(bitcoin_decimals), 3_000, slot0.fee_protocol);
        if let (Some(activity), Some(price)) = (activity, prices.first()) {
            assert_eq!(activity.cents_until(&activity, *price), Some(0), "nothing is traded where no fee has grown");
        }
    }
    if let Ok([before, after]) = abi::observe(answer) {
        prices.extend(sides.of_mean_tick(after - before, u32::from(order)));
    }
    if let Ok(reserves) = abi::reserves(answer) {
        prices.extend(sides.of_reserves(reserves));
    }
    let words =
        (abi::address(answer), abi::decimals(answer), abi::liquidity(answer), abi::fee(answer), abi::word(answer));
    assert!(words.4.is_ok() || (words.0.is_err() && words.1.is_err() && words.2.is_err() && words.3.is_err()));
    assert_eq!(abi::data(&abi::hex(answer)).as_deref(), Ok(answer));
    prices
}

/// Reads a text as an endpoint sends it.
pub fn hex(text: &str) -> Option<Vec<u8>> {
    abi::data(text).ok()
}
