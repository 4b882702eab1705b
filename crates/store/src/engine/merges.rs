//! Merges of table files.
//!
//! The engine's own merges write the level below again each time. Here a level holds several sorted runs that overlap, and
//! [`FAN_IN`] of them become one run of the next level: a row is written again once for each level. Runs of commits are in level
//! 0, ten of them make one in level 2, ten of those one in level 4; levels 1 and 3 hold a merge only until it is moved below.
//! Level 6 has one run, level 5 one or none: what ten runs of level 4 hold goes into the last level when it is no longer small
//! beside it, and collects in level 5 until then. Removed rows are gone from the last level on.
//!
//! Rows of the keyspace `appended` are above all those before, so its files are moved instead of merged: files of commits that are
//! large go into the last level as they are, small ones are merged ten at a time, twice at most.
//!
//! The engine's thread finds nothing to do ([`idle_strategy`]); two threads of the store merge, one for the runs of commits, so
//! that these never wait for a long merge.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fjall::compaction::Leveled;
use fjall::compaction::filter::{CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict};
use fjall::{AbstractTree, Database, Keyspace, LsmError};
use lsm_tree::compaction::{CompactionStrategy, MoveDown, PullDown};
use parking_lot::{Condvar, Mutex};

use super::Space;

/// Runs of a level that are merged together. More means fewer merges and more runs to look into for each row.
pub(super) const FAN_IN: usize = 10;
/// The last level is written again for runs of at least this part of its size.
const LAST_LEVEL_PART: u64 = 2;
/// Least mean length of files that are moved as they are, bytes, and the share of the last level that it is while within these. The engine
/// compares each file of a level with each other one whenever files are moved there, and reads wait for it: so there are some thousands of
/// files at most, however long the chain is.
const MOVED_BYTES: (u64, u64) = (4 << 20, 32 << 20);
const MOVED_SHARE: u64 = 2048;
/// How long a thread sleeps at most: a flush of the engine wakes none.
const PAUSE: Duration = Duration::from_secs(1);

/// Tables of runs of commits that are merged however few runs they are; a run has one for each 64 MiB.
const TABLES_MAX: usize = 100;

/// A strategy of the engine that merges nothing: it waits for 255 tables in level 0, and a level may have 255 TiB.
pub(super) fn idle_strategy() -> Leveled {
    Leveled::default().with_l0_threshold(u8::MAX).with_table_target_size(1 << 40)
}

/// State shared by the merging threads and the engine.
#[derive(Default)]
pub(super) struct MergeState {
    /// Sequence numbers of open views, with the number of views at each.
    views: Mutex<BTreeMap<u64, usize>>,
    is_closing: Arc<AtomicBool>,
    /// The error that ended merges.
    failed: Mutex<Option<fjall::Error>>,
    micros: AtomicU64,
    lock: Mutex<()>,
    work: Condvar,
}

impl MergeState {
    /// Opens a snapshot, whose rows merges keep until [`Self::close_view`].
    pub(super) fn open_view(&self, database: &Database) -> fjall::Snapshot {
        let mut views = self.views.lock();
        let snapshot = database.snapshot();
        *views.entry(snapshot.seqno()).or_default() += 1;
        snapshot
    }

    pub(super) fn close_view(&self, sequence_number: u64) {
        let mut views = self.views.lock();
        if let Some(count) = views.get_mut(&sequence_number) {
            *count -= 1;
            if *count == 0 {
                views.remove(&sequence_number);
            }
        }
    }

    /// No open view, and none that will be opened, reads a row that was written over before this number.
    fn oldest_view(&self, database: &Database) -> u64 {
        let views = self.views.lock();
        views.keys().next().copied().unwrap_or_else(|| database.visible_seqno())
    }

    /// Ends merges with an error soon after [`Merges`] is dropped.
    pub(super) fn filter(&self) -> Arc<dyn Factory> {
        Arc::new(Closing(Arc::clone(&self.is_closing)))
    }

    /// Wakes the threads: there may be something to merge.
    pub(super) fn wake(&self) {
        let _lock = self.lock.lock();
        self.work.notify_all();
    }

    /// The error that ended merges, returned once.
    pub(super) fn take_failure(&self) -> Option<fjall::Error> {
        self.failed.lock().take()
    }

