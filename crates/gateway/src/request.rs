//! What happens to one HTTP request, from its head to the answer with all headers.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CACHE_CONTROL, CONNECTION, EXPECT, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Version};
use paraffin_access::ApiKey;
use tracing::Instrument as _;

use crate::admission::{Quota, admit};
use crate::body::{self, BodyLimit};
use crate::callers::{Identified, identify};
use crate::clients::client_address;
use crate::errors::{Refusal, RestError};
use crate::jsonrpc::{self, CatchPanic, top_level_method};
use crate::redact::{redact, redacted_key};
use crate::respond::Reply;
use crate::routes::{Credential, ErrorForm, KeyedSurface, Route, Target};
use crate::state::{Caller, RequestContext, Shared};
use crate::surfaces::{HttpRequest, HttpSurface, RpcSurface};
use crate::{cors, health, rest};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const INDEXED_HEIGHT: HeaderName = HeaderName::from_static("x-indexed-height");
/// An id that a caller sends along is kept when it is no longer than this and made of harmless characters.
const REQUEST_ID_BYTES_MAX: usize = 64;

const RPC_VERBS: &str = "POST, OPTIONS";
const GET_VERBS: &str = "GET, HEAD, OPTIONS";
const HEALTH_VERBS: &str = "GET, HEAD, POST, OPTIONS";

/// An answer and the height of the chain data in it.
struct Outcome {
    reply: Reply,
    height: Option<u32>,
    /// For the access log.
    caller: String,
    /// Whether the page at the request's `Origin` may read the answer.
    readable: bool,
}

impl Outcome {
    fn plain(reply: Reply) -> Self {
        Self { reply, height: None, caller: "-".to_owned(), readable: false }
    }
}

/// Answers one request; never fails.
pub(crate) async fn answer(shared: Arc<Shared>, peer: SocketAddr, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let started = Instant::now();
    let _in_flight = shared.metrics.in_flight();
    let request_id = request_id(request.headers());
    let route = Route::parse(request.uri().path());
    let (verb, version) = (request.method().clone(), request.version());
    let path = shared.config.access_log.then(|| redact(request.uri().path()));
    let origin = cors::single_origin(request.headers()).cloned();

    let client = client_address(peer, request.headers(), &shared.access.trusted_proxies);
    let quota = OnceLock::new();

    let (head, mut body) = request.into_parts();
    let span = tracing::error_span!("request", id = request_id.to_str().unwrap_or("none"));
    let handled = CatchPanic::new(Box::pin(route_request(&shared, &route, client, &quota, &head, &mut body)));
    let outcome = handled.instrument(span).await.unwrap_or_else(|_| {
        shared.metrics.panic();
        Outcome::plain(Reply::refusal(Refusal::Internal, route.form))
    });
    if !head.headers.contains_key(EXPECT) && outcome.reply.status != StatusCode::REQUEST_TIMEOUT {
        body::discard(&mut body).await;
    }

    let caller = outcome.caller.clone();
    let response = finish(&route, origin.as_ref(), &request_id, quota.get().copied(), outcome, version);
    let (status, elapsed) = (response.status().as_u16(), started.elapsed());
    shared.metrics.request(route.surface_name(), status, elapsed);
    if let Some(path) = path {
        tracing::info!(
            target: "paraffin::access",
            request_id = request_id.to_str().unwrap_or("none"),
            peer = %client,
            verb = verb_name(&verb),
            surface = route.surface_name(),
            path = %path,
            caller = %caller,
            status,
            elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
            "request"
        );
    }
    response
}

