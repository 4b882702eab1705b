//! Concurrent calls of several processes, each with a store of its own on one database.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use paraffin_access::{
    AccessError, AccountId, DatabaseKeyStore, Grace, KeyId, KeySelector, KeyStore as _, LEASE, NewAlias, NewKey, Plan,
    Subject, Used, WindowLimits, Windows as _,
};
use support::{TestDatabase, database};

const NOW: i64 = 1_700_000_000_000;

async fn three(database: &TestDatabase) -> (Vec<DatabaseKeyStore>, AccountId) {
    let mut stores = Vec::new();
    for _ in 0..3 {
        stores.push(database.open().await);
    }
    let account = stores[0].create_account("team", Plan::PRO, "test", NOW).await.unwrap().id;
    (stores, account)
}

/// Runs a call `times` times on every store, all concurrently; returns the results.
async fn all_at_once<T, F>(
    stores: &[DatabaseKeyStore],
    times: usize,
    work: impl Fn(DatabaseKeyStore, usize) -> F,
) -> Vec<Result<T, AccessError>>
where
    T: Send + 'static,
    F: Future<Output = Result<T, AccessError>> + Send + 'static,
{
    let begun = (0..times).flat_map(|time| stores.iter().map(move |store| (store.clone(), time)));
    let tasks: Vec<_> = begun.map(|(store, time)| tokio::spawn(work(store, time))).collect();
    let mut done = Vec::new();
    for task in tasks {
        done.push(task.await.unwrap());
    }
    done
}

fn good<T>(done: &[Result<T, AccessError>]) -> usize {
    done.iter().filter(|one| one.is_ok()).count()
}

#[tokio::test]
async fn the_number_of_keys_of_a_plan_holds_when_all_create_at_once() {
    let Some(database) = database() else { return };
    let (stores, account) = three(&database).await;
    let done =
        all_at_once(
            &stores,
            6,
            |store, _| async move { store.create(NewKey::in_account("k", account), "test", NOW).await },
        );
    let done = done.await;
    assert_eq!(good(&done), 10);
    assert!(done.iter().all(|one| matches!(one, Ok(_) | Err(AccessError::KeyLimit { max: 10 }))), "{done:?}");
    assert_eq!(stores[1].list_of(account).await.unwrap().len(), 10);
}

