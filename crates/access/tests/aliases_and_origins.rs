//! Aliases, registered origins, and counts that survive, through the public interface.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use paraffin_access::{
    AccessError, AccountId, DatabaseKeyStore, KeyId, KeyStore, LEASE, NewAlias, NewKey, OriginId, Plan, Subject, Used,
    WindowLimits, Windows,
};
use support::{TestDatabase, database};

const NOW: i64 = 1_700_000_000_000;

async fn with_account(database: &TestDatabase) -> (DatabaseKeyStore, AccountId) {
    let store = database.open().await;
    let account = store.create_account("team", Plan::PRO, "test", NOW).await.unwrap().id;
    (store, account)
}

fn clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// row AU07
#[tokio::test]
async fn an_alias_has_its_own_limits_and_surfaces_and_is_gone_when_removed() {
    let Some(database) = database() else { return };
    let (store, account) = with_account(&database).await;
    let limits = WindowLimits { per_minute: Some(7), per_day: None };
    let new = NewAlias { limits, surfaces: vec!["main".into(), "espo".into()], ..NewAlias::named(account, "my-app") };
    let created = store.create_alias(new.clone(), "test", NOW).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.find_alias("my-app").await.unwrap().unwrap().as_ref(), &created);
    }
    assert!(created.allows("espo") && !created.allows("rest") && created.limits == limits);
    assert!(matches!(store.create_alias(new, "test", NOW).await, Err(AccessError::AliasTaken)));
    assert!(store.find_alias("other").await.unwrap().is_none());
    for name in ["mempool", "0123456789abcdef0123456789abcdef", "A", "a b"] {
        let refused = store.create_alias(NewAlias::named(account, name), "test", NOW).await;
        assert!(matches!(refused, Err(AccessError::InvalidAlias)), "{name}");
        assert!(store.find_alias(name).await.unwrap().is_none());
    }
    store.record_use(support::request(Used::Alias(created.id), account), NOW + 5);
    let listed = store.aliases().await.unwrap();
    assert_eq!((listed[0].request_count, listed[0].last_used_at), (1, Some(NOW + 5)));
    store.remove_alias("my-app", "test", NOW).await.unwrap();
    assert!(store.find_alias("my-app").await.unwrap().is_none());
    assert!(matches!(store.remove_alias("my-app", "test", NOW).await, Err(AccessError::NoSuchAlias)));
    let actions: Vec<_> = store.audit(9).await.unwrap().into_iter().map(|row| row.action).collect();
    assert_eq!(actions, ["remove", "create", "create"]);
}

#[tokio::test]
async fn an_alias_removed_by_another_process_is_gone_within_the_lease() {
    let Some(database) = database() else { return };
    let (serving, account) = with_account(&database).await;
    serving.create_alias(NewAlias::named(account, "my-app"), "test", NOW).await.unwrap();
    assert!(serving.find_alias("my-app").await.unwrap().is_some());
    let tool = database.open().await;
    tool.remove_alias("my-app", "cli", NOW).await.unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(serving.find_alias("my-app").await.unwrap().is_none());
}

