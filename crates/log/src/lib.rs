//! A durable append-only log: numbered records in segment files, many appenders sharing one flush to disk.
//!
//! [`Log::append`] returns when its records would survive a power loss. It blocks its thread; an async caller wraps it in
//! `tokio::task::spawn_blocking` (or keeps a thread that appends) and never calls it on a runtime thread. Callers that
//! come while a flush is under way wait together for the next one, so the cost of a flush is shared.
//!
//! Records are numbered from 1 without gaps. `docs/design/store.md` draws the files.
#![forbid(unsafe_code)]

mod commit;
mod frame;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod segment;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;

use commit::Commit;
pub use frame::PAYLOAD_LEN_MAX;
use segment::Segment;

/// Payload bytes after which one [`Log::read`] ends, whatever its limit.
pub const READ_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Settings of a log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// Size at which a new segment file is begun, bytes; at least 4 KiB. A segment passes it by at most one flush.
    pub segment_bytes: u64,
    /// Greatest payload, bytes; at most [`PAYLOAD_LEN_MAX`].
    pub payload_bytes_max: usize,
    /// Bytes that may wait for the next flush; appenders wait beyond it.
    pub queue_bytes_max: usize,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { segment_bytes: 64 * 1024 * 1024, payload_bytes_max: 1024 * 1024, queue_bytes_max: 32 * 1024 * 1024 }
    }
}

/// A record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Number of the record.
    pub seq: u64,
    /// The payload.
    pub payload: Vec<u8>,
}

/// Errors of a log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The folder is open elsewhere.
    #[error("another process is using this log ({})", .folder.display())]
    Locked {
        /// The folder of the log.
        folder: PathBuf,
    },
    /// A setting is out of its range.
    #[error("log settings: {0}")]
    InvalidOptions(&'static str),
    /// Bytes on disk are not what was written.
    #[error("the log is damaged at byte {offset} of {}: {what}. Restore the file from a copy, or move it and all later files away to go on without them", .file.display())]
    Corrupt {
        /// The damaged file.
        file: PathBuf,
        /// Offset in the file, bytes.
        offset: u64,
        /// Description of the damage.
        what: &'static str,
    },
    /// The disk, a quota or a file size limit is full.
    #[error(
        "the disk is full (while {during}): free space, then open the log again; what was acknowledged is safe and stays readable"
    )]
    DiskFull {
        /// What was being done.
        during: &'static str,
    },
    /// The operating system refused a read or a write.
    #[error("while {during}: {source}")]
    Io {
        /// What was being done.
        during: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// An earlier write failed.
    #[error("the log accepts no more records after an earlier failure ({cause}): open it again")]
    Failed {
        /// Message of the first failure.
        cause: String,
    },
    /// A payload is longer than the settings allow.
    #[error("a payload of {len} bytes is longer than {max}")]
    PayloadTooLong {
        /// Length given, bytes.
        len: usize,
        /// Greatest length, bytes.
        max: usize,
    },
    /// One append is larger than the queue.
    #[error("an append of {len} bytes is longer than {max}: split it")]
    BatchTooLong {
        /// Length of all records, bytes.
        len: usize,
        /// Greatest length, bytes.
        max: usize,
    },
    /// The record was removed by [`Log::truncate_before`].
    #[error(
        "record {seq} is gone, the oldest one kept is {first_seq}: read from there and rebuild what depends on older ones"
    )]
    Gone {
        /// The requested record.
        seq: u64,
        /// The oldest record kept.
        first_seq: u64,
    },
}

impl LogError {
    pub(crate) fn io(during: &'static str, source: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match source.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::DiskFull { during },
            _ => Self::Io { during, source },
        }
    }
}

/// An open log. Cheap to clone; one process per folder.
#[derive(Clone)]
pub struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    options: LogOptions,
    commit: Commit,
    segments: Arc<RwLock<Vec<Arc<Segment>>>>,
    _lock: File,
}

impl Log {
    /// Opens or creates the log in `folder`. A record that was being written when the process or the machine stopped is
    /// cut off; it was never acknowledged.
    ///
    /// # Errors
    /// Another process uses the folder, the newest file is damaged before its end, a setting is out of range, or the disk
    /// cannot be used.
    pub fn open(folder: &Path, options: LogOptions) -> Result<Self, LogError> {
        if options.segment_bytes < 4096 {
            return Err(LogError::InvalidOptions("segment_bytes must be at least 4096"));
        }
        if options.payload_bytes_max > PAYLOAD_LEN_MAX {
            return Err(LogError::InvalidOptions("payload_bytes_max must be at most 16 MiB"));
        }
        if options.queue_bytes_max < options.payload_bytes_max.saturating_add(frame::HEAD_LEN) {
            return Err(LogError::InvalidOptions("queue_bytes_max must hold at least one record"));
        }
        fs::create_dir_all(folder).map_err(|error| LogError::io("creating the folder of the log", error))?;
        let lock = lock_folder(folder)?;
        let (segments, sink, next_seq) = segment::open_all(folder, options.segment_bytes)?;
        let segments = Arc::new(RwLock::new(segments));
        let commit = Commit::new(sink, Arc::clone(&segments), next_seq, options.queue_bytes_max);
        Ok(Self { inner: Arc::new(Inner { options, commit, segments, _lock: lock }) })
    }