#[tokio::test]
async fn the_number_of_aliases_holds_when_all_create_at_once() {
    let Some(database) = database() else { return };
    let (stores, account) = three(&database).await;
    let number = std::sync::atomic::AtomicUsize::new(0);
    let done = all_at_once(&stores, 6, |store, _| {
        let name = format!("alias-{}", number.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let new = NewAlias { count_max: Some(4), ..NewAlias::named(account, name) };
        async move { store.create_alias(new, "test", NOW).await }
    });
    let done = done.await;
    assert_eq!(good(&done), 4);
    assert!(done.iter().all(|one| matches!(one, Ok(_) | Err(AccessError::AliasLimit { max: 4 }))), "{done:?}");
    // Those of another account do not count, and without a limit there is none.
    let other = stores[0].create_account("other", Plan::FREE, "test", NOW).await.unwrap().id;
    let new = NewAlias { count_max: Some(1), ..NewAlias::named(other, "other-app") };
    stores[0].create_alias(new, "test", NOW).await.unwrap();
    stores[0].create_alias(NewAlias::named(account, "one-more"), "test", NOW).await.unwrap();
}

#[tokio::test]
async fn one_of_many_gets_an_alias_and_one_a_domain() {
    let Some(database) = database() else { return };
    let (stores, account) = three(&database).await;
    let done = all_at_once(&stores, 4, |store, _| async move {
        store.create_alias(NewAlias::named(account, "my-app"), "test", NOW).await
    });
    let done = done.await;
    assert_eq!(good(&done), 1);
    assert!(done.iter().all(|one| matches!(one, Ok(_) | Err(AccessError::AliasTaken))), "{done:?}");

    let mut waiting = Vec::new();
    for number in 0..4 {
        let owner = stores[0].create_account(&format!("owner {number}"), Plan::FREE, "test", NOW).await.unwrap().id;
        let pattern = "https://app.example.com".parse().unwrap();
        waiting.push(stores[0].register_origin(owner, pattern, false, "test", NOW).await.unwrap().id);
    }
    let done = all_at_once(&stores, 4, |store, time| {
        let id = waiting[time];
        async move { store.confirm_origin(id, "dns", "test", NOW).await }
    });
    let done = done.await;
    assert!(done.iter().all(|one| matches!(one, Ok(_) | Err(AccessError::OriginTaken))), "{done:?}");
    let proved = stores[2].origins().await.unwrap();
    assert_eq!(proved.iter().filter(|origin| origin.verified_at.is_some()).count(), 1);
}

#[tokio::test]
async fn a_key_is_replaced_once_and_revoked_once_when_all_ask_at_once() {
    let Some(database) = database() else { return };
    let (stores, account) = three(&database).await;
    let old = stores[0].create(NewKey::in_account("k", account), "test", NOW).await.unwrap().record.id;
    let done = all_at_once(&stores, 4, |store, _| async move {
        store.reroll(KeySelector::Id(old), Grace::of(Duration::ZERO), "test", NOW).await
    });
    let done = done.await;
    assert_eq!(good(&done), 1);
    assert!(done.iter().all(|one| matches!(one, Ok(_) | Err(AccessError::Inactive))), "{done:?}");
    let fresh = done.into_iter().flatten().next().unwrap().record.id;
    let revoked = all_at_once(&stores, 4, |store, time| async move {
        store.revoke(KeySelector::Id(fresh), "test", NOW + i64::try_from(time).unwrap()).await
    });
    let times: Vec<_> = revoked.await.into_iter().map(|one| one.unwrap().revoked_at).collect();
    assert!(times.windows(2).all(|pair| pair[0] == pair[1]), "{times:?}");
    let audit = stores[1].audit(100).await.unwrap();
    assert_eq!(audit.iter().filter(|row| row.action == "revoke").count(), 1);
}

/// However many ask at once, an account has one rerolled key that still works.
#[tokio::test]
async fn one_rerolled_key_of_an_account_works_on_when_all_ask_at_once() {
    let Some(database) = database() else { return };
    let (stores, account) = three(&database).await;
    let mut old = Vec::new();
    for number in 0..4 {
        let new = NewKey::in_account(format!("k{number}"), account);
        old.push(stores[0].create(new, "test", NOW).await.unwrap().record.id);
    }
    let done = all_at_once(&stores, 4, |store, time| {
        let (id, grace) = (old[time], Grace::one_at_a_time(Duration::from_hours(1)));
        async move { store.reroll(KeySelector::Id(id), grace, "test", NOW).await }
    });
    let done = done.await;
    assert_eq!(good(&done), 1, "{done:?}");
    let refused = |one: &Result<_, AccessError>| {
        matches!(one, Ok(_) | Err(AccessError::OtherInGrace | AccessError::RerolledBefore))
    };
    assert!(done.iter().all(refused), "{done:?}");
    // Without grace each of the others can still be rerolled, and the operator is not held to it.
    let keys = stores[1].list_of(account).await.unwrap();
    let fresh: Vec<_> = keys.iter().filter(|key| !key.is_replaced).map(|key| key.id).collect();
    let at_once = Grace::one_at_a_time(Duration::ZERO);
    stores[1].reroll(KeySelector::Id(fresh[0]), at_once, "test", NOW).await.unwrap();
    stores[1].reroll(KeySelector::Id(fresh[1]), Grace::of(Duration::from_hours(1)), "test", NOW).await.unwrap();
}

#[tokio::test]
async fn no_count_of_any_process_is_lost_when_all_write_at_once() {
    let Some(database) = database() else { return };
    let (stores, account) = three(&database).await;
    let mut keys: Vec<KeyId> = Vec::new();
    for _ in 0..10 {
        keys.push(stores[0].create(NewKey::in_account("k", account), "test", NOW).await.unwrap().record.id);
    }
    let limits = WindowLimits { per_minute: None, per_day: Some(1_000_000) };
    let today = support::clock();
    let used = keys.clone();
    let done = all_at_once(&stores, 20, |store, _| {
        let keys = used.clone();
        async move {
            for key in keys {
                store.record_use(support::request(Used::Key(key), account), NOW);
                store.admit(Subject::Key(key), limits, today).await?;
            }
            store.flush().await
        }
    });
    assert_eq!(good(&done.await), 60);
    for store in &stores {
        store.flush().await.unwrap();
    }
    assert!(stores[2].list_of(account).await.unwrap().iter().all(|key| key.request_count == 60));
    let late = database.open().await;
    for key in keys {
        let counted = late.admit(Subject::Key(key), limits, today).await.unwrap();
        assert_eq!(counted.daily_remaining, 1_000_000 - 61);
    }
}

/// row AU04
#[tokio::test]
async fn after_a_revocation_was_answered_no_process_takes_the_key() {
    let Some(database) = database() else { return };
    let (stores, account) = three(&database).await;
    for _ in 0..3 {
        let created = stores[0].create(NewKey::in_account("k", account), "test", NOW).await.unwrap();
        for store in &stores {
            assert!(store.authenticate(&created.key, NOW).await.unwrap().is_some());
        }
        stores[0].revoke(KeySelector::Id(created.record.id), "test", NOW).await.unwrap();
        stores[0].settle().await.unwrap();
        for store in &stores {
            assert!(store.recall_key(&created.key, NOW).is_none());
            assert!(store.authenticate(&created.key, NOW).await.unwrap().is_none());
        }
    }
    assert!(LEASE <= Duration::from_secs(1));
}
