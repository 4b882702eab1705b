//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::errors::ApiError;
use paraffin_gateway::respond::Reply;
use paraffin_gateway::surface::{KeyedHandler, KeyedSurface};

use crate::listings::surface::{ListingHttp, udf_error};
use crate::{COINGECKO, DEXSCREENER, UDF};

/// Charts as the charting library of `TradingView` asks for them.
pub fn udf() -> KeyedHandler {
    listing(&UDF, udf_error)
}

/// Blocks and their events as DEX Screener reads them.
pub fn dexscreener() -> KeyedHandler {
    listing(&DEXSCREENER, Reply::rest_error)
}

/// Tickers, depth and trades as `CoinGecko` reads them.
pub fn coingecko() -> KeyedHandler {
    listing(&COINGECKO, Reply::rest_error)
}

fn listing(surface: &'static KeyedSurface, refuse: fn(&ApiError) -> Reply) -> KeyedHandler {
    KeyedHandler { surface, http: Some(Arc::new(ListingHttp { surface, refuse })), rpc: None }
}
