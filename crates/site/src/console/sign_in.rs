//! Signing in and out, and one-time links.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use hyper::header::SET_COOKIE;
use paraffin_users::{LinkKind, LinkRecord, NewSession, PendingToken, SignIn};
use serde::Deserialize;

use crate::failure::{Failure, SIGN_IN, return_path};
use crate::html::{Page, moment};
use crate::visitor::{OpenForm, SessionForm};
use crate::{SiteParts, Visit};

#[derive(Template, Default)]
#[template(path = "sign_in.html")]
pub(super) struct SignInPage {
    /// The typed name.
    name: String,
    /// Return path after signing in; empty for the keys.
    next: String,
    error: Option<String>,
}

#[derive(Template)]
#[template(path = "second_factor.html")]
pub(super) struct SecondFactorPage {
    pending: String,
    next: String,
    error: Option<String>,
}

#[derive(Template)]
#[template(path = "link.html")]
pub(super) struct LinkPage {
    title: &'static str,
    about: String,
    /// The allowed names, for a link for existing users.
    names: Vec<String>,
    name: String,
    expires: String,
    error: Option<String>,
}

/// The return path after signing in.
#[derive(Deserialize)]
pub(super) struct Wanted {
    #[serde(default)]
    next: String,
}

pub(super) async fn page(Query(wanted): Query<Wanted>) -> Page<SignInPage> {
    let next = return_path(&wanted.next).unwrap_or_default().to_owned();
    Page(SignInPage { next, ..SignInPage::default() })
}

/// The return path of a form.
fn next_of(form: &OpenForm) -> String {
    return_path(form.fields.get("next")).unwrap_or_default().to_owned()
}

pub(super) async fn submit(State(site): State<Arc<SiteParts>>, form: OpenForm) -> Result<Response, Failure> {
    let name = form.fields.get("name").to_owned();
    let client = form.visit.client.to_string();
    let signed_in = site.users.sign_in(&name, form.fields.raw("password"), &client, form.visit.now).await;
    match signed_in {
        Ok(SignIn::Session(new)) => welcome(&site, &new, &form).await,
        Ok(SignIn::SecondFactorNeeded(pending)) => {
            Ok(Page(SecondFactorPage { pending: pending.reveal(), next: next_of(&form), error: None }).into_response())
        }
        Err(error) => {
            let error = Some(Failure::from(error).into_sentence()?);
            Ok((StatusCode::UNPROCESSABLE_ENTITY, Page(SignInPage { name, next: next_of(&form), error }))
                .into_response())
        }
    }
}

pub(super) async fn second_factor(State(site): State<Arc<SiteParts>>, form: OpenForm) -> Result<Response, Failure> {
    let text = form.fields.get("pending").to_owned();
    let Ok(pending) = text.parse::<PendingToken>() else { return Err(Failure::SignIn) };
    let client = form.visit.client.to_string();
    match site.users.second_factor(&pending, form.fields.get("code"), &client, form.visit.now).await {
        Ok(new) => welcome(&site, &new, &form).await,
        Err(paraffin_users::UsersError::SignInExpired) => {
            let error = Some("That took too long, or had too many wrong codes: sign in again.".to_owned());
            let page = SignInPage { name: String::new(), next: next_of(&form), error };
            Ok((StatusCode::UNPROCESSABLE_ENTITY, Page(page)).into_response())
        }
        Err(error) => {
            let error = Some(Failure::from(error).into_sentence()?);
            Ok((
                StatusCode::UNPROCESSABLE_ENTITY,
                Page(SecondFactorPage { pending: text, next: next_of(&form), error }),
            )
                .into_response())
        }
    }
}

/// Redirects to the return path, else to the keys, with the cookie of the new session.
async fn welcome(site: &SiteParts, new: &NewSession, form: &OpenForm) -> Result<Response, Failure> {
    let now = form.visit.now;
    site.log(&format!("user:{}", new.session.user.id), &new.event, now).await;
    if let Some(before) = &form.token {
        site.users.sign_out(before, now).await?;
    }
    let next = next_of(form);
    let next = if next.is_empty() { "/console/keys" } else { &next };
    Ok(([(SET_COOKIE, site.session_cookie(&new.token))], Redirect::to(next)).into_response())
}

pub(super) async fn sign_out(State(site): State<Arc<SiteParts>>, form: SessionForm) -> Result<Response, Failure> {
    if let Some(event) = site.users.sign_out(&form.token, form.visitor.visit.now).await? {
        site.log(&form.visitor.actor(), &event, form.visitor.visit.now).await;
    }
    Ok(([(SET_COOKIE, site.no_cookie())], Redirect::to(SIGN_IN)).into_response())
}

impl LinkPage {
    fn of(link: &LinkRecord) -> Self {
        let (title, about) = match link.kind {
            LinkKind::Setup => {
                ("Set up this instance", "You become its owner: you see all accounts and invite others.")
            }
            LinkKind::Invitation { .. } => ("Accept the invitation", "Choose a name and a password to sign in with."),
            LinkKind::Reset { .. } => ("Choose a new password", "The second factor is removed, and all sessions end."),
            LinkKind::OwnerReset => (
                "Choose a new password for an owner",
                "Give the owner's name. The second factor is removed, and all sessions end.",
            ),
        };
        let name = match link.names.as_slice() {
            [only] => only.clone(),
            _ => String::new(),
        };
        let names = link.names.clone();
        Self { title, about: about.to_owned(), names, name, expires: moment(link.expires_at), error: None }
    }
}

pub(super) async fn link(
    State(site): State<Arc<SiteParts>>,
    Path(token): Path<String>,
    Extension(visit): Extension<Visit>,
) -> Result<Page<LinkPage>, Failure> {
    let token = token.parse().map_err(|_| Failure::from(paraffin_users::UsersError::InvalidLink))?;
    let link = site.users.look_at_link(&token, visit.now).await?;
    let link = link.ok_or_else(|| Failure::from(paraffin_users::UsersError::InvalidLink))?;
    Ok(Page(LinkPage::of(&link)))
}

pub(super) async fn accept_link(
    State(site): State<Arc<SiteParts>>,
    Path(token): Path<String>,
    form: OpenForm,
) -> Result<Response, Failure> {
    let token = token.parse().map_err(|_| Failure::from(paraffin_users::UsersError::InvalidLink))?;
    let link = site.users.look_at_link(&token, form.visit.now).await?;
    let link = link.ok_or_else(|| Failure::from(paraffin_users::UsersError::InvalidLink))?;
    let (name, password) = (form.fields.get("name").to_owned(), form.fields.raw("password"));
    let refused = |error: String| {
        let page = LinkPage { name: name.clone(), error: Some(error), ..LinkPage::of(&link) };
        Ok((StatusCode::UNPROCESSABLE_ENTITY, Page(page)).into_response())
    };
    if password != form.fields.raw("again") {
        return refused("The two passwords differ.".to_owned());
    }
    let client = form.visit.client.to_string();
    match site.users.accept_link(&token, &name, password, &client, form.visit.now).await {
        Ok(new) => welcome(&site, &new, &form).await,
        Err(error) => refused(Failure::from(error).into_sentence()?),
    }
}
