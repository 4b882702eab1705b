//! Requests by caller, surface and UTC day: pending writes to the store, and the records of queries.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use parking_lot::Mutex;

use crate::windows::DAY_MS;
use crate::{AccountId, UnixMillis, Used};

/// Locks; more than threads, so that two requests seldom meet.
const SHARDS: usize = 16;

/// How long requests are kept by day, in days.
pub const USAGE_DAYS_MAX: u32 = 90;

/// Callers of an account whose usage is listed; those with most requests.
pub const USAGE_CALLERS_MAX: u32 = 1_000;

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Answered, or the client disconnected before.
    Answered,
    /// Refused by a limit: 429.
    RateLimited,
    /// Answered with another status from 400 on.
    Failed,
}

/// A request of a known caller, at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedRequest {
    /// The caller's credential.
    pub used: Used,
    /// The account of the caller.
    pub account: AccountId,
    /// The surface, out of a small closed set; never a text that a caller chose.
    pub surface: &'static str,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Numbers of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageCounts {
    /// All requests, whatever their outcome.
    pub requests: i64,
    /// Those that a limit refused: 429.
    pub rate_limited: i64,
    /// Those that were answered with another status from 400 on.
    pub failed: i64,
}

impl UsageCounts {
    const fn one(outcome: Outcome) -> Self {
        Self {
            requests: 1,
            rate_limited: matches!(outcome, Outcome::RateLimited) as i64,
            failed: matches!(outcome, Outcome::Failed) as i64,
        }
    }
}

impl std::ops::AddAssign for UsageCounts {
    fn add_assign(&mut self, more: Self) {
        self.requests = self.requests.saturating_add(more.requests);
        self.rate_limited = self.rate_limited.saturating_add(more.rate_limited);
        self.failed = self.failed.saturating_add(more.failed);
    }
}

/// Requests of an account on one surface in one UTC day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceUsage {
    /// The day, counted from the Unix epoch.
    pub day: i64,
    /// Name of the surface.
    pub surface: String,
    /// Requests.
    pub counts: UsageCounts,
}

/// Requests of one caller in all days of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallerUsage {
    /// Which key, alias or origin; an alias or origin may have been removed since.
    pub used: Used,
    /// Requests.
    pub counts: UsageCounts,
}

/// Requests of an account.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccountUsage {
    /// By day and surface, days and then names ascending; without those in which there was no request.
    pub surfaces: Vec<SurfaceUsage>,
    /// By caller, most requests first; at most [`USAGE_CALLERS_MAX`].
    pub callers: Vec<CallerUsage>,
}

/// The UTC day of a moment, counted from the Unix epoch.
pub const fn utc_day(at: UnixMillis) -> i64 {
    at.div_euclid(DAY_MS)
}

/// Key under which pending requests are counted. One caller has few of them, so its number alone is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UseKey {
    pub(crate) used: Used,
    pub(crate) account: AccountId,
    pub(crate) surface: &'static str,
    pub(crate) day: i64,
}

impl Hash for UseKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.used.number().hash(state);
    }
}

/// Requests that are not yet in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) counts: UsageCounts,
    pub(crate) last_used_at: UnixMillis,
}

/// Requests counted since the last write. Bounded by the keys, aliases and origins that exist, times the surfaces: while the store
/// cannot be written for long, it cannot be read either, and no request is served.
#[derive(Default)]
pub(crate) struct PendingUse([Mutex<HashMap<UseKey, Use>>; SHARDS]);

impl PendingUse {
    /// Counts one request.
    pub(crate) fn record(&self, request: RecordedRequest, now: UnixMillis) {
        let RecordedRequest { used, account, surface, outcome } = request;
        let key = UseKey { used, account, surface, day: utc_day(now) };
        self.add(key, Use { counts: UsageCounts::one(outcome), last_used_at: now });
    }

    fn add(&self, key: UseKey, more: Use) {
        let mut pending = self.0[key.used.number().cast_unsigned() as usize % SHARDS].lock();
        let entry =
            pending.entry(key).or_insert(Use { counts: UsageCounts::default(), last_used_at: more.last_used_at });
        entry.counts += more.counts;
        entry.last_used_at = entry.last_used_at.max(more.last_used_at);
    }

    pub(crate) fn take(&self) -> HashMap<UseKey, Use> {
        self.0.iter().flat_map(|shard| std::mem::take(&mut *shard.lock())).collect()
    }

    /// Returns counts after a failed write.
    pub(crate) fn restore(&self, uses: HashMap<UseKey, Use>) {
        for (key, used) in uses {
            self.add(key, used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AliasId, KeyId};

    fn of(used: Used, surface: &'static str, outcome: Outcome) -> RecordedRequest {
        RecordedRequest { used, account: AccountId(1), surface, outcome }
    }

    fn counts(requests: i64, rate_limited: i64, failed: i64) -> UsageCounts {
        UsageCounts { requests, rate_limited, failed }
    }

    #[test]
    fn counts_of_a_failed_write_are_counted_again() {
        let pending = PendingUse::default();
        let key = Used::Key(KeyId(1));
        pending.record(of(key, "main", Outcome::RateLimited), 10);
        let taken = pending.take();
        pending.record(of(key, "main", Outcome::Failed), 20);
        pending.restore(taken);
        let expected = UseKey { used: key, account: AccountId(1), surface: "main", day: 0 };
        let both = Use { counts: counts(2, 1, 1), last_used_at: 20 };
        assert_eq!(pending.take(), HashMap::from([(expected, both)]));
        assert!(pending.take().is_empty());
    }

    #[test]
    fn callers_surfaces_and_days_are_counted_apart() {
        let pending = PendingUse::default();
        for (used, surface, now) in [
            (Used::Key(KeyId(1)), "main", DAY_MS - 1),
            (Used::Key(KeyId(1)), "main", DAY_MS),
            (Used::Key(KeyId(1)), "rest", DAY_MS),
            (Used::Alias(AliasId(1)), "rest", DAY_MS),
        ] {
            pending.record(of(used, surface, Outcome::Answered), now);
        }
        let taken = pending.take();
        assert_eq!(taken.len(), 4);
        assert!(taken.values().all(|one| one.counts == counts(1, 0, 0)), "{taken:?}");
    }

    #[test]
    fn every_moment_has_a_day() {
        for (at, day) in [(0, 0), (-1, -1), (DAY_MS, 1), (i64::MAX, 106_751_991_167), (i64::MIN, -106_751_991_168)] {
            assert_eq!(utc_day(at), day, "{at}");
        }
    }
}
