//! One HTTP/1.1 exchange with the node: pooled connections, Basic credentials, a time limit and a size limit.

use data_encoding::BASE64;
use std::io;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri, body::Incoming};
use paraffin_web::{BodyError, Connections, HttpClient, describe, read_body_while};
use parking_lot::Mutex;

use crate::config::{NodeAuth, NodeConfig};
use crate::error::NodeError;

/// Returns whether so many more bytes of an answer may be buffered.
pub type Keep = std::sync::Arc<dyn Fn(usize) -> bool + Send + Sync>;

/// Shorter than Bitcoin Core's `rpcservertimeout` of 30 s, so that pooled connections are rarely closed by the node.
const POOL_IDLE: Duration = Duration::from_secs(20);
/// Idle connections kept.
const POOL_SIZE_MAX: usize = 32;
/// A cookie file is one short line.
const COOKIE_BYTES_MAX: usize = 4096;

/// One exchange to make.
pub(crate) struct Exchange {
    /// Path and query, beginning with `/`.
    pub(crate) path: String,
    /// `Some` makes a POST with a JSON body, `None` a GET.
    pub(crate) body: Option<Bytes>,
    /// Largest answer accepted, in bytes.
    pub(crate) limit: usize,
    /// Whether it is idempotent.
    pub(crate) repeatable: bool,
    /// Called before more of the answer is buffered.
    pub(crate) keep: Option<Keep>,
}

/// An answer with its whole body.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) is_html: bool,
    pub(crate) body: Bytes,
}

/// Connections to one node.
pub(crate) struct Transport {
    client: HttpClient,
    /// Scheme, host and port, then the path prefix if any; no `/` at the end.
    base: String,
    auth: NodeAuth,
    authorization: Mutex<Option<HeaderValue>>,
    timeout: Duration,
}

impl Transport {
    pub(crate) fn new(config: &NodeConfig) -> Result<Self, NodeError> {
        let base = config.url.trim_end_matches('/').to_owned();
        check_url(&base).map_err(|reason| NodeError::Unavailable(format!("[node] url {reason}")))?;
        let connections = Connections { timeout: config.timeout, idle: POOL_IDLE, per_host: POOL_SIZE_MAX };
        let authorization = match &config.auth {
            NodeAuth::UserPassword { user, password } => Some(basic(format!("{user}:{password}").as_bytes())),
            NodeAuth::None | NodeAuth::CookieFile(_) => None,
        };
        Ok(Self {
            client: connections.http(),
            base,
            auth: config.auth.clone(),
            authorization: Mutex::new(authorization),
            timeout: config.timeout,
        })
    }

    /// Makes the exchange. A status of 401 is answered by reading the cookie file again, once.
    ///
    /// # Errors
    /// `Unavailable` when there is no whole answer in time, `Unauthorized`, and `TooLarge`.
    pub(crate) async fn exchange(&self, exchange: &Exchange) -> Result<Answer, NodeError> {
        match tokio::time::timeout(self.timeout, self.authorized(exchange)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(NodeError::Unavailable(format!("no answer within {} ms", self.timeout.as_millis()))),
        }
    }

    async fn authorized(&self, exchange: &Exchange) -> Result<Answer, NodeError> {
        let sent = self.current_authorization().await?;
        let answer = self.once(exchange, sent.clone()).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        let NodeAuth::CookieFile(path) = &self.auth else { return Err(NodeError::Unauthorized) };
        let fresh = read_cookie(path).await?;
        if sent.as_ref() == Some(&fresh) {
            return Err(NodeError::Unauthorized);
        }
        *self.authorization.lock() = Some(fresh.clone());
        let answer = self.once(exchange, Some(fresh)).await?;
        if answer.status == StatusCode::UNAUTHORIZED { Err(NodeError::Unauthorized) } else { Ok(answer) }
    }

    async fn current_authorization(&self) -> Result<Option<HeaderValue>, NodeError> {
        let cached = self.authorization.lock().clone();
        match &self.auth {
            NodeAuth::CookieFile(path) if cached.is_none() => {
                let cookie = read_cookie(path).await?;
                *self.authorization.lock() = Some(cookie.clone());
                Ok(Some(cookie))
            }
            _ => Ok(cached),
        }
    }

