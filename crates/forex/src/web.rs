//! Questions over HTTP: one at a time, with a time limit and a size limit. Redirects are not followed.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{
    ACCEPT, CONTENT_TYPE, ETAG, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, USER_AGENT,
};
use hyper::{Method, Request, StatusCode, Uri};
use paraffin_web::{BodyError, Connections, HttpsClient, describe, read_body};

use crate::adapters::BODY_BYTES_MAX;
use crate::error::FeedError;

/// Time after which an idle connection is closed.
const POOL_IDLE: Duration = Duration::from_secs(30);
/// Longest validator that is sent back, bytes.
const VALIDATOR_LEN_MAX: usize = 512;

/// Validators of the last answer (`ETag`, `Last-Modified`), for conditional requests.
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
    /// Bytes, and the validators for the next request.
    Body(Bytes, Validators),
}

/// Asks feeds.
#[derive(Clone)]
pub(crate) struct Web {
    client: HttpsClient,
    timeout: Duration,
}

impl Web {
    pub(crate) fn new(timeout: Duration) -> Self {
        let client = Connections { timeout, idle: POOL_IDLE, per_host: 1 }.https();
        Self { client, timeout }
    }

    /// Requests what has changed since an earlier answer.
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
            .map_err(|_| FeedError::Unavailable("the address cannot be requested".to_owned()))?;
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
        let body = read_body(response, BODY_BYTES_MAX).await.map_err(|error| match error {
            BodyError::TooLarge(limit) => FeedError::TooLarge(limit),
            BodyError::Closed | BodyError::NoMemory => FeedError::Unavailable(error.to_string()),
        })?;
        Ok(Fetched::Body(body, validators))
    }
}
