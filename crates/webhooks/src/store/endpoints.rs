//! Operations of owners on their endpoints.

use hyper::Uri;
use paraffin_access::{AccountId, NewAuditLine, UnixMillis, write_audit_line};
use paraffin_database::{Session, Transaction, query, query_of};

use super::{GRACE_MS, RECORD, WebhookStore, record};
use crate::endpoint::{EndpointChanges, EndpointId, EndpointRecord, EndpointState, NewEndpoint, Owner};
use crate::secret::SigningSecret;
use crate::{WebhookError, WebhookSettings};

impl WebhookStore {
    /// Makes an endpoint; its secret is shown this once.
    ///
    /// # Errors
    /// [`WebhookError::TooManyEndpoints`], [`WebhookError::Full`], [`WebhookError::Unavailable`].
    pub async fn create(
        &self,
        owner: Owner<'_>,
        new: &NewEndpoint,
        settings: &WebhookSettings,
        now: UnixMillis,
    ) -> Result<(EndpointRecord, SigningSecret), WebhookError> {
        let secret = SigningSecret::generate()?;
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        let own = query("SELECT COUNT(*) AS endpoints FROM webhook_endpoint WHERE account = $1").bind(owner.account.0);
        if own.fetch_one(&mut transaction).await?.get::<i64>("endpoints")?
            >= i64::from(settings.endpoints_per_account_max)
        {
            return Err(WebhookError::TooManyEndpoints(settings.endpoints_per_account_max));
        }
        let all = query("SELECT COUNT(*) AS endpoints FROM webhook_endpoint");
        if all.fetch_one(&mut transaction).await?.get::<i64>("endpoints")? >= i64::from(settings.endpoints_max) {
            return Err(WebhookError::Full);
        }
        let insert = "INSERT INTO webhook_endpoint (account, url, filter, description, state, cursor, secret, old_secret, \
            old_secret_until, created_at, failures, next_attempt_at, taken_at, lease_owner, lease_until, lease_token) \
            VALUES ($1, $2, $3, $4, 'active', $5, $6, $7, 0, $8, 0, 0, 0, '', 0, 0) RETURNING id";
        let row = query(insert)
            .bind(owner.account.0)
            .bind(&new.url)
            .bind(&new.filter)
            .bind(&new.description)
            .bind(&new.cursor)
            .bind(secret.bytes())
            .bind(Vec::new())
            .bind(now)
            .fetch_one(&mut transaction)
            .await?;
        let id = EndpointId(row.get("id")?);
        let detail = format!("to={}", server_of(&new.url));
        Ok((finish(transaction, owner, id, ("create", &detail), now).await?, secret))
    }

    /// The endpoints of an account, by number.
    ///
    /// # Errors
    /// [`WebhookError::Unavailable`].
    pub async fn list(&self, account: AccountId, now: UnixMillis) -> Result<Vec<EndpointRecord>, WebhookError> {
        let mut session = self.database.session().await?;
        let rows = query_of(format!("{RECORD} WHERE e.account = $1 ORDER BY e.id"))
            .bind(account.0)
            .fetch_all(&mut session)
            .await?;
        rows.iter().map(|row| record(row, now)).collect()
    }

    /// An endpoint of an account.
    ///
    /// # Errors
    /// [`WebhookError::NoSuchEndpoint`], [`WebhookError::Unavailable`].
    pub async fn get(
        &self,
        account: AccountId,
        id: EndpointId,
        now: UnixMillis,
    ) -> Result<EndpointRecord, WebhookError> {
        find(&mut self.database.session().await?, account, id, now).await
    }

    /// The secrets that sign at the moment, the present one first.
    ///
    /// # Errors
    /// As [`WebhookStore::get`].
    pub async fn secrets(
        &self,
        account: AccountId,
        id: EndpointId,
        now: UnixMillis,
    ) -> Result<Vec<SigningSecret>, WebhookError> {
        let mut session = self.database.session().await?;
        let row =
            query("SELECT secret, old_secret, old_secret_until FROM webhook_endpoint WHERE id = $1 AND account = $2")
                .bind(id.0)
                .bind(account.0)
                .fetch_optional(&mut session)
                .await?
                .ok_or(WebhookError::NoSuchEndpoint)?;
        super::tasks::secrets(&row, now)
    }

    /// Changes an endpoint. Deliveries in flight do not write any more, so their message may be sent again.
    ///
    /// # Errors
    /// As [`WebhookStore::get`].
    pub async fn update(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
        changes: &EndpointChanges,
        now: UnixMillis,
    ) -> Result<EndpointRecord, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        let before = find(&mut transaction, owner.account, id, now).await?;
        let detail = changed(changes);
        let description = match &changes.description {
            None => before.description,
            Some(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        };
        let change = "UPDATE webhook_endpoint SET url = $1, filter = $2, cursor = $3, description = $4, \
            lease_token = lease_token + 1, next_attempt_at = 0 WHERE id = $5";
        query(change)
            .bind(changes.url.as_ref().unwrap_or(&before.url))
            .bind(changes.filter.as_ref().unwrap_or(&before.filter))
            .bind(changes.cursor.as_ref().unwrap_or(&before.cursor))
            .bind(&description)
            .bind(id.0)
            .execute(&mut transaction)
            .await?;
        if changes.cursor.is_some() {
            forget_message(&mut transaction, id).await?;
        }
        finish(transaction, owner, id, ("update", &detail), now).await
    }

