//! Rates between twenty currencies, from the feeds of central banks and others.
//!
//! Invariants: a rate is an exact fraction from the feed's digits to the answer's, and no floating point is used anywhere; every rate
//! states its age by its source's own clock; what has no price is missing, never guessed; no reader waits for the network; when
//! a source fails, answers falsely or is away, its last rates are served and their age grows.
#![forbid(unsafe_code)]
#![deny(clippy::float_arithmetic)]

mod adapters;
mod amount;
mod answer;
mod board;
mod clock;
mod config;
mod currency;
mod decimal;
mod error;
mod feed;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod history;
mod policy;
mod poller;
mod ratio;
mod sheet;
mod web;

pub use adapters::{SAMPLE, SourceKind};
pub use amount::{Amount, AmountError};
pub use answer::{
    Conversion, Coverage, Freshness, Offer, Provenance, Rates, Reason, Role, SourceStatus, Status, Unpriced,
};
pub use board::Board;
pub use clock::Clock;
pub use config::{ForexConfig, SourceConfig};
pub use currency::Currency;
pub use error::{FeedError, ForexError, RowError};
pub use feed::ForexFeed;
