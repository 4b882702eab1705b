//! Browser origins of an account, and the proof of domain ownership.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use paraffin_access::{AccountId, AccountRecord, OriginId, OriginPattern, OriginRecord};

use super::keys::Wanted;
use super::{AccountPage, account_page, form_account, framed, no_account, of_account};
use crate::SiteParts;
use crate::failure::Failure;
use crate::html::{Frame, Message, Page, grouped, moment, moment_or};
use crate::visitor::{SessionForm, Visitor};

/// Most origins that a member registers for an account.
const ORIGINS_MAX: usize = 100;

struct Row {
    id: i64,
    pattern: String,
    state: String,
    /// Instructions for the owner of the domain.
    to_do: Vec<String>,
    last_used: String,
    requests: String,
}

#[derive(Template)]
#[template(path = "origins.html")]
pub(super) struct OriginsPage {
    frame: Frame,
    account: AccountRecord,
    choices: Vec<AccountRecord>,
    rows: Vec<Row>,
    /// The typed origin.
    typed: String,
}

fn row(site: &SiteParts, origin: &OriginRecord) -> Row {
    let to_do = site.prover.instructions(origin).unwrap_or_default();
    Row {
        id: origin.id.0,
        pattern: origin.pattern.clone(),
        state: origin.verified_at.map_or_else(|| "not proved".to_owned(), |at| format!("served since {}", moment(at))),
        to_do: to_do.lines().map(|line| line.trim_start_matches("or ").to_owned()).collect(),
        last_used: moment_or(origin.last_used_at, "never"),
        requests: grouped(origin.request_count),
    }
}

async fn show(
    site: &SiteParts,
    visitor: &Visitor,
    page: AccountPage,
    (message, typed): (Option<Message>, String),
) -> Result<Page<OriginsPage>, Failure> {
    let AccountPage { account, choices } = page;
    let origins = site.keys.origins().await?;
    let rows = origins.iter().filter(|origin| origin.account == account.id).map(|origin| row(site, origin)).collect();
    let frame = framed(visitor, "origins", Some(account.id), message);
    Ok(Page(OriginsPage { frame, account, choices, rows, typed }))
}

pub(super) async fn page(
    State(site): State<Arc<SiteParts>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    match account_page(&site, &visitor, wanted.account.as_deref()).await? {
        Some(page) => Ok(show(&site, &visitor, page, (None, String::new())).await?.into_response()),
        None => Ok(no_account(&visitor, "origins")),
    }
}

/// The page again, with an error.
async fn refused(
    site: &SiteParts,
    visitor: &Visitor,
    account: AccountId,
    (failure, typed): (Failure, String),
) -> Result<Response, Failure> {
    let message = Some(Message::error(failure.into_sentence()?));
    let page = account_page(site, visitor, Some(&account.to_string())).await?.ok_or(Failure::Missing)?;
    let page = show(site, visitor, page, (message, typed)).await?;
    Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
}

pub(super) async fn register(State(site): State<Arc<SiteParts>>, form: SessionForm) -> Result<Response, Failure> {
    let SessionForm { fields, visitor, .. } = form;
    let account = form_account(&visitor, fields.get("account"))?;
    let typed = fields.get("origin").to_owned();
    let number = site.keys.origins().await?.iter().filter(|origin| origin.account == account).count();
    if number >= ORIGINS_MAX && !visitor.is_owner() {
        let sentence = format!("An account has at most {ORIGINS_MAX} origins: remove one first, or ask the owner.");
        return refused(&site, &visitor, account, (Failure::Refused(sentence), typed)).await;
    }
    let made = match typed.parse::<OriginPattern>() {
        Ok(pattern) => {
            let (actor, now) = (visitor.actor(), visitor.visit.now);
            site.prover.register(site.keys.as_ref(), account, pattern, &actor, now).await.map_err(Failure::from)
        }
        Err(error) => Err(error.into()),
    };
    match made {
        Ok(_) => Ok(Redirect::to(&of_account("origins", account)).into_response()),
        Err(failure) => refused(&site, &visitor, account, (failure, typed)).await,
    }
}

/// The origin of a form, if it is one of the account that the visitor may change.
async fn own_origin(site: &SiteParts, form: &SessionForm, id: i64) -> Result<OriginRecord, Failure> {
    let account = form_account(&form.visitor, form.fields.get("account"))?;
    let origins = site.keys.origins().await?;
    let is_own = |origin: &OriginRecord| origin.account == account && origin.id == OriginId(id);
    origins.into_iter().find(is_own).ok_or(Failure::Missing)
}

pub(super) async fn verify(
    State(site): State<Arc<SiteParts>>,
    Path(id): Path<i64>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let origin = own_origin(&site, &form, id).await?;
    let (actor, now) = (form.visitor.actor(), form.visitor.visit.now);
    match site.prover.verify(site.keys.as_ref(), origin.id, &actor, now).await {
        Ok(origin) => Ok(Redirect::to(&of_account("origins", origin.account)).into_response()),
        Err(error) => refused(&site, &form.visitor, origin.account, (error.into(), String::new())).await,
    }
}

pub(super) async fn remove(
    State(site): State<Arc<SiteParts>>,
    Path(id): Path<i64>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let origin = own_origin(&site, &form, id).await?;
    site.keys.remove_origin(origin.id, &form.visitor.actor(), form.visitor.visit.now).await?;
    site.keys.settle().await?;
    Ok(Redirect::to(&of_account("origins", origin.account)).into_response())
}
