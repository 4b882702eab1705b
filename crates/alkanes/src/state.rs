//! The state of the protocol as keys and values, and the layers in which a transaction changes it (protocol B14, B15).

mod key;
mod overlay;

use bitcoin::Txid;

pub use key::StateKey;
pub(crate) use key::{OUTPOINT_LEN, decode_outpoint, encode_outpoint};
pub use overlay::Overlay;
pub(crate) use overlay::{Read, RecordedReads};

/// Reads the state as of the end of some block.
pub trait StateReader {
    /// The value of `key`; `None` when it was never set.
    ///
    /// # Errors
    /// Reading failed.
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError>;

    /// Height of the block that holds a transaction, when it is one of the newest [`RECENT_BLOCKS`] before the current one.
    /// `None` for every other, and where no blocks are stored: such an outpoint counts as deep (protocol B20).
    ///
    /// # Errors
    /// Reading failed.
    fn recent_height(&self, _txid: &Txid) -> Result<Option<u64>, StateError> {
        Ok(None)
    }
}

/// Blocks whose transactions are remembered by id: a commitment with six confirmations, the block at hand counted, is in
/// none of them (protocol B20).
pub const RECENT_BLOCKS: u32 = 4;

/// The state cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] paraffin_store::StoreError),
    /// A stored value is not what this program writes.
    #[error("the state is damaged: {0}")]
    Damaged(String),
    /// The caller's time was over before the answer was complete.
    #[error("the time was over before the state was read")]
    Interrupted,
}