    /// Time that merges took, of both threads together.
    pub(super) fn time(&self) -> Duration {
        Duration::from_micros(self.micros.load(Ordering::Relaxed))
    }
}

/// Passes every row through; fails when the store is being closed, so that no merge delays that.
struct Closing(Arc<AtomicBool>);

impl Factory for Closing {
    fn name(&self) -> &'static str {
        "closing"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(Self(Arc::clone(&self.0)))
    }
}

impl CompactionFilter for Closing {
    fn filter_item(&mut self, _: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        if self.0.load(Ordering::Relaxed) {
            return Err(LsmError::Io(io::Error::new(io::ErrorKind::Interrupted, "the store is being closed")));
        }
        Ok(Verdict::Keep)
    }
}

/// The merging threads. They end when this is dropped.
pub(super) struct Merges {
    state: Arc<MergeState>,
    threads: Vec<JoinHandle<()>>,
}

impl Merges {
    pub(super) fn start(
        state: &Arc<MergeState>,
        database: &Database,
        spaces: &[Keyspace; Space::COUNT],
        fan_in: usize,
    ) -> io::Result<Self> {
        let mut merges = Self { state: Arc::clone(state), threads: Vec::new() };
        for (name, step) in [("merge-runs", merge_runs as Step), ("merge-levels", merge_levels as Step)] {
            let worker =
                Worker { state: Arc::clone(state), database: database.clone(), spaces: spaces.clone(), fan_in };
            merges.threads.push(std::thread::Builder::new().name(name.to_owned()).spawn(move || worker.run(step))?);
        }
        Ok(merges)
    }
}

impl Merges {
    /// Whether a thread has ended, by an error or a panic.
    pub(super) fn have_ended(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }
}

impl Drop for Merges {
    fn drop(&mut self) {
        self.state.is_closing.store(true, Ordering::Relaxed);
        self.state.wake();
        for thread in self.threads.drain(..) {
            // A panic needs no handling here; the next start cleans up as after a kill.
            let _ = thread.join();
        }
    }
}

/// Merges or moves something of a keyspace; whether there was anything.
type Step = fn(&Worker, Space) -> Result<bool, LsmError>;

struct Worker {
    state: Arc<MergeState>,
    database: Database,
    spaces: [Keyspace; Space::COUNT],
    fan_in: usize,
}

impl Worker {
    fn run(&self, step: Step) {
        while !self.state.is_closing.load(Ordering::Relaxed) {
            let mut has_merged = false;
            for space in Space::ALL {
                match step(self, space) {
                    Ok(merged) => has_merged |= merged,
                    Err(_) if self.state.is_closing.load(Ordering::Relaxed) => return,
                    Err(error) => {
                        tracing::error!(%error, keyspace = space.name(), "merging tables failed");
                        self.state.failed.lock().get_or_insert_with(|| error.into());
                        return;
                    }
                }
            }
            if !has_merged {
                let mut lock = self.state.lock.lock();
                if !self.state.is_closing.load(Ordering::Relaxed) {
                    self.state.work.wait_for(&mut lock, PAUSE);
                }
            }
        }
    }

