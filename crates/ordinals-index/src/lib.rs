//! Inscriptions, sats, runes and BRC-20 by the rules of the reference indexers.
#![forbid(unsafe_code)]

pub mod brc20;
pub mod envelope;
mod error;
pub mod event;
pub mod inscription;
mod module;
mod parameters;
pub mod properties;
pub mod reader;
mod rows;
mod tables;

pub use error::ReadError;
pub use module::{EventConsumer, OrdinalsModule, OrdinalsOptions};
pub use parameters::{Parameters, unbound_outpoint};
pub use reader::OrdinalsIndex;
pub use rows::RuneEntry;
pub use tables::{MODULE, SCHEMA, TABLES};

/// The server of `ord` that may answer instead of this index, as errors name it.
pub const ORD_SERVER: &str = "ord";
/// The server of OPI that may answer for BRC-20 instead of this index, as errors name it.
pub const OPI_SERVER: &str = "OPI";
