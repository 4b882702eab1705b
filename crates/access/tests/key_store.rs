//! The key store through its public interface, on real SQLite files.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::time::Duration;

use paraffin_access::{
    AccessError, AccountId, ApiKey, CreatedKey, KeyId, KeySelector, KeyStore, LEASE, NewKey, Plan, SqliteKeyStore,
    Used, WindowLimits,
};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

const NOW: i64 = 1_700_000_000_000;

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.sqlite");
    Place { _folder: folder, path }
}

async fn raw(place: &Place) -> SqliteConnection {
    SqliteConnectOptions::new().filename(&place.path).connect().await.unwrap()
}

async fn create(store: &SqliteKeyStore, name: &str) -> CreatedKey {
    store.create(NewKey::named(name), "test", NOW).await.unwrap()
}

async fn accepted(store: &SqliteKeyStore, key: &ApiKey, now: i64) -> bool {
    store.authenticate(key, now).await.unwrap().is_some()
}

/// row AU02
#[tokio::test]
async fn a_key_is_listed_with_name_creation_last_use_and_request_count() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&store, "production-backend").await;
    for second in 1..=3 {
        store.record_use(Used::Key(created.record.id), NOW + second * 1000);
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
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let limits = WindowLimits { per_minute: Some(5), per_day: None };
    let new = NewKey { limits, admin: true, management: true, ..NewKey::on_plan("operator", Plan::BUSINESS) };
    let created = store.create(new, "test", NOW).await.unwrap();
    for _ in 0..2 {
        let found = store.authenticate(&created.key, NOW).await.unwrap().unwrap();
        assert_eq!(*found, created.record);
        assert!(found.admin && found.management && found.plan == Plan::BUSINESS && found.limits == limits);
    }
}

/// row AU01
#[tokio::test]
async fn the_file_holds_a_digest_and_never_the_key() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&store, "secret").await;
    assert!(accepted(&store, &created.key, NOW).await);
    store.record_use(Used::Key(created.record.id), NOW);
    store.close().await.unwrap();
    let text = created.key.reveal();
    let bytes: Vec<u8> = (0..32).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
    let mut seen = 0;
    for entry in std::fs::read_dir(place.path.parent().unwrap()).unwrap() {
        let content = std::fs::read(entry.unwrap().path()).unwrap();
        seen += content.len();
        assert!(!content.windows(32).any(|window| window == text.as_bytes()));
        assert!(!content.windows(16).any(|window| window == bytes));
    }
    assert!(seen > 4096, "the store was not where the test looked");
}

/// row AU04
#[tokio::test]
async fn a_revoked_key_is_refused_by_the_very_next_request() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
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
    let place = place();
    let serving = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&serving, "k").await;
    assert!(accepted(&serving, &created.key, NOW).await);
    let tool = SqliteKeyStore::open(&place.path).await.unwrap();
    tool.revoke(KeySelector::Id(created.record.id), "cli", NOW).await.unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(!accepted(&serving, &created.key, NOW).await);
}

#[tokio::test]
async fn a_change_made_with_the_database_shell_is_seen_within_the_lease() {
    let place = place();
    let serving = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&serving, "k").await;
    assert!(accepted(&serving, &created.key, NOW).await);
    let mut shell = raw(&place).await;
    sqlx::query("UPDATE api_key SET revoked_at = 1").execute(&mut shell).await.unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(!accepted(&serving, &created.key, NOW).await);
}

/// row AU14
#[tokio::test]
async fn a_revoked_an_expired_and_an_unknown_key_look_the_same() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let revoked = create(&store, "revoked").await;
    store.revoke(KeySelector::Id(revoked.record.id), "test", NOW).await.unwrap();
    let expired = create(&store, "expired").await;
    store.reroll(KeySelector::Id(expired.record.id), Duration::from_secs(1), "test", NOW).await.unwrap();
    for key in [&revoked.key, &expired.key, &ApiKey::generate().unwrap()] {
        assert_eq!(store.authenticate(key, NOW + 1000).await.unwrap(), None);
    }
}

