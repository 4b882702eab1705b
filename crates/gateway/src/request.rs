//! Handles one HTTP request, from its head to the answer with all headers.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, EXPECT, HOST, HeaderName, HeaderValue, UPGRADE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Version};
use tracing::Instrument as _;

use crate::access_log::RequestLine;
use crate::admission::{Admission, Quota, admit};
use crate::body::{BodyLimit, RequestBody};
use crate::byte_budget::UNCOUNTED_BYTES_MAX;
use crate::callers::{Arrival, Identified, identify};
use crate::clients::{client_address, is_public_name};
use crate::errors::{ApiError, Refusal};
use crate::forward::{self, AnswerBody, Answered, Forwarded, Received, Streamed};
use crate::jsonrpc::{self, Panicked, catch_panic, top_level_method};
use crate::request_id::{REQUEST_ID, RequestId};
use crate::respond::Reply;
use crate::routes::{Credential, ErrorForm, Route, Target};
use crate::state::{Caller, Connection, RequestContext, Shared, unix_millis};
use crate::surface::{Forwarding, HttpRequest, HttpSurface, KeyedSurface, RpcSurface, Surfaces};
use crate::trace::{self, RequestSpan};
use crate::websocket::{Upgrade, standing_credential, upgrade_required};
use crate::{cors, describe, health, rest, site};

const INDEXED_HEIGHT: HeaderName = HeaderName::from_static("x-indexed-height");

/// Longest body that is read while no caller can be identified, bytes.
const DISCOVER_BYTES_MAX: usize = 4 << 10;

const RPC_VERBS: &str = "POST, OPTIONS";

/// An answer and the height of the chain data in it.
pub(crate) struct Outcome {
    pub(crate) reply: Reply,
    height: Option<u32>,
    /// For the access log.
    caller: Option<Caller>,
    /// Whether the page at the request's `Origin` may read the answer.
    readable: bool,
    /// A body that is still being received from an instance, instead of that of `reply`.
    pub(crate) streamed: Option<Box<Streamed>>,
}

impl Outcome {
    fn plain(reply: Reply) -> Self {
        Self { reply, height: None, caller: None, readable: false, streamed: None }
    }

    /// The outcome of a forwarded request.
    fn forwarded(answer: Forwarded) -> Self {
        let (body, streamed) = match answer.body {
            Received::Whole(body) => (body, None),
            Received::Beginning(streamed) => (Bytes::new(), Some(streamed)),
            // A stream has an answer of its own.
            Received::Stream(_) => (Bytes::new(), None),
        };
        let reply = Reply { headers: answer.headers, body, ..Reply::empty(answer.status) };
        Self { height: answer.height, streamed, ..Self::plain(reply) }
    }
}

