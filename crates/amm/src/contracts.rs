//! Access to contract state and traces.

use bitcoin::OutPoint;
use paraffin_alkanes::{BlockState, BlockTrace, ChainState, StateKey, StateReader, Trace};
use paraffin_primitives::Height;
use paraffin_store::EarlierTables;

use crate::AmmError;

/// The trace of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageTrace {
    /// Shadow outpoint of the message.
    pub outpoint: OutPoint,
    /// Index of its transaction in the block.
    pub transaction_index: u32,
    /// Whether its effects were kept. A trace also stays when the whole transaction is void, or when what the message gave
    /// back did not fit its pointer; then everything in it was undone, also where its status is success.
    pub stands: bool,
    /// Its events, call by call.
    pub trace: Trace,
}

impl From<BlockTrace> for MessageTrace {
    fn from(BlockTrace { outpoint, transaction_index, stands, trace }: BlockTrace) -> Self {
        Self { outpoint, transaction_index, stands, trace }
    }
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
        Ok(self.0.block_traces(height)?.into_iter().map(MessageTrace::from).collect())
    }

    fn state(&self, key: &StateKey) -> Result<Option<Vec<u8>>, AmmError> {
        Ok(self.0.get(key)?)
    }
}

/// The contracts at the end of the block that is being applied, for modules that run after that of alkanes.
#[derive(Clone, Copy)]
pub struct BlockContracts<'a>(pub BlockState<'a>);

impl<'a> BlockContracts<'a> {
    /// A view of the tables of earlier modules.
    pub fn new(tables: EarlierTables<'a>) -> Self {
        Self(BlockState::new(tables))
    }
}

impl ContractReads for BlockContracts<'_> {
    /// Only of the block that is being applied.
    fn traces(&self, _: Height) -> Result<Vec<MessageTrace>, AmmError> {
        Ok(self.0.traces()?.into_iter().map(MessageTrace::from).collect())
    }

    fn state(&self, key: &StateKey) -> Result<Option<Vec<u8>>, AmmError> {
        Ok(self.0.get(key)?)
    }
}
