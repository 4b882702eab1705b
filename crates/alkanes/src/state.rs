//! The state of the protocol as keys and values, and the layers in which a transaction changes it (protocol B14, B15).

mod key;
mod overlay;

pub use key::StateKey;
pub use overlay::Overlay;

/// Reads the state as of the end of some block.
pub trait StateReader {
    /// The value of `key`; `None` when it was never set.
    ///
    /// # Errors
    /// Reading failed.
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError>;
}

/// The state cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] paraffin_store::StoreError),
    /// A stored value is not what this program writes.
    #[error("the state is damaged: {0}")]
    Damaged(String),
}
