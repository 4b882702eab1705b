//! Exchange of counts between memory and the store.

use std::collections::HashMap;

use paraffin_database::{Query, Row, Session, query, query_of};

use super::{Inner, usage};
use crate::usage::{Use, UseKey};
use crate::windows::{DAY_MS, WindowState};
use crate::{AccessError, UnixMillis, Used};

/// Rows of one statement.
pub(super) const ROWS_MAX: usize = 200;

/// Adds the counts of this process; where another one is already in a later window, ours has ended.
const ADD: &str = "ON CONFLICT (subject) DO UPDATE SET \
    minute_count = CASE WHEN excluded.minute = window_count.minute THEN window_count.minute_count + excluded.minute_count \
    WHEN excluded.minute > window_count.minute THEN excluded.minute_count ELSE window_count.minute_count END, \
    day_count = CASE WHEN excluded.day = window_count.day THEN window_count.day_count + excluded.day_count \
    WHEN excluded.day > window_count.day THEN excluded.day_count ELSE window_count.day_count END, \
    minute = CASE WHEN excluded.minute > window_count.minute THEN excluded.minute ELSE window_count.minute END, \
    day = CASE WHEN excluded.day > window_count.day THEN excluded.day ELSE window_count.day END \
    RETURNING subject, minute, minute_count, day, day_count";

/// Adds to the usage that lists report for keys, aliases or origins.
const USE: &str = "SET request_count = request_count + used.column2, last_used_at = \
    CASE WHEN last_used_at IS NULL OR last_used_at < used.column3 THEN used.column3 ELSE last_used_at END";

fn count(row: &Row) -> Result<(i64, WindowState), AccessError> {
    let counted = WindowState {
        minute: row.get("minute")?,
        minute_count: row.get("minute_count")?,
        day: row.get("day")?,
        day_count: row.get("day_count")?,
        ..WindowState::default()
    };
    Ok((row.get("subject")?, counted))
}

/// `($1, $2), ($3, $4)`: the values of so many rows.
pub(super) fn rows(count: usize, columns: usize) -> String {
    let row = |row: usize| {
        let values: Vec<String> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", values.join(", "))
    };
    (0..count).map(row).collect::<Vec<_>>().join(", ")
}

/// Takes the counts of today into memory.
pub(super) async fn load(inner: &Inner, now: UnixMillis) -> Result<(), AccessError> {
    let today = now.max(0) / DAY_MS;
    let mut session = inner.database.session().await?;
    query("DELETE FROM window_count WHERE day < $1").bind(today - 1).execute(&mut session).await?;
    for (subject, counted) in stored(&mut session, today).await? {
        inner.counting.learn(subject, counted);
    }
    Ok(())
}

/// The counts of today in the database, of all processes.
#[cfg(feature = "redis")]
pub(super) async fn today(inner: &Inner, now: UnixMillis) -> Result<Vec<(i64, WindowState)>, AccessError> {
    stored(&mut inner.database.session().await?, now.max(0) / DAY_MS).await
}

/// The counts of a day and later ones.
async fn stored(session: &mut Session, day: i64) -> Result<Vec<(i64, WindowState)>, AccessError> {
    let rows = query("SELECT subject, minute, minute_count, day, day_count FROM window_count WHERE day >= $1")
        .bind(day)
        .fetch_all(session)
        .await?;
    rows.iter().map(count).collect()
}

/// Writes the pending counts and reads those of other processes.
pub(super) async fn flush(inner: &Inner) -> Result<(), AccessError> {
    let _flushing = inner.flushing.lock().await;
    let uses = inner.pending.take();
    let taken = inner.counting.take();
    if uses.is_empty() && taken.is_empty() {
        return Ok(());
    }
    let written = async {
        let mut transaction = inner.database.begin().await?;
        write_uses(&mut transaction, &uses).await?;
        usage::write(&mut transaction, &uses).await?;
        let mut totals = Vec::with_capacity(taken.len());
        for part in taken.chunks(ROWS_MAX) {
            let values = rows(part.len(), 5);
            let columns = "INSERT INTO window_count (subject, minute, minute_count, day, day_count) VALUES";
            let mut add = query_of(format!("{columns} {values} {ADD}")).once();
            for (subject, counted) in part {
                let WindowState { minute, minute_pending, day, day_pending, .. } = *counted;
                add = add.bind(*subject).bind(minute).bind(minute_pending).bind(day).bind(day_pending);
            }
            for row in add.fetch_all(&mut transaction).await? {
                totals.push(count(&row)?);
            }
        }
        transaction.commit().await?;
        Ok::<_, AccessError>(totals)
    }
    .await;
    match written {
        Ok(totals) => {
            for (subject, total) in totals {
                inner.counting.learn(subject, total);
            }
            Ok(())
        }
        Err(error) => {
            inner.pending.restore(uses);
            inner.counting.restore(&taken);
            Err(error)
        }
    }
}

async fn write_uses(session: &mut Session, uses: &HashMap<UseKey, Use>) -> Result<(), AccessError> {
    type OfTable = fn(&Used) -> bool;
    // Number of requests and the last of them, of all surfaces and days together.
    let mut totals: HashMap<Used, (i64, UnixMillis)> = HashMap::new();
    for (key, by) in uses {
        let (requests, last_used_at) = totals.entry(key.used).or_insert((0, by.last_used_at));
        *requests += by.counts.requests;
        *last_used_at = by.last_used_at.max(*last_used_at);
    }
    let tables: [(&str, OfTable); 3] = [
        ("api_key", |used| matches!(used, Used::Key(_))),
        ("alias", |used| matches!(used, Used::Alias(_))),
        ("origin", |used| matches!(used, Used::Origin(_))),
    ];
    for (table, is_of) in tables {
        let of_table: Vec<_> = totals.iter().filter(|(used, _)| is_of(used)).collect();
        for part in of_table.chunks(ROWS_MAX) {
            let values = rows(part.len(), 3);
            let text = format!("UPDATE {table} {USE} FROM (VALUES {values}) AS used WHERE {table}.id = used.column1");
            let bind = |add: Query, (used, (requests, last_used_at)): &(&Used, &(i64, UnixMillis))| {
                add.bind(used.number()).bind(*requests).bind(*last_used_at)
            };
            part.iter().fold(query_of(text).once(), bind).execute(session).await?;
        }
    }
    Ok(())
}
