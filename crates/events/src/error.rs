use paraffin_alkanes::StateError;
use paraffin_amm::AmmError;
use paraffin_primitives::{BlockId, Height};
use paraffin_store::StoreError;

/// Errors of reading events.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The store failed, or the read was cancelled.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The Bitcoin index failed.
    #[error("{0}")]
    Bitcoin(#[from] paraffin_bitcoin_index::ReadError),
    /// The contract index failed.
    #[error("{0}")]
    Alkanes(#[from] StateError),
    /// The market index failed.
    #[error("{0}")]
    Markets(#[from] AmmError),
    /// The ordinals index failed.
    #[error("{0}")]
    Ordinals(#[from] paraffin_ordinals_index::ReadError),
    /// An event cannot be written: a fault of the program.
    #[error("an event cannot be written: {0}")]
    Write(#[from] serde_json::Error),
    /// The filter needs an index that this instance does not have.
    #[error("this instance does not index {0}")]
    NotIndexed(&'static str),
    /// Moves of inscriptions and runes are available only for blocks that can be undone.
    #[error(
        "inscriptions and runes that moved are known from block {from} on: resume with from_height={from} or later"
    )]
    HistoryNotKept {
        /// The first block for which they are available.
        from: Height,
    },
    /// The cursor names a block that is not in the index and was not undone by it. [`crate::advance`] may be called again with its parent.
    #[error("block {0} is not known")]
    UnknownBlock(BlockId),
    /// The cursor names a block by the height of another.
    #[error("the block of the cursor has another height")]
    WrongHeight,
    /// The caller's memory budget is exhausted.
    #[error("there is no memory for the events")]
    OutOfMemory,
}

impl EventError {
    /// Whether the read was cancelled, and may succeed with more time.
    pub fn is_abandoned(&self) -> bool {
        use paraffin_bitcoin_index::ReadError as BitcoinError;
        use paraffin_ordinals_index::ReadError as OrdinalsError;
        matches!(
            self,
            Self::Store(StoreError::Abandoned)
                | Self::Bitcoin(BitcoinError::Store(StoreError::Abandoned))
                | Self::Alkanes(StateError::Interrupted | StateError::Store(StoreError::Abandoned))
                | Self::Markets(
                    AmmError::Interrupted
                        | AmmError::Store(StoreError::Abandoned)
                        | AmmError::State(StateError::Interrupted | StateError::Store(StoreError::Abandoned))
                )
                | Self::Ordinals(
                    OrdinalsError::Store(StoreError::Abandoned)
                        | OrdinalsError::Bitcoin(BitcoinError::Store(StoreError::Abandoned))
                )
        )
    }

    /// Whether the memory budget was exhausted.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Self::OutOfMemory | Self::Ordinals(paraffin_ordinals_index::ReadError::OutOfMemory))
    }
}
