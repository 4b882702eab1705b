//! Cache of answers that depend only on the indexed data, cleared when that changes.

use std::collections::HashMap;

use paraffin_store::{Snapshot, SnapshotMark};
use parking_lot::RwLock;
use serde_json::value::RawValue;

/// Answers cached at most; then the cache is cleared, which costs no more than computing each once again.
const ANSWERS_MAX: usize = 1_024;
/// Longest question that is cached, bytes.
const QUESTION_BYTES_MAX: usize = 512;
/// Longest answer that is cached, bytes.
const ANSWER_BYTES_MAX: usize = 8 << 10;

/// Answers as of one snapshot, by question.
#[derive(Default)]
pub(crate) struct AnswerCache(RwLock<Answers>);

#[derive(Default)]
struct Answers {
    /// The snapshot; `None` before the first answer.
    of: Option<SnapshotMark>,
    by_question: HashMap<Box<str>, Box<RawValue>>,
}

impl Answers {
    fn are_of(&self, snapshot: &Snapshot) -> bool {
        self.of.as_ref().is_some_and(|mark| mark.is_of(snapshot))
    }
}

impl AnswerCache {
    /// The cached answer to a question as of a snapshot.
    pub(crate) fn get(&self, snapshot: &Snapshot, question: &str) -> Option<Box<RawValue>> {
        let cache = self.0.read();
        if cache.are_of(snapshot) { cache.by_question.get(question).cloned() } else { None }
    }

    /// Caches an answer; answers of another snapshot are dropped.
    pub(crate) fn put(&self, snapshot: &Snapshot, question: &str, answer: &RawValue) {
        if question.len() > QUESTION_BYTES_MAX || answer.get().len() > ANSWER_BYTES_MAX {
            return;
        }
        let mut cache = self.0.write();
        if !cache.are_of(snapshot) || cache.by_question.len() >= ANSWERS_MAX {
            *cache = Answers { of: Some(snapshot.mark()), by_question: HashMap::new() };
        }
        cache.by_question.insert(question.into(), answer.to_owned());
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
    fn answers_are_cached_for_one_snapshot_only() {
        let ((_one, first), (_other, second)) = (store(), store());
        let cache = AnswerCache::default();
        let (now, then) = (first.snapshot(), second.snapshot());
        assert!(cache.get(&now, "q").is_none());
        cache.put(&now, "q", &raw("1"));
        assert_eq!(cache.get(&first.snapshot(), "q").unwrap().get(), "1");
        assert!(cache.get(&now, "r").is_none() && cache.get(&then, "q").is_none());
        cache.put(&then, "q", &raw("2"));
        assert!(cache.get(&now, "q").is_none());
        assert_eq!(cache.get(&then, "q").unwrap().get(), "2");
    }

    #[test]
    fn memory_has_a_bound() {
        let (_folder, store) = store();
        let (cache, now) = (AnswerCache::default(), store.snapshot());
        cache.put(&now, &"q".repeat(QUESTION_BYTES_MAX + 1), &raw("1"));
        cache.put(&now, "long", &raw(&format!("\"{}\"", "x".repeat(ANSWER_BYTES_MAX))));
        assert!(cache.0.read().by_question.is_empty());
        for number in 0..3 * ANSWERS_MAX {
            cache.put(&now, &number.to_string(), &raw("1"));
            assert!(cache.0.read().by_question.len() <= ANSWERS_MAX);
        }
    }
}
