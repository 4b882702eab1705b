//! Spans of requests, named as the semantic conventions of OpenTelemetry name them for HTTP and JSON-RPC (docs/tracing.md).
//!
//! They hold no unchecked caller data: paths are redacted, queries and headers omitted, and only existing methods named.

use hyper::header::HeaderName;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode, Version};
use paraffin_spans::{Span, Traceparent, Tracer, Value, child, note};

use crate::errors::{ApiError, kind};
use crate::redact::redacted_path;
use crate::request::verb_name;
use crate::request_id::RequestId;
use crate::rest;
use crate::routes::{Credential, Route, Target};
use crate::state::Caller;
use crate::surface::Surfaces;

/// Header of W3C Trace Context.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Recorded for a verb or a method that does not exist.
const OTHER: &str = "_OTHER";

/// The span of one request.
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// Begins it, if the request is recorded.
    pub(crate) fn begin(tracer: Option<&Tracer>, headers: &HeaderMap) -> Self {
        Self(tracer.map_or_else(Span::none, |tracer| tracer.request(traceparent(headers))))
    }

    /// The handler, whose parts become children.
    pub(crate) fn scope<F: Future + Unpin>(&self, handler: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.scope(handler)
    }

    /// Ends it with the attributes of the answer.
    pub(crate) fn end(mut self, surfaces: &Surfaces, route: &Route, head: &Parts, id: &RequestId, status: u16) {
        let span = &mut self.0;
        if !span.is_recorded() {
            return;
        }
        let verb = span_verb(&head.method);
        let template = template(surfaces, route, &head.method);
        span.rename(|| template.as_deref().map_or_else(|| verb.to_owned(), |template| format!("{verb} {template}")));
        span.set("http.request.method", verb);
        if let Some(template) = template {
            span.set("http.route", template);
        }
        span.set("url.scheme", "http");
        span.set("url.path", redacted_path(head.uri.path()));
        span.set("network.protocol.version", if head.version == Version::HTTP_10 { "1.0" } else { "1.1" });
        span.set("http.response.status_code", status);
        if status >= 500 {
            span.fail(status.to_string());
        }
        span.set("paraffin.surface", route.surface_name());
        span.set("paraffin.request_id", id.as_str().to_owned());
    }
}

/// The `traceparent` of a request, if there is exactly one and it is valid.
fn traceparent(headers: &HeaderMap) -> Option<Traceparent> {
    let mut given = headers.get_all(TRACEPARENT).iter();
    let first = given.next()?;
    if given.next().is_some() { None } else { Traceparent::parse(first.as_bytes()) }
}

fn span_verb(verb: &Method) -> &'static str {
    match verb_name(verb) {
        "other" => OTHER,
        name => name,
    }
}

/// The path of a request with placeholders for the segments that callers choose; `None` where nothing is served.
#[doc(hidden)] // for the test that the lists of all surfaces are needed for
pub fn template(surfaces: &Surfaces, route: &Route, verb: &Method) -> Option<String> {
    let caller = match route.credential {
        Credential::PathKey(_) | Credential::PathAlias(_) => "/v4/{key}",
        Credential::HeaderOriginOrAnonymous | Credential::HeaderOrOrigin => "/v4/api",
        _ => "/v4/jsonrpc",
    };
    let below = |groups: &[&'static rest::Group], segments: &[String]| {
        rest::find(groups, segments, verb).ok().map(|endpoint| endpoint.path)
    };
    Some(match &route.target {
        Target::Main => caller.to_owned(),
        Target::Rest(segments) => format!("{caller}/{}", below(surfaces.rest, segments).unwrap_or("{route}")),
        Target::Beside(name, segments) => {
            let caller = if caller == "/v4/{key}" { caller } else { "/v4" };
            let path = below(surfaces.beside.groups, segments);
            path.map_or_else(|| format!("{caller}/{name}/{{route}}"), |path| format!("{caller}/{path}"))
        }
        Target::Surface(surface, _) if surface.base == rest::Base::Apart => "/api/v1/{key}".to_owned(),
        Target::Surface(surface, _) => format!("{caller}/{}", surface.name),
        Target::Health => "/v4/api/health".to_owned(),
        Target::PlainHealth if caller == "/v4/{key}" => format!("{caller}/health"),
        Target::PlainHealth => "/health".to_owned(),
        Target::Site | Target::Description(_) | Target::Nothing => return None,
    })
}

