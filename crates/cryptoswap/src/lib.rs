//! The BTC/USD pool: an automated market maker of two coins whose curve follows the price (`CryptoSwap`).
//!
//! ```text
//!  traces of a block ─▶ calls ─▶ module ─▶ pools, slots, states, swaps, candles, summaries
//!  state after it ───────────────▲                         │
//!                                  views ◀── reader ◀──────┘
//!                                    └── mathematics (a quote)
//! ```
//!
//! [`paraffin_cryptoswap_math`] computes what such a pool answers and how each operation changes it. This crate is the pool index: an
//! indexer module that finds pools by what their contracts do, and the protobuf views over it.
//!
//! Invariants: exact integers only, a float in this crate is a defect; no network and no clock; whatever a contract stores or
//! answers is untrusted input; no byte string makes a view fail or panic.
#![forbid(unsafe_code)]

mod index;
pub mod proto;
pub mod views;

pub use index::{
    BUCKET_WIDTHS, BlockSummary, Candle, CanonicalPool, ContractFacts, CryptoSwapModule, Identity, IndexError, JOURNAL,
    MODULE, Opcodes, Page, PoolIndex, PoolProbe, PoolRecord, PoolRules, PoolState, Quote, QuoteRefusal, RawSlot,
    SCHEMA, Slot, SlotNames, Swap, TABLES, Totals, quote,
};