    fn apply(&self, space: &Keyspace, strategy: impl CompactionStrategy + 'static) -> Result<(), LsmError> {
        let begin = Instant::now();
        let outcome = space.tree.compact(Arc::new(strategy), self.state.oldest_view(&self.database));
        self.state.micros.fetch_add(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
        outcome
    }
}

/// Runs and bytes of tables of a level.
fn level(space: &Keyspace, number: usize) -> (usize, u64) {
    let version = space.tree.current_version();
    version.level(number).map_or((0, 0), |level| (level.run_count(), level.size()))
}

/// Merges runs of commits, level 0, into one run of level 2; moves files of `appended`, which rarely takes long.
fn merge_runs(worker: &Worker, space: Space) -> Result<bool, LsmError> {
    let is_appended = space == Space::Appended;
    let space = &worker.spaces[space as usize];
    if is_appended {
        return Ok(move_runs(worker, space)? || move_levels(worker, space)?);
    }
    // A stop may have left a merge in level 1.
    let is_left = level(space, 1).0 > 0;
    let runs = space.tree.l0_run_count();
    if !is_left && runs < worker.fan_in && (runs < 2 || space.l0_table_count() < TABLES_MAX) {
        return Ok(false);
    }
    if !is_left {
        worker.apply(space, PullDown(0, 1))?;
    }
    worker.apply(space, MoveDown(1, 2))?;
    Ok(true)
}

/// Merges runs of level 2 into one of level 4, and those of level 4 into levels 5 and 6.
fn merge_levels(worker: &Worker, space: Space) -> Result<bool, LsmError> {
    if space == Space::Appended {
        return Ok(false);
    }
    let space = &worker.spaces[space as usize];
    if level(space, 3).0 > 0 {
        worker.apply(space, MoveDown(3, 4))?;
        return Ok(true);
    }
    if level(space, 2).0 >= worker.fan_in {
        worker.apply(space, PullDown(2, 3))?;
        worker.apply(space, MoveDown(3, 4))?;
        return Ok(true);
    }
    let (runs, upper) = level(space, 4);
    let ((_, collected), (_, last)) = (level(space, 5), level(space, 6));
    if collected > 0 && collected >= last / LAST_LEVEL_PART {
        worker.apply(space, PullDown(5, 6))?;
    } else if runs < worker.fan_in {
        return Ok(false);
    } else if collected == 0 && upper >= last / LAST_LEVEL_PART {
        worker.apply(space, PullDown(4, 6))?;
    } else {
        worker.apply(space, PullDown(4, 5))?;
    }
    Ok(true)
}

/// Files and runs of a level, and the mean length of a file, bytes.
fn files(space: &Keyspace, number: usize) -> (usize, usize, u64) {
    let version = space.tree.current_version();
    let Some(level) = version.level(number) else { return (0, 0, 0) };
    let count = level.table_count();
    (count, level.run_count(), level.size() / (count as u64).max(1))
}

/// Mean length from which on files are moved as they are, bytes.
fn moved_bytes_min(space: &Keyspace) -> u64 {
    let (_, last) = level(space, 6);
    (last / MOVED_SHARE).clamp(MOVED_BYTES.0, MOVED_BYTES.1)
}

/// Moves large files of commits out of level 0 of `appended`; merges small ones, and ones that overlap, into a run of level 2.
fn move_runs(worker: &Worker, space: &Keyspace) -> Result<bool, LsmError> {
    let (count, runs, mean) = files(space, 0);
    // A stop may have left a merge in level 1.
    let is_left = level(space, 1).0 > 0;
    if !is_left && count < worker.fan_in {
        return Ok(false);
    }
    if !is_left && runs == 1 && mean >= moved_bytes_min(space) {
        // The engine's strategy moves the one run of level 0 into the first level that has files, the last one when none has,
        // unless they overlap; it looks while none can be added.
        worker.apply(space, idle_strategy())?;
        if files(space, 0).0 < count {
            return Ok(true);
        }
    }
    if !is_left {
        worker.apply(space, PullDown(0, 1))?;
    }
    worker.apply(space, MoveDown(1, 2))?;
    Ok(true)
}

/// Moves files of level 2 of `appended` into the last level, small ones and ones that overlap merged. There removed rows are dropped
/// when most are.
fn move_levels(worker: &Worker, space: &Keyspace) -> Result<bool, LsmError> {
    let (count, runs, mean) = files(space, 2);
    if level(space, 3).0 > 0 {
        worker.apply(space, MoveDown(3, 6))?;
    } else if count >= worker.fan_in && runs == 1 && mean >= moved_bytes_min(space) {
        // It stays one run: beside this thread only that strategy adds files to level 2.
        worker.apply(space, MoveDown(2, 6))?;
    } else if count >= worker.fan_in {
        worker.apply(space, PullDown(2, 3))?;
        worker.apply(space, MoveDown(3, 6))?;
    } else if level(space, 6).0 > 1 && space.tree.tombstone_count() >= space.tree.approximate_len() as u64 / 5 * 2 {
        worker.apply(space, PullDown(6, 6))?;
    } else {
        return Ok(false);
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::MemorySplit;
    use crate::engine::run::{CollectedRows, Run};
    use crate::engine::{Bytes, Engine, View};

    /// Value of each of the keys 0 to 99, the same in all keyspaces.
    type Rows = BTreeMap<u8, u32>;

    fn open(folder: &Path) -> Arc<Engine> {
        Arc::new(Engine::open(folder, MemorySplit::of(MemorySplit::FLOOR).unwrap()).unwrap())
    }

    fn worker(engine: &Engine, fan_in: usize) -> Worker {
        let (state, database) = (Arc::clone(&engine.merge_state), engine.database.clone());
        Worker { state, database, spaces: engine.spaces.clone(), fan_in }
    }

    /// Commits a run that writes or removes a third of the keys.
    fn commit_run(engine: &Engine, rows: &mut Rows, number: u32) {
        let mut run = Run::default();
        let changes: Vec<(u8, Option<u32>)> = (0..100_u8)
            .filter(|key| (u32::from(*key) * 7 + number * 11).is_multiple_of(3))
            .map(|key| (key, (u32::from(key) + number).checked_rem(5).filter(|rest| *rest > 0).map(|_| number)))
            .collect();
        for space in Space::ALL {
            let row = |(key, value): &(u8, Option<u32>)| {
                (Bytes::from([*key]), value.map(|value| Bytes::from(value.to_be_bytes())))
            };
            run.push(space, Box::new(CollectedRows(changes.iter().map(row).collect())));
        }
        for (key, value) in changes {
            match value {
                Some(value) => rows.insert(key, value),
                None => rows.remove(&key),
            };
        }
        engine.commit_run(run).unwrap();
    }

    fn check(view: &View, rows: &Rows) {
        for space in Space::ALL {
            let found: Vec<_> = view.range(space, &[0], &[100]).map(|row| row.unwrap()).collect();
            let wanted: Vec<_> =
                rows.iter().map(|(key, value)| (Bytes::from([*key]), Bytes::from(value.to_be_bytes()))).collect();
            assert_eq!(found, wanted, "{}", space.name());
            for key in 0..100 {
                let value = rows.get(&key).map(|value| Bytes::from(value.to_be_bytes()));
                assert_eq!(view.get(space, &[key]).unwrap(), value, "{} {key}", space.name());
            }
        }
    }

    #[test]
    fn rows_and_old_views_survive_merges_of_all_levels() {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(folder.path());
        let merges = Merges::start(&engine.merge_state, &engine.database, &engine.spaces, 2).unwrap();
        assert!(engine.merges.set(merges).is_ok());
        let mut rows = Rows::new();
        let mut views = Vec::new();
        for number in 1..=90 {
            commit_run(&engine, &mut rows, number);
            if number % 9 == 0 {
                views.push((engine.view(), rows.clone()));
                for (view, rows) in &views {
                    check(view, rows);
                }
            }
        }
        let counts = |space: &Keyspace| -> Vec<usize> { (0..7).map(|number| level(space, number).0).collect() };
        let begin = Instant::now();
        let numbered = Space::NUMBERED.map(|space| &engine.spaces[space as usize]);
        while numbered.iter().any(|space| [0, 2, 4].iter().any(|number| counts(space)[*number] >= 2)) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", numbered.map(counts));
            std::thread::sleep(Duration::from_millis(5));
        }
        for space in numbered {
            let counts = counts(space);
            assert!(counts.iter().all(|count| *count < 2) && counts[6] == 1, "{}: {counts:?}", &**space.name());
        }
        assert!(engine.stats().compacting > Duration::ZERO);
        check(&engine.view(), &rows);
        for (view, rows) in &views {
            check(view, rows);
        }
        drop((views, engine));
        check(&open(folder.path()).view(), &rows);
    }

    #[test]
    fn a_merge_ends_when_the_store_is_closed_and_what_a_stop_left_between_two_levels_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(folder.path());
        let mut rows = Rows::new();
        // The engine itself may move the first run, which overlaps no other, to the last level.
        for number in 1..=9 {
            commit_run(&engine, &mut rows, number);
        }
        engine.merge_state.is_closing.store(true, Ordering::Relaxed);
        for space in Space::NUMBERED {
            let keyspace = &engine.spaces[space as usize];
            let before = level(keyspace, 0).0;
            assert!(before >= 8);
            assert!(merge_runs(&worker(&engine, 8), space).is_err());
            assert_eq!((level(keyspace, 0).0, level(keyspace, 1).0), (before, 0));
        }
        drop(engine);
        let engine = open(folder.path());
        check(&engine.view(), &rows);
        // As a stop between the two steps of a merge leaves it.
        for space in &engine.spaces {
            worker(&engine, 8).apply(space, PullDown(0, 1)).unwrap();
        }
        drop(engine);
        let engine = open(folder.path());
        commit_run(&engine, &mut rows, 10);
        for space in Space::ALL {
            let keyspace = &engine.spaces[space as usize];
            assert_eq!((level(keyspace, 0).0, level(keyspace, 1).0), (1, 1));
            assert!(merge_runs(&worker(&engine, 8), space).unwrap());
            assert_eq!((level(keyspace, 0).0, level(keyspace, 1).0, level(keyspace, 2).0), (1, 0, 1));
        }
        check(&engine.view(), &rows);
    }

