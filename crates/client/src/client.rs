//! The HTTP client of one instance.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{HeaderMap, Request, StatusCode};
use paraffin_web::{Connections, HttpsClient};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::error::{Error, Refusal, is_auth_unavailable};
use crate::method::Method;
use crate::route::{Base, Route, RouteRequest, Verb, Wrapping, encode, unwrapped};

/// Largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Longest time until an answer begins.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time for the rest of one, so that a server which sends a byte now and then does not hold a caller for ever.
const BODY_TIMEOUT: Duration = Duration::from_secs(300);
/// Time-outs and limits of connections.
const CONNECTIONS: Connections =
    Connections { timeout: Duration::from_secs(30), idle: Duration::from_secs(90), per_host: 16 };
/// The longest single wait that a server may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
const KEY_HEADER: HeaderName = HeaderName::from_static("x-service-api-key");

/// How long a client waits for a rate limit.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// Total wait for one request.
    pub in_all: Duration,
    /// Called with each wait before it begins.
    pub notice: fn(Duration),
}

impl Default for Waiting {
    fn default() -> Self {
        Self { in_all: Duration::from_secs(180), notice: |_| () }
    }
}

#[derive(Debug, Clone)]
enum Key {
    Absent,
    InPath(String),
    InHeader(HeaderValue),
}

/// A client of one instance. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Client {
    base: String,
    key: Key,
    waiting: Waiting,
    pub(crate) http: HttpsClient,
}

impl Client {
    /// For an address such as `http://127.0.0.1:8787`, without a key.
    ///
    /// # Errors
    /// [`Error::Address`]: the address is invalid.
    pub fn new(base: &str) -> Result<Self, Error> {
        let base = base.trim_end_matches('/');
        paraffin_web::checked(base).map_err(|wrong| Error::Address(format!("the address {wrong}")))?;
        Ok(Self { base: base.to_owned(), key: Key::Absent, waiting: Waiting::default(), http: CONNECTIONS.https() })
    }

    /// With a key, or an alias, in the path of every request. All surfaces accept this.
    ///
    /// # Errors
    /// [`Error::Address`]: the key is empty.
    pub fn with_key(self, key: &str) -> Result<Self, Error> {
        if key.is_empty() {
            return Err(Error::Address("the key is empty".to_owned()));
        }
        let mut encoded = String::new();
        encode(&mut encoded, key);
        Ok(Self { key: Key::InPath(encoded), ..self })
    }

    /// With a key in a header, which proxies do not log. Keyed surfaces such as `mempool` need one in the path.
    ///
    /// # Errors
    /// [`Error::Address`]: the key is not a valid header value.
    pub fn with_header_key(self, key: &str) -> Result<Self, Error> {
        let mut value =
            HeaderValue::from_str(key).map_err(|_| Error::Address("the key is no value of a header".to_owned()))?;
        value.set_sensitive(true);
        Ok(Self { key: Key::InHeader(value), ..self })
    }

    /// Sets how long to wait for rate limits; the default is three minutes.
    #[must_use]
    pub fn with_waiting(self, waiting: Waiting) -> Self {
        Self { waiting, ..self }
    }

