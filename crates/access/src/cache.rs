use std::collections::HashMap;

use parking_lot::Mutex;

use crate::{KeyDigest, KeyRecord};

/// Records kept at most; beyond that the cache starts anew.
const RECORDS_MAX: usize = 100_000;

/// Records of keys that were found, valid until anything about any key changes.
#[derive(Default)]
pub(crate) struct RecordCache(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    records: HashMap<KeyDigest, KeyRecord>,
    generation: u64,
}

/// State of the cache before a look-up; see [`RecordCache::insert`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation(u64);

impl RecordCache {
    /// The record, or the generation that an [`RecordCache::insert`] after the look-up has to name.
    pub(crate) fn get(&self, digest: &KeyDigest) -> Result<KeyRecord, Generation> {
        let inner = self.0.lock();
        inner.records.get(digest).cloned().ok_or(Generation(inner.generation))
    }

    /// Keeps a record unless something changed since `generation`: a key revoked between the look-up and now
    /// must not come back.
    pub(crate) fn insert(&self, digest: KeyDigest, record: KeyRecord, generation: Generation) {
        let mut inner = self.0.lock();
        if inner.generation != generation.0 {
            return;
        }
        if inner.records.len() >= RECORDS_MAX {
            inner.records.clear();
        }
        inner.records.insert(digest, record);
    }

    /// Forgets everything; called after a change has been committed.
    pub(crate) fn invalidate(&self) {
        let mut inner = self.0.lock();
        inner.records.clear();
        inner.generation += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyId, Plan};

    #[test]
    fn a_record_read_before_a_change_is_not_kept_after_it() {
        let record = KeyRecord {
            id: KeyId(1),
            name: "n".into(),
            prefix: "0000".into(),
            plan: Plan::Free,
            admin: false,
            management: false,
            created_at: 0,
            last_used_at: None,
            request_count: 0,
            expires_at: None,
            revoked_at: None,
        };
        let cache = RecordCache::default();
        let digest = KeyDigest([0; 32]);
        let Err(before) = cache.get(&digest) else { panic!("empty cache") };
        cache.invalidate();
        cache.insert(digest, record.clone(), before);
        let Err(now) = cache.get(&digest) else { panic!("a stale record was kept") };
        cache.insert(digest, record.clone(), now);
        assert!(cache.get(&digest).is_ok());
        cache.invalidate();
        assert!(cache.get(&digest).is_err());
    }
}
