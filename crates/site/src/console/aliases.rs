//! Aliases of an account.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use paraffin_access::{ALIAS_SURFACES, ALIAS_SURFACES_DEFAULT, AccountRecord, AliasRecord, NewAlias, WindowLimits};

use super::keys::Wanted;
use super::{AccountPage, account_page, form_account, framed, no_account, of_account};
use crate::SiteParts;
use crate::failure::Failure;
use crate::html::{Frame, Message, Page, grouped, limit, moment, moment_or};
use crate::visitor::{Fields, SessionForm, Visitor};

/// Most aliases that a member makes in an account.
const ALIASES_MAX: u32 = 100;

struct Row {
    name: String,
    surfaces: String,
    per_minute: String,
    per_day: String,
    created: String,
    last_used: String,
    requests: String,
}

#[derive(Template)]
#[template(path = "aliases.html")]
pub(super) struct AliasesPage {
    frame: Frame,
    account: AccountRecord,
    choices: Vec<AccountRecord>,
    base: String,
    rows: Vec<Row>,
    /// Each surface, and whether it is chosen.
    surfaces: Vec<(&'static str, bool)>,
    /// The typed fields.
    typed: [String; 3],
}

fn row(site: &SiteParts, alias: &AliasRecord) -> Row {
    let windows = site.plans.windows(&alias.plan, alias.limits);
    Row {
        name: alias.name.clone(),
        surfaces: alias.surfaces.join(", "),
        per_minute: limit(windows.per_minute),
        per_day: limit(windows.per_day),
        created: moment(alias.created_at),
        last_used: moment_or(alias.last_used_at, "never"),
        requests: grouped(alias.request_count),
    }
}

async fn show(
    site: &SiteParts,
    visitor: &Visitor,
    page: AccountPage,
    (message, typed, chosen): (Option<Message>, [String; 3], Vec<String>),
) -> Result<Page<AliasesPage>, Failure> {
    let AccountPage { account, choices } = page;
    let aliases = site.keys.aliases().await?;
    let rows = aliases.iter().filter(|alias| alias.account == account.id).map(|alias| row(site, alias)).collect();
    let is_chosen = |name: &str| chosen.iter().any(|chosen| chosen == name);
    Ok(Page(AliasesPage {
        frame: framed(visitor, "aliases", Some(account.id), message),
        base: visitor.visit.base.clone(),
        surfaces: ALIAS_SURFACES.iter().map(|name| (*name, is_chosen(name))).collect(),
        account,
        choices,
        rows,
        typed,
    }))
}

fn default_surfaces() -> Vec<String> {
    ALIAS_SURFACES_DEFAULT.map(str::to_owned).to_vec()
}

pub(super) async fn page(
    State(site): State<Arc<SiteParts>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    match account_page(&site, &visitor, wanted.account.as_deref()).await? {
        Some(page) => {
            let nothing = (None, Default::default(), default_surfaces());
            Ok(show(&site, &visitor, page, nothing).await?.into_response())
        }
        None => Ok(no_account(&visitor, "aliases")),
    }
}

fn asked_for(fields: &Fields, visitor: &Visitor) -> Result<NewAlias, Failure> {
    Ok(NewAlias {
        account: form_account(visitor, fields.get("account"))?,
        name: fields.get("name").to_owned(),
        surfaces: fields.all("surface"),
        limits: WindowLimits {
            per_minute: fields.limit("per_minute", "Requests a minute")?,
            per_day: fields.limit("per_day", "Requests a day")?,
        },
        count_max: None,
    })
}

/// Each alias has the windows of its plan, so a member makes as many as the plan has keys.
async fn with_limit(site: &SiteParts, visitor: &Visitor, new: NewAlias) -> Result<NewAlias, Failure> {
    if visitor.is_owner() {
        return Ok(new);
    }
    let accounts = site.keys.accounts().await?;
    let plan = accounts.into_iter().find(|account| account.id == new.account).ok_or(Failure::Missing)?.plan;
    let most = site.plans.terms(&plan).unwrap_or_default().keys_max.unwrap_or(ALIASES_MAX).min(ALIASES_MAX);
    Ok(NewAlias { count_max: Some(most), ..new })
}

pub(super) async fn create(State(site): State<Arc<SiteParts>>, form: SessionForm) -> Result<Response, Failure> {
    let SessionForm { fields, visitor, .. } = form;
    let asked = match asked_for(&fields, &visitor) {
        Ok(new) => with_limit(&site, &visitor, new).await,
        Err(failure) => Err(failure),
    };
    let made = match asked {
        Ok(new) => site.keys.create_alias(new, &visitor.actor(), visitor.visit.now).await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    match made {
        Ok(alias) => Ok(Redirect::to(&of_account("aliases", alias.account)).into_response()),
        Err(failure) => {
            let message = Some(Message::error(failure.into_sentence()?));
            let page = account_page(&site, &visitor, Some(fields.get("account"))).await?.ok_or(Failure::Missing)?;
            let typed = ["name", "per_minute", "per_day"].map(|name| fields.get(name).to_owned());
            let page = show(&site, &visitor, page, (message, typed, fields.all("surface"))).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

pub(super) async fn remove(
    State(site): State<Arc<SiteParts>>,
    Path(name): Path<String>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let account = form_account(&form.visitor, form.fields.get("account"))?;
    let aliases = site.keys.aliases().await?;
    if !aliases.iter().any(|alias| alias.account == account && alias.name == name) {
        return Err(Failure::Missing);
    }
    site.keys.remove_alias(&name, &form.visitor.actor(), form.visitor.visit.now).await?;
    site.keys.settle().await?;
    Ok(Redirect::to(&of_account("aliases", account)).into_response())
}
