use paraffin_database::{Row, Session, query};

use super::{Inner, clock};
use crate::script::{ANONYMOUS_BELOW, ANONYMOUS_PART, ANONYMOUS_TIMES};
use crate::{AccessError, ScriptHash, ScriptLimits, ScriptOwner};

/// Age after which a script of an anonymous caller may be evicted for others.
const WEEK_MS: i64 = 7 * 24 * 3_600 * 1_000;

pub(super) async fn save(
    inner: &Inner,
    owner: ScriptOwner,
    hash: ScriptHash,
    source: &str,
    limits: ScriptLimits,
) -> Result<(), AccessError> {
    let account = owner.number();
    if source.len() as u64 > limits.bytes_max {
        return Ok(());
    }
    let is_anonymous = ScriptOwner::is_anonymous(account);
    let whole = limits;
    let limits = if is_anonymous { limits.part(ANONYMOUS_PART) } else { limits };
    if source.len() as u64 > limits.bytes_max {
        return Ok(());
    }
    let bytes = i64::try_from(source.len()).unwrap_or(i64::MAX);
    // For anonymous callers `turn` is the time of the save, since its age decides; for others only the order counts.
    let least_turn = if is_anonymous { clock() } else { 0 };
    let mut transaction = inner.database.begin().await?;
    query("INSERT INTO script (hash, source) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING")
        .bind(hash.as_slice())
        .bind(source.as_bytes())
        .execute(&mut transaction)
        .await?;
    query(
        "INSERT INTO script_owner (account, hash, bytes, turn) \
         VALUES ($1, $2, $3, (SELECT COALESCE(MAX(turn) + 1, $4) FROM script_owner WHERE account = $1)) \
         ON CONFLICT (account, hash) DO UPDATE SET turn = excluded.turn",
    )
    .bind(account)
    .bind(hash.as_slice())
    .bind(bytes)
    .bind(least_turn)
    .execute(&mut transaction)
    .await?;
    evict_oldest(&mut transaction, account, limits).await?;
    if is_anonymous {
        evict_anonymous(&mut transaction, whole.times(ANONYMOUS_TIMES), clock() - WEEK_MS).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Where anonymous callers exceed their common limits, evicts scripts that were not saved again since `old`, the oldest first.
///
/// # Errors
/// [`AccessError::ScriptsFull`] when that is not enough.
async fn evict_anonymous(connection: &mut Session, limits: ScriptLimits, old: i64) -> Result<(), AccessError> {
    let oldest_first =
        "SELECT account, hash, bytes, turn FROM script_owner WHERE account = 0 OR account <= $1 ORDER BY turn";
    let rows = query(oldest_first).bind(ANONYMOUS_BELOW).fetch_all(connection).await?;
    let bytes_of = |row: &Row| Ok::<_, AccessError>(u64::try_from(row.get::<i64>("bytes")?).unwrap_or(0));
    let mut count = rows.len();
    let mut total = 0_u64;
    for row in &rows {
        total = total.saturating_add(bytes_of(row)?);
    }
    for row in &rows {
        if count <= limits.scripts_max as usize && total <= limits.bytes_max {
            return Ok(());
        }
        if row.get::<i64>("turn")? > old {
            return Err(AccessError::ScriptsFull);
        }
        let hash: Vec<u8> = row.get("hash")?;
        remove(connection, row.get("account")?, &hash).await?;
        count -= 1;
        total = total.saturating_sub(bytes_of(row)?);
    }
    Ok(())
}

/// Removes a script from an owner, and deletes it when no owner has it any more.
async fn remove(connection: &mut Session, account: i64, hash: &[u8]) -> Result<(), AccessError> {
    query("DELETE FROM script_owner WHERE account = $1 AND hash = $2")
        .bind(account)
        .bind(hash)
        .execute(connection)
        .await?;
    query("DELETE FROM script WHERE hash = $1 AND NOT EXISTS (SELECT 1 FROM script_owner WHERE hash = $1)")
        .bind(hash)
        .execute(connection)
        .await?;
    Ok(())
}

/// Removes an owner's oldest scripts until the rest is within the limits, and deletes those that no owner has any more.
async fn evict_oldest(connection: &mut Session, account: i64, limits: ScriptLimits) -> Result<(), AccessError> {
    let newest_first = "SELECT hash, bytes FROM script_owner WHERE account = $1 ORDER BY turn DESC";
    let rows = query(newest_first).bind(account).fetch_all(connection).await?;
    let (mut count, mut total) = (0_u32, 0_u64);
    for row in &rows {
        let hash: Vec<u8> = row.get("hash")?;
        let bytes: i64 = row.get("bytes")?;
        count += 1;
        total = total.saturating_add(u64::try_from(bytes).unwrap_or(0));
        if count <= limits.scripts_max && total <= limits.bytes_max {
            continue;
        }
        remove(connection, account, &hash).await?;
    }
    Ok(())
}

pub(super) async fn find(inner: &Inner, hash: ScriptHash) -> Result<Option<String>, AccessError> {
    let row = query("SELECT source FROM script WHERE hash = $1")
        .bind(hash.as_slice())
        .fetch_optional(&mut inner.database.session().await?)
        .await?;
    let source = row.map(|row| row.get("source")).transpose()?;
    let damaged = |_| AccessError::Unavailable("a saved script is damaged".to_owned());
    source.map(|source| String::from_utf8(source).map_err(damaged)).transpose()
}
