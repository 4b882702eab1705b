use std::sync::Arc;

use paraffin_database::{Row, Session, query, query_of};
use subtle::ConstantTimeEq as _;

use super::accounts::{self, plan_of};
use super::{Inner, audit};
use crate::{
    AccessError, AccountId, ApiKey, CreatedKey, Grace, KeyDigest, KeyId, KeyOwner, KeyRecord, KeySelector, NewKey,
    UnixMillis, WindowLimits, time_text,
};

const COLUMNS: &str = "SELECT api_key.id, api_key.account, api_key.name, prefix, digest, plan, per_minute, per_day, admin, management, api_key.created_at, last_used_at, request_count, expires_at, own_expires_at, is_replaced, revoked_at FROM api_key JOIN account ON account.id = api_key.account";

pub(super) async fn create(
    inner: &Inner,
    new: NewKey,
    actor: &str,
    now: UnixMillis,
) -> Result<CreatedKey, AccessError> {
    new.check(now)?;
    let mut transaction = inner.database.begin().await?;
    let account = match &new.owner {
        KeyOwner::NewAccount(plan) => {
            accounts::insert(&mut transaction, inner, &new.name, plan.clone(), actor, now).await?
        }
        KeyOwner::Account(id) => {
            let account = accounts::find(&mut transaction, *id).await?;
            check_number(&mut transaction, inner, *id, now).await?;
            account
        }
    };
    let created = insert(&mut transaction, &new, account.id, account.plan, now).await?;
    let NewKey { limits, admin, management, expires_at, .. } = new;
    let expiry = expires_at.and_then(time_text).map(|at| format!(" expires_at={at}")).unwrap_or_default();
    let limits = limits_text(limits);
    let detail = format!("account={} admin={admin} management={management} {limits}{expiry}", account.id);
    audit(&mut transaction, now, actor, "create", format!("key:{}", created.record.id), detail).await?;
    transaction.commit().await?;
    Ok(created)
}

pub(super) fn limits_text(limits: WindowLimits) -> String {
    let text = |limit: Option<u32>| limit.map_or_else(|| "plan".to_owned(), |limit| limit.to_string());
    format!("per_minute={} per_day={}", text(limits.per_minute), text(limits.per_day))
}

/// Refuses a further key where the plan's number is reached. A key in its grace after a reroll has a successor that counts.
async fn check_number(
    connection: &mut Session,
    inner: &Inner,
    account: AccountId,
    now: UnixMillis,
) -> Result<(), AccessError> {
    let plan = accounts::find(connection, account).await?.plan;
    let terms = inner.plans.terms(&plan).or_else(|| inner.plans.terms(&crate::Plan::FREE));
    let Some(max) = terms.and_then(|terms| terms.keys_max) else { return Ok(()) };
    let active: i64 = query(
        "SELECT COUNT(*) AS active FROM api_key WHERE account = $1 AND revoked_at IS NULL AND is_replaced = 0 AND (expires_at IS NULL OR expires_at > $2)",
    )
    .bind(account.0)
    .bind(now)
    .fetch_one(connection)
    .await?
    .get("active")?;
    if active >= i64::from(max) { Err(AccessError::KeyLimit { max }) } else { Ok(()) }
}

pub(super) async fn list(inner: &Inner, account: Option<AccountId>) -> Result<Vec<KeyRecord>, AccessError> {
    inner.flush().await?;
    let rows = match account {
        None => {
            query_of(format!("{COLUMNS} ORDER BY api_key.id")).fetch_all(&mut inner.database.session().await?).await?
        }
        Some(account) => {
            query_of(format!("{COLUMNS} WHERE api_key.account = $1 ORDER BY api_key.id"))
                .bind(account.0)
                .fetch_all(&mut inner.database.session().await?)
                .await?
        }
    };
    rows.iter().map(record).collect()
}

