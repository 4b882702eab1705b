//! What an instance answers about prices: of bitcoin, of currencies, of the pool index, and those of orders.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

mod answer_cache;
mod btcusd;
mod forex;
pub mod handlers;
mod orderbook;
mod prices;

pub use btcusd::SURFACE as BTCUSD;
pub use forex::SURFACE as FOREX;
pub use orderbook::SURFACE as ORDERBOOK;
pub use prices::GROUP as PRICES;
