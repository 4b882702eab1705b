//! The sign-in settings of a user: password, second factor, sessions.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use paraffin_users::{Event, UsersError};

use super::framed;
use crate::SiteParts;
use crate::failure::Failure;
use crate::html::{Frame, Message, Page, moment};
use crate::visitor::{SessionForm, Visitor};

struct SessionRow {
    client: String,
    created: String,
    last_used: String,
    is_this: bool,
}

/// A second factor before its first code.
struct Setup {
    secret: String,
    uri: String,
}

#[derive(Template)]
#[template(path = "profile.html")]
pub(super) struct ProfilePage {
    frame: Frame,
    role: &'static str,
    has_second_factor: bool,
    codes_left: u32,
    setup: Option<Setup>,
    /// Whether a second factor still needs its first code.
    is_pending: bool,
    /// New recovery codes, shown only once.
    codes: Vec<String>,
    sessions: Vec<SessionRow>,
}

#[derive(Default)]
struct Shown {
    message: Option<Message>,
    setup: Option<Setup>,
    is_pending: bool,
    codes: Vec<String>,
}

async fn show(site: &SiteParts, visitor: &Visitor, shown: Shown) -> Result<Page<ProfilePage>, Failure> {
    let id = visitor.session.user.id;
    let user = site.users.user(id).await?;
    let sessions = site.users.sessions(id, visitor.visit.now).await?;
    let row = |session: paraffin_users::SessionRecord| SessionRow {
        created: moment(session.created_at),
        last_used: moment(session.last_used_at),
        is_this: session.id == visitor.session.id,
        client: session.client,
    };
    Ok(Page(ProfilePage {
        frame: framed(visitor, "profile", None, shown.message),
        role: user.role.as_str(),
        has_second_factor: user.has_second_factor,
        codes_left: if user.has_second_factor { site.users.recovery_codes_left(id).await? } else { 0 },
        setup: shown.setup,
        is_pending: shown.is_pending,
        codes: shown.codes,
        sessions: sessions.into_iter().map(row).collect(),
    }))
}

/// The page after an action, with a sentence about its success or refusal.
async fn after<T>(
    site: &SiteParts,
    visitor: &Visitor,
    tried: Result<T, Failure>,
    shown: impl FnOnce(T) -> Shown,
) -> Result<Response, Failure> {
    match tried {
        Ok(done) => Ok(show(site, visitor, shown(done)).await?.into_response()),
        Err(failure) => {
            let message = Some(Message::error(failure.into_sentence()?));
            let page = show(site, visitor, Shown { message, ..Shown::default() }).await?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

/// Writes a successful action into the audit log.
async fn logged(site: &SiteParts, visitor: &Visitor, tried: Result<Event, Failure>) -> Result<(), Failure> {
    site.log(&visitor.actor(), &tried?, visitor.visit.now).await;
    Ok(())
}

fn done(text: &str) -> Shown {
    Shown { message: Some(Message::done(text)), ..Shown::default() }
}

pub(super) async fn page(State(site): State<Arc<SiteParts>>, visitor: Visitor) -> Result<Page<ProfilePage>, Failure> {
    show(&site, &visitor, Shown::default()).await
}

pub(super) async fn change_password(
    State(site): State<Arc<SiteParts>>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let SessionForm { fields, visitor, .. } = form;
    let new = fields.raw("new");
    let tried = if new == fields.raw("again") {
        let changed = site.users.change_password(&visitor.session, fields.raw("old"), new, visitor.visit.now).await;
        changed.map_err(Failure::from)
    } else {
        Err(Failure::Refused("The two new passwords differ.".to_owned()))
    };
    let logged = logged(&site, &visitor, tried).await;
    after(&site, &visitor, logged, |()| done("The password is changed, and all other sessions have ended.")).await
}

pub(super) async fn begin_second_factor(
    State(site): State<Arc<SiteParts>>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let (visitor, password) = (form.visitor, form.fields.raw("password").to_owned());
    let begun = site.users.begin_second_factor(&visitor.session, &password, visitor.visit.now).await;
    let begun = begun.map_err(Failure::from);
    after(&site, &visitor, begun, |setup| Shown {
        setup: Some(Setup { secret: setup.secret().to_owned(), uri: setup.uri().to_owned() }),
        is_pending: true,
        ..Shown::default()
    })
    .await
}

pub(super) async fn confirm_second_factor(
    State(site): State<Arc<SiteParts>>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let visitor = form.visitor;
    let made = site.users.confirm_second_factor(&visitor.session, form.fields.get("code"), visitor.visit.now).await;
    if matches!(made, Err(UsersError::WrongCode)) {
        let message = Some(Message::error("Wrong code: give the next one of the authenticator."));
        let page = show(&site, &visitor, Shown { message, is_pending: true, ..Shown::default() }).await?;
        return Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response());
    }
    let text = "The second factor is asked for from now on. Keep the recovery codes: they are shown this once.";
    with_codes(&site, &visitor, made.map_err(Failure::from), text).await
}

pub(super) async fn renew_recovery_codes(
    State(site): State<Arc<SiteParts>>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let (visitor, password) = (form.visitor, form.fields.raw("password").to_owned());
    let made = site.users.renew_recovery_codes(&visitor.session, &password, visitor.visit.now).await;
    let text = "These recovery codes replace the old ones, and are shown this once.";
    with_codes(&site, &visitor, made.map_err(Failure::from), text).await
}

async fn with_codes(
    site: &SiteParts,
    visitor: &Visitor,
    made: Result<paraffin_users::NewRecoveryCodes, Failure>,
    text: &str,
) -> Result<Response, Failure> {
    if let Ok(made) = &made {
        site.log(&visitor.actor(), &made.event, visitor.visit.now).await;
    }
    after(site, visitor, made, |made| Shown {
        codes: made.codes.iter().map(paraffin_users::RecoveryCode::reveal).collect(),
        ..done(text)
    })
    .await
}

pub(super) async fn remove_second_factor(
    State(site): State<Arc<SiteParts>>,
    form: SessionForm,
) -> Result<Response, Failure> {
    let (visitor, password) = (form.visitor, form.fields.raw("password").to_owned());
    let removed = site.users.remove_second_factor(&visitor.session, &password, visitor.visit.now).await;
    let logged = logged(&site, &visitor, removed.map_err(Failure::from)).await;
    after(&site, &visitor, logged, |()| done("The second factor is removed.")).await
}

pub(super) async fn end_other_sessions(
    State(site): State<Arc<SiteParts>>,
    form: SessionForm,
) -> Result<Redirect, Failure> {
    let event = site.users.end_other_sessions(&form.visitor.session, form.visitor.visit.now).await?;
    site.log(&form.visitor.actor(), &event, form.visitor.visit.now).await;
    Ok(Redirect::to("/console/profile"))
}
