use paraffin_database::{Row, Session, query};

use super::{Inner, audit};
use crate::{AccessError, AccountId, AccountRecord, Plan, UnixMillis};

pub(super) fn plan_of(row: &Row) -> Result<Plan, AccessError> {
    let plan: String = row.get("plan")?;
    plan.parse().map_err(|_| AccessError::Unavailable("an account has a plan without a valid name".to_owned()))
}

fn record(row: &Row) -> Result<AccountRecord, AccessError> {
    Ok(AccountRecord {
        id: AccountId(row.get("id")?),
        name: row.get("name")?,
        plan: plan_of(row)?,
        created_at: row.get("created_at")?,
    })
}

fn check_plan(inner: &Inner, plan: &Plan) -> Result<(), AccessError> {
    if inner.plans.terms(plan).is_some() {
        return Ok(());
    }
    let known = inner.plans.iter().map(|(known, _)| known.name().to_owned()).collect::<Vec<_>>().join(", ");
    Err(AccessError::UnknownPlan { plan: plan.clone(), known })
}

pub(super) async fn insert(
    connection: &mut Session,
    inner: &Inner,
    name: &str,
    plan: Plan,
    actor: &str,
    now: UnixMillis,
) -> Result<AccountRecord, AccessError> {
    crate::record::check_name(name)?;
    check_plan(inner, &plan)?;
    let id = query("INSERT INTO account (name, plan, created_at) VALUES ($1, $2, $3) RETURNING id")
        .bind(name)
        .bind(plan.name())
        .bind(now)
        .fetch_one(connection)
        .await?
        .get("id")?;
    audit(connection, now, actor, "create", format!("account:{id}"), format!("plan={plan}")).await?;
    Ok(AccountRecord { id: AccountId(id), name: name.to_owned(), plan, created_at: now })
}

pub(super) async fn find(connection: &mut Session, id: AccountId) -> Result<AccountRecord, AccessError> {
    let row = query("SELECT id, name, plan, created_at FROM account WHERE id = $1")
        .bind(id.0)
        .fetch_optional(connection)
        .await?;
    record(&row.ok_or(AccessError::NoSuchAccount)?)
}

pub(super) async fn create(
    inner: &Inner,
    name: &str,
    plan: Plan,
    actor: &str,
    now: UnixMillis,
) -> Result<AccountRecord, AccessError> {
    let mut transaction = inner.database.begin().await?;
    let created = insert(&mut transaction, inner, name, plan, actor, now).await?;
    transaction.commit().await?;
    Ok(created)
}

pub(super) async fn list(inner: &Inner) -> Result<Vec<AccountRecord>, AccessError> {
    let rows = query("SELECT id, name, plan, created_at FROM account ORDER BY id")
        .fetch_all(&mut inner.database.session().await?)
        .await?;
    rows.iter().map(record).collect()
}

pub(super) async fn set_plan(
    inner: &Inner,
    id: AccountId,
    plan: Plan,
    actor: &str,
    now: UnixMillis,
) -> Result<AccountRecord, AccessError> {
    check_plan(inner, &plan)?;
    let mut transaction = inner.database.begin().await?;
    let found = find(&mut transaction, id).await?;
    query("UPDATE account SET plan = $1 WHERE id = $2").bind(plan.name()).bind(id.0).execute(&mut transaction).await?;
    let detail = format!("from={} to={plan}", found.plan);
    audit(&mut transaction, now, actor, "plan", format!("account:{id}"), detail).await?;
    transaction.commit().await?;
    inner.cache.invalidate();
    Ok(AccountRecord { plan, ..found })
}
