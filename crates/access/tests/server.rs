//! Accounts on a PostgreSQL server alone: it is newer, paused, killed, restored.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use paraffin_access::{AccessError, ApiKey, DatabaseKeyStore, DatabaseLocation, KeyStore as _, LEASE, NewKey, Plans};
use paraffin_testkit::PostgresServer;

const NOW: i64 = 1_700_000_000_000;

struct Served {
    _folder: tempfile::TempDir,
    server: PostgresServer,
    store: DatabaseKeyStore,
    key: ApiKey,
}

async fn served() -> Option<Served> {
    let folder = tempfile::tempdir().unwrap();
    let mut server = PostgresServer::prepare(folder.path())?;
    server.run();
    let store = open(&server).await.unwrap();
    let key = store.create(NewKey::named("k"), "test", NOW).await.unwrap().key;
    assert!(store.authenticate(&key, NOW).await.unwrap().is_some());
    Some(Served { _folder: folder, server, store, key })
}

async fn open(server: &PostgresServer) -> Result<DatabaseKeyStore, AccessError> {
    DatabaseKeyStore::open_at(&DatabaseLocation::Server(server.url().parse().unwrap()), Plans::default()).await
}

impl Served {
    async fn serves_again(&self) {
        let began = Instant::now();
        while !matches!(self.store.authenticate(&self.key, NOW).await, Ok(Some(_))) {
            assert!(began.elapsed() < Duration::from_secs(20), "not served again");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// From now on every request is refused, and without a long wait.
    async fn refuses_every_request(&self) {
        tokio::time::sleep(LEASE).await;
        assert!(self.store.recall_key(&self.key, NOW).is_none());
        for _ in 0..5 {
            let began = Instant::now();
            let unknown = ApiKey::generate().unwrap();
            for key in [&self.key, &unknown] {
                assert!(matches!(self.store.authenticate(key, NOW).await, Err(AccessError::Unavailable(_))));
            }
            assert!(self.store.available().await.is_err());
            assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
    }
}

/// row AU10
#[tokio::test]
async fn a_paused_server_serves_nobody_after_the_lease_and_serves_again_when_it_goes_on() {
    let Some(served) = served().await else { return };
    served.server.signal("STOP");
    // An unknown key is looked up at once: the lease is still held, but the query is not answered.
    let began = Instant::now();
    let unknown = served.store.authenticate(&ApiKey::generate().unwrap(), NOW).await;
    assert!(matches!(unknown, Err(AccessError::Unavailable(_))));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    served.refuses_every_request().await;
    served.server.signal("CONT");
    served.serves_again().await;
}

/// row AU10
#[tokio::test]
async fn a_killed_server_serves_nobody_after_the_lease_and_loses_nothing_that_was_answered() {
    let Some(mut served) = served().await else { return };
    for round in 0..3 {
        let named = served.store.create(NewKey::named(format!("{round}")), "test", NOW).await.unwrap().key;
        served.server.kill();
        served.refuses_every_request().await;
        served.server.run();
        served.serves_again().await;
        assert!(served.store.authenticate(&named, NOW).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_server_of_a_newer_program_is_refused_with_both_versions() {
    let Some(served) = served().await else { return };
    served.store.close().await.unwrap();
    let mut shell = <sqlx::PgConnection as sqlx::Connection>::connect(&served.server.url()).await.unwrap();
    sqlx::query("INSERT INTO access_schema_version (version) VALUES (99)").execute(&mut shell).await.unwrap();
    let Err(error) = open(&served.server).await else { panic!("opened a newer store") };
    assert!(matches!(error, AccessError::NewerSchema { found: 99, known: 3 }), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_or_refuses_is_an_error_without_the_password() {
    let Some(served) = served().await else { return };
    let port = paraffin_testkit::free_port();
    for url in [
        format!("postgres://postgres:hunter2@127.0.0.1:{port}/postgres"),
        format!("postgres://nobody:hunter2@127.0.0.1:{}/postgres", served.server.port()),
        format!("postgres://postgres:hunter2@127.0.0.1:{}/nothing", served.server.port()),
    ] {
        let opened = DatabaseKeyStore::open_at(&DatabaseLocation::Server(url.parse().unwrap()), Plans::default()).await;
        let Err(error) = opened else { panic!("opened {url}") };
        assert!(matches!(error, AccessError::Unavailable(_)) && !error.to_string().contains("hunter2"), "{error}");
    }
}
