//! Calls of each caller in the clock minute. A batch counts once as a request; the calls in it, in its multicalls and in its
//! scripts count here. Each process counts for itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use paraffin_access::{ClientNet, Subject, UnixMillis};
use parking_lot::Mutex;

use crate::limits::Limits;

const MINUTE_MS: i64 = 60_000;
/// Entries of callers above which those of earlier minutes are removed.
const CALLERS_MAX: usize = 10_000;

/// Callers whose calls are counted together, as their requests are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Counted {
    Subject(Subject),
    Client(ClientNet),
}

/// The calls of all callers.
#[derive(Default)]
pub(crate) struct CallWindows {
    callers: Mutex<HashMap<Counted, Arc<CallWindow>>>,
    /// The last minute in which a caller used up its calls: in any other minute no caller is looked up.
    exhausted: Arc<AtomicU32>,
}

impl CallWindows {
    /// Calls in a minute for a caller with so many requests in it; `None`: no limit. One request of the largest kind always fits.
    pub(crate) fn limit(requests_per_minute: Option<u32>, limits: &Limits) -> Option<u32> {
        let least = u32::try_from(limits.calls_per_request_max).unwrap_or(u32::MAX);
        Some(requests_per_minute?.saturating_mul(limits.calls_per_request_of_minute).max(least))
    }

    /// The window of a caller.
    pub(crate) fn of(&self, caller: Counted, limit: u32, now: UnixMillis) -> Arc<CallWindow> {
        let mut callers = self.callers.lock();
        if callers.len() >= CALLERS_MAX && !callers.contains_key(&caller) {
            callers.retain(|_, window| split(window.used.load(Ordering::Relaxed)).0 == minute(now));
        }
        let new = || Arc::new(CallWindow { limit, used: AtomicU64::new(0), exhausted: Arc::clone(&self.exhausted) });
        let window = callers.entry(caller).or_insert_with(new);
        if window.limit != limit {
            *window = new();
        }
        Arc::clone(window)
    }

    /// Seconds until a caller that has used up its calls may call again.
    pub(crate) fn wait(&self, caller: Counted, now: UnixMillis) -> Option<u32> {
        let minute = minute(now);
        if self.exhausted.load(Ordering::Relaxed) != minute {
            return None;
        }
        let callers = self.callers.lock();
        let window = callers.get(&caller)?;
        let (of, used) = split(window.used.load(Ordering::Relaxed));
        let left_ms = MINUTE_MS - now.rem_euclid(MINUTE_MS);
        let seconds = u32::try_from(left_ms / 1_000 + 1).unwrap_or(60).min(60);
        (of == minute && used >= window.limit).then_some(seconds)
    }
}

/// The calls of one caller.
pub(crate) struct CallWindow {
    limit: u32,
    /// The minute in the upper half, its calls in the lower.
    used: AtomicU64,
    exhausted: Arc<AtomicU32>,
}

impl CallWindow {
    /// Takes a call, if one is left.
    pub(crate) fn take(&self, now: UnixMillis) -> bool {
        let minute = minute(now);
        let next = |used| {
            let used = match split(used) {
                (of, used) if of == minute => used,
                _ => 0,
            };
            (used < self.limit).then(|| u64::from(minute) << 32 | u64::from(used + 1))
        };
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        // Recorded with the last call, so that the next request is refused as a whole.
        if taken.is_err() || taken.is_ok_and(|before| next(before).is_some_and(|after| split(after).1 == self.limit)) {
            self.exhausted.store(minute, Ordering::Relaxed);
        }
        taken.is_ok()
    }
}

fn minute(now: UnixMillis) -> u32 {
    // Minutes since 1970 pass 32 bits in the year 10,000.
    u32::try_from(now.div_euclid(MINUTE_MS)).unwrap_or_default()
}

#[allow(clippy::cast_possible_truncation)] // the two halves
const fn split(used: u64) -> (u32, u32) {
    ((used >> 32) as u32, used as u32)
}

#[cfg(test)]
mod tests {
    use paraffin_access::{AccountId, KeyId};

    use super::*;

    const NOW: UnixMillis = 1_700_000_000_000 / MINUTE_MS * MINUTE_MS + 15_000;

    #[test]
    fn calls_of_a_caller_end_with_the_limit_and_begin_anew_with_the_minute() {
        let windows = CallWindows::default();
        let (caller, other) =
            (Counted::Subject(Subject::Key(KeyId(1))), Counted::Subject(Subject::Origins(AccountId(1))));
        let window = windows.of(caller, 3, NOW);
        assert_eq!((0..5).filter(|_| window.take(NOW)).count(), 3);
        assert_eq!((windows.wait(caller, NOW), windows.wait(other, NOW)), (Some(46), None));
        assert!(windows.of(other, 3, NOW).take(NOW), "callers do not share a window");
        let next = NOW + MINUTE_MS;
        assert_eq!(windows.wait(caller, next), None);
        assert!(windows.of(caller, 3, next).take(next) && !windows.of(caller, 0, next).take(next));
    }

    #[test]
    fn the_last_call_is_enough_to_refuse_the_next_request() {
        let windows = CallWindows::default();
        let caller = Counted::Client(ClientNet::from(std::net::IpAddr::from([192, 0, 2, 1])));
        let window = windows.of(caller, 2, NOW);
        assert!(window.take(NOW) && windows.wait(caller, NOW).is_none());
        assert!(window.take(NOW) && windows.wait(caller, NOW).is_some());
    }

    #[test]
    fn earlier_minutes_are_forgotten_and_a_request_of_the_largest_kind_fits() {
        let windows = CallWindows::default();
        let key = |number| Counted::Subject(Subject::Key(KeyId(number)));
        for number in 0..i64::try_from(CALLERS_MAX).unwrap() {
            windows.of(key(number), 1, NOW).take(NOW);
        }
        let next = NOW + MINUTE_MS;
        windows.of(key(-1), 1, next);
        assert_eq!(windows.callers.lock().len(), 1);
        let limits = Limits { calls_per_request_max: 100, calls_per_request_of_minute: 20, ..Limits::default() };
        let limit = |per_minute| CallWindows::limit(per_minute, &limits);
        assert_eq!(
            [limit(None), limit(Some(4)), limit(Some(60)), limit(Some(u32::MAX))],
            [None, Some(100), Some(1_200), Some(u32::MAX)]
        );
    }
}
