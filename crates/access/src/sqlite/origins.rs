use std::sync::Arc;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::accounts::{self, plan_of};
use super::{Inner, audit};
use crate::origin::patterns_of;
use crate::{AccessError, AccountId, ApiKey, OriginId, OriginPattern, OriginRecord, UnixMillis};

const COLUMNS: &str = "SELECT origin.id, origin.account, plan, pattern, token, origin.created_at, verified_at, last_used_at, request_count FROM origin JOIN account ON account.id = origin.account";

fn record(row: &SqliteRow) -> Result<OriginRecord, AccessError> {
    Ok(OriginRecord {
        id: OriginId(row.try_get("id")?),
        account: AccountId(row.try_get("account")?),
        plan: plan_of(row)?,
        pattern: row.try_get("pattern")?,
        token: row.try_get("token")?,
        created_at: row.try_get("created_at")?,
        verified_at: row.try_get("verified_at")?,
        last_used_at: row.try_get("last_used_at")?,
        request_count: row.try_get("request_count")?,
    })
}

/// All registrations of a pattern, the oldest first.
async fn by_pattern(connection: &mut SqliteConnection, pattern: &str) -> Result<Vec<OriginRecord>, AccessError> {
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE pattern = $1 ORDER BY origin.id")))
        .bind(pattern)
        .fetch_all(connection)
        .await?;
    rows.iter().map(record).collect()
}

async fn by_id(connection: &mut SqliteConnection, id: OriginId) -> Result<OriginRecord, AccessError> {
    let row = sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE origin.id = $1")))
        .bind(id.0)
        .fetch_optional(connection)
        .await?;
    record(&row.ok_or(AccessError::NoSuchOrigin)?)
}

pub(super) async fn register(
    inner: &Inner,
    account: AccountId,
    pattern: &OriginPattern,
    proved: bool,
    actor: &str,
    now: UnixMillis,
) -> Result<OriginRecord, AccessError> {
    let token = ApiKey::generate()?.reveal();
    let mut transaction = inner.pool.begin_with("BEGIN IMMEDIATE").await?;
    let account = accounts::find(&mut transaction, account).await?;
    // Nobody owns the own machine, so that several accounts may register it; a domain has one owner.
    let owned = pattern.domain().is_some();
    let others = by_pattern(&mut transaction, pattern.as_str()).await?;
    if others.iter().any(|other| other.account == account.id || (owned && other.verified_at.is_some())) {
        return Err(AccessError::OriginTaken);
    }
    let verified_at = (proved || !owned).then_some(now);
    let id = sqlx::query(
        "INSERT INTO origin (account, pattern, token, created_at, verified_at) VALUES ($1, $2, $3, $4, $5) RETURNING id",
    )
    .bind(account.id.0)
    .bind(pattern.as_str())
    .bind(&token)
    .bind(now)
    .bind(verified_at)
    .fetch_one(&mut *transaction)
    .await?
    .try_get(0)?;
    let detail = format!("account={} pattern={pattern} served={}", account.id, verified_at.is_some());
    audit(&mut transaction, now, actor, "register", format!("origin:{id}"), detail).await?;
    transaction.commit().await?;
    Ok(OriginRecord {
        id: OriginId(id),
        account: account.id,
        plan: account.plan,
        pattern: pattern.to_string(),
        token,
        created_at: now,
        verified_at,
        last_used_at: None,
        request_count: 0,
    })
}

pub(super) async fn list(inner: &Inner) -> Result<Vec<OriginRecord>, AccessError> {
    inner.flush().await?;
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} ORDER BY origin.id"))).fetch_all(&inner.pool).await?;
    rows.iter().map(record).collect()
}

pub(super) async fn confirm(
    inner: &Inner,
    id: OriginId,
    by: &str,
    actor: &str,
    now: UnixMillis,
) -> Result<OriginRecord, AccessError> {
    let mut transaction = inner.pool.begin_with("BEGIN IMMEDIATE").await?;
    let mut found = by_id(&mut transaction, id).await?;
    if found.verified_at.is_none() {
        let others = by_pattern(&mut transaction, &found.pattern).await?;
        if others.iter().any(|other| other.verified_at.is_some()) {
            return Err(AccessError::OriginTaken);
        }
        sqlx::query("UPDATE origin SET verified_at = $1 WHERE id = $2")
            .bind(now)
            .bind(id.0)
            .execute(&mut *transaction)
            .await?;
        audit(&mut transaction, now, actor, "verify", format!("origin:{}", id.0), format!("by={by}")).await?;
        found.verified_at = Some(now);
    }
    transaction.commit().await?;
    inner.known.invalidate();
    Ok(found)
}

pub(super) async fn remove(
    inner: &Inner,
    id: OriginId,
    actor: &str,
    now: UnixMillis,
) -> Result<OriginRecord, AccessError> {
    let mut transaction = inner.pool.begin_with("BEGIN IMMEDIATE").await?;
    let found = by_id(&mut transaction, id).await?;
    sqlx::query("DELETE FROM origin WHERE id = $1").bind(id.0).execute(&mut *transaction).await?;
    let detail = format!("pattern={}", found.pattern);
    audit(&mut transaction, now, actor, "remove", format!("origin:{}", id.0), detail).await?;
    transaction.commit().await?;
    inner.known.invalidate();
    Ok(found)
}

pub(super) async fn look_up(inner: &Inner, origin: &str) -> Result<Option<Arc<OriginRecord>>, AccessError> {
    let generation = match inner.known.origins.get(origin) {
        Ok(found) => return Ok(Some(found)),
        Err(generation) => generation,
    };
    let patterns = patterns_of(origin);
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut connection = inner.pool.acquire().await?;
    for pattern in patterns {
        let registered = by_pattern(&mut connection, &pattern).await?;
        if let Some(found) = registered.into_iter().find(|record| record.verified_at.is_some()) {
            let found = Arc::new(found);
            inner.known.origins.insert(origin.to_owned(), Arc::clone(&found), generation);
            return Ok(Some(found));
        }
    }
    Ok(None)
}
