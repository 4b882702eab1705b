//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::listings::surface::{COINGECKO, DEXSCREENER, Listing, ListingHttp, UDF};

/// Charts as the charting library of `TradingView` asks for them, for [`paraffin_gateway::KeyedSurface::Udf`].
pub fn udf() -> KeyedHandler {
    listing(&UDF)
}

/// Blocks and their events as DEX Screener reads them, for [`paraffin_gateway::KeyedSurface::Dexscreener`].
pub fn dexscreener() -> KeyedHandler {
    listing(&DEXSCREENER)
}

/// Tickers, depth and trades as `CoinGecko` reads them, for [`paraffin_gateway::KeyedSurface::Coingecko`].
pub fn coingecko() -> KeyedHandler {
    listing(&COINGECKO)
}

fn listing(listing: &Listing) -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(ListingHttp(listing.clone()))), rpc: None }
}
