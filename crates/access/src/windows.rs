//! Counting in fixed windows: the clock minute and the UTC day (docs/api.md, "How much").

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher};

use parking_lot::Mutex;

use crate::store::AccessFuture;
use crate::throttle::{Reservation, ThrottleSettings};
use crate::{ClientNet, Subject, UnixMillis, WindowLimits};

pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const DAY_MS: i64 = 86_400_000;
/// Value of `limit` and `remaining` where there is no limit.
pub const UNLIMITED: u32 = 2_147_483_647;
/// Locks; more than threads, so that two requests seldom meet.
const SHARDS: usize = 64;

/// Counts requests. Several gateways can share one engine behind this; a process never assumes that it counts alone.
pub trait Windows: Send + Sync {
    /// Counts one request of `subject`, or refuses it without counting.
    ///
    /// # Errors
    /// [`crate::AccessError::Unavailable`] when the counts cannot be consulted; no request is served then.
    fn admit(&self, subject: Subject, limits: WindowLimits, now: UnixMillis) -> AccessFuture<'_, Decision>;

    /// Takes the next slot in the queue of an anonymous client.
    ///
    /// # Errors
    /// As [`Windows::admit`].
    fn reserve(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis) -> AccessFuture<'_, Reservation>;

    /// Releases one slot of a client that disconnected before its turn. A slot that cannot be released is lost to that client alone.
    fn give_back(&self, client: ClientNet, settings: ThrottleSettings, now: UnixMillis);

    /// State of the windows shared with other gateways; `None` where nothing is shared.
    fn shared(&self) -> Option<SharedState> {
        None
    }
}

/// State of the shared windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedState {
    /// Whether requests are decided together with the other gateways.
    pub is_shared: bool,
    /// How often Redis became unreachable.
    pub lost: u64,
    /// Requests that were decided without Redis.
    pub alone: u64,
}

/// The decision about one request, with the values of its rate-limit headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether it is served.
    pub admitted: bool,
    /// Of the window that is described: its limit, or [`UNLIMITED`].
    pub limit: u32,
    /// What is left in it, or [`UNLIMITED`].
    pub remaining: u32,
    /// When it starts anew, in Unix seconds.
    pub reset: i64,
    /// Limit of the day, or [`UNLIMITED`].
    pub daily_limit: u32,
    /// What is left of the day, or [`UNLIMITED`].
    pub daily_remaining: u32,
    /// Seconds until a refused request may be tried again, at least 1; 0 for one that was admitted.
    pub retry_after: u32,
}

/// Requests that a subject has been granted in the current windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// The key, alias or origins that were counted.
    pub subject: Subject,
    /// In the clock minute.
    pub in_minute: u32,
    /// In the UTC day.
    pub in_day: u32,
}

/// Counts of one subject, and the part of them that is not yet in the store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WindowState {
    pub(crate) minute: u32,
    pub(crate) minute_count: u32,
    pub(crate) day: u32,
    pub(crate) day_count: u32,
    pub(crate) minute_pending: u32,
    pub(crate) day_pending: u32,
}

impl WindowState {
    /// Begins new windows when the clock has passed the old ones. A clock that steps back stays in them.
    fn roll(&mut self, now: UnixMillis) {
        let now = now.max(0);
        let minute = u32::try_from(now / MINUTE_MS).unwrap_or(u32::MAX);
        let day = u32::try_from(now / DAY_MS).unwrap_or(u32::MAX);
        if minute > self.minute {
            (self.minute, self.minute_count, self.minute_pending) = (minute, 0, 0);
        }
        if day > self.day {
            (self.day, self.day_count, self.day_pending) = (day, 0, 0);
        }
    }

    fn admit(&mut self, limits: WindowLimits, now: UnixMillis) -> Decision {
        self.roll(now);
        let left = |limit: Option<u32>, count: u32| limit.map(|limit| limit.saturating_sub(count));
        let mut minute_left = left(limits.per_minute, self.minute_count);
        let mut day_left = left(limits.per_day, self.day_count);
        let admitted = minute_left != Some(0) && day_left != Some(0);
        if admitted {
            self.minute_count = self.minute_count.saturating_add(1);
            self.day_count = self.day_count.saturating_add(1);
            self.minute_pending = self.minute_pending.saturating_add(1);
            self.day_pending = self.day_pending.saturating_add(1);
            minute_left = minute_left.map(|left| left - 1);
            day_left = day_left.map(|left| left - 1);
        }
        let left = Left { minute: self.minute, in_minute: minute_left, day: self.day, in_day: day_left };
        left.decision(admitted, limits, now)
    }
}

