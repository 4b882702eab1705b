use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::RwLock;

use crate::{AliasRecord, KeyDigest, KeyRecord, OriginRecord};

/// Most records in one cache; beyond that it is cleared.
const RECORDS_MAX: usize = 100_000;
/// Most unknown names in one cache: any caller can send arbitrary ones.
const UNKNOWN_MAX: usize = 4_096;

/// Cached records of the store, valid until any key, alias, origin or plan changes.
pub(crate) struct AccessCache {
    pub(crate) keys: RecordCache<KeyDigest, KeyRecord>,
    pub(crate) aliases: RecordCache<String, AliasRecord>,
    /// By `Origin`, not by pattern.
    pub(crate) origins: RecordCache<String, OriginRecord>,
    /// Unregistered origins, with the time of the look-up in the store.
    pub(crate) unknown_origins: RecordCache<String, Instant>,
}

impl Default for AccessCache {
    fn default() -> Self {
        Self {
            keys: RecordCache::default(),
            aliases: RecordCache::default(),
            origins: RecordCache::default(),
            unknown_origins: RecordCache::holding(UNKNOWN_MAX),
        }
    }
}

impl AccessCache {
    /// Clears all caches; called after a change has been committed.
    pub(crate) fn invalidate(&self) {
        self.keys.invalidate();
        self.aliases.invalidate();
        self.origins.invalidate();
        self.unknown_origins.invalidate();
    }
}

/// Records and their largest number.
pub(crate) struct RecordCache<K, V>(RwLock<Inner<K, V>>, usize);

struct Inner<K, V> {
    records: HashMap<K, Arc<V>>,
    generation: u64,
}

impl<K, V> Default for RecordCache<K, V> {
    fn default() -> Self {
        Self::holding(RECORDS_MAX)
    }
}

impl<K, V> RecordCache<K, V> {
    fn holding(records_max: usize) -> Self {
        Self(RwLock::new(Inner { records: HashMap::new(), generation: 0 }), records_max)
    }
}

/// State of the cache before a look-up; see [`RecordCache::insert`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation(u64);

impl<K: Eq + Hash, V> RecordCache<K, V> {
    /// The record, or the generation that an [`RecordCache::insert`] after the look-up has to name.
    pub(crate) fn get<Q>(&self, name: &Q) -> Result<Arc<V>, Generation>
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let inner = self.0.read();
        inner.records.get(name).cloned().ok_or(Generation(inner.generation))
    }

    /// Caches a record unless something changed since `generation`: a key revoked between the look-up and now
    /// must not come back.
    pub(crate) fn insert(&self, name: K, record: Arc<V>, generation: Generation) {
        let mut inner = self.0.write();
        if inner.generation != generation.0 {
            return;
        }
        if inner.records.len() >= self.1 {
            inner.records.clear();
        }
        inner.records.insert(name, record);
    }

    /// Evicts one record.
    pub(crate) fn remove<Q>(&self, name: &Q) -> Generation
    where
        K: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let mut inner = self.0.write();
        inner.records.remove(name);
        Generation(inner.generation)
    }

    fn invalidate(&self) {
        let mut inner = self.0.write();
        inner.records.clear();
        inner.generation += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_read_before_a_change_is_not_cached_after_it() {
        let cache = RecordCache::<String, u32>::default();
        let before = cache.get("a").unwrap_err();
        cache.invalidate();
        cache.insert("a".to_owned(), Arc::new(1), before);
        let now = cache.get("a").expect_err("a stale record was cached");
        cache.insert("a".to_owned(), Arc::new(1), now);
        assert_eq!(cache.get("a"), Ok(Arc::new(1)));
        cache.remove("a");
        assert!(cache.get("a").is_err());
        cache.insert("a".to_owned(), Arc::new(1), now);
        cache.invalidate();
        assert!(cache.get("a").is_err());
    }
}
