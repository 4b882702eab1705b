//! Sorted rows that go into table files, past journal and write buffers.

use std::io;
use std::sync::atomic::Ordering;
use std::thread;

use fjall::PersistMode;

use super::{COMMIT_KEY, Engine, Space, classify};
use crate::StoreError;
use crate::run::{RedoFile, RedoWriter, Run, discard_unfinished};

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
        let (mut rows, mut bytes) = (0, 0);
        let mut redo = RedoWriter::create(&self.folder, number)?;
        for space in Space::ALL {
            run.visit(space, &mut |key, value| {
                rows += 1;
                bytes += (key.len() + value.map_or(0, <[u8]>::len)) as u64;
                redo.change(space, key, value)
            })?;
            redo.end_space(space)?;
        }
        let redo_bytes = redo.finish()?;
        // From here on the commit has happened, whatever becomes of this process.
        // Each keyspace takes its part by itself, so they can do it at the same time.
        thread::scope(|scope| {
            let add = |space| self.add_run(&run, space, number);
            let others: Vec<_> = Space::ALL[1..].iter().map(|space| scope.spawn(move || add(*space))).collect();
            let mut outcome = add(Space::ALL[0]);
            for thread in others {
                let ended = || StoreError::io("writing a sorted run", io::Error::other("a thread ended unexpectedly"));
                outcome = outcome.and(thread.join().unwrap_or_else(|_| Err(ended())));
            }
            outcome
        })?;
        RedoFile::remove(&self.folder)?;
        self.count_commit(number, rows, bytes);
        tracing::debug!(number, rows, redo_bytes, "committed a sorted run");
        Ok(())
    }

    /// Adds the part of a run to a keyspace, with the number of the commit, whole or not at all.
    fn add_run(&self, run: &Run, space: Space, number: u64) -> Result<(), StoreError> {
        let failed = |error| classify("writing a sorted run", error, &self.folder);
        let mut tables = self.spaces[space as usize].start_ingestion().map_err(failed)?;
        run.visit(space, &mut |key, value| {
            match value {
                Some(value) => tables.write(key, value),
                None => tables.write_tombstone(key),
            }
            .map_err(failed)
        })?;
        tables.write(COMMIT_KEY, number.to_be_bytes()).map_err(failed)?;
        tables.finish().map_err(failed)
    }

    /// Brings a run to its end that a stop broke off: the keyspaces that miss it get it.
    pub(super) fn finish_run(&self) -> Result<(), StoreError> {
        discard_unfinished(&self.folder)?;
        let Some(file) = RedoFile::find(&self.folder)? else { return Ok(()) };
        let failed = |error| classify("finishing a sorted run", error, &self.folder);
        let (numbers, number) = (self.commit_numbers()?, file.number());
        let missing: Vec<Space> =
            Space::ALL.into_iter().filter(|space| numbers[*space as usize].checked_add(1) == Some(number)).collect();
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
    use crate::run::CollectedRows;

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
        for space in Space::ALL {
            for (key, value) in rows(space, false) {
                batch.insert(space, key, value.unwrap());
            }
        }
        engine.commit(batch, false).unwrap();
    }

    fn run() -> Run {
        let mut run = Run::default();
        for space in Space::ALL {
            run.push(space, Box::new(CollectedRows(rows(space, true).into_iter().rev().collect())));
        }
        run
    }

    fn redo(folder: &Path, number: u64) {
        let mut redo = RedoWriter::create(folder, number).unwrap();
        for space in Space::ALL {
            for (key, value) in rows(space, true) {
                redo.change(space, &key, value.as_deref()).unwrap();
            }
            redo.end_space(space).unwrap();
        }
        redo.finish().unwrap();
    }

    fn assert_whole(engine: &Arc<Engine>, number: u64) {
        let view = engine.view();
        for space in Space::ALL {
            let found: Vec<_> = (1..5).map(|key| view.get(space, &[space as u8, key]).unwrap()).collect();
            let wanted = [None, Some(9), Some(3), Some(7)].map(|value| value.map(|value: u8| Bytes::from([value])));
            assert_eq!(found, wanted, "{}", space.name());
        }
        assert_eq!(engine.commit_numbers().unwrap(), [number; 6]);
        assert!(!engine.folder.join("run").exists() && !engine.folder.join("run.part").exists());
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
    fn a_run_broken_off_after_any_keyspaces_is_finished_at_the_next_start() {
        for done in [0, 0b1, 0b10_0000, 0b01_0101, 0b10_1010, 0b11_1110, 0b01_1111, 0b11_1111] {
            let folder = tempfile::tempdir().unwrap();
            let engine = open(folder.path()).unwrap();
            commit_first(&engine);
            for space in Space::ALL.iter().filter(|space| done >> **space as u32 & 1 == 1) {
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
            assert_whole(&open(folder.path()).unwrap(), 2);
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
        redo(folder.path(), 3);
        let path = folder.path().join("run");
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(&path, bytes).unwrap();
        assert!(matches!(open(folder.path()).err().unwrap(), StoreError::Corrupt(_)));
        fs::remove_file(path).unwrap();
        assert_whole(&open(folder.path()).unwrap(), 2);
    }
}