/// Remaining requests of both windows after a request; `None` where there is no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left {
    pub(crate) minute: u32,
    pub(crate) in_minute: Option<u32>,
    pub(crate) day: u32,
    pub(crate) in_day: Option<u32>,
}

impl Left {
    /// The decision for the answer.
    pub(crate) fn decision(self, admitted: bool, limits: WindowLimits, now: UnixMillis) -> Decision {
        let minute_left = self.in_minute.unwrap_or(UNLIMITED);
        let day_left = self.in_day.unwrap_or(UNLIMITED);
        let minute_reset = (i64::from(self.minute) + 1) * MINUTE_MS;
        let day_reset = (i64::from(self.day) + 1) * DAY_MS;
        let daily_limit = limits.per_day.unwrap_or(UNLIMITED);
        let (limit, remaining, reset) = if day_left < minute_left {
            (daily_limit, day_left, day_reset)
        } else {
            (limits.per_minute.unwrap_or(UNLIMITED), minute_left, minute_reset)
        };
        let opens = if day_left == 0 { day_reset } else { minute_reset };
        let wait = opens.saturating_sub(now).max(1);
        let retry_after = if admitted { 0 } else { u32::try_from((wait + 999) / 1000).unwrap_or(u32::MAX) };
        Decision {
            admitted,
            limit,
            remaining,
            reset: reset / 1000,
            daily_limit,
            daily_remaining: day_left,
            retry_after,
        }
    }
}

/// Row ids count up, so a multiplication spreads them well; they are assigned here, so an attacker cannot choose them to collide.
#[derive(Debug, Clone, Copy, Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn write_i64(&mut self, number: i64) {
        let spread = number.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }
}

#[derive(Debug, Clone, Default)]
struct NumberState;

impl std::hash::BuildHasher for NumberState {
    type Hasher = NumberHasher;

    fn build_hasher(&self) -> NumberHasher {
        NumberHasher::default()
    }
}

/// Subjects with neighbouring ids share a page: row ids are dense, so the map of pages stays in the cache however many
/// subjects there are, and a decision waits for memory once.
const PAGE: usize = 64;
type Page = Box<[WindowState; PAGE]>;

/// Page and index in it: the kind of the subject is in the two lowest bits of both numbers.
const fn page_index(number: i64) -> (i64, usize) {
    let (id, kind) = (number >> 2, number & 3);
    let page = PAGE.cast_signed() as i64;
    (id.div_euclid(page) << 2 | kind, id.rem_euclid(page).cast_unsigned() as usize)
}

#[derive(Default)]
struct Shard {
    pages: HashMap<i64, Page, NumberState>,
    /// Subjects with something pending.
    changed: Vec<i64>,
}

fn empty_page() -> Page {
    Box::new([WindowState::default(); PAGE])
}

/// The counts of this process. Bounded by the keys, aliases and accounts that were used today: anonymous callers
/// have no entry.
pub struct WindowTable {
    shards: Box<[Mutex<Shard>]>,
}

impl Default for WindowTable {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl WindowTable {
    /// Counts one request, or refuses it without counting; see [`Windows::admit`].
    pub fn admit(&self, subject: Subject, limits: WindowLimits, now: UnixMillis) -> Decision {
        let number = subject.number();
        let (page, at) = page_index(number);
        let mut shard = self.shard(page).lock();
        let Shard { pages, changed } = &mut *shard;
        let count = &mut pages.entry(page).or_insert_with(empty_page)[at];
        let was_pending = count.day_pending > 0;
        let decision = count.admit(limits, now);
        if decision.admitted && !was_pending {
            changed.push(number);
        }
        decision
    }

    fn shard(&self, page: i64) -> &Mutex<Shard> {
        let spread = NumberState.hash_one(page);
        &self.shards[(spread >> 20) as usize % SHARDS]
    }

