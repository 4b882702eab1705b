//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::{btcusd, forex, orderbook};

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
