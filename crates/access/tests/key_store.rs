//! The key store through its public interface, on real databases.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use paraffin_access::{
    AccessError, AccountId, ApiKey, CreatedKey, DatabaseKeyStore, Grace, KeyId, KeySelector, KeyStore, LEASE, NewKey,
    Plan, Plans, Used, WindowLimits,
};
use support::database;

const NOW: i64 = 1_700_000_000_000;

async fn create(store: &DatabaseKeyStore, name: &str) -> CreatedKey {
    store.create(NewKey::named(name), "test", NOW).await.unwrap()
}

async fn accepted(store: &DatabaseKeyStore, key: &ApiKey, now: i64) -> bool {
    store.authenticate(key, now).await.unwrap().is_some()
}

/// row AU02
#[tokio::test]
async fn a_key_is_listed_with_name_creation_last_use_and_request_count() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let created = create(&store, "production-backend").await;
    for second in 1..=3 {
        store.record_use(support::request(Used::Key(created.record.id), created.record.account), NOW + second * 1000);
    }
    let listed = store.list().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].name, "production-backend");
    assert_eq!(listed[0].prefix, created.key.reveal()[..4]);
    assert_eq!(listed[0].created_at, NOW);
    assert_eq!(listed[0].last_used_at, Some(NOW + 3000));
    assert_eq!(listed[0].request_count, 3);
}

/// row AU03
#[tokio::test]
async fn settings_of_a_key_come_back_when_it_is_authenticated() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let limits = WindowLimits { per_minute: Some(5), per_day: None };
    let new = NewKey { limits, admin: true, management: true, ..NewKey::on_plan("operator", Plan::BUSINESS) };
    let created = store.create(new, "test", NOW).await.unwrap();
    for _ in 0..2 {
        let found = store.authenticate(&created.key, NOW).await.unwrap().unwrap();
        assert_eq!(*found, created.record);
        assert!(found.admin && found.management && found.plan == Plan::BUSINESS && found.limits == limits);
    }
}

/// row AU04
#[tokio::test]
async fn a_revoked_key_is_refused_by_the_very_next_request() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    for selector_by_key in [true, false] {
        let created = create(&store, "k").await;
        assert!(accepted(&store, &created.key, NOW).await);
        let selector =
            if selector_by_key { KeySelector::Key(created.key.clone()) } else { KeySelector::Id(created.record.id) };
        let revoked = store.revoke(selector, "test", NOW + 5).await.unwrap();
        assert_eq!(revoked.revoked_at, Some(NOW + 5));
        assert!(!accepted(&store, &created.key, NOW + 5).await);
    }
}

/// row AU04
#[tokio::test]
async fn a_revocation_by_another_process_is_seen_within_the_lease() {
    let Some(database) = database() else { return };
    let serving = database.open().await;
    let created = create(&serving, "k").await;
    assert!(accepted(&serving, &created.key, NOW).await);
    let tool = database.open().await;
    tool.revoke(KeySelector::Id(created.record.id), "cli", NOW).await.unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(!accepted(&serving, &created.key, NOW).await);
}

#[tokio::test]
async fn a_change_made_with_the_database_shell_is_seen_within_the_lease() {
    let Some(database) = database() else { return };
    let serving = database.open().await;
    let created = create(&serving, "k").await;
    assert!(accepted(&serving, &created.key, NOW).await);
    database.shell("UPDATE api_key SET revoked_at = 1").await.unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(!accepted(&serving, &created.key, NOW).await);
}

/// row AU14
#[tokio::test]
async fn a_revoked_an_expired_and_an_unknown_key_look_the_same() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let revoked = create(&store, "revoked").await;
    store.revoke(KeySelector::Id(revoked.record.id), "test", NOW).await.unwrap();
    let expired = create(&store, "expired").await;
    store.reroll(KeySelector::Id(expired.record.id), Grace::of(Duration::from_secs(1)), "test", NOW).await.unwrap();
    for key in [&revoked.key, &expired.key, &ApiKey::generate().unwrap()] {
        assert_eq!(store.authenticate(key, NOW + 1000).await.unwrap(), None);
    }
}

