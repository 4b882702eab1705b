//! Pages for the owner of an instance: accounts, people, and the audit log.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use paraffin_access::{AccountId, AccountRecord, AuditRow, Plan};
use paraffin_users::{Event, LinkId, LinkKind, NewLink, Role, UserId, UsersError};
use serde::Deserialize;

use super::framed;
use crate::SiteParts;
use crate::failure::Failure;
use crate::html::{Frame, Message, Page, limit, moment, moment_or};
use crate::visitor::{SessionForm, Visitor};

/// Lines of the audit log on its page.
const AUDIT_LINES: u32 = 200;

/// Accounts on a page.
const ACCOUNTS_MAX: usize = 50;

/// Offset of a page of accounts: those with a greater number than this one are shown. Such addresses stay valid when accounts are added.
#[derive(Debug, Deserialize)]
pub(super) struct After {
    after: Option<i64>,
}

/// Shown instead of a page of an account, while there is none.
#[derive(Template)]
#[template(path = "no_account.html")]
pub(super) struct NoAccount {
    pub(super) frame: Frame,
}

struct AccountRow {
    id: i64,
    name: String,
    plan: String,
    created: String,
    keys: usize,
}

impl AccountRow {
    fn is_on(&self, plan: &str) -> bool {
        self.plan == plan
    }
}

#[derive(Template)]
#[template(path = "accounts.html")]
pub(super) struct AccountsPage {
    frame: Frame,
    rows: Vec<AccountRow>,
    /// Name, requests a minute, requests a day and keys of each plan.
    plans: Vec<[String; 4]>,
    typed: String,
    /// The page shows accounts with a greater number.
    after: i64,
    /// The last number of the page, if there are further ones.
    next: Option<i64>,
}

async fn show_accounts(
    site: &SiteParts,
    visitor: &Visitor,
    after: i64,
    (message, typed): (Option<Message>, String),
) -> Result<Page<AccountsPage>, Failure> {
    visitor.require_owner()?;
    let mut accounts = site.keys.accounts().await?;
    accounts.retain(|account| account.id.0 > after);
    let has_more = accounts.len() > ACCOUNTS_MAX;
    accounts.truncate(ACCOUNTS_MAX);
    let next = accounts.last().filter(|_| has_more).map(|account| account.id.0);
    let keys = site.keys.list().await?;
    let row = |account: AccountRecord| AccountRow {
        id: account.id.0,
        plan: account.plan.name().to_owned(),
        created: moment(account.created_at),
        keys: keys.iter().filter(|key| key.account == account.id && key.revoked_at.is_none()).count(),
        name: account.name,
    };
    let rows = accounts.into_iter().map(row).collect();
    let plans = site.plans.iter().map(|(plan, terms)| {
        [plan.name().to_owned(), limit(terms.per_minute), limit(terms.per_day), limit(terms.keys_max)]
    });
    let frame = framed(visitor, "accounts", None, message);
    Ok(Page(AccountsPage { frame, rows, plans: plans.collect(), typed, after, next }))
}

pub(super) async fn accounts(
    State(site): State<Arc<SiteParts>>,
    visitor: Visitor,
    Query(wanted): Query<After>,
) -> Result<Page<AccountsPage>, Failure> {
    show_accounts(&site, &visitor, wanted.after.unwrap_or(0), (None, String::new())).await
}

fn plan(text: &str) -> Result<Plan, Failure> {
    text.parse().map_err(|error: paraffin_access::ParsePlanError| Failure::Refused(error.to_string()))
}

