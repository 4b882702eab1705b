//! Writes that are collected one by one.

use fjall::OwnedWriteBatch;

use super::run::{CollectedRows, Run};
use super::{Bytes, Engine, Space};

impl Engine {
    /// An empty batch.
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch { engine: self, target: Target::Journal(self.database.batch()), rows: 0, bytes: 0 }
    }

    /// An empty batch whose rows become part of a run.
    pub(crate) fn run_batch(&self) -> Batch<'_> {
        Batch { engine: self, target: Target::Run(Default::default()), rows: 0, bytes: 0 }
    }
}

/// Writes that become visible together.
pub(crate) struct Batch<'a> {
    engine: &'a Engine,
    target: Target,
    rows: u64,
    bytes: u64,
}

enum Target {
    Journal(OwnedWriteBatch),
    /// By keyspace.
    Run([Vec<(Bytes, Option<Bytes>)>; Space::COUNT]),
}

impl Batch<'_> {
    pub(crate) fn insert(&mut self, space: Space, key: impl Into<Bytes>, value: impl Into<Bytes>) {
        let (key, value) = (key.into(), value.into());
        self.rows += 1;
        self.bytes += (key.len() + value.len()) as u64;
        match &mut self.target {
            Target::Journal(batch) => batch.insert(&self.engine.spaces[space as usize], key, value),
            Target::Run(rows) => rows[space as usize].push((key, Some(value))),
        }
    }

    pub(crate) fn remove(&mut self, space: Space, key: impl Into<Bytes>) {
        let key = key.into();
        self.rows += 1;
        self.bytes += key.len() as u64;
        match &mut self.target {
            Target::Journal(batch) => batch.remove(&self.engine.spaces[space as usize], key),
            Target::Run(rows) => rows[space as usize].push((key, None)),
        }
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The batch of the engine.
    pub(super) fn into_journal(self) -> OwnedWriteBatch {
        match self.target {
            Target::Journal(batch) => batch,
            Target::Run(rows) => {
                let mut batch = self.engine.database.batch();
                for (keyspace, rows) in self.engine.spaces.iter().zip(rows) {
                    for (key, value) in rows {
                        match value {
                            Some(value) => batch.insert(keyspace, key, value),
                            None => batch.remove(keyspace, key),
                        }
                    }
                }
                batch
            }
        }
    }

    /// Moves the rows of a [`Engine::run_batch`] into the run; in each keyspace they are above the existing rows.
    pub(crate) fn move_into(self, run: &mut Run) {
        if let Target::Run(rows) = self.target {
            for (space, rows) in Space::ALL.into_iter().zip(rows) {
                if !rows.is_empty() {
                    run.push(space, Box::new(CollectedRows(rows)));
                }
            }
        }
    }
}