#[tokio::test]
async fn reroll_keeps_the_settings_and_ends_the_old_key_after_its_grace() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let new = NewKey { admin: true, ..NewKey::on_plan("n", Plan::PRO) };
    let old = store.create(new.clone(), "test", NOW).await.unwrap();
    let fresh =
        store.reroll(KeySelector::Key(old.key.clone()), Grace::of(Duration::from_mins(1)), "test", NOW).await.unwrap();
    assert_ne!(fresh.key, old.key);
    assert_eq!((fresh.record.name.as_str(), fresh.record.plan.clone(), fresh.record.admin), ("n", Plan::PRO, true));
    assert!(accepted(&store, &old.key, NOW + 59_999).await);
    assert!(!accepted(&store, &old.key, NOW + 60_000).await);
    assert!(accepted(&store, &fresh.key, NOW + 60_000).await);

    // A second reroll of a key in its grace cannot prolong it.
    store.reroll(KeySelector::Key(old.key.clone()), Grace::of(Duration::from_hours(1)), "test", NOW + 1).await.unwrap();
    assert!(!accepted(&store, &old.key, NOW + 60_000).await);

    let last = store.reroll(KeySelector::Key(fresh.key.clone()), Grace::of(Duration::ZERO), "test", NOW).await.unwrap();
    assert!(!accepted(&store, &fresh.key, NOW).await);
    assert!(accepted(&store, &last.key, NOW).await);
    let refused = store.reroll(KeySelector::Key(fresh.key), Grace::of(Duration::ZERO), "test", NOW).await;
    assert!(matches!(refused, Err(AccessError::Inactive)));
}

#[tokio::test]
async fn every_change_is_in_the_audit_log_and_no_line_of_it_can_be_changed() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let created = create(&store, "k").await;
    let rerolled =
        store.reroll(KeySelector::Id(created.record.id), Grace::of(Duration::ZERO), "cli", NOW + 1).await.unwrap();
    store.revoke(KeySelector::Id(rerolled.record.id), "key:9", NOW + 2).await.unwrap();
    store.revoke(KeySelector::Id(rerolled.record.id), "key:9", NOW + 3).await.unwrap();
    let rows = store.audit(10).await.unwrap();
    let lines: Vec<_> =
        rows.iter().map(|row| (row.at, row.actor.as_str(), row.action.as_str(), row.subject.as_str())).collect();
    assert_eq!(
        lines,
        [
            (NOW + 2, "key:9", "revoke", "key:2"),
            (NOW + 1, "cli", "reroll", "key:1"),
            (NOW, "test", "create", "key:1"),
            (NOW, "test", "create", "account:1")
        ]
    );
    let keys = [created.key.reveal(), rerolled.key.reveal()];
    assert!(rows.iter().all(|row| keys.iter().all(|key| !row.detail.contains(key))));

    assert!(database.shell("UPDATE audit SET actor = 'nobody'").await.is_err());
    assert!(database.shell("DELETE FROM audit").await.is_err());
}

#[tokio::test]
async fn bad_names_and_unknown_keys_are_refused() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    for name in [String::new(), "a".repeat(10_240), "a\nb".to_owned()] {
        assert!(matches!(store.create(NewKey::named(name), "test", NOW).await, Err(AccessError::InvalidName)));
    }
    assert!(store.list().await.unwrap().is_empty());
    for selector in [KeySelector::Id(KeyId(7)), KeySelector::Key(ApiKey::generate().unwrap())] {
        assert!(matches!(store.revoke(selector.clone(), "test", NOW).await, Err(AccessError::NoSuchKey)));
        assert!(matches!(
            store.reroll(selector, Grace::of(Duration::ZERO), "test", NOW).await,
            Err(AccessError::NoSuchKey)
        ));
    }
}

#[tokio::test]
async fn a_plan_bounds_the_active_keys_of_an_account() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let account = store.create_account("team", Plan::PRO, "test", NOW).await.unwrap().id;
    let mut last = None;
    for _ in 0..10 {
        last = Some(store.create(NewKey::in_account("k", account), "test", NOW).await.unwrap());
    }
    let refused = store.create(NewKey::in_account("k", account), "test", NOW).await;
    assert!(matches!(refused, Err(AccessError::KeyLimit { max: 10 })));
    // A reroll replaces a key and is always allowed; a second successor of the same key is a further key.
    let old = last.unwrap().record.id;
    store.reroll(KeySelector::Id(old), Grace::of(Duration::from_hours(1)), "test", NOW).await.unwrap();
    let again = store.reroll(KeySelector::Id(old), Grace::of(Duration::from_hours(1)), "test", NOW).await;
    assert!(matches!(again, Err(AccessError::KeyLimit { max: 10 })));
    store.revoke(KeySelector::Id(KeyId(1)), "test", NOW).await.unwrap();
    store.create(NewKey::in_account("k", account), "test", NOW).await.unwrap();
    assert!(store.create(NewKey::in_account("k", account), "test", NOW).await.is_err());

    let free = create(&store, "alone").await.record.account;
    assert_ne!(free, account);
    let refused = store.create(NewKey::in_account("k", free), "test", NOW).await;
    assert!(matches!(refused, Err(AccessError::KeyLimit { max: 1 })));
    store.set_plan(free, Plan::BUSINESS, "test", NOW).await.unwrap();
    store.create(NewKey::in_account("k", free), "test", NOW).await.unwrap();
    assert_eq!(store.list_of(free).await.unwrap().len(), 2);

    let unknown = store.create(NewKey::in_account("k", AccountId(99)), "test", NOW).await;
    assert!(matches!(unknown, Err(AccessError::NoSuchAccount)));
    let unknown = store.create(NewKey::on_plan("k", "gold".parse().unwrap()), "test", NOW).await;
    assert!(matches!(unknown, Err(AccessError::UnknownPlan { .. })), "{unknown:?}");
}

