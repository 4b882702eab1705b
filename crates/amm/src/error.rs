use paraffin_alkanes::StateError;
use paraffin_store::{ModuleError, StoreError};

/// The index cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum AmmError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The contracts' state or traces cannot be read.
    #[error("{0}")]
    State(#[from] StateError),
    /// A row of this index is not what this program writes: reindex the module.
    #[error("the market index is damaged, reindex amm: {0}")]
    Damaged(String),
    /// Traces and block do not belong together.
    #[error("the traces of block {height} do not fit the block: {what}")]
    Mismatch {
        /// Height of the block.
        height: u32,
        /// The mismatch.
        what: String,
    },
    /// The caller's time was over before the work was done: ask again with more of it.
    #[error("the time was over before the markets were read")]
    Interrupted,
}

impl From<AmmError> for ModuleError {
    fn from(error: AmmError) -> Self {
        match error {
            AmmError::Store(error) | AmmError::State(StateError::Store(error)) => Self::Store(error),
            other => Self::Block(other.to_string()),
        }
    }
}
