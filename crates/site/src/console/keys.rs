//! Keys of an account.

use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use paraffin_access::{
    AccountRecord, CreatedKey, Grace, KeyId, KeyRecord, KeySelector, NewKey, WindowLimits, expiry_in_days,
};
use serde::Deserialize;

use super::{AccountPage, account_page, form_account, framed, no_account, of_account};
use crate::SiteParts;
use crate::failure::Failure;
use crate::html::{Frame, Message, Page, grouped, limit, moment, moment_or};
use crate::visitor::{Fields, SessionForm, Visitor};

/// Longest time that a rerolled key goes on working, hours.
const GRACE_HOURS_MAX: u32 = 24 * 30;

/// Keys on a page; revoked ones stay in the list for ever.
const ROWS_MAX: usize = 200;

/// The account of a page.
#[derive(Debug, Deserialize)]
pub(super) struct Wanted {
    pub(super) account: Option<String>,
}

struct Row {
    id: i64,
    name: String,
    prefix: String,
    per_minute: String,
    per_day: String,
    created: String,
    last_used: String,
    requests: String,
    rights: &'static str,
    /// Why it is inactive, or until when it is active.
    state: String,
    may_change: bool,
}

/// A new key, shown only once.
struct Fresh {
    key: String,
    name: String,
    url: String,
}

#[derive(Template)]
#[template(path = "keys.html")]
pub(super) struct KeysPage {
    frame: Frame,
    account: AccountRecord,
    choices: Vec<AccountRecord>,
    /// `per minute`, `per day` and `keys` of the plan.
    plan: [String; 3],
    rows: Vec<Row>,
    /// Number of keys that are not shown.
    left_out: usize,
    fresh: Option<Fresh>,
    /// Typed fields: name, requests a minute and a day, days until it expires.
    typed: [String; 4],
    /// Whether the visitor may create keys with more rights than requests.
    may_grant: bool,
}

fn row(site: &SiteParts, key: &KeyRecord, now: i64, is_owner: bool) -> Row {
    let windows = site.plans.windows(&key.plan, key.limits);
    let is_expired = key.expires_at.is_some_and(|at| at <= now);
    let state = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {}", moment(at)),
        (None, Some(at)) if is_expired => format!("expired {}", moment(at)),
        (None, Some(at)) if key.is_replaced => format!("rerolled, works until {}", moment(at)),
        (None, Some(at)) => format!("active until {}", moment(at)),
        (None, None) => "active".to_owned(),
    };
    Row {
        id: key.id.0,
        name: key.name.clone(),
        prefix: key.prefix.clone(),
        per_minute: limit(windows.per_minute),
        per_day: limit(windows.per_day),
        created: moment(key.created_at),
        last_used: moment_or(key.last_used_at, "never"),
        requests: grouped(key.request_count),
        rights: match (key.admin, key.management) {
            (true, true) => "admin, management",
            (true, false) => "admin",
            (false, true) => "management",
            (false, false) => "",
        },
        may_change: key.revoked_at.is_none() && !is_expired && (is_owner || !(key.admin || key.management)),
        state,
    }
}

async fn show(
    site: &SiteParts,
    visitor: &Visitor,
    page: AccountPage,
    (message, fresh, typed): (Option<Message>, Option<Fresh>, [String; 4]),
) -> Result<Page<KeysPage>, Failure> {
    let AccountPage { account, choices } = page;
    let mut keys = site.keys.list_of(account.id).await?;
    // Active keys first, the newest before the others.
    keys.sort_by_key(|key| (key.revoked_at.is_some(), std::cmp::Reverse(key.id)));
    let left_out = keys.len().saturating_sub(ROWS_MAX);
    keys.truncate(ROWS_MAX);
    let terms = site.plans.terms(&account.plan).unwrap_or_default();
    Ok(Page(KeysPage {
        frame: framed(visitor, "keys", Some(account.id), message),
        rows: keys.iter().map(|key| row(site, key, visitor.visit.now, visitor.is_owner())).collect(),
        plan: [limit(terms.per_minute), limit(terms.per_day), limit(terms.keys_max)],
        may_grant: visitor.is_owner(),
        left_out,
        account,
        choices,
        fresh,
        typed,
    }))
}

pub(super) async fn page(
    State(site): State<Arc<SiteParts>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    match account_page(&site, &visitor, wanted.account.as_deref()).await? {
        Some(page) => Ok(show(&site, &visitor, page, (None, None, Default::default())).await?.into_response()),
        None => Ok(no_account(&visitor, "keys")),
    }
}