    async fn once(&self, exchange: &Exchange, authorization: Option<HeaderValue>) -> Result<Answer, NodeError> {
        let request = || {
            let method = if exchange.body.is_some() { Method::POST } else { Method::GET };
            let mut request = Request::builder().method(method).uri(format!("{}{}", self.base, exchange.path));
            if exchange.body.is_some() {
                request = request.header(CONTENT_TYPE, "application/json");
            }
            if let Some(authorization) = &authorization {
                request = request.header(AUTHORIZATION, authorization);
            }
            request
                .body(Full::new(exchange.body.clone().unwrap_or_default()))
                .map_err(|_| NodeError::Unavailable("the request path is not a URI".to_owned()))
        };
        let mut outcome = self.client.request(request()?).await;
        // A pooled connection may have been closed by the node just now: one immediate retry, never for a failed connect.
        if exchange.repeatable && outcome.as_ref().is_err_and(|error| !error.is_connect()) {
            outcome = self.client.request(request()?).await;
        }
        let response = outcome.map_err(|error| NodeError::Unavailable(describe(&error)))?;
        read_answer(response, exchange.limit, exchange.keep.as_ref()).await
    }
}

async fn read_answer(response: Response<Incoming>, limit: usize, keep: Option<&Keep>) -> Result<Answer, NodeError> {
    let status = response.status();
    let is_html = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("text/html"));
    let body = read_body_while(response, limit, |bytes| keep.is_none_or(|keep| keep(bytes)));
    let body = body.await.map_err(|error| match error {
        BodyError::TooLarge(limit) => NodeError::TooLarge(limit),
        BodyError::NoMemory => NodeError::NoMemory,
        BodyError::Closed => NodeError::Unavailable(error.to_string()),
    })?;
    Ok(Answer { status, is_html, body })
}

fn check_url(base: &str) -> Result<(), &'static str> {
    let uri: Uri = base.parse().map_err(|_| "is not a URL: write http://host:port")?;
    if uri.scheme_str() != Some("http") {
        return Err("must begin with http:// (a node speaks plain HTTP; put a tunnel in front for anything else)");
    }
    let authority = uri.authority().ok_or("names no host: write http://host:port")?;
    if authority.as_str().contains('@') {
        return Err("holds credentials: write them to [node] user and password");
    }
    if uri.query().is_some() {
        return Err("must have no query part");
    }
    Ok(())
}

async fn read_cookie(path: &Path) -> Result<HeaderValue, NodeError> {
    use tokio::io::AsyncReadExt;
    let unreadable = |error: io::Error| {
        NodeError::Unavailable(format!(
            "the file of [node] cookie_file cannot be read ({}); the node writes it when it starts",
            error.kind()
        ))
    };
    let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
    let mut text = Vec::new();
    file.take(COOKIE_BYTES_MAX as u64 + 1).read_to_end(&mut text).await.map_err(unreadable)?;
    let line = text.trim_ascii();
    if text.len() > COOKIE_BYTES_MAX || !line.contains(&b':') {
        return Err(NodeError::Unavailable(
            "the file of [node] cookie_file is not a cookie (user:password)".to_owned(),
        ));
    }
    Ok(basic(line))
}

/// `Basic` credentials of RFC 7617.
fn basic(user_and_password: &[u8]) -> HeaderValue {
    let text = format!("Basic {}", BASE64.encode(user_and_password));
    let mut value = HeaderValue::from_str(&text).expect("base64 is visible ASCII");
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_urls_without_credentials_are_accepted() {
        for good in ["http://127.0.0.1:8332", "http://[::1]:8332", "http://node:1/prefix"] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        for bad in ["", "127.0.0.1:8332", "https://node:1", "http://a:b@node:1", "http://node:1/?x=1", "ftp://x"] {
            assert!(check_url(bad).is_err(), "{bad}");
        }
    }
}
