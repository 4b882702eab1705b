use std::sync::Arc;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use super::accounts::{self, plan_of};
use super::keys::{limits, limits_text};
use super::{Inner, audit};
use crate::{AccessError, AccountId, AliasId, AliasRecord, NewAlias, UnixMillis, is_alias_name};

const COLUMNS: &str = "SELECT alias.id, alias.account, plan, alias.name, surfaces, per_minute, per_day, alias.created_at, last_used_at, request_count FROM alias JOIN account ON account.id = alias.account";

fn record(row: &SqliteRow) -> Result<AliasRecord, AccessError> {
    let surfaces: String = row.try_get("surfaces")?;
    Ok(AliasRecord {
        id: AliasId(row.try_get("id")?),
        account: AccountId(row.try_get("account")?),
        plan: plan_of(row)?,
        name: row.try_get("name")?,
        surfaces: surfaces.split(',').map(ToOwned::to_owned).collect(),
        limits: limits(row)?,
        created_at: row.try_get("created_at")?,
        last_used_at: row.try_get("last_used_at")?,
        request_count: row.try_get("request_count")?,
    })
}

async fn by_name(connection: &mut SqliteConnection, name: &str) -> Result<Option<AliasRecord>, AccessError> {
    let row = sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE alias.name = $1")))
        .bind(name)
        .fetch_optional(connection)
        .await?;
    row.map(|row| record(&row)).transpose()
}

pub(super) async fn create(
    inner: &Inner,
    new: NewAlias,
    actor: &str,
    now: UnixMillis,
) -> Result<AliasRecord, AccessError> {
    new.check()?;
    let mut transaction = inner.pool.begin_with("BEGIN IMMEDIATE").await?;
    let account = accounts::find(&mut transaction, new.account).await?;
    if by_name(&mut transaction, &new.name).await?.is_some() {
        return Err(AccessError::AliasTaken);
    }
    let surfaces = new.surfaces.join(",");
    let id = sqlx::query(
        "INSERT INTO alias (account, name, surfaces, per_minute, per_day, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
    )
    .bind(account.id.0)
    .bind(&new.name)
    .bind(&surfaces)
    .bind(new.limits.per_minute)
    .bind(new.limits.per_day)
    .bind(now)
    .fetch_one(&mut *transaction)
    .await?
    .try_get(0)?;
    let detail = format!("account={} name={} surfaces={surfaces} {}", account.id, new.name, limits_text(new.limits));
    audit(&mut transaction, now, actor, "create", format!("alias:{id}"), detail).await?;
    transaction.commit().await?;
    Ok(AliasRecord {
        id: AliasId(id),
        account: account.id,
        plan: account.plan,
        name: new.name,
        surfaces: new.surfaces,
        limits: new.limits,
        created_at: now,
        last_used_at: None,
        request_count: 0,
    })
}

pub(super) async fn list(inner: &Inner) -> Result<Vec<AliasRecord>, AccessError> {
    inner.flush().await?;
    let rows = sqlx::query(sqlx::AssertSqlSafe(format!("{COLUMNS} ORDER BY alias.id"))).fetch_all(&inner.pool).await?;
    rows.iter().map(record).collect()
}

pub(super) async fn remove(
    inner: &Inner,
    name: &str,
    actor: &str,
    now: UnixMillis,
) -> Result<AliasRecord, AccessError> {
    let mut transaction = inner.pool.begin_with("BEGIN IMMEDIATE").await?;
    let found = by_name(&mut transaction, name).await?.ok_or(AccessError::NoSuchAlias)?;
    sqlx::query("DELETE FROM alias WHERE id = $1").bind(found.id.0).execute(&mut *transaction).await?;
    let detail = format!("name={}", found.name);
    audit(&mut transaction, now, actor, "remove", format!("alias:{}", found.id.0), detail).await?;
    transaction.commit().await?;
    inner.known.invalidate();
    Ok(found)
}

pub(super) async fn look_up(inner: &Inner, name: &str) -> Result<Option<Arc<AliasRecord>>, AccessError> {
    if !is_alias_name(name) {
        return Ok(None);
    }
    let generation = match inner.known.aliases.get(name) {
        Ok(found) => return Ok(Some(found)),
        Err(generation) => generation,
    };
    let mut connection = inner.pool.acquire().await?;
    let found = by_name(&mut connection, name).await?.map(Arc::new);
    if let Some(found) = &found {
        inner.known.aliases.insert(name.to_owned(), Arc::clone(found), generation);
    }
    Ok(found)
}
