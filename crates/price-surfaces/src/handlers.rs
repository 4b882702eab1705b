//! Handlers of the surfaces below a key.

use std::sync::Arc;

use paraffin_gateway::surface::KeyedHandler;

use crate::{btcusd, forex, orderbook};

/// Rates between currencies.
pub fn forex(board: Arc<paraffin_forex::Board>) -> KeyedHandler {
    KeyedHandler { surface: &forex::SURFACE, http: None, rpc: Some(Arc::new(forex::ForexRpc(board))) }
}

/// The pool index.
pub fn btcusd(rules: paraffin_cryptoswap::PoolRules) -> KeyedHandler {
    KeyedHandler { surface: &btcusd::SURFACE, http: None, rpc: Some(Arc::new(btcusd::BtcusdRpc::new(rules))) }
}

/// The orderbook fed by external sources.
pub fn orderbook(orderbook: Arc<paraffin_orderbook::Orderbook>) -> KeyedHandler {
    KeyedHandler { surface: &orderbook::SURFACE, http: Some(Arc::new(orderbook::OrderbookHttp(orderbook))), rpc: None }
}
