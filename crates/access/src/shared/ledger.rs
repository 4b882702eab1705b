//! Grants of this process and known totals of all gateways, for decisions while Redis is unreachable.

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::windows::{DAY_MS, Left, MINUTE_MS, WindowState};
use crate::{Decision, Subject, UnixMillis, WindowLimits};

/// Locks; more than threads, so that two requests seldom meet.
const SHARDS: usize = 64;

/// One window of one subject.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    number: u32,
    /// Highest known total of all processes, own grants since then included.
    total: u32,
    /// Granted by this process.
    own: u32,
    /// Granted by this process and not yet in the database.
    pending: u32,
}

impl Counted {
    /// A clock that steps back stays in the window.
    fn roll(&mut self, number: u32) {
        if number > self.number {
            *self = Self { number, ..Self::default() };
        }
    }

    fn grant(&mut self) {
        self.own = self.own.saturating_add(1);
        self.pending = self.pending.saturating_add(1);
    }

    fn learn(&mut self, number: u32, total: u32) {
        self.roll(number);
        if number == self.number {
            self.total = self.total.max(total.saturating_add(self.pending));
        }
    }

    /// Requests that this process may still grant while it decides alone.
    fn left(&self, limit: Option<u32>, gateways: u32) -> Option<u32> {
        let limit = limit?;
        Some(limit.saturating_sub(self.total).min(share(limit, gateways).saturating_sub(self.own)))
    }
}

/// The part of a limit that one of so many gateways may grant without Redis: an equal part, rounded down, and at least 1, so
/// that a small limit is not a refusal.
pub(super) const fn share(limit: u32, gateways: u32) -> u32 {
    let part = limit / gateways;
    if part == 0 { 1 } else { part }
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    minute: Counted,
    day: Counted,
}

/// Windows and grants of this process in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) minute: u32,
    pub(super) in_minute: u32,
    pub(super) day: u32,
    pub(super) in_day: u32,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<i64, Entry>,
    /// Subjects with something pending.
    changed: Vec<i64>,
}

/// Bounded by the keys, aliases and accounts that this process has served today.
pub(super) struct Ledger(Box<[Mutex<Shard>]>);

impl Default for Ledger {
    fn default() -> Self {
        Self((0..SHARDS).map(|_| Mutex::default()).collect())
    }
}

impl Ledger {
    fn with<T>(&self, number: i64, change: impl FnOnce(&mut Entry) -> T) -> T {
        let mut shard = self.0[number.cast_unsigned() as usize % SHARDS].lock();
        let Shard { entries, changed } = &mut *shard;
        let entry = entries.entry(number).or_default();
        let was_pending = entry.day.pending > 0;
        let done = change(entry);
        if entry.day.pending > 0 && !was_pending {
            changed.push(number);
        }
        done
    }

    /// Grants of this process.
    pub(super) fn own(&self, subject: Subject) -> Own {
        let number = subject.number();
        let shard = self.0[number.cast_unsigned() as usize % SHARDS].lock();
        let entry = shard.entries.get(&number).copied().unwrap_or_default();
        Own { minute: entry.minute.number, in_minute: entry.minute.own, day: entry.day.number, in_day: entry.day.own }
    }

    /// Enters a request that was decided together with the others; `counted` has the totals of all.
    pub(super) fn decided(&self, subject: Subject, admitted: bool, counted: WindowState) {
        self.with(subject.number(), |entry| {
            entry.minute.roll(counted.minute);
            entry.day.roll(counted.day);
            if admitted {
                entry.minute.grant();
                entry.day.grant();
            }
            // The totals include this request.
            if counted.minute == entry.minute.number {
                entry.minute.total = entry.minute.total.max(counted.minute_count);
            }
            if counted.day == entry.day.number {
                entry.day.total = entry.day.total.max(counted.day_count);
            }
        });
    }

    /// Decides about a request without the others.
    pub(super) fn alone(&self, subject: Subject, limits: WindowLimits, gateways: u32, now: UnixMillis) -> Decision {
        let number = |length: i64| u32::try_from(now.max(0) / length).unwrap_or(u32::MAX);
        self.with(subject.number(), |entry| {
            let Entry { minute, day } = entry;
            minute.roll(number(MINUTE_MS));
            day.roll(number(DAY_MS));
            let left = |of: &Counted, limit| of.left(limit, gateways);
            let (in_minute, in_day) = (left(minute, limits.per_minute), left(day, limits.per_day));
            let admitted = in_minute != Some(0) && in_day != Some(0);
            if admitted {
                for window in [&mut *minute, &mut *day] {
                    window.grant();
                    window.total = window.total.saturating_add(1);
                }
            }
            let left = Left {
                minute: minute.number,
                in_minute: left(minute, limits.per_minute),
                day: day.number,
                in_day: left(day, limits.per_day),
            };
            left.decision(admitted, limits, now)
        })
    }

    /// Merges the counts of the database.
    pub(super) fn learn(&self, number: i64, stored: WindowState) {
        self.with(number, |entry| {
            entry.minute.learn(stored.minute, stored.minute_count);
            entry.day.learn(stored.day, stored.day_count);
        });
    }

    /// The counts of a subject in the database or the known totals, whichever are higher: those of a gateway that was
    /// killed before it had written them may be known and not stored.
    pub(super) fn highest(&self, number: i64, mut stored: WindowState) -> WindowState {
        let shard = self.0[number.cast_unsigned() as usize % SHARDS].lock();
        let Some(Entry { minute, day }) = shard.entries.get(&number) else { return stored };
        for (window, number, count) in
            [(minute, &mut stored.minute, &mut stored.minute_count), (day, &mut stored.day, &mut stored.day_count)]
        {
            if window.number > *number {
                (*number, *count) = (window.number, window.total);
            } else if window.number == *number {
                *count = window.total.max(*count);
            }
        }
        stored
    }

