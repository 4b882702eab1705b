//! Throttling of anonymous callers: requests are delayed before they are refused (docs/api.md, "How much").

use std::collections::HashMap;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{ClientNet, UnixMillis};

const SHARDS: usize = 16;

/// Throttling of anonymous callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThrottleSettings {
    /// Requests that a client with a full bucket may send at once.
    pub burst: u32,
    /// Requests that the bucket of a client regains in one minute.
    pub refill_per_minute: u32,
    /// Longest delay in milliseconds; a request that would wait longer is refused.
    pub wait_ms_max: u32,
    /// Clients that are remembered at the same time.
    pub clients_max: usize,
}

impl Default for ThrottleSettings {
    fn default() -> Self {
        Self { burst: 60, refill_per_minute: 60, wait_ms_max: 25_000, clients_max: 100_000 }
    }
}

impl ThrottleSettings {
    /// Microseconds in which a bucket regains one request.
    pub(crate) fn interval(self) -> i64 {
        60_000_000 / i64::from(self.refill_per_minute.max(1))
    }
}

/// A slot in the queue of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// Whether the slot was granted.
    pub granted: bool,
    /// Milliseconds to wait for it; of a refused request: until one would have been granted.
    pub wait_ms: u32,
    /// Requests that the client could send now without waiting.
    pub remaining: u32,
    /// When the bucket is full again, in Unix seconds.
    pub reset: i64,
}

/// Token buckets, each one number: the time at which the bucket will be full, in microseconds. A request moves it by one
/// interval, so slots are granted in the order of arrival and waiting requests need no state.
#[derive(Default)]
pub struct Throttle {
    shards: [Mutex<HashMap<ClientNet, i64>>; SHARDS],
    state: std::collections::hash_map::RandomState,
}

impl Throttle {
    /// Takes the next slot of a client, if the wait for it is not too long.
    pub fn reserve(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) -> Reservation {
        let now = now.saturating_mul(1_000);
        let interval = settings.interval();
        let burst = interval.saturating_mul(i64::from(settings.burst.max(1)));
        let capacity = (settings.clients_max / SHARDS).max(1);
        let mut buckets = self.shard(client).lock();
        if buckets.len() >= capacity && !buckets.contains_key(&client) {
            evict(&mut buckets, capacity, now, burst);
        }
        let full_at = buckets.entry(client).or_insert(now);
        // A clock that steps back does not make a client wait longer than the longest wait.
        let longest = burst.saturating_add(i64::from(settings.wait_ms_max) * 1_000);
        let start = (*full_at).clamp(now, now.saturating_add(longest));
        let next = start.saturating_add(interval);
        let wait = (next - now - burst).max(0);
        let granted = wait <= i64::from(settings.wait_ms_max) * 1_000;
        *full_at = if granted { next } else { start };
        let remaining = (burst - (*full_at - now)).max(0) / interval;
        Reservation {
            granted,
            wait_ms: u32::try_from((wait + 999) / 1_000).unwrap_or(u32::MAX),
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            reset: (*full_at + 999_999) / 1_000_000,
        }
    }

    /// Releases one slot, the last in the queue: requests behind a cancelled one move up first.
    pub fn give_back(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) {
        let now = now.saturating_mul(1_000);
        let mut buckets = self.shard(client).lock();
        if let Some(full_at) = buckets.get_mut(&client) {
            *full_at = full_at.saturating_sub(settings.interval()).max(now.min(*full_at));
        }
    }

    fn shard(&self, client: ClientNet) -> &Mutex<HashMap<ClientNet, i64>> {
        use std::hash::BuildHasher as _;
        &self.shards[(self.state.hash_one(client) % SHARDS as u64) as usize]
    }

