//! Filters of webhooks that were read, by their text.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use paraffin_events::PreparedFilter;
use parking_lot::Mutex;

/// Filters up to a size in memory; beyond it the oldest are let go of.
pub(super) struct PreparedFilters {
    bytes_max: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_text: HashMap<Arc<str>, Arc<PreparedFilter>>,
    /// The oldest first.
    order: VecDeque<Arc<str>>,
    bytes: usize,
}

impl PreparedFilters {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { bytes_max, kept: Mutex::default() }
    }

    pub(super) fn get(&self, text: &str) -> Option<Arc<PreparedFilter>> {
        self.kept.lock().by_text.get(text).map(Arc::clone)
    }

    /// Keeps a filter. One that is too large by itself is not kept.
    pub(super) fn insert(&self, text: &str, filter: Arc<PreparedFilter>) {
        let (text, mut kept) = (Arc::<str>::from(text), self.kept.lock());
        kept.bytes += bytes_of(&text, &filter);
        match kept.by_text.insert(Arc::clone(&text), filter) {
            // Two have read it at the same time.
            Some(same) => kept.bytes -= bytes_of(&text, &same),
            None => kept.order.push_back(text),
        }
        while kept.bytes > self.bytes_max
            && let Some(oldest) = kept.order.pop_front()
        {
            if let Some(filter) = kept.by_text.remove(&oldest) {
                kept.bytes -= bytes_of(&oldest, &filter);
            }
        }
    }
}

/// About what a filter takes in memory, with its text.
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
    fn the_oldest_filters_are_let_go_of_and_memory_stays_bounded() {
        let one = bytes_of("00", &filter(1));
        let filters = PreparedFilters::new(10 * one);
        for number in 0..30 {
            for _ in 0..2 {
                filters.insert(&format!("{number:02}"), filter(1));
            }
        }
        let there: Vec<bool> = (0..30).map(|number| filters.get(&format!("{number:02}")).is_some()).collect();
        assert_eq!(there, (0..30).map(|number| number >= 20).collect::<Vec<_>>());
        // One that is larger than all of it.
        filters.insert("99", filter(100));
        assert!(filters.get("99").is_none());
        let kept = filters.kept.lock();
        assert_eq!((kept.bytes, kept.by_text.len(), kept.order.len()), (0, 0, 0));
    }
}
