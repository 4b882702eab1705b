//! Every view over a small chain with real contracts, and hostile requests.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod contracts;
mod hostile;
mod outputs;
mod preview;
mod stage;
mod transactions;
