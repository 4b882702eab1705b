//! Due deliveries and their results. Each statement that writes for a [`Task`] checks whether the lease is still the
//! one of the task; the time does not matter for that, since a takeover changes the token.

use paraffin_access::{AccountId, UnixMillis};
use paraffin_database::{Row, Session, query};

use super::{LEASE_MS, WebhookStore, attempts, state};
use crate::WebhookError;
use crate::endpoint::{ATTEMPTS_KEPT, AttemptRecord, EndpointId, EndpointState};
use crate::message::Message;
use crate::secret::SigningSecret;

/// An endpoint that this instance delivers for.
#[derive(Debug, Clone)]
pub struct Task {
    /// Number of the endpoint.
    pub id: EndpointId,
    /// Changes when the lease is taken again and when the owner changes something.
    pub token: i64,
    pub(crate) url: String,
    pub(crate) filter: String,
    pub(crate) cursor: String,
    pub(crate) secrets: Vec<SigningSecret>,
    pub(crate) failures: u32,
    pub(crate) failing_since: Option<UnixMillis>,
    pub(crate) message: Option<Message>,
    pub(crate) attempts: Vec<AttemptRecord>,
}

impl Task {
    /// The attempts of the endpoint with one more, as they are stored.
    fn attempts_with(&self, attempt: &AttemptRecord) -> Result<String, WebhookError> {
        let attempts: Vec<&AttemptRecord> =
            std::iter::once(attempt).chain(&self.attempts).take(ATTEMPTS_KEPT).collect();
        Ok(serde_json::to_string(&attempts)?)
    }
}

/// An endpoint that may have something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    pub(crate) id: EndpointId,
    pub(crate) account: AccountId,
    pub(crate) token: i64,
}

/// Why an attempt failed, and its consequences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) reason: String,
    pub(crate) at: UnixMillis,
    /// `None` where no message was sent.
    pub(crate) attempt: Option<AttemptRecord>,
    pub(crate) next_attempt_at: UnixMillis,
    pub(crate) state: EndpointState,
}

impl WebhookStore {
    /// Active endpoints whose time has come and that no other instance has, the least recently checked first.
    pub(crate) async fn due(&self, now: UnixMillis) -> Result<Vec<Due>, WebhookError> {
        let mut session = self.database.session().await?;
        let due = "SELECT id, account, lease_token FROM webhook_endpoint WHERE state = 'active' AND next_attempt_at <= $1 \
            AND (lease_owner = $2 OR lease_until <= $1) ORDER BY taken_at, id";
        let rows = query(due).bind(now).bind(&self.owner).fetch_all(&mut session).await?;
        let due = |row: &Row| {
            let (id, account) = (EndpointId(row.get("id")?), AccountId(row.get("account")?));
            Ok(Due { id, account, token: row.get("lease_token")? })
        };
        rows.iter().map(due).collect()
    }

    /// Renews all leases of this instance.
    pub(crate) async fn renew(&self, now: UnixMillis) -> Result<(), WebhookError> {
        let _writing = self.writing.lock().await;
        let mut session = self.database.session().await?;
        query("UPDATE webhook_endpoint SET lease_until = $1 WHERE lease_owner = $2")
            .bind(now.saturating_add(LEASE_MS))
            .bind(&self.owner)
            .execute(&mut session)
            .await?;
        Ok(())
    }

