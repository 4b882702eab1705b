//! JSON-RPC over HTTP to an EVM endpoint: one call at a time, with a time limit and a size limit; every answer is validated.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, StatusCode, Uri};
use paraffin_web::{BodyError, Connections, HttpsClient, checked, describe, one_line, read_body};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::abi;
use crate::address::EvmAddress;
use crate::error::SourceError;

/// Largest answer: a block header with the names of its transactions is some 40 KiB.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Parts of the URL from this length on may be secrets and are never repeated, bytes.
const SECRET_LEN_MIN: usize = 8;
/// Time after which an idle connection is closed.
const POOL_IDLE: Duration = Duration::from_secs(90);
/// Most idle connections.
const POOL_SIZE_MAX: usize = 2;
/// Error codes of endpoints for too many calls.
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
    client: HttpsClient,
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
        let uri = checked(url).map_err(|reason| format!("evm_url {reason}"))?;
        let client = Connections { timeout, idle: POOL_IDLE, per_host: POOL_SIZE_MAX }.https();
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
        let answered = quantity(&answer["number"], "the number of a block")?;
        let time = quantity(&answer["timestamp"], "the time of a block")?;
        if answered != number {
            return Err(SourceError::Invalid(format!("block {answered} where {number} was requested")));
        }
        Ok(Some(EvmBlock { number, time }))
    }

    /// The result of a contract call at the end of a block.
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
            .map_err(|_| SourceError::Unavailable("the URL cannot be requested".to_owned()))?;
        let response =
            self.client.request(request).await.map_err(|error| SourceError::Unavailable(describe(&error)))?;
        let status = response.status();
        let body = read_body(response, ANSWER_BYTES_MAX).await.map_err(|error| match error {
            BodyError::TooLarge(_) => SourceError::Invalid(error.to_string()),
            BodyError::Closed | BodyError::NoMemory => SourceError::Unavailable(error.to_string()),
        })?;
        Ok((status, body))
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

fn tag(number: u64) -> String {
    format!("{number:#x}")
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
        let message = one_line(error["message"].as_str().unwrap_or("no message"));
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
            "expected JSON-RPC, got {} bytes of something else; check [prices] evm_url",
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

/// `0x` and 1 to 16 hex digits.
fn quantity(value: &Value, name: &str) -> Result<u64, SourceError> {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let number = digits
        .filter(|digits| (1..=16).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .and_then(|digits| u64::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| SourceError::Invalid(format!("{name} is no number")))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let refused = SourceError::Refused {
            method: "eth_call",
            code: 1,
            message: "bad key 0123456789abcdef or secretsecret".into(),
        };
        let text = endpoint.without_secrets(refused).to_string();
        assert!(!text.contains("0123456789abcdef") && !text.contains("secretsecret"), "{text}");
    }
}
