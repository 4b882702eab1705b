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
use paraffin_gateway::rest::Group;

use coingecko::GROUP as COINGECKO;
use dexscreener::GROUP as DEXSCREENER;
use udf::GROUP as UDF;

/// The routes of all of them, each below a key or an alias.
pub const GROUPS: [&Group; 3] = [&UDF, &DEXSCREENER, &COINGECKO];
