use std::borrow::Cow;
use std::error::Error;

use hyper::StatusCode;
use paraffin_store::StoreError;
use serde::Serialize;
use serde_json::{Value, json};

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
    /// What was asked for does not exist: an unknown transaction, block or output of the `esplora_*` family.
    pub const NOT_FOUND: i64 = -32004;
}

/// A fault of our own that has no type of its own: something that cannot be was found.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Inconsistent(String);

/// Logs a failure of our own. A read that was cancelled is none.
fn log_inside(reason: &(dyn Error + 'static), what: &'static str) {
    let text = reason.to_string();
    let text = crate::redact::redact(&text);
    if is_cancelled(reason) { tracing::debug!(reason = %text, what) } else { tracing::error!(reason = %text, what) }
}

/// Whether a read that was given up is among the causes of an error.
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

/// The error of one JSON-RPC call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ApiError {
    /// See [`rpc_code`]; errors of the node keep the node's code.
    pub code: i64,
    /// For the caller: no stack trace, path, SQL, upstream address or key.
    pub message: Cow<'static, str>,
    /// Further machine-readable members.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl ApiError {
    /// An error without `data`.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    fn with_code(code: i64, message: &'static str, stable: &'static str) -> Self {
        Self { code, message: message.into(), data: Some(json!({ "code": stable })) }
    }

    /// -32601, for an unknown method or family.
    pub fn method_not_found() -> Self {
        Self::new(rpc_code::METHOD_NOT_FOUND, "Method not found")
    }

    /// -32602 with a sentence that names the parameter.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(rpc_code::INVALID_PARAMS, message)
    }

    /// -32600 with a sentence that says what is wrong with the request.
    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(rpc_code::INVALID_REQUEST, message)
    }

    /// -32004: what was asked for does not exist.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self { code: rpc_code::NOT_FOUND, message: message.into(), data: Some(json!({ "code": "NOT_FOUND" })) }
    }

    /// -32603 without details for the caller; the reason goes to the log.
    pub fn internal(reason: &(dyn Error + 'static)) -> Self {
        log_inside(reason, "a call failed inside");
        Self::panicked()
    }

    /// The same for something that cannot be and was found.
    pub(crate) fn inconsistent(what: impl Into<String>) -> Self {
        Self::internal(&Inconsistent(what.into()))
    }

    pub(crate) fn panicked() -> Self {
        Self::with_code(rpc_code::INTERNAL, "Internal error", "INTERNAL_ERROR")
    }

    /// -32603: the handler took longer than its limit.
    pub fn timeout() -> Self {
        Self::with_code(rpc_code::INTERNAL, "timeout", "TIMEOUT")
    }

    /// Whether it is [`ApiError::timeout`].
    pub(crate) fn is_timeout(&self) -> bool {
        *self == Self::timeout()
    }

    /// -32603: the Bitcoin node cannot be asked at the moment.
    pub fn upstream_unavailable() -> Self {
        Self::with_code(rpc_code::INTERNAL, "the Bitcoin node is not available", "UPSTREAM_UNAVAILABLE")
    }

    /// -32603: nothing has been indexed yet.
    pub fn starting() -> Self {
        Self::with_code(rpc_code::INTERNAL, "the index holds no block yet", "STARTING")
    }

    /// -32603: the calls or the answer bytes of one request are used up; the call was not run.
    pub(crate) fn budget_exceeded() -> Self {
        Self::with_code(
            rpc_code::INTERNAL,
            "the request has used up its budget, so this call was not run: send it again in a smaller batch",
            "BUDGET_EXCEEDED",
        )
    }

    /// -32603: the caller has used up his calls of this minute; the call was not run.
    pub(crate) fn calls_of_minute_exceeded() -> Self {
        Self::with_code(
            rpc_code::INTERNAL,
            "the calls of this minute are used up, so this call was not run: send it again in the next minute",
            "BUDGET_EXCEEDED",
        )
    }

    /// -32603: the answer is larger than answers may be.
    pub fn response_too_large() -> Self {
        Self::with_code(rpc_code::INTERNAL, "the answer is too large", "RESPONSE_TOO_LARGE")
    }
}

/// The error of one REST request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status, also the `statusCode` of the body.
    pub status: StatusCode,
    /// Stable word for programs.
    pub code: &'static str,
    /// Sentence for people; the same rules as for [`ApiError::message`].
    pub message: Cow<'static, str>,
}

impl ApiError {
    /// Any status with its stable code.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// 400; the sentence names the field.
    pub fn bad_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "INVALID_REQUEST", message)
    }

    /// 400 for a field that is needed and not there, under none of its names.
    pub fn missing(names: &[&str]) -> Self {
        let listed = match names {
            [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        };
        Self::bad_request(format!("{listed} is required"))
    }

    /// 404.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "NOT_FOUND", message)
    }

    /// 500 without details for the caller; the reason goes to the log.
    pub fn internal(reason: &(dyn Error + 'static)) -> Self {
        log_inside(reason, "a request failed inside");
        Self::panicked()
    }

    /// The same for something that cannot be and was found.
    pub(crate) fn inconsistent(what: impl Into<String>) -> Self {
        Self::internal(&Inconsistent(what.into()))
    }

    pub(crate) fn panicked() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", "Internal error")
    }

    /// 403: only a key flagged admin may do this (docs/api.md).
    pub fn admin_key_required() -> Self {
        Self::new(StatusCode::FORBIDDEN, "ADMIN_KEY_REQUIRED", "This operation needs an admin key")
    }

    /// 400: the answer is larger than answers may be.
    pub(crate) fn response_too_large() -> Self {
        Self::new(StatusCode::BAD_REQUEST, "RESPONSE_TOO_LARGE", "the answer is too large: ask for less of it")
    }

    /// 503: nothing has been indexed yet.
    pub fn starting() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "STARTING", "the index holds no block yet")
    }
}

