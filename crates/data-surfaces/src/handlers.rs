//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::listings::surface::{COINGECKO, DEXSCREENER, Listing, ListingHttp, UDF};
use crate::{btcusd, forex, orderbook};

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

/// Rates between currencies, for [`paraffin_gateway::KeyedSurface::Forex`].
pub fn forex(board: Arc<paraffin_forex::Board>) -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(forex::ForexRpc(board))) }
}

/// The pool index, for [`paraffin_gateway::KeyedSurface::Btcusd`].
pub fn btcusd(rules: paraffin_cryptoswap::PoolRules) -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(btcusd::BtcusdRpc::new(rules))) }
}

/// The orderbook fed by external sources, for [`paraffin_gateway::KeyedSurface::Orderbook`].
pub fn orderbook(orderbook: Arc<paraffin_orderbook::Orderbook>) -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(orderbook::OrderbookHttp(orderbook))), rpc: None }
}
