//! Reads data from the API for a page of the explorer, and provides the frame of its content.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use bytes::Bytes;
use hyper::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{Api, ApiAnswer, Call, MemoryBudget, Tip};
use crate::failure::Failure;
use crate::html::{age, moment};
use crate::visitor::Visitor;
use crate::{ExplorerAccess, SiteParts, Visit};

/// Most calls that one page makes.
const CALLS_MAX: usize = 64;
/// Largest answer that a page reads, bytes: enough for the content of an inscription in Base64, the largest answer of any page.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// Answers up to this size, bytes, are not held until the page is made; the process does not count those either.
const SMALL_BYTES_MAX: usize = 64 << 10;
/// Most calls that a page lists as commands.
const CALLS_SHOWN: usize = 12;
/// Longest body of a command that is shown, bytes.
const COMMAND_BYTES_MAX: usize = 600;

/// Failure of a call of the API.
#[derive(Debug)]
pub(crate) enum AskError {
    /// The API requires a key for it, and the visitor is not signed in.
    NeedsKey,
    /// The requested object does not exist: a sentence.
    Missing(String),
    /// The API refuses the request: a sentence.
    Refused(String),
    /// This instance does not have it, or it is unavailable: a sentence.
    Away(String),
    /// The caller is rate-limited: seconds to wait, and a sentence.
    Later(u32, String),
}

impl AskError {
    /// A sentence that replaces a part of a page.
    pub(crate) fn sentence(self) -> String {
        match self {
            Self::NeedsKey => "Sign in to see this: the API asks a key for it.".to_owned(),
            Self::Missing(sentence) | Self::Refused(sentence) | Self::Away(sentence) | Self::Later(_, sentence) => {
                sentence
            }
        }
    }
}

impl From<AskError> for Failure {
    fn from(error: AskError) -> Self {
        match error {
            AskError::NeedsKey => Self::SignIn,
            AskError::Missing(sentence) => Self::NotThere(sentence),
            AskError::Refused(sentence) => Self::Refused(sentence),
            AskError::Away(sentence) => Self::NotServed(sentence),
            AskError::Later(seconds, sentence) => Self::Later(seconds, sentence),
        }
    }
}

/// An answer, or the sentence that replaces it.
pub(crate) type Part<T> = Result<T, String>;

/// Reads from the API for one page.
pub(crate) struct Reader {
    api: Arc<dyn Api>,
    visitor: Option<Visitor>,
    visit: Visit,
    calls: Mutex<Vec<Call>>,
    /// Large answers, held until the page is made: the process counts their bytes until they are dropped, and the parsed data takes
    /// memory as well.
    large_answers: Mutex<Vec<Bytes>>,
}

impl FromRequestParts<Arc<SiteParts>> for Reader {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<SiteParts>) -> Result<Self, Failure> {
        let visit = parts.extensions.get::<Visit>().cloned();
        let api = parts.extensions.get::<Arc<dyn Api>>().cloned();
        let (Some(visit), Some(api)) = (visit, api) else {
            return Err(Failure::Away("a request without its visit".to_owned()));
        };
        let visitor = Visitor::from_request_parts(parts, site).await.ok();
        match site.explorer {
            ExplorerAccess::Off => return Err(Failure::Missing),
            ExplorerAccess::SignedIn if visitor.is_none() => return Err(Failure::SignIn),
            ExplorerAccess::SignedIn | ExplorerAccess::Open => {}
        }
        Ok(Self { api, visitor, visit, calls: Mutex::default(), large_answers: Mutex::default() })
    }
}