/// Seconds after which a request that was [`Refusal::Overloaded`] may be tried again.
pub(crate) const OVERLOADED_RETRY_SECONDS: u32 = 2;

/// A request that is turned away before any surface sees it (docs/api.md, "Who may call").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    InvalidApiKey,
    OriginNotAllowed,
    SurfaceNotAllowed,
    AuthUnavailable,
    /// Seconds until a further try, and the JSON-RPC code of the path.
    RateLimited {
        retry_after: u32,
        code: i64,
    },
    /// The process holds as many bytes as it may, or as many for this caller.
    Overloaded,
    BodyTooLarge,
    HeadersTooLarge,
    BodyTooSlow,
    BodyBroken,
    HandlerTimeout,
    NotFound,
    SurfaceNotAvailable,
    /// The verbs that the path takes.
    WrongVerb(&'static str),
    Internal,
    /// No instance behind this gateway answers.
    UpstreamUnavailable,
    /// The instances behind this gateway do not serve it.
    UpstreamRefused,
    /// A name that does not mean this machine, while only this machine is served.
    WrongHost,
}

impl Refusal {
    /// Status, stable code, JSON-RPC code, message.
    pub(crate) fn parts(self) -> (StatusCode, &'static str, i64, Cow<'static, str>) {
        use rpc_code::{INTERNAL, INVALID_REQUEST, METHOD_NOT_FOUND, NOT_ALLOWED};
        let (status, code, rpc_code, message) = match self {
            Self::RateLimited { retry_after, code } => {
                let message = format!("Rate limit exceeded. Try again in {retry_after} seconds.");
                return (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED", code, message.into());
            }
            Self::InvalidApiKey => {
                (StatusCode::UNAUTHORIZED, "INVALID_API_KEY", NOT_ALLOWED, "Invalid or missing API key")
            }
            Self::OriginNotAllowed => {
                (StatusCode::FORBIDDEN, "ORIGIN_NOT_ALLOWED", NOT_ALLOWED, "This origin is not registered")
            }
            Self::SurfaceNotAllowed => (
                StatusCode::FORBIDDEN,
                "SURFACE_NOT_ALLOWED",
                NOT_ALLOWED,
                "This alias is not allowed to use this surface",
            ),
            Self::AuthUnavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "AUTH_UNAVAILABLE",
                NOT_ALLOWED,
                "The key store cannot be consulted, so nobody is served; this is not an outage to retry through",
            ),
            Self::Overloaded => (
                StatusCode::SERVICE_UNAVAILABLE,
                "OVERLOADED",
                INTERNAL,
                "The memory for this work is in use, all of it or this caller's share; try again later",
            ),
            Self::BodyTooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, "BODY_TOO_LARGE", INVALID_REQUEST, "The request body is too large")
            }
            Self::HeadersTooLarge => (
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "HEADERS_TOO_LARGE",
                INVALID_REQUEST,
                "The request headers are too large",
            ),
            Self::BodyTooSlow => {
                (StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT", INVALID_REQUEST, "The request body came too slowly")
            }
            Self::BodyBroken => {
                (StatusCode::BAD_REQUEST, "INVALID_REQUEST", INVALID_REQUEST, "The request body could not be read")
            }
            Self::HandlerTimeout => (StatusCode::GATEWAY_TIMEOUT, "TIMEOUT", INTERNAL, "timeout"),
            Self::NotFound => (StatusCode::NOT_FOUND, "NOT_FOUND", METHOD_NOT_FOUND, "There is nothing at this path"),
            Self::SurfaceNotAvailable => (
                StatusCode::NOT_FOUND,
                "SURFACE_NOT_AVAILABLE",
                METHOD_NOT_FOUND,
                "This surface is not part of this build",
            ),
            Self::WrongVerb(_) => (
                StatusCode::METHOD_NOT_ALLOWED,
                "METHOD_NOT_ALLOWED",
                INVALID_REQUEST,
                "This path does not take this HTTP method",
            ),
            Self::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR", INTERNAL, "Internal error"),
            Self::UpstreamUnavailable => (
                StatusCode::SERVICE_UNAVAILABLE,
                "UPSTREAM_UNAVAILABLE",
                INTERNAL,
                "No instance behind this gateway answers",
            ),
            Self::UpstreamRefused => (
                StatusCode::SERVICE_UNAVAILABLE,
                "UPSTREAM_REFUSED",
                INTERNAL,
                "The instances behind this gateway do not serve it",
            ),
            Self::WrongHost => (
                StatusCode::MISDIRECTED_REQUEST,
                "WRONG_HOST",
                INVALID_REQUEST,
                "This instance serves its own machine: name localhost or an address, or set [access] trusted_proxies",
            ),
        };
        (status, code, rpc_code, message.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Read from the chain of causes, not from the text.
    #[test]
    fn a_read_that_was_cancelled_is_known_below_whatever_reports_it() {
        let below =
            paraffin_alkanes::views::ViewError::State(paraffin_alkanes::StateError::Store(StoreError::Abandoned));
        assert!(is_cancelled(&below) && is_cancelled(&ReadAbandoned));
        assert!(is_cancelled(&paraffin_amm::AmmError::Store(StoreError::Abandoned)));
        assert!(!is_cancelled(&Inconsistent(StoreError::Abandoned.to_string())));
    }
}
