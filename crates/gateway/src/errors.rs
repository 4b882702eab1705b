//! Errors of requests, with their codes and texts.

use std::borrow::Cow;
use std::error::Error;

use hyper::StatusCode;
use paraffin_store::StoreError;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::state::ReadAbandoned;

/// Codes of JSON-RPC errors (docs/api.md).
pub mod rpc_code {
    /// The body is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The body is JSON but no request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something failed on our side.
    pub const INTERNAL: i64 = -32603;
    /// The caller may not do this.
    pub const NOT_ALLOWED: i64 = -32001;
    /// The rate limit of the caller is reached, on the main JSON-RPC.
    pub const RATE_LIMITED_MAIN: i64 = -32000;
    /// The rate limit of the caller is reached, on the other JSON-RPC surfaces.
    pub const RATE_LIMITED: i64 = -32005;
    /// The requested object does not exist: an unknown transaction, block or output of the `esplora_*` family.
    pub const NOT_FOUND: i64 = -32004;
}

/// Identifies an error to programs, over HTTP and JSON-RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorKind {
    /// Stable code: `code` of an HTTP answer, `data.code` of a JSON-RPC error.
    pub name: &'static str,
    /// Status where it ends a request over HTTP.
    pub status: StatusCode,
    /// `code` of a JSON-RPC error; see [`rpc_code`]. Errors of the node keep the node's.
    pub rpc_code: i64,
    /// Whether a JSON-RPC error has `data.code`; some JSON-RPC codes are unambiguous without it.
    pub has_data: bool,
}

impl ErrorKind {
    /// -32603 in JSON-RPC.
    pub const fn new(name: &'static str, status: StatusCode) -> Self {
        Self { name, status, rpc_code: rpc_code::INTERNAL, has_data: true }
    }

    /// Sets a JSON-RPC code that is unambiguous without `data.code`.
    #[must_use]
    pub const fn of_code(self, rpc_code: i64) -> Self {
        Self { rpc_code, has_data: false, ..self }
    }

    /// An error of the node, with the node's code.
    pub const fn of_node(code: i64) -> Self {
        Self::new("UPSTREAM_UNAVAILABLE", StatusCode::SERVICE_UNAVAILABLE).of_code(code)
    }
}

/// The kinds of errors that more than one surface has (docs/api.md).
pub mod kind {
    use hyper::StatusCode as Status;

    use super::{ErrorKind, rpc_code};

