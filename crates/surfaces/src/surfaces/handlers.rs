//! Handlers of the surfaces below a key.

use std::sync::Arc;

use crate::electrum;
use crate::surfaces::{HttpSurface, KeyedHandler};

use super::{btcusd, esplora_http, espo, events, forex, listings, mempool, orderbook, reorg, verify, webhooks};

/// Plain HTTP Esplora, for [`paraffin_gateway::KeyedSurface::Esplora`].
pub fn esplora() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(esplora_http::EsploraHttp)), rpc: None }
}

/// Analytics, for [`paraffin_gateway::KeyedSurface::Espo`].
pub fn espo() -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(espo::Espo::default())) }
}

/// Charts as the charting library of `TradingView` asks for them, for [`paraffin_gateway::KeyedSurface::Udf`].
pub fn udf() -> KeyedHandler {
    listing(&listings::UDF)
}

/// Streams of what happens on the chain, for [`paraffin_gateway::KeyedSurface::Events`].
pub fn events() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(events::EventsHttp)), rpc: None }
}

/// Blocks and their events as DEX Screener reads them, for [`paraffin_gateway::KeyedSurface::Dexscreener`].
pub fn dexscreener() -> KeyedHandler {
    listing(&listings::DEXSCREENER)
}

/// Tickers, depth and trades as `CoinGecko` reads them, for [`paraffin_gateway::KeyedSurface::Coingecko`].
pub fn coingecko() -> KeyedHandler {
    listing(&listings::COINGECKO)
}

/// The Electrum protocol over WebSocket, for [`paraffin_gateway::KeyedSurface::Electrum`].
pub fn electrum() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(electrum::ElectrumHttp)), rpc: None }
}

fn listing(listing: &listings::Listing) -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(listings::ListingHttp(listing.clone()))), rpc: None }
}

/// Rates between currencies, for [`paraffin_gateway::KeyedSurface::Forex`].
pub fn forex(board: Arc<paraffin_forex::Board>) -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(forex::ForexRpc(board))) }
}

/// The pool index, for [`paraffin_gateway::KeyedSurface::Btcusd`].
pub fn btcusd(rules: paraffin_cryptoswap::PoolRules) -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(btcusd::BtcusdRpc::new(rules))) }
}

/// The live set of unconfirmed transactions, for [`paraffin_gateway::KeyedSurface::Mempool`].
pub fn mempool(mempool: Arc<paraffin_mempool::Mempool>) -> KeyedHandler {
    let surface = Arc::new(mempool::MempoolSurface(mempool));
    KeyedHandler { http: Some(Arc::clone(&surface) as Arc<dyn HttpSurface>), rpc: Some(surface) }
}

/// The orderbook fed by external sources, for [`paraffin_gateway::KeyedSurface::Orderbook`].
pub fn orderbook(orderbook: Arc<paraffin_orderbook::Orderbook>) -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(orderbook::OrderbookHttp(orderbook))), rpc: None }
}

/// Contracts and their sources, for [`paraffin_gateway::KeyedSurface::Explorer`].
pub fn verify(verifier: Arc<paraffin_verify::Verifier>) -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(verify::VerifyHttp(verifier))), rpc: None }
}

/// Webhooks, for [`paraffin_gateway::KeyedSurface::Webhooks`].
pub fn webhooks(webhooks: Arc<paraffin_webhooks::Webhooks>) -> KeyedHandler {
    KeyedHandler { http: None, rpc: Some(Arc::new(webhooks::WebhooksRpc(webhooks))) }
}

/// The rollback endpoint, for [`paraffin_gateway::KeyedSurface::Reorg`].
pub fn reorg() -> KeyedHandler {
    KeyedHandler { http: Some(Arc::new(reorg::ReorgHttp)), rpc: Some(Arc::new(reorg::ReorgRpc)) }
}
