use std::future::Future;
use std::pin::Pin;

use bitcoin::Txid;
use bytes::Bytes;
use paraffin_store::Snapshot;

use crate::error::ReadError;
use crate::reader::TxLocation;
use crate::tables::RAW_TRANSACTIONS;

/// Where the bytes of confirmed transactions come from: this index, or the node's block files.
pub trait TransactionSource: Send + Sync {
    /// Consensus encodings of the transactions at `locations`, in their order. The bytes are not checked here;
    /// [`crate::BitcoinIndex::visit_transactions`] does.
    fn fetch(&self, locations: Vec<TxLocation>) -> SourceFuture<'_>;
}

/// What [`TransactionSource::fetch`] answers later.
pub type SourceFuture<'a> = Pin<Box<dyn Future<Output = Result<Vec<Bytes>, SourceError>> + Send + 'a>>;

/// The bytes of transactions could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Reading the store failed.
    #[error("{0}")]
    Read(#[from] ReadError),
    /// The store was created without raw transactions, or lacks this one.
    #[error("the store does not hold the bytes of transaction {0}")]
    NotStored(Txid),
    /// The node did not answer; the same call may succeed later.
    #[error("the node is not available: {0}")]
    Unavailable(String),
    /// The node answered with other data than requested.
    #[error("the node gave wrong bytes: {0}")]
    Wrong(String),
}

/// Raw transactions of a store that stores them, as of one snapshot.
#[derive(Clone)]
pub struct StoredTransactions {
    snapshot: Snapshot,
}

impl StoredTransactions {
    /// Reads the snapshot that the locations come from.
    pub fn new(snapshot: Snapshot) -> Self {
        Self { snapshot }
    }

    /// The same as [`TransactionSource::fetch`], at once.
    ///
    /// # Errors
    /// [`SourceError::NotStored`] when a transaction is not there; [`SourceError::Read`] when reading fails.
    pub fn read(&self, locations: &[TxLocation]) -> Result<Vec<Bytes>, SourceError> {
        let read = |location: &TxLocation| {
            let bytes =
                self.snapshot.get(&RAW_TRANSACTIONS, &location.number.to_be_bytes()).map_err(ReadError::from)?;
            bytes.map(Bytes::from).ok_or(SourceError::NotStored(location.txid))
        };
        locations.iter().map(read).collect()
    }
}

impl TransactionSource for StoredTransactions {
    fn fetch(&self, locations: Vec<TxLocation>) -> SourceFuture<'_> {
        Box::pin(async move { self.read(&locations) })
    }
}