    /// The body is not JSON.
    pub const PARSE_ERROR: ErrorKind =
        ErrorKind::new("INVALID_REQUEST", Status::BAD_REQUEST).of_code(rpc_code::PARSE_ERROR);
    /// The body is JSON but no request.
    pub const INVALID_REQUEST: ErrorKind =
        ErrorKind::new("INVALID_REQUEST", Status::BAD_REQUEST).of_code(rpc_code::INVALID_REQUEST);
    /// A parameter, member or path segment is invalid.
    pub const INVALID_PARAMS: ErrorKind =
        ErrorKind::new("INVALID_REQUEST", Status::BAD_REQUEST).of_code(rpc_code::INVALID_PARAMS);
    /// No such method.
    pub const METHOD_NOT_FOUND: ErrorKind =
        ErrorKind::new("NOT_FOUND", Status::NOT_FOUND).of_code(rpc_code::METHOD_NOT_FOUND);
    /// The requested object does not exist.
    pub const NOT_FOUND: ErrorKind =
        ErrorKind { rpc_code: rpc_code::NOT_FOUND, ..ErrorKind::new("NOT_FOUND", Status::NOT_FOUND) };
    /// The caller has not the right to do this.
    pub const NOT_ALLOWED: ErrorKind = ErrorKind::new("NOT_ALLOWED", Status::FORBIDDEN).of_code(rpc_code::NOT_ALLOWED);
    /// Only a key flagged admin may do this.
    pub const ADMIN_KEY_REQUIRED: ErrorKind =
        ErrorKind::new("ADMIN_KEY_REQUIRED", Status::FORBIDDEN).of_code(rpc_code::NOT_ALLOWED);
    /// The key is unknown, revoked or expired.
    pub const INVALID_API_KEY: ErrorKind =
        ErrorKind::new("INVALID_API_KEY", Status::UNAUTHORIZED).of_code(rpc_code::NOT_ALLOWED);
    /// The key store cannot be consulted.
    pub const AUTH_UNAVAILABLE: ErrorKind = ErrorKind::new("AUTH_UNAVAILABLE", Status::SERVICE_UNAVAILABLE);
    /// The path does not take this HTTP method.
    pub const METHOD_NOT_ALLOWED: ErrorKind =
        ErrorKind::new("METHOD_NOT_ALLOWED", Status::METHOD_NOT_ALLOWED).of_code(rpc_code::INVALID_REQUEST);
    /// Something failed on our side.
    pub const INTERNAL: ErrorKind = ErrorKind::new("INTERNAL_ERROR", Status::INTERNAL_SERVER_ERROR);
    /// The answer took too long.
    pub const TIMEOUT: ErrorKind = ErrorKind::new("TIMEOUT", Status::GATEWAY_TIMEOUT);
    /// An upstream server is unavailable.
    pub const UPSTREAM_UNAVAILABLE: ErrorKind = ErrorKind::new("UPSTREAM_UNAVAILABLE", Status::SERVICE_UNAVAILABLE);
    /// Nothing has been indexed yet.
    pub const STARTING: ErrorKind = ErrorKind::new("STARTING", Status::SERVICE_UNAVAILABLE);
    /// The memory for this work is in use.
    pub const OVERLOADED: ErrorKind = ErrorKind::new("OVERLOADED", Status::SERVICE_UNAVAILABLE);
    /// Calls or bytes of a request, or the calls of a minute, are used up.
    pub const BUDGET_EXCEEDED: ErrorKind = ErrorKind::new("BUDGET_EXCEEDED", Status::TOO_MANY_REQUESTS);
    /// The answer is larger than answers may be.
    pub const RESPONSE_TOO_LARGE: ErrorKind = ErrorKind::new("RESPONSE_TOO_LARGE", Status::BAD_REQUEST);
    /// This instance does not index contracts.
    pub const ALKANES_NOT_INDEXED: ErrorKind = ErrorKind::new("ALKANES_NOT_INDEXED", Status::SERVICE_UNAVAILABLE);
    /// The operator's indexer program writes an unknown format.
    pub const ALKANES_UNREADABLE: ErrorKind = ErrorKind::new("ALKANES_UNREADABLE", Status::SERVICE_UNAVAILABLE);
    /// This instance does not index inscriptions.
    pub const ORDINALS_NOT_INDEXED: ErrorKind = ErrorKind::new("ORDINALS_NOT_INDEXED", Status::SERVICE_UNAVAILABLE);
    /// This instance does not index BRC-20.
    pub const BRC20_NOT_INDEXED: ErrorKind = ErrorKind::new("BRC20_NOT_INDEXED", Status::SERVICE_UNAVAILABLE);
}

/// An internal error without a type of its own: a violated invariant.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Inconsistent(String);

/// Logs an internal failure; a cancelled read is logged at debug level only.
fn log_inside(reason: &(dyn Error + 'static), what: &'static str) {
    let text = reason.to_string();
    let text = crate::redact::redact(&text);
    if is_cancelled(reason) { tracing::debug!(reason = %text, what) } else { tracing::error!(reason = %text, what) }
}

/// Whether a cancelled read is among the causes of an error.
fn is_cancelled(mut error: &(dyn Error + 'static)) -> bool {
    loop {
        if matches!(error.downcast_ref(), Some(StoreError::Abandoned)) || error.is::<ReadAbandoned>() {
            return true;
        }
        match error.source() {
            Some(source) => error = source,
            None => return false,
        }
    }
}

/// The error of a call or a request, independent of the protocol that renders it.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// Its kind, for programs.
    pub kind: ErrorKind,
    /// The defect and what the caller can do; never a stack trace, path, SQL, upstream address or key.
    pub message: Cow<'static, str>,
    /// Further members of `data` of a JSON-RPC error.
    pub details: Option<Box<Map<String, Value>>>,
}

impl Serialize for ApiError {
    /// As a JSON-RPC error: `code`, `message` and, for most kinds, `data`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = self.data();
        let mut error = serializer.serialize_struct("error", 2 + usize::from(data.is_some()))?;
        error.serialize_field("code", &self.kind.rpc_code)?;
        error.serialize_field("message", &self.message)?;
        if let Some(data) = data {
            error.serialize_field("data", &data)?;
        }
        error.end()
    }
}

