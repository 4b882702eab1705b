//! Errors of the store, one variant for each possible reaction of a caller.

use std::io;
use std::path::PathBuf;

use paraffin_primitives::{BlockId, Height, Network};

/// Errors of the store; the message says what helps.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The read was cancelled: its caller no longer waits for it.
    #[error("the read was given up")]
    Abandoned,
    /// The folder is open elsewhere.
    #[error("another process is using this store ({}): stop it, or give this one another data folder", .folder.display())]
    Locked {
        /// The folder of the store.
        folder: PathBuf,
    },
    /// The folder was written in another version of the format on disk.
    #[error(
        "this store has format {found}, this program reads format {wanted}: use the program version that wrote it, or index anew into an empty folder"
    )]
    Format {
        /// Version found on disk.
        found: u32,
        /// Version that this program reads and writes.
        wanted: u32,
    },
    /// The store belongs to another chain.
    #[error(
        "this store holds {found}, the configuration asks for {wanted}: choose the data folder of {wanted}, or change the network"
    )]
    Network {
        /// Name of the chain on disk.
        found: String,
        /// Configured chain.
        wanted: Network,
    },
    /// The tables of a module were written by another version of it.
    #[error(
        "the tables of module `{name}` have version {found}, this program writes version {wanted}: run `paraffin reindex {name} --from 0`"
    )]
    ModuleVersion {
        /// Name of the module on the command line.
        name: String,
        /// Version found on disk.
        found: u32,
        /// Version that this program writes.
        wanted: u32,
    },
    /// The declared modules or tables contradict each other; a fault of the program.
    #[error("module declarations: {0}")]
    InvalidSchema(String),
    /// A setting is out of its range.
    #[error("store settings: {0}")]
    InvalidOptions(String),
    /// Bytes on disk are not what was written.
    #[error(
        "the store is damaged: {0}. Restore it with `paraffin snapshot import`, or remove the data folder and index anew"
    )]
    Corrupt(String),
    /// The disk, a quota or a file size limit is full.
    #[error(
        "the disk is full (while {during}): free space or raise the limit, then start again; what was committed is safe and stays readable"
    )]
    DiskFull {
        /// The operation.
        during: &'static str,
    },
    /// The operating system refused a read or a write.
    #[error("while {during}: {source}")]
    Io {
        /// The operation.
        during: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// An import of a snapshot was interrupted.
    #[error("the import of a snapshot was broken off: run `paraffin snapshot import` again, or remove {} to index from the node", .folder.display())]
    ImportBrokenOff {
        /// Folder of the incomplete import.
        folder: PathBuf,
    },
    /// An earlier write failed, so nothing more is written until the store is opened again.
    #[error("writing stopped after an earlier failure ({cause}): resolve it and start again; reads still work")]
    WriterFailed {
        /// Message of the first failure.
        cause: String,
    },
    /// The store has one writer at a time.
    #[error("this store already has a writer in this process")]
    WriterTaken,
    /// The undo records do not reach far enough back.
    #[error(
        "a reorganisation {depth} blocks deep cannot be undone: undo records reach down to height {undo_from}, and block {height} would have to go. Rebuild with `paraffin reindex all`, or start from a file of another instance with `paraffin snapshot import`"
    )]
    UndoExhausted {
        /// How many blocks have to be undone, those already undone in a row included.
        depth: u32,
        /// Height of the lowest block that has to be undone.
        height: Height,
        /// Lowest height that can be undone.
        undo_from: Height,
    },
    /// The store is empty.
    #[error("there is no block to undo")]
    NothingToUndo,
    /// The block does not follow the newest one.
    #[error(
        "block {block} does not follow {tip}: its height must be one more and its previous hash the hash of the tip"
    )]
    BlockOrder {
        /// The block offered.
        block: BlockId,
        /// The newest block, as text; `nothing` in an empty store.
        tip: String,
    },
    /// The block is not the one on the current chain at its height.
    #[error("block {0} is not on the indexed chain")]
    UnknownBlock(BlockId),
    /// A module has not seen all blocks yet.
    #[error("module `{name}` is indexed up to {} but the tip is {tip}: finish with `paraffin reindex {name}` first", .height.map_or_else(|| "nothing".to_owned(), |height| format!("height {height}")))]
    ModuleBehind {
        /// Name of the module on the command line.
        name: String,
        /// Newest block of the module.
        height: Option<Height>,
        /// Newest block of the store.
        tip: Height,
    },
    /// A module that is read has failed at the block being applied; its own error says why.
    #[error("a module whose rows are read here could not apply the block")]
    EarlierFailed,
    /// No such module is declared.
    #[error("module number {0} is not declared")]
    UnknownModule(u8),
    /// No such table is declared for the module.
    #[error("table `{0}` is not declared for this module")]
    UnknownTable(&'static str),
    /// The operation does not fit the kind of the table.
    #[error("table `{table}` is {kind}: it has no {operation}")]
    WrongKind {
        /// Name of the table.
        table: &'static str,
        /// Kind of the table.
        kind: &'static str,
        /// The operation.
        operation: &'static str,
    },
    /// A key of a `WriteOnce` table exists already.
    #[error("table `{table}` is WriteOnce and already has the key {key}")]
    KeyExists {
        /// Name of the table.
        table: &'static str,
        /// The key in hexadecimal, at most 64 digits of it.
        key: String,
    },
    /// A key or value is longer than the format allows.
    #[error("table `{table}`: a {what} of {len} bytes is longer than {max}")]
    TooLong {
        /// Name of the table.
        table: &'static str,
        /// `key` or `value`.
        what: &'static str,
        /// Length given, bytes.
        len: usize,
        /// Greatest length, bytes.
        max: usize,
    },
    /// A `Sequence` table holds 2^32-1 rows.
    #[error("table `{0}` is full: a sequence holds at most 4294967295 rows")]
    SequenceFull(&'static str),
    /// The calls came in an order that the writer does not allow; a fault of the program.
    #[error("{0}")]
    Misuse(&'static str),
}

impl StoreError {
    /// Turns a failure of the operating system into `DiskFull` or `Io`.
    pub(crate) fn io(during: &'static str, source: io::Error) -> Self {
        if is_disk_full(&source) { Self::DiskFull { during } } else { Self::Io { during, source } }
    }
}

/// Whether the system ran out of space, of a quota, or hit a limit on the size of a file.
pub(crate) fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
