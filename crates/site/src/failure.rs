//! Failures of pages and forms.

use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use hyper::header::{HeaderValue, RETRY_AFTER};
use paraffin_access::AccessError;
use paraffin_users::UsersError;

use crate::html::Notice;

/// The sign-in page.
pub(crate) const SIGN_IN: &str = "/console/sign-in";
/// Longest return path after signing in, bytes.
const RETURN_PATH_BYTES_MAX: usize = 2_000;

/// The return path after signing in, if it is a page of this site for every browser.
pub(crate) fn return_path(path: &str) -> Option<&str> {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'\\' | b'"' | b'<' | b'>'));
    let rest = path.strip_prefix("/explorer").or_else(|| path.strip_prefix("/console"))?;
    let is_page = rest.is_empty() || rest.starts_with(['/', '?', '#']);
    let climbs = path.split(['/', '?', '#']).any(|part| matches!(part, "." | ".."));
    (is_plain && is_page && !climbs && path.len() <= RETURN_PATH_BYTES_MAX).then_some(path)
}

/// A failure that ends a request without its page.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An unauthenticated visitor, who is redirected to the sign-in page.
    SignIn,
    /// The page is for owners, or of another account.
    Forbidden,
    /// There is no such page or record.
    Missing,
    /// The subject of a page does not exist: a sentence.
    NotThere(String),
    /// This instance does not have it, or it is unavailable: a sentence.
    NotServed(String),
    /// A form of another site or of an ended session.
    ForeignForm,
    /// The account database cannot be consulted.
    Away(String),
    /// An invalid field of a form: a sentence for the visitor.
    Refused(String),
    /// Try again after so many seconds.
    Later(u32, String),
}

impl Failure {
    /// The sentence for a form that is shown again; other failures end the request.
    pub(crate) fn into_sentence(self) -> Result<String, Self> {
        match self {
            Self::Refused(sentence) => Ok(sentence),
            other => Err(other),
        }
    }
}

impl From<UsersError> for Failure {
    fn from(error: UsersError) -> Self {
        match error {
            UsersError::Unavailable(reason) | UsersError::NoRandomness(reason) => Self::Away(reason),
            UsersError::NewerSchema { .. } | UsersError::InvalidCost(_) => Self::Away(error.to_string()),
            UsersError::SignedOut => Self::SignIn,
            UsersError::Busy => Self::Later(5, error.to_string()),
            UsersError::Throttled { seconds } => Self::Later(seconds, error.to_string()),
            UsersError::NoSuchUser | UsersError::NoSuchSession | UsersError::NoSuchLink => Self::Missing,
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<AccessError> for Failure {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Unavailable(reason) | AccessError::NoRandomness(reason) => Self::Away(reason),
            AccessError::NewerSchema { .. } => Self::Away(error.to_string()),
            AccessError::NoSuchKey
            | AccessError::NoSuchAccount
            | AccessError::NoSuchAlias
            | AccessError::NoSuchOrigin => Self::Missing,
            other => Self::Refused(other.to_string()),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let (status, title, sentence) = match self {
            Self::SignIn => return Redirect::to(SIGN_IN).into_response(),
            Self::Forbidden => {
                (StatusCode::FORBIDDEN, "Not allowed", "This page is for the owner of the instance.".to_owned())
            }
            Self::Missing => (StatusCode::NOT_FOUND, "Not found", "There is nothing at this address.".to_owned()),
            Self::NotThere(sentence) => (StatusCode::NOT_FOUND, "Not found", sentence),
            Self::NotServed(sentence) => (StatusCode::SERVICE_UNAVAILABLE, "Not available", sentence),
            Self::ForeignForm => (
                StatusCode::FORBIDDEN,
                "Form refused",
                "This form is of an earlier session or of another site. Go back, load the page again and send it once more."
                    .to_owned(),
            ),
            Self::Away(reason) => {
                tracing::error!(reason, "the account database cannot be consulted");
                let sentence = "The account database cannot be consulted, so signing in is not possible. Try again later.";
                (StatusCode::SERVICE_UNAVAILABLE, "Not available", sentence.to_owned())
            }
            Self::Refused(sentence) => (StatusCode::UNPROCESSABLE_ENTITY, "Not accepted", sentence),
            Self::Later(seconds, sentence) => {
                let mut response =
                    (StatusCode::TOO_MANY_REQUESTS, Notice::page("Try again later", sentence)).into_response();
                response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
                return response;
            }
        };
        (status, Notice::page(title, sentence)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_to_pages_of_this_site_alone() {
        for path in
            ["/explorer", "/explorer/tx/ab?inputs=5#inputs", "/console/keys", "/console?x=%2F", "/explorer?q=https://a"]
        {
            assert_eq!(return_path(path), Some(path));
        }
        for path in [
            "",
            "//host/explorer",
            "https://host/explorer",
            "/explorer\\host",
            "/\\host",
            "/explorers",
            "/console@host",
            "/explorer/../v4",
            "/explorer/./x",
            "/explorer/é",
            "/explorer/a b",
            "/explorer\r\nset-cookie:x",
            "explorer",
        ] {
            assert_eq!(return_path(path), None, "{path}");
        }
        assert_eq!(return_path(&format!("/explorer?{}", "x".repeat(2_000))), None);
    }
}
