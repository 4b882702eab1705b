//! A chain that reorganises, receivers that fail, and databases of the tests in this folder: each test runs over SQLite,
//! and once more over PostgreSQL as a part of `postgres.rs`.
#![allow(dead_code, unreachable_pub)]
#![allow(clippy::unwrap_used)]

pub mod chain;
pub mod receiver;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use paraffin_access::ACCOUNTS_SCHEMA;
use paraffin_database::Database;
use paraffin_testkit::PostgresServer;
use paraffin_webhooks::{AccountId, Clock, DatabaseLocation, NewEndpoint, Owner, WebhookSettings, WebhookStore};
use tokio::sync::OnceCell;

/// When the tests begin.
pub const NOW: i64 = 1_700_000_000_000;
pub const SECOND: i64 = 1_000;
pub const HOUR: i64 = 3_600 * SECOND;
pub const OWNER: AccountId = AccountId(7);
/// Actor of changes to the endpoints of [`OWNER`].
pub const BY: Owner<'static> = Owner { account: OWNER, actor: "key:7" };

/// A database of one test.
pub struct TestDatabase {
    folder: tempfile::TempDir,
    server: Option<PostgresServer>,
    /// The tables of the accounts, with their audit log.
    accounts: OnceCell<Database>,
}

/// An empty database; `None` after a message that there is no PostgreSQL.
pub fn database() -> Option<TestDatabase> {
    // Tests kill tasks, not the machine: files in memory suffice, and cost no flush.
    let memory = std::path::Path::new("/dev/shm");
    let is_server = env!("CARGO_CRATE_NAME") == "postgres";
    let folder =
        if memory.is_dir() && !is_server { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    if !is_server {
        return Some(TestDatabase { folder, server: None, accounts: OnceCell::new() });
    }
    let mut server = PostgresServer::prepare(folder.path())?;
    server.run();
    Some(TestDatabase { folder, server: Some(server), accounts: OnceCell::new() })
}

impl TestDatabase {
    pub fn location(&self) -> DatabaseLocation {
        match &self.server {
            None => DatabaseLocation::File(self.folder.path().join("accounts.sqlite")),
            Some(server) => DatabaseLocation::Server(server.url().parse().unwrap()),
        }
    }

    /// The tables of the accounts.
    pub async fn accounts(&self) -> &Database {
        let open = async || Database::open(&self.location(), ACCOUNTS_SCHEMA).await.unwrap();
        self.accounts.get_or_init(open).await
    }

    /// The store of one more instance.
    pub async fn open(&self) -> WebhookStore {
        self.accounts().await;
        WebhookStore::open(&self.location()).await.unwrap()
    }
}

/// A time that stands still until a test moves it.
#[derive(Clone)]
pub struct Time(Arc<AtomicI64>);

impl Default for Time {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(NOW)))
    }
}

impl Time {
    pub fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    pub fn forward(&self, by_ms: i64) {
        self.0.fetch_add(by_ms, Ordering::SeqCst);
    }

    pub fn clock(&self) -> Clock {
        let time = self.clone();
        Arc::new(move || time.now())
    }
}

/// Settings that let messages go to the machine itself.
pub fn settings() -> WebhookSettings {
    WebhookSettings { allow_private: true, allow_http: true, ..WebhookSettings::default() }
}

pub fn endpoint(url: &str, cursor: &str) -> NewEndpoint {
    NewEndpoint { url: url.to_owned(), filter: "{}".to_owned(), cursor: cursor.to_owned(), description: None }
}