    /// Appends so many rows of 64 KiB that do not compress.
    fn append(engine: &Engine, numbers: std::ops::Range<u32>) {
        let row = |number: u32| {
            let mut state = u64::from(number) + 1;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state
            };
            let value: Vec<u8> = (0..8_192).flat_map(|_| next().to_be_bytes()).collect();
            (Bytes::from(number.to_be_bytes()), Some(Bytes::from(value)))
        };
        let mut run = Run::default();
        run.push(Space::Appended, Box::new(CollectedRows(numbers.map(row).collect())));
        engine.commit_run(run).unwrap();
    }

    #[test]
    fn appended_files_are_moved_small_ones_merged_and_removed_rows_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(folder.path());
        let appended = &engine.spaces[Space::Appended as usize];
        let settle = || while merge_runs(&worker(&engine, 2), Space::Appended).unwrap() {};
        let files_and_runs = |number: usize| {
            let (files, runs, _) = files(appended, number);
            (files, runs)
        };
        let len = || engine.view().range(Space::Appended, &[], &[u8::MAX]).count();
        append(&engine, 0..150);
        append(&engine, 150..300);
        settle();
        // Merged, they would be one file.
        assert_eq!((files_and_runs(0), files_and_runs(2), files_and_runs(6)), ((0, 0), (0, 0), (2, 1)));
        for number in 300..304 {
            append(&engine, number..number + 1);
            settle();
        }
        assert_eq!((files_and_runs(0), files_and_runs(2), files_and_runs(6)), ((0, 0), (0, 0), (3, 1)));
        append(&engine, 304..454);
        append(&engine, 454..604);
        settle();
        assert_eq!((files_and_runs(6), len()), ((5, 1), 604));
        // As an undone block does, and the next one appends them again.
        for numbers in [600_u32..604, 500..604, 10..604] {
            for part in [numbers.start..numbers.start + 1, numbers.start + 1..numbers.end] {
                let mut batch = engine.batch();
                part.for_each(|number| batch.remove(Space::Appended, number.to_be_bytes()));
                engine.commit(batch, false).unwrap();
                engine.flush().unwrap();
                settle();
            }
            assert_eq!(len(), numbers.start as usize);
            if numbers.start > 10 {
                append(&engine, numbers);
                settle();
                assert_eq!(len(), 604);
            }
        }
        for _ in 0..4 {
            append(&engine, 10..11);
            settle();
        }
        assert_eq!(len(), 11);
        assert!(appended.disk_space() < 1 << 20, "{}", appended.disk_space());
    }

    #[test]
    fn writes_end_when_a_merging_thread_has() {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(folder.path());
        let thread = std::thread::spawn(|| ());
        while !thread.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let merges = Merges { state: Arc::clone(&engine.merge_state), threads: vec![thread] };
        assert!(engine.merges.set(merges).is_ok());
        let mut batch = engine.batch();
        batch.insert(Space::Bulk, *b"key", *b"value");
        let error = engine.commit(batch, false).unwrap_err();
        assert!(error.to_string().contains("merging tables"), "{error}");
        assert!(engine.check_writable().is_err());
    }
}
