//! JSON-RPC over HTTP to an EVM endpoint: one call at a time, with a time limit and a size limit, nothing believed.

use std::error::Error as StdError;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::abi;
use crate::address::EvmAddress;
use crate::error::SourceError;

/// Largest answer: a block header with the names of its transactions is some 40 KiB.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Longest message of the endpoint that is repeated in a log line, characters.
const MESSAGE_CHARS_MAX: usize = 200;
/// Parts of the URL from this length on may be secrets and are never repeated, bytes.
const SECRET_LEN_MIN: usize = 8;
/// How long an idle connection is kept.
const POOL_IDLE: Duration = Duration::from_secs(90);
/// Idle connections kept.
const POOL_SIZE_MAX: usize = 2;
/// Codes by which endpoints say that there were too many calls.
const THROTTLED: [i64; 4] = [-32_005, -32_016, -32_029, 429];

/// A block as far as prices need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EvmBlock {
    pub(crate) number: u64,
    /// Unix seconds.
    pub(crate) time: u64,
}

/// An EVM endpoint.
pub(crate) struct Endpoint {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    uri: Uri,
    secrets: Vec<String>,
    timeout: Duration,
    next_id: AtomicU64,
}

#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    id: Option<Value>,
}

impl Endpoint {
    /// For a URL with `http` or `https`; nothing is sent yet.
    ///
    /// # Errors
    /// What is wrong with the URL.
    pub(crate) fn new(url: &str, timeout: Duration) -> Result<Self, String> {
        let uri = checked(url)?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(timeout));
        connector.enforce_http(false);
        let connector =
            HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1().wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(POOL_SIZE_MAX)
            .build(connector);
        let parts = uri.path().split('/').chain(uri.query().into_iter().flat_map(|query| query.split(['&', '='])));
        let secrets = parts.filter(|part| part.len() >= SECRET_LEN_MIN).map(str::to_owned).collect();
        Ok(Self { client, uri, secrets, timeout, next_id: AtomicU64::new(1) })
    }

    /// The chain that the endpoint serves.
    pub(crate) async fn chain_id(&self) -> Result<u64, SourceError> {
        quantity(&self.call("eth_chainId", json!([])).await?, "eth_chainId")
    }

    /// Number of the newest block.
    pub(crate) async fn block_number(&self) -> Result<u64, SourceError> {
        quantity(&self.call("eth_blockNumber", json!([])).await?, "eth_blockNumber")
    }

    /// The block of a number, `None` when the endpoint has none.
    pub(crate) async fn block(&self, number: u64) -> Result<Option<EvmBlock>, SourceError> {
        let answer = self.call("eth_getBlockByNumber", json!([tag(number), false])).await?;
        if answer.is_null() {
            return Ok(None);
        }
        let told = quantity(&answer["number"], "the number of a block")?;
        let time = quantity(&answer["timestamp"], "the time of a block")?;
        if told != number {
            return Err(SourceError::Invalid(format!("block {told} where {number} was asked for")));
        }
        Ok(Some(EvmBlock { number, time }))
    }

    /// What a contract answers to a call at the end of a block.
    pub(crate) async fn contract(&self, to: EvmAddress, data: &[u8], block: u64) -> Result<Vec<u8>, SourceError> {
        let call = json!({ "to": to.to_string(), "data": abi::hex(data) });
        let answer = self.call("eth_call", json!([call, tag(block)])).await?;
        let text = answer.as_str().ok_or_else(|| SourceError::Invalid("eth_call answered no text".to_owned()))?;
        abi::data(text).map_err(|error| SourceError::Invalid(format!("eth_call: {error}")))
    }

    async fn call(&self, method: &'static str, params: Value) -> Result<Value, SourceError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let outcome = match tokio::time::timeout(self.timeout, self.exchange(body)).await {
            Ok(outcome) => outcome.and_then(|(status, body)| decode(method, id, status, &body)),
            Err(_) => Err(SourceError::Unavailable(format!("no answer within {} ms", self.timeout.as_millis()))),
        };
        outcome.map_err(|error| self.without_secrets(error))
    }

    async fn exchange(&self, body: String) -> Result<(StatusCode, Bytes), SourceError> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.uri.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|_| SourceError::Unavailable("the URL cannot be asked".to_owned()))?;
        let response =
            self.client.request(request).await.map_err(|error| SourceError::Unavailable(describe(&error)))?;
        let status = response.status();
        Ok((status, read_body(response).await?))
    }

    /// An endpoint may repeat the key of its URL in its answer.
    fn without_secrets(&self, error: SourceError) -> SourceError {
        let clean = |text: String| self.secrets.iter().fold(text, |text, secret| text.replace(secret.as_str(), "…"));
        match error {
            SourceError::Refused { method, code, message } => {
                SourceError::Refused { method, code, message: clean(message) }
            }
            SourceError::Unavailable(text) => SourceError::Unavailable(clean(text)),
            SourceError::Throttled(text) => SourceError::Throttled(clean(text)),
            SourceError::Invalid(text) => SourceError::Invalid(clean(text)),
            other => other,
        }
    }
}

