//! The price of bitcoin in US dollars, read from a pool on an EVM chain, with its history.
//!
//! Invariants: a price is an exact integer until an answer renders it; every answer names its source; no reader waits for the
//! network; when a source fails, answers falsely or is away, the last price is served until it is reported as stale.
#![forbid(unsafe_code)]

mod abi;
mod activity;
mod address;
mod backfill;
mod config;
mod endpoint;
mod error;
mod feed;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod history;
mod poller;
mod pool;
mod price;
mod rate;
mod series;

pub use abi::AbiError;
pub use address::{EvmAddress, ParseEvmAddressError};
pub use config::PricesConfig;
pub use error::{PricesError, SourceError};
pub use feed::{Clock, PriceFeed};
pub use price::{BitcoinPrices, PricePoint, PriceReport, UsdPrice};
