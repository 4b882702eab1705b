//! Every view over a small chain with real contracts, and what hostile callers send.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod contracts;
mod hostile;
mod outputs;
mod preview;
mod stage;
mod transactions;