    /// Sets the counts of the store, which include those of other processes.
    pub(crate) fn set(&self, number: i64, stored: WindowState) {
        let (page, at) = page_index(number);
        let mut shard = self.shard(page).lock();
        let count = &mut shard.pages.entry(page).or_insert_with(empty_page)[at];
        if stored.minute == count.minute {
            count.minute_count = stored.minute_count.saturating_add(count.minute_pending);
        } else if stored.minute > count.minute {
            (count.minute, count.minute_count, count.minute_pending) = (stored.minute, stored.minute_count, 0);
        }
        if stored.day == count.day {
            count.day_count = stored.day_count.saturating_add(count.day_pending);
        } else if stored.day > count.day {
            (count.day, count.day_count, count.day_pending) = (stored.day, stored.day_count, 0);
        }
    }

    /// Takes what is pending, to be written.
    pub(crate) fn take(&self) -> Vec<(i64, WindowState)> {
        let mut taken = Vec::new();
        for shard in &self.shards {
            let mut shard = shard.lock();
            let Shard { pages, changed } = &mut *shard;
            for number in changed.drain(..) {
                let (page, at) = page_index(number);
                if let Some(count) = pages.get_mut(&page).map(|page| &mut page[at]) {
                    taken.push((number, *count));
                    (count.minute_pending, count.day_pending) = (0, 0);
                }
            }
        }
        taken
    }

    /// Returns counts after a failed write.
    pub(crate) fn restore(&self, taken: &[(i64, WindowState)]) {
        for (number, old) in taken {
            let (page, at) = page_index(*number);
            let mut shard = self.shard(page).lock();
            let Shard { pages, changed } = &mut *shard;
            let count = &mut pages.entry(page).or_insert_with(empty_page)[at];
            if count.day == 0 {
                *count = WindowState { minute_pending: 0, day_pending: 0, ..*old };
            }
            let was_pending = count.day_pending > 0;
            if count.minute == old.minute {
                count.minute_pending = count.minute_pending.saturating_add(old.minute_pending);
            }
            if count.day == old.day {
                count.day_pending = count.day_pending.saturating_add(old.day_pending);
            }
            if count.day_pending > 0 && !was_pending {
                changed.push(*number);
            }
        }
    }

    /// Evicts subjects that were last counted before the day of `now`.
    pub(crate) fn forget_before(&self, now: UnixMillis) {
        let day = u32::try_from(now.max(0) / DAY_MS).unwrap_or(u32::MAX);
        for shard in &self.shards {
            shard.lock().pages.retain(|_, page| page.iter().any(|count| count.day >= day || count.day_pending > 0));
        }
    }

    /// Subjects that were counted.
    pub fn len(&self) -> usize {
        let counted = |page: &Page| page.iter().filter(|count| count.day > 0).count();
        self.shards.iter().map(|shard| shard.lock().pages.values().map(counted).sum::<usize>()).sum()
    }

    /// Whether nothing has been counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KeyId, Plan, Plans};

    /// 2023-11-14 22:13:20 UTC: 40 s before a minute, 1 h 46 min 40 s before a day.
    const NOW: i64 = 1_700_000_000_000;
    const KEY: Subject = Subject::Key(KeyId(1));

    fn of(plan: &Plan) -> WindowLimits {
        Plans::default().windows(plan, WindowLimits::NONE)
    }

    /// row RL01
    #[test]
    fn free_takes_60_in_a_minute_and_1000_in_a_day() {
        let table = WindowTable::default();
        let mut admitted = 0;
        let mut last = None;
        for minute in 0..20 {
            for _ in 0..70 {
                let decision = table.admit(KEY, of(&Plan::FREE), NOW + minute * 60_000);
                admitted += u32::from(decision.admitted);
                last = Some(decision);
            }
            assert_eq!(admitted, 1_000.min(60 * (u32::try_from(minute).unwrap() + 1)));
        }
        let refused = last.unwrap();
        assert!(!refused.admitted);
        // The day is exhausted, so the day is what is described and waited for.
        assert_eq!((refused.limit, refused.remaining, refused.reset), (1_000, 0, 1_700_006_400));
        assert_eq!(refused.retry_after, 6_400 - 19 * 60);
        assert!(table.admit(KEY, of(&Plan::FREE), 1_700_006_400_000).admitted);
    }

