//! The page at `/docs`: all routes and methods, and a form to try each. It is made from the two documents by its own script,
//! takes nothing from elsewhere, and is allowed nothing else.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};

use crate::respond::Reply;

/// A key may be typed into the page, so that nothing of it may go elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// A part of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// `/docs`.
    Page,
    /// `/docs/page.js`.
    Script,
    /// `/docs/page.css`.
    Style,
}

impl Part {
    /// The part at what follows `/docs`.
    pub(super) fn at(segments: &[&str]) -> Option<Self> {
        match segments {
            [] => Some(Self::Page),
            ["page.js"] => Some(Self::Script),
            ["page.css"] => Some(Self::Style),
            _ => None,
        }
    }

    pub(super) fn answer(self) -> Reply {
        let (text, content_type) = match self {
            Self::Page => (include_str!("page.html"), "text/html; charset=utf-8"),
            Self::Script => (include_str!("page.js"), "text/javascript; charset=utf-8"),
            Self::Style => (include_str!("page.css"), "text/css; charset=utf-8"),
        };
        let reply = Reply::text(StatusCode::OK, Bytes::from_static(text.as_bytes()))
            .header(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY))
            .header(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))
            .header(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        Reply { content_type: Some(content_type), ..reply }
    }
}
