//! A running instance as `call` and `tx` ask it: methods, batches of methods, and routes, over plain HTTP.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes};
use hyper::{Method, Request, StatusCode, Uri};
use paraffin_web::{Connections, HttpClient};
use serde_json::{Value, json};

use crate::command_line::EndpointArguments;

/// Largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Longest time until an answer begins.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a connection is kept that nothing is asked on.
const IDLE: Duration = Duration::from_secs(90);
/// Connections that are kept.
const CONNECTIONS_KEPT: usize = 16;
/// Longest time for the rest of one, so that a server which sends a byte now and then does not hold the command for ever.
const BODY_TIMEOUT: Duration = Duration::from_secs(300);
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
    Refused(#[from] Refusal),
    /// The answer makes no sense.
    #[error("{0}")]
    Answer(String),
    /// Still throttled after waiting.
    #[error("rate limit: still refused after {0} seconds; use an API key of a larger plan")]
    Throttled(u64),
}

/// An error in an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", code.map_or_else(String::new, |code| format!(" ({code})")))]
pub(crate) struct Refusal {
    /// Of JSON-RPC, or the status of a route.
    pub code: Option<i64>,
    /// The stable word that says what is wrong, where there is one.
    pub word: Option<String>,
    /// What the instance says.
    pub message: String,
}

impl Refusal {
    /// Whether the instance does not have the method or route at all, or does not index what it reads.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.code, Some(-32601 | 404)) || self.word.as_ref().is_some_and(|word| word.ends_with("_NOT_INDEXED"))
    }
}

/// One method with its parameters.
pub(crate) type MethodCall = (&'static str, Value);

/// A base address and a key.
pub(crate) struct Client {
    base: String,
    key: Option<String>,
    http: HttpClient,
}

impl Client {
    /// Says once that calls without a key are slower.
    pub(crate) fn new(endpoint: &EndpointArguments) -> Self {
        let key = endpoint.key.clone().filter(|key| !key.is_empty());
        if key.is_none() {
            eprintln!("no API key (--key or PARAFFIN_API_KEY): using the shared endpoint, which is rate limited");
        }
        let base = endpoint.url.trim_end_matches('/').to_owned();
        let connections = Connections { timeout: ANSWER_TIMEOUT, idle: IDLE, per_host: CONNECTIONS_KEPT };
        Self { base, key, http: connections.http() }
    }

    /// The result of one method.
    pub(crate) async fn method(&self, method: &str, params: Value) -> Result<Value, CallError> {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = self.post(&self.main_path(), &body).await?;
        Ok(result(&answer)??)
    }

    /// The result of one method of a surface that wants a key, as `btcusd`.
    pub(crate) async fn surface_method(&self, surface: &str, method: &str, params: Value) -> Result<Value, CallError> {
        let key = self.key.as_ref();
        let key =
            key.ok_or_else(|| CallError::Parameter(format!("{surface} needs an API key: --key or PARAFFIN_API_KEY")))?;
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = self.post(&format!("/v4/{key}/{surface}"), &body).await?;
        Ok(result(&answer)??)
    }

    /// The results of many methods, in order, in one request.
    pub(crate) async fn methods(&self, calls: &[MethodCall]) -> Result<Vec<Result<Value, Refusal>>, CallError> {
        let requests = calls
            .iter()
            .enumerate()
            .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = self.post(&self.main_path(), &Value::Array(requests.collect())).await?;
        let Value::Array(answers) = &answer else {
            result(&answer)??;
            return Err(CallError::Answer("a batch was answered with something else than a list".to_owned()));
        };
        let in_order = answers.iter().enumerate().all(|(id, answer)| answer["id"].as_u64() == Some(id as u64));
        if answers.len() != calls.len() || !in_order {
            return Err(CallError::Answer("the answers to a batch are not in its order".to_owned()));
        }
        answers.iter().map(result).collect()
    }

    /// The `data` of a route of the REST data API.
    pub(crate) async fn route(&self, route: &str, body: &Value) -> Result<Value, CallError> {
        let path = format!("/v4/{}/{route}", self.key.as_deref().unwrap_or("api"));
        let answer = self.post(&path, body).await?;
        let code = answer.get("statusCode").and_then(Value::as_i64);
        if code == Some(200) {
            return Ok(answer.get("data").cloned().unwrap_or(Value::Null));
        }
        // The flat family of routes has no envelope.
        if answer.get("ok") == Some(&Value::Bool(true)) {
            return Ok(answer);
        }
        let message = answer.get("error").and_then(Value::as_str);
        let message = printable(message.unwrap_or("the answer is not of the REST data API"));
        let word = answer.get("code").and_then(Value::as_str).map(str::to_owned);
        Err(Refusal { code, word, message }.into())
    }

    fn main_path(&self) -> String {
        self.key.as_ref().map_or_else(|| "/v4/jsonrpc".to_owned(), |key| format!("/v4/{key}"))
    }

    /// A description that an instance has of itself.
    pub(crate) async fn description(&self, path: &str) -> Result<Value, CallError> {
        self.send(&Method::GET, path, String::new()).await
    }

    /// Posts, and waits as the instance asks while it answers 429.
    async fn post(&self, path: &str, body: &Value) -> Result<Value, CallError> {
        self.send(&Method::POST, path, body.to_string()).await
    }

    async fn send(&self, method: &Method, path: &str, body: String) -> Result<Value, CallError> {
        let base = &self.base;
        if base.starts_with("https://") {
            return Err(CallError::Address(
                "this build calls http:// addresses only; put a TLS proxy or tunnel in front".to_owned(),
            ));
        }
        let target: Uri = format!("{base}{path}")
            .parse()
            .map_err(|_| CallError::Address(format!("`{base}` is not an address such as http://127.0.0.1:8787")))?;
        let started = tokio::time::Instant::now();
        loop {
            let request = Request::builder()
                .method(method)
                .uri(target.clone())
                .header("content-type", "application/json")
                .body(Full::new(Bytes::from(body.clone())))
                .map_err(|error| CallError::Address(error.to_string()))?;
            let unreachable = |reason: String| CallError::Unreachable { url: base.to_owned(), reason };
            let response = tokio::time::timeout(ANSWER_TIMEOUT, self.http.request(request))
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
            let bytes = whole(response.into_body(), BODY_TIMEOUT).await.map_err(unreachable)?;
            return serde_json::from_slice(&bytes).map_err(|_| {
                CallError::Answer(format!("{base} answers something that is not JSON: is this a Paraffin instance?"))
            });
        }
    }
}

/// All of a body, within bounds of size and time.
async fn whole<B>(body: B, limit: Duration) -> Result<Bytes, String>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    match tokio::time::timeout(limit, Limited::new(body, ANSWER_BYTES_MAX).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("an answer that is not whole after {} seconds", limit.as_secs())),
    }
}