impl Reader {
    /// The result of a JSON-RPC call, or the data of a REST one.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, AskError> {
        let answer = self.ask_raw(call).await?;
        read(&answer.body)
    }

    /// As [`Reader::ask`], for a part of a page that may be missing.
    pub(crate) async fn part<T: DeserializeOwned>(&self, call: Call) -> Result<Part<T>, Failure> {
        match self.ask(call).await {
            Ok(answer) => Ok(Ok(answer)),
            Err(AskError::Later(seconds, sentence)) => Err(Failure::Later(seconds, sentence)),
            Err(error) => Ok(Err(error.sentence())),
        }
    }

    /// A successful answer, unparsed.
    pub(crate) async fn ask_raw(&self, call: Call) -> Result<ApiAnswer, AskError> {
        if call.needs_key() && self.visitor.is_none() {
            return Err(AskError::NeedsKey);
        }
        {
            let mut calls = self.calls.lock();
            if calls.len() >= CALLS_MAX {
                return Err(AskError::Refused("This page needs too many calls of the API.".to_owned()));
            }
            calls.push(call.clone());
        }
        let answer = self.api.ask(call).await;
        if let Some(error) = failure(&answer) {
            return Err(error);
        }
        if answer.body.len() > ANSWER_BYTES_MAX {
            return Err(AskError::Refused("This is too much for a page: ask the API for it.".to_owned()));
        }
        if answer.body.len() > SMALL_BYTES_MAX {
            self.large_answers.lock().push(answer.body.clone());
        }
        Ok(answer)
    }

    /// Whether the visitor is signed in.
    pub(crate) fn is_signed_in(&self) -> bool {
        self.visitor.is_some()
    }

    /// The newest block.
    pub(crate) fn tip(&self) -> Tip {
        self.api.tip()
    }

    /// Memory limits and use of the parts of the instance; only for signed-in users.
    pub(crate) fn memory_budgets(&self) -> Vec<MemoryBudget> {
        if self.is_signed_in() { self.api.memory_budgets() } else { Vec::new() }
    }

    /// The newest block, once it differs from `known`.
    pub(crate) async fn tip_other_than(&self, known: String) -> Tip {
        self.api.tip_other_than(known).await
    }

    /// Client and time of the request for the page.
    pub(crate) fn visit(&self) -> &Visit {
        &self.visit
    }

    /// Age of a time in Unix seconds, as text.
    pub(crate) fn age(&self, unix_seconds: i64) -> String {
        age(self.visit.now, unix_seconds)
    }

    /// The frame of a page; to be called after all calls of the page. `section` is the current entry of the menu.
    pub(crate) fn view(&self, section: &'static str) -> View {
        let tip = self.api.tip();
        let calls = std::mem::take(&mut *self.calls.lock());
        let mut commands: Vec<String> =
            calls.iter().filter_map(|call| command(&self.visit.base, call)).take(CALLS_SHOWN).collect();
        commands.dedup();
        View {
            section,
            user: self.visitor.as_ref().map(|visitor| visitor.session.user.name.clone()),
            tip_id: tip.id(),
            age: tip.time.map(|time| self.age(time)).unwrap_or_default(),
            moment: tip.time.map(|time| moment(time.saturating_mul(1_000))).unwrap_or_default(),
            tip,
            commands,
            refresh_seconds: 0,
        }
    }
}

/// The frame of a page.
pub(crate) struct View {
    pub(crate) section: &'static str,
    /// Name of the signed-in user.
    pub(crate) user: Option<String>,
    pub(crate) tip: Tip,
    pub(crate) tip_id: String,
    /// Age and time of the newest block.
    pub(crate) age: String,
    pub(crate) moment: String,
    /// Shell commands that read the same data.
    pub(crate) commands: Vec<String>,
    /// Seconds after which a page is reloaded between blocks; 0: only with new blocks.
    pub(crate) refresh_seconds: u32,
}

impl View {
    /// Reloads the page every so many seconds.
    #[must_use]
    pub(crate) fn refreshing(mut self, seconds: u32) -> Self {
        self.refresh_seconds = seconds;
        self
    }
}

/// A call as a command line; `None` for one that is too long to show.
fn command(base: &str, call: &Call) -> Option<String> {
    let mut text = format!("curl -s '{base}{}'", quoted(&call.path));
    if let Some(body) = &call.body {
        let _ = write!(text, " -d '{}'", quoted(body));
    }
    (text.len() <= COMMAND_BYTES_MAX).then_some(text)
}