    /// Takes what is pending, to be written.
    pub(super) fn take(&self) -> Vec<(i64, WindowState)> {
        let mut taken = Vec::new();
        for shard in &self.0 {
            let mut shard = shard.lock();
            let Shard { entries, changed } = &mut *shard;
            for number in changed.drain(..) {
                let Some(Entry { minute, day }) = entries.get_mut(&number) else { continue };
                let pending = WindowState {
                    minute: minute.number,
                    minute_pending: std::mem::take(&mut minute.pending),
                    day: day.number,
                    day_pending: std::mem::take(&mut day.pending),
                    ..WindowState::default()
                };
                taken.push((number, pending));
            }
        }
        taken
    }

    /// Returns counts after a failed write.
    pub(super) fn restore(&self, taken: &[(i64, WindowState)]) {
        for (number, old) in taken {
            self.with(*number, |entry| {
                for (window, number, pending) in
                    [(&mut entry.minute, old.minute, old.minute_pending), (&mut entry.day, old.day, old.day_pending)]
                {
                    if window.number == number {
                        window.pending = window.pending.saturating_add(pending);
                    }
                }
            });
        }
    }

    /// Evicts subjects that were last counted before the day of `now`.
    pub(super) fn forget_before(&self, now: UnixMillis) {
        let day = u32::try_from(now.max(0) / DAY_MS).unwrap_or(u32::MAX);
        for shard in &self.0 {
            shard.lock().entries.retain(|_, entry| entry.day.number >= day || entry.day.pending > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyId;

    const NOW: i64 = 1_700_000_000_000;
    const KEY: Subject = Subject::Key(KeyId(1));
    const LIMITS: WindowLimits = WindowLimits { per_minute: Some(10), per_day: Some(100) };

    fn granted(ledger: &Ledger, times: usize, gateways: u32) -> usize {
        (0..times).filter(|_| ledger.alone(KEY, LIMITS, gateways, NOW).admitted).count()
    }

    fn totals(minute_count: u32, day_count: u32) -> WindowState {
        let number = |length: i64| u32::try_from(NOW / length).unwrap();
        let (minute, day) = (number(MINUTE_MS), number(DAY_MS));
        WindowState { minute, minute_count, day, day_count, ..WindowState::default() }
    }

    #[test]
    fn alone_a_gateway_grants_its_part_of_each_window_and_at_least_one() {
        for (gateways, part) in [(1, 10), (2, 5), (3, 3), (10, 1), (25, 1)] {
            let ledger = Ledger::default();
            assert_eq!(granted(&ledger, 20, gateways), part, "{gateways}");
            assert!(ledger.alone(KEY, LIMITS, gateways, NOW + MINUTE_MS).admitted);
        }
        let ledger = Ledger::default();
        let decision = ledger.alone(KEY, LIMITS, 2, NOW);
        assert_eq!((decision.limit, decision.remaining, decision.daily_remaining), (10, 4, 49));
        assert!(ledger.alone(KEY, WindowLimits::NONE, 2, NOW).admitted);
    }

    #[test]
    fn shared_grants_count_for_the_part_and_grants_of_others_reduce_the_limit() {
        let ledger = Ledger::default();
        for count in 1..=4 {
            ledger.decided(KEY, true, totals(count, count));
        }
        assert_eq!(granted(&ledger, 20, 2), 1, "4 of 5 are used");
        let ledger = Ledger::default();
        ledger.decided(KEY, false, totals(8, 8));
        assert_eq!(granted(&ledger, 20, 2), 2, "8 of 10 were used by others");
        let ledger = Ledger::default();
        ledger.learn(KEY.number(), totals(0, 99));
        assert_eq!(granted(&ledger, 20, 2), 1, "99 of the day's 100 are in the database");
    }

    #[test]
    fn known_totals_that_are_not_stored_are_not_lost() {
        let ledger = Ledger::default();
        let counts = |counted: WindowState| (counted.minute_count, counted.day_count);
        assert_eq!(counts(ledger.highest(KEY.number(), totals(3, 4))), (3, 4));
        ledger.decided(KEY, true, totals(8, 9));
        assert_eq!(counts(ledger.highest(KEY.number(), totals(3, 40))), (8, 40));
        assert_eq!(counts(ledger.highest(KEY.number(), totals(30, 4))), (30, 9));
        // Counts of windows that are over are not returned, in either direction.
        let mut next = totals(1, 20);
        next.minute += 1;
        assert_eq!(counts(ledger.highest(KEY.number(), next)), (1, 20));
        next.minute -= 2;
        let found = ledger.highest(KEY.number(), next);
        assert_eq!((found.minute, counts(found)), (next.minute + 1, (8, 20)));
    }

    #[test]
    fn every_grant_goes_to_the_database_once() {
        let ledger = Ledger::default();
        ledger.decided(KEY, true, totals(1, 1));
        assert_eq!(granted(&ledger, 1, 2), 1);
        let taken = ledger.take();
        assert_eq!((taken.len(), taken[0].1.minute_pending, taken[0].1.day_pending), (1, 2, 2));
        assert!(ledger.take().is_empty());
        ledger.restore(&taken);
        assert_eq!(granted(&ledger, 1, 2), 1);
        let taken = ledger.take();
        assert_eq!((taken.len(), taken[0].1.minute_pending, taken[0].1.day_pending), (1, 3, 3));
        ledger.forget_before(NOW + DAY_MS);
        assert_eq!(ledger.own(KEY), Own::default());
    }
}