    /// Appends records and waits until they are on the disk. Returns the number of the first; the others follow it
    /// without a gap. The records of one call may survive a crash in part, but only if the call did not return.
    ///
    /// # Errors
    /// A payload or the whole call is too long (nothing is appended), or a write failed: then no record of the call is
    /// acknowledged, and the log has to be opened again.
    pub fn append<P: AsRef<[u8]>>(&self, payloads: &[P]) -> Result<u64, LogError> {
        let max = self.inner.options.payload_bytes_max;
        let mut len = 0_usize;
        for payload in payloads {
            let payload = payload.as_ref();
            if payload.len() > max {
                return Err(LogError::PayloadTooLong { len: payload.len(), max });
            }
            len = len.saturating_add(frame::HEAD_LEN + payload.len());
        }
        if len > self.inner.options.queue_bytes_max {
            return Err(LogError::BatchTooLong { len, max: self.inner.options.queue_bytes_max });
        }
        self.inner.commit.append(payloads, len)
    }

    /// Records from number `from_seq` on, at most `limit`, and at most about [`READ_BYTES_MAX`] of payload (but one
    /// record at least). Empty when there is none yet.
    ///
    /// # Errors
    /// The record was removed, the file is damaged, or the disk cannot be read.
    pub fn read(&self, from_seq: u64, limit: usize) -> Result<Vec<Entry>, LogError> {
        let mut entries = Vec::new();
        let mut bytes = 0;
        let mut seq = from_seq.max(1);
        let durable = self.next_seq();
        while seq < durable && entries.len() < limit && bytes < READ_BYTES_MAX {
            let segment = self.segment_of(seq)?;
            let before = entries.len();
            bytes += segment.read(seq, durable, limit - entries.len(), READ_BYTES_MAX - bytes, &mut entries)?;
            if entries.len() == before {
                return Err(segment.ends_early());
            }
            seq = entries.last().map_or(seq, |entry| entry.seq + 1);
        }
        Ok(entries)
    }

    fn segment_of(&self, seq: u64) -> Result<Arc<Segment>, LogError> {
        let segments = self.inner.segments.read();
        let index = segments.partition_point(|segment| segment.first_seq() <= seq);
        match index.checked_sub(1) {
            Some(index) => Ok(Arc::clone(&segments[index])),
            None => Err(LogError::Gone { seq, first_seq: segments.first().map_or(seq, |segment| segment.first_seq()) }),
        }
    }

    /// Number of the oldest record kept; equal to [`Self::next_seq`] in an empty log.
    pub fn first_seq(&self) -> u64 {
        self.inner.segments.read().first().map_or(1, |segment| segment.first_seq())
    }

    /// Number that the next record gets once all records acknowledged so far are counted.
    pub fn next_seq(&self) -> u64 {
        self.inner.commit.durable_seq()
    }

    /// Removes whole segment files whose records all lie before `seq`; the newest file always stays.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn truncate_before(&self, seq: u64) -> Result<(), LogError> {
        let mut segments = self.inner.segments.write();
        while segments.len() > 1 && segments[1].first_seq() <= seq {
            segments[0].remove_file()?;
            segments.remove(0);
        }
        Ok(())
    }

    /// Reads every record and checks it.
    ///
    /// # Errors
    /// The first damage found, or the disk cannot be read.
    pub fn verify(&self) -> Result<(), LogError> {
        let mut seq = self.first_seq();
        let end = self.next_seq();
        while seq < end {
            seq = self.read(seq, usize::MAX)?.last().map_or(end, |entry| entry.seq + 1);
        }
        Ok(())
    }

    /// Bytes of the segment files.
    pub fn disk_bytes(&self) -> u64 {
        self.inner.segments.read().iter().map(|segment| segment.len()).sum()
    }
}

fn lock_folder(folder: &Path) -> Result<File, LogError> {
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("lock"))
        .map_err(|error| LogError::io("opening the lock file of the log", error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(LogError::Locked { folder: folder.to_path_buf() }),
        Err(fs::TryLockError::Error(error)) => Err(LogError::io("locking the folder of the log", error)),
    }
}
