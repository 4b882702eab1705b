//! The BTC/USD pool: an automated market maker of two coins whose curve follows the price (`CryptoSwap`).
//!
//! ```text
//!  traces of a block ─▶ calls ─▶ module ─▶ pools, slots, states, swaps, candles, summaries
//!  state after it ───────────────▲                         │
//!                                  views ◀── reader ◀──────┘
//!                                    └── math (a quote)
//! ```
//!
//! [`math`] computes what such a pool answers and how each operation changes it, in exact integers, without any input or
//! output: a wallet, a test or a contract can use it alone, and the crate without its feature `index` holds nothing else. The
//! rest is the pool index: an indexer module that finds pools by what their contracts do, and the protobuf views over it.
//!
//! Invariants: exact integers only, a float in this crate is a defect; no network and no clock; whatever a contract stores or
//! answers is untrusted input; no byte string makes a view fail or panic.
#![forbid(unsafe_code)]

pub mod math;

#[cfg(feature = "index")]
mod index;
#[cfg(feature = "index")]
pub mod proto;
#[cfg(feature = "index")]
pub mod views;

#[cfg(feature = "index")]
pub use index::{
    BUCKET_WIDTHS, BlockSummary, Candle, CanonicalPool, ContractFacts, CryptoSwapModule, Identity, IndexError, JOURNAL,
    MODULE, Opcodes, Page, PoolIndex, PoolProbe, PoolRecord, PoolRules, PoolState, Quote, QuoteRefusal, RawSlot,
    SCHEMA, Slot, SlotNames, Swap, TABLES, Totals, quote,
};
