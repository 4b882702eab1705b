//! The whole store as one file, to start another instance from: rows, block records, undo records.
//!
//! Everything read from such a file is checked before it counts: a checksum over each frame, the order of the keys, the
//! chain of block records, digests over all rows at the end. `docs/design/store.md` draws the format.

mod export;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod header;
mod import;

use std::io;
use std::path::PathBuf;

use paraffin_primitives::Network;

use crate::engine::Space;
use crate::{BlockRecord, StoreError};

pub use export::export;
pub use import::{Imported, import, import_folder};

/// Version of the file format that this program reads and writes.
pub const SNAPSHOT_FILE_VERSION: u32 = 2;

/// Keyspaces in the order of the file. The records come last: nothing refers to rows that are not there yet.
const ORDER: [Space; Space::COUNT] =
    [Space::Appended, Space::Ordered, Space::Hashed, Space::Bulk, Space::Undo, Space::Meta];

/// Payload of the last frame: rows, digest of the tables, digest of the records.
const END_LEN: usize = 8 + 32 + 32;

/// Progress of an export or import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotProgress {
    /// Bytes of the file written or read.
    pub bytes: u64,
    /// Bytes in all; on export an estimate from the size of the tables.
    pub bytes_total: u64,
    /// Rows written or read.
    pub rows: u64,
}

/// Summary of a snapshot file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotSummary {
    /// Newest block, with the cumulative digest.
    pub tip: BlockRecord,
    /// See [`crate::Snapshot::content_digest`].
    pub content: [u8; 32],
    /// Rows of all keyspaces.
    pub rows: u64,
    /// Length of the file.
    pub bytes: u64,
}

/// An export or import cannot be done; the message says what helps.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotFileError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file or the folder around it cannot be read or written.
    #[error("{path}: {source}", path = .path.display())]
    File {
        /// File or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// An export never replaces a file.
    #[error("{path} exists already: remove it, or give another name", path = .0.display())]
    FileExists(PathBuf),
    /// The progress callback of an export cancelled it.
    #[error("the export was given up; nothing is left of it")]
    GivenUp,
    /// There is nothing to export.
    #[error("the store holds no block yet, so there is nothing to export")]
    Empty,
    /// The file is something else.
    #[error("{path} is not a snapshot of this program", path = .0.display())]
    NotASnapshot(PathBuf),
    /// The file was written in another version of the format.
    #[error(
        "the snapshot has format {found}, this program reads format {wanted}: use the program version that wrote it"
    )]
    Version {
        /// Version of the file.
        found: u32,
        /// Version that this program reads.
        wanted: u32,
    },
    /// The file holds a store of another format.
    #[error(
        "the snapshot holds a store of format {found}, this program writes format {wanted}: use the program version that wrote it"
    )]
    StoreFormat {
        /// Format of the store in the file.
        found: u32,
        /// Format of this program.
        wanted: u32,
    },
    /// The file holds another chain.
    #[error(
        "the snapshot holds {found}, the configuration asks for {wanted}: choose a snapshot of {wanted}, or change the network"
    )]
    Network {
        /// Chain in the file.
        found: String,
        /// Configured chain.
        wanted: Network,
    },
    /// The tables of a module were written by another version of it.
    #[error(
        "the snapshot holds module `{name}` in version {found}, this program writes version {wanted}: use a snapshot of this program version, or index from the node"
    )]
    ModuleVersion {
        /// Name of the module.
        name: String,
        /// Version in the file.
        found: u32,
        /// Version of this program.
        wanted: u32,
    },
    /// The file holds a module that this program does not have.
    #[error("the snapshot holds module `{0}`, which this program does not have: use the program version that wrote it")]
    UnknownModule(String),
    /// The file ends too early.
    #[error("the snapshot is cut off after {bytes} bytes (frame {frame}): copy it again")]
    Truncated {
        /// Whole bytes read before the end.
        bytes: u64,
        /// Frame that is missing or cut, from 0.
        frame: u64,
    },
    /// The file is not what was written.
    #[error("the snapshot is damaged in frame {frame}: {reason}; copy it again")]
    Damaged {
        /// Frame, from 0.
        frame: u64,
        /// The failed check.
        reason: String,
    },
    /// Rows and records contradict each other.
    #[error("the snapshot contradicts itself: {0}; export it again")]
    Inconsistent(String),
    /// There is a store already.
    #[error("{folder} already holds a store: give an empty data folder, or remove this one first", folder = .0.display())]
    FolderUsed(PathBuf),
}

impl SnapshotFileError {
    fn file(path: &std::path::Path, source: io::Error) -> Self {
        if crate::error::is_disk_full(&source) {
            return Self::Store(StoreError::DiskFull { during: "writing a snapshot" });
        }
        Self::File { path: path.to_path_buf(), source }
    }
}