pub(super) async fn revoke(
    inner: &Inner,
    selector: &KeySelector,
    actor: &str,
    now: UnixMillis,
) -> Result<KeyRecord, AccessError> {
    let mut transaction = inner.database.begin().await?;
    let mut found = find(&mut transaction, selector).await?;
    if found.revoked_at.is_none() {
        query("UPDATE api_key SET revoked_at = $1 WHERE id = $2")
            .bind(now)
            .bind(found.id.0)
            .execute(&mut transaction)
            .await?;
        audit(&mut transaction, now, actor, "revoke", format!("key:{}", found.id), String::new()).await?;
        found.revoked_at = Some(now);
    }
    transaction.commit().await?;
    inner.cache.invalidate();
    Ok(found)
}

pub(super) async fn reroll(
    inner: &Inner,
    selector: &KeySelector,
    grace: Grace,
    actor: &str,
    now: UnixMillis,
) -> Result<CreatedKey, AccessError> {
    let mut transaction = inner.database.begin().await?;
    let old = find(&mut transaction, selector).await?;
    if !old.is_active(now) {
        return Err(AccessError::Inactive);
    }
    if grace.is_one_at_a_time {
        check_grace(&mut transaction, &old, grace, now).await?;
    }
    // A key in its grace has a successor already; another one must not slip past the number of keys of the plan.
    if old.is_replaced {
        check_number(&mut transaction, inner, old.account, now).await?;
    }
    let new = NewKey {
        limits: old.limits,
        admin: old.admin,
        management: old.management,
        expires_at: old.own_expires_at,
        ..NewKey::in_account(old.name.clone(), old.account)
    };
    let created = insert(&mut transaction, &new, old.account, old.plan.clone(), now).await?;
    let grace_ms = i64::try_from(grace.span.as_millis()).unwrap_or(i64::MAX);
    let ends = now.saturating_add(grace_ms).min(old.expires_at.unwrap_or(i64::MAX));
    let statement = if ends <= now {
        "UPDATE api_key SET revoked_at = $1, is_replaced = 1 WHERE id = $2"
    } else {
        "UPDATE api_key SET expires_at = $1, is_replaced = 1 WHERE id = $2"
    };
    query(statement).bind(ends).bind(old.id.0).execute(&mut transaction).await?;
    let detail = format!("new=key:{} grace_ms={grace_ms}", created.record.id);
    audit(&mut transaction, now, actor, "reroll", format!("key:{}", old.id), detail).await?;
    transaction.commit().await?;
    inner.cache.invalidate();
    Ok(created)
}

/// Refuses a reroll by which an account would have a second rerolled key that still works.
async fn check_grace(
    connection: &mut Session,
    old: &KeyRecord,
    grace: Grace,
    now: UnixMillis,
) -> Result<(), AccessError> {
    if old.is_replaced {
        return Err(AccessError::RerolledBefore);
    }
    if grace.span.is_zero() {
        return Ok(());
    }
    let in_grace: i64 = query(
        "SELECT COUNT(*) AS in_grace FROM api_key WHERE account = $1 AND revoked_at IS NULL AND is_replaced = 1 AND (expires_at IS NULL OR expires_at > $2)",
    )
    .bind(old.account.0)
    .bind(now)
    .fetch_one(connection)
    .await?
    .get("in_grace")?;
    if in_grace > 0 { Err(AccessError::OtherInGrace) } else { Ok(()) }
}

/// The record of an active key. Unknown, revoked and expired ones are never cached, so that each of them costs the same
/// look-up and the time of an answer does not reveal which it was.
pub(super) async fn authenticate(
    inner: &Inner,
    key: &ApiKey,
    now: UnixMillis,
) -> Result<Option<Arc<KeyRecord>>, AccessError> {
    let digest = key.digest();
    let generation = match inner.cache.keys.get(&digest) {
        Ok(found) if found.is_active(now) && inner.counting.may_recall() => return Ok(Some(found)),
        Ok(_) => inner.cache.keys.remove(&digest),
        Err(generation) => generation,
    };
    let mut connection = inner.database.session().await?;
    let Some(found) = active_by_digest(&mut connection, &digest, now).await? else { return Ok(None) };
    let found = Arc::new(found);
    inner.cache.keys.insert(digest, Arc::clone(&found), generation);
    Ok(Some(found))
}

