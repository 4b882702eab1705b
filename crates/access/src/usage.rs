use std::collections::HashMap;

use parking_lot::Mutex;

use crate::{UnixMillis, Used};

/// Locks; more than threads, so that two requests seldom meet.
const SHARDS: usize = 16;

/// Requests of one key, alias or origin that are not yet in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) count: i64,
    pub(crate) last_used_at: UnixMillis,
}

/// Uses counted since the last write. Bounded by the number of keys, aliases and origins that exist.
#[derive(Default)]
pub(crate) struct PendingUse([Mutex<HashMap<Used, Use>>; SHARDS]);

impl PendingUse {
    pub(crate) fn add(&self, id: Used, used: Use) {
        let mut pending = self.0[id.number().cast_unsigned() as usize % SHARDS].lock();
        let entry = pending.entry(id).or_insert(Use { count: 0, last_used_at: used.last_used_at });
        entry.count += used.count;
        entry.last_used_at = entry.last_used_at.max(used.last_used_at);
    }

    pub(crate) fn take(&self) -> HashMap<Used, Use> {
        self.0.iter().flat_map(|shard| std::mem::take(&mut *shard.lock())).collect()
    }

    /// Puts back what could not be written.
    pub(crate) fn restore(&self, uses: HashMap<Used, Use>) {
        for (id, used) in uses {
            self.add(id, used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyId;

    #[test]
    fn what_could_not_be_written_is_counted_again() {
        let pending = PendingUse::default();
        pending.add(Used::Key(KeyId(1)), Use { count: 1, last_used_at: 10 });
        let taken = pending.take();
        pending.add(Used::Key(KeyId(1)), Use { count: 1, last_used_at: 20 });
        pending.restore(taken);
        assert_eq!(pending.take(), HashMap::from([(Used::Key(KeyId(1)), Use { count: 2, last_used_at: 20 })]));
        assert!(pending.take().is_empty());
    }
}
