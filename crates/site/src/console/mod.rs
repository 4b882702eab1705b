//! The pages of the console.

mod aliases;
mod instance;
mod keys;
mod origins;
mod profile;
mod sign_in;
mod usage;
mod usage_chart;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE};
use paraffin_access::{AccountId, AccountRecord};

use crate::SiteParts;
use crate::failure::Failure;
use crate::html::{Frame, Message, Page};
use crate::visitor::{Visitor, recognise};

/// The router of all pages.
pub(crate) fn router(parts: &Arc<SiteParts>) -> Router<Arc<SiteParts>> {
    let files = Router::new()
        .route(
            "/console/site.css",
            get(async || file("text/css; charset=utf-8", include_str!("../../assets/site.css"))),
        )
        .route(
            "/console/site.js",
            get(async || file("text/javascript; charset=utf-8", include_str!("../../assets/site.js"))),
        )
        .route(
            "/console/chart.js",
            get(async || file("text/javascript; charset=utf-8", include_str!("../../assets/chart.js"))),
        );
    let pages = Router::new()
        .route("/console", get(|| async { Redirect::to("/console/keys") }))
        .route("/console/sign-in", get(sign_in::page).post(sign_in::submit))
        .route("/console/second-factor", post(sign_in::second_factor))
        .route("/console/sign-out", post(sign_in::sign_out))
        .route("/console/link/{token}", get(sign_in::link).post(sign_in::accept_link))
        .route("/console/keys", get(keys::page).post(keys::create))
        .route("/console/keys/{id}/revoke", post(keys::revoke))
        .route("/console/keys/{id}/reroll", post(keys::reroll))
        .route("/console/origins", get(origins::page).post(origins::register))
        .route("/console/origins/{id}/verify", post(origins::verify))
        .route("/console/origins/{id}/remove", post(origins::remove))
        .route("/console/aliases", get(aliases::page).post(aliases::create))
        .route("/console/aliases/{name}/remove", post(aliases::remove))
        .route("/console/webhooks", get(webhooks::page).post(webhooks::create))
        .route("/console/webhooks/{id}", get(webhooks::endpoint).post(webhooks::update))
        .route("/console/webhooks/{id}/{action}", post(webhooks::act))
        .route("/console/usage", get(usage::page))
        .route("/console/profile", get(profile::page))
        .route("/console/profile/password", post(profile::change_password))
        .route("/console/profile/second-factor", post(profile::begin_second_factor))
        .route("/console/profile/second-factor/confirm", post(profile::confirm_second_factor))
        .route("/console/profile/second-factor/remove", post(profile::remove_second_factor))
        .route("/console/profile/recovery-codes", post(profile::renew_recovery_codes))
        .route("/console/profile/sessions/end-others", post(profile::end_other_sessions))
        .route("/console/accounts", get(instance::accounts).post(instance::create_account))
        .route("/console/accounts/{id}/plan", post(instance::set_plan))
        .route("/console/people", get(instance::people).post(instance::invite))
        .route("/console/people/{id}/{action}", post(instance::change_person))
        .route("/console/links/{id}/withdraw", post(instance::withdraw_link))
        .route("/console/audit", get(instance::audit))
        .fallback(missing)
        .layer(from_fn_with_state(Arc::clone(parts), recognise));
    files.merge(pages)
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, content_type), (CACHE_CONTROL, "max-age=3600")], text).into_response()
}

async fn missing() -> Failure {
    Failure::Missing
}

/// The accounts that an owner may choose from; none for a member.
async fn choices(site: &SiteParts, visitor: &Visitor) -> Result<Vec<AccountRecord>, Failure> {
    if visitor.is_owner() { Ok(site.keys.accounts().await?) } else { Ok(Vec::new()) }
}

/// The account of a page, with the choice of other accounts.
struct AccountPage {
    account: AccountRecord,
    choices: Vec<AccountRecord>,
}

/// The account that a page is about. An owner without an own account sees the first one.
///
/// # Errors
/// 404 while there is none.
async fn account_page(
    site: &SiteParts,
    visitor: &Visitor,
    named: Option<&str>,
) -> Result<Option<AccountPage>, Failure> {
    let wanted = visitor.account(named)?;
    let choices = choices(site, visitor).await?;
    let all = if choices.is_empty() { site.keys.accounts().await? } else { choices.clone() };
    let account = match wanted {
        Some(id) => Some(all.into_iter().find(|account| account.id == id).ok_or(Failure::Missing)?),
        None => all.into_iter().next(),
    };
    Ok(account.map(|account| AccountPage { account, choices }))
}

/// The account that a form is about.
fn form_account(visitor: &Visitor, named: &str) -> Result<AccountId, Failure> {
    visitor.account(Some(named))?.ok_or(Failure::Missing)
}

/// Path of a page for an account.
fn of_account(page: &str, account: AccountId) -> String {
    format!("/console/{page}?account={account}")
}

/// A frame with a sentence.
fn framed(visitor: &Visitor, section: &'static str, account: Option<AccountId>, message: Option<Message>) -> Frame {
    Frame::new(&visitor.session, section, account.map(|account| account.0)).with(message)
}

/// For owners of an instance without any account.
fn no_account(visitor: &Visitor, section: &'static str) -> Response {
    let frame = framed(visitor, section, None, None);
    Page(instance::NoAccount { frame }).into_response()
}
