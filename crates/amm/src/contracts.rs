//! What this room needs to know of contracts.

use std::collections::HashMap;

use bitcoin::OutPoint;
use paraffin_alkanes::{ChainState, StateKey, StateReader, Trace};
use paraffin_primitives::Height;

use crate::AmmError;

/// What one message did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageTrace {
    /// Shadow outpoint of the message.
    pub outpoint: OutPoint,
    /// Place of its transaction in the block.
    pub transaction_index: u32,
    /// Whether its effects were kept. A trace also stays when the whole transaction is void, or when what the message gave
    /// back did not fit its pointer; then everything in it was undone, whatever it says.
    pub stands: bool,
    /// What it did, call by call.
    pub trace: Trace,
}

/// Traces of a block and the state as of its end.
pub trait ContractReads {
    /// All traces of the block at `height`, in its order.
    ///
    /// # Errors
    /// Reading failed.
    fn traces(&self, height: Height) -> Result<Vec<MessageTrace>, AmmError>;

    /// A value of the state; `None` when it was never set.
    ///
    /// # Errors
    /// Reading failed.
    fn state(&self, key: &StateKey) -> Result<Option<Vec<u8>>, AmmError>;
}

/// The contracts as the alkanes index has them, as of a height.
#[derive(Clone)]
pub struct ChainContracts(pub ChainState);

impl ContractReads for ChainContracts {
    fn traces(&self, height: Height) -> Result<Vec<MessageTrace>, AmmError> {
        let traces = self.0.block_traces(height)?;
        let mut kept = HashMap::new();
        for trace in &traces {
            // A transaction that is void leaves nothing on its outputs, and shadow outputs begin two behind the last one.
            let outputs = trace.outpoint.vout.saturating_sub(1);
            let txid = trace.outpoint.txid;
            if let std::collections::hash_map::Entry::Vacant(entry) = kept.entry(txid) {
                let mut is_kept = false;
                for vout in 0..outputs {
                    is_kept = !self.0.sheet(&OutPoint { txid, vout })?.entries.is_empty();
                    if is_kept {
                        break;
                    }
                }
                entry.insert(is_kept);
            }
        }
        let whole = traces.into_iter().map(|trace| MessageTrace {
            stands: kept.get(&trace.outpoint.txid).copied().unwrap_or_default(),
            outpoint: trace.outpoint,
            transaction_index: trace.transaction_index,
            trace: trace.trace,
        });
        Ok(whole.collect())
    }

    fn state(&self, key: &StateKey) -> Result<Option<Vec<u8>>, AmmError> {
        Ok(self.0.get(key)?)
    }
}