#[tokio::test]
async fn reroll_keeps_the_settings_and_ends_the_old_key_after_its_grace() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let new = NewKey { admin: true, ..NewKey::on_plan("n", Plan::PRO) };
    let old = store.create(new.clone(), "test", NOW).await.unwrap();
    let fresh = store.reroll(KeySelector::Key(old.key.clone()), Duration::from_mins(1), "test", NOW).await.unwrap();
    assert_ne!(fresh.key, old.key);
    assert_eq!((fresh.record.name.as_str(), fresh.record.plan.clone(), fresh.record.admin), ("n", Plan::PRO, true));
    assert!(accepted(&store, &old.key, NOW + 59_999).await);
    assert!(!accepted(&store, &old.key, NOW + 60_000).await);
    assert!(accepted(&store, &fresh.key, NOW + 60_000).await);

    // A second reroll of a key in its grace cannot prolong it.
    store.reroll(KeySelector::Key(old.key.clone()), Duration::from_hours(1), "test", NOW + 1).await.unwrap();
    assert!(!accepted(&store, &old.key, NOW + 60_000).await);

    let last = store.reroll(KeySelector::Key(fresh.key.clone()), Duration::ZERO, "test", NOW).await.unwrap();
    assert!(!accepted(&store, &fresh.key, NOW).await);
    assert!(accepted(&store, &last.key, NOW).await);
    let refused = store.reroll(KeySelector::Key(fresh.key), Duration::ZERO, "test", NOW).await;
    assert!(matches!(refused, Err(AccessError::Inactive)));
}

#[tokio::test]
async fn every_change_is_in_the_audit_log_and_no_line_of_it_can_be_changed() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&store, "k").await;
    let rerolled = store.reroll(KeySelector::Id(created.record.id), Duration::ZERO, "cli", NOW + 1).await.unwrap();
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

    let mut shell = raw(&place).await;
    assert!(sqlx::query("UPDATE audit SET actor = 'nobody'").execute(&mut shell).await.is_err());
    assert!(sqlx::query("DELETE FROM audit").execute(&mut shell).await.is_err());
}

#[tokio::test]
async fn bad_names_and_unknown_keys_are_refused() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    for name in [String::new(), "a".repeat(10_240), "a\nb".to_owned()] {
        assert!(matches!(store.create(NewKey::named(name), "test", NOW).await, Err(AccessError::InvalidName)));
    }
    assert!(store.list().await.unwrap().is_empty());
    for selector in [KeySelector::Id(KeyId(7)), KeySelector::Key(ApiKey::generate().unwrap())] {
        assert!(matches!(store.revoke(selector.clone(), "test", NOW).await, Err(AccessError::NoSuchKey)));
        assert!(matches!(store.reroll(selector, Duration::ZERO, "test", NOW).await, Err(AccessError::NoSuchKey)));
    }
}

#[tokio::test]
async fn a_plan_bounds_the_active_keys_of_an_account() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let account = store.create_account("team", Plan::PRO, "test", NOW).await.unwrap().id;
    let mut last = None;
    for _ in 0..10 {
        last = Some(store.create(NewKey::in_account("k", account), "test", NOW).await.unwrap());
    }
    let refused = store.create(NewKey::in_account("k", account), "test", NOW).await;
    assert!(matches!(refused, Err(AccessError::KeyLimit { max: 10 })));
    // A reroll replaces a key and is always allowed; a second successor of the same key is a further key.
    let old = last.unwrap().record.id;
    store.reroll(KeySelector::Id(old), Duration::from_hours(1), "test", NOW).await.unwrap();
    let again = store.reroll(KeySelector::Id(old), Duration::from_hours(1), "test", NOW).await;
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

    let nobody = store.create(NewKey::in_account("k", AccountId(99)), "test", NOW).await;
    assert!(matches!(nobody, Err(AccessError::NoSuchAccount)));
    let unknown = store.create(NewKey::on_plan("k", "gold".parse().unwrap()), "test", NOW).await;
    assert!(matches!(unknown, Err(AccessError::UnknownPlan { .. })), "{unknown:?}");
}

#[tokio::test]
async fn another_plan_counts_from_the_next_request_on() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&store, "k").await;
    assert!(accepted(&store, &created.key, NOW).await);
    store.set_plan(created.record.account, Plan::PRO, "test", NOW).await.unwrap();
    assert_eq!(store.authenticate(&created.key, NOW).await.unwrap().unwrap().plan, Plan::PRO);
}

