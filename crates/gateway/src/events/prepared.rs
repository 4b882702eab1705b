//! A cache of parsed webhook filters by their text.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use paraffin_events::PreparedFilter;
use parking_lot::Mutex;

/// Filters up to a size in memory; beyond it the oldest are evicted.
pub(super) struct PreparedFilters {
    bytes_max: usize,
    cache: Mutex<FilterCache>,
}

#[derive(Default)]
struct FilterCache {
    by_text: HashMap<Arc<str>, Arc<PreparedFilter>>,
    /// Texts in the order of insertion, for eviction.
    order: VecDeque<Arc<str>>,
    bytes: usize,
}

impl PreparedFilters {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, cache: Mutex::default() }
    }

    pub(super) fn get(&self, text: &str) -> Option<Arc<PreparedFilter>> {
        self.cache.lock().by_text.get(text).map(Arc::clone)
    }

    /// Caches a filter. One that is larger than the limit by itself is not cached.
    pub(super) fn insert(&self, text: &str, filter: Arc<PreparedFilter>) {
        let (text, mut cache) = (Arc::<str>::from(text), self.cache.lock());
        cache.bytes += bytes_of(&text, &filter);
        match cache.by_text.insert(Arc::clone(&text), filter) {
            // Two requests have parsed it at the same time.
            Some(same) => cache.bytes -= bytes_of(&text, &same),
            None => cache.order.push_back(text),
        }
        while cache.bytes > self.bytes_max
            && let Some(oldest) = cache.order.pop_front()
        {
            if let Some(filter) = cache.by_text.remove(&oldest) {
                cache.bytes -= bytes_of(&oldest, &filter);
            }
        }
    }
}

/// Approximate memory of a filter and its text, bytes.
fn bytes_of(text: &str, filter: &PreparedFilter) -> usize {
    text.len() + filter.bytes()
}

#[cfg(test)]
mod tests {
    use paraffin_events::Filter;
    use paraffin_primitives::Network;

    use super::*;

    fn filter(pools: usize) -> Arc<PreparedFilter> {
        let filter = Filter { pools: (0..pools).map(|number| format!("2:{number}")).collect(), ..Filter::default() };
        Arc::new(filter.prepare(Network::Regtest, |_| Err(String::new())).unwrap())
    }

    #[test]
    fn the_oldest_filters_are_evicted_and_memory_stays_bounded() {
        let one = bytes_of("00", &filter(1));
        let filters = PreparedFilters::new(10 * one);
        for number in 0..30 {
            for _ in 0..2 {
                filters.insert(&format!("{number:02}"), filter(1));
            }
        }
        let there: Vec<bool> = (0..30).map(|number| filters.get(&format!("{number:02}")).is_some()).collect();
        assert_eq!(there, (0..30).map(|number| number >= 20).collect::<Vec<_>>());
        // One filter that is larger than the whole cache.
        filters.insert("99", filter(100));
        assert!(filters.get("99").is_none());
        let cache = filters.cache.lock();
        assert_eq!((cache.bytes, cache.by_text.len(), cache.order.len()), (0, 0, 0));
    }
}
