//! Sends one request to one instance after the other until one answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderName, IF_NONE_MATCH, RETRY_AFTER, UPGRADE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::http::request::Parts;
use hyper::upgrade::OnUpgrade;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use paraffin_web::describe;
use serde::Deserialize;

use super::body::Streamed;
use super::instance::Instance;
use super::{Admitted, Upstreams, rules};
use crate::errors::Refusal;
use crate::request_id::REQUEST_ID;
use crate::state::RequestContext;
use crate::trace::{TRACEPARENT, UpstreamSpan};
use crate::websocket;

/// Bytes of an answer that are read before any are sent to the caller, so that another instance can be asked when one fails
/// midway.
const HELD_BYTES_MAX: usize = 1 << 20;
/// How long an instance may pause within a long answer.
const PAUSE_MAX: Duration = Duration::from_secs(30);

const INDEXED_HEIGHT: HeaderName = HeaderName::from_static("x-indexed-height");
/// Headers of a request that are passed on to an instance.
const REQUEST_HEADERS: [HeaderName; 3] = [ACCEPT, CONTENT_TYPE, IF_NONE_MATCH];
/// Headers of an instance's answer that are passed on to the caller.
const ANSWER_HEADERS: [HeaderName; 7] =
    [ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, X_CONTENT_TYPE_OPTIONS];

/// An answer of an instance.
pub(crate) struct Forwarded {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Height of the chain data in it, as the instance reports it.
    pub(crate) height: Option<u32>,
    pub(crate) body: Received,
}

/// The received part of a body.
pub(crate) enum Received {
    Whole(Bytes),
    Beginning(Box<Streamed>),
    /// The connection was upgraded to another protocol.
    Stream(OnUpgrade),
}

impl Forwarded {
    /// Counts the received part of its body among the bytes that the process holds.
    pub(super) async fn held(mut self, context: &RequestContext) -> Result<Self, Refusal> {
        let read = match &mut self.body {
            Received::Whole(body) => body,
            Received::Beginning(streamed) => streamed.begin_mut(),
            Received::Stream(_) => return Ok(self),
        };
        *read = context.hold_answer(std::mem::take(read)).await?;
        Ok(self)
    }
}

/// Failure of a request to an instance.
enum Failure {
    /// The request was not sent.
    NotSent(String),
    /// The request may have been received.
    Broken(String),
    /// It refuses our key, before it has done anything.
    Refused(StatusCode),
    /// It answers 503: it cannot serve now.
    NotNow(Box<Forwarded>),
}

impl Failure {
    /// Its kind, as `error.type` has it.
    const fn kind(&self) -> &'static str {
        match self {
            Self::NotSent(_) => "connect",
            Self::Broken(_) => "broken",
            Self::Refused(_) => "refused",
            Self::NotNow(_) => "unavailable",
        }
    }
}

impl Upstreams {
    /// Asks the instances in their order; the first once more when all have failed, since its pooled connection may have been stale.
    pub(super) async fn ask_in_turn(&self, request: &Admitted<'_>) -> Result<Forwarded, Refusal> {
        let key = self.key.reveal();
        let path = rules::path_of(&request.route.target, &key).ok_or(Refusal::NotFound)?;
        let is_repeatable = request.is_repeatable;
        let wait = paraffin_spans::wait("permit");
        let _permit = self.requests.acquire(request.caller).await.ok_or(Refusal::Internal)?;
        drop(wait);
        let order = self.in_order();
        let mut refusal = Refusal::UpstreamUnavailable;
        let mut not_now = None;
        for instance in order.iter().chain(order.first()) {
            let index = self.instances.iter().position(|known| Arc::ptr_eq(known, instance)).unwrap_or_default();
            let span = UpstreamSpan::begin(&request.head.method, index);
            let outcome = self.ask(instance, &path, request, is_repeatable, span.traceparent()).await;
            span.end(outcome.as_ref().map(|answer| answer.status).map_err(Failure::kind));
            match outcome {
                Ok(answer) => return Ok(answer),
                Err(Failure::NotSent(reason)) => self.failed(instance, &reason),
                Err(Failure::Broken(reason)) => {
                    self.failed(instance, &reason);
                    if !is_repeatable {
                        break;
                    }
                }
                Err(Failure::Refused(status)) => {
                    self.log_failure(instance, &format!("HTTP {}: check [upstream] key", status.as_u16()));
                    refusal = Refusal::UpstreamRefused;
                }
                Err(Failure::NotNow(answer)) => {
                    not_now = Some(*answer);
                    if !is_repeatable {
                        break;
                    }
                }
            }
        }
        not_now.ok_or(refusal)
    }

    fn failed(&self, instance: &Arc<Instance>, reason: &str) {
        instance.failed();
        self.log_failure(instance, reason);
    }

    fn log_failure(&self, instance: &Arc<Instance>, reason: &str) {
        let index = self.instances.iter().position(|known| Arc::ptr_eq(known, instance));
        tracing::warn!(instance = index, reason = %crate::redact::redact(reason), "an instance gave no answer");
    }

