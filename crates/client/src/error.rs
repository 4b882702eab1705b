//! Errors of calls.

use std::time::Duration;

use serde_json::Value;

/// Longest text of a server that is repeated, characters.
const TEXT_CHARS_MAX: usize = 2_000;
/// The key store is unavailable: further requests are refused as well, so that they are not retried.
const AUTH_UNAVAILABLE: &str = "AUTH_UNAVAILABLE";
/// Codes of an instance that starts, is overloaded, or cannot reach its node.
const TEMPORARY: [&str; 4] = ["STARTING", "OVERLOADED", "UPSTREAM_UNAVAILABLE", "INTERNAL"];

/// A failed call. No message contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address or the key cannot be used.
    #[error("{0}")]
    Address(String),
    /// The parameters cannot be written.
    #[error("{0}")]
    Request(String),
    /// No complete answer was received; the request may have been executed.
    #[error("no answer: {0}")]
    Unreachable(String),
    /// The instance answered with an error.
    #[error("{0}")]
    Refused(Refusal),
    /// The key store of the instance is unavailable (`AUTH_UNAVAILABLE`); the request is not retried.
    #[error("the key store of the instance cannot be asked at the moment")]
    AuthUnavailable,
    /// Still rate-limited after the maximum wait of the client.
    #[error("still refused by a rate limit after {} seconds", .0.as_secs())]
    Throttled(Duration),
    /// The answer does not match its declared type.
    #[error("an answer that cannot be read: {0}")]
    Answer(String),
}

/// An error in an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", code.map_or_else(String::new, |code| format!(" ({code})")))]
pub struct Refusal {
    /// Code of JSON-RPC, or HTTP status.
    pub code: Option<i64>,
    /// The stable code for programs, such as `NOT_FOUND`, where there is one.
    pub word: Option<String>,
    /// The sentence of the instance, on one line.
    pub message: String,
}

impl Error {
    /// Whether a retry may succeed: the request was valid, and the key store available.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Throttled(_) => true,
            Self::Refused(Refusal { code, word, .. }) => {
                matches!(code, Some(429 | 500..=599)) || word.as_deref().is_some_and(|word| TEMPORARY.contains(&word))
            }
            Self::Address(_) | Self::Request(_) | Self::AuthUnavailable | Self::Answer(_) => false,
        }
    }
}

impl Refusal {
    /// Whether the instance lacks the method or route, or does not index what it reads.
    pub fn is_unknown(&self) -> bool {
        matches!(self.code, Some(-32601 | 404)) || self.word.as_ref().is_some_and(|word| word.ends_with("_NOT_INDEXED"))
    }

    /// The error of a JSON-RPC answer, if it is one.
    pub(crate) fn of_method(answer: &Value) -> Option<Self> {
        let error = answer.get("error").filter(|error| error.is_object())?;
        let message = error["message"].as_str().unwrap_or("an error without a message");
        let word = error.pointer("/data/code").or(answer.get("code")).and_then(Value::as_str);
        Some(Self { code: error["code"].as_i64(), word: word.map(str::to_owned), message: printable(message) })
    }

    /// The error of a route.
    pub(crate) fn of_route(status: u16, answer: &Value) -> Self {
        let text = |member: &str| answer.get(member).and_then(Value::as_str);
        let message = text("hint").or(text("error")).unwrap_or("an error without a message");
        let word = text("code").or(text("error").filter(|word| !word.contains(' ')));
        Self { code: Some(status.into()), word: word.map(str::to_owned), message: printable(message) }
    }

    /// Converts the refusal; an unavailable key store is [`Error::AuthUnavailable`].
    pub(crate) fn into_error(self) -> Error {
        if self.word.as_deref() == Some(AUTH_UNAVAILABLE) { Error::AuthUnavailable } else { Error::Refused(self) }
    }
}

/// Whether an answer reports an unavailable key store.
pub(crate) fn is_auth_unavailable(answer: &Value) -> bool {
    answer["code"] == AUTH_UNAVAILABLE
        || answer.pointer("/error/data/code").is_some_and(|code| code == AUTH_UNAVAILABLE)
}

/// A text of a server for a terminal: one line of bounded length without control characters.
pub(crate) fn printable(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_methods_have_code_word_and_one_line() {
        let answer = json!({ "error": { "code": -1, "message": "\u{1b}]0;x\u{7}a\nb".to_owned() + &"c".repeat(9_999), "data": { "code": "STARTING" } } });
        let refusal = Refusal::of_method(&answer).unwrap();
        assert_eq!((refusal.code, refusal.word.as_deref()), (Some(-1), Some("STARTING")));
        assert!(refusal.message.starts_with(" ]0;x a bccc") && refusal.message.len() <= 2_000);
        assert_eq!(Refusal::of_method(&json!({ "error": null, "result": 1 })), None);
    }

    #[test]
    fn an_instance_without_its_key_store_is_an_error_of_its_own() {
        let of_rpc = json!({ "code": "AUTH_UNAVAILABLE", "error": { "code": -32003, "message": "away" } });
        assert!(is_auth_unavailable(&of_rpc));
        assert_eq!(Refusal::of_method(&of_rpc).unwrap().into_error(), Error::AuthUnavailable);
        let of_route = json!({ "statusCode": 503, "code": "AUTH_UNAVAILABLE", "error": "away" });
        assert_eq!(Refusal::of_route(503, &of_route).into_error(), Error::AuthUnavailable);
    }

    #[test]
    fn routes_without_an_envelope_have_their_word_as_error() {
        let refusal =
            Refusal::of_route(404, &json!({ "ok": false, "error": "not_found", "hint": "there is no such pool" }));
        assert_eq!((refusal.word.as_deref(), refusal.message.as_str()), (Some("not_found"), "there is no such pool"));
        assert!(refusal.is_unknown());
    }
}
