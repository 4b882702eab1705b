//! A running instance as `call`, `diff` and `tx` ask it: [`paraffin_client`] with errors for the person at the terminal.

use std::time::Duration;

use paraffin_client::{Batch, Error, Waiting};
use serde_json::Value;

use crate::command_line::EndpointArguments;

pub(crate) use paraffin_client::Refusal;

/// Longest time that rate limits are waited out before the call gives up.
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
        /// Why the connection failed.
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

/// One method with its parameters.
pub(crate) type MethodCall = (&'static str, Value);

/// A base address and a key.
pub(crate) struct Client {
    base: String,
    has_key: bool,
    /// What is wrong with address or key is said by the first call.
    api: Result<paraffin_client::Client, Error>,
}

impl Client {
    /// Says once that calls without a key are slower.
    pub(crate) fn new(endpoint: &EndpointArguments) -> Self {
        let key = endpoint.key.as_ref().filter(|key| !key.is_empty());
        if key.is_none() {
            eprintln!("no API key (--key or PARAFFIN_API_KEY): using the shared endpoint, which is rate limited");
        }
        let base = endpoint.url.trim_end_matches('/').to_owned();
        let notice = |wait: Duration| eprintln!("rate limit reached: waiting {} s", wait.as_secs());
        let api = paraffin_client::Client::new(&base)
            .map(|client| client.with_waiting(Waiting { in_all: THROTTLED_TIME_MAX, notice }))
            .and_then(|client| key.map_or_else(|| Ok(client.clone()), |key| client.clone().with_key(key)));
        Self { base, has_key: key.is_some(), api }
    }

    /// The result of one method.
    pub(crate) async fn method(&self, method: &str, params: Value) -> Result<Value, CallError> {
        self.api()?.call_raw("", method, params).await.map_err(|error| self.error(error))
    }

    /// The result of one method of a surface that wants a key, as `btcusd`.
    pub(crate) async fn surface_method(&self, surface: &str, method: &str, params: Value) -> Result<Value, CallError> {
        if !self.has_key {
            return Err(CallError::Parameter(format!("{surface} needs an API key: --key or PARAFFIN_API_KEY")));
        }
        self.api()?.call_raw(surface, method, params).await.map_err(|error| self.error(error))
    }

    /// The results of many methods, in order, in one request.
    pub(crate) async fn methods(&self, calls: &[MethodCall]) -> Result<Vec<Result<Value, Refusal>>, CallError> {
        let mut batch = Batch::new();
        for (method, params) in calls {
            batch.add_raw("", method, params).map_err(|error| self.error(error))?;
        }
        let mut answers = self.api()?.batch(batch).await.map_err(|error| self.error(error))?;
        (0..calls.len() as u64)
            .map(|number| match answers.take_raw(number) {
                Ok(answer) => Ok(Ok(answer)),
                Err(Error::Refused(refusal)) => Ok(Err(refusal)),
                Err(other) => Err(self.error(other)),
            })
            .collect()
    }

    /// The `data` of a route of the REST data API. The flat family of routes has no envelope.
    pub(crate) async fn route(&self, route: &str, body: &Value) -> Result<Value, CallError> {
        let mut answer = self.api()?.ask_raw(route, body).await.map_err(|error| self.error(error))?;
        match answer.get_mut("data").map(Value::take) {
            Some(data) => Ok(data),
            None if answer["ok"] == true => Ok(answer),
            None => Err(CallError::Answer("the answer is not of the REST data API".to_owned())),
        }
    }

    /// A description that an instance has of itself.
    pub(crate) async fn description(&self, path: &str) -> Result<Value, CallError> {
        self.api()?.document(path).await.map_err(|error| self.error(error))
    }

    fn api(&self) -> Result<&paraffin_client::Client, CallError> {
        self.api.as_ref().map_err(|error| {
            CallError::Address(format!("`{}` is not an address such as http://127.0.0.1:8787: {error}", self.base))
        })
    }

    fn error(&self, error: Error) -> CallError {
        match error {
            Error::Address(text) => CallError::Address(text),
            Error::Request(text) => CallError::Parameter(text),
            Error::Unreachable(reason) => CallError::Unreachable { url: self.base.clone(), reason },
            Error::Refused(refusal) => CallError::Refused(refusal),
            Error::AuthUnavailable => CallError::Answer(error.to_string()),
            Error::Throttled(waited) => CallError::Throttled(waited.as_secs()),
            Error::Answer(text) => CallError::Answer(format!("{}: {text}", self.base)),
        }
    }
}
