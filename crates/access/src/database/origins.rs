use std::sync::Arc;
use std::time::{Duration, Instant};

use paraffin_database::{Row, Session, query, query_of};

use super::accounts::{self, plan_of};
use super::{Inner, audit};
use crate::origin::patterns_of;
use crate::{AccessError, AccountId, ApiKey, OriginId, OriginPattern, OriginRecord, UnixMillis};

/// How long an unregistered origin is not looked up again. A registration ends it at once here, and within the lease
/// in other processes.
const UNKNOWN_FOR: Duration = Duration::from_secs(10);

const COLUMNS: &str = "SELECT origin.id, origin.account, plan, pattern, token, origin.created_at, verified_at, last_used_at, request_count FROM origin JOIN account ON account.id = origin.account";

fn record(row: &Row) -> Result<OriginRecord, AccessError> {
    Ok(OriginRecord {
        id: OriginId(row.get("id")?),
        account: AccountId(row.get("account")?),
        plan: plan_of(row)?,
        pattern: row.get("pattern")?,
        token: row.get("token")?,
        created_at: row.get("created_at")?,
        verified_at: row.get("verified_at")?,
        last_used_at: row.get("last_used_at")?,
        request_count: row.get("request_count")?,
    })
}

/// All registrations of a pattern, the oldest first.
async fn by_pattern(connection: &mut Session, pattern: &str) -> Result<Vec<OriginRecord>, AccessError> {
    let rows = query_of(format!("{COLUMNS} WHERE pattern = $1 ORDER BY origin.id"))
        .bind(pattern)
        .fetch_all(connection)
        .await?;
    rows.iter().map(record).collect()
}

async fn by_id(connection: &mut Session, id: OriginId) -> Result<OriginRecord, AccessError> {
    let row = query_of(format!("{COLUMNS} WHERE origin.id = $1")).bind(id.0).fetch_optional(connection).await?;
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
    let mut transaction = inner.database.begin().await?;
    let account = accounts::find(&mut transaction, account).await?;
    // Several accounts may register the own machine, which has no owner; a domain has one owner.
    let owned = pattern.domain().is_some();
    let others = by_pattern(&mut transaction, pattern.as_str()).await?;
    if others.iter().any(|other| other.account == account.id || (owned && other.verified_at.is_some())) {
        return Err(AccessError::OriginTaken);
    }
    let verified_at = (proved || !owned).then_some(now);
    let id = query(
        "INSERT INTO origin (account, pattern, token, created_at, verified_at) VALUES ($1, $2, $3, $4, $5) RETURNING id",
    )
    .bind(account.id.0)
    .bind(pattern.as_str())
    .bind(&token)
    .bind(now)
    .bind(verified_at)
    .fetch_one(&mut transaction)
    .await?
    .get("id")?;
    let detail = format!("account={} pattern={pattern} served={}", account.id, verified_at.is_some());
    audit(&mut transaction, now, actor, "register", format!("origin:{id}"), detail).await?;
    // Triggers increment the version on updates and deletes. Other processes cache that this origin was unknown.
    query("UPDATE access_version SET value = value + 1").execute(&mut transaction).await?;
    transaction.commit().await?;
    inner.cache.invalidate();
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
    let rows =
        query_of(format!("{COLUMNS} ORDER BY origin.id")).fetch_all(&mut inner.database.session().await?).await?;
    rows.iter().map(record).collect()
}

pub(super) async fn confirm(
    inner: &Inner,
    id: OriginId,
    by: &str,
    actor: &str,
    now: UnixMillis,
) -> Result<OriginRecord, AccessError> {
    let mut transaction = inner.database.begin().await?;
    let mut found = by_id(&mut transaction, id).await?;
    if found.verified_at.is_none() {
        let others = by_pattern(&mut transaction, &found.pattern).await?;
        if others.iter().any(|other| other.verified_at.is_some()) {
            return Err(AccessError::OriginTaken);
        }
        query("UPDATE origin SET verified_at = $1 WHERE id = $2")
            .bind(now)
            .bind(id.0)
            .execute(&mut transaction)
            .await?;
        audit(&mut transaction, now, actor, "verify", format!("origin:{}", id.0), format!("by={by}")).await?;
        found.verified_at = Some(now);
    }
    transaction.commit().await?;
    inner.cache.invalidate();
    Ok(found)
}