/// What a server says, for a terminal: one line of bounded length, without what a terminal would take for a command.
pub(crate) fn printable(text: &str) -> String {
    const CHARACTERS_MAX: usize = 2_000;
    text.chars().take(CHARACTERS_MAX).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// Result or error of one JSON-RPC answer.
fn result(answer: &Value) -> Result<Result<Value, Refusal>, CallError> {
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let message = printable(error.get("message").and_then(Value::as_str).unwrap_or("error without a message"));
        let word = error.pointer("/data/code").and_then(Value::as_str).map(str::to_owned);
        return Ok(Err(Refusal { code: error.get("code").and_then(Value::as_i64), word, message }));
    }
    answer.get("result").cloned().map(Ok).ok_or_else(|| {
        CallError::Answer("the answer has neither result nor error: is this a Paraffin instance?".to_owned())
    })
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
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper::body::Frame;

    use super::*;

    /// A byte every few milliseconds, for ever.
    struct Drops(Pin<Box<tokio::time::Sleep>>);

    impl Body for Drops {
        type Data = Bytes;
        type Error = std::io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
            std::task::ready!(self.0.as_mut().poll(context));
            let next = tokio::time::Instant::now() + Duration::from_millis(20);
            self.0.as_mut().reset(next);
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"{")))))
        }
    }

    #[tokio::test]
    async fn an_answer_that_never_ends_is_given_up() {
        let never = Drops(Box::pin(tokio::time::sleep(Duration::ZERO)));
        let limit = Duration::from_secs(1);
        assert!(whole(never, limit).await.unwrap_err().contains("not whole after 1 seconds"));
        assert_eq!(whole(Full::new(Bytes::from_static(b"{}")), limit).await.unwrap(), "{}");
    }

    #[test]
    fn what_a_server_says_commands_no_terminal() {
        let said = json!({ "error": { "code": -1, "message": "\u{1b}]0;x\u{7}a\nb\u{9b}2J".to_owned() + &"c".repeat(9_999) } });
        let refusal = result(&said).unwrap().unwrap_err();
        assert!(
            refusal.message.starts_with(" ]0;x a b 2Jccc") && refusal.message.len() <= 2_000,
            "{}",
            refusal.message
        );
    }
}
