//! Questions over HTTP: one at a time, with a time limit and a size limit. Redirects are not followed.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    USER_AGENT,
};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::adapters::BODY_BYTES_MAX;
use crate::error::FeedError;

/// How long an idle connection is kept.
const POOL_IDLE: Duration = Duration::from_secs(30);
/// Longest validator that is sent back, bytes.
const VALIDATOR_LEN_MAX: usize = 512;

/// What a feed gave with its answer so that it can be asked for changes alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Validators {
    etag: Option<HeaderValue>,
    modified: Option<HeaderValue>,
}

/// An answer.
#[derive(Debug)]
pub(crate) enum Fetched {
    /// Nothing has changed since the answer with these validators.
    Unchanged,
    /// Bytes, and what to ask with next time.
    Body(Bytes, Validators),
}

/// Asks feeds.
#[derive(Clone)]
pub(crate) struct Web {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    timeout: Duration,
}

impl Web {
    pub(crate) fn new(timeout: Duration) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(timeout));
        connector.enforce_http(false);
        let connector =
            HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(1)
            .build(connector);
        Self { client, timeout }
    }

    /// Asks for what has changed since an earlier answer.
    pub(crate) async fn get(&self, uri: &Uri, since: &Validators) -> Result<Fetched, FeedError> {
        let mut request = Request::builder().method(Method::GET).uri(uri.clone()).header(ACCEPT, "*/*");
        if let Some(etag) = &since.etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        if let Some(modified) = &since.modified {
            request = request.header(IF_MODIFIED_SINCE, modified);
        }
        self.ask(request, Bytes::new()).await
    }

    /// Sends a JSON text.
    pub(crate) async fn post(&self, uri: &Uri, body: String) -> Result<Bytes, FeedError> {
        let request = Request::builder().method(Method::POST).uri(uri.clone()).header(CONTENT_TYPE, "application/json");
        match self.ask(request, body.into()).await? {
            Fetched::Body(body, _) => Ok(body),
            Fetched::Unchanged => Err(FeedError::Status(StatusCode::NOT_MODIFIED.as_u16())),
        }
    }

    async fn ask(&self, request: hyper::http::request::Builder, body: Bytes) -> Result<Fetched, FeedError> {
        let request = request
            .header(USER_AGENT, concat!("paraffin/", env!("CARGO_PKG_VERSION")))
            .body(Full::new(body))
            .map_err(|_| FeedError::Unavailable("the address cannot be asked".to_owned()))?;
        match tokio::time::timeout(self.timeout, self.exchange(request)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(FeedError::Unavailable(format!("no answer within {} ms", self.timeout.as_millis()))),
        }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Fetched, FeedError> {
        let response = self.client.request(request).await.map_err(|error| FeedError::Unavailable(describe(&error)))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED => return Ok(Fetched::Unchanged),
            status if status.is_redirection() => return Err(FeedError::Redirect(status.as_u16())),
            status => return Err(FeedError::Status(status.as_u16())),
        }
        let header = |name| {
            response.headers().get(name).filter(|value: &&HeaderValue| value.len() <= VALIDATOR_LEN_MAX).cloned()
        };
        let validators = Validators { etag: header(ETAG), modified: header(LAST_MODIFIED) };
        Ok(Fetched::Body(read_body(response).await?, validators))
    }
}

/// An address that can be asked.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn checked(url: &str) -> Result<Uri, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "is not an address: write https://host/path")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("must begin with https:// or http://");
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => Err("must not hold a user and password"),
        Some(authority) if !authority.host().is_empty() => Ok(uri),
        _ => Err("names no host"),
    }
}

async fn read_body(response: Response<Incoming>) -> Result<Bytes, FeedError> {
    let told = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > BODY_BYTES_MAX) {
        return Err(FeedError::TooLarge(BODY_BYTES_MAX));
    }
    let mut body = response.into_body();
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| FeedError::Unavailable("the connection closed within an answer".to_owned()))?;
        if let Ok(data) = frame.into_data() {
            if collected.len() + data.len() > BODY_BYTES_MAX {
                return Err(FeedError::TooLarge(BODY_BYTES_MAX));
            }
            collected.extend_from_slice(&data);
        }
    }
    Ok(collected.freeze())
}

/// The kind of failure without addresses.
fn describe(error: &hyper_util::client::legacy::Error) -> String {
    let mut source: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return if error.is_connect() { format!("cannot connect: {}", io.kind()) } else { io.kind().to_string() };
        }
        source = inner.source();
    }
    if error.is_connect() { "cannot connect".to_owned() } else { "the connection closed before an answer".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_without_credentials_are_asked() {
        for good in ["http://127.0.0.1:1", "https://host.example/latest.json?app_id=x"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in ["", "host.example", "ftp://x", "https://user:pass@host/", "https://", "/path"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