fn asked_for(fields: &Fields, visitor: &Visitor) -> Result<NewKey, Failure> {
    let account = form_account(visitor, fields.get("account"))?;
    let limits = WindowLimits {
        per_minute: fields.limit("per_minute", "Requests a minute")?,
        per_day: fields.limit("per_day", "Requests a day")?,
    };
    let days = fields.limit("expires_days", "Days until it expires")?;
    let expires_at = days.map(|days| expiry_in_days(days, visitor.visit.now)).transpose()?;
    // Only the owner may grant rights beyond requests.
    let may_grant = |name| visitor.is_owner() && !fields.get(name).is_empty();
    let new = NewKey::in_account(fields.get("name"), account);
    Ok(NewKey { limits, admin: may_grant("admin"), management: may_grant("management"), expires_at, ..new })
}

pub(super) async fn create(State(site): State<Arc<SiteParts>>, form: SessionForm) -> Result<Response, Failure> {
    let SessionForm { fields, visitor, .. } = form;
    let made = match asked_for(&fields, &visitor) {
        Ok(new) => site.keys.create(new, &visitor.actor(), visitor.visit.now).await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    answer(&site, &visitor, &fields, made).await
}

/// The page with the new key, which is shown only once, or with the error of the form.
async fn answer(
    site: &SiteParts,
    visitor: &Visitor,
    fields: &Fields,
    made: Result<CreatedKey, Failure>,
) -> Result<Response, Failure> {
    let page = account_page(site, visitor, Some(fields.get("account"))).await?.ok_or(Failure::Missing)?;
    match made {
        Ok(made) => {
            let key = made.key.reveal();
            let url = format!("{}/v4/{key}", visitor.visit.base);
            let fresh = Fresh { key, name: made.record.name, url };
            Ok(show(site, visitor, page, (None, Some(fresh), Default::default())).await?.into_response())
        }
        Err(failure) => {
            let message = Some(Message::error(failure.into_sentence()?));
            let typed = ["name", "per_minute", "per_day", "expires_days"].map(|name| fields.get(name).to_owned());
            let page = show(site, visitor, page, (message, None, typed)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

/// The key of a form, if the visitor may change it: only an owner may change a key with further rights.
async fn own_key(site: &SiteParts, form: &SessionForm, id: i64) -> Result<KeyRecord, Failure> {
    let account = form_account(&form.visitor, form.fields.get("account"))?;
    let keys = site.keys.list_of(account).await?;
    let key = keys.into_iter().find(|key| key.id == KeyId(id)).ok_or(Failure::Missing)?;
    if (key.admin || key.management) && !form.visitor.is_owner() {
        return Err(Failure::Forbidden);
    }
    Ok(key)
}

pub(super) async fn revoke(
    State(site): State<Arc<SiteParts>>,
    Path(id): Path<i64>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let key = own_key(&site, &form, id).await?;
    site.keys.revoke(KeySelector::Id(key.id), &form.visitor.actor(), form.visitor.visit.now).await?;
    // The page shows "revoked" only once that holds on all gateways.
    site.keys.settle().await?;
    Ok(Redirect::to(&of_account("keys", key.account)).into_response())
}

pub(super) async fn reroll(
    State(site): State<Arc<SiteParts>>,
    Path(id): Path<i64>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let key = own_key(&site, &form, id).await?;
    let now = form.visitor.visit.now;
    let made = match grace_hours(&form) {
        Ok(hours) => {
            let span = Duration::from_secs(u64::from(hours) * 3_600);
            // Owners act for the operator and have no such limit.
            let grace = if form.visitor.is_owner() { Grace::of(span) } else { Grace::one_at_a_time(span) };
            let made = site.keys.reroll(KeySelector::Id(key.id), grace, &form.visitor.actor(), now).await;
            if hours == 0 {
                site.keys.settle().await?;
            }
            made.map_err(Failure::from)
        }
        Err(failure) => Err(failure),
    };
    answer(&site, &form.visitor, &form.fields, made).await
}

/// How long a rerolled key goes on working.
fn grace_hours(form: &SessionForm) -> Result<u32, Failure> {
    let hours = form.fields.limit("grace_hours", "Hours")?.unwrap_or(0);
    if hours > GRACE_HOURS_MAX {
        return Err(Failure::Refused(format!("A rerolled key works for at most {GRACE_HOURS_MAX} more hours.")));
    }
    Ok(hours)
}