impl ApiError {
    /// An error of a kind.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), details: None }
    }

    /// Adds a member to `data`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.get_or_insert_default().insert(name.to_owned(), value.into());
        self
    }

    /// `data` of a JSON-RPC error.
    pub fn data(&self) -> Option<Value> {
        if !self.kind.has_data {
            return None;
        }
        let mut data = json!({ "code": self.kind.name });
        if let (Some(members), Some(details)) = (data.as_object_mut(), &self.details) {
            members.extend(details.as_ref().clone());
        }
        Some(data)
    }

    /// 404, -32601: an unknown method or family.
    pub fn method_not_found() -> Self {
        Self::new(kind::METHOD_NOT_FOUND, "Method not found")
    }

    /// 400, -32602 with a sentence that names the parameter or member.
    pub fn invalid(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(kind::INVALID_PARAMS, message)
    }

    /// 400, -32602 for a member that is needed and not there, under none of its names.
    pub fn missing(names: &[&str]) -> Self {
        let listed = match names {
            [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        };
        Self::invalid(format!("{listed} is required"))
    }

    /// 400, -32600 with a sentence about the defect of the request.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(kind::INVALID_REQUEST, message)
    }

    /// 404, -32004: the requested object does not exist.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(kind::NOT_FOUND, message)
    }

    /// 500, -32603 without details for the caller; the reason goes to the log.
    pub fn internal(reason: &(dyn Error + 'static)) -> Self {
        log_inside(reason, "a request failed inside");
        Self::panicked()
    }

    /// [`Self::internal`] for a violated invariant.
    pub fn inconsistent(what: impl Into<String>) -> Self {
        Self::internal(&Inconsistent(what.into()))
    }

    /// 500: a request or its read was given up.
    pub fn panicked() -> Self {
        Self::new(kind::INTERNAL, "Internal error")
    }

    /// 504, -32603: the handler took longer than its limit.
    pub fn timeout() -> Self {
        Self::new(kind::TIMEOUT, "timeout")
    }

    /// 503, -32603: the Bitcoin node is unavailable.
    pub fn upstream_unavailable() -> Self {
        Self::new(kind::UPSTREAM_UNAVAILABLE, "the Bitcoin node is not available")
    }

    /// 503, -32603: nothing has been indexed yet.
    pub fn starting() -> Self {
        Self::new(kind::STARTING, "the index holds no block yet")
    }

    /// -32603: the calls or the answer bytes of one request are used up; the call was not run.
    pub fn budget_exceeded() -> Self {
        Self::new(
            kind::BUDGET_EXCEEDED,
            "the request has used up its budget, so this call was not run: send it again in a smaller batch",
        )
    }

    /// -32603: the caller has used up its calls of this minute; the call was not run.
    pub fn calls_of_minute_exceeded() -> Self {
        Self::new(
            kind::BUDGET_EXCEEDED,
            "the calls of this minute are used up, so this call was not run: send it again in the next minute",
        )
    }

    /// 400, -32603: the answer is larger than answers may be.
    pub fn response_too_large() -> Self {
        Self::new(
            kind::RESPONSE_TOO_LARGE,
            "the answer is too large: ask for less of it, with a limit where there is one",
        )
    }

    /// 403: only a key flagged admin may do this (docs/api.md).
    pub fn admin_key_required() -> Self {
        Self::new(kind::ADMIN_KEY_REQUIRED, "This operation needs an admin key")
    }
}

/// Seconds after which a request that was [`Refusal::Overloaded`] may be tried again.
pub const OVERLOADED_RETRY_SECONDS: u32 = 2;

/// A request that is refused before any surface handles it (docs/api.md, "Who may call").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The key is unknown, revoked or expired.
    InvalidApiKey,
    /// The origin is not registered.
    OriginNotAllowed,
    /// The alias may not be used for the surface.
    SurfaceNotAllowed,
    /// The key store is away.
    AuthUnavailable,
    /// Too many requests.
    RateLimited {
        /// Seconds until a retry.
        retry_after: u32,
        /// JSON-RPC code of the path.
        code: i64,
    },
    /// The process holds as many bytes as it may, or as many for this caller.
    Overloaded,
    /// The body is too large.
    BodyTooLarge,
    /// The head is too large.
    HeadersTooLarge,
    /// The body came too slowly.
    BodyTooSlow,
    /// The body ended early.
    BodyBroken,
    /// The answer took too long.
    HandlerTimeout,
    /// Nothing is served at the path.
    NotFound,
    /// The surface is not part of this instance.
    SurfaceNotAvailable,
    /// The verbs that the path takes.
    WrongVerb(&'static str),
    /// A failure of ours.
    Internal,
    /// No instance behind this gateway answers.
    UpstreamUnavailable,
    /// The instances behind this gateway do not serve it.
    UpstreamRefused,
    /// A `Host` that does not name this machine, while only this machine is served.
    WrongHost,
}

