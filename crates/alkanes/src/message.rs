//! One message: resolve the target, run it, book what it did (protocol B6).

use bitcoin::{Transaction, Txid};

use crate::{Halt, Sheet, Transfer, World};

/// A message of a protostone.
#[derive(Debug, Clone)]
pub struct Message<'a> {
    /// The transaction.
    pub transaction: &'a Transaction,
    /// Its id.
    pub txid: Txid,
    /// Its place in the block.
    pub index: u32,
    /// Shadow output of the protostone.
    pub vout: u32,
    /// The message bytes.
    pub calldata: &'a [u8],
    /// What comes in: positive entries of the shadow output's sheet, in the order of the ids.
    pub incoming: Vec<Transfer>,
}

/// How a message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageEnd {
    /// The contract answered: what goes to the pointer, and the runtime sheet afterwards.
    Done {
        /// What it gives back, as written.
        outgoing: Vec<Transfer>,
        /// The runtime sheet afterwards.
        runtime: Sheet,
    },
    /// Refunded; the caller rolls the layer back.
    Failed,
}

/// Runs a message in the newest layer of `world.state`, which the caller has opened and commits or rolls back.
///
/// # Errors
/// The engine halts.
pub fn handle_message(world: &mut World<'_>, message: &Message<'_>, runtime: &Sheet) -> Result<MessageEnd, Halt> {
    let _ = (world, message, runtime);
    Err(Halt::MissingBuiltin("contracts cannot be run yet".to_owned()))
}
