//! The storage engine (fjall), which only this module names: keyspaces, batches, sorted runs, views, and its failures.

mod batch;
mod failure;
mod merges;
mod run;
mod sorted;
mod space;
mod torn_journal;
mod view;

use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fjall::{AbstractTree, Database, Keyspace, PersistMode};
use parking_lot::Mutex;

use crate::{MemorySplit, StoreError};
pub(crate) use batch::Batch;
use failure::classify;
use merges::{MergeState, Merges};
pub(crate) use run::{EachChange, Run, RunPart};
pub(crate) use space::Space;
pub(crate) use view::{EngineRows, KnownRows, View};

/// Bytes that are cheap to clone; up to 20 of them are inline.
pub(crate) type Bytes = fjall::Slice;

/// A row as the engine holds it.
pub(crate) type EngineRow = (Bytes, Bytes);

/// Row of the keyspaces that are numbered: the number of the newest commit. All are equal in a whole store.
const COMMIT_KEY: [u8; 1] = [u8::MAX];
/// The store waits when a keyspace has more runs of commits than this; the engine would slow down at 20, and stop at 30.
const WAITING_RUNS_MAX: usize = 18;
/// The same for their tables; the engine would begin merges of its own at 255.
const WAITING_TABLES_MAX: usize = 200;

/// Read operations of the engine since the store was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadCounts {
    /// Point reads.
    pub gets: u64,
    /// Positioned scans begun.
    pub seeks: u64,
    /// Rows that scans stepped over or returned.
    pub rows: u64,
}

impl ReadCounts {
    /// All operations together.
    pub const fn total(&self) -> u64 {
        self.gets + self.seeks + self.rows
    }
}

#[derive(Default)]
struct Counters {
    gets: AtomicU64,
    seeks: AtomicU64,
    rows: AtomicU64,
    commits: AtomicU64,
    committed_rows: AtomicU64,
    committed_bytes: AtomicU64,
    stall_micros: AtomicU64,
}

/// Bytes of rows from which on a commit is written as a sorted run: about what a full block of mainnet makes.
const LARGE_COMMIT: u64 = 1 << 20;
/// The same when the journal has [`LONG_JOURNAL`]; tables of smaller commits would cost more than they spare.
const SMALL_COMMIT: u64 = 64 << 10;
/// The engine reads about 25 MB of its journal a second when it starts, and empties it only beyond 64 MB or when it is closed.
const LONG_JOURNAL: u64 = 8 << 20;

/// The open engine, its lock, and the first write failure if there was one.
pub(crate) struct Engine {
    // First, so that its threads end before the engine is closed.
    merges: OnceLock<Merges>,
    merge_state: Arc<MergeState>,
    database: Database,
    spaces: [Keyspace; Space::COUNT],
    folder: PathBuf,
    split: MemorySplit,
    commit_number: AtomicU64,
    counters: Counters,
    /// Message of the first failed write, after which all writes are refused.
    failed: Mutex<Option<String>>,
    /// Held while a batch or a flush is written, so that neither overtakes the other.
    writing: Mutex<()>,
    // After the engine, so that they act when it is closed; the lock last.
    clean_end: CleanEnd,
    _lock: File,
}

/// Empties the journal of a closed engine when tables hold everything, so that the next start has nothing to read back.
struct CleanEnd {
    engine_folder: PathBuf,
    is_flushed: AtomicBool,
}

impl Drop for CleanEnd {
    fn drop(&mut self) {
        if *self.is_flushed.get_mut()
            && let Err(error) = torn_journal::empty(&self.engine_folder)
        {
            // The journal is then read back at the next start, which only takes time.
            tracing::warn!(%error, "the journal could not be emptied");
        }
    }
}

impl Engine {
    pub(crate) fn open(folder: &Path, split: MemorySplit) -> Result<Self, StoreError> {
        fs::create_dir_all(folder).map_err(|error| StoreError::io("creating the data folder", error))?;
        let lock = lock_folder(folder)?;
        let engine_folder = folder.join(ENGINE_FOLDER);
        create(folder, &engine_folder, split)?;
        torn_journal::check_order(&engine_folder).map_err(|error| match error.kind() {
            std::io::ErrorKind::InvalidData => StoreError::Corrupt(format!("its journal is out of order: {error}")),
            _ => StoreError::io("reading the journal", error),
        })?;
        let merge_state = Arc::new(MergeState::default());
        let (database, spaces) = match open_guarded(&engine_folder, split, &merge_state) {
            Err(damage @ StoreError::Corrupt(_)) => {
                let removed = torn_journal::cut(&engine_folder)
                    .map_err(|error| StoreError::io("cutting off the torn end of the journal", error))?;
                if removed == 0 {
                    return Err(damage);
                }
                open_guarded(&engine_folder, split, &merge_state)?
            }
            opened => opened?,
        };
        let engine = Self {
            merges: OnceLock::new(),
            merge_state,
            database,
            spaces,
            folder: folder.to_path_buf(),
            split,
            commit_number: AtomicU64::new(0),
            counters: Counters::default(),
            failed: Mutex::new(None),
            writing: Mutex::new(()),
            clean_end: CleanEnd { engine_folder, is_flushed: AtomicBool::new(false) },
            _lock: lock,
        };
        engine.finish_run()?;
        engine.check_commit_numbers()?;
        Ok(engine)
    }

