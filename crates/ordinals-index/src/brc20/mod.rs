//! BRC-20: tokens made by inscriptions of JSON texts, by the rules of OPI's indexer.
//!
//! [`apply_block`] is the engine: it takes what happened to inscriptions in a block, in order, and a [`Ledger`], and gives the
//! events that count; [`BlockHashes`] are made of their canonical texts. [`Brc20Module`] keeps both in the store, as a part of
//! the module of this crate, and [`Brc20Index`] reads them.
//! Decisions are in `docs/decisions/0018`.

mod action;
mod amount;
mod engine;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod hashes;
mod json;
mod ledger;
mod memory;
mod operation;
mod rules;
mod store;
#[cfg(test)]
mod tests;
mod ticker;

pub use action::{Action, Brc20Event};
pub use amount::{Amount, DECIMALS_MAX};
pub use engine::apply_block;
pub use hashes::BlockHashes;
pub use ledger::{Balance, Ledger, LedgerError, Note, Predeploy, Token};
pub use memory::MemoryLedger;
pub use rules::{Rules, SwapRefund};
pub use store::{
    BalancesDigest, Brc20Index, Brc20Module, Holder, MODULE, OpenNote, PlacedEvent, TABLES, TABLES_VERSION,
};
pub use ticker::Ticker;
