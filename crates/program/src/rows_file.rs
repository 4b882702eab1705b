//! A file of rows of the index: what it is asked for with, and its writing, by the command or by a running instance.

#[cfg(feature = "parquet")]
mod write;

use std::path::PathBuf;

use paraffin_primitives::Network;
use paraffin_store::Store;
use serde::{Deserialize, Serialize};

#[cfg(not(feature = "parquet"))]
pub(crate) use self::without::{WriteError, write};
#[cfg(feature = "parquet")]
pub(crate) use self::write::{WriteError, write};

/// What rows are read from, and which version of the program reads them.
#[derive(Clone)]
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only a program that writes files reads them"))]
pub(crate) struct Origin {
    /// The index.
    pub(crate) store: Store,
    /// Its network.
    pub(crate) network: Network,
    /// Version and commit, for the file.
    pub(crate) version: &'static str,
}

/// What a file is asked for with, on the command line and over the control socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportRequest {
    /// The dataset to export.
    pub(crate) dataset: DatasetName,
    /// Of candles: the name of the timeframe.
    #[serde(default)]
    pub(crate) bucket: Option<String>,
    /// First height.
    #[serde(default)]
    pub(crate) from: u32,
    /// Last height; the newest when absent.
    #[serde(default)]
    pub(crate) to: Option<u32>,
    /// One pool alone, block:tx.
    #[serde(default)]
    pub(crate) pool: Option<String>,
    /// One alkane alone, block:tx.
    #[serde(default)]
    pub(crate) token: Option<String>,
    /// The file.
    pub(crate) file: PathBuf,
    /// Whether an existing file is replaced.
    #[serde(default)]
    pub(crate) force: bool,
}

/// The datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DatasetName {
    Swaps,
    Candles,
    Transfers,
    Balances,
}

/// Progress of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowsProgress {
    /// Blocks, pools or alkanes that are done.
    pub(crate) done: u64,
    /// All blocks, pools or alkanes of the export.
    pub(crate) total: u64,
    /// Rows so far.
    pub(crate) rows: u64,
}

/// Error of a program built without the feature.
#[cfg(not(feature = "parquet"))]
mod without {
    use std::sync::atomic::AtomicBool;

    use serde_json::Value;

    use super::{ExportRequest, Origin, RowsProgress};

    /// No file was written.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum WriteError {
        /// This program cannot write one.
        #[error(
            "exports need a program built with the feature `parquet`, and this one was built without it: build it with \
             `cargo build --release --features parquet`"
        )]
        Feature,
    }

    /// Writes nothing.
    ///
    /// # Errors
    /// [`WriteError::Feature`], always.
    pub(crate) fn write(
        _: &Origin,
        _: &ExportRequest,
        _: &AtomicBool,
        _: &mut dyn FnMut(RowsProgress),
    ) -> Result<Value, WriteError> {
        Err(WriteError::Feature)
    }
}
