//! Requests by day, caller and surface, and the remaining requests of the windows.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_access::{
    AccountId, AliasId, CallerUsage, DatabaseKeyStore, Granted, KeyId, KeySelector, KeyStore as _, NewAlias, NewKey,
    OriginId, Outcome, Plan, RecordedRequest, Subject, SurfaceUsage, USAGE_CALLERS_MAX, USAGE_DAYS_MAX, UsageCounts,
    Used, WindowLimits, Windows as _, utc_day,
};
use support::{TestDatabase, clock, database};

const DAY_MS: i64 = 86_400_000;

async fn with_account(database: &TestDatabase) -> (DatabaseKeyStore, AccountId) {
    let store = database.open().await;
    let account = store.create_account("team", Plan::BUSINESS, "test", clock()).await.unwrap().id;
    (store, account)
}

fn counts(requests: i64, rate_limited: i64, failed: i64) -> UsageCounts {
    UsageCounts { requests, rate_limited, failed }
}

fn on(day: i64, surface: &str, counts: UsageCounts) -> SurfaceUsage {
    SurfaceUsage { day, surface: surface.to_owned(), counts }
}

#[tokio::test]
async fn requests_are_listed_by_day_and_surface_and_by_caller_with_429s_and_errors() {
    let Some(database) = database() else { return };
    let (store, account) = with_account(&database).await;
    let now = clock();
    let (key, alias, origin) = (Used::Key(KeyId(1)), Used::Alias(AliasId(1)), Used::Origin(OriginId(1)));
    let record = |used, surface, outcome, at| {
        store.record_use(RecordedRequest { used, account, surface, outcome }, at);
    };
    record(key, "rest", Outcome::Answered, now);
    record(key, "rest", Outcome::RateLimited, now);
    record(key, "main", Outcome::Failed, now);
    record(alias, "main", Outcome::Answered, now);
    store.flush().await.unwrap();
    // Added to what is there, and other days and accounts are others.
    record(key, "rest", Outcome::Answered, now);
    record(origin, "rest", Outcome::Failed, now - DAY_MS);
    let other = RecordedRequest { used: key, account: AccountId(99), surface: "rest", outcome: Outcome::Answered };
    store.record_use(other, now);
    let today = utc_day(now);
    let usage = store.usage(account, 30, now).await.unwrap();
    let surfaces = [
        on(today - 1, "rest", counts(1, 0, 1)),
        on(today, "main", counts(2, 0, 1)),
        on(today, "rest", counts(3, 1, 0)),
    ];
    assert_eq!(usage.surfaces, surfaces);
    let callers = [(key, counts(4, 1, 1)), (alias, counts(1, 0, 0)), (origin, counts(1, 0, 1))];
    assert_eq!(usage.callers, callers.map(|(used, counts)| CallerUsage { used, counts }));
    // One day is today alone; days to come are not there yet; no number of days and no moment is too large.
    assert_eq!(store.usage(account, 1, now).await.unwrap().surfaces, surfaces[1..]);
    assert_eq!(store.usage(account, 30, now - DAY_MS).await.unwrap().surfaces, surfaces[..1]);
    assert_eq!(store.usage(account, u32::MAX, now).await.unwrap().surfaces, surfaces);
    for (days, at) in [(0, now), (u32::MAX, i64::MAX), (u32::MAX, i64::MIN)] {
        assert_eq!(store.usage(account, days, at).await.unwrap().callers, [], "{days} {at}");
    }
    // What is removed stays in the account's past.
    let made = store.create_alias(NewAlias::named(account, "my-app"), "test", now).await.unwrap();
    assert_eq!(Used::Alias(made.id), alias);
    store.remove_alias("my-app", "test", now).await.unwrap();
    assert_eq!(store.usage(account, 30, now).await.unwrap().callers.len(), 3);
}

