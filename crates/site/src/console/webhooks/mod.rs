//! Webhooks of an account: through the same functions as `/v4/<KEY>/webhooks`.

mod form;
mod pages;

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query, State};
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use hyper::http::request::Parts;
use paraffin_access::AccountId;
use paraffin_webhooks::{EndpointId, Owner, SigningSecret, TestOutcome, WebhookError, Webhooks};

use super::keys::Wanted;
use super::{account_page, form_account, no_account, of_account};
use crate::SiteParts;
use crate::api::Api;
use crate::failure::Failure;
use crate::html::Message;
use crate::visitor::{SessionForm, Visitor};
use form::Typed;
use pages::{Shown, show_all, show_one};

/// The webhooks of the instance.
pub(super) struct Served(Arc<Webhooks>);

impl FromRequestParts<Arc<SiteParts>> for Served {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<SiteParts>) -> Result<Self, Failure> {
        let webhooks = parts.extensions.get::<Arc<dyn Api>>().and_then(|api| api.webhooks());
        webhooks.map(Self).ok_or_else(|| Failure::NotServed("This instance delivers no webhooks.".to_owned()))
    }
}

impl From<WebhookError> for Failure {
    fn from(error: WebhookError) -> Self {
        let of_field = |field: &str| Self::Refused(format!("{field}: {error}"));
        match error {
            WebhookError::Destination(_) | WebhookError::UrlTooLong => of_field("Address"),
            WebhookError::DescriptionTooLong => of_field("Description"),
            WebhookError::Filter(_) => of_field("Events"),
            WebhookError::Position(_) | WebhookError::Source(paraffin_webhooks::SourceError::UnknownCursor(_)) => {
                of_field("Begin with")
            }
            WebhookError::NoSuchEndpoint => Self::Missing,
            WebhookError::Unavailable(reason) => Self::Away(reason.to_string()),
            WebhookError::NoRandomness(_) | WebhookError::Message(_) => Self::Away(error.to_string()),
            // The reason is for the operator only.
            WebhookError::Source(reason) => {
                tracing::warn!(%reason, "a form of webhooks was refused");
                Self::Refused("Events cannot be read at the moment: try again in some seconds.".to_owned())
            }
            WebhookError::TooManyEndpoints(_) | WebhookError::Full | WebhookError::Busy => {
                Self::Refused(error.to_string())
            }
        }
    }
}

/// Path of the page of an endpoint.
fn of_endpoint(id: EndpointId, account: AccountId) -> String {
    of_account(&format!("webhooks/{}", id.0), account)
}

pub(super) async fn page(
    State(site): State<Arc<SiteParts>>,
    visitor: Visitor,
    Served(webhooks): Served,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    match account_page(&site, &visitor, wanted.account.as_deref()).await? {
        Some(page) => Ok(show_all(&webhooks, &visitor, page, Shown::of(Typed::default())).await?.into_response()),
        None => Ok(no_account(&visitor, "webhooks")),
    }
}

