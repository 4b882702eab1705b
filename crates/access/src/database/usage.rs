//! Requests by day, caller and surface in the database.

use std::collections::HashMap;

use paraffin_database::{Row, Session, query, query_of};

use super::Inner;
use super::counts::{ROWS_MAX, rows};
use crate::usage::{Use, UseKey};
use crate::windows::MINUTE_MS;
use crate::{
    AccessError, AccountId, AccountUsage, CallerUsage, Granted, Subject, SurfaceUsage, USAGE_CALLERS_MAX,
    USAGE_DAYS_MAX, UnixMillis, UsageCounts, Used, utc_day,
};

const ADD: &str = "ON CONFLICT (account, day, kind, id, surface) DO UPDATE SET requests = usage_day.requests + excluded.requests, \
    rate_limited = usage_day.rate_limited + excluded.rate_limited, failed = usage_day.failed + excluded.failed";

const SUMS: &str = "CAST(SUM(requests) AS BIGINT) AS requests, CAST(SUM(rate_limited) AS BIGINT) AS rate_limited, \
    CAST(SUM(failed) AS BIGINT) AS failed FROM usage_day WHERE account = $1 AND day > $2 AND day <= $3";

/// Adds the counts of memory.
pub(super) async fn write(session: &mut Session, uses: &HashMap<UseKey, Use>) -> Result<(), AccessError> {
    let uses: Vec<_> = uses.iter().collect();
    for part in uses.chunks(ROWS_MAX) {
        let columns = "INSERT INTO usage_day (account, day, kind, id, surface, requests, rate_limited, failed) VALUES";
        let mut add = query_of(format!("{columns} {} {ADD}", rows(part.len(), 8))).once();
        for (UseKey { used, account, surface, day }, Use { counts, .. }) in part {
            add = add.bind(account.0).bind(*day).bind(used.kind()).bind(used.number()).bind(*surface);
            add = add.bind(counts.requests).bind(counts.rate_limited).bind(counts.failed);
        }
        add.execute(session).await?;
    }
    Ok(())
}

/// Deletes days beyond the retention.
pub(super) async fn prune(inner: &Inner, now: UnixMillis) -> Result<(), AccessError> {
    let first_kept = utc_day(now).saturating_sub(i64::from(USAGE_DAYS_MAX)).saturating_add(1);
    query("DELETE FROM usage_day WHERE day < $1")
        .bind(first_kept)
        .execute(&mut inner.database.session().await?)
        .await?;
    Ok(())
}

fn counts(row: &Row) -> Result<UsageCounts, AccessError> {
    Ok(UsageCounts {
        requests: row.get("requests")?,
        rate_limited: row.get("rate_limited")?,
        failed: row.get("failed")?,
    })
}

pub(super) async fn of_account(
    inner: &Inner,
    account: AccountId,
    days: u32,
    now: UnixMillis,
) -> Result<AccountUsage, AccessError> {
    inner.flush().await?;
    let today = utc_day(now);
    let before = today.saturating_sub(i64::from(days.min(USAGE_DAYS_MAX)));
    let mut session = inner.database.session().await?;
    let by_surface = format!("SELECT day, surface, {SUMS} GROUP BY day, surface ORDER BY day, surface");
    let found = query_of(by_surface).bind(account.0).bind(before).bind(today).fetch_all(&mut session).await?;
    let surface = |row: &Row| {
        Ok::<_, AccessError>(SurfaceUsage { day: row.get("day")?, surface: row.get("surface")?, counts: counts(row)? })
    };
    let surfaces = found.iter().map(surface).collect::<Result<_, _>>()?;
    let by_caller = format!("SELECT kind, id, {SUMS} GROUP BY kind, id ORDER BY 3 DESC, kind, id LIMIT $4");
    let found = query_of(by_caller)
        .bind(account.0)
        .bind(before)
        .bind(today)
        .bind(i64::from(USAGE_CALLERS_MAX))
        .fetch_all(&mut session)
        .await?;
    let mut callers = Vec::with_capacity(found.len());
    for row in &found {
        // A kind that a later version of the program introduced is skipped.
        if let Some(used) = Used::of(row.get("kind")?, row.get("id")?) {
            callers.push(CallerUsage { used, counts: counts(row)? });
        }
    }
    Ok(AccountUsage { surfaces, callers })
}

pub(super) async fn granted(inner: &Inner, account: AccountId, now: UnixMillis) -> Result<Vec<Granted>, AccessError> {
    /// The numbers are those of [`Subject::number`].
    const OF_ACCOUNT: &str = "SELECT subject, minute, minute_count, day_count FROM window_count WHERE day = $2 AND subject IN \
        (SELECT id * 4 FROM api_key WHERE account = $1 AND revoked_at IS NULL UNION ALL \
        SELECT id * 4 + 1 FROM alias WHERE account = $1 UNION ALL SELECT $3)";
    inner.flush().await?;
    let minute = now.div_euclid(MINUTE_MS);
    let rows = query(OF_ACCOUNT)
        .bind(account.0)
        .bind(utc_day(now))
        .bind(Subject::Origins(account).number())
        .fetch_all(&mut inner.database.session().await?)
        .await?;
    let mut granted = Vec::with_capacity(rows.len());
    for row in &rows {
        let Some(subject) = Subject::of(row.get("subject")?) else { continue };
        let in_minute = if row.get::<i64>("minute")? == minute { row.get("minute_count")? } else { 0 };
        granted.push(Granted { subject, in_minute, in_day: row.get("day_count")? });
    }
    Ok(granted)
}