    /// The base address.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Calls a method.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn call<M: Method>(&self, method: &M) -> Result<M::Answer, Error> {
        read(self.call_raw(&method.surface(), M::NAME, method.parameters()?).await?)
    }

    /// Calls a method by its name, on the surface with that path segment, or on the main endpoint where it is empty.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn call_raw(&self, surface: &str, name: &str, parameters: Value) -> Result<Value, Error> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": name, "params": parameters });
        let answer = self.post(&self.surface_path(surface)?, &body).await?;
        result(answer)
    }

    /// Requests a route.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ask<R: Route>(&self, route: &R) -> Result<R::Answer, Error> {
        let request = RouteRequest::of(route)?;
        let path = self.route_path(R::BASE)? + &request.path;
        let body = request.body.as_ref().map(Value::to_string).unwrap_or_default();
        let (status, bytes) = self.send(R::VERB, &path, body).await?;
        if R::WRAPPING == Wrapping::Text && status.is_success() {
            return read(Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        }
        read(unwrapped(status.as_u16(), parsed(status, &bytes)?, R::WRAPPING)?)
    }

    /// Posts to a route of the REST data API by its path, with `members` as the body; returns the answer with its envelope.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn ask_raw(&self, path: &str, members: &Value) -> Result<Value, Error> {
        let path = format!("{}/{}", self.route_path(Base::Api)?, path.trim_start_matches('/'));
        let (status, bytes) = self.send(Verb::Post, &path, members.to_string()).await?;
        unwrapped(status.as_u16(), parsed(status, &bytes)?, Wrapping::Bare)
    }

    /// A document that needs no key, by its whole path: `/v4/openrpc.json`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn document(&self, path: &str) -> Result<Value, Error> {
        let (status, bytes) = self.send(Verb::Get, path, String::new()).await?;
        unwrapped(status.as_u16(), parsed(status, &bytes)?, Wrapping::Bare)
    }

    /// Path of a surface, with the key where it is in the path.
    pub(crate) fn surface_path(&self, surface: &str) -> Result<String, Error> {
        match (&self.key, surface) {
            (Key::InPath(key), "") => Ok(format!("/v4/{key}")),
            (Key::InPath(key), surface) => Ok(format!("/v4/{key}/{surface}")),
            (_, "") => Ok("/v4/jsonrpc".to_owned()),
            _ => Err(Error::Address(format!("{surface} needs an API key in the path"))),
        }
    }

    fn route_path(&self, base: Base) -> Result<String, Error> {
        match (&self.key, base) {
            (Key::InPath(key), Base::Explorer) => Ok(format!("/api/v1/{key}")),
            (Key::InPath(key), _) => Ok(format!("/v4/{key}")),
            (_, Base::Api) => Ok("/v4/api".to_owned()),
            (_, Base::BesideApi) => Ok("/v4".to_owned()),
            (_, Base::Keyed | Base::Explorer) => {
                Err(Error::Address("this route needs an API key in the path".to_owned()))
            }
        }
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value, Error> {
        let (status, bytes) = self.send(Verb::Post, path, body.to_string()).await?;
        parsed(status, &bytes)
    }

    /// A request with the key in its path or header.
    pub(crate) fn request(&self, verb: Verb, path: &str, body: Bytes) -> Result<Request<Full<Bytes>>, Error> {
        let method = if verb == Verb::Get { hyper::Method::GET } else { hyper::Method::POST };
        let request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        let mut request = request
            .body(Full::new(body))
            .map_err(|_| Error::Address("address, key and path make no address together".to_owned()))?;
        if verb == Verb::Post {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Key::InHeader(key) = &self.key {
            request.headers_mut().insert(KEY_HEADER, key.clone());
        }
        Ok(request)
    }

    /// Sends a request, and repeats it after `Retry-After` where the instance refuses it temporarily: such a request was not executed.
    /// Other failures are not retried, since the request may have been executed.
    async fn send(&self, verb: Verb, path: &str, body: String) -> Result<(StatusCode, Bytes), Error> {
        let body = Bytes::from(body);
        let started = Instant::now();
        loop {
            let request = self.request(verb, path, body.clone())?;
            let response = timeout(ANSWER_TIMEOUT, self.http.request(request))
                .await
                .map_err(|_| Error::Unreachable(format!("nothing within {} seconds", ANSWER_TIMEOUT.as_secs())))?
                .map_err(|error| Error::Unreachable(paraffin_web::describe(&error)))?;
            let status = response.status();
            let wait = wait(status, response.headers());
            let bytes = timeout(BODY_TIMEOUT, paraffin_web::read_body(response, ANSWER_BYTES_MAX))
                .await
                .map_err(|_| Error::Unreachable(format!("not whole after {} seconds", BODY_TIMEOUT.as_secs())))?
                .map_err(|error| Error::Unreachable(error.to_string()))?;
            let Some(wait) = wait else { return Ok((status, bytes)) };
            if serde_json::from_slice(&bytes).is_ok_and(|answer| is_auth_unavailable(&answer)) {
                return Err(Error::AuthUnavailable);
            }
            if started.elapsed() + wait > self.waiting.in_all {
                return Err(Error::Throttled(started.elapsed()));
            }
            (self.waiting.notice)(wait);
            sleep(wait).await;
        }
    }
}

/// Wait before a retry: always for 429, for 503 only with `Retry-After`; otherwise `None`.
pub(crate) fn wait(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let retry_after =
        headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()).map(Duration::from_secs);
    let wait = match status {
        StatusCode::TOO_MANY_REQUESTS => retry_after.unwrap_or(Duration::from_secs(1)),
        StatusCode::SERVICE_UNAVAILABLE => retry_after?,
        _ => return None,
    };
    Some(wait.clamp(Duration::from_secs(1), RETRY_AFTER_MAX))
}