fn checked(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|_| "evm_url is not a URL: write https://host/path".to_owned())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("evm_url must begin with https:// or http://".to_owned());
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => {
            Err("evm_url must not hold a user and password: use an endpoint whose key is in its path".to_owned())
        }
        Some(authority) if !authority.host().is_empty() => Ok(uri),
        _ => Err("evm_url names no host".to_owned()),
    }
}

fn tag(number: u64) -> String {
    format!("{number:#x}")
}

async fn read_body(response: Response<Incoming>) -> Result<Bytes, SourceError> {
    let too_large = || SourceError::Invalid(format!("an answer of more than {ANSWER_BYTES_MAX} bytes"));
    let told = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if told.is_some_and(|told| told > ANSWER_BYTES_MAX) {
        return Err(too_large());
    }
    let mut body = response.into_body();
    let mut collected = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| SourceError::Unavailable("the connection closed within an answer".to_owned()))?;
        if let Ok(data) = frame.into_data() {
            if collected.len() + data.len() > ANSWER_BYTES_MAX {
                return Err(too_large());
            }
            collected.extend_from_slice(&data);
        }
    }
    Ok(collected.freeze())
}

fn decode(method: &'static str, id: u64, status: StatusCode, body: &[u8]) -> Result<Value, SourceError> {
    if status.is_redirection() {
        return Err(SourceError::Invalid(format!(
            "HTTP {} points elsewhere, and redirects are not followed: write the final address to [prices] evm_url",
            status.as_u16()
        )));
    }
    let reply = serde_json::from_slice::<Reply>(body).ok().filter(|reply| {
        // The id of an error may be null when the endpoint could not read the request.
        reply.id.as_ref().and_then(Value::as_u64) == Some(id)
            || reply.error.as_ref().is_some_and(|error| !error.is_null())
    });
    let refused = reply.as_ref().and_then(|reply| reply.error.as_ref()).filter(|error| !error.is_null());
    if let Some(error) = refused {
        let code = error["code"].as_i64().unwrap_or(0);
        let message = shortened(error["message"].as_str().unwrap_or("no message"));
        let is_throttled = THROTTLED.contains(&code) || status == StatusCode::TOO_MANY_REQUESTS;
        return Err(if is_throttled {
            SourceError::Throttled(message)
        } else {
            SourceError::Refused { method, code, message }
        });
    }
    match (status, reply) {
        (StatusCode::OK, Some(Reply { result, .. })) => Ok(result.unwrap_or(Value::Null)),
        (StatusCode::OK, None) => Err(SourceError::Invalid(format!(
            "asked for JSON-RPC, got {} bytes of something else; check [prices] evm_url",
            body.len()
        ))),
        (StatusCode::TOO_MANY_REQUESTS, _) => Err(SourceError::Throttled("HTTP 429".to_owned())),
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _) => Err(SourceError::Invalid(format!(
            "HTTP {}: the endpoint wants a key; write the address with its key to [prices] evm_url",
            status.as_u16()
        ))),
        (status, _) if status.is_server_error() => Err(SourceError::Unavailable(format!("HTTP {}", status.as_u16()))),
        (status, _) => Err(SourceError::Invalid(format!("HTTP {}; check [prices] evm_url", status.as_u16()))),
    }
}

