//! What is counted in memory, on its way to the store and back.

use sqlx::{Row as _, SqliteConnection};

use super::Inner;
use crate::windows::WindowState;
use crate::{AccessError, UnixMillis, Used};

const DAY_MS: i64 = 86_400_000;

/// Adds what this process counted; where another one is already in a later window, ours is over.
const ADD: &str = "INSERT INTO window_count (subject, minute, minute_count, day, day_count) VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (subject) DO UPDATE SET \
    minute_count = CASE WHEN excluded.minute = minute THEN minute_count + excluded.minute_count WHEN excluded.minute > minute THEN excluded.minute_count ELSE minute_count END, \
    day_count = CASE WHEN excluded.day = day THEN day_count + excluded.day_count WHEN excluded.day > day THEN excluded.day_count ELSE day_count END, \
    minute = MAX(minute, excluded.minute), day = MAX(day, excluded.day) \
    RETURNING minute, minute_count, day, day_count";

fn count(row: &sqlx::sqlite::SqliteRow) -> Result<WindowState, sqlx::Error> {
    Ok(WindowState {
        minute: row.try_get("minute")?,
        minute_count: row.try_get("minute_count")?,
        day: row.try_get("day")?,
        day_count: row.try_get("day_count")?,
        ..WindowState::default()
    })
}

/// Takes the counts of today into memory.
pub(super) async fn load(inner: &Inner, now: UnixMillis) -> Result<(), AccessError> {
    let today = now.max(0) / DAY_MS;
    let mut connection = inner.pool.acquire().await?;
    sqlx::query("DELETE FROM window_count WHERE day < $1").bind(today - 1).execute(&mut *connection).await?;
    let rows = sqlx::query("SELECT subject, minute, minute_count, day, day_count FROM window_count WHERE day >= $1")
        .bind(today)
        .fetch_all(&mut *connection)
        .await?;
    for row in &rows {
        inner.windows.set(row.try_get("subject")?, count(row)?);
    }
    Ok(())
}

/// Writes what was counted since the last time and takes in what other processes counted.
pub(super) async fn flush(inner: &Inner) -> Result<(), AccessError> {
    let _flushing = inner.flushing.lock().await;
    let uses = inner.pending.take();
    let taken = inner.windows.take();
    if uses.is_empty() && taken.is_empty() {
        return Ok(());
    }
    let written = async {
        let mut transaction = inner.pool.begin_with("BEGIN IMMEDIATE").await?;
        for (used, by) in &uses {
            write_use(&mut transaction, *used, by.count, by.last_used_at).await?;
        }
        let mut totals = Vec::with_capacity(taken.len());
        for (subject, counted) in &taken {
            let row = sqlx::query(ADD)
                .bind(*subject)
                .bind(counted.minute)
                .bind(counted.minute_pending)
                .bind(counted.day)
                .bind(counted.day_pending)
                .fetch_one(&mut *transaction)
                .await?;
            totals.push((*subject, count(&row)?));
        }
        transaction.commit().await?;
        Ok::<_, sqlx::Error>(totals)
    }
    .await;
    match written {
        Ok(totals) => {
            for (subject, total) in totals {
                inner.windows.set(subject, total);
            }
            Ok(())
        }
        Err(error) => {
            inner.pending.restore(uses);
            inner.windows.restore(&taken);
            Err(error.into())
        }
    }
}

async fn write_use(
    connection: &mut SqliteConnection,
    used: Used,
    count: i64,
    last_used_at: UnixMillis,
) -> Result<(), sqlx::Error> {
    let (statement, id) = match used {
        Used::Key(id) => (
            "UPDATE api_key SET request_count = request_count + $1, last_used_at = MAX(COALESCE(last_used_at, 0), $2) WHERE id = $3",
            id.0,
        ),
        Used::Alias(id) => (
            "UPDATE alias SET request_count = request_count + $1, last_used_at = MAX(COALESCE(last_used_at, 0), $2) WHERE id = $3",
            id.0,
        ),
        Used::Origin(id) => (
            "UPDATE origin SET request_count = request_count + $1, last_used_at = MAX(COALESCE(last_used_at, 0), $2) WHERE id = $3",
            id.0,
        ),
    };
    sqlx::query(statement).bind(count).bind(last_used_at).bind(id).execute(connection).await?;
    Ok(())
}