#[tokio::test]
async fn a_store_of_the_first_schema_keeps_its_keys_and_gives_each_an_account() {
    let place = place();
    let mut old = SqliteConnectOptions::new().filename(&place.path).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(concat!(
        "CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY);",
        include_str!("../migrations/0001_keys.sql"),
        "INSERT INTO schema_version VALUES (1);"
    ))
    .execute(&mut old)
    .await
    .unwrap();
    let key = ApiKey::generate().unwrap();
    sqlx::query("INSERT INTO api_key (id, name, prefix, digest, plan, admin, management, created_at, request_count) VALUES (7, 'old', 'abcd', $1, 'pro', 1, 0, 5, 9)")
        .bind(key.digest().0.to_vec())
        .execute(&mut old)
        .await
        .unwrap();
    old.close().await.unwrap();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let found = store.authenticate(&key, NOW).await.unwrap().unwrap();
    assert_eq!((found.id, found.plan.clone(), found.admin, found.request_count), (KeyId(7), Plan::PRO, true, 9));
    let accounts = store.accounts().await.unwrap();
    assert_eq!((accounts.len(), accounts[0].name.as_str(), accounts[0].id), (1, "old", found.account));
}

#[tokio::test]
async fn a_clean_stop_loses_no_counted_use() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&store, "k").await;
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            for _ in 0..500 {
                store.record_use(Used::Key(created.record.id), NOW);
                tokio::task::yield_now().await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    store.close().await.unwrap();
    let again = SqliteKeyStore::open(&place.path).await.unwrap();
    assert_eq!(again.list().await.unwrap()[0].request_count, 4000);
}

/// row AU10
#[tokio::test]
async fn a_store_that_is_taken_away_serves_nobody_and_serves_again_when_it_is_back() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&store, "k").await;
    assert!(accepted(&store, &created.key, NOW).await);
    let aside = place.path.with_extension("aside");
    std::fs::rename(&place.path, &aside).unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(matches!(store.authenticate(&created.key, NOW).await, Err(AccessError::Unavailable(_))));
    assert!(matches!(store.available().await, Err(AccessError::Unavailable(_))));
    // An empty file in its place is not the store.
    std::fs::write(&place.path, b"").unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(store.authenticate(&created.key, NOW).await.is_err());
    std::fs::rename(&aside, &place.path).unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(accepted(&store, &created.key, NOW).await);
}

/// row AU10
#[tokio::test]
async fn a_table_that_cannot_be_read_is_an_unavailable_store_not_an_unknown_key() {
    let place = place();
    let store = SqliteKeyStore::open(&place.path).await.unwrap();
    let created = create(&store, "k").await;
    let mut shell = raw(&place).await;
    sqlx::query("ALTER TABLE api_key RENAME TO gone").execute(&mut shell).await.unwrap();
    assert!(matches!(store.authenticate(&created.key, NOW).await, Err(AccessError::Unavailable(_))));
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused_with_both_versions() {
    let place = place();
    SqliteKeyStore::open(&place.path).await.unwrap().close().await.unwrap();
    let mut shell = raw(&place).await;
    sqlx::query("INSERT INTO schema_version (version) VALUES (99)").execute(&mut shell).await.unwrap();
    shell.close().await.unwrap();
    let Err(error) = SqliteKeyStore::open(&place.path).await else { panic!("opened a newer store") };
    assert!(matches!(error, AccessError::NewerSchema { found: 99, known: 3 }), "{error}");
    assert!(error.to_string().contains("99"));
}

#[tokio::test]
async fn a_file_that_is_no_database_is_an_error() {
    let place = place();
    std::fs::write(
        &place.path,
        b"this is not a database, only text that is long enough to be read as a header........................",
    )
    .unwrap();
    assert!(SqliteKeyStore::open(&place.path).await.is_err());
}

#[tokio::test]
async fn processes_that_open_a_new_file_together_all_succeed() {
    let place = place();
    let opened = (0..4).map(|_| {
        let path = place.path.clone();
        tokio::spawn(async move { SqliteKeyStore::open(&path).await.map(|_| ()) })
    });
    for task in opened.collect::<Vec<_>>() {
        task.await.unwrap().unwrap();
    }
}
