//! The pages of webhooks.

use askama::Template;
use paraffin_access::AccountRecord;
use paraffin_webhooks::{AttemptRecord, EndpointId, EndpointRecord, EndpointState, SigningSecret, Webhooks};
use serde_json::Value;

use super::super::{AccountPage, framed};
use super::form::Typed;
use crate::failure::Failure;
use crate::html::{Frame, Message, Page, grouped, moment, moment_or};
use crate::visitor::Visitor;

/// Endpoints on a page.
const ROWS_MAX: usize = 200;

/// Parts of a page beside the stored data.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) message: Option<Message>,
    /// The new secret of an endpoint that was just created or whose secret was rotated.
    pub(super) secret: Option<(EndpointId, SigningSecret)>,
    pub(super) typed: Typed,
}

impl Shown {
    pub(super) fn of(typed: Typed) -> Self {
        Self { typed, ..Self::default() }
    }

    /// A form again, with its error.
    pub(super) fn refused(sentence: String, typed: Typed) -> Self {
        Self { message: Some(Message::error(sentence)), secret: None, typed }
    }
}

/// A secret, shown only once.
struct Fresh {
    id: i64,
    secret: String,
}

fn fresh(secret: Option<(EndpointId, SigningSecret)>) -> Option<Fresh> {
    secret.map(|(id, secret)| Fresh { id: id.0, secret: secret.reveal() })
}

struct Row {
    id: i64,
    url: String,
    description: String,
    /// Names of the kinds.
    events: String,
    state: String,
    is_bad: bool,
    behind: String,
    last_success: String,
    last_failure: String,
}

#[derive(Template)]
#[template(path = "webhooks.html")]
pub(super) struct WebhooksPage {
    frame: Frame,
    account: AccountRecord,
    choices: Vec<AccountRecord>,
    rows: Vec<Row>,
    /// Number of endpoints that are not shown.
    left_out: usize,
    fresh: Option<Fresh>,
    typed: Typed,
}

struct Attempt {
    at: String,
    elapsed: String,
    outcome: String,
    is_bad: bool,
}

#[derive(Template)]
#[template(path = "webhook.html")]
pub(super) struct WebhookPage {
    frame: Frame,
    account: AccountRecord,
    row: Row,
    facts: Vec<(&'static str, String)>,
    is_active: bool,
    attempts: Vec<Attempt>,
    filter: String,
    fresh: Option<Fresh>,
    typed: Typed,
}

/// Delivery state as text, and whether the owner must act.
fn state(endpoint: &EndpointRecord) -> (String, bool) {
    let since = moment_or(endpoint.failing_since, "some time");
    match endpoint.state {
        EndpointState::Active if endpoint.failures > 0 => {
            (format!("active, failing since {since}: {} attempts", grouped(endpoint.failures)), true)
        }
        EndpointState::Active => ("active".to_owned(), false),
        EndpointState::Paused => ("paused by its owner".to_owned(), false),
        EndpointState::Failing => (format!("paused: it has failed since {since}"), true),
        EndpointState::Gone => ("paused: the server has answered 410".to_owned(), true),
        EndpointState::Lost => ("paused: its position is unknown here; set another one".to_owned(), true),
    }
}

fn row(webhooks: &Webhooks, endpoint: &EndpointRecord) -> Row {
    let waiting = if endpoint.message_id.is_some() { ", one message waits" } else { "" };
    let behind = match webhooks.blocks_behind(endpoint) {
        None => "unknown".to_owned(),
        Some(0) => "at the newest block".to_owned(),
        Some(1) => "1 block".to_owned(),
        Some(blocks) => format!("{} blocks", grouped(blocks)),
    };
    let filter: Value = serde_json::from_str(&endpoint.filter).unwrap_or_default();
    let kinds = filter.get("kinds").and_then(Value::as_array).into_iter().flatten();
    let (state, is_bad) = state(endpoint);
    Row {
        id: endpoint.id.0,
        url: endpoint.url.clone(),
        description: endpoint.description.clone().unwrap_or_default(),
        events: kinds.filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        state,
        is_bad,
        behind: format!("{behind}{waiting}"),
        last_success: moment_or(endpoint.last_success_at, "never"),
        last_failure: match (endpoint.last_error_at, &endpoint.last_error) {
            (Some(at), Some(error)) => format!("{}: {error}", moment(at)),
            _ => "never".to_owned(),
        },
    }
}

fn attempt(attempt: &AttemptRecord) -> Attempt {
    let outcome = match (attempt.status, &attempt.error) {
        (Some(status), _) => format!("answered {status}"),
        (None, Some(error)) => error.clone(),
        (None, None) => "no answer".to_owned(),
    };
    let is_bad = !attempt.status.is_some_and(|status| (200..300).contains(&status));
    Attempt { at: moment(attempt.at), elapsed: format!("{} ms", grouped(attempt.elapsed_ms)), outcome, is_bad }
}

/// All endpoints of an account.
pub(super) async fn show_all(
    webhooks: &Webhooks,
    visitor: &Visitor,
    page: AccountPage,
    shown: Shown,
) -> Result<Page<WebhooksPage>, Failure> {
    let AccountPage { account, choices } = page;
    let mut endpoints = webhooks.list(account.id).await?;
    // The newest first: it may be the one that was just created.
    endpoints.reverse();
    let left_out = endpoints.len().saturating_sub(ROWS_MAX);
    endpoints.truncate(ROWS_MAX);
    Ok(Page(WebhooksPage {
        frame: framed(visitor, "webhooks", Some(account.id), shown.message),
        rows: endpoints.iter().map(|endpoint| row(webhooks, endpoint)).collect(),
        left_out,
        fresh: fresh(shown.secret),
        typed: shown.typed,
        account,
        choices,
    }))
}

/// One endpoint.
pub(super) fn show_one(
    webhooks: &Webhooks,
    visitor: &Visitor,
    account: AccountRecord,
    endpoint: EndpointRecord,
    shown: Shown,
) -> Page<WebhookPage> {
    let row = row(webhooks, &endpoint);
    let mut facts = vec![
        ("State", row.state.clone()),
        ("Events", row.events.clone()),
        ("Behind", row.behind.clone()),
        ("Last success", row.last_success.clone()),
        ("Last failure", row.last_failure.clone()),
        ("Made", moment(endpoint.created_at)),
        ("Position", endpoint.cursor.clone()),
    ];
    let further = [
        ("Next attempt", endpoint.next_attempt_at.filter(|_| endpoint.state == EndpointState::Active).map(moment)),
        ("Waiting message", endpoint.message_id.clone()),
        ("The secret before signs too, until", endpoint.old_secret_until.map(moment)),
    ];
    facts.extend(further.into_iter().filter_map(|(name, text)| Some((name, text?))));
    Page(WebhookPage {
        frame: framed(visitor, "webhooks", Some(account.id), shown.message),
        account,
        facts,
        is_active: endpoint.state == EndpointState::Active,
        attempts: endpoint.attempts.iter().map(attempt).collect(),
        filter: endpoint.filter,
        fresh: fresh(shown.secret),
        typed: shown.typed,
        row,
    })
}
