//! Visitors of pages, and their forms.

use std::sync::Arc;

use axum::RequestExt as _;
use axum::extract::{Form, FromRequest, FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::header::{COOKIE, HeaderName, HeaderValue, ORIGIN, SET_COOKIE};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method};
use paraffin_access::{AccountId, NewAuditLine, UnixMillis};
use paraffin_users::{Event, Role, Session, SessionToken};

use crate::failure::Failure;
use crate::signed_in::SignedIn;
use crate::{SiteParts, Visit};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Lifetime of the cookie, seconds: that of a session.
const COOKIE_SECONDS: i64 = paraffin_users::SESSION_LIFETIME_MS / 1_000;

/// Name of the cookie. With TLS it has the `__Host-` prefix, so that browsers refuse one from another host.
fn cookie_name(public_url: Option<&str>) -> &'static str {
    if is_secure(public_url) { "__Host-paraffin" } else { "paraffin" }
}

/// Whether pages are served over TLS.
fn is_secure(public_url: Option<&str>) -> bool {
    public_url.is_some_and(|url| url.starts_with("https://"))
}

impl SiteParts {
    /// The header that sets the session cookie.
    pub(crate) fn session_cookie(&self, token: &SessionToken) -> HeaderValue {
        self.cookie(&token.reveal(), COOKIE_SECONDS)
    }

    /// The header that removes the session cookie.
    pub(crate) fn no_cookie(&self) -> HeaderValue {
        self.cookie("", 0)
    }

    fn cookie(&self, value: &str, seconds: i64) -> HeaderValue {
        let public_url = self.public_url.as_deref();
        let secure = if is_secure(public_url) { "; Secure" } else { "" };
        let name = cookie_name(public_url);
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
        // Invariant: a token is Base64 for URLs.
        HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
    }

    /// Writes an action of a user into the audit log. If that fails, the line goes to the program's log, and the visitor still gets
    /// the answer, since the action is done and the answer may be shown only once.
    pub(crate) async fn log(&self, actor: &str, event: &Event, now: UnixMillis) {
        let (actor, action) = (actor.to_owned(), event.action());
        let line = NewAuditLine { actor, action, subject: event.subject(), detail: event.detail() };
        if let Err(error) = self.keys.note(line.clone(), now).await {
            tracing::error!(%error, ?line, "a line of the audit log could not be written");
        }
    }
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value).next()
}

/// The token of the session, if the browser has one.
pub(crate) fn token(parts: &SiteParts, headers: &HeaderMap) -> Option<SessionToken> {
    token_of(headers, parts.public_url.as_deref())
}

/// As [`token`], for a site at `public_url`.
pub(crate) fn token_of(headers: &HeaderMap, public_url: Option<&str>) -> Option<SessionToken> {
    cookie(headers, cookie_name(public_url))?.parse().ok()
}

/// A signed-in visitor.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) session: Session,
    pub(crate) visit: Visit,
}

impl Visitor {
    /// Name of the actor for the audit log of the accounts.
    pub(crate) fn actor(&self) -> String {
        format!("user:{}", self.session.user.id)
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.session.user.role == Role::Owner
    }

    /// Refuses visitors who are not owners.
    pub(crate) fn require_owner(&self) -> Result<(), Failure> {
        if self.is_owner() { Ok(()) } else { Err(Failure::Forbidden) }
    }

    /// The account that a page is about: the user's own, or for an owner the one that is named.
    pub(crate) fn account(&self, named: Option<&str>) -> Result<Option<AccountId>, Failure> {
        let own = self.session.user.account.map(AccountId);
        let Some(named) = named.filter(|named| !named.is_empty()) else { return Ok(own) };
        let named = AccountId(named.parse().map_err(|_| Failure::Missing)?);
        if self.is_owner() || own == Some(named) { Ok(Some(named)) } else { Err(Failure::Forbidden) }
    }
}

fn visit(parts: &Parts) -> Result<Visit, Failure> {
    parts.extensions.get().cloned().ok_or_else(|| Failure::Away("a request without its visit".to_owned()))
}

impl FromRequestParts<Arc<SiteParts>> for Visitor {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<SiteParts>) -> Result<Self, Failure> {
        let session = parts.extensions.get::<Session>().cloned().ok_or(Failure::SignIn)?;
        Ok(Self { session, visit: visit(parts)? })
    }
}

