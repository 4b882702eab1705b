//! Databases of the tests in this folder: each test runs over SQLite, and once more over PostgreSQL as a part of
//! `postgres.rs`.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use paraffin_access::{
    AccessError, AccountId, DatabaseKeyStore, DatabaseLocation, Outcome, Plans, RecordedRequest, Used,
};
use paraffin_testkit::PostgresServer;
use sqlx::{ConnectOptions as _, Executor as _, sqlite::SqliteConnectOptions};

/// A database of one test.
pub struct TestDatabase {
    pub folder: tempfile::TempDir,
    pub server: Option<PostgresServer>,
}

/// An empty database; `None` after a message that there is no PostgreSQL.
pub fn database() -> Option<TestDatabase> {
    let folder = tempfile::tempdir().unwrap();
    if env!("CARGO_CRATE_NAME") != "postgres" {
        return Some(TestDatabase { folder, server: None });
    }
    let mut server = PostgresServer::prepare(folder.path())?;
    server.run();
    Some(TestDatabase { folder, server: Some(server) })
}

impl TestDatabase {
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("access.sqlite")
    }

    pub fn location(&self) -> DatabaseLocation {
        match &self.server {
            None => DatabaseLocation::File(self.path()),
            Some(server) => DatabaseLocation::Server(server.url().parse().unwrap()),
        }
    }

    pub async fn open(&self) -> DatabaseKeyStore {
        self.try_open().await.unwrap()
    }

    pub async fn try_open(&self) -> Result<DatabaseKeyStore, AccessError> {
        DatabaseKeyStore::open_at(&self.location(), Plans::default()).await
    }

    /// Runs a statement as the database's own shell would.
    pub async fn shell(&self, statement: &'static str) -> Result<(), sqlx::Error> {
        match &self.server {
            None => {
                let mut shell = SqliteConnectOptions::new().filename(self.path()).connect().await?;
                shell.execute(statement).await.map(drop)
            }
            #[cfg(not(feature = "postgres"))]
            Some(_) => unreachable!("a server is prepared for `postgres.rs` alone"),
            #[cfg(feature = "postgres")]
            Some(server) => {
                let mut shell = server.url().parse::<sqlx::postgres::PgConnectOptions>()?.connect().await?;
                shell.execute(statement).await.map(drop)
            }
        }
    }
}

/// An answered request to the main surface.
pub fn request(used: Used, account: AccountId) -> RecordedRequest {
    RecordedRequest { used, account, surface: "main", outcome: Outcome::Answered }
}

/// Milliseconds since the Unix epoch.
pub fn clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}
