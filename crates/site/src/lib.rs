//! The site of an instance. The console: pages on which people manage keys, origins, aliases and webhooks, and the owner of an instance its
//! users and accounts. The explorer: pages of what the chain holds. Rendered on the server; every task works without scripts, and
//! no page takes anything from another host.
//!
//! Invariant: what a page of the console shows or changes belongs to the account of the user who is signed in, or the user is an owner; every
//! change is a POST of a page of this site, with the token of the session where there is one.
#![forbid(unsafe_code)]

mod api;
mod console;
mod explorer;
mod failure;
mod html;
mod signed_in;
mod visitor;

use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{HeaderMap, Request, Response, StatusCode};
use paraffin_access::{KeyStore, OwnershipProver, Plans};
use paraffin_users::{UnixMillis, UserStore};
use serde::{Deserialize, Serialize};
use tower_service::Service as _;

use signed_in::SignedIn;

pub use api::{Api, ApiAnswer, ApiFuture, Call, KEY_PLACEHOLDER, MemoryBudget, Tip};

/// Longest body of a form, bytes.
pub const FORM_BYTES_MAX: usize = 64 << 10;

/// Everything that a page may load is on this site; nothing stands inline, and no other site may show a page in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Who may see the explorer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExplorerAccess {
    /// Nobody: its pages are not there.
    Off,
    /// People who are signed in.
    #[default]
    SignedIn,
    /// Everyone, but for what the API asks a key for: that is shown to people who are signed in.
    Open,
}

/// What the site works on.
pub struct SiteParts {
    /// Who signs in.
    pub users: Arc<UserStore>,
    /// Accounts, keys, aliases and origins.
    pub keys: Arc<dyn KeyStore>,
    /// Looks for proofs that a domain is its account's own.
    pub prover: OwnershipProver,
    /// The plans of the instance.
    pub plans: Plans,
    /// The address under which people reach the site, such as `https://api.example.com`, without a slash at its end. With
    /// `https` cookies are sent over TLS alone. Without it, it is the host that a request names.
    pub public_url: Option<String>,
    /// Who may see the explorer.
    pub explorer: ExplorerAccess,
}

/// From where and when a page is asked for.
#[derive(Debug, Clone)]
struct Visit {
    /// The address by which callers are counted.
    client: IpAddr,
    /// The moment of the request.
    now: UnixMillis,
    /// The address of the site, without a slash at its end.
    base: String,
}

/// The site.
pub struct Site {
    router: Router,
    public_url: Option<String>,
    signed_in: Arc<SignedIn>,
}

impl Site {
    /// A site over these parts.
    pub fn new(parts: SiteParts) -> Self {
        let public_url = parts.public_url.clone();
        let site = Arc::new(parts);
        let router = console::router(&site).merge(explorer::router(&site)).with_state(site);
        Self { router, public_url, signed_in: Arc::default() }
    }

    /// Whether there is a file of the pages at a path, which is the same for everyone.
    pub fn is_file(path: &str) -> bool {
        matches!(path, "/console/site.css" | "/console/site.js" | "/console/chart.js")
    }

    /// Counts a request of somebody who is signed in and was so in the last minutes: the seconds to wait where there were too
    /// many of the same user. `None` for everyone else, who is to be counted as an anonymous caller.
    pub fn take(&self, headers: &HeaderMap, now: UnixMillis) -> Option<Result<(), u32>> {
        self.signed_in.take(&visitor::token_of(headers, self.public_url.as_deref())?, now)
    }

    /// Answers a request of a client, by whose address callers are counted; pages of the explorer ask `api`. The caller has
    /// bounded the body.
    pub async fn answer(
        &self,
        mut request: Request<Bytes>,
        client: IpAddr,
        now: UnixMillis,
        api: Arc<dyn Api>,
    ) -> Response<Bytes> {
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let base = self.public_url.clone().unwrap_or_else(|| format!("http://{host}"));
        request.extensions_mut().insert(Visit { client, now, base });
        request.extensions_mut().insert(api);
        request.extensions_mut().insert(Arc::clone(&self.signed_in));
        let request = request.map(|body| axum::body::Body::new(Full::new(body)));
        let mut router = self.router.clone();
        let response = match router.call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let (mut head, body) = response.into_parts();
        let body = match body.collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(_) => {
                head.status = StatusCode::INTERNAL_SERVER_ERROR;
                Bytes::new()
            }
        };
        for (name, value) in
            [(CONTENT_SECURITY_POLICY, POLICY), (X_CONTENT_TYPE_OPTIONS, "nosniff"), (REFERRER_POLICY, "no-referrer")]
        {
            head.headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
        head.headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        head.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("text/html; charset=utf-8"));
        Response::from_parts(head, body)
    }
}