/// The beginning of a text from outside, on one line.
fn shortened(text: &str) -> String {
    text.chars().take(MESSAGE_CHARS_MAX).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// `0x` and 1 to 16 hex digits.
fn quantity(value: &Value, name: &str) -> Result<u64, SourceError> {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let number = digits
        .filter(|digits| (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| SourceError::Invalid(format!("{name} is no number")))
}

/// The kind of failure without addresses: the innermost I/O error if there is one, a failed handshake by its reason.
fn describe(error: &hyper_util::client::legacy::Error) -> String {
    let mut source: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            let reason = io.get_ref().map_or_else(|| io.kind().to_string(), |reason| shortened(&reason.to_string()));
            return if error.is_connect() { format!("cannot connect: {reason}") } else { reason };
        }
        source = inner.source();
    }
    if error.is_connect() { "cannot connect".to_owned() } else { "the connection closed before an answer".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_without_credentials_are_accepted() {
        for good in ["http://127.0.0.1:8545", "https://mainnet.example/v3/0123456789", "http://[::1]:1/?key=x"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in ["", "mainnet.example", "ws://a", "https://user:pass@host/", "https://", "/path", "ftp://x"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn quantities_are_hex_of_at_most_64_bits() {
        assert_eq!(quantity(&json!("0x1"), "x"), Ok(1));
        assert_eq!(quantity(&json!("0xffffffffffffffff"), "x"), Ok(u64::MAX));
        for bad in
            [json!("0x"), json!("1"), json!(1), json!("0x10000000000000000"), json!("0x-1"), json!(null), json!("0x+1")]
        {
            assert!(quantity(&bad, "x").is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_answer_is_told_by_what_it_is() {
        let kind =
            |status: u16, body: &str| decode("eth_call", 7, StatusCode::from_u16(status).unwrap(), body.as_bytes());
        assert_eq!(kind(200, r#"{"id":7,"result":"0x1"}"#), Ok(json!("0x1")));
        assert_eq!(kind(200, r#"{"id":7,"error":null,"result":"0x1"}"#), Ok(json!("0x1")));
        for (status, body) in [
            (200, "<html>"),
            (200, ""),
            (200, r#"{"id":8,"result":"0x1"}"#),
            (200, r#"{"result":"0x1"}"#),
            (200, "[]"),
            (301, ""),
            (404, "gone"),
            (401, ""),
        ] {
            assert!(matches!(kind(status, body), Err(SourceError::Invalid(_))), "{status} {body}");
        }
        assert!(matches!(kind(503, ""), Err(SourceError::Unavailable(_))));
        assert!(matches!(kind(429, "slow down"), Err(SourceError::Throttled(_))));
        assert!(matches!(
            kind(200, r#"{"id":7,"error":{"code":-32005,"message":"x"}}"#),
            Err(SourceError::Throttled(_))
        ));
        let refused = kind(400, r#"{"id":null,"error":{"code":-32000,"message":"header\nnot found"}}"#);
        assert_eq!(
            refused,
            Err(SourceError::Refused { method: "eth_call", code: -32_000, message: "header not found".into() })
        );
    }

    #[test]
    fn the_key_of_the_url_is_never_repeated() {
        let endpoint =
            Endpoint::new("https://host.example/v3/0123456789abcdef?token=secretsecret", Duration::ZERO).unwrap();
        let told = SourceError::Refused {
            method: "eth_call",
            code: 1,
            message: "bad key 0123456789abcdef or secretsecret".into(),
        };
        let text = endpoint.without_secrets(told).to_string();
        assert!(!text.contains("0123456789abcdef") && !text.contains("secretsecret"), "{text}");
    }
}