fn parsed(status: StatusCode, bytes: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(bytes)
        .map_err(|_| Error::Answer(format!("status {} without JSON: is this a Paraffin instance?", status.as_u16())))
}

/// Result or error of one answer of JSON-RPC.
pub(crate) fn result(mut answer: Value) -> Result<Value, Error> {
    if let Some(refusal) = Refusal::of_method(&answer) {
        return Err(refusal.into_error());
    }
    let result = answer.get_mut("result").map(Value::take);
    result.ok_or_else(|| Error::Answer("neither result nor error: is this a Paraffin instance?".to_owned()))
}

/// A message of a stream as JSON.
pub(crate) fn parsed_message(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|error| Error::Answer(error.to_string()))
}

/// Deserialises an answer.
pub(crate) fn read<A: DeserializeOwned>(answer: Value) -> Result<A, Error> {
    serde_json::from_value(answer).map_err(|error| Error::Answer(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(status: u16, seconds: Option<&'static str>) -> Option<u64> {
        let headers = seconds.map(|seconds| (RETRY_AFTER, HeaderValue::from_static(seconds))).into_iter().collect();
        wait(StatusCode::from_u16(status).unwrap(), &headers).map(|wait| wait.as_secs())
    }

    #[test]
    fn only_temporary_refusals_are_retried_after_a_bounded_wait() {
        assert_eq!(after(429, Some("7")), Some(7));
        assert_eq!(after(429, None), Some(1));
        assert_eq!(after(429, Some("99999999")), Some(60));
        assert_eq!(after(503, Some("2")), Some(2));
        assert_eq!(after(503, None), None);
        assert_eq!(after(500, Some("2")), None);
        assert_eq!(after(200, Some("2")), None);
    }

    #[test]
    fn a_key_is_in_the_path_or_the_header_and_never_in_debug_output() {
        let client = Client::new("http://127.0.0.1:1/").unwrap();
        assert_eq!(client.surface_path("").unwrap(), "/v4/jsonrpc");
        assert!(client.surface_path("mempool").is_err());
        let in_path = client.clone().with_key("a/../b").unwrap();
        assert_eq!(in_path.surface_path("mempool").unwrap(), "/v4/a%2F..%2Fb/mempool");
        assert_eq!(in_path.route_path(Base::Explorer).unwrap(), "/api/v1/a%2F..%2Fb");
        let in_header = client.with_header_key("secret").unwrap();
        assert_eq!(in_header.route_path(Base::Api).unwrap(), "/v4/api");
        assert!(!format!("{in_header:?}").contains("secret"));
        assert!(Client::new("ftp://x").is_err() && Client::new("http://user:pass@x").is_err());
    }
}
