use std::io;
use std::path::{Path, PathBuf};

use paraffin_primitives::{AlkaneId, Height};
use parquet::errors::ParquetError;

/// A file was not written, or was removed again.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file exists and was not to be replaced.
    #[error("{0} exists already: give another name, or replace it with --force")]
    Exists(PathBuf),
    /// The disk, or this user's quota of it, is full.
    #[error("{path}: the disk is full, so nothing is kept of the file: free space, or give another folder ({source})", path = .path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The rows do not fit the format: a fault of the program, or more than 32,767 row groups.
    #[error("the file cannot be written: {0}")]
    Format(ParquetError),
    /// There is no block in the index.
    #[error("the index is empty")]
    Empty,
    /// This instance does not have the index of the data set.
    #[error("this instance does not index {0}")]
    NotIndexed(&'static str),
    /// The last requested block is not indexed yet.
    #[error("block {requested} is not indexed: the newest is {newest}")]
    AboveIndex {
        /// The requested height.
        requested: Height,
        /// The newest indexed height.
        newest: Height,
    },
    /// The first block comes after the last.
    #[error("the first block, {from}, comes after the last, {to}")]
    Range {
        /// First height.
        from: Height,
        /// Last height.
        to: Height,
    },
    /// No pool has this id at the height.
    #[error("there is no pool {0}")]
    NoPool(AlkaneId),
    /// The transfers of one block do not fit the memory for them.
    #[error("the transfers of block {0} do not fit into 512 MiB: export the blocks before and after it, or one alkane")]
    BlockTooLarge(Height),
    /// The caller cancelled it.
    #[error("the export was given up")]
    GivenUp,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] paraffin_store::StoreError),
    /// The contract index failed.
    #[error(transparent)]
    Alkanes(#[from] paraffin_alkanes::StateError),
    /// The market index failed.
    #[error(transparent)]
    Markets(#[from] paraffin_amm::AmmError),
    /// The index of pools that no factory lists failed.
    #[error(transparent)]
    Pools(#[from] paraffin_cryptoswap::IndexError),
    /// The transfers cannot be read.
    #[error(transparent)]
    Events(#[from] paraffin_events::EventError),
}

impl ExportError {
    /// Why a file cannot be written.
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let path = path.to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::DiskFull { path, source },
            _ => Self::File { path, source },
        }
    }

    /// Why a file cannot be written, from an error of the format writer.
    pub(crate) fn written(path: &Path, error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<io::Error>() {
                Ok(source) => Self::file(path, *source),
                Err(cause) => Self::Format(ParquetError::External(cause)),
            },
            other => Self::Format(other),
        }
    }
}
