mod endpoints;
mod tasks;

use std::sync::Arc;

use paraffin_access::UnixMillis;
use paraffin_database::{Database, DatabaseError, DatabaseLocation, Row, query};
use tokio::sync::Mutex;

use crate::endpoint::{AttemptRecord, EndpointId, EndpointRecord, EndpointState};
use crate::message::random_digits;
use crate::migrations::MIGRATIONS;
use crate::{AccountId, WebhookError};

pub use tasks::Task;
pub(crate) use tasks::{Due, Failure};

/// How long an instance that delivers for an endpoint may be silent before another one takes over, milliseconds.
pub const LEASE_MS: i64 = 60_000;
/// How long the secret before the present one signs as well, milliseconds.
pub const GRACE_MS: i64 = 24 * 3_600_000;

/// Endpoints and their messages in one database: SQLite in a file, or PostgreSQL, which instances share. Leases are held in
/// the name of its store, so a store is opened once for each instance.
///
/// Must be used inside a tokio runtime.
#[derive(Clone)]
pub struct WebhookStore {
    database: Database,
    owner: String,
    /// Held while this process writes. SQLite lets concurrent writers sleep, longer each time, so that many of them make
    /// little progress.
    writing: Arc<Mutex<()>>,
}

impl WebhookStore {
    /// Opens a database and brings the schema up to date. It is that of the accounts, which are opened before: changes of owners are
    /// written into their audit log.
    ///
    /// # Errors
    /// [`WebhookError::Unavailable`].
    pub async fn open(location: &DatabaseLocation) -> Result<Self, WebhookError> {
        let database = Database::open(location, MIGRATIONS).await?;
        Ok(Self { database, owner: random_digits()?, writing: Arc::default() })
    }

    /// Releases all leases, so that other instances can take over at once, and closes all connections.
    pub async fn close(&self) {
        if let Err(error) = self.release_all().await {
            tracing::warn!(%error, "endpoints of webhooks stay with this instance until their lease has run out");
        }
        self.database.close().await;
    }

    async fn release_all(&self) -> Result<(), WebhookError> {
        let _writing = self.writing.lock().await;
        let mut session = self.database.session().await?;
        query("UPDATE webhook_endpoint SET lease_owner = '', lease_until = 0 WHERE lease_owner = $1")
            .bind(&self.owner)
            .execute(&mut session)
            .await?;
        Ok(())
    }
}

/// Columns of [`record`].
const RECORD: &str = "SELECT e.id, e.account, e.url, e.filter, e.description, e.state, e.cursor, e.created_at, \
    e.last_success_at, e.last_error, e.last_error_at, e.failures, e.failing_since, e.next_attempt_at, e.old_secret_until, \
    e.attempts, m.id AS message_id FROM webhook_endpoint AS e LEFT JOIN webhook_message AS m ON m.endpoint = e.id";

fn record(row: &Row, now: UnixMillis) -> Result<EndpointRecord, WebhookError> {
    let failures: u32 = row.get("failures")?;
    let until: i64 = row.get("old_secret_until")?;
    Ok(EndpointRecord {
        id: EndpointId(row.get("id")?),
        account: AccountId(row.get("account")?),
        url: row.get("url")?,
        filter: row.get("filter")?,
        description: row.get("description")?,
        state: state(row)?,
        cursor: row.get("cursor")?,
        created_at: row.get("created_at")?,
        last_success_at: row.get("last_success_at")?,
        last_error: row.get("last_error")?,
        last_error_at: row.get("last_error_at")?,
        failures,
        failing_since: row.get("failing_since")?,
        next_attempt_at: Some(row.get("next_attempt_at")?).filter(|_| failures > 0),
        message_id: row.get("message_id")?,
        old_secret_until: Some(until).filter(|until| *until > now),
        attempts: attempts(row)?,
    })
}

fn attempts(row: &Row) -> Result<Vec<AttemptRecord>, WebhookError> {
    let text: String = row.get("attempts")?;
    let damaged = |error: serde_json::Error| DatabaseError::Damaged(format!("attempts of an endpoint: {error}"));
    Ok(serde_json::from_str(&text).map_err(damaged)?)
}

fn state(row: &Row) -> Result<EndpointState, WebhookError> {
    let name: String = row.get("state")?;
    let unknown = || DatabaseError::Damaged(format!("an endpoint has the state {name}"));
    Ok(EndpointState::named(&name).ok_or_else(unknown)?)
}