    /// Stops the delivery of an endpoint. A message in flight may still arrive.
    ///
    /// # Errors
    /// As [`WebhookStore::get`].
    pub async fn pause(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
        now: UnixMillis,
    ) -> Result<EndpointRecord, WebhookError> {
        self.set_state(owner, id, (EndpointState::Paused, "pause"), now).await
    }

    /// Resumes the delivery of an endpoint at its position, with the message that was not acknowledged.
    ///
    /// # Errors
    /// As [`WebhookStore::get`].
    pub async fn resume(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
        now: UnixMillis,
    ) -> Result<EndpointRecord, WebhookError> {
        self.set_state(owner, id, (EndpointState::Active, "resume"), now).await
    }

    async fn set_state(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
        (state, action): (EndpointState, &'static str),
        now: UnixMillis,
    ) -> Result<EndpointRecord, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        let change = "UPDATE webhook_endpoint SET state = $1, failures = 0, failing_since = NULL, next_attempt_at = 0, \
            lease_token = lease_token + 1 WHERE id = $2 AND account = $3";
        let changed =
            query(change).bind(state.name()).bind(id.0).bind(owner.account.0).execute(&mut transaction).await?;
        if changed == 0 {
            return Err(WebhookError::NoSuchEndpoint);
        }
        finish(transaction, owner, id, (action, ""), now).await
    }

    /// Gives an endpoint a new secret, which is shown this once. For [`GRACE_MS`] the one before signs as well.
    ///
    /// # Errors
    /// As [`WebhookStore::get`], and [`WebhookError::NoRandomness`].
    pub async fn rotate_secret(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
        now: UnixMillis,
    ) -> Result<(EndpointRecord, SigningSecret), WebhookError> {
        let secret = SigningSecret::generate()?;
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        let change = "UPDATE webhook_endpoint SET old_secret = secret, old_secret_until = $1, secret = $2 \
            WHERE id = $3 AND account = $4";
        let changed = query(change)
            .bind(now.saturating_add(GRACE_MS))
            .bind(secret.bytes())
            .bind(id.0)
            .bind(owner.account.0)
            .execute(&mut transaction)
            .await?;
        if changed == 0 {
            return Err(WebhookError::NoSuchEndpoint);
        }
        Ok((finish(transaction, owner, id, ("rotate-secret", ""), now).await?, secret))
    }

    /// Ends an endpoint, with the message that was waiting.
    ///
    /// # Errors
    /// As [`WebhookStore::get`].
    pub async fn delete(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
        now: UnixMillis,
    ) -> Result<EndpointRecord, WebhookError> {
        let _writing = self.writing.lock().await;
        let mut transaction = self.database.begin().await?;
        let last = find(&mut transaction, owner.account, id, now).await?;
        forget_message(&mut transaction, id).await?;
        query("DELETE FROM webhook_endpoint WHERE id = $1").bind(id.0).execute(&mut transaction).await?;
        let detail = format!("to={}", server_of(&last.url));
        note(&mut transaction, owner, id, ("delete", &detail), now).await?;
        transaction.commit().await?;
        Ok(last)
    }
}

async fn find(
    session: &mut Session,
    account: AccountId,
    id: EndpointId,
    now: UnixMillis,
) -> Result<EndpointRecord, WebhookError> {
    let found = query_of(format!("{RECORD} WHERE e.id = $1 AND e.account = $2"))
        .bind(id.0)
        .bind(account.0)
        .fetch_optional(session)
        .await?;
    record(&found.ok_or(WebhookError::NoSuchEndpoint)?, now)
}

/// Commits a change with its line of the audit log.
async fn finish(
    mut transaction: Transaction,
    owner: Owner<'_>,
    id: EndpointId,
    (action, detail): (&'static str, &str),
    now: UnixMillis,
) -> Result<EndpointRecord, WebhookError> {
    let changed = find(&mut transaction, owner.account, id, now).await?;
    note(&mut transaction, owner, id, (action, detail), now).await?;
    transaction.commit().await?;
    Ok(changed)
}

async fn note(
    session: &mut Session,
    owner: Owner<'_>,
    id: EndpointId,
    (action, detail): (&'static str, &str),
    now: UnixMillis,
) -> Result<(), WebhookError> {
    let account = format!("account={}", owner.account);
    let line = NewAuditLine {
        actor: owner.actor.to_owned(),
        action,
        subject: format!("webhook:{}", id.0),
        detail: if detail.is_empty() { account } else { format!("{account} {detail}") },
    };
    Ok(write_audit_line(session, line, now).await?)
}

/// The server of an address, for the audit log: path and query may hold credentials.
fn server_of(url: &str) -> String {
    let server = url.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string));
    server.unwrap_or_default()
}

/// The changes of an owner, for the audit log.
fn changed(changes: &EndpointChanges) -> String {
    let EndpointChanges { url, filter, cursor, description } = changes;
    let url = url.as_ref().map(|url| format!("to={}", server_of(url)));
    let names = [
        filter.as_ref().map(|_| "filter".to_owned()),
        cursor.as_ref().map(|_| "position".to_owned()),
        description.as_ref().map(|_| "description".to_owned()),
    ];
    url.into_iter().chain(names.into_iter().flatten()).collect::<Vec<_>>().join(" ")
}

async fn forget_message(session: &mut Session, id: EndpointId) -> Result<(), WebhookError> {
    query("DELETE FROM webhook_message WHERE endpoint = $1").bind(id.0).execute(session).await?;
    Ok(())
}
