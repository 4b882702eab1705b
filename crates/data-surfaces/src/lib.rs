//! What an instance answers about tokens and markets: the REST data API, listings, the pool index, rates and the orderbook.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

mod account;
mod address;
mod alkanes;
mod answer_cache;
mod btcusd;
mod forex;
pub mod handlers;
mod indexer;
mod listings;
mod markets;
mod orderbook;
mod prices;
mod search;

use paraffin_gateway::rest::Group;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use account::fuzzing;
pub use btcusd::SURFACE as BTCUSD;
pub use forex::SURFACE as FOREX;
pub use listings::{COINGECKO, DEXSCREENER, UDF};
pub use orderbook::SURFACE as ORDERBOOK;

/// The members of a request about an address.
const EXAMPLE_OF_ADDRESS: &str = r#"{"address":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}"#;

/// All routes of the REST data API: requests are answered by this list, and the OpenAPI document describes it.
pub const GROUPS: [&Group; 7] = [
    &address::GROUP,
    &indexer::GROUP,
    &alkanes::GROUP,
    &markets::POOLS,
    &markets::HISTORY,
    &markets::TRADING,
    &prices::GROUP,
];
