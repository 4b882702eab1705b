use paraffin_alkanes::views::ViewError;
use paraffin_alkanes::{Halt, StateError};
use paraffin_amm::AmmError;
use paraffin_store::{ModuleError, StoreError};

/// The index cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The contracts' state or traces cannot be read.
    #[error("{0}")]
    State(#[from] StateError),
    /// A contract cannot be called because the engine cannot run.
    #[error("{0}")]
    Halt(#[from] Halt),
    /// A row of this index is not what this program writes: reindex the module.
    #[error("the pool index is damaged, reindex cryptoswap: {0}")]
    Damaged(String),
    /// Traces and block do not belong together.
    #[error("the traces of block {height} do not fit the block: {what}")]
    Mismatch {
        /// Height of the block.
        height: u32,
        /// The mismatch.
        what: String,
    },
}

impl From<AmmError> for IndexError {
    fn from(error: AmmError) -> Self {
        match error {
            AmmError::Store(error) => Self::Store(error),
            AmmError::State(error) => Self::State(error),
            AmmError::Mismatch { height, what } => Self::Mismatch { height, what },
            other @ (AmmError::Damaged(_) | AmmError::Interrupted) => Self::Damaged(other.to_string()),
        }
    }
}

impl From<IndexError> for ModuleError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Store(error)
            | IndexError::State(StateError::Store(error))
            | IndexError::Halt(Halt::State(StateError::Store(error))) => Self::Store(error),
            other => Self::Block(other.to_string()),
        }
    }
}

impl From<IndexError> for ViewError {
    fn from(error: IndexError) -> Self {
        match error {
            IndexError::Store(error) => Self::State(error.into()),
            IndexError::State(error) => Self::State(error),
            IndexError::Halt(halt) => Self::Halt(halt),
            other @ (IndexError::Damaged(_) | IndexError::Mismatch { .. }) => Self::Chain(other.into()),
        }
    }
}