#[tokio::test]
async fn another_plan_counts_from_the_next_request_on() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let created = create(&store, "k").await;
    assert!(accepted(&store, &created.key, NOW).await);
    store.set_plan(created.record.account, Plan::PRO, "test", NOW).await.unwrap();
    assert_eq!(store.authenticate(&created.key, NOW).await.unwrap().unwrap().plan, Plan::PRO);
}

#[tokio::test]
async fn a_clean_stop_loses_no_counted_use() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let created = create(&store, "k").await;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..500 {
                store.record_use(support::request(Used::Key(created.record.id), created.record.account), NOW);
                tokio::task::yield_now().await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    store.close().await.unwrap();
    let again = database.open().await;
    assert_eq!(again.list().await.unwrap()[0].request_count, 4000);
}

/// row AU10
#[tokio::test]
async fn a_table_that_cannot_be_read_is_an_unavailable_store_not_an_unknown_key() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let created = create(&store, "k").await;
    database.shell("ALTER TABLE api_key RENAME TO gone").await.unwrap();
    assert!(matches!(store.authenticate(&created.key, NOW).await, Err(AccessError::Unavailable(_))));
}

#[tokio::test]
async fn processes_that_open_a_new_database_together_all_succeed() {
    let Some(database) = database() else { return };
    let opened = (0..4).map(|_| {
        let at = database.location();
        tokio::spawn(async move { DatabaseKeyStore::open_at(&at, Plans::default()).await.map(|_| ()) })
    });
    for task in opened.collect::<Vec<_>>() {
        task.await.unwrap().unwrap();
    }
}

/// row AU14
#[tokio::test]
async fn an_expired_key_is_refused_from_the_moment_that_it_expires() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let ends = NOW + 1_000;
    let new = NewKey { expires_at: Some(ends), ..NewKey::on_plan("short", Plan::PRO) };
    let created = store.create(new, "test", NOW).await.unwrap();
    assert_eq!((created.record.expires_at, created.record.is_replaced), (Some(ends), false));
    for _ in 0..2 {
        let found = store.authenticate(&created.key, ends - 1).await.unwrap().unwrap();
        assert_eq!(*found, created.record);
    }
    // What is cached expires as well.
    assert!(store.recall_key(&created.key, ends - 1).is_some());
    for at in [ends, ends + 1, i64::MAX] {
        assert!(store.recall_key(&created.key, at).is_none());
        assert!(!accepted(&store, &created.key, at).await);
    }
    let late = store.reroll(KeySelector::Id(created.record.id), Grace::of(Duration::ZERO), "test", ends).await;
    assert!(matches!(late, Err(AccessError::Inactive)));
    let detail = store.audit(1).await.unwrap().remove(0).detail;
    assert!(detail.ends_with("expires_at=2023-11-14T22:13:21.000Z"), "{detail}");
    for wrong in [NOW, NOW - 1, i64::MIN, i64::MAX] {
        let new = NewKey { expires_at: Some(wrong), ..NewKey::named("k") };
        assert!(matches!(store.create(new, "test", NOW).await, Err(AccessError::InvalidExpiry)), "{wrong}");
    }
}

#[tokio::test]
async fn a_reroll_keeps_the_expiry_and_an_expired_key_counts_for_no_plan() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let ends = NOW + 100_000;
    let new = NewKey { expires_at: Some(ends), ..NewKey::named("k") };
    let first = store.create(new, "test", NOW).await.unwrap();
    let account = first.record.account;
    let reroll = async |id, grace_ms| {
        let grace = Grace::of(Duration::from_millis(grace_ms));
        store.reroll(KeySelector::Id(id), grace, "test", NOW).await.unwrap().record
    };
    // A grace ends no later than the key itself, and the successor ends with it.
    let second = reroll(first.record.id, 200_000).await;
    let third = reroll(second.id, 10).await;
    let keys = store.list_of(account).await.unwrap();
    let ends_of: Vec<_> = keys.iter().map(|key| (key.expires_at, key.own_expires_at, key.is_replaced)).collect();
    assert_eq!(
        ends_of,
        [(Some(ends), Some(ends), true), (Some(NOW + 10), Some(ends), true), (Some(ends), Some(ends), false)]
    );
    assert_eq!(third.id, keys[2].id);
    // The Free plan has one key: the third, which counts until it expires.
    let further = |now| store.create(NewKey::in_account("k", account), "test", now);
    assert!(matches!(further(ends - 1).await, Err(AccessError::KeyLimit { max: 1 })));
    further(ends).await.unwrap();
}
