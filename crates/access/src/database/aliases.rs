use std::sync::Arc;

use paraffin_database::{Row, Session, query, query_of};

use super::accounts::{self, plan_of};
use super::keys::{limits, limits_text};
use super::{Inner, audit};
use crate::{AccessError, AccountId, AliasId, AliasRecord, NewAlias, UnixMillis, is_alias_name};

const COLUMNS: &str = "SELECT alias.id, alias.account, plan, alias.name, surfaces, per_minute, per_day, alias.created_at, last_used_at, request_count FROM alias JOIN account ON account.id = alias.account";

fn record(row: &Row) -> Result<AliasRecord, AccessError> {
    let surfaces: String = row.get("surfaces")?;
    Ok(AliasRecord {
        id: AliasId(row.get("id")?),
        account: AccountId(row.get("account")?),
        plan: plan_of(row)?,
        name: row.get("name")?,
        surfaces: surfaces.split(',').map(ToOwned::to_owned).collect(),
        limits: limits(row)?,
        created_at: row.get("created_at")?,
        last_used_at: row.get("last_used_at")?,
        request_count: row.get("request_count")?,
    })
}

async fn by_name(connection: &mut Session, name: &str) -> Result<Option<AliasRecord>, AccessError> {
    let row = query_of(format!("{COLUMNS} WHERE alias.name = $1")).bind(name).fetch_optional(connection).await?;
    row.map(|row| record(&row)).transpose()
}

pub(super) async fn create(
    inner: &Inner,
    new: NewAlias,
    actor: &str,
    now: UnixMillis,
) -> Result<AliasRecord, AccessError> {
    new.check()?;
    let mut transaction = inner.database.begin().await?;
    let account = accounts::find(&mut transaction, new.account).await?;
    if by_name(&mut transaction, &new.name).await?.is_some() {
        return Err(AccessError::AliasTaken);
    }
    if let Some(max) = new.count_max {
        // In the write transaction, which is serialized: concurrent calls do not exceed the limit.
        let count: i64 = query("SELECT COUNT(*) AS count FROM alias WHERE account = $1")
            .bind(account.id.0)
            .fetch_one(&mut transaction)
            .await?
            .get("count")?;
        if count >= i64::from(max) {
            return Err(AccessError::AliasLimit { max });
        }
    }
    let surfaces = new.surfaces.join(",");
    let id = query(
        "INSERT INTO alias (account, name, surfaces, per_minute, per_day, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
    )
    .bind(account.id.0)
    .bind(&new.name)
    .bind(&surfaces)
    .bind(new.limits.per_minute)
    .bind(new.limits.per_day)
    .bind(now)
    .fetch_one(&mut transaction)
    .await?
    .get("id")?;
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
    let rows = query_of(format!("{COLUMNS} ORDER BY alias.id")).fetch_all(&mut inner.database.session().await?).await?;
    rows.iter().map(record).collect()
}

pub(super) async fn remove(
    inner: &Inner,
    name: &str,
    actor: &str,
    now: UnixMillis,
) -> Result<AliasRecord, AccessError> {
    let mut transaction = inner.database.begin().await?;
    let found = by_name(&mut transaction, name).await?.ok_or(AccessError::NoSuchAlias)?;
    query("DELETE FROM alias WHERE id = $1").bind(found.id.0).execute(&mut transaction).await?;
    let detail = format!("name={}", found.name);
    audit(&mut transaction, now, actor, "remove", format!("alias:{}", found.id.0), detail).await?;
    transaction.commit().await?;
    inner.cache.invalidate();
    Ok(found)
}

pub(super) async fn look_up(inner: &Inner, name: &str) -> Result<Option<Arc<AliasRecord>>, AccessError> {
    if !is_alias_name(name) {
        return Ok(None);
    }
    let generation = match inner.cache.aliases.get(name) {
        Ok(found) if inner.counting.may_recall() => return Ok(Some(found)),
        Ok(_) => inner.cache.aliases.remove(name),
        Err(generation) => generation,
    };
    let mut connection = inner.database.session().await?;
    let found = by_name(&mut connection, name).await?.map(Arc::new);
    if let Some(found) = &found {
        inner.cache.aliases.insert(name.to_owned(), Arc::clone(found), generation);
    }
    Ok(found)
}
