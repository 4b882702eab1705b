//! Reads over one consistent snapshot. All of it is blocking and touches the disk.

mod block;
mod block_outputs;
mod history;
mod location;
mod spends;
mod totals;
mod transaction;
mod unspent;

use paraffin_primitives::{BlockId, Network};
use paraffin_store::Snapshot;

pub use self::block::BlockSummary;
pub use self::block_outputs::{BlockOutput, OutputUse};
pub use self::history::{HistoryEntry, WholeHistories};
pub use self::location::{Confirmation, TxLocation};
pub use self::spends::Spender;
pub use self::transaction::{MerkleProof, ScriptEffect};
pub use self::unspent::UnspentOutput;
use crate::error::ReadError;
use crate::rows::PrefixWidth;
use crate::settings::{RawTransactions, stored_raw_transactions};
use crate::tables::MODULE;

/// The Bitcoin index as of one block. Cheap to make and to clone; keep it for one request.
#[derive(Clone)]
pub struct BitcoinIndex {
    snapshot: Snapshot,
    network: Network,
    width: PrefixWidth,
}

impl BitcoinIndex {
    /// Reads `snapshot`, whose addresses belong to `network`.
    pub fn new(snapshot: Snapshot, network: Network) -> Self {
        Self { snapshot, network, width: PrefixWidth::FULL }
    }

    /// Reads what a module with the same narrowed prefixes wrote; for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_prefix_bits(mut self, bits: u32) -> Self {
        self.width = PrefixWidth::narrowed(bits);
        self
    }

    /// The snapshot underneath.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The chain indexed.
    pub fn network(&self) -> Network {
        self.network
    }

    /// Newest block of this index; `None` while it is empty.
    ///
    /// # Errors
    /// [`ReadError`] when reading fails.
    pub fn tip(&self) -> Result<Option<BlockId>, ReadError> {
        let Some(height) = self.snapshot.module_height(MODULE)? else { return Ok(None) };
        Ok(self.block_hash(height)?.map(|hash| BlockId { height, hash }))
    }

    /// The setting of raw transactions of this store; `None` while it is empty.
    ///
    /// # Errors
    /// [`ReadError`] when reading fails.
    pub fn raw_transactions(&self) -> Result<Option<RawTransactions>, ReadError> {
        stored_raw_transactions(&self.snapshot)
    }
}