pub(super) async fn create_account(State(site): State<Arc<SiteParts>>, form: SessionForm) -> Result<Response, Failure> {
    let SessionForm { fields, visitor, .. } = form;
    visitor.require_owner()?;
    let name = fields.get("name").to_owned();
    let made = match plan(fields.get("plan")) {
        Ok(plan) => {
            site.keys.create_account(&name, plan, &visitor.actor(), visitor.visit.now).await.map_err(Failure::from)
        }
        Err(failure) => Err(failure),
    };
    match made {
        // The page on which the new account is the first.
        Ok(made) => {
            Ok(Redirect::to(&format!("/console/accounts?after={}", made.id.0.saturating_sub(1))).into_response())
        }
        Err(failure) => {
            let message = Some(Message::error(failure.into_sentence()?));
            let page = show_accounts(&site, &visitor, 0, (message, name)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

pub(super) async fn set_plan(
    State(site): State<Arc<SiteParts>>,
    Path(id): Path<i64>,
    form: SessionForm,
) -> Result<Redirect, Failure> {
    form.visitor.require_owner()?;
    let plan = plan(form.fields.get("plan"))?;
    site.keys.set_plan(AccountId(id), plan, &form.visitor.actor(), form.visitor.visit.now).await?;
    site.keys.settle().await?;
    // Back to the page with the account.
    let after: i64 = form.fields.get("after").parse().unwrap_or(0);
    Ok(Redirect::to(&format!("/console/accounts?after={after}")))
}

struct PersonRow {
    id: i64,
    name: String,
    role: &'static str,
    account: String,
    second_factor: &'static str,
    last_sign_in: String,
    is_disabled: bool,
    is_self: bool,
}

struct LinkRow {
    id: i64,
    kind: &'static str,
    about: String,
    expires: String,
}

#[derive(Template)]
#[template(path = "people.html")]
pub(super) struct PeoplePage {
    frame: Frame,
    people: Vec<PersonRow>,
    links: Vec<LinkRow>,
    accounts: Vec<AccountRecord>,
    /// A new link, shown only once.
    fresh: Option<String>,
}

async fn show_people(
    site: &SiteParts,
    visitor: &Visitor,
    (message, fresh): (Option<Message>, Option<NewLink>),
) -> Result<Page<PeoplePage>, Failure> {
    visitor.require_owner()?;
    let accounts = site.keys.accounts().await?;
    let name_of = |id: Option<i64>| {
        let account = id.and_then(|id| accounts.iter().find(|account| account.id.0 == id));
        account.map(|account| account.name.clone()).unwrap_or_default()
    };
    let person = |user: paraffin_users::UserRecord| PersonRow {
        id: user.id.0,
        role: user.role.as_str(),
        account: name_of(user.account),
        second_factor: if user.has_second_factor { "yes" } else { "no" },
        last_sign_in: moment_or(user.last_sign_in_at, "never"),
        is_disabled: user.is_disabled,
        is_self: user.id == visitor.session.user.id,
        name: user.name,
    };
    let link = |link: paraffin_users::LinkRecord| LinkRow {
        id: link.id.0,
        kind: link.kind.as_str(),
        about: match link.kind {
            LinkKind::Invitation { role, account } => format!("{role} {}", name_of(account)),
            _ => link.names.join(", "),
        },
        expires: moment(link.expires_at),
    };
    let people = site.users.users().await?.into_iter().map(person).collect();
    let links = site.users.links(visitor.visit.now).await?.into_iter().map(link).collect();
    let fresh = fresh.map(|new| format!("{}/console/link/{}", visitor.visit.base, new.token.reveal()));
    let frame = framed(visitor, "people", None, message);
    Ok(Page(PeoplePage { frame, people, links, accounts, fresh }))
}

pub(super) async fn people(State(site): State<Arc<SiteParts>>, visitor: Visitor) -> Result<Page<PeoplePage>, Failure> {
    show_people(&site, &visitor, (None, None)).await
}

/// The page after an action.
async fn after(
    site: &SiteParts,
    visitor: &Visitor,
    tried: Result<Option<NewLink>, Failure>,
) -> Result<Response, Failure> {
    match tried {
        Ok(fresh) => Ok(show_people(site, visitor, (None, fresh)).await?.into_response()),
        Err(failure) => {
            let message = Some(Message::error(failure.into_sentence()?));
            let page = show_people(site, visitor, (message, None)).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

pub(super) async fn invite(State(site): State<Arc<SiteParts>>, form: SessionForm) -> Result<Response, Failure> {
    let SessionForm { fields, visitor, .. } = form;
    visitor.require_owner()?;
    let role = if fields.get("role") == "owner" { Role::Owner } else { Role::Member };
    let account = fields.get("account").parse().ok();
    let accounts = site.keys.accounts().await?;
    let tried = if account.is_some_and(|id| !accounts.iter().any(|account| account.id.0 == id)) {
        Err(Failure::Refused("There is no such account.".to_owned()))
    } else {
        site.users.invite(role, account, visitor.visit.now).await.map(Some).map_err(Failure::from)
    };
    if let Ok(Some(new)) = &tried {
        site.log(&visitor.actor(), &new.event, visitor.visit.now).await;
    }
    after(&site, &visitor, tried).await
}

pub(super) async fn change_person(
    State(site): State<Arc<SiteParts>>,
    Path((id, action)): Path<(i64, String)>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let visitor = form.visitor;
    visitor.require_owner()?;
    let (users, id, now) = (&site.users, UserId(id), visitor.visit.now);
    // Owners change their own sign-in settings on the profile, with the password.
    if id == visitor.session.user.id {
        return Err(Failure::Forbidden);
    }
    let tried = match action.as_str() {
        "reset" => users.reset_link(id, now).await.map(|new| (new.event.clone(), Some(new))),
        "disable" => users.disable(id, now).await.map(|event| (event, None)),
        "enable" => users.enable(id).await.map(|event| (event, None)),
        "remove" => users.remove(id).await.map(|event| (event, None)),
        _ => return Err(Failure::Missing),
    };
    let tried = match tried {
        Ok((event, fresh)) => {
            site.log(&visitor.actor(), &event, now).await;
            if matches!(event, Event::Disabled(_) | Event::Removed(_)) {
                withdraw_all(&site, &visitor).await?;
            }
            Ok(fresh)
        }
        Err(error) => Err(error.into()),
    };
    after(&site, &visitor, tried).await
}

/// Withdraws every open link: a removed owner may still have one.
async fn withdraw_all(site: &SiteParts, visitor: &Visitor) -> Result<(), Failure> {
    for link in site.users.links(visitor.visit.now).await? {
        match site.users.withdraw_link(link.id).await {
            Ok(event) => site.log(&visitor.actor(), &event, visitor.visit.now).await,
            // Used or withdrawn at the same moment.
            Err(UsersError::NoSuchLink) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

pub(super) async fn withdraw_link(
    State(site): State<Arc<SiteParts>>,
    Path(id): Path<i64>,
    form: SessionForm,
) -> Result<Redirect, Failure> {
    form.visitor.require_owner()?;
    let event = site.users.withdraw_link(LinkId(id)).await?;
    site.log(&form.visitor.actor(), &event, form.visitor.visit.now).await;
    Ok(Redirect::to("/console/people"))
}

#[derive(Template)]
#[template(path = "audit.html")]
pub(super) struct AuditPage {
    frame: Frame,
    lines: Vec<(String, AuditRow)>,
}

pub(super) async fn audit(State(site): State<Arc<SiteParts>>, visitor: Visitor) -> Result<Page<AuditPage>, Failure> {
    visitor.require_owner()?;
    let lines = site.keys.audit(AUDIT_LINES).await?;
    let lines = lines.into_iter().map(|line| (moment(line.at), line)).collect();
    Ok(Page(AuditPage { frame: framed(&visitor, "audit", None, None), lines }))
}