    /// Begins to merge tables, once the store's format is known to be this program's.
    pub(crate) fn start_merges(&self) -> Result<(), StoreError> {
        let failed = |error| StoreError::io("starting a thread", error);
        let merges = Merges::start(&self.merge_state, &self.database, &self.spaces, merges::FAN_IN).map_err(failed)?;
        let _ = self.merges.set(merges);
        Ok(())
    }

    /// Every commit writes its number into these keyspaces; unequal numbers mean that one of them lost its end.
    fn check_commit_numbers(&self) -> Result<(), StoreError> {
        let numbers = self.commit_numbers()?;
        if numbers.iter().any(|number| *number != numbers[0]) {
            return Err(StoreError::Corrupt(format!("its keyspaces end at different commits {numbers:?}")));
        }
        self.commit_number.store(numbers[0], Ordering::Relaxed);
        Ok(())
    }

    /// The newest commit of each keyspace that is numbered.
    fn commit_numbers(&self) -> Result<[u64; Space::NUMBERED.len()], StoreError> {
        let mut numbers = [0; Space::NUMBERED.len()];
        for (space, newest) in Space::NUMBERED.into_iter().zip(&mut numbers) {
            let row = self.spaces[space as usize]
                .get(COMMIT_KEY)
                .map_err(|error| classify("opening the store", error, &self.folder))?;
            if let Some(bytes) = row {
                *newest = bytes[..]
                    .try_into()
                    .map(u64::from_be_bytes)
                    .map_err(|_| StoreError::Corrupt("a commit number has a wrong length".to_owned()))?;
            }
        }
        Ok(numbers)
    }

    pub(crate) fn split(&self) -> MemorySplit {
        self.split
    }

