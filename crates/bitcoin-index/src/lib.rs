//! The spine of the index: transactions, blocks, outputs, who spent them, script history and unspent outputs.
//!
//! Invariant: rows name transactions by sequential numbers in chain order, not by hashes.
#![forbid(unsafe_code)]

mod activity;
mod addresses;
mod earlier;
mod error;
mod module;
mod outputs;
mod reader;
mod rows;
mod script_key;
mod settings;
mod source;
mod tables;

pub use addresses::{ADDRESSES_MODULE, ADDRESSES_SCHEMA, AddressModule, addresses_with_prefix};
pub use earlier::{BlockInputs, SpentOutput};
pub use error::ReadError;
pub use module::BitcoinModule;
pub use reader::{
    BitcoinIndex, BlockOutput, BlockSummary, Confirmation, HistoryEntry, MerkleProof, OutputUse, ScriptEffect, Spender,
    TxLocation, UnspentOutput, WholeHistories,
};
pub use rows::ScriptTotals;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use rows::fuzzing;
pub use script_key::ScriptKey;
pub use settings::{MissingPrevouts, Options, RawTransactions};
pub use source::{SourceError, SourceFuture, StoredTransactions, TransactionSource};
pub use tables::{MODULE, SCHEMA, TABLES};