    /// Clients that are remembered.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    /// Whether no client is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Evicts clients whose bucket is full again; when that is not enough, those with the most tokens left; at last all clients.
fn evict(buckets: &mut HashMap<ClientNet, i64>, capacity: usize, now: i64, burst: i64) {
    for used in [0, burst / 4, burst / 2] {
        buckets.retain(|_, full_at| *full_at - now > used);
        if buckets.len() < capacity / 2 + 1 {
            return;
        }
    }
    if buckets.len() >= capacity {
        buckets.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::IpAddr;

    const NOW: i64 = 1_700_000_000_000;

    fn client(number: u32) -> ClientNet {
        ClientNet::from(IpAddr::from(number.to_be_bytes()))
    }

    /// row AU11
    #[test]
    fn sixty_at_once_then_one_a_second_in_order_and_25_seconds_away_is_too_far() {
        let throttle = Throttle::default();
        let reserve = |now| throttle.reserve(client(1), ThrottleSettings::default(), now);
        for left in (0..60).rev() {
            let slot = reserve(NOW);
            assert_eq!((slot.granted, slot.wait_ms, slot.remaining), (true, 0, left));
        }
        for second in 1..=25 {
            assert_eq!((reserve(NOW).granted, second), (true, second));
        }
        let refused = reserve(NOW);
        assert_eq!((refused.granted, refused.wait_ms), (false, 26_000));
        // A refusal takes no slot: a second later there is one.
        let next = reserve(NOW + 1_000);
        assert_eq!((next.granted, next.wait_ms), (true, 25_000));
        assert_eq!(throttle.reserve(client(2), ThrottleSettings::default(), NOW).wait_ms, 0);
        let rested = reserve(NOW + 200_000);
        assert_eq!((rested.wait_ms, rested.remaining), (0, 59));
    }

    #[test]
    fn the_number_of_clients_that_are_remembered_is_bounded() {
        let throttle = Throttle::default();
        let settings = ThrottleSettings { clients_max: 1_600, ..ThrottleSettings::default() };
        for number in 0..50_000 {
            throttle.reserve(client(number), settings, NOW + i64::from(number) / 100);
            assert!(number % 1_000 != 0 || throttle.len() <= 1_600);
        }
        assert!(throttle.len() <= 1_600);
        // A client that waits is not evicted while others come and go.
        for _ in 0..70 {
            throttle.reserve(client(77_777), settings, NOW + 500);
        }
        for number in 100_000..100_300 {
            throttle.reserve(client(number), settings, NOW + 500);
        }
        assert!(throttle.reserve(client(77_777), settings, NOW + 500).wait_ms > 9_000);
    }

    /// row AU11
    #[test]
    fn a_place_that_is_given_back_is_there_again_and_never_more_than_the_burst() {
        let throttle = Throttle::default();
        let settings = ThrottleSettings { burst: 2, refill_per_minute: 60, wait_ms_max: 2_000, clients_max: 10 };
        let reserve = || throttle.reserve(client(1), settings, NOW);
        let waits: Vec<u32> = (0..4).map(|_| reserve().wait_ms).collect();
        assert_eq!(waits, [0, 0, 1_000, 2_000]);
        assert!(!reserve().granted);
        throttle.give_back(client(1), settings, NOW);
        let again = reserve();
        assert_eq!((again.granted, again.wait_ms), (true, 2_000));
        for _ in 0..20 {
            throttle.give_back(client(1), settings, NOW);
        }
        assert_eq!([reserve().remaining, reserve().remaining, reserve().wait_ms], [1, 0, 1_000]);
        // A client that releases a slot that it never had is not remembered.
        throttle.give_back(client(2), settings, NOW);
        assert_eq!(throttle.len(), 1);
    }

    proptest! {
        #[test]
        fn never_more_than_burst_and_refill(steps in proptest::collection::vec(0i64..3_000, 1..400)) {
            let throttle = Throttle::default();
            let settings = ThrottleSettings { burst: 5, refill_per_minute: 60, wait_ms_max: 2_000, clients_max: 10 };
            let mut now = NOW;
            let mut turns = Vec::new();
            for step in steps {
                now += step;
                let slot = throttle.reserve(client(1), settings, now);
                if slot.granted {
                    turns.push(now + i64::from(slot.wait_ms));
                }
            }
            prop_assert!(turns.is_sorted(), "in the order of arrival");
            for (index, first) in turns.iter().enumerate() {
                let in_ten_seconds = turns[index..].iter().filter(|turn| **turn < first + 10_000).count();
                prop_assert!(in_ten_seconds <= 5 + 10);
            }
        }
    }
}
