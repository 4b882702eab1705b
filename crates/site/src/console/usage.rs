//! Requests of an account: by day and surface, by caller, and the rest of its plan.

use std::collections::HashMap;
use std::sync::Arc;

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{IntoResponse, Response};
use paraffin_access::{
    AccountRecord, AccountUsage, AliasRecord, Granted, KeyRecord, OriginRecord, Subject, USAGE_DAYS_MAX, UnixMillis,
    UsageCounts, Used, WindowLimits, utc_day,
};

use super::keys::Wanted;
use super::usage_chart::{Chart, numbers};
use super::{AccountPage, account_page, framed, no_account};
use crate::SiteParts;
use crate::failure::Failure;
use crate::html::{Frame, Page, grouped, moment_or};
use crate::visitor::Visitor;

/// Days of the chart and of the tables.
const DAYS: u32 = 30;

/// Callers in the table.
const ROWS_MAX: usize = 200;

struct Row {
    kind: &'static str,
    name: String,
    requests: i64,
    numbers: [String; 3],
    last_used: String,
    /// Remaining requests of the clock minute and of the UTC day; empty for a caller that is refused.
    left: [String; 2],
}

#[derive(Template)]
#[template(path = "usage.html")]
pub(super) struct UsagePage {
    frame: Frame,
    account: AccountRecord,
    choices: Vec<AccountRecord>,
    days: u32,
    days_kept: u32,
    chart: Chart,
    rows: Vec<Row>,
    /// Number of callers that are not shown.
    left_out: usize,
}

/// The callers of the account and their usage.
struct Callers {
    keys: Vec<KeyRecord>,
    aliases: Vec<AliasRecord>,
    origins: Vec<OriginRecord>,
    counts: HashMap<Used, UsageCounts>,
    granted: HashMap<Subject, Granted>,
}

impl Callers {
    fn row(
        &self,
        used: Used,
        (kind, name): (&'static str, String),
        last_used_at: Option<UnixMillis>,
        windows: Option<(Subject, WindowLimits)>,
    ) -> Row {
        let left = windows.map(|(subject, limits)| {
            let granted = self.granted.get(&subject);
            let left = |limit: Option<u32>, count: Option<u32>| {
                limit.map_or_else(|| "unlimited".to_owned(), |limit| grouped(limit.saturating_sub(count.unwrap_or(0))))
            };
            [
                left(limits.per_minute, granted.map(|granted| granted.in_minute)),
                left(limits.per_day, granted.map(|granted| granted.in_day)),
            ]
        });
        let counts = self.counts.get(&used).copied().unwrap_or_default();
        Row {
            kind,
            name,
            requests: counts.requests,
            numbers: numbers(counts),
            last_used: moment_or(last_used_at, "never"),
            left: left.unwrap_or_default(),
        }
    }

    /// Active callers, most requests first; then inactive ones with requests in these days.
    fn rows(&self, site: &SiteParts, account: &AccountRecord, now: UnixMillis) -> Vec<Row> {
        let mut rows = Vec::new();
        for key in &self.keys {
            let used = Used::Key(key.id);
            let limits = site.plans.windows(&key.plan, key.limits);
            let windows = key.is_active(now).then_some((Subject::Key(key.id), limits));
            if windows.is_some() || self.counts.contains_key(&used) {
                rows.push(self.row(used, ("key", key.name.clone()), key.last_used_at, windows));
            }
        }
        for alias in &self.aliases {
            let limits = site.plans.windows(&alias.plan, alias.limits);
            let named = ("alias", alias.name.clone());
            let windows = Some((Subject::Alias(alias.id), limits));
            rows.push(self.row(Used::Alias(alias.id), named, alias.last_used_at, windows));
        }
        // All origins of an account are counted together.
        let together = (Subject::Origins(account.id), site.plans.windows(&account.plan, WindowLimits::NONE));
        for origin in &self.origins {
            let windows = origin.verified_at.is_some().then_some(together);
            let named = ("origin", origin.pattern.clone());
            rows.push(self.row(Used::Origin(origin.id), named, origin.last_used_at, windows));
        }
        for used in self.counts.keys() {
            let removed = match used {
                Used::Alias(id) if !self.aliases.iter().any(|alias| alias.id == *id) => ("alias", id.0),
                Used::Origin(id) if !self.origins.iter().any(|origin| origin.id == *id) => ("origin", id.0),
                _ => continue,
            };
            let named = (removed.0, format!("removed, number {}", removed.1));
            rows.push(Row { last_used: String::new(), ..self.row(*used, named, None, None) });
        }
        rows.sort_by(|one, other| {
            let rank = |row: &Row| (row.left[0].is_empty(), std::cmp::Reverse(row.requests), row.kind);
            rank(one).cmp(&rank(other)).then_with(|| one.name.cmp(&other.name))
        });
        rows
    }
}

pub(super) async fn page(
    State(site): State<Arc<SiteParts>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    let Some(AccountPage { account, choices }) = account_page(&site, &visitor, wanted.account.as_deref()).await? else {
        return Ok(no_account(&visitor, "usage"));
    };
    let now = visitor.visit.now;
    let AccountUsage { surfaces, callers } = site.keys.usage(account.id, DAYS, now).await?;
    let granted = site.keys.granted(account.id, now).await?;
    let mut aliases = site.keys.aliases().await?;
    aliases.retain(|alias| alias.account == account.id);
    let mut origins = site.keys.origins().await?;
    origins.retain(|origin| origin.account == account.id);
    let callers = Callers {
        keys: site.keys.list_of(account.id).await?,
        aliases,
        origins,
        counts: callers.into_iter().map(|caller| (caller.used, caller.counts)).collect(),
        granted: granted.into_iter().map(|granted| (granted.subject, granted)).collect(),
    };
    let mut rows = callers.rows(&site, &account, now);
    let left_out = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    let page = UsagePage {
        frame: framed(&visitor, "usage", Some(account.id), None),
        chart: Chart::new(&surfaces, DAYS, utc_day(now)),
        days: DAYS,
        days_kept: USAGE_DAYS_MAX,
        account,
        choices,
        rows,
        left_out,
    };
    Ok(Page(page).into_response())
}
