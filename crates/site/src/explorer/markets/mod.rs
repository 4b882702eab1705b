//! Markets: pools of alkanes, routes through them, the price of bitcoin, the order book, and rates between currencies.

mod bitcoin;
mod candles;
mod index;
mod orderbook;
mod pool;
mod pools;
mod rates;
mod routes;
mod view_messages;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::SiteParts;

/// The pages of this area.
pub(crate) fn routes() -> Router<Arc<SiteParts>> {
    Router::new()
        .route("/explorer/pools", get(pools::page))
        .route("/explorer/pool/{id}", get(pool::page))
        .route("/explorer/routes", get(routes::page))
        .route("/explorer/markets", get(index::page))
        .route("/explorer/bitcoin-price", get(bitcoin::page))
        .route("/explorer/orderbook", get(orderbook::page))
        .route("/explorer/rates", get(rates::page))
}