pub(super) async fn create(
    State(site): State<Arc<SiteParts>>,
    Served(webhooks): Served,
    form: SessionForm,
) -> Result<Response, Failure> {
    let account = form_account(&form.visitor, form.fields.get("account"))?;
    let typed = Typed::of(&form.fields);
    let actor = form.visitor.actor();
    let made = match typed.request() {
        Ok(request) => webhooks.create(Owner { account, actor: &actor }, request).await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let (status, shown) = match made {
        Ok((endpoint, secret)) => (StatusCode::OK, Shown { secret: Some((endpoint.id, secret)), ..Shown::default() }),
        Err(failure) => (StatusCode::UNPROCESSABLE_ENTITY, Shown::refused(failure.into_sentence()?, typed)),
    };
    let page = account_page(&site, &form.visitor, Some(&account.to_string())).await?.ok_or(Failure::Missing)?;
    Ok((status, show_all(&webhooks, &form.visitor, page, shown).await?).into_response())
}

pub(super) async fn endpoint(
    State(site): State<Arc<SiteParts>>,
    Path(id): Path<i64>,
    visitor: Visitor,
    Served(webhooks): Served,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Failure> {
    let page = account_page(&site, &visitor, wanted.account.as_deref()).await?.ok_or(Failure::Missing)?;
    let endpoint = webhooks.get(page.account.id, EndpointId(id)).await?;
    let shown = Shown::of(Typed::of_endpoint(&endpoint));
    Ok(show_one(&webhooks, &visitor, page.account, endpoint, shown).into_response())
}

pub(super) async fn update(
    State(site): State<Arc<SiteParts>>,
    Served(webhooks): Served,
    Path(id): Path<i64>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let account = form_account(&form.visitor, form.fields.get("account"))?;
    let before = webhooks.get(account, EndpointId(id)).await?;
    let typed = Typed::of(&form.fields);
    let actor = form.visitor.actor();
    let changed = match typed.changes_of(&before) {
        Ok(request) => {
            webhooks.update(Owner { account, actor: &actor }, before.id, request).await.map_err(Failure::from)
        }
        Err(failure) => Err(failure),
    };
    match changed {
        Ok(endpoint) => Ok(Redirect::to(&of_endpoint(endpoint.id, account)).into_response()),
        Err(failure) => {
            let shown = Shown::refused(failure.into_sentence()?, typed);
            let page = account_page(&site, &form.visitor, Some(&account.to_string())).await?.ok_or(Failure::Missing)?;
            let page = show_one(&webhooks, &form.visitor, page.account, before, shown);
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

/// Handles a button of an endpoint's page.
pub(super) async fn act(
    State(site): State<Arc<SiteParts>>,
    Served(webhooks): Served,
    Path((id, action)): Path<(i64, String)>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let account = form_account(&form.visitor, form.fields.get("account"))?;
    let (id, actor) = (EndpointId(id), form.visitor.actor());
    let owner = Owner { account, actor: &actor };
    let outcome = match action.as_str() {
        "pause" => webhooks.pause(owner, id).await.map(|_| Done::Changed),
        "resume" => webhooks.resume(owner, id).await.map(|_| Done::Changed),
        "delete" => webhooks.delete(owner, id).await.map(|_| Done::Deleted),
        "rotate-secret" => webhooks.rotate_secret(owner, id).await.map(|(_, secret)| Done::Secret(secret)),
        "test" => webhooks.test(account, id).await.map(Done::Tested),
        _ => return Err(Failure::Missing),
    };
    let (status, message, secret) = match outcome.map_err(Failure::from) {
        Ok(Done::Changed) => return Ok(Redirect::to(&of_endpoint(id, account)).into_response()),
        Ok(Done::Deleted) => return Ok(Redirect::to(&of_account("webhooks", account)).into_response()),
        Ok(Done::Secret(secret)) => (StatusCode::OK, None, Some((id, secret))),
        Ok(Done::Tested(outcome)) => (StatusCode::OK, Some(tested(outcome)), None),
        Err(failure) => (StatusCode::UNPROCESSABLE_ENTITY, Some(Message::error(failure.into_sentence()?)), None),
    };
    let page = account_page(&site, &form.visitor, Some(&account.to_string())).await?.ok_or(Failure::Missing)?;
    let endpoint = webhooks.get(account, id).await?;
    let shown = Shown { message, secret, typed: Typed::of_endpoint(&endpoint) };
    Ok((status, show_one(&webhooks, &form.visitor, page.account, endpoint, shown)).into_response())
}

/// Result of a button.
enum Done {
    Changed,
    Deleted,
    Secret(SigningSecret),
    Tested(TestOutcome),
}

fn tested(outcome: TestOutcome) -> Message {
    match outcome.error {
        None => Message::done(format!("The test message was acknowledged in {} ms.", outcome.elapsed_ms)),
        Some(error) => Message::error(format!("The test message was not acknowledged: {error}")),
    }
}
