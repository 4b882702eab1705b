//! The interface of hosted programs: blocks in, pairs out; views.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use paraffin_primitives::Height;

use crate::{BadPointer, Flush, FlushError, ReadError};

/// Name of the export that runs a block.
pub const START: &str = "_start";

/// Largest file of a program, in bytes.
pub const PROGRAM_LEN_MAX: u64 = 64 << 20;

/// The reads of a program: the state as of a height.
pub trait Reads {
    /// The value of a key; `None` when it was never set.
    ///
    /// # Errors
    /// Reading failed.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError>;
}

/// Bounds of one run.
#[derive(Clone, Copy)]
pub struct RunLimits<'a> {
    /// Largest memory of the program, in bytes. 4 GiB is all that there can be.
    pub memory_bytes_max: u64,
    /// Whether the time of the run is over; checked a hundred times a second.
    pub is_over: &'a dyn Fn() -> bool,
}

/// Bounds of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockLimits {
    /// Largest memory of the program, in bytes.
    pub memory_bytes_max: u64,
    /// Longest time for one block.
    pub time_max: Duration,
}

impl Default for BlockLimits {
    /// All the memory that a program can have, and ten minutes.
    fn default() -> Self {
        Self { memory_bytes_max: 4 << 30, time_max: Duration::from_secs(600) }
    }
}

/// A loaded program.
pub trait Program: Send + Sync {
    /// SHA-256 of its bytes.
    fn hash(&self) -> [u8; 32];

    /// Whether it has a view of this name.
    fn has_view(&self, name: &str) -> bool;

    /// Runs a block in a fresh memory. `reads` is the state before it.
    ///
    /// # Errors
    /// The program failed; nothing of the block may be kept.
    fn run_block(
        &self,
        height: Height,
        block: &[u8],
        reads: &dyn Reads,
        limits: RunLimits<'_>,
    ) -> Result<Flush, ProgramError>;

    /// Answers a view in a fresh memory. `reads` is the state at `height`.
    ///
    /// # Errors
    /// There is no such view, or it failed.
    fn view(
        &self,
        name: &str,
        height: Height,
        payload: &[u8],
        reads: &dyn Reads,
        limits: RunLimits<'_>,
    ) -> Result<Vec<u8>, ProgramError>;
}

/// A program failed.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It ended by a trap.
    #[error("the program trapped: {0}")]
    Trapped(String),
    /// It called `abort`.
    #[error("the program called abort")]
    Aborted,
    /// It ended without flushing.
    #[error("the program ended without a flush")]
    NoFlush,
    /// Its flush cannot be decoded.
    #[error(transparent)]
    Flush(#[from] FlushError),
    /// It passed a pointer outside its memory.
    #[error(transparent)]
    Pointer(#[from] BadPointer),
    /// It took longer than it may.
    #[error("the program did not end in its time")]
    TooLong,
    /// It asked for more memory than it may have.
    #[error("the program asked for more than {0} MiB of memory")]
    TooMuchMemory(u64),
    /// The system has no memory left below the program's limit.
    #[error("the system has no memory left for the program")]
    NoMemory,
    /// Its tables have more elements than they may.
    #[error("the program asked for tables of more than {0} elements")]
    TooManyElements(u64),
    /// It has no view of this name.
    #[error("the program has no view of this name")]
    UnknownView,
    /// The state cannot be read.
    #[error("{0}")]
    Read(#[from] ReadError),
}

/// A program cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("the indexer program {path} cannot be read: {source}")]
    Unreadable {
        /// Path of the file.
        path: String,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The file is larger than any indexer program.
    #[error("the indexer program {path} has more than {PROGRAM_LEN_MAX} bytes")]
    TooLarge {
        /// Path of the file.
        path: String,
    },
    /// The bytes are no WASM module.
    #[error("this is not a WASM module that can run: {0}")]
    Invalid(String),
    /// The module is not an indexer program.
    #[error("this module is not an indexer program: {0}")]
    NotAnIndexer(String),
    /// This build cannot run programs.
    #[error(
        "this build of Paraffin has no machine for indexer programs: build it with `cargo build --release --features hosted`, or set [alkanes] \
         engine = \"native\" and shadow = \"off\""
    )]
    NoMachine,
}

/// Reads the file of a program. Later changes of the file have no effect.
///
/// # Errors
/// It cannot be read, or is larger than [`PROGRAM_LEN_MAX`].
pub fn read_file(path: &Path) -> Result<Vec<u8>, LoadError> {
    let name = || path.display().to_string();
    let unreadable = |source| LoadError::Unreadable { path: name(), source };
    let mut bytes = Vec::new();
    // The length in the metadata of a file need not be true.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(PROGRAM_LEN_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > PROGRAM_LEN_MAX { Err(LoadError::TooLarge { path: name() }) } else { Ok(bytes) }
}

/// Loads a program from a file.
///
/// # Errors
/// See [`LoadError`].
pub fn load_file(path: &Path) -> Result<Arc<dyn Program>, LoadError> {
    load(&read_file(path)?)
}

/// Loads a program from its bytes. It is compiled once, here.
///
/// # Errors
/// See [`LoadError`].
#[cfg(feature = "machine")]
pub fn load(bytes: &[u8]) -> Result<Arc<dyn Program>, LoadError> {
    Ok(Arc::new(crate::machine::Machine::load(bytes)?))
}

/// Loads a program from its bytes; this build has no machine and refuses.
///
/// # Errors
/// [`LoadError::NoMachine`], always.
#[cfg(not(feature = "machine"))]
pub fn load(_bytes: &[u8]) -> Result<Arc<dyn Program>, LoadError> {
    Err(LoadError::NoMachine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_missing_or_too_large_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let missing = load_file(&folder.path().join("none.wasm")).err().unwrap().to_string();
        assert!(missing.contains("none.wasm cannot be read"), "{missing}");
        let path = folder.path().join("large.wasm");
        std::fs::File::create(&path).unwrap().set_len(PROGRAM_LEN_MAX + 1).unwrap();
        assert!(matches!(load_file(&path), Err(LoadError::TooLarge { .. })));
        // An endless file whose metadata report no length.
        let endless = read_file(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(endless, "the indexer program /dev/zero has more than 67108864 bytes");
    }

    #[cfg(not(feature = "machine"))]
    #[test]
    fn a_build_without_a_machine_says_how_to_get_one() {
        let text = load(b"\0asm").err().unwrap().to_string();
        assert!(text.contains("--features hosted") && text.contains("engine = \"native\""), "{text}");
    }
}
