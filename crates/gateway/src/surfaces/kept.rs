//! Answers that follow from what is indexed and from nothing else, kept until something else is indexed.

use std::collections::HashMap;

use paraffin_store::{Snapshot, SnapshotMark};
use parking_lot::RwLock;
use serde_json::value::RawValue;

/// Answers kept at most; then all are forgotten, which costs no more than computing them once again.
const ANSWERS_MAX: usize = 1_024;
/// Longest question that is kept, bytes.
const QUESTION_BYTES_MAX: usize = 512;
/// Longest answer that is kept, bytes.
const ANSWER_BYTES_MAX: usize = 8 << 10;

/// Answers of one moment by question.
#[derive(Default)]
pub(super) struct Kept(RwLock<Answers>);

#[derive(Default)]
struct Answers {
    /// The moment; `None` before the first.
    of: Option<SnapshotMark>,
    by_question: HashMap<Box<str>, Box<RawValue>>,
}

impl Answers {
    fn are_of(&self, snapshot: &Snapshot) -> bool {
        self.of.as_ref().is_some_and(|mark| mark.is_of(snapshot))
    }
}

impl Kept {
    /// The answer to a question about a moment, if it is kept.
    pub(super) fn get(&self, snapshot: &Snapshot, question: &str) -> Option<Box<RawValue>> {
        let kept = self.0.read();
        if kept.are_of(snapshot) { kept.by_question.get(question).cloned() } else { None }
    }

    /// Keeps an answer; those of another moment are forgotten.
    pub(super) fn put(&self, snapshot: &Snapshot, question: &str, answer: &RawValue) {
        if question.len() > QUESTION_BYTES_MAX || answer.get().len() > ANSWER_BYTES_MAX {
            return;
        }
        let mut kept = self.0.write();
        if !kept.are_of(snapshot) || kept.by_question.len() >= ANSWERS_MAX {
            *kept = Answers { of: Some(snapshot.mark()), by_question: HashMap::new() };
        }
        kept.by_question.insert(question.into(), answer.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use paraffin_primitives::Network;
    use paraffin_store::{Store, StoreOptions};

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: Some(10), memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[]).unwrap();
        (folder, store)
    }

    #[test]
    fn answers_are_told_for_their_moment_alone() {
        let ((_one, first), (_other, second)) = (store(), store());
        let kept = Kept::default();
        let (now, then) = (first.snapshot(), second.snapshot());
        assert!(kept.get(&now, "q").is_none());
        kept.put(&now, "q", &raw("1"));
        assert_eq!(kept.get(&first.snapshot(), "q").unwrap().get(), "1");
        assert!(kept.get(&now, "r").is_none() && kept.get(&then, "q").is_none());
        kept.put(&then, "q", &raw("2"));
        assert!(kept.get(&now, "q").is_none());
        assert_eq!(kept.get(&then, "q").unwrap().get(), "2");
    }

    #[test]
    fn memory_has_a_bound() {
        let (_folder, store) = store();
        let (kept, now) = (Kept::default(), store.snapshot());
        kept.put(&now, &"q".repeat(QUESTION_BYTES_MAX + 1), &raw("1"));
        kept.put(&now, "long", &raw(&format!("\"{}\"", "x".repeat(ANSWER_BYTES_MAX))));
        assert!(kept.0.read().by_question.is_empty());
        for number in 0..3 * ANSWERS_MAX {
            kept.put(&now, &number.to_string(), &raw("1"));
            assert!(kept.0.read().by_question.len() <= ANSWERS_MAX);
        }
    }
}