/// Answers one request; never fails.
pub(crate) async fn answer(
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, Infallible> {
    let started = Instant::now();
    let shared = &connection.shared;
    let _in_flight = shared.metrics.in_flight();
    let span = RequestSpan::begin(shared.tracer.as_ref(), request.headers());
    let id = connection.names.name(request.headers());
    let route = Route::parse(shared.surfaces, request.uri().path());
    let client = client_address(connection.peer, request.headers(), &shared.access.trusted_proxies);
    let mut admission = Admission::of(shared, &route, client, unix_millis());

    let (mut head, incoming) = request.into_parts();
    let mut body = RequestBody::new(incoming);
    let handled = {
        // Pinned here once, so that a pointer is passed on instead of kilobytes.
        let routed = pin!(route_request(&connection, &mut admission, &id, &head, &mut body));
        let guarded = pin!(catch_panic(routed));
        let handled = span.scope(guarded);
        // The span of the connection has the first digits of generated ids; an id that the caller chose gets its own span.
        match &id {
            RequestId::Given(_) => Box::pin(handled.instrument(tracing::error_span!("request", %id))).await,
            RequestId::Own(_) => handled.await,
        }
    };
    let mut outcome = handled.unwrap_or_else(|Panicked| {
        shared.metrics.panic();
        Outcome::plain(Reply::refusal(Refusal::Internal, route.form))
    });
    if !body.is_over() && !head.headers.contains_key(EXPECT) && outcome.reply.status != StatusCode::REQUEST_TIMEOUT {
        Box::pin(body.discard()).await;
    }

    let (status, elapsed) = (outcome.reply.status.as_u16(), started.elapsed());
    shared.metrics.request(route.surface_name(), status, elapsed);
    if let Some(log) = &shared.access_log {
        let line = RequestLine {
            at: SystemTime::now(),
            connection: connection.names.connection_digits(),
            peer: client,
            verb: verb_name(&head.method),
            surface: route.surface_name(),
            caller: outcome.caller.take(),
            status,
            elapsed_us: u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
        };
        log.request(line, id.as_str(), head.uri.path());
    }
    span.end(shared.surfaces, &route, &head, &id, status);
    let quota = admission.end(outcome.reply.status);
    let origin = cors::single_origin(&head.headers).cloned();
    // The header map of the request is reused for the answer, and then for the connection's next request.
    let headers = std::mem::take(&mut head.headers);
    Ok(finish(&connection, &route, headers, origin.as_ref(), &id, quota, outcome, head.version))
}

/// As [`answer`], for a POST to the main JSON-RPC, with nothing around the handler.
pub(crate) async fn handler_alone(
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let client = connection.peer.ip();
    let context = Arc::new(RequestContext::new(Arc::clone(&connection), Caller::Keyless, client, Vec::new()));
    let answer = jsonrpc::answer(&connection.shared.main, &context, &body).await;
    let mut response = Response::new(Full::new(answer.body.unwrap_or_default().into()));
    *response.status_mut() = answer.status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn route_request(
    connection: &Arc<Connection>,
    admission: &mut Admission<'_>,
    id: &RequestId,
    head: &Parts,
    body: &mut RequestBody,
) -> Outcome {
    let &mut Admission { shared, route, client, .. } = admission;
    let refuse = |refusal| Outcome::plain(Reply::refusal(refusal, route.form));
    if head_bytes(head) > shared.config.limits.header_bytes_max {
        return refuse(Refusal::HeadersTooLarge);
    }
    if is_elsewhere(shared, &head.headers) {
        return refuse(Refusal::WrongHost);
    }
    let has_preflight = route.versioned || !matches!(route.target, Target::Nothing | Target::Site);
    if head.method == Method::OPTIONS && has_preflight {
        return Outcome::plain(cors::preflight(&head.headers, &shared.config.key_headers));
    }
    if let (Target::Health | Target::PlainHealth, Credential::Open) = (&route.target, &route.credential) {
        if let Err(refusal) = shared.health_checks.check(client, route.rate_limit_code()) {
            return refuse(refusal);
        }
        return Outcome::plain(Box::pin(answer_health(connection, client, route, &head.method)).await);
    }
    if let Target::Description(description) = route.target {
        return Outcome::plain(description.answer(&head.method, shared));
    }
    if route.target == Target::Site {
        let answered = Box::pin(site::answer(connection, admission, id, head, body)).await;
        return answered.map_or_else(refuse, Outcome::plain);
    }
    let authenticating = paraffin_spans::child("authenticate");
    let identified = identify(admission.arrival(), &head.headers).await;
    drop(authenticating);
    let Identified { caller, readable } = match identified {
        Ok(identified) => identified,
        Err(Refusal::AuthUnavailable) if route.target == Target::Main && head.method == Method::POST => {
            return Box::pin(discover_alone(connection, admission.arrival(), body)).await;
        }
        Err(refusal) => return refuse(refusal),
    };
    trace::note_caller(&caller);
    let logged = shared.access_log.is_some().then(|| caller.clone());
    let counted = !matches!(route.target, Target::PlainHealth | Target::Health)
        && (route.credential != Credential::Open || route.target != Target::Nothing);
    if counted && let Err(refusal) = admit(admission, &caller, body).await {
        return Outcome { caller: logged, readable, ..refuse(refusal) };
    }
    Outcome { caller: logged, readable, ..dispatch(connection, admission, caller, id, head, body).await }
}

/// Whether the request names another host while only this machine is served (DNS rebinding). Behind a proxy on the same machine any
/// name is allowed.
fn is_elsewhere(shared: &Shared, headers: &HeaderMap) -> bool {
    shared.config.listen.ip().is_loopback()
        && shared.access.trusted_proxies.is_empty()
        && headers.get(HOST).is_some_and(|host| host.to_str().is_ok_and(is_public_name))
}

async fn answer_health(connection: &Arc<Connection>, client: IpAddr, route: &Route, verb: &Method) -> Reply {
    let path = vec!["health".to_owned()];
    match rest::find(&health::GROUPS, &path, verb) {
        Err(rest::NoRoute::Verb(verbs)) => Reply::refusal(Refusal::WrongVerb(verbs), route.form),
        Err(rest::NoRoute::Path) => Reply::refusal(Refusal::NotFound, route.form),
        Ok(_) if route.target == Target::PlainHealth => health::plain(&connection.shared),
        Ok(endpoint) => {
            let context = RequestContext::new(Arc::clone(connection), Caller::Keyless, client, path);
            // Parameters are ignored.
            let answer = endpoint.answer(&context, &HeaderMap::new(), None, Bytes::from_static(b"{}")).await;
            answer.unwrap_or_else(|error| Reply::rest_error(&error))
        }
    }
}

/// Answers a request of an admitted caller.
pub(crate) async fn dispatch(
    connection: &Arc<Connection>,
    admission: &Admission<'_>,
    caller: Caller,
    id: &RequestId,
    head: &Parts,
    body: &mut RequestBody,
) -> Outcome {
    let &Admission { shared, route, client, .. } = admission;
    let context =
        |segments: &[String]| Arc::new(RequestContext::new(Arc::clone(connection), caller, client, segments.to_vec()));
    if let Some(upstreams) = &shared.upstreams
        && is_forwarded(shared.surfaces, &route.target)
    {
        if matches!(&route.target, Target::Surface(surface, _) if surface.forwarded == Forwarding::WebSockets)
            && !head.headers.contains_key(UPGRADE)
        {
            return Outcome::plain(Reply::rest_error(&upgrade_required()));
        }
        let answered = Box::pin(forward::answer(upstreams, context(&[]), route, head, id, body)).await;
        return match answered {
            Ok(Answered::Forwarded(answer)) => Outcome::forwarded(answer),
            Ok(Answered::Own(reply)) => Outcome::plain(reply),
            Err(refused) => Outcome::plain(match (&route.target, refused) {
                (Target::Beside(..), Refused::Surface(error)) => (shared.surfaces.beside.refusal)(&error),
                (_, refused) => refused.reply(route.form),
            }),
        };
    }
    // The main JSON-RPC is by far the most frequent; the others are boxed, so that its future stays small.
    match &route.target {
        Target::Main => rpc(&shared.main, context(&[]), route.form, head, body).await,
        Target::Rest(segments) => {
            let context = context(segments);
            let answered = Box::pin(rest_request(shared.surfaces.rest, &context, head, body)).await;
            let reply = answered.unwrap_or_else(|refused| refused.reply(ErrorForm::Rest));
            let reply = Box::pin(held(&context, ErrorForm::Rest, reply)).await;
            Outcome { height: context.height_read(), ..Outcome::plain(reply) }
        }
        Target::PlainHealth | Target::Health => match shared.health_checks.check(client, route.rate_limit_code()) {
            Ok(()) => Outcome::plain(Box::pin(answer_health(connection, client, route, &head.method)).await),
            Err(refusal) => Outcome::plain(Reply::refusal(refusal, route.form)),
        },
        Target::Description(description) => Outcome::plain(description.answer(&head.method, shared)),
        Target::Beside(_, segments) => {
            let context = context(segments);
            let reply = Box::pin(rest_request(shared.surfaces.beside.groups, &context, head, body))
                .await
                .unwrap_or_else(|refused| match refused {
                    Refused::Surface(error) => (shared.surfaces.beside.refusal)(&error),
                    Refused::Gate(_) => refused.reply(ErrorForm::Rest),
                });
            let reply = Box::pin(held(&context, ErrorForm::Rest, reply)).await;
            Outcome { height: context.height_read(), ..Outcome::plain(reply) }
        }
        Target::Surface(surface, segments) => Box::pin(keyed(surface, context(segments), route, head, body)).await,
        // Answered before a caller is identified, since the site has its own sign-in.
        Target::Site | Target::Nothing => Outcome::plain(Reply::refusal(Refusal::NotFound, route.form)),
    }
}

/// Whether a gateway without a store forwards it: everything but its own state.
fn is_forwarded(surfaces: &Surfaces, target: &Target) -> bool {
    match target {
        Target::Main | Target::Rest(_) | Target::Surface(..) => true,
        Target::Beside(_, segments) => !(surfaces.beside.is_about_caller)(segments),
        Target::Health | Target::PlainHealth | Target::Description(_) | Target::Site | Target::Nothing => false,
    }
}

/// A request without an answer from its surface.
pub(crate) enum Refused {
    Gate(Refusal),
    Surface(ApiError),
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

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self::Surface(error)
    }
}

/// A POST to a JSON-RPC surface.
async fn rpc(
    surface: &Arc<dyn RpcSurface>,
    context: Arc<RequestContext>,
    form: ErrorForm,
    head: &Parts,
    body: &mut RequestBody,
) -> Outcome {
    if head.method != Method::POST {
        return Outcome::plain(Reply::refusal(Refusal::WrongVerb(RPC_VERBS), form));
    }
    let is_large = |beginning: &[u8]| {
        let method = top_level_method(beginning).and_then(|method| std::str::from_utf8(method).ok());
        method.is_some_and(|method| surface.takes_large_body(method))
    };
    let limits = context.limits();
    let limit = BodyLimit {
        context: &context,
        bytes_max: limits.body_bytes_max,
        large_bytes_max: limits.large_body_bytes_max,
        is_large: &is_large,
    };
    let body = match body.read(&limit, context.body_timer(), limits.body_read_timeout()).await {
        Ok(body) => body,
        Err(refusal) => return Outcome::plain(Reply::refusal(refusal, form)),
    };
    let answer = jsonrpc::answer(surface, &context, &body).await;
    drop(body);
    let reply = match answer.body {
        _ if context.budget().is_overloaded() => Reply::refusal(Refusal::Overloaded, form),
        Some(body) => Reply::json(answer.status, body),
        None => Reply::empty(answer.status),
    };
    // Boxed, so that the future of the many small answers stays small.
    let reply = match reply {
        large if large.body.len() > UNCOUNTED_BYTES_MAX => Box::pin(held(&context, form, large)).await,
        small => small,
    };
    Outcome { height: context.height_read(), ..Outcome::plain(reply) }
}

/// While no caller can be identified, the main JSON-RPC describes its methods and does nothing else (docs/api.md).
async fn discover_alone(connection: &Arc<Connection>, arrival: Arrival<'_>, body: &mut RequestBody) -> Outcome {
    let Arrival { route, client, .. } = arrival;
    let context = Arc::new(RequestContext::new(Arc::clone(connection), Caller::Keyless, client, Vec::new()));
    if let Ok(body) = read_plain(&context, body, DISCOVER_BYTES_MAX).await
        && top_level_method(&body) == Some(describe::DISCOVER.as_bytes())
    {
        let surface: Arc<dyn RpcSurface> = Arc::new(describe::Alone);
        let answer = jsonrpc::answer(&surface, &context, &body).await;
        if let Some(body) = answer.body {
            return Outcome::plain(Reply::json(answer.status, body));
        }
    }
    Outcome::plain(Reply::refusal(Refusal::AuthUnavailable, route.form))
}

pub(crate) async fn read_plain(
    context: &RequestContext,
    body: &mut RequestBody,
    bytes_max: usize,
) -> Result<Bytes, Refusal> {
    let limit = BodyLimit { context, bytes_max, large_bytes_max: bytes_max, is_large: &|_| false };
    body.read(&limit, context.body_timer(), context.limits().body_read_timeout()).await
}

/// A request to routes of the REST data API, or of BRC-20.
async fn rest_request(
    groups: &[&'static rest::Group],
    context: &RequestContext,
    head: &Parts,
    body: &mut RequestBody,
) -> Result<Reply, Refused> {
    let limits = context.limits();
    let endpoint = match rest::find(groups, context.segments(), &head.method) {
        Ok(endpoint) => endpoint,
        Err(rest::NoRoute::Path) => return Err(ApiError::not_found("There is no such route").into()),
        Err(rest::NoRoute::Verb(verbs)) => return Err(Refusal::WrongVerb(verbs).into()),
    };
    let body = match endpoint.verb {
        rest::Verb::Get => Bytes::new(),
        rest::Verb::Post => read_plain(context, body, limits.body_bytes_max).await?,
    };
    let answer = endpoint.answer(context, &head.headers, head.uri.query(), body);
    let answered = tokio::time::timeout(limits.handler_timeout(), answer).await;
    within_limit(context, answered.map_err(|_| Refusal::HandlerTimeout)??)
}

/// An answer over plain HTTP, if it is within the size limit.
fn within_limit(context: &RequestContext, reply: Reply) -> Result<Reply, Refused> {
    let is_too_large = reply.body.len() > context.limits().response_bytes_max;
    if is_too_large { Err(ApiError::response_too_large().into()) } else { Ok(reply) }
}

/// Counts a large answer among the bytes that the process holds until the last of it has been sent.
pub(crate) async fn held(context: &RequestContext, form: ErrorForm, mut reply: Reply) -> Reply {
    if context.budget().is_overloaded() {
        return Reply::refusal(Refusal::Overloaded, form);
    }
    if reply.body.len() > UNCOUNTED_BYTES_MAX {
        match Box::pin(context.hold_answer(std::mem::take(&mut reply.body))).await {
            Ok(body) => reply.body = body,
            Err(refusal) => return Reply::refusal(refusal, form),
        }
    }
    reply
}

async fn keyed(
    surface: &KeyedSurface,
    context: Arc<RequestContext>,
    route: &Route,
    head: &Parts,
    body: &mut RequestBody,
) -> Outcome {
    let form = route.form;
    let Some(handler) = context.shared().keyed.get(surface.name) else {
        return Outcome::plain(Reply::refusal(Refusal::SurfaceNotAvailable, form));
    };
    let verb = if head.method == Method::HEAD { Method::GET } else { head.method.clone() };
    if let Some(http) = &handler.http
        && let Some(bytes_max) = http.body_limit(&verb, context.segments())
    {
        let bytes_max = bytes_max.min(context.limits().large_body_bytes_max);
        let answered = match read_plain(&context, body, bytes_max).await {
            Err(refusal) => Err(refusal.into()),
            Ok(body) => {
                let query = head.uri.query().map(ToOwned::to_owned);
                let key_headers = &context.shared().config.key_headers;
                let upgrade = Upgrade::of(head, &route.credential, key_headers);
                let credential = standing_credential(head, &route.credential, key_headers);
                let request = HttpRequest { verb, query, headers: head.headers.clone(), body, upgrade, credential };
                http_request(http.as_ref(), &context, request).await
            }
        };
        let reply = answered.unwrap_or_else(|refused| refused.reply(ErrorForm::Rest));
        let reply = held(&context, ErrorForm::Rest, reply).await;
        return Outcome { height: context.height_read(), ..Outcome::plain(reply) };
    }
    match &handler.rpc {
        Some(surface) => rpc(surface, Arc::clone(&context), form, head, body).await,
        None => Outcome::plain(Reply::refusal(Refusal::NotFound, form)),
    }
}

async fn http_request(
    surface: &dyn HttpSurface,
    context: &RequestContext,
    request: HttpRequest,
) -> Result<Reply, Refused> {
    let answered = tokio::time::timeout(context.limits().handler_timeout(), surface.handle(context, request)).await;
    within_limit(context, answered.map_err(|_| Refusal::HandlerTimeout)??)
}

/// Adds the headers that every answer carries (docs/api.md, "Headers"). `headers` is a map whose content is no longer needed.
#[allow(clippy::too_many_arguments)] // everything that is known of a request at its end
fn finish(
    connection: &Connection,
    route: &Route,
    mut headers: HeaderMap,
    origin: Option<&HeaderValue>,
    id: &RequestId,
    quota: Option<Quota>,
    outcome: Outcome,
    version: Version,
) -> Response<AnswerBody> {
    let Outcome { mut reply, height, readable, streamed, .. } = outcome;
    headers.clear();
    reply.move_headers(&mut headers);
    headers.insert(REQUEST_ID, id.value());
    {
        let mut numbers = connection.header_numbers.lock();
        if let Some(quota) = quota {
            quota.write(&mut numbers, &mut headers);
        }
        if let Some(height) = height {
            headers.insert(INDEXED_HEIGHT, numbers.height.value(height.into()));
        }
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    // Forbids browsers to guess a type of foreign content.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if route.versioned {
        let for_all = matches!(route.target, Target::Health | Target::Description(_));
        if readable || matches!(route.credential, Credential::PathKey(_)) || for_all {
            cors::echo(&mut headers, origin);
        }
        cors::vary(&mut headers);
    }
    // The rest of a refused body is not read; and clients reconnect elsewhere before a server stops.
    let is_refused_body = matches!(
        reply.status,
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    );
    let is_last = connection.shared.draining.has_begun() && reply.status != StatusCode::SWITCHING_PROTOCOLS;
    if (is_refused_body || is_last) && version == Version::HTTP_11 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let body = match (streamed, reply.stream) {
        (Some(streamed), _) => AnswerBody::Streamed(streamed),
        (None, Some(events)) => AnswerBody::Events(events),
        (None, None) => AnswerBody::Whole(Full::new(reply.body)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = headers;
    response
}

fn head_bytes(head: &Parts) -> usize {
    // "name: value\r\n"; the request line has a verb, two spaces and a version around the target.
    let headers: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    headers + target + head.method.as_str().len() + 12
}

/// A verb may be any word, so only those that exist are logged.
pub(crate) fn verb_name(verb: &Method) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every request moves it once; rarely needed parts are boxed.
    #[test]
    fn what_answers_a_request_fits_three_kilobytes() {
        fn size<A, B, F: Future>(_: impl Fn(A, B) -> F) -> usize {
            size_of::<F>()
        }
        let bytes = size(answer);
        assert!(bytes <= 3072, "{bytes} bytes");
    }
}
