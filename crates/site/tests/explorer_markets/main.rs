//! Pages of contracts, tokens and markets, over an API that answers with what a development chain answered, and with hostile
//! values.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

mod contracts;
mod markets;
mod signed_in;
mod world;