pub(super) async fn remove(
    inner: &Inner,
    id: OriginId,
    actor: &str,
    now: UnixMillis,
) -> Result<OriginRecord, AccessError> {
    let mut transaction = inner.database.begin().await?;
    let found = by_id(&mut transaction, id).await?;
    query("DELETE FROM origin WHERE id = $1").bind(id.0).execute(&mut transaction).await?;
    let detail = format!("pattern={}", found.pattern);
    audit(&mut transaction, now, actor, "remove", format!("origin:{}", id.0), detail).await?;
    transaction.commit().await?;
    inner.cache.invalidate();
    Ok(found)
}

pub(super) async fn look_up(inner: &Inner, origin: &str) -> Result<Option<Arc<OriginRecord>>, AccessError> {
    let generation = match inner.cache.origins.get(origin) {
        Ok(found) if inner.counting.may_recall() => return Ok(Some(found)),
        Ok(_) => inner.cache.origins.remove(origin),
        Err(generation) => generation,
    };
    let patterns = patterns_of(origin);
    if patterns.is_empty() {
        return Ok(None);
    }
    let unknown = match inner.cache.unknown_origins.get(origin) {
        Ok(looked_up) if inner.counting.may_recall() && looked_up.elapsed() < UNKNOWN_FOR => return Ok(None),
        Ok(_) => inner.cache.unknown_origins.remove(origin),
        Err(generation) => generation,
    };
    let mut connection = inner.database.session().await?;
    let parameters: Vec<String> = (1..=patterns.len()).map(|number| format!("${number}")).collect();
    let statement = format!(
        "{COLUMNS} WHERE pattern IN ({}) AND verified_at IS NOT NULL ORDER BY origin.id",
        parameters.join(", ")
    );
    let mut query = query_of(statement);
    for pattern in &patterns {
        query = query.bind(pattern);
    }
    let rows = query.fetch_all(&mut connection).await?;
    let registered: Vec<OriginRecord> = rows.iter().map(record).collect::<Result<_, _>>()?;
    // The most specific pattern wins, and of several registrations of it the oldest.
    let rank = |record: &OriginRecord| patterns.iter().position(|pattern| *pattern == record.pattern);
    let found = registered.into_iter().min_by_key(|record| (rank(record), record.id)).map(Arc::new);
    match &found {
        Some(found) => inner.cache.origins.insert(origin.to_owned(), Arc::clone(found), generation),
        None => inner.cache.unknown_origins.insert(origin.to_owned(), Arc::new(Instant::now()), unknown),
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use crate::{DatabaseKeyStore, KeyStore as _, Plan};

    #[tokio::test]
    async fn what_nobody_has_registered_is_asked_for_once_until_somebody_registers_it() {
        const ORIGIN: &str = "https://app.example.com";
        let folder = tempfile::tempdir().unwrap();
        let store = DatabaseKeyStore::open(&folder.path().join("accounts.sqlite")).await.unwrap();
        assert_eq!(store.find_origin(ORIGIN).await.unwrap(), None);
        let looked_up = store.0.cache.unknown_origins.get(ORIGIN).unwrap();
        assert_eq!(store.find_origin(ORIGIN).await.unwrap(), None);
        assert_eq!(store.0.cache.unknown_origins.get(ORIGIN).unwrap(), looked_up, "it was looked up again");
        // A value that is no origin of a page is not cached.
        assert_eq!(store.find_origin("null").await.unwrap(), None);
        assert!(store.0.cache.unknown_origins.get("null").is_err());
        let account = store.create_account("a", Plan::FREE, "test", 0).await.unwrap().id;
        let pattern = "https://*.example.com".parse().unwrap();
        store.register_origin(account, pattern, true, "test", 0).await.unwrap();
        assert!(store.find_origin(ORIGIN).await.unwrap().is_some());
    }
}
