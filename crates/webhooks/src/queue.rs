//! Queue of endpoints that are due for a delivery.

use std::collections::{HashMap, HashSet, VecDeque};

use paraffin_access::AccountId;

use crate::endpoint::EndpointId;
use crate::store::Due;

/// Accounts take turns. One with the most deliveries allowed in flight is skipped until one of them has ended, so the time
/// for each endpoint does not grow with those that wait.
pub(crate) struct DeliveryQueue {
    per_account_max: usize,
    /// Accounts that have something waiting and may begin with it.
    turns: VecDeque<AccountId>,
    waiting: HashMap<AccountId, VecDeque<Due>>,
    /// Deliveries of each account that are on their way.
    running: HashMap<AccountId, usize>,
    running_endpoints: HashSet<EndpointId>,
}

impl DeliveryQueue {
    pub(crate) fn new(per_account_max: usize) -> Self {
        Self {
            per_account_max,
            turns: VecDeque::new(),
            waiting: HashMap::new(),
            running: HashMap::new(),
            running_endpoints: HashSet::new(),
        }
    }

    /// Replaces all waiting endpoints by these, except those in flight.
    pub(crate) fn replace(&mut self, due: impl IntoIterator<Item = Due>) {
        self.turns.clear();
        self.waiting.clear();
        for due in due {
            self.push(due);
        }
    }

    /// Adds one, unless it is in flight.
    pub(crate) fn push(&mut self, due: Due) {
        if self.running_endpoints.contains(&due.id) {
            return;
        }
        let may_begin = self.running.get(&due.account).is_none_or(|running| *running < self.per_account_max);
        let waiting = self.waiting.entry(due.account).or_default();
        if waiting.is_empty() && may_begin {
            self.turns.push_back(due.account);
        }
        waiting.push_back(due);
    }

    /// Takes the next one, which is then in flight.
    pub(crate) fn begin(&mut self) -> Option<Due> {
        let account = self.turns.pop_front()?;
        let waiting = self.waiting.get_mut(&account)?;
        let due = waiting.pop_front()?;
        let running = self.running.entry(account).or_default();
        *running += 1;
        self.running_endpoints.insert(due.id);
        if waiting.is_empty() {
            self.waiting.remove(&account);
        } else if *running < self.per_account_max {
            self.turns.push_back(account);
        }
        Some(due)
    }

    /// Ends a delivery that was in flight.
    pub(crate) fn end(&mut self, due: Due) {
        if !self.running_endpoints.remove(&due.id) {
            return;
        }
        let Some(running) = self.running.get_mut(&due.account) else { return };
        let was_full = *running == self.per_account_max;
        *running -= 1;
        if *running == 0 {
            self.running.remove(&due.account);
        }
        if was_full && self.waiting.contains_key(&due.account) {
            self.turns.push_back(due.account);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(id: i64, account: i64) -> Due {
        Due { id: EndpointId(id), account: AccountId(account), token: 0 }
    }

    const NONE: [i64; 0] = [];

    fn begun(queue: &mut DeliveryQueue, count: usize) -> Vec<i64> {
        (0..count).map_while(|_| queue.begin()).map(|due| due.id.0).collect()
    }

    #[test]
    fn accounts_take_turns_and_have_so_many_at_a_time() {
        let mut queue = DeliveryQueue::new(2);
        queue.replace((1..=5).map(|id| due(id, 1)).chain([due(10, 2), due(11, 2)]));
        assert_eq!(begun(&mut queue, 10), [1, 10, 2, 11]);
        // An endpoint in flight does not wait as well.
        queue.replace((1..=5).map(|id| due(id, 1)).chain([due(10, 2)]));
        assert_eq!(begun(&mut queue, 10), NONE);
        queue.end(due(10, 2));
        assert_eq!(begun(&mut queue, 10), NONE);
        queue.end(due(1, 1));
        queue.push(due(1, 1));
        assert_eq!(begun(&mut queue, 10), [3]);
        for (ended, next) in [(2, 4), (3, 5), (4, 1)] {
            queue.end(due(ended, 1));
            queue.end(due(ended, 1));
            assert_eq!(begun(&mut queue, 10), [next]);
        }
        for ended in [5, 1] {
            queue.end(due(ended, 1));
        }
        queue.end(due(11, 2));
        assert_eq!(begun(&mut queue, 1), NONE);
        assert!(queue.running.is_empty() && queue.waiting.is_empty() && queue.running_endpoints.is_empty());
    }
}
