//! Sorted rows that go into table files, past journal and write buffers.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;

use fjall::{LsmError, PersistMode};

use super::run::{RedoFile, RedoWriter, Run, discard_unfinished};
use super::{COMMIT_KEY, Engine, Space, classify};
use crate::StoreError;

/// How many rows and bytes were written.
type Written = Result<(u64, u64), StoreError>;

fn sum(one: Written, other: Written) -> Written {
    let ((rows, bytes), (more_rows, more_bytes)) = (one?, other?);
    Ok((rows + more_rows, bytes + more_bytes))
}

/// Passes the changes of a keyspace to `change`; how many rows and bytes they have.
fn count_changes(
    run: &Run,
    space: Space,
    mut change: impl FnMut(&[u8], Option<&[u8]>) -> Result<(), StoreError>,
) -> Written {
    let (mut rows, mut bytes) = (0, 0);
    run.visit(space, &mut |key, value| {
        rows += 1;
        bytes += (key.len() + value.map_or(0, <[u8]>::len)) as u64;
        change(key, value)
    })?;
    Ok((rows, bytes))
}

/// Takes the next of sorted rows: key, value.
pub(crate) type RowSink<'a> = dyn FnMut(&[u8], &[u8]) -> Result<(), StoreError> + 'a;

impl Engine {
    /// Writes sorted rows into table files. `fill` gets a function that takes the next row, whose key must be above the one
    /// before. The keyspace must be empty, and nothing else may be written to it meanwhile.
    pub(crate) fn write_sorted<E: From<StoreError>>(
        &self,
        space: Space,
        fill: impl FnOnce(&mut RowSink<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error| classify("writing sorted rows", error, &self.folder);
        let mut tables = self.spaces[space as usize].start_ingestion().map_err(failed)?;
        fill(&mut |key, value| tables.write(key, value).map_err(failed))?;
        tables.finish().map_err(failed)?;
        Ok(())
    }

    /// Commits a run, whole or not at all, on the disk when this returns. Nothing else is committed meanwhile.
    pub(crate) fn commit_run(&self, run: Run) -> Result<(), StoreError> {
        self.check_writable()?;
        let _writing = self.writing.lock();
        self.commit_run_or_fail(run).inspect_err(|error| self.fail(error))
    }

    fn commit_run_or_fail(&self, mut run: Run) -> Result<(), StoreError> {
        let failed = |error| classify("writing a sorted run", error, &self.folder);
        run.sort();
        self.wait_for_room()?;
        self.clean_end.is_flushed.store(false, Ordering::Relaxed);
        // Tables are on the disk at once, so the commits before them must be, too.
        self.database.persist(PersistMode::SyncAll).map_err(failed)?;
        let number = self.commit_number.load(Ordering::Relaxed) + 1;
        // Each keyspace takes its part by itself, so they can do it at the same time. One decides: it waits until appended rows
        // are on the disk, where they do not count before that; the others wait for it before they show theirs, and the redo
        // file holds their parts until they have.
        let ended = |_| Err(StoreError::io("writing a sorted run", io::Error::other("a thread ended unexpectedly")));
        let (rows, bytes) = thread::scope(|scope| {
            let (run, add) = (&run, |space, decided: &dyn Fn() -> bool| self.add_run(&run, space, number, decided));
            let (append, appended) = mpsc::channel::<()>();
            let appending = scope.spawn(move || {
                let counts = self.append_run(run)?;
                // A deciding thread that has failed has closed the channel.
                let _ = append.send(());
                Ok(counts)
            });
            let others: Vec<_> = Self::FOLLOWING
                .iter()
                .map(|space| {
                    let (decide, decided) = mpsc::channel::<()>();
                    (decide, scope.spawn(move || add(*space, &|| decided.recv().is_ok())))
                })
                .collect();
            let mut redo = RedoWriter::create(&self.folder, number)?;
            redo.end_space(Self::DECIDING)?;
            for space in Self::FOLLOWING {
                run.visit(space, &mut |key, value| redo.change(space, key, value))?;
                redo.end_space(space)?;
            }
            let redo_bytes = redo.finish()?;
            let decided = add(Self::DECIDING, &|| appended.recv().is_ok());
            let mut outcome = sum(appending.join().unwrap_or_else(ended), decided);
            // From here on the commit has happened, even if this process is killed.
            for (decide, thread) in others {
                if outcome.is_ok() {
                    // A thread that has failed has closed its channel.
                    let _ = decide.send(());
                }
                drop(decide);
                outcome = sum(outcome, thread.join().unwrap_or_else(ended));
            }
            tracing::debug!(number, redo_bytes, "committed a sorted run");
            outcome
        })?;
        RedoFile::remove(&self.folder)?;
        self.count_commit(number, rows, bytes);
        Ok(())
    }

    /// The keyspace whose part of a run decides whether the commit has happened: it has most of the rows, which then need not be
    /// in the redo file.
    const DECIDING: Space = Space::ALL[0];
    const FOLLOWING: [Space; Space::NUMBERED.len() - 1] = [Space::Hashed, Space::Bulk, Space::Meta, Space::Undo];

    /// Adds the appended rows of a run as files of their own, on the disk when this returns; how many rows and bytes they have. They
    /// count once the commit says how long their table is.
    fn append_run(&self, run: &Run) -> Written {
        let failed = |error: LsmError| classify("writing a sorted run", error.into(), &self.folder);
        // Not by way of the keyspace, which would have the engine's thread move each file into the last level, however small.
        let mut tables = self.spaces[Space::Appended as usize].tree.ingestion().map_err(failed)?;
        let written = count_changes(run, Space::Appended, |key, value| match value {
            Some(value) => tables.write(key, value).map_err(failed),
            None => tables.write_tombstone(key).map_err(failed),
        })?;
        tables.finish().map_err(failed)?;
        Ok(written)
    }

    /// Adds the part of a run to a keyspace, with the number of the commit, whole or not at all, once it is `decided`; how many
    /// rows and bytes it has.
    fn add_run(&self, run: &Run, space: Space, number: u64, decided: &dyn Fn() -> bool) -> Written {
        let failed = |error| classify("writing a sorted run", error, &self.folder);
        let mut tables = self.spaces[space as usize].start_ingestion().map_err(failed)?;
        let written = count_changes(run, space, |key, value| match value {
            Some(value) => tables.write(key, value).map_err(failed),
            None => tables.write_tombstone(key).map_err(failed),
        })?;
        tables.write(COMMIT_KEY, number.to_be_bytes()).map_err(failed)?;
        if decided() {
            tables.finish().map_err(failed)?;
        }
        Ok(written)
    }

    /// Finishes an interrupted run: keyspaces that lack it get it.
    pub(super) fn finish_run(&self) -> Result<(), StoreError> {
        discard_unfinished(&self.folder)?;
        let Some(file) = RedoFile::find(&self.folder)? else { return Ok(()) };
        let failed = |error| classify("finishing a sorted run", error, &self.folder);
        let (numbers, number) = (self.commit_numbers()?, file.number());
        let lacks = |space: Space| numbers[space as usize].checked_add(1) == Some(number);
        if lacks(Self::DECIDING) {
            // The commit has not happened.
            return RedoFile::remove(&self.folder);
        }
        let missing: Vec<Space> = Self::FOLLOWING.into_iter().filter(|space| lacks(*space)).collect();
        if !missing.is_empty() {
            tracing::info!(number, keyspaces = missing.len(), "finishing the commit that was broken off");
            file.verify()?;
        }
        for space in missing {
            let mut tables = self.spaces[space as usize].start_ingestion().map_err(failed)?;
            file.visit(space, &mut |key, value| {
                match value {
                    Some(value) => tables.write(key, value),
                    None => tables.write_tombstone(key),
                }
                .map_err(failed)
            })?;
            tables.write(COMMIT_KEY, number.to_be_bytes()).map_err(failed)?;
            tables.finish().map_err(failed)?;
        }
        let numbers = self.commit_numbers()?;
        if let Some(lost) = numbers.iter().find(|found| **found < number) {
            return Err(StoreError::Corrupt(format!(
                "the file of an unfinished commit (`run`) belongs to commit {number}, and a keyspace ends at {lost}"
            )));
        }
        RedoFile::remove(&self.folder)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::MemorySplit;
    use crate::engine::Bytes;
    use crate::engine::run::CollectedRows;

    fn open(folder: &Path) -> Result<Arc<Engine>, StoreError> {
        Engine::open(folder, MemorySplit::of(MemorySplit::FLOOR)?).map(Arc::new)
    }

    /// Two commits: one through the journal, one as a run that changes and removes what the first wrote.
    fn rows(space: Space, is_run: bool) -> Vec<(Bytes, Option<Bytes>)> {
        let row = |key: u8, value: u8| (Bytes::from([space as u8, key]), (value > 0).then(|| Bytes::from([value])));
        if is_run { vec![row(1, 0), row(2, 9), row(4, 7)] } else { vec![row(1, 1), row(2, 2), row(3, 3)] }
    }

    fn commit_first(engine: &Engine) {
        let mut batch = engine.batch();
        for space in Space::NUMBERED {
            for (key, value) in rows(space, false) {
                batch.insert(space, key, value.unwrap());
            }
        }
        engine.commit(batch, false).unwrap();
    }

    fn run() -> Run {
        let mut run = Run::default();
        for space in Space::NUMBERED {
            run.push(space, Box::new(CollectedRows(rows(space, true).into_iter().rev().collect())));
        }
        run
    }

    fn redo(folder: &Path, number: u64) {
        let mut redo = RedoWriter::create(folder, number).unwrap();
        for space in Space::NUMBERED {
            if space != Engine::DECIDING {
                for (key, value) in rows(space, true) {
                    redo.change(space, &key, value.as_deref()).unwrap();
                }
            }
            redo.end_space(space).unwrap();
        }
        redo.finish().unwrap();
    }

    /// The store after the first commit alone, or after the run as well.
    fn assert_rows(engine: &Arc<Engine>, number: u64, has_run: bool) {
        let view = engine.view();
        let wanted = if has_run { [None, Some(9), Some(3), Some(7)] } else { [Some(1), Some(2), Some(3), None] };
        for space in Space::NUMBERED {
            let found: Vec<_> = (1..5).map(|key| view.get(space, &[space as u8, key]).unwrap()).collect();
            assert_eq!(found, wanted.map(|value| value.map(|value: u8| Bytes::from([value]))), "{}", space.name());
        }
        assert_eq!(engine.commit_numbers().unwrap(), [number; Space::NUMBERED.len()]);
        assert!(!engine.folder.join("run").exists() && !engine.folder.join("run.part").exists());
    }

    fn assert_whole(engine: &Arc<Engine>, number: u64) {
        assert_rows(engine, number, true);
    }

    #[test]
    fn a_run_changes_and_removes_rows_of_commits_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(folder.path()).unwrap();
        commit_first(&engine);
        let before = engine.view();
        engine.commit_run(run()).unwrap();
        assert_whole(&engine, 2);
        assert_eq!(before.get(Space::Bulk, &[Space::Bulk as u8, 2]).unwrap(), Some(Bytes::from([2])), "an old view");
        drop((before, engine));
        assert_whole(&open(folder.path()).unwrap(), 2);
    }

    #[test]
    fn a_run_broken_off_after_the_keyspace_that_decides_is_finished_at_the_next_start_and_before_it_is_none() {
        for done in [0_u32, 0b1, 0b1_0001, 0b0_1011, 0b1_0101, 0b1_1101, 0b0_1111, 0b1_1111] {
            let folder = tempfile::tempdir().unwrap();
            let engine = open(folder.path()).unwrap();
            commit_first(&engine);
            for space in Space::NUMBERED.iter().filter(|space| done >> **space as u32 & 1 == 1) {
                let mut tables = engine.spaces[*space as usize].start_ingestion().unwrap();
                for (key, value) in rows(*space, true) {
                    match value {
                        Some(value) => tables.write(key, value).unwrap(),
                        None => tables.write_tombstone(key).unwrap(),
                    }
                }
                tables.write(COMMIT_KEY, 2_u64.to_be_bytes()).unwrap();
                tables.finish().unwrap();
            }
            drop(engine);
            redo(folder.path(), 2);
            fs::write(folder.path().join("run.part"), b"torn").unwrap();
            let has_run = done & 1 == 1;
            assert_rows(&open(folder.path()).unwrap(), if has_run { 2 } else { 1 }, has_run);
        }
    }

    #[test]
    fn a_redo_file_that_came_back_after_later_commits_is_removed_and_one_that_does_not_fit_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let engine = open(folder.path()).unwrap();
        commit_first(&engine);
        engine.commit_run(run()).unwrap();
        drop(engine);
        for number in [1, 2] {
            redo(folder.path(), number);
            assert_whole(&open(folder.path()).unwrap(), 2);
        }
        redo(folder.path(), 4);
        let error = open(folder.path()).err().unwrap();
        assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
        assert!(error.to_string().contains("belongs to commit 4"), "{error}");
        // A whole one that was broken off before its commit, then one of which the keyspace that decides has its part.
        redo(folder.path(), 3);
        assert_whole(&open(folder.path()).unwrap(), 2);
        let engine = open(folder.path()).unwrap();
        let mut tables = engine.spaces[Engine::DECIDING as usize].start_ingestion().unwrap();
        tables.write(COMMIT_KEY, 3_u64.to_be_bytes()).unwrap();
        tables.finish().unwrap();
        drop(engine);
        redo(folder.path(), 3);
        let path = folder.path().join("run");
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(matches!(open(folder.path()).err().unwrap(), StoreError::Corrupt(_)));
        fs::write(&path, whole).unwrap();
        assert_whole(&open(folder.path()).unwrap(), 3);
    }
}