/// Finds the session of a request, and rotates an old token.
pub(crate) async fn recognise(
    State(site): State<Arc<SiteParts>>,
    mut request: Request,
    next: Next,
) -> Result<Response, Failure> {
    let Some(token) = token(&site, request.headers()) else { return Ok(next.run(request).await) };
    let now = request.extensions().get::<Visit>().map_or(0, |visit| visit.now);
    let Some(session) = site.users.session(&token, now).await? else { return Ok(next.run(request).await) };
    let signed_in = request.extensions().get::<Arc<SignedIn>>().cloned();
    let user = session.user.id;
    let rotates = session.must_rotate && request.method() == Method::GET;
    let mut new = None;
    if rotates {
        let rotated = site.users.rotate(&token, now).await?;
        site.log(&format!("user:{}", session.user.id), &rotated.event, now).await;
        request.extensions_mut().insert(rotated.session);
        new = Some(rotated.token);
    } else {
        request.extensions_mut().insert(session);
    }
    if let Some(signed_in) = signed_in {
        signed_in.remember(new.as_ref().unwrap_or(&token), user, now);
    }
    let mut response = next.run(request).await;
    if let Some(token) = new {
        response.headers_mut().append(SET_COOKIE, site.session_cookie(&token));
    }
    Ok(response)
}

/// The fields of a form. Without `Debug`: there are passwords in it.
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// A trimmed field; empty if missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// A field as it was typed.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// All values of a repeated field.
    pub(crate) fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(known, _)| known == name).map(|(_, value)| value.clone()).collect()
    }

    /// A field with a limit; empty means no limit.
    pub(crate) fn limit(&self, name: &str, label: &str) -> Result<Option<u32>, Failure> {
        let text = self.get(name).replace([',', ' '], "");
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| Failure::Refused(format!("{label} must be a number, or empty for none")))
    }
}

/// A form of a page of this site, from a visitor who need not be signed in.
pub(crate) struct OpenForm {
    pub(crate) fields: Fields,
    pub(crate) visit: Visit,
    /// Token of the browser's current session, which a new one replaces.
    pub(crate) token: Option<SessionToken>,
}

/// A form of a signed-in visitor, with the token of the session.
pub(crate) struct SessionForm {
    pub(crate) fields: Fields,
    pub(crate) visitor: Visitor,
    pub(crate) token: SessionToken,
}

/// Whether the browser reports that another site than the one at `base` sent a form.
fn is_foreign(headers: &HeaderMap, base: &str) -> bool {
    match (headers.get(FETCH_SITE), headers.get(ORIGIN)) {
        (Some(site), _) => !matches!(site.as_bytes(), b"same-origin" | b"none"),
        (None, Some(origin)) => origin.as_bytes() != base.as_bytes(),
        (None, None) => false,
    }
}

async fn fields(request: Request) -> Result<Fields, Failure> {
    let Form(fields): Form<Vec<(String, String)>> =
        request.extract().await.map_err(|_| Failure::Refused("The form could not be read.".to_owned()))?;
    Ok(Fields(fields))
}

impl FromRequest<Arc<SiteParts>> for OpenForm {
    type Rejection = Failure;

    async fn from_request(request: Request, site: &Arc<SiteParts>) -> Result<Self, Failure> {
        let visit: Option<Visit> = request.extensions().get().cloned();
        let visit = visit.ok_or_else(|| Failure::Away("a request without its visit".to_owned()))?;
        if is_foreign(request.headers(), &visit.base) {
            return Err(Failure::ForeignForm);
        }
        let token = token(site, request.headers());
        Ok(Self { fields: fields(request).await?, visit, token })
    }
}

impl FromRequest<Arc<SiteParts>> for SessionForm {
    type Rejection = Failure;

    async fn from_request(mut request: Request, site: &Arc<SiteParts>) -> Result<Self, Failure> {
        let visitor: Visitor = request.extract_parts_with_state(site).await?;
        if is_foreign(request.headers(), &visitor.visit.base) {
            return Err(Failure::ForeignForm);
        }
        let token = token(site, request.headers()).ok_or(Failure::SignIn)?;
        let fields = fields(request).await?;
        if !visitor.session.check_csrf(fields.raw("csrf")) {
            return Err(Failure::ForeignForm);
        }
        Ok(Self { fields, visitor, token })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn forms_of_other_sites_are_refused() {
        for (given, foreign) in [
            (vec![], false),
            (vec![("sec-fetch-site", "same-origin")], false),
            (vec![("sec-fetch-site", "none")], false),
            (vec![("sec-fetch-site", "same-site")], true),
            (vec![("sec-fetch-site", "cross-site"), ("origin", "http://a:1")], true),
            (vec![("origin", "http://a:1")], false),
            (vec![("origin", "https://a:1")], true),
            (vec![("origin", "http://b:1")], true),
            (vec![("origin", "null")], true),
        ] {
            assert_eq!(is_foreign(&headers(&given), "http://a:1"), foreign, "{given:?}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let all = headers(&[("cookie", "a=1; paraffin=x; __Host-paraffin=y")]);
        assert_eq!(cookie(&all, "paraffin"), Some("x"));
        assert_eq!(cookie(&all, "__Host-paraffin"), Some("y"));
        assert_eq!(cookie(&all, "araffin"), None);
    }
}