impl Refusal {
    /// As the error of the request.
    pub fn error(self) -> ApiError {
        use rpc_code::{INVALID_REQUEST, METHOD_NOT_FOUND, NOT_ALLOWED};
        let of = |name, status| ErrorKind::new(name, status);
        let (kind, message) = match self {
            Self::RateLimited { retry_after, code } => {
                let kind = of("RATE_LIMITED", StatusCode::TOO_MANY_REQUESTS).of_code(code);
                return ApiError::new(kind, format!("Rate limit exceeded. Try again in {retry_after} seconds."));
            }
            Self::InvalidApiKey => (kind::INVALID_API_KEY, "Invalid or missing API key"),
            Self::OriginNotAllowed => {
                (of("ORIGIN_NOT_ALLOWED", StatusCode::FORBIDDEN).of_code(NOT_ALLOWED), "This origin is not registered")
            }
            Self::SurfaceNotAllowed => (
                of("SURFACE_NOT_ALLOWED", StatusCode::FORBIDDEN).of_code(NOT_ALLOWED),
                "This alias is not allowed to use this surface",
            ),
            Self::AuthUnavailable => (
                kind::AUTH_UNAVAILABLE.of_code(NOT_ALLOWED),
                "The key store cannot be consulted, so no request is served; this is not an outage to retry through",
            ),
            Self::Overloaded => (
                kind::OVERLOADED,
                "The memory for this work is in use, all of it or this caller's share; try again later",
            ),
            Self::BodyTooLarge => (
                of("BODY_TOO_LARGE", StatusCode::PAYLOAD_TOO_LARGE).of_code(INVALID_REQUEST),
                "The request body is too large",
            ),
            Self::HeadersTooLarge => (
                of("HEADERS_TOO_LARGE", StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE).of_code(INVALID_REQUEST),
                "The request headers are too large",
            ),
            Self::BodyTooSlow => (
                of("REQUEST_TIMEOUT", StatusCode::REQUEST_TIMEOUT).of_code(INVALID_REQUEST),
                "The request body came too slowly",
            ),
            Self::BodyBroken => (kind::INVALID_REQUEST, "The request body could not be read"),
            Self::HandlerTimeout => return ApiError::timeout(),
            Self::NotFound => (kind::METHOD_NOT_FOUND, "There is nothing at this path"),
            Self::SurfaceNotAvailable => (
                of("SURFACE_NOT_AVAILABLE", StatusCode::NOT_FOUND).of_code(METHOD_NOT_FOUND),
                "This surface is not part of this build",
            ),
            Self::WrongVerb(_) => (kind::METHOD_NOT_ALLOWED, "This path does not take this HTTP method"),
            Self::Internal => return ApiError::panicked(),
            Self::UpstreamUnavailable => (kind::UPSTREAM_UNAVAILABLE, "No instance behind this gateway answers"),
            Self::UpstreamRefused => (
                of("UPSTREAM_REFUSED", StatusCode::SERVICE_UNAVAILABLE),
                "The instances behind this gateway do not serve it",
            ),
            Self::WrongHost => (
                of("WRONG_HOST", StatusCode::MISDIRECTED_REQUEST).of_code(INVALID_REQUEST),
                "This instance serves its own machine: name localhost or an address, or set [access] trusted_proxies",
            ),
        };
        ApiError::new(kind, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Detected by the chain of causes, not by the text.
    #[test]
    fn a_cancelled_read_is_detected_below_any_error_that_wraps_it() {
        let below =
            paraffin_alkanes::views::ViewError::State(paraffin_alkanes::StateError::Store(StoreError::Abandoned));
        assert!(is_cancelled(&below) && is_cancelled(&ReadAbandoned));
        assert!(is_cancelled(&paraffin_amm::AmmError::Store(StoreError::Abandoned)));
        assert!(!is_cancelled(&Inconsistent(StoreError::Abandoned.to_string())));
    }
}
