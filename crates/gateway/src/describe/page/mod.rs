//! The pages for browsers: `/`, an overview of the instance and its documentation, and `/docs`, with all routes and methods and
//! a form to try each, rendered from the descriptions by a script. They load nothing from other origins, which their policy forbids.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};

use crate::respond::Reply;

/// A key may be typed into the page, so that no request to other origins is allowed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A part of the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// `/`.
    Home,
    /// `/docs/home.js`.
    HomeScript,
    /// `/docs`.
    Page,
    /// `/docs/page.js`.
    Script,
    /// `/docs/page.css`, of both pages.
    Style,
    /// `/docs/icon.svg` and `/favicon.ico`.
    Icon,
}

impl Part {
    /// The part at what follows `/docs`.
    pub(super) fn at(segments: &[&str]) -> Option<Self> {
        match segments {
            [] => Some(Self::Page),
            ["page.js"] => Some(Self::Script),
            ["page.css"] => Some(Self::Style),
            ["home.js"] => Some(Self::HomeScript),
            ["icon.svg"] => Some(Self::Icon),
            _ => None,
        }
    }

    pub(super) fn answer(self) -> Reply {
        let (text, content_type) = match self {
            Self::Home => (include_str!("home.html"), "text/html; charset=utf-8"),
            Self::HomeScript => (include_str!("home.js"), "text/javascript; charset=utf-8"),
            Self::Page => (include_str!("page.html"), "text/html; charset=utf-8"),
            Self::Script => (include_str!("page.js"), "text/javascript; charset=utf-8"),
            Self::Style => (include_str!("page.css"), "text/css; charset=utf-8"),
            Self::Icon => (include_str!("icon.svg"), "image/svg+xml"),
        };
        let reply = Reply::text(StatusCode::OK, Bytes::from_static(text.as_bytes()))
            .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
            .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        Reply { content_type: Some(content_type), ..reply }
    }
}
