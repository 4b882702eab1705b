//! Plain types that every crate shares: networks, heights, identifiers, amounts, and a block with what its inputs spend.
//!
//! Invariant: no I/O, no async, and no other crate of the workspace is used here.
#![forbid(unsafe_code)]

mod alkane_id;
mod amount;
mod block;
mod network;
mod outpoint;

pub use alkane_id::{AlkaneId, ParseAlkaneIdError};
pub use amount::{Amount, ParseAmountError};
pub use block::{BlockId, ConnectedBlock, Height, ScriptDigests};
pub use network::{Network, ParseNetworkError};
pub use outpoint::{ParseOutPointError, format_outpoint, parse_outpoint};