/// Adds who calls to the span of the request: the kind of credential and the account, never a key.
pub(crate) fn note_caller(caller: &Caller) {
    let (kind, account) = match caller {
        Caller::Key(record) => ("key", Some(record.account)),
        Caller::Alias(record) => ("alias", Some(record.account)),
        Caller::Origin(record) => ("origin", Some(record.account)),
        Caller::Keyless => ("keyless", None),
    };
    note("paraffin.caller", || kind.into());
    if let Some(account) = account {
        note("user.id", || account.0.to_string().into());
    }
}

/// Adds the number of its calls to the span of a request that is a batch.
pub(crate) fn note_batch(calls: usize) {
    note("paraffin.batch.calls", || Value::Number(i64::try_from(calls).unwrap_or(i64::MAX)));
}

/// The span of one JSON-RPC call.
pub(crate) struct CallSpan {
    span: Span,
    is_alone: bool,
}

impl CallSpan {
    /// Begins that of the only call of a request, if the request is recorded.
    pub(crate) fn alone() -> Self {
        Self { span: child("call"), is_alone: true }
    }

    /// Begins that of an entry of a batch.
    pub(crate) fn in_batch() -> Self {
        Self { span: child("call"), is_alone: false }
    }

    /// The method, whose parts become children.
    pub(crate) fn scope<F: Future + Unpin>(&self, method: F) -> impl Future<Output = F::Output> + use<F> {
        self.span.scope(method)
    }

    /// Records the outcome of the call; the span ends when it is dropped. For a single call the span of the request gets the method as
    /// well.
    pub(crate) fn end(&mut self, method: &str, error: Option<&ApiError>) {
        let span = &mut self.span;
        if !span.is_recorded() {
            return;
        }
        // A method that does not exist may be any text.
        let does_exist = error.is_none_or(|error| error.kind != kind::METHOD_NOT_FOUND) && is_method(method);
        let method = if does_exist { method } else { OTHER };
        span.rename(|| method.to_owned());
        span.set("rpc.system.name", "jsonrpc");
        span.set("rpc.method", method.to_owned());
        if self.is_alone {
            note("rpc.system.name", || "jsonrpc".into());
            note("rpc.method", || method.to_owned().into());
        }
        if let Some(error) = error {
            if self.is_alone {
                note("rpc.response.status_code", || error.kind.rpc_code.to_string().into());
            }
            span.set("rpc.response.status_code", error.kind.rpc_code.to_string());
            span.fail(error.kind.rpc_code.to_string());
        }
    }
}

/// Whether a name has the form of those that are declared: words, with no digits in a row that could be a key.
fn is_method(name: &str) -> bool {
    /// Longest name.
    const BYTES_MAX: usize = 96;
    name.len() <= BYTES_MAX
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b':'))
        && crate::redact::redact(name) == name
}

/// The span of one request to an instance behind this gateway.
pub(crate) struct UpstreamSpan(Span);

impl UpstreamSpan {
    /// Begins it, if its request is recorded. The instance is identified by its index in the configuration; its address is never disclosed.
    pub(crate) fn begin(verb: &Method, index: usize) -> Self {
        let mut span = child("upstream").of_client();
        if span.is_recorded() {
            let verb = span_verb(verb);
            span.rename(|| verb.to_owned());
            span.set("http.request.method", verb);
            span.set("paraffin.upstream", Value::Number(i64::try_from(index).unwrap_or(i64::MAX)));
        }
        Self(span)
    }

    /// The `traceparent` header for the instance, if the request is recorded.
    pub(crate) fn traceparent(&self) -> Option<String> {
        self.0.traceparent()
    }

    /// Ends it with the status of the answer, or with the type of the error.
    pub(crate) fn end(mut self, answer: Result<StatusCode, &'static str>) {
        match answer {
            Ok(status) => {
                self.0.set("http.response.status_code", status.as_u16());
                if status.is_client_error() || status.is_server_error() {
                    self.0.fail(status.as_u16().to_string());
                }
            }
            Err(kind) => self.0.fail(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_methods() {
        assert!(is_method("alkanes_protorunesbyaddress") && is_method("esplora_txs:package"));
        for bad in ["btc 1", "0123456789abcdef0123456789abcdef", &"a".repeat(97), "é", "a\n"] {
            assert!(!is_method(bad), "{bad}");
        }
    }

    #[test]
    fn two_traceparents_are_none() {
        let one = hyper::header::HeaderValue::from_static("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        let mut headers = HeaderMap::new();
        headers.append(TRACEPARENT, one.clone());
        assert!(traceparent(&headers).is_some());
        headers.append(TRACEPARENT, one);
        assert_eq!(traceparent(&headers), None);
    }
}