async fn route_request(
    shared: &Arc<Shared>,
    route: &Route,
    client: IpAddr,
    quota: &OnceLock<Quota>,
    head: &Parts,
    body: &mut Incoming,
) -> Outcome {
    let refuse = |refusal| Outcome::plain(Reply::refusal(refusal, route.form));
    if head_bytes(head) > shared.config.limits.header_bytes_max {
        return refuse(Refusal::HeadersTooLarge);
    }
    if head.method == Method::OPTIONS && (route.versioned || route.target != Target::Nothing) {
        return Outcome::plain(cors::preflight(&head.headers, &shared.config.key_headers));
    }
    if let (Target::Health | Target::PlainHealth, Credential::Open) = (&route.target, &route.credential) {
        return Outcome::plain(answer_health(shared, route, &head.method));
    }
    let Identified { caller, readable } = match identify(shared, route, &head.headers).await {
        Ok(identified) => identified,
        Err(refusal) => return refuse(refusal),
    };
    let name = match (&caller, &route.credential) {
        (Caller::Key(record), Credential::PathKey(key)) => format!("key:{} {}", record.id, redacted_key(key)),
        (Caller::Key(record), _) => format!("key:{} {}…", record.id, record.prefix),
        (Caller::Alias(record), _) => format!("alias:{} {}", record.id.0, record.name),
        (Caller::Origin(record), _) => format!("origin:{} {}", record.id.0, record.pattern),
        (Caller::Keyless, _) => "keyless".to_owned(),
    };
    let counted = !matches!(route.target, Target::PlainHealth | Target::Health)
        && (route.credential != Credential::Open || route.target != Target::Nothing);
    if counted {
        let served = match admit(shared, route, &caller, client).await {
            Ok((told, served)) => {
                // Nobody else sets it.
                let _ = quota.set(told);
                served
            }
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = served {
            return Outcome { caller: name, readable, ..refuse(refusal) };
        }
    }
    Outcome { caller: name, readable, ..dispatch(shared, route, caller, head, body).await }
}

fn answer_health(shared: &Shared, route: &Route, verb: &Method) -> Reply {
    if !matches!(*verb, Method::GET | Method::HEAD | Method::POST) {
        return Reply::refusal(Refusal::WrongVerb(HEALTH_VERBS), route.form);
    }
    if route.target == Target::Health { health::json(shared) } else { health::plain() }
}

async fn dispatch(shared: &Arc<Shared>, route: &Route, caller: Caller, head: &Parts, body: &mut Incoming) -> Outcome {
    let context =
        |segments: &[String]| Arc::new(RequestContext::new(Arc::clone(shared), caller.clone(), segments.to_vec()));
    match &route.target {
        Target::Main => rpc(shared, &shared.main, context(&[]), route.form, head, body).await,
        Target::Rest(segments) => {
            let context = context(segments);
            let answered = rest_request(&context, head, body).await;
            let reply = answered.unwrap_or_else(|refused| refused.reply(ErrorForm::Rest));
            Outcome { height: context.height_read(), ..Outcome::plain(reply) }
        }
        Target::PlainHealth | Target::Health => Outcome::plain(answer_health(shared, route, &head.method)),
        Target::Opi(_) => Outcome::plain(Reply::refusal(Refusal::SurfaceNotAvailable, route.form)),
        Target::Surface(surface, segments) => keyed(shared, *surface, context(segments), route.form, head, body).await,
        Target::Nothing => Outcome::plain(Reply::refusal(Refusal::NotFound, route.form)),
    }
}

/// Why a request got no answer from its surface.
enum Refused {
    Gate(Refusal),
    Surface(RestError),
}

impl Refused {
    fn reply(&self, form: ErrorForm) -> Reply {
        match self {
            Self::Gate(refusal) => Reply::refusal(*refusal, form),
            Self::Surface(error) => Reply::rest_error(error),
        }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::Gate(refusal)
    }
}

impl From<RestError> for Refused {
    fn from(error: RestError) -> Self {
        Self::Surface(error)
    }
}

/// A POST to a JSON-RPC surface.
async fn rpc(
    shared: &Shared,
    surface: &Arc<dyn RpcSurface>,
    context: Arc<RequestContext>,
    form: ErrorForm,
    head: &Parts,
    body: &mut Incoming,
) -> Outcome {
    if head.method != Method::POST {
        return Outcome::plain(Reply::refusal(Refusal::WrongVerb(RPC_VERBS), form));
    }
    let is_large = |beginning: &[u8]| {
        let method = top_level_method(beginning).and_then(|method| std::str::from_utf8(method).ok());
        method.is_some_and(|method| surface.takes_large_body(method))
    };
    let limits = &shared.config.limits;
    let limit = BodyLimit {
        bytes_max: limits.body_bytes_max,
        large_bytes_max: limits.large_body_bytes_max,
        is_large: &is_large,
    };
    let body = match body::read(body, &limit, limits.body_read_timeout()).await {
        Ok(body) => body,
        Err(refusal) => return Outcome::plain(Reply::refusal(refusal, form)),
    };
    let answer = jsonrpc::answer(Arc::clone(surface), Arc::clone(&context), &body).await;
    let reply = match answer.body {
        Some(body) => Reply::json(answer.status, body),
        None => Reply::empty(answer.status),
    };
    Outcome { height: context.height_read(), ..Outcome::plain(reply) }
}

async fn read_plain(shared: &Shared, body: &mut Incoming, bytes_max: usize) -> Result<Bytes, Refusal> {
    let limit = BodyLimit { bytes_max, large_bytes_max: bytes_max, is_large: &|_| false };
    body::read(body, &limit, shared.config.limits.body_read_timeout()).await
}

async fn rest_request(context: &RequestContext, head: &Parts, body: &mut Incoming) -> Result<Reply, Refused> {
    let limits = context.limits();
    let segments: Vec<&str> = context.segments().iter().map(String::as_str).collect();
    let answered = match rest::find(&segments) {
        None => return Err(RestError::not_found("There is no such route").into()),
        Some(rest::Found::Post(handler)) if head.method == Method::POST => {
            let body = read_plain(context.shared(), body, limits.body_bytes_max).await?;
            let body = rest::RestBody::parse(&body, limits.json_depth_max)?;
            tokio::time::timeout(limits.handler_timeout(), async { handler(context, body).await }).await
        }
        Some(rest::Found::Get(handler)) if matches!(head.method, Method::GET | Method::HEAD) => {
            tokio::time::timeout(limits.handler_timeout(), async { handler(context, &head.headers).await }).await
        }
        Some(rest::Found::Post(_)) => return Err(Refusal::WrongVerb(RPC_VERBS).into()),
        Some(rest::Found::Get(_)) => return Err(Refusal::WrongVerb(GET_VERBS).into()),
    };
    Ok(answered.map_err(|_| Refusal::HandlerTimeout)??)
}

async fn keyed(
    shared: &Arc<Shared>,
    surface: KeyedSurface,
    context: Arc<RequestContext>,
    form: ErrorForm,
    head: &Parts,
    body: &mut Incoming,
) -> Outcome {
    let Some(handler) = shared.keyed.get(&surface) else {
        return Outcome::plain(Reply::refusal(Refusal::SurfaceNotAvailable, form));
    };
    let verb = if head.method == Method::HEAD { Method::GET } else { head.method.clone() };
    if let Some(http) = &handler.http
        && let Some(bytes_max) = http.body_limit(&verb, context.segments())
    {
        let bytes_max = bytes_max.min(shared.config.limits.large_body_bytes_max);
        let answered = match read_plain(shared, body, bytes_max).await {
            Err(refusal) => Err(refusal.into()),
            Ok(body) => {
                let query = head.uri.query().map(ToOwned::to_owned);
                http_request(http.as_ref(), &context, HttpRequest { verb, query, headers: head.headers.clone(), body })
                    .await
            }
        };
        let reply = answered.unwrap_or_else(|refused| refused.reply(ErrorForm::Rest));
        return Outcome { height: context.height_read(), ..Outcome::plain(reply) };
    }
    match &handler.rpc {
        Some(surface) => rpc(shared, surface, context, form, head, body).await,
        None => Outcome::plain(Reply::refusal(Refusal::NotFound, form)),
    }
}

async fn http_request(
    surface: &dyn HttpSurface,
    context: &RequestContext,
    request: HttpRequest,
) -> Result<Reply, Refused> {
    let answered = tokio::time::timeout(context.limits().handler_timeout(), surface.handle(context, request)).await;
    Ok(answered.map_err(|_| Refusal::HandlerTimeout)??)
}

/// Adds the headers that every answer carries (`decisions` 1.8, 2.6).
fn finish(
    route: &Route,
    origin: Option<&HeaderValue>,
    request_id: &HeaderValue,
    quota: Option<Quota>,
    outcome: Outcome,
    version: Version,
) -> Response<Full<Bytes>> {
    let Outcome { reply, height, readable, .. } = outcome;
    let Reply { status, mut headers, body } = reply;
    headers.insert(REQUEST_ID, request_id.clone());
    if let Some(quota) = quota {
        quota.write(&mut headers);
    }
    if let Some(height) = height {
        headers.insert(INDEXED_HEIGHT, HeaderValue::from(height));
    }
    if !headers.contains_key(CACHE_CONTROL) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if route.versioned {
        if readable || matches!(route.credential, Credential::PathKey(_)) || route.target == Target::Health {
            cors::echo(&mut headers, origin);
        }
        cors::vary(&mut headers);
    }
    // What is left of a refused body is not worth reading.
    if matches!(
        status,
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    ) && version == Version::HTTP_11
    {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

/// The caller's own id where it is harmless and no key, else a new one.
fn request_id(headers: &HeaderMap) -> HeaderValue {
    let harmless = |value: &&HeaderValue| {
        let bytes = value.as_bytes();
        (1..=REQUEST_ID_BYTES_MAX).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            && value.to_str().is_ok_and(|text| redact(text) == text)
    };
    if let Some(given) = headers.get(REQUEST_ID).filter(harmless) {
        return given.clone();
    }
    // Ten random bytes; without randomness an id that says so is better than no answer.
    let generated = ApiKey::generate().ok().map(|random| random.reveal()[..20].to_owned());
    generated.and_then(|text| HeaderValue::from_str(&text).ok()).unwrap_or(HeaderValue::from_static("none"))
}

fn head_bytes(head: &Parts) -> usize {
    // "name: value\r\n"; the request line has a verb, two spaces and a version around the target.
    let headers: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    headers + target + head.method.as_str().len() + 12
}

/// A verb may be any word, so only those that exist are logged.
fn verb_name(verb: &Method) -> &'static str {
    match *verb {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        _ => "other",
    }
}