    async fn ask(
        &self,
        instance: &Instance,
        path: &str,
        admitted: &Admitted<'_>,
        is_repeatable: bool,
        traceparent: Option<String>,
    ) -> Result<Forwarded, Failure> {
        let request = request(&instance.base, path, admitted, traceparent)
            .ok_or_else(|| Failure::NotSent("no address".to_owned()))?;
        let exchange = async {
            let response = self.client.request(request).await.map_err(|error| {
                let reason = describe(&error);
                if error.is_connect() { Failure::NotSent(reason) } else { Failure::Broken(reason) }
            })?;
            receive(response, admitted).await
        };
        if !is_repeatable {
            return exchange.await;
        }
        tokio::select! {
            biased;
            answer = exchange => answer,
            () = instance.goes_away() => Err(Failure::Broken("it stopped answering".to_owned())),
        }
    }
}

fn request(
    base: &str,
    path: &str,
    admitted: &Admitted<'_>,
    traceparent: Option<String>,
) -> Option<Request<Full<Bytes>>> {
    let Parts { method, uri, headers, .. } = admitted.head;
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let verb = if *method == Method::HEAD { Method::GET } else { method.clone() };
    let mut request = Request::builder().method(verb).uri(format!("{base}{path}{query}"));
    for name in REQUEST_HEADERS {
        if let Some(value) = headers.get(&name) {
            request = request.header(name, value);
        }
    }
    if headers.contains_key(UPGRADE) {
        for (name, value) in websocket::handshake(headers) {
            request = request.header(name, value);
        }
    }
    request = request.header(REQUEST_ID, admitted.id.value());
    if let Some(traceparent) = traceparent {
        request = request.header(TRACEPARENT, traceparent);
    }
    request.body(Full::new(admitted.body.clone())).ok()
}

/// Reads an answer up to [`HELD_BYTES_MAX`] and classifies it.
async fn receive(mut response: Response<Incoming>, admitted: &Admitted<'_>) -> Result<Forwarded, Failure> {
    let upgraded = hyper::upgrade::on(&mut response);
    let (head, body) = response.into_parts();
    // Every instance repeats the id of a request; a proxy's page does not.
    if head.headers.get(REQUEST_ID) != Some(&admitted.id.value()) {
        return Err(Failure::Broken(format!("HTTP {} that is no instance's", head.status.as_u16())));
    }
    if matches!(head.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS) {
        return Err(Failure::Refused(head.status));
    }
    if head.status == StatusCode::SWITCHING_PROTOCOLS && admitted.head.headers.contains_key(UPGRADE) {
        return Ok(Forwarded {
            status: head.status,
            headers: head.headers,
            height: None,
            body: Received::Stream(upgraded),
        });
    }
    if head.status.is_informational() || head.status.is_redirection() && head.status != StatusCode::NOT_MODIFIED {
        return Err(Failure::Broken(format!("HTTP {}", head.status.as_u16())));
    }
    let length = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let body = hold(body, length).await?;
    let mut headers = HeaderMap::new();
    for name in ANSWER_HEADERS {
        if let Some(value) = head.headers.get(&name) {
            headers.insert(name, value.clone());
        }
    }
    let height = head.headers.get(INDEXED_HEIGHT).and_then(|value| value.to_str().ok()?.parse().ok());
    let answer = Forwarded { status: head.status, headers, height, body };
    if head.status != StatusCode::SERVICE_UNAVAILABLE {
        return Ok(answer);
    }
    if is_about_its_own_keys(&answer.body) {
        return Err(Failure::Refused(head.status));
    }
    let mut answer = answer;
    if let Some(value) = head.headers.get(RETRY_AFTER) {
        answer.headers.insert(RETRY_AFTER, value.clone());
    }
    Err(Failure::NotNow(Box::new(answer)))
}

/// Whether an instance refuses every request because it cannot consult its own key store.
fn is_about_its_own_keys(body: &Received) -> bool {
    #[derive(Deserialize)]
    struct Coded {
        code: String,
    }
    let Received::Whole(body) = body else { return false };
    serde_json::from_slice(body).is_ok_and(|coded: Coded| coded.code == "AUTH_UNAVAILABLE")
}

async fn hold(mut body: Incoming, length: Option<u64>) -> Result<Received, Failure> {
    let mut held = BytesMut::new();
    while held.len() < HELD_BYTES_MAX {
        let Some(frame) = body.frame().await else { return Ok(Received::Whole(held.freeze())) };
        let frame = frame.map_err(|_| Failure::Broken("it broke off in the middle of an answer".to_owned()))?;
        if let Ok(data) = frame.into_data() {
            held.extend_from_slice(&data);
        }
    }
    Ok(Received::Beginning(Box::new(Streamed::new(held.freeze(), body, length, PAUSE_MAX))))
}
