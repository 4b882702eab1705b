//! The pool index: effects of contracts as rows, read as of any height.

mod calls;
mod candle;
mod error;
mod facts;
mod figures;
mod find;
mod module;
mod quote;
mod reader;
mod route;
mod rows;
mod rules;
mod slots;
mod state;
mod tables;

pub use candle::{BUCKET_WIDTHS, Candle};
pub use error::IndexError;
pub use facts::{ContractFacts, PoolProbe};
pub use module::CryptoSwapModule;
pub use quote::{Quote, QuoteRefusal, quote};
pub use reader::{Page, PoolIndex, PoolRecord, RawSlot, Swap};
pub use rows::{BlockSummary, Identity, Totals};
pub use rules::{CanonicalPool, Opcodes, PoolRules};
pub use slots::{Slot, SlotNames};
pub use state::PoolState;
pub use tables::{JOURNAL, MODULE, SCHEMA, TABLES};