    /// Error when an earlier write failed.
    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        match &*self.failed.lock() {
            None => Ok(()),
            Some(cause) => Err(StoreError::WriterFailed { cause: cause.clone() }),
        }
    }

    /// Writes `batch` whole or not at all; with `sync` it is on the disk when this returns.
    pub(crate) fn commit(&self, batch: Batch<'_>, sync: bool) -> Result<(), StoreError> {
        self.check_writable()?;
        let _writing = self.writing.lock();
        self.commit_or_fail(batch, sync).inspect_err(|error| self.fail(error))
    }

    /// Refuses all further writes.
    pub(crate) fn fail(&self, error: &StoreError) {
        tracing::error!(%error, "the store accepts no further writes");
        self.failed.lock().get_or_insert_with(|| error.to_string());
    }

    fn commit_or_fail(&self, batch: Batch<'_>, sync: bool) -> Result<(), StoreError> {
        let classify = |error| classify("committing blocks", error, &self.folder);
        if batch.rows() == 0 {
            if sync {
                self.database.persist(PersistMode::SyncAll).map_err(classify)?;
            }
            return Ok(());
        }
        self.wait_for_room()?;
        self.clean_end.is_flushed.store(false, Ordering::Relaxed);
        let number = self.commit_number.load(Ordering::Relaxed) + 1;
        let (rows, bytes) = (batch.rows(), batch.bytes());
        let mut batch = batch.into_journal();
        for space in Space::NUMBERED {
            batch.insert(&self.spaces[space as usize], COMMIT_KEY, number.to_be_bytes());
        }
        let mode = if sync { PersistMode::SyncAll } else { PersistMode::Buffer };
        batch.durability(Some(mode)).commit().map_err(classify)?;
        self.count_commit(number, rows, bytes);
        for keyspace in &self.spaces {
            if keyspace.tree.active_memtable().size() > self.split.memtable {
                keyspace.rotate_memtable().map_err(classify)?;
            }
        }
        Ok(())
    }

    /// Counts a commit.
    fn count_commit(&self, number: u64, rows: u64, bytes: u64) {
        self.commit_number.store(number, Ordering::Relaxed);
        self.counters.commits.fetch_add(1, Ordering::Relaxed);
        self.counters.committed_rows.fetch_add(rows, Ordering::Relaxed);
        self.counters.committed_bytes.fetch_add(bytes, Ordering::Relaxed);
        self.merge_state.wake();
    }

    /// Waits until flushing and compaction have caught up. The engine has waits of its own inside a commit, but those
    /// never end when its worker thread has died (a full disk); so the store waits first, and looks for that.
    fn wait_for_room(&self) -> Result<(), StoreError> {
        let begin = Instant::now();
        let mut warned = false;
        loop {
            self.check_alive()?;
            let busy = self.spaces.iter().find(|space| {
                let (runs, tables) = (space.tree.l0_run_count(), space.l0_table_count());
                let is_full = runs > WAITING_RUNS_MAX || (runs > 1 && tables > WAITING_TABLES_MAX);
                space.sealed_memtable_count() > 1 || is_full
            });
            let Some(space) = busy else { break };
            if !warned && begin.elapsed() > Duration::from_secs(30) {
                tracing::warn!(keyspace = &**space.name(), "waiting for the engine to flush; the disk may be slow");
                warned = true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.counters.stall_micros.fetch_add(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Error when a thread of the engine has failed.
    fn check_alive(&self) -> Result<(), StoreError> {
        if let Some(error) = self.merge_state.take_failure() {
            let error = classify("merging tables", error, &self.folder);
            self.fail(&error);
            return Err(error);
        }
        if self.merges.get().is_some_and(Merges::have_ended) {
            return Err(StoreError::io("merging tables", std::io::Error::other("a thread ended unexpectedly")));
        }
        self.database
            .persist(PersistMode::Buffer)
            .map_err(|error| classify("writing tables to disk", error, &self.folder))
    }

    pub(crate) fn read_counts(&self) -> ReadCounts {
        ReadCounts {
            gets: self.counters.gets.load(Ordering::Relaxed),
            seeks: self.counters.seeks.load(Ordering::Relaxed),
            rows: self.counters.rows.load(Ordering::Relaxed),
        }
    }

    /// Bytes that the tables of a keyspace take on disk.
    pub(crate) fn space_bytes(&self, space: Space) -> u64 {
        self.spaces[space as usize].disk_space()
    }

    /// Whether a commit of so many bytes of rows goes into table files instead of the journal, so that a start after a kill has
    /// little to read back: large ones do, and all but the smallest once the journal is long.
    pub(crate) fn takes_as_run(&self, bytes: u64) -> bool {
        bytes >= LARGE_COMMIT || (bytes >= SMALL_COMMIT && self.journal_bytes() >= LONG_JOURNAL)
    }

    /// Bytes that the journal takes on disk; its files are allocated ahead, and what was not written does not count.
    pub(crate) fn journal_bytes(&self) -> u64 {
        let Ok(entries) = fs::read_dir(self.folder.join(ENGINE_FOLDER)) else { return 0 };
        entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jnl"))
            .filter_map(|entry| entry.metadata().ok())
            .map(|metadata| allocated_bytes(&metadata))
            .sum()
    }

    pub(crate) fn stats(&self) -> EngineStats {
        EngineStats {
            reads: self.read_counts(),
            commits: self.counters.commits.load(Ordering::Relaxed),
            committed_rows: self.counters.committed_rows.load(Ordering::Relaxed),
            committed_bytes: self.counters.committed_bytes.load(Ordering::Relaxed),
            stalled: Duration::from_micros(self.counters.stall_micros.load(Ordering::Relaxed)),
            cache_bytes: self.database.cache_size(),
            buffered_bytes: self.spaces.iter().map(|space| space.tree.version_memtable_size_sum()).sum(),
            compacting: self.merge_state.time(),
            spaces: Space::ALL.map(|space| {
                let keyspace = &self.spaces[space as usize];
                (space.name(), keyspace.disk_space(), keyspace.table_count() as u64)
            }),
        }
    }

    /// Writes all write buffers to tables.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.check_writable()?;
        let _writing = self.writing.lock();
        for keyspace in &self.spaces {
            keyspace.rotate_memtable().map_err(|error| classify("writing tables to disk", error, &self.folder))?;
        }
        while self.spaces.iter().any(|space| space.sealed_memtable_count() > 0) {
            self.check_alive()?;
            std::thread::sleep(Duration::from_millis(1));
        }
        let is_flushed = self.spaces.iter().all(|space| space.tree.active_memtable().is_empty());
        self.clean_end.is_flushed.store(is_flushed, Ordering::Relaxed);
        Ok(())
    }
}

/// Figures of the engine.
pub(crate) struct EngineStats {
    pub(crate) reads: ReadCounts,
    pub(crate) commits: u64,
    pub(crate) committed_rows: u64,
    pub(crate) committed_bytes: u64,
    pub(crate) stalled: Duration,
    pub(crate) cache_bytes: u64,
    pub(crate) buffered_bytes: u64,
    pub(crate) compacting: Duration,
    pub(crate) spaces: [(&'static str, u64, u64); Space::COUNT],
}

const ENGINE_FOLDER: &str = "engine";
/// The engine's folder while it is being created.
const UNFINISHED_ENGINE_FOLDER: &str = "engine.part";

pub(crate) fn lock_folder(folder: &Path) -> Result<File, StoreError> {
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("lock"))
        .map_err(|error| StoreError::io("opening the lock file", error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(fs::TryLockError::WouldBlock) => Err(StoreError::Locked { folder: folder.to_path_buf() }),
        Err(fs::TryLockError::Error(error)) => Err(StoreError::io("locking the data folder", error)),
    }
}

/// Creates the engine's folder atomically if it is missing: the engine does not open a folder whose creation a kill interrupted.
fn create(folder: &Path, engine_folder: &Path, split: MemorySplit) -> Result<(), StoreError> {
    let failed = |error| StoreError::io("creating the store", error);
    if engine_folder.try_exists().map_err(failed)? {
        return Ok(());
    }
    let unfinished = folder.join(UNFINISHED_ENGINE_FOLDER);
    match fs::remove_dir_all(&unfinished) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => drop(open_guarded(&unfinished, split, &MergeState::default())?),
    }
    fs::rename(unfinished, engine_folder).map_err(failed)?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

fn open_guarded(
    engine_folder: &Path,
    split: MemorySplit,
    merges: &MergeState,
) -> Result<(Database, [Keyspace; Space::COUNT]), StoreError> {
    // The engine panics on stray and damaged files; that must not end the program.
    match catch_unwind(AssertUnwindSafe(|| open_database(engine_folder, split, merges))) {
        Ok(result) => result.map_err(|error| classify("opening the store", error, engine_folder)),
        Err(_) => Err(StoreError::Corrupt("the engine could not read its files".to_owned())),
    }
}

fn open_database(
    engine_folder: &Path,
    split: MemorySplit,
    merges: &MergeState,
) -> fjall::Result<(Database, [Keyspace; Space::COUNT])> {
    // The engine's thread flushes; merges have threads of the store.
    let filter = merges.filter();
    let database = Database::builder(engine_folder)
        .worker_threads(1)
        .with_compaction_filter_factories(Arc::new(move |_| Some(Arc::clone(&filter))))
        .cache_size(split.cache)
        .max_journaling_size(split.journal)
        .open()?;
    let open = |space: Space| database.keyspace(space.name(), || space.options());
    let [ordered, hashed, bulk, meta, undo, appended] = Space::ALL.map(open);
    Ok((database, [ordered?, hashed?, bulk?, meta?, undo?, appended?]))
}

#[cfg(unix)]
fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn allocated_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyspace_that_lost_its_newest_commit_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let split = MemorySplit::of(MemorySplit::FLOOR).unwrap();
        let open = || Engine::open(folder.path(), split);
        for space in Space::NUMBERED {
            let engine = open().unwrap();
            let mut batch = engine.batch();
            batch.insert(Space::Hashed, *b"key", *b"value");
            engine.commit(batch, false).unwrap();
            let number = engine.commit_number.load(Ordering::Relaxed);
            let put = |engine: &Engine, number: u64| {
                engine.spaces[space as usize].insert(COMMIT_KEY, number.to_be_bytes()).unwrap();
            };
            put(&engine, number - 1);
            drop(engine);
            let Err(error) = open() else { panic!("{} opened", space.name()) };
            assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
            assert!(error.to_string().contains("paraffin snapshot import"), "{error}");
            let (database, spaces) =
                open_database(&folder.path().join(ENGINE_FOLDER), split, &MergeState::default()).unwrap();
            spaces[space as usize].insert(COMMIT_KEY, number.to_be_bytes()).unwrap();
            drop((database, spaces));
        }
        assert_eq!(open().unwrap().commit_number.load(Ordering::Relaxed), Space::NUMBERED.len() as u64);
    }

    #[test]
    fn write_buffers_are_rotated_at_the_size_of_this_start_not_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let large = MemorySplit { memtable: 32 << 20, ..MemorySplit::of(MemorySplit::FLOOR).unwrap() };
        let small = MemorySplit { memtable: 64 << 10, ..large };
        for (split, is_flushed) in [(large, false), (small, true)] {
            let engine = Engine::open(folder.path(), split).unwrap();
            for number in 0..40_u64 {
                let mut batch = engine.batch();
                batch.insert(Space::Bulk, number.to_be_bytes(), vec![number as u8; 10_000]);
                engine.commit(batch, false).unwrap();
            }
            // Written by a thread of the engine.
            let begin = Instant::now();
            let bulk = &engine.spaces[Space::Bulk as usize];
            while is_flushed && bulk.table_count() == 0 && begin.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(2));
            }
            assert_eq!(bulk.table_count() > 0, is_flushed);
        }
    }
}