/// row AU06
#[tokio::test]
async fn an_origin_is_served_once_its_ownership_is_proved() {
    let Some(database) = database() else { return };
    let (store, account) = with_account(&database).await;
    let register = |text: &str, account| {
        let store = store.clone();
        let pattern = text.parse().unwrap();
        async move { store.register_origin(account, pattern, false, "test", NOW).await }
    };
    let app = register("https://app.example.com", account).await.unwrap();
    assert_eq!(app.verified_at, None);
    assert!(store.find_origin("https://app.example.com").await.unwrap().is_none());
    store.confirm_origin(app.id, "dns", "test", NOW + 1).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.find_origin("https://app.example.com").await.unwrap().unwrap().id, app.id);
    }
    for other in ["http://app.example.com", "https://app.example.com:8443", "https://example.com", "null", ""] {
        assert!(store.find_origin(other).await.unwrap().is_none(), "{other}");
    }
    let wildcard = register("https://*.example.com", account).await.unwrap();
    store.confirm_origin(wildcard.id, "dns", "test", NOW + 1).await.unwrap();
    assert_eq!(store.find_origin("https://a.b.example.com").await.unwrap().unwrap().id, wildcard.id);
    assert_eq!(store.find_origin("https://app.example.com").await.unwrap().unwrap().id, app.id);
    store.remove_origin(app.id, "test", NOW).await.unwrap();
    assert_eq!(store.find_origin("https://app.example.com").await.unwrap().unwrap().id, wildcard.id);

    // The own machine has no owner: no proof, and every account may register it.
    let local = register("http://localhost:3000", account).await.unwrap();
    assert_eq!(local.verified_at, Some(NOW));
    let second = store.create_account("second", Plan::FREE, "test", NOW).await.unwrap().id;
    register("http://localhost:3000", second).await.unwrap();
    assert_eq!(store.find_origin("http://localhost:3000").await.unwrap().unwrap().id, local.id);

    // A registration without proof does not keep the owner out, and a proved one keeps all others out.
    let squatted = register("https://shop.example.org", second).await.unwrap();
    let owner = register("https://shop.example.org", account).await.unwrap();
    store.confirm_origin(owner.id, "dns", "test", NOW).await.unwrap();
    let late = store.confirm_origin(squatted.id, "dns", "test", NOW).await;
    assert!(matches!(late, Err(AccessError::OriginTaken)));
    assert!(matches!(register("https://shop.example.org", second).await, Err(AccessError::OriginTaken)));
    assert!(matches!(store.confirm_origin(OriginId(99), "dns", "test", NOW).await, Err(AccessError::NoSuchOrigin)));
}

#[tokio::test]
async fn counts_survive_a_restart_and_a_kill_loses_at_most_the_last_second() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let limits = WindowLimits { per_minute: None, per_day: Some(1_000) };
    let key = store.create(NewKey::named("k"), "test", NOW).await.unwrap().record.id;
    // One moment for all, so that they are of one day.
    let now = clock();
    for _ in 0..100 {
        assert!(store.admit(Subject::Key(key), limits, now).await.unwrap().admitted);
    }
    // Nothing is closed: the file now has what a kill a second later would leave.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let again = database.open().await;
    let decision = again.admit(Subject::Key(key), limits, now).await.unwrap();
    assert_eq!(decision.daily_remaining, 1_000 - 101, "{decision:?}");
}

#[tokio::test]
async fn several_processes_share_their_counts() {
    let Some(database) = database() else { return };
    let first = database.open().await;
    let second = database.open().await;
    let (subject, limits, now) =
        (Subject::Key(KeyId(1)), WindowLimits { per_minute: None, per_day: Some(10_000) }, clock());
    for _ in 0..100 {
        first.admit(subject, limits, now).await.unwrap();
        second.admit(subject, limits, now).await.unwrap();
    }
    first.flush().await.unwrap();
    second.flush().await.unwrap();
    let after = second.admit(subject, limits, now).await.unwrap();
    assert_eq!(after.daily_remaining, 10_000 - 201);
    first.admit(subject, limits, now).await.unwrap();
    second.flush().await.unwrap();
    first.flush().await.unwrap();
    assert_eq!(first.admit(subject, limits, now).await.unwrap().daily_remaining, 10_000 - 203);
}

#[tokio::test]
async fn the_pattern_that_says_most_of_an_origin_counts() {
    let Some(database) = database() else { return };
    let (store, account) = with_account(&database).await;
    let page = "https://shop.app.example.com";
    assert!(store.find_origin(page).await.unwrap().is_none());
    for pattern in ["https://*.example.com", "https://*.app.example.com", page] {
        let unproved = store.register_origin(account, pattern.parse().unwrap(), false, "test", NOW).await.unwrap();
        assert_ne!(store.find_origin(page).await.unwrap().map(|found| found.id), Some(unproved.id));
        store.confirm_origin(unproved.id, "test", "test", NOW).await.unwrap();
        assert_eq!(store.find_origin(page).await.unwrap().unwrap().pattern, pattern);
    }
    let deep = format!("https://{}example.com", "a.".repeat(9));
    assert!(store.find_origin(&deep).await.unwrap().is_none(), "more than ten labels are no origin");
}
