//! Lines of a client: one request or a batch of them (JSON-RPC 1.0 and 2.0).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::api::Fault;

/// Longest id of a request, bytes.
const ID_BYTES_MAX: usize = 256;

/// Errors of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Error {
    /// The line is not JSON.
    Parse,
    /// It is not a request.
    Invalid(&'static str),
    /// No such method in this version of the protocol.
    UnknownMethod,
    /// Invalid parameters; the text names those of the method.
    Params(&'static str),
    /// The client has exceeded its cost limit.
    Excessive,
    /// The instance failed to answer.
    Fault(Fault),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Error {
    /// One that ends with a sentence for the client.
    pub(crate) fn bad_request(sentence: impl Into<String>) -> Self {
        Self::Fault(Fault::BadRequest(sentence.into()))
    }

    /// Code and message.
    pub(crate) fn wire(&self) -> (i32, Cow<'static, str>) {
        match self {
            Self::Parse => (-32_700, "the line is no JSON".into()),
            Self::Invalid(reason) => (-32_600, (*reason).into()),
            Self::UnknownMethod => (-32_601, "unknown method".into()),
            Self::Params(takes) => (-32_602, format!("the parameters are {takes}").into()),
            Self::Excessive => (-101, "excessive resource usage".into()),
            Self::Fault(Fault::BadRequest(sentence)) => (1, sentence.clone().into()),
            Self::Fault(Fault::HistoryTooLarge) => (1, "history too large".into()),
            Self::Fault(Fault::Node(reason)) => (2, reason.clone().into()),
            Self::Fault(Fault::NodeAway) => (2, "the Bitcoin node is not available".into()),
            Self::Fault(Fault::Busy) => (-102, "server busy: try again".into()),
            Self::Fault(Fault::Internal) => (-32_603, "internal error".into()),
        }
    }
}

/// The error of an answer.
#[derive(Debug, Serialize)]
pub(crate) struct WireError {
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
}

/// One request.
#[derive(Debug)]
pub(crate) struct Request<'l> {
    /// `None` for a notification, which has no answer.
    pub(crate) id: Option<&'l RawValue>,
    pub(crate) method: Cow<'l, str>,
    pub(crate) params: Option<&'l RawValue>,
}

#[derive(Deserialize)]
struct Wire<'l> {
    #[serde(borrow, default)]
    id: Option<&'l RawValue>,
    #[serde(borrow)]
    method: Cow<'l, str>,
    #[serde(borrow, default)]
    params: Option<&'l RawValue>,
}

/// A line that was read.
#[derive(Debug)]
pub(crate) enum Line<'l> {
    One(Result<Request<'l>, (Option<&'l RawValue>, Error)>),
    Batch(Vec<Result<Request<'l>, (Option<&'l RawValue>, Error)>>),
}

#[derive(Deserialize)]
struct IdAlone<'l> {
    #[serde(borrow, default)]
    id: Option<&'l RawValue>,
}

impl<'l> Line<'l> {
    /// Reads a line without its end.
    pub(crate) fn read(line: &'l [u8], batch_entries_max: usize) -> Self {
        let wrong = |error| Self::One(Err((None, error)));
        let Ok(text) = std::str::from_utf8(line) else { return wrong(Error::Parse) };
        if !text.trim_start().starts_with('[') {
            return match serde_json::from_str::<&RawValue>(text) {
                Ok(raw) => Self::One(read_request(raw)),
                Err(_) => wrong(Error::Parse),
            };
        }
        // Counted before it is allocated: an entry has at least two bytes and takes sixteen.
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(text) else { return wrong(Error::Parse) };
        match entries.len() {
            0 => wrong(Error::Invalid("a batch has at least one request")),
            count if count > batch_entries_max => wrong(Error::Invalid("the batch has too many requests")),
            _ => Self::Batch(entries.into_iter().map(read_request).collect()),
        }
    }
}

fn read_request(raw: &RawValue) -> Result<Request<'_>, (Option<&RawValue>, Error)> {
    let is_id = |id: &&RawValue| {
        let text = id.get();
        let is_scalar = text.starts_with(['"', '-']) || text.starts_with(|first: char| first.is_ascii_digit());
        is_scalar && text.len() <= ID_BYTES_MAX
    };
    let Ok(Wire { id, method, params }) = serde_json::from_str(raw.get()) else {
        let id = serde_json::from_str::<IdAlone<'_>>(raw.get()).ok().and_then(|alone| alone.id).filter(is_id);
        return Err((id, Error::Invalid("a request has a method, and an id that is a number or a text")));
    };
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return Err((None, Error::Invalid("an id is a number or a text of at most 256 bytes")));
    }
    Ok(Request { id, method, params })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(line: &str) -> Result<(Option<&str>, String, Option<&str>), Error> {
        match Line::read(line.as_bytes(), 3) {
            Line::One(Ok(request)) => {
                Ok((request.id.map(RawValue::get), request.method.into_owned(), request.params.map(RawValue::get)))
            }
            Line::One(Err((_, error))) => Err(error),
            Line::Batch(_) => panic!("{line}"),
        }
    }

    #[test]
    fn a_line_is_a_request_or_a_batch_or_refused() {
        assert_eq!(one(r#"{"id":1,"method":"a","params":[1]}"#), Ok((Some("1"), "a".to_owned(), Some("[1]"))));
        assert_eq!(one(r#" {"jsonrpc":"2.0","method":"\u0061","id":"x"}"#), Ok((Some("\"x\""), "a".to_owned(), None)));
        assert_eq!(one(r#"{"method":"a"}"#), Ok((None, "a".to_owned(), None)));
        for line in ["", "x", "{", "{}{}", "\u{1}"] {
            assert_eq!(one(line), Err(Error::Parse), "{line}");
        }
        let long = format!(r#"{{"id":"{}","method":"a"}}"#, "x".repeat(300));
        for line in
            ["5", "null", "{}", r#"{"id":1}"#, r#"{"id":[],"method":"a"}"#, r#"{"method":5}"#, "[]", "[1,2,3,4]", &long]
        {
            assert!(matches!(one(line), Err(Error::Invalid(_))), "{line}");
        }
        match Line::read(br#"[{"id":1,"method":"a"},{"id":7},5]"#, 3) {
            Line::Batch(entries) => {
                assert!(entries[0].is_ok());
                assert_eq!(entries[1].as_ref().unwrap_err().0.map(RawValue::get), Some("7"));
                assert_eq!(entries[2].as_ref().unwrap_err().0.map(RawValue::get), None);
            }
            Line::One(_) => panic!(),
        }
    }

    proptest! {
        #[test]
        fn arbitrary_lines_never_panic(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Line::read(&line, 3);
        }
    }
}
