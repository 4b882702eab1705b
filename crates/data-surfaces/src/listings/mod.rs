//! Markets in the formats published by listing services (docs/listings.md): the data feed of the charting library of `TradingView`
//! (UDF), DEX Screener's adapter, `CoinGecko`'s endpoints for exchanges.
//!
//! A price is of a pool's first alkane in units of its second one, the lower id first, as everywhere in the API.

mod coingecko;
mod dexscreener;
mod names;
mod number;
pub(crate) mod surface;
mod udf;

use super::markets::{PoolIdText, admit};
use paraffin_gateway::surface::KeyedSurface;

/// `/v4/<KEY>/udf`.
pub static UDF: KeyedSurface = KeyedSurface { routes: &[&udf::GROUP], ..KeyedSurface::http("udf") };
/// `/v4/<KEY>/dexscreener`.
pub static DEXSCREENER: KeyedSurface =
    KeyedSurface { routes: &[&dexscreener::GROUP], ..KeyedSurface::http("dexscreener") };
/// `/v4/<KEY>/coingecko`.
pub static COINGECKO: KeyedSurface = KeyedSurface { routes: &[&coingecko::GROUP], ..KeyedSurface::http("coingecko") };
