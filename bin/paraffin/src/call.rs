//! `paraffin call`: one method or route of a running instance, for people and scripts.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::{Map, Value, json};

use crate::command_line::CallArguments;

/// Largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Longest time for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time that 429 answers are waited out before the call gives up.
const THROTTLED_TIME_MAX: Duration = Duration::from_secs(180);

/// A call failed; the text is for the person at the terminal.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The address cannot be used.
    #[error("{0}")]
    Address(String),
    /// No answer.
    #[error("{url} does not answer: {reason}")]
    Unreachable {
        /// Base address.
        url: String,
        /// What happened.
        reason: String,
    },
    /// A parameter has the wrong form.
    #[error("{0}")]
    Parameter(String),
    /// The instance answered with an error.
    #[error("{0}")]
    Answer(String),
    /// Still throttled after waiting.
    #[error("rate limit: still refused after {0} seconds; use an API key of a larger plan")]
    Throttled(u64),
}

/// Runs the command and prints the result.
///
/// # Errors
/// See [`CallError`]; the program ends with code 1.
pub(crate) async fn run(arguments: CallArguments) -> Result<(), CallError> {
    let key = arguments.key.as_deref().filter(|key| !key.is_empty());
    if key.is_none() {
        eprintln!("no API key (--key or PARAFFIN_API_KEY): using the shared endpoint, which is rate limited");
    }
    let result = if is_route(&arguments.method) {
        call_route(&arguments, key).await?
    } else {
        call_method(&arguments, key).await?
    };
    println!("{}", serde_json::to_string_pretty(&result).unwrap_or_else(|_| result.to_string()));
    Ok(())
}

/// Routes of the REST data API are words joined by `-`, methods have a `_` after their family or are one word.
fn is_route(method: &str) -> bool {
    method.starts_with('/') || (method.contains('-') && !method.contains('_'))
}

async fn call_method(arguments: &CallArguments, key: Option<&str>) -> Result<Value, CallError> {
    let parameters: Vec<Value> = arguments.parameters.iter().map(|text| parameter(text)).collect();
    let path = key.map_or_else(|| "/v4/jsonrpc".to_owned(), |key| format!("/v4/{key}"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": arguments.method, "params": parameters});
    let answer = post(&arguments.url, &path, &body).await?;
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("error without a message");
        let code = error.get("code").map_or_else(String::new, |code| format!(" ({code})"));
        return Err(CallError::Answer(format!("{message}{code}")));
    }
    answer.get("result").cloned().ok_or_else(|| {
        CallError::Answer("the answer has neither result nor error: is this a Paraffin instance?".to_owned())
    })
}

async fn call_route(arguments: &CallArguments, key: Option<&str>) -> Result<Value, CallError> {
    let mut body = Map::new();
    for text in &arguments.parameters {
        let Some((name, value)) = text.split_once('=') else {
            return Err(CallError::Parameter(format!(
                "a route takes name=value parameters, for example address=bcrt1…; got `{text}`"
            )));
        };
        body.insert(name.to_owned(), parameter(value));
    }
    let route = arguments.method.trim_start_matches('/');
    let path = format!("/v4/{}/{route}", key.unwrap_or("api"));
    let answer = post(&arguments.url, &path, &Value::Object(body)).await?;
    match answer.get("statusCode").and_then(Value::as_u64) {
        Some(200) => Ok(answer.get("data").cloned().unwrap_or(Value::Null)),
        _ => {
            let message =
                answer.get("error").and_then(Value::as_str).unwrap_or("the answer is not of the REST data API");
            Err(CallError::Answer(message.to_owned()))
        }
    }
}

/// JSON objects, arrays, booleans, null and numbers that JSON writes the same way are taken as such; everything else,
/// identifiers as `2:0` and hashes of digits alone included, is text.
fn parameter(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(number)) if number.to_string() != text || text.len() > 20 => Value::String(text.to_owned()),
        Ok(value) => value,
        Err(_) => Value::String(text.to_owned()),
    }
}

/// Posts, and waits as the instance asks while it answers 429.
async fn post(url: &str, path: &str, body: &Value) -> Result<Value, CallError> {
    let base = url.trim_end_matches('/');
    if base.starts_with("https://") {
        return Err(CallError::Address(
            "this build calls http:// addresses only; put a TLS proxy or tunnel in front".to_owned(),
        ));
    }
    let target: Uri = format!("{base}{path}")
        .parse()
        .map_err(|_| CallError::Address(format!("`{url}` is not an address such as http://127.0.0.1:8787")))?;
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let started = tokio::time::Instant::now();
    loop {
        let request = Request::builder()
            .method(Method::POST)
            .uri(target.clone())
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|error| CallError::Address(error.to_string()))?;
        let unreachable = |reason: String| CallError::Unreachable { url: base.to_owned(), reason };
        let response = tokio::time::timeout(ANSWER_TIMEOUT, client.request(request))
            .await
            .map_err(|_| unreachable(format!("no answer within {} seconds", ANSWER_TIMEOUT.as_secs())))?
            .map_err(|error| unreachable(innermost(&error)))?;
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            let seconds = retry_after(response.headers());
            if started.elapsed() + Duration::from_secs(seconds) > THROTTLED_TIME_MAX {
                return Err(CallError::Throttled(started.elapsed().as_secs()));
            }
            eprintln!("rate limit reached: waiting {seconds} s");
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            continue;
        }
        let bytes = Limited::new(response.into_body(), ANSWER_BYTES_MAX)
            .collect()
            .await
            .map_err(|error| unreachable(error.to_string()))?
            .to_bytes();
        return serde_json::from_slice(&bytes).map_err(|_| {
            CallError::Answer(format!("{base} answers something that is not JSON: is this a Paraffin instance?"))
        });
    }
}

fn retry_after(headers: &hyper::HeaderMap) -> u64 {
    headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok()).unwrap_or(1).clamp(1, 60)
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row CL01
    #[test]
    fn identifiers_and_hashes_stay_text_and_json_stays_json() {
        assert_eq!(parameter("2:0"), json!("2:0"));
        assert_eq!(parameter("5"), json!(5));
        assert_eq!(parameter("true"), json!(true));
        assert_eq!(parameter(r#"{"name":"x"}"#), json!({"name": "x"}));
        assert_eq!(parameter("[1,2]"), json!([1, 2]));
        let digits = "1".repeat(64);
        assert_eq!(parameter(&digits), Value::String(digits.clone()));
        assert_eq!(parameter("007"), json!("007"));
        assert_eq!(parameter("1e5"), json!("1e5"));
        assert_eq!(parameter("bcrt1qxyz"), json!("bcrt1qxyz"));
    }

    #[test]
    fn routes_are_told_from_methods() {
        for route in ["get-address-balance", "/get-alkanes", "address-positions"] {
            assert!(is_route(route), "{route}");
        }
        for method in [
            "btc_getblockcount",
            "esplora_fee-estimates",
            "esplora_address::utxo",
            "getblockcount",
            "spendablesbyaddress",
        ] {
            assert!(!is_route(method), "{method}");
        }
    }
}
