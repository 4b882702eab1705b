//! What an instance answers about addresses, tokens and markets: the REST data API and listings.
//!
//! Invariant: a surface holds no rule of the data that it serves.
#![forbid(unsafe_code)]

mod account;
mod address;
mod alkanes;
pub mod handlers;
mod indexer;
mod listings;
mod markets;
mod search;

use paraffin_gateway::rest::Group;

#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use account::fuzzing;
pub use listings::{COINGECKO, DEXSCREENER, UDF};

/// The members of a request about an address.
const EXAMPLE_OF_ADDRESS: &str = r#"{"address":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}"#;

/// Routes of the REST data API.
pub const GROUPS: [&Group; 6] =
    [&address::GROUP, &indexer::GROUP, &alkanes::GROUP, &markets::POOLS, &markets::HISTORY, &markets::TRADING];
