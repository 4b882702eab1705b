//! The routes of the REST data API.

mod account;
mod address;
mod alkanes;
mod indexer;
pub(crate) mod listings;
mod markets;
mod prices;

pub(crate) use paraffin_gateway::rest::{
    AddressText, Answer, Base, Changes, Count, Declared, Digits, Enveloped, Group, IdObject, IdText, Made, Offset,
    OkTrue, RestResult, Route, Statuses, Validator, Verb, Wrapping, body_limit, part, route, serve,
};

#[cfg(feature = "fuzzing")]
pub use account::fuzzing;

/// The members of a request about an address.
const EXAMPLE_OF_ADDRESS: &str = r#"{"address":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}"#;

/// All routes of the REST data API: requests are answered by this list, and the OpenAPI document describes it.
pub(crate) const GROUPS: [&Group; 7] = [
    &address::GROUP,
    &indexer::GROUP,
    &alkanes::GROUP,
    &markets::POOLS,
    &markets::HISTORY,
    &markets::TRADING,
    &prices::GROUP,
];