    /// Takes the lease of an active endpoint: `None` while another instance has it, or when it is not due yet. Of one
    /// store, one task at a time may work for an endpoint.
    pub(crate) async fn take(&self, id: EndpointId, now: UnixMillis) -> Result<Option<Task>, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        let take = "UPDATE webhook_endpoint SET lease_owner = $1, lease_until = $2, lease_token = lease_token + 1, \
            taken_at = $3 WHERE id = $4 AND state = 'active' AND next_attempt_at <= $3 \
            AND (lease_owner = $1 OR lease_until <= $3) RETURNING url, filter, cursor, secret, old_secret, old_secret_until, \
            failures, failing_since, attempts, lease_token";
        let taken = query(take)
            .bind(&self.owner)
            .bind(now.saturating_add(LEASE_MS))
            .bind(now)
            .bind(id.0)
            .fetch_optional(&mut transaction)
            .await?;
        let Some(row) = taken else { return Ok(None) };
        let waiting = query("SELECT id, body, cursor FROM webhook_message WHERE endpoint = $1")
            .bind(id.0)
            .fetch_optional(&mut transaction)
            .await?;
        transaction.commit().await?;
        Ok(Some(Task {
            id,
            token: row.get("lease_token")?,
            url: row.get("url")?,
            filter: row.get("filter")?,
            cursor: row.get("cursor")?,
            secrets: secrets(&row, now)?,
            failures: row.get("failures")?,
            failing_since: row.get("failing_since")?,
            message: waiting.as_ref().map(message).transpose()?,
            attempts: attempts(&row)?,
        }))
    }

    /// Stores a message before it is sent for the first time; returns whether the task still has the endpoint.
    pub(crate) async fn keep(&self, task: &Task, message: &Message, now: UnixMillis) -> Result<bool, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        if !self.has(&mut transaction, task).await? {
            return Ok(false);
        }
        query("INSERT INTO webhook_message (endpoint, id, body, cursor, created_at) VALUES ($1, $2, $3, $4, $5)")
            .bind(task.id.0)
            .bind(&message.id)
            .bind(&message.body)
            .bind(&message.cursor)
            .bind(now)
            .execute(&mut transaction)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Moves an endpoint past events that its filter skips; returns whether the task still has it.
    pub(crate) async fn pass_over(&self, task: &Task, cursor: &str) -> Result<bool, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut session = self.database.session().await?;
        let moved =
            query("UPDATE webhook_endpoint SET cursor = $1 WHERE id = $2 AND lease_owner = $3 AND lease_token = $4")
                .bind(cursor)
                .bind(task.id.0)
                .bind(&self.owner)
                .bind(task.token)
                .execute(&mut session)
                .await?;
        Ok(moved == 1)
    }

    /// Removes a message that was acknowledged and moves the endpoint behind it; whether the task still has the endpoint.
    pub(crate) async fn acknowledge(
        &self,
        task: &Task,
        message: &Message,
        attempt: &AttemptRecord,
    ) -> Result<bool, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        let change = "UPDATE webhook_endpoint SET cursor = $1, last_success_at = $2, failures = 0, failing_since = NULL, \
            next_attempt_at = 0, attempts = $3 WHERE id = $4 AND lease_owner = $5 AND lease_token = $6";
        let moved = query(change)
            .bind(&message.cursor)
            .bind(attempt.at)
            .bind(task.attempts_with(attempt)?)
            .bind(task.id.0)
            .bind(&self.owner)
            .bind(task.token)
            .execute(&mut transaction)
            .await?;
        let removed = query("DELETE FROM webhook_message WHERE endpoint = $1 AND id = $2")
            .bind(task.id.0)
            .bind(&message.id)
            .execute(&mut transaction)
            .await?;
        if moved != 1 || removed != 1 {
            return Ok(false);
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Records that an attempt failed, or that the source refuses the position; returns whether the task still has the endpoint.
    pub(crate) async fn fail(&self, task: &Task, failure: &Failure) -> Result<bool, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut session = self.database.session().await?;
        let change = "UPDATE webhook_endpoint SET state = $1, last_error = $2, last_error_at = $3, failures = failures + 1, \
            failing_since = COALESCE(failing_since, $3), next_attempt_at = $4, attempts = COALESCE($5, attempts) \
            WHERE id = $6 AND lease_owner = $7 AND lease_token = $8 AND state = 'active'";
        let attempts = failure.attempt.as_ref().map(|attempt| task.attempts_with(attempt)).transpose()?;
        let changed = query(change)
            .bind(failure.state.name())
            .bind(&failure.reason)
            .bind(failure.at)
            .bind(failure.next_attempt_at)
            .bind(&attempts)
            .bind(task.id.0)
            .bind(&self.owner)
            .bind(task.token)
            .execute(&mut session)
            .await?;
        Ok(changed == 1)
    }

    /// Defers an endpoint without counting a failure.
    pub(crate) async fn defer(&self, task: &Task, until: UnixMillis) -> Result<(), WebhookError> {
        let _writing = self.writing.lock().await;
        let mut session = self.database.session().await?;
        let change =
            "UPDATE webhook_endpoint SET next_attempt_at = $1 WHERE id = $2 AND lease_owner = $3 AND lease_token = $4";
        query(change).bind(until).bind(task.id.0).bind(&self.owner).bind(task.token).execute(&mut session).await?;
        Ok(())
    }

    async fn has(&self, session: &mut Session, task: &Task) -> Result<bool, WebhookError> {
        let row = query("SELECT state, lease_owner, lease_token FROM webhook_endpoint WHERE id = $1")
            .bind(task.id.0)
            .fetch_optional(session)
            .await?;
        let Some(row) = row else { return Ok(false) };
        Ok(state(&row)? == EndpointState::Active
            && row.get::<String>("lease_owner")? == self.owner
            && row.get::<i64>("lease_token")? == task.token)
    }
}

fn message(row: &Row) -> Result<Message, WebhookError> {
    Ok(Message { id: row.get("id")?, body: row.get("body")?, cursor: row.get("cursor")? })
}

/// The secrets that sign, the present one first.
pub(super) fn secrets(row: &Row, now: UnixMillis) -> Result<Vec<SigningSecret>, WebhookError> {
    let mut secrets = vec![SigningSecret::from_bytes(row.get("secret")?)];
    if row.get::<i64>("old_secret_until")? > now {
        secrets.push(SigningSecret::from_bytes(row.get("old_secret")?));
    }
    Ok(secrets)
}