async fn find(connection: &mut Session, selector: &KeySelector) -> Result<KeyRecord, AccessError> {
    let found = match selector {
        KeySelector::Id(id) => query_of(format!("{COLUMNS} WHERE api_key.id = $1"))
            .bind(id.0)
            .fetch_optional(connection)
            .await?
            .map(|row| record(&row))
            .transpose()?,
        KeySelector::Key(key) => by_digest(connection, &key.digest()).await?,
    };
    found.ok_or(AccessError::NoSuchKey)
}

/// Looks up by the first bytes of the digest and compares the whole of it in constant time.
async fn by_digest(connection: &mut Session, digest: &KeyDigest) -> Result<Option<KeyRecord>, AccessError> {
    let rows = query_of(format!("{COLUMNS} WHERE substr(digest, 1, 8) = $1"))
        .bind(digest.tag().to_vec())
        .fetch_all(connection)
        .await?;
    equal_to(digest, &rows)
}

/// As [`by_digest`], for an active key. The database itself leaves out the others: a row on its way to us takes time by
/// which a revoked key could be distinguished from an unknown one.
async fn active_by_digest(
    connection: &mut Session,
    digest: &KeyDigest,
    now: UnixMillis,
) -> Result<Option<KeyRecord>, AccessError> {
    let statement = format!(
        "{COLUMNS} WHERE substr(digest, 1, 8) = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)"
    );
    let rows = query_of(statement).bind(digest.tag().to_vec()).bind(now).fetch_all(connection).await?;
    equal_to(digest, &rows)
}

fn equal_to(digest: &KeyDigest, rows: &[Row]) -> Result<Option<KeyRecord>, AccessError> {
    let mut found = None;
    for row in rows {
        let stored: Vec<u8> = row.get("digest")?;
        if bool::from(stored.ct_eq(&digest.0)) {
            found = Some(record(row)?);
        }
    }
    Ok(found)
}

pub(super) fn limits(row: &Row) -> Result<WindowLimits, AccessError> {
    Ok(WindowLimits { per_minute: row.get("per_minute")?, per_day: row.get("per_day")? })
}

fn record(row: &Row) -> Result<KeyRecord, AccessError> {
    Ok(KeyRecord {
        id: KeyId(row.get("id")?),
        account: AccountId(row.get("account")?),
        name: row.get("name")?,
        prefix: row.get("prefix")?,
        plan: plan_of(row)?,
        limits: limits(row)?,
        admin: row.get("admin")?,
        management: row.get("management")?,
        created_at: row.get("created_at")?,
        last_used_at: row.get("last_used_at")?,
        request_count: row.get("request_count")?,
        expires_at: row.get("expires_at")?,
        own_expires_at: row.get("own_expires_at")?,
        is_replaced: row.get("is_replaced")?,
        revoked_at: row.get("revoked_at")?,
    })
}

async fn insert(
    connection: &mut Session,
    new: &NewKey,
    account: AccountId,
    plan: crate::Plan,
    now: UnixMillis,
) -> Result<CreatedKey, AccessError> {
    let key = ApiKey::generate()?;
    let id = query(
        "INSERT INTO api_key (account, name, prefix, digest, per_minute, per_day, admin, management, created_at, expires_at, own_expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) RETURNING id",
    )
    .bind(account.0)
    .bind(&new.name)
    .bind(key.prefix())
    .bind(key.digest().0.to_vec())
    .bind(new.limits.per_minute)
    .bind(new.limits.per_day)
    .bind(i64::from(new.admin))
    .bind(i64::from(new.management))
    .bind(now)
    .bind(new.expires_at)
    .fetch_one(connection)
    .await?
    .get("id")?;
    let record = KeyRecord {
        id: KeyId(id),
        account,
        name: new.name.clone(),
        prefix: key.prefix(),
        plan,
        limits: new.limits,
        admin: new.admin,
        management: new.management,
        created_at: now,
        last_used_at: None,
        request_count: 0,
        expires_at: new.expires_at,
        own_expires_at: new.expires_at,
        is_replaced: false,
        revoked_at: None,
    };
    Ok(CreatedKey { key, record })
}
