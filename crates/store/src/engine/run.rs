//! Sorted runs: the commits of the first import, which go past the journal straight into table files.
//!
//! A run is one commit. Its rows are sorted, written to a redo file and only then handed to the keyspaces, one after the
//! other. A start that finds a whole redo file brings the keyspaces that miss the run up to the others, so a kill at any
//! moment leaves all of a run or nothing. `docs/design/store.md` gives the argument.

mod redo;

use std::thread;

use super::{Bytes, Space};
use crate::StoreError;

pub(crate) use redo::{RedoFile, RedoWriter, discard_unfinished};

/// Takes the next change of a run: key, and the value or `None` when the row is removed.
pub(crate) type EachChange<'a> = dyn FnMut(&[u8], Option<&[u8]>) -> Result<(), StoreError> + 'a;

/// Rows of a run with keys that no other part has between them.
pub(crate) trait RunPart: Send + Sync {
    /// Puts the rows in order; called once, before they are visited.
    fn sort(&mut self);

    /// Visits the rows in order of their keys.
    fn visit(&self, each: &mut EachChange<'_>) -> Result<(), StoreError>;
}

/// The rows of one commit.
#[derive(Default)]
pub(crate) struct Run {
    /// By keyspace; the parts of a keyspace in order of their keys.
    parts: [Vec<Box<dyn RunPart>>; Space::COUNT],
}

impl Run {
    /// Adds rows above those that `space` has in the run already.
    pub(crate) fn push(&mut self, space: Space, part: Box<dyn RunPart>) {
        self.parts[space as usize].push(part);
    }

    /// Puts the rows in order, those of the keyspaces at the same time.
    pub(crate) fn sort(&mut self) {
        thread::scope(|scope| {
            for parts in self.parts.iter_mut().filter(|parts| !parts.is_empty()) {
                scope.spawn(|| parts.iter_mut().for_each(|part| part.sort()));
            }
        });
    }

    /// Visits the rows of a keyspace in order of their keys.
    pub(crate) fn visit(&self, space: Space, each: &mut EachChange<'_>) -> Result<(), StoreError> {
        self.parts[space as usize].iter().try_for_each(|part| part.visit(each))
    }
}

/// Rows that were collected one by one.
pub(crate) struct CollectedRows(pub(crate) Vec<(Bytes, Option<Bytes>)>);

impl RunPart for CollectedRows {
    fn sort(&mut self) {
        self.0.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    }

    fn visit(&self, each: &mut EachChange<'_>) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|(key, value)| each(key, value.as_deref()))
    }
}