/// A text within the single quotes of a shell.
fn quoted(text: &str) -> String {
    text.replace('\'', r"'\''")
}

/// Both forms of errors.
#[derive(Deserialize)]
struct ErrorBody {
    error: Option<Value>,
    code: Option<Value>,
}

fn failure(answer: &ApiAnswer) -> Option<AskError> {
    let is_json = answer.body.first() == Some(&b'{');
    let body: Option<ErrorBody> = if is_json { serde_json::from_slice(&answer.body).ok() } else { None };
    let error = body.as_ref().and_then(|body| body.error.as_ref()).filter(|error| !error.is_null());
    if answer.status.is_success() && error.is_none() {
        return None;
    }
    let message = error.and_then(|error| error.as_str().or_else(|| error["message"].as_str()));
    let message = super::text::clean(message.unwrap_or("The API does not answer this."), 300);
    let stable = error.and_then(|error| error.pointer("/data/code")).and_then(Value::as_str);
    let stable = stable.or_else(|| body.as_ref()?.code.as_ref()?.as_str()).unwrap_or_default();
    let code = error.and_then(|error| error["code"].as_i64());
    let later = answer.retry_after.unwrap_or(5);
    Some(match (answer.status, stable, code) {
        (StatusCode::TOO_MANY_REQUESTS, ..) | (_, "BUDGET_EXCEEDED" | "OVERLOADED", _) => {
            AskError::Later(later, "Too many pages in one minute. Try again in a moment.".to_owned())
        }
        (StatusCode::NOT_FOUND, "SURFACE_NOT_AVAILABLE", _) => AskError::Away(message),
        (StatusCode::NOT_FOUND, ..) | (_, "NOT_FOUND", _) => AskError::Missing(message),
        (StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY, ..) | (_, _, Some(-32602)) => {
            AskError::Refused(message)
        }
        _ => AskError::Away(message),
    })
}

/// Both forms of answers.
#[derive(Deserialize)]
struct Envelope<T> {
    #[serde(alias = "data")]
    result: T,
}