#[tokio::test]
async fn days_are_kept_for_ninety_days_and_no_longer() {
    let Some(database) = database() else { return };
    let (store, account) = with_account(&database).await;
    let now = clock();
    let days = i64::from(USAGE_DAYS_MAX);
    for age in [0, days - 1, days] {
        store.record_use(support::request(Used::Key(KeyId(1)), account), now - age * DAY_MS);
    }
    store.close().await.unwrap();
    let again = database.open().await;
    // Seen from a day earlier, the oldest would be listed if it were still there.
    let listed = again.usage(account, USAGE_DAYS_MAX, now - DAY_MS).await.unwrap();
    assert_eq!(listed.surfaces.iter().map(|one| one.day).collect::<Vec<_>>(), [utc_day(now) - days + 1]);
    assert_eq!(again.usage(account, USAGE_DAYS_MAX, now).await.unwrap().surfaces.len(), 2);
}

#[tokio::test]
async fn requests_of_several_processes_are_added_and_a_failed_write_loses_none() {
    let Some(database) = database() else { return };
    let (first, account) = with_account(&database).await;
    let second = database.open().await;
    let now = clock();
    let request = support::request(Used::Key(KeyId(1)), account);
    for _ in 0..10 {
        first.record_use(request, now);
        second.record_use(request, now);
    }
    database.shell("ALTER TABLE usage_day RENAME TO away").await.unwrap();
    assert!(first.flush().await.is_err());
    database.shell("ALTER TABLE away RENAME TO usage_day").await.unwrap();
    second.flush().await.unwrap();
    let usage = first.usage(account, 1, now).await.unwrap();
    assert_eq!(usage.surfaces, [on(utc_day(now), "main", counts(20, 0, 0))]);
}

#[tokio::test]
async fn of_very_many_callers_those_with_most_requests_are_listed() {
    let Some(database) = database() else { return };
    let (store, account) = with_account(&database).await;
    let now = clock();
    let all = i64::from(USAGE_CALLERS_MAX) + 5;
    for id in 1..=all {
        store.record_use(support::request(Used::Key(KeyId(id)), account), now);
    }
    store.record_use(support::request(Used::Key(KeyId(all)), account), now);
    let usage = store.usage(account, 1, now).await.unwrap();
    assert_eq!(usage.callers.len(), USAGE_CALLERS_MAX as usize);
    assert_eq!(usage.callers[0], CallerUsage { used: Used::Key(KeyId(all)), counts: counts(2, 0, 0) });
    assert_eq!(usage.surfaces[0].counts.requests, all + 1);
}

#[tokio::test]
async fn grants_are_read_without_counting() {
    let Some(database) = database() else { return };
    let (store, account) = with_account(&database).await;
    let now = clock().div_euclid(60_000) * 60_000;
    let new = || store.create(NewKey::in_account("k", account), "test", now);
    let (used, unused, revoked) = (new().await.unwrap(), new().await.unwrap(), new().await.unwrap());
    let alias = store.create_alias(NewAlias::named(account, "my-app"), "test", now).await.unwrap();
    let foreign = store.create(NewKey::named("other"), "test", now).await.unwrap();
    let subjects = [
        Subject::Key(used.record.id),
        Subject::Alias(alias.id),
        Subject::Origins(account),
        Subject::Key(revoked.record.id),
        Subject::Key(foreign.record.id),
    ];
    for subject in subjects {
        for _ in 0..3 {
            assert!(store.admit(subject, WindowLimits::NONE, now).await.unwrap().admitted);
        }
    }
    store.revoke(KeySelector::Id(revoked.record.id), "test", now).await.unwrap();
    for _ in 0..2 {
        let granted = store.granted(account, now).await.unwrap();
        assert!(granted.iter().all(|one| (one.in_minute, one.in_day) == (3, 3)), "{granted:?}");
        let found: Vec<Subject> = granted.iter().map(|one| one.subject).collect();
        assert!(subjects[..3].iter().all(|subject| found.contains(subject)) && found.len() == 3, "{found:?}");
    }
    assert_ne!(used.record.id, unused.record.id);
    // In the next minute that of the day is left, the day after nothing.
    let is_same_day = utc_day(now + 60_000) == utc_day(now);
    let next = store.granted(account, now + 60_000).await.unwrap();
    let key = next.iter().find(|one| one.subject == subjects[0]).copied();
    assert_eq!(key, is_same_day.then_some(Granted { subject: subjects[0], in_minute: 0, in_day: 3 }));
    for at in [now + DAY_MS, i64::MAX, i64::MIN] {
        assert_eq!(store.granted(account, at).await.unwrap(), [], "{at}");
    }
}
