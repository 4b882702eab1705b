use paraffin_database::{Session, query};

use super::Inner;
use crate::{AccessError, ScriptHash, ScriptLimits, ScriptOwner};

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
    let bytes = i64::try_from(source.len()).unwrap_or(i64::MAX);
    let mut transaction = inner.database.begin().await?;
    query("INSERT INTO script (hash, source) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING")
        .bind(hash.as_slice())
        .bind(source.as_bytes())
        .execute(&mut transaction)
        .await?;
    query(
        "INSERT INTO script_owner (account, hash, bytes, turn) \
         VALUES ($1, $2, $3, (SELECT COALESCE(MAX(turn), 0) + 1 FROM script_owner WHERE account = $1)) \
         ON CONFLICT (account, hash) DO UPDATE SET turn = excluded.turn",
    )
    .bind(account)
    .bind(hash.as_slice())
    .bind(bytes)
    .execute(&mut transaction)
    .await?;
    make_room(&mut transaction, account, limits).await?;
    transaction.commit().await?;
    Ok(())
}

/// Takes from an owner what it saved longest ago until the rest is within the limits, and lets go what nobody has any more.
async fn make_room(connection: &mut Session, account: i64, limits: ScriptLimits) -> Result<(), AccessError> {
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
        query("DELETE FROM script_owner WHERE account = $1 AND hash = $2")
            .bind(account)
            .bind(&hash)
            .execute(connection)
            .await?;
        query("DELETE FROM script WHERE hash = $1 AND NOT EXISTS (SELECT 1 FROM script_owner WHERE hash = $1)")
            .bind(&hash)
            .execute(connection)
            .await?;
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