/// The result of a JSON-RPC call, the data of an enveloped REST answer, or else the whole body.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, AskError> {
    let enveloped: Result<Envelope<T>, _> = serde_json::from_slice(body);
    enveloped.map(|envelope| envelope.result).or_else(|first| {
        serde_json::from_slice(body).map_err(|second| {
            tracing::error!(%first, %second, "an answer of the API has not the shape that a page reads");
            AskError::Away("This answer cannot be shown.".to_owned())
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::ApiFuture;

    /// Answers every call with the same body.
    struct OneAnswer(Bytes);

    impl Api for OneAnswer {
        fn ask(&self, _: Call) -> ApiFuture<'_, ApiAnswer> {
            let answer = ApiAnswer { status: StatusCode::OK, retry_after: None, body: self.0.clone() };
            Box::pin(std::future::ready(answer))
        }

        fn tip(&self) -> Tip {
            Tip::default()
        }

        fn tip_other_than(&self, _: String) -> ApiFuture<'_, Tip> {
            Box::pin(std::future::pending())
        }
    }

    fn reader(body: Bytes) -> Reader {
        let visit = Visit { client: [127, 0, 0, 1].into(), now: 0, base: String::new() };
        Reader {
            api: Arc::new(OneAnswer(body)),
            visitor: None,
            visit,
            calls: Mutex::default(),
            large_answers: Mutex::default(),
        }
    }

    fn text(bytes: usize) -> Bytes {
        json!({ "result": "x".repeat(bytes) }).to_string().into()
    }

    #[tokio::test]
    async fn a_page_holds_large_answers_until_its_end_and_reads_none_that_is_too_large() {
        for (bytes, is_kept) in [(100, false), (SMALL_BYTES_MAX, true)] {
            let reader = reader(text(bytes));
            reader.ask::<String>(Call::get("/")).await.unwrap();
            assert_eq!(reader.large_answers.lock().iter().map(Bytes::len).sum::<usize>() > bytes, is_kept, "{bytes}");
        }
        let refused = reader(text(ANSWER_BYTES_MAX)).ask::<String>(Call::get("/")).await;
        assert!(matches!(refused, Err(AskError::Refused(_))), "{refused:?}");
    }

    #[tokio::test]
    async fn a_page_makes_bounded_calls_and_none_that_needs_a_key_for_an_anonymous_visitor() {
        let reader = reader(text(1));
        let keyed = reader.ask::<String>(Call::keyed_rpc("espo", "ping", json!([]))).await;
        assert!(matches!(keyed, Err(AskError::NeedsKey)), "{keyed:?}");
        for _ in 0..CALLS_MAX {
            reader.ask::<String>(Call::get("/")).await.unwrap();
        }
        let refused = reader.ask::<String>(Call::get("/")).await;
        assert!(matches!(refused, Err(AskError::Refused(_))), "{refused:?}");
    }

    fn answer(status: u16, body: &Value) -> ApiAnswer {
        let body = Bytes::from(body.to_string());
        ApiAnswer { status: StatusCode::from_u16(status).unwrap(), retry_after: None, body }
    }

    #[test]
    fn errors_of_both_forms_are_distinguished() {
        let rpc =
            |code: i64, stable: &str| json!({ "error": { "code": code, "message": "m", "data": { "code": stable } } });
        let of = |status, body: Value| failure(&answer(status, &body));
        assert!(of(200, json!({ "result": [1] })).is_none());
        assert!(of(200, json!({ "error": null, "result": 1 })).is_none());
        assert!(matches!(of(200, rpc(-32004, "NOT_FOUND")), Some(AskError::Missing(_))));
        assert!(matches!(of(200, json!({ "error": { "code": -32602, "message": "m" } })), Some(AskError::Refused(_))));
        assert!(matches!(of(200, rpc(-32603, "STARTING")), Some(AskError::Away(_))));
        assert!(matches!(of(200, rpc(-32603, "BUDGET_EXCEEDED")), Some(AskError::Later(..))));
        assert!(matches!(of(404, json!({ "code": "NOT_FOUND", "error": "m" })), Some(AskError::Missing(_))));
        assert!(matches!(of(404, json!({ "code": "SURFACE_NOT_AVAILABLE", "error": "m" })), Some(AskError::Away(_))));
        assert!(matches!(of(400, json!({ "code": "INVALID_REQUEST", "error": "m" })), Some(AskError::Refused(_))));
        assert!(matches!(of(429, json!({ "code": "RATE_LIMITED", "error": "m" })), Some(AskError::Later(..))));
    }

    #[test]
    fn answers_of_all_forms_are_read() {
        let of = |body: Value| read::<Value>(body.to_string().as_bytes()).unwrap();
        assert_eq!(of(json!({ "jsonrpc": "2.0", "result": 7, "id": 1 })), json!(7));
        assert_eq!(of(json!({ "statusCode": 200, "data": [7] })), json!([7]));
        assert_eq!(of(json!({ "bare": 7 })), json!({ "bare": 7 }));
        assert!(matches!(read::<u32>(b"{\"result\":\"x\"}"), Err(AskError::Away(_))));
    }

    #[test]
    fn commands_are_safe_to_copy() {
        let call = Call { path: "/v4/jsonrpc".to_owned(), body: Some("{\"a\":\"'; rm x '\"}".to_owned()) };
        let text = command("http://a", &call).unwrap();
        assert_eq!(text, r#"curl -s 'http://a/v4/jsonrpc' -d '{"a":"'\''; rm x '\''"}'"#);
        let long = Call { path: "/".to_owned(), body: Some("x".repeat(COMMAND_BYTES_MAX)) };
        assert_eq!(command("http://a", &long), None);
    }
}