    /// row RL02
    #[test]
    fn pro_takes_600_in_a_minute_and_50000_in_a_day() {
        let table = WindowTable::default();
        let admitted =
            |minute: i64| (0..700).filter(|_| table.admit(KEY, of(&Plan::PRO), NOW + minute * 60_000).admitted).count();
        assert_eq!(admitted(0), 600);
        assert_eq!((1..100).map(admitted).sum::<usize>(), 50_000 - 600);
    }

    /// row RL03
    #[test]
    fn business_is_unlimited_and_says_so_unless_the_key_has_limits() {
        let table = WindowTable::default();
        for _ in 0..2_000 {
            let decision = table.admit(KEY, of(&Plan::BUSINESS), NOW);
            assert!(decision.admitted);
            assert_eq!((decision.limit, decision.remaining), (2_147_483_647, 2_147_483_647));
            assert_eq!((decision.daily_limit, decision.daily_remaining), (2_147_483_647, 2_147_483_647));
            assert_eq!(decision.reset, 1_700_000_040);
        }
        let own = WindowLimits { per_minute: None, per_day: Some(2_001) };
        let limits = Plans::default().windows(&Plan::BUSINESS, own);
        assert!(table.admit(KEY, limits, NOW).admitted);
        assert!(!table.admit(KEY, limits, NOW).admitted);
    }

    /// row RL04
    #[test]
    fn keys_do_not_share_a_counter() {
        let table = WindowTable::default();
        let own = WindowLimits { per_minute: Some(1), per_day: None };
        for key in 1..100 {
            assert!(table.admit(Subject::Key(KeyId(key)), own, NOW).admitted);
            assert!(!table.admit(Subject::Key(KeyId(key)), own, NOW).admitted);
        }
        assert_eq!(table.len(), 99);
    }

    /// row RL05
    #[test]
    fn the_minute_is_described_unless_the_day_is_tighter() {
        let table = WindowTable::default();
        let own = WindowLimits { per_minute: Some(3), per_day: Some(4) };
        let at = |now| table.admit(KEY, own, now);
        let first = at(NOW);
        assert_eq!((first.limit, first.remaining, first.reset), (3, 2, 1_700_000_040));
        assert_eq!((first.daily_limit, first.daily_remaining, first.retry_after), (4, 3, 0));
        at(NOW);
        at(NOW);
        let refused = at(NOW);
        assert_eq!((refused.admitted, refused.limit, refused.remaining, refused.retry_after), (false, 3, 0, 40));
        let fourth = at(NOW + 60_000);
        assert_eq!((fourth.limit, fourth.remaining, fourth.reset), (4, 0, 1_700_006_400));
        assert!(!at(NOW + 120_000).admitted);
    }

    #[test]
    fn a_refused_request_uses_nothing_up_and_a_clock_that_steps_back_gives_nothing_back() {
        let table = WindowTable::default();
        let own = WindowLimits { per_minute: Some(1), per_day: Some(2) };
        assert!(table.admit(KEY, own, NOW).admitted);
        for _ in 0..5 {
            assert!(!table.admit(KEY, own, NOW).admitted);
            assert!(!table.admit(KEY, own, NOW - 120_000).admitted);
        }
        assert!(table.admit(KEY, own, NOW + 60_000).admitted);
    }

    #[test]
    fn counts_of_another_process_are_added_and_those_of_a_failed_write_are_not_lost() {
        let table = WindowTable::default();
        let own = WindowLimits { per_minute: Some(10), per_day: None };
        for _ in 0..3 {
            table.admit(KEY, own, NOW);
        }
        let taken = table.take();
        assert_eq!((taken.len(), taken[0].1.minute_pending, taken[0].1.day_pending), (1, 3, 3));
        table.restore(&taken);
        table.admit(KEY, own, NOW);
        let taken = table.take();
        assert_eq!(taken[0].1.minute_pending, 4);
        table.admit(KEY, own, NOW);
        let WindowState { minute, day, .. } = taken[0].1;
        table.set(KEY.number(), WindowState { minute, minute_count: 9, day, day_count: 9, ..WindowState::default() });
        assert!(!table.admit(KEY, own, NOW).admitted, "9 in the store and 1 since");
        assert_eq!(table.take()[0].1.minute_pending, 1);
        assert!(table.take().is_empty());
        table.forget_before(NOW + DAY_MS);
        assert!(table.is_empty());
    }
}
