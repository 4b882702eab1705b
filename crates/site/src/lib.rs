//! The site of an instance. The console: pages on which users manage keys, origins, aliases and webhooks, and the owner of an instance its
//! users and accounts. The explorer: pages about the chain. Rendered on the server; every task works without scripts, and
//! no page loads anything from another host.
//!
//! Invariant: a page of the console shows and changes only the account of the signed-in user, unless the user is an owner; every
//! change is a POST from a page of this site, with the token of the session if there is one.
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

/// Pages load only from this site, have no inline scripts or styles, and cannot be framed by other sites.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Who may see the explorer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExplorerAccess {
    /// No one: its pages answer 404.
    Off,
    /// Signed-in users.
    #[default]
    SignedIn,
    /// Everyone; data for which the API requires a key is shown only to signed-in users.
    Open,
}

/// Parts that a site is assembled from.
pub struct SiteParts {
    /// The users and their sessions.
    pub users: Arc<UserStore>,
    /// Accounts, keys, aliases and origins.
    pub keys: Arc<dyn KeyStore>,
    /// Checks proofs of domain ownership.
    pub prover: OwnershipProver,
    /// The plans of the instance.
    pub plans: Plans,
    /// The public address of the site, such as `https://api.example.com`, without a slash at its end. With
    /// `https` cookies are sent only over TLS. `None`: the host of each request.
    pub public_url: Option<String>,
    /// Who may see the explorer.
    pub explorer: ExplorerAccess,
}

/// Client and time of a request for a page.
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

    /// Whether a path is a static file of the pages.
    pub fn is_file(path: &str) -> bool {
        matches!(path, "/console/site.css" | "/console/site.js" | "/console/chart.js")
    }

    /// Counts a request of a user with a cached session: `Err` with the seconds to wait where there were too many of the user.
    /// `None` for every other visitor, who is to be counted as an anonymous caller.
    pub fn take(&self, headers: &HeaderMap, now: UnixMillis) -> Option<Result<(), u32>> {
        self.signed_in.take(&visitor::token_of(headers, self.public_url.as_deref())?, now)
    }

    /// Answers a request of a client, by whose address callers are counted; pages of the explorer read from `api`. The caller has
    /// limited the body.
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
