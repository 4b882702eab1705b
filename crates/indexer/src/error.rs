use paraffin_chain::NodeError;
use paraffin_primitives::BlockId;
use paraffin_store::{ModuleError, StoreError};

/// Why indexing stopped. The API keeps serving what is committed.
#[derive(Debug, thiserror::Error)]
pub enum IndexerError {
    /// The store refused or failed; the message says what to do.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The node follows another chain, or refuses the credentials.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A module cannot apply a block. Nothing of that block is committed.
    #[error("module `{module}` stopped at block {block}: {source}")]
    Module {
        /// Name of the module.
        module: &'static str,
        /// The block.
        block: BlockId,
        /// The error of the module.
        source: ModuleError,
    },
    /// `reindex` names a module that does not exist.
    #[error("unknown module `{name}`: this build has {known}")]
    UnknownModule {
        /// Requested name.
        name: String,
        /// Names that exist, joined by commas.
        known: String,
    },
    /// `reindex --from` lies above the indexed tip.
    #[error("cannot reindex from height {from}: the index ends at {tip}")]
    AboveTip {
        /// Requested height.
        from: u32,
        /// Height of the newest indexed block.
        tip: u32,
    },
}
