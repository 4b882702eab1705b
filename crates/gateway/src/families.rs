//! Servers of the operator that answer a family of methods instead of our own index (`docs/decisions/0022`). Their answers are as
//! untrusted as requests: sizes and times are limited, redirects are not followed, and their error texts never reach a caller.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use paraffin_web::{BodyError, Connections, HttpsClient, describe, read_body_while};

use crate::byte_budget::{HeldBytes, HeldFor};
use crate::errors::{ApiError, ErrorKind, kind};
use crate::fairness::FairSemaphore;
use crate::limits::Limits;
use crate::state::RequestContext;

/// Time-out of a connection attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an idle connection is kept: shorter than the servers keep theirs.
const POOL_IDLE: Duration = Duration::from_secs(30);

/// Addresses of servers that answer families of methods instead of our index, `http` or `https`, with or without a path, without a query;
/// by the names that the crates of the families declare.
pub type Families = Vec<(&'static str, Uri)>;

/// The servers of [`Families`].
#[derive(Default)]
pub struct FamilyServers(Vec<FamilyServer>);

impl FamilyServers {
    pub(crate) fn new(families: &Families, limits: &Limits) -> Self {
        Self(families.iter().map(|(name, uri)| FamilyServer::new(name, uri, limits)).collect())
    }

    /// The server of that name.
    pub fn of(&self, name: &str) -> Option<&FamilyServer> {
        self.0.iter().find(|server| server.name == name)
    }
}

/// One such server.
pub struct FamilyServer {
    name: &'static str,
    client: HttpsClient,
    /// Prefix of the URL of every request; may contain a secret and is never disclosed.
    base: String,
    /// A quarter of them for one caller.
    requests: FairSemaphore,
    answer_bytes_max: usize,
    timeout: Duration,
}

/// One caller may have one of so many parts of the concurrent requests to a server.
const PARTS: usize = 4;

/// A whole answer, counted among the bytes that the process holds for as long as this lives.
pub struct FamilyAnswer {
    /// Its status.
    pub status: StatusCode,
    /// Its `Content-Encoding`.
    pub encoding: Option<HeaderValue>,
    /// Its body.
    pub body: Bytes,
    _held: HeldBytes,
}

/// The kind of a failed request; the reason has been logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// The server is unreachable, too slow, or gives an invalid answer.
    Unavailable,
    /// The answer exceeds the size limit.
    TooLarge,
}

impl FamilyServer {
    fn new(name: &'static str, address: &Uri, limits: &Limits) -> Self {
        let requests = limits.family_requests_max;
        let connections = Connections { timeout: CONNECT_TIMEOUT, idle: POOL_IDLE, per_host: requests };
        Self {
            name,
            client: connections.https(),
            base: address.to_string().trim_end_matches('/').to_owned(),
            requests: FairSemaphore::new(requests, PARTS),
            answer_bytes_max: limits.family_answer_bytes_max,
            timeout: limits.family_timeout(),
        }
    }

    /// Requests a path that begins with `/` and needs no percent-encoding.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub async fn get(&self, context: &RequestContext, path: &str) -> Result<FamilyAnswer, NoAnswer> {
        self.get_encoded(context, path, None).await
    }

    /// As [`FamilyServer::get`], with the accepted content encodings.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub async fn get_encoded(
        &self,
        context: &RequestContext,
        path: &str,
        encodings: Option<&str>,
    ) -> Result<FamilyAnswer, NoAnswer> {
        match tokio::time::timeout(self.timeout, self.exchange(context, path, encodings)).await {
            Ok(answer) => answer,
            Err(_) => Err(self.failed("no answer in time")),
        }
    }

    /// As [`FamilyServer::get`], with the time limit of the request itself.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub async fn get_patiently(&self, context: &RequestContext, path: &str) -> Result<FamilyAnswer, NoAnswer> {
        self.exchange(context, path, None).await
    }

    async fn exchange(
        &self,
        context: &RequestContext,
        path: &str,
        encodings: Option<&str>,
    ) -> Result<FamilyAnswer, NoAnswer> {
        let _permit = context.permit(&self.requests).await.ok_or(NoAnswer::Unavailable)?;
        let mut held = context.held_bytes(HeldFor::Families);
        let mut request = Request::builder().method(Method::GET).uri(format!("{}{path}", self.base));
        request = request.header(ACCEPT, "application/json");
        if let Some(encodings) = encodings {
            request = request.header(ACCEPT_ENCODING, encodings);
        }
        let request = request.body(Full::default()).map_err(|_| self.failed("the path is invalid"))?;
        let response = self.client.request(request).await.map_err(|error| self.failed(&describe(&error)))?;
        let status = response.status();
        let encoding = response.headers().get(CONTENT_ENCODING).cloned();
        let body = read_body_while(response, self.answer_bytes_max, |bytes| held.reach_now(bytes));
        let body = body.await.map_err(|error| match error {
            BodyError::NoMemory => {
                context.budget().overload();
                NoAnswer::Unavailable
            }
            BodyError::TooLarge(_) => {
                self.failed("an answer above the limit");
                NoAnswer::TooLarge
            }
            BodyError::Closed => self.failed("the connection closed in the middle of an answer"),
        })?;
        Ok(FamilyAnswer { status, encoding, body, _held: held })
    }

    /// Logs a failure.
    pub fn failed(&self, reason: &str) -> NoAnswer {
        tracing::warn!(server = self.name, reason = %crate::redact::redact(reason), "a family's server gave no answer");
        NoAnswer::Unavailable
    }

    /// Logs an unexpected status.
    pub fn failed_with(&self, status: StatusCode) -> NoAnswer {
        let what = if status.is_redirection() { ", which points elsewhere and is not followed" } else { "" };
        self.failed(&format!("HTTP {}{what}", status.as_u16()))
    }

    /// The error of a call or a request.
    pub fn error(&self, error: NoAnswer) -> ApiError {
        match error {
            NoAnswer::TooLarge => {
                let kind = ErrorKind { status: StatusCode::SERVICE_UNAVAILABLE, ..kind::RESPONSE_TOO_LARGE };
                ApiError::new(kind, "the answer is too large")
            }
            NoAnswer::Unavailable => {
                ApiError::new(kind::UPSTREAM_UNAVAILABLE, format!("the {} server is not available", self.name))
            }
        }
    }
}
