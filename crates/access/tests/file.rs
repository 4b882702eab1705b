//! Accounts in a SQLite file.
#![allow(clippy::unwrap_used)]

mod support;

use paraffin_access::{
    AccessError, ApiKey, CreatedKey, DatabaseKeyStore, KeyId, KeyStore as _, LEASE, NewKey, Plan, Used,
};
use sqlx::{ConnectOptions as _, Connection as _, sqlite::SqliteConnectOptions};
use support::database;

const NOW: i64 = 1_700_000_000_000;

/// row AU01
#[tokio::test]
async fn the_file_holds_a_digest_and_never_the_key() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let created = create(&store, "secret").await;
    assert!(accepted(&store, &created.key, NOW).await);
    store.record_use(support::request(Used::Key(created.record.id), created.record.account), NOW);
    store.close().await.unwrap();
    let text = created.key.reveal();
    let bytes = data_encoding::HEXLOWER.decode(text.as_bytes()).unwrap();
    let mut seen = 0;
    for entry in std::fs::read_dir(database.path().parent().unwrap()).unwrap() {
        let content = match std::fs::read(entry.unwrap().path()) {
            Ok(content) => content,
            // SQLite's journal, which goes with its last connection.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => panic!("{error}"),
        };
        seen += content.len();
        assert!(!content.windows(32).any(|window| window == text.as_bytes()));
        assert!(!content.windows(16).any(|window| window == bytes));
    }
    assert!(seen > 4096, "the store was not where the test looked");
}

#[tokio::test]
async fn a_store_of_the_first_schema_keeps_its_keys_and_gives_each_an_account() {
    let Some(database) = database() else { return };
    let mut old =
        SqliteConnectOptions::new().filename(database.path()).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(concat!(
        "CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY);",
        include_str!("../migrations/sqlite/0001_keys.sql"),
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
    let store = database.open().await;
    let found = store.authenticate(&key, NOW).await.unwrap().unwrap();
    assert_eq!((found.id, found.plan.clone(), found.admin, found.request_count), (KeyId(7), Plan::PRO, true, 9));
    let accounts = store.accounts().await.unwrap();
    assert_eq!((accounts.len(), accounts[0].name.as_str(), accounts[0].id), (1, "old", found.account));
}

#[tokio::test]
async fn a_key_in_its_grace_is_known_as_rerolled_after_the_migration() {
    let Some(database) = database() else { return };
    let mut old =
        SqliteConnectOptions::new().filename(database.path()).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(concat!(
        "CREATE TABLE schema_version (version INTEGER NOT NULL PRIMARY KEY);",
        include_str!("../migrations/sqlite/0001_keys.sql"),
        include_str!("../migrations/sqlite/0002_accounts_aliases_origins.sql"),
        include_str!("../migrations/sqlite/0003_scripts.sql"),
        "INSERT INTO schema_version VALUES (1), (2), (3);",
        "INSERT INTO account VALUES (1, 'team', 'pro', 5);",
        "INSERT INTO api_key (name, prefix, digest, account, admin, management, created_at, expires_at) VALUES \
         ('grace', 'aaaa', x'01', 1, 0, 0, 5, 100), ('active', 'bbbb', x'02', 1, 0, 0, 5, NULL);"
    ))
    .execute(&mut old)
    .await
    .unwrap();
    old.close().await.unwrap();
    let keys = database.open().await.list().await.unwrap();
    let found: Vec<_> = keys.iter().map(|key| (key.expires_at, key.own_expires_at, key.is_replaced)).collect();
    assert_eq!(found, [(Some(100), None, true), (None, None, false)]);
}

/// row AU10
#[tokio::test]
async fn a_store_that_is_taken_away_serves_nobody_and_serves_again_when_it_is_back() {
    let Some(database) = database() else { return };
    let store = database.open().await;
    let created = create(&store, "k").await;
    assert!(accepted(&store, &created.key, NOW).await);
    let aside = database.path().with_extension("aside");
    std::fs::rename(database.path(), &aside).unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(matches!(store.authenticate(&created.key, NOW).await, Err(AccessError::Unavailable(_))));
    assert!(matches!(store.available().await, Err(AccessError::Unavailable(_))));
    // An empty file in its place is not the store.
    std::fs::write(database.path(), b"").unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(store.authenticate(&created.key, NOW).await.is_err());
    std::fs::rename(&aside, database.path()).unwrap();
    tokio::time::sleep(LEASE).await;
    assert!(accepted(&store, &created.key, NOW).await);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_an_error() {
    let Some(database) = database() else { return };
    std::fs::write(
        database.path(),
        b"this is not a database, only text that is long enough to be read as a header........................",
    )
    .unwrap();
    assert!(database.try_open().await.is_err());
}

#[tokio::test]
async fn a_file_of_a_newer_program_is_refused_with_both_versions() {
    let Some(database) = database() else { return };
    database.open().await.close().await.unwrap();
    database.shell("INSERT INTO schema_version (version) VALUES (99)").await.unwrap();
    let Err(error) = database.try_open().await else { panic!("opened a newer store") };
    assert!(matches!(error, AccessError::NewerSchema { found: 99, known: 5 }), "{error}");
    assert!(error.to_string().contains("99"));
}

async fn accepted(store: &DatabaseKeyStore, key: &ApiKey, now: i64) -> bool {
    store.authenticate(key, now).await.unwrap().is_some()
}

async fn create(store: &DatabaseKeyStore, name: &str) -> CreatedKey {
    store.create(NewKey::named(name), "test", NOW).await.unwrap()
}
