//! Routes of HTTP.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{Error, Refusal};

/// HTTP method of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// GET: parameters in the path and in the query.
    Get,
    /// POST: parameters in the path and in a JSON object.
    Post,
}

/// Base path of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// `/v4/<key>`, or `/v4/api` without a key in the path.
    Api,
    /// `/v4/<key>`, or `/v4` without a key in the path.
    BesideApi,
    /// `/v4/<key>` alone.
    Keyed,
    /// `/api/v1/<key>` alone.
    Explorer,
}

/// Envelope of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapping {
    /// `{"statusCode":200,"data":…}`.
    Data,
    /// `{"error":null,"result":…}`.
    Result,
    /// No envelope.
    Bare,
    /// Plain text.
    Text,
}

/// A route: the struct of its parameters.
pub trait Route: Serialize {
    /// Its HTTP method.
    const VERB: Verb;
    /// Its base path.
    const BASE: Base;
    /// Its path below the base; a segment in braces is the parameter of that name.
    const PATH: &'static str;
    /// Envelope of its answer.
    const WRAPPING: Wrapping;
    /// Whether the parameter `body` is the whole body.
    const HAS_WHOLE_BODY: bool = false;
    /// Type of its answer.
    type Answer: DeserializeOwned;
}

/// A request to a route: path with query, and body.
#[derive(Debug, PartialEq)]
pub(crate) struct RouteRequest {
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
}

impl RouteRequest {
    pub(crate) fn of<R: Route>(route: &R) -> Result<Self, Error> {
        let written = serde_json::to_value(route).map_err(|error| Error::Request(error.to_string()))?;
        let Value::Object(members) = written else {
            return Err(Error::Request("parameters are an object".to_owned()));
        };
        Self::arrange(R::VERB, R::PATH, R::HAS_WHOLE_BODY, members)
    }

    fn arrange(
        verb: Verb,
        pattern: &str,
        has_whole_body: bool,
        mut members: Map<String, Value>,
    ) -> Result<Self, Error> {
        let mut path = String::new();
        for segment in pattern.split('/') {
            path.push('/');
            match segment.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                None => path.push_str(segment),
                Some(name) => {
                    let value = members.remove(name).map(|value| text(&value)).filter(|text| !text.is_empty());
                    let value = value.ok_or_else(|| Error::Request(format!("{name} stands in the path")))?;
                    encode(&mut path, &value);
                }
            }
        }
        if verb == Verb::Post {
            let body = if has_whole_body { members.remove("body").unwrap_or_default() } else { members.into() };
            return Ok(Self { path, body: Some(body) });
        }
        for (index, (name, value)) in members.iter().filter(|(_, value)| !value.is_null()).enumerate() {
            path.push(if index == 0 { '?' } else { '&' });
            let _ = write!(path, "{name}=");
            encode(&mut path, &text(value));
        }
        Ok(Self { path, body: None })
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is percent-encoded in a path segment or query.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// Appends a text, percent-encoded.
pub(crate) fn encode(path: &mut String, text: &str) {
    path.extend(utf8_percent_encode(text, ESCAPED));
}

/// Removes the envelope of an answer.
///
/// # Errors
/// The answer is an error.
pub(crate) fn unwrapped(status: u16, mut answer: Value, wrapping: Wrapping) -> Result<Value, Error> {
    if !(200..300).contains(&status) || answer.get("ok") == Some(&Value::Bool(false)) {
        return Err(Refusal::of_route(status, &answer).into_error());
    }
    let member = match wrapping {
        Wrapping::Data => "data",
        Wrapping::Result => "result",
        Wrapping::Bare | Wrapping::Text => return Ok(answer),
    };
    let inner = answer.get_mut(member).map(Value::take);
    inner.ok_or_else(|| Error::Answer(format!("there is no `{member}`: is this a Paraffin instance?")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arrange(verb: Verb, path: &str, members: &Value) -> Result<RouteRequest, Error> {
        RouteRequest::arrange(verb, path, false, members.as_object().unwrap().clone())
    }

    #[test]
    fn parameters_go_into_the_path_the_query_or_the_body() {
        let request = arrange(
            Verb::Get,
            "source/{block}/{tx}",
            &json!({ "block": "2", "tx": 0, "path": "a b/ü&c", "none": null }),
        )
        .unwrap();
        assert_eq!(request, RouteRequest { path: "/source/2/0?path=a%20b%2F%C3%BC%26c".to_owned(), body: None });
        let request = arrange(Verb::Post, "get-pools", &json!({ "limit": 3 })).unwrap();
        assert_eq!(request, RouteRequest { path: "/get-pools".to_owned(), body: Some(json!({ "limit": 3 })) });
    }

    #[test]
    fn a_parameter_cannot_escape_its_path_segment() {
        let request = arrange(Verb::Get, "order/{id}", &json!({ "id": "../x?y#z" })).unwrap();
        assert_eq!(request.path, "/order/..%2Fx%3Fy%23z");
        assert!(arrange(Verb::Get, "order/{id}", &json!({ "id": "" })).is_err());
        assert!(arrange(Verb::Get, "order/{id}", &json!({})).is_err());
    }

    #[test]
    fn an_answer_loses_its_wrapping_or_is_an_error() {
        assert_eq!(unwrapped(200, json!({ "statusCode": 200, "data": [1] }), Wrapping::Data), Ok(json!([1])));
        assert_eq!(unwrapped(200, json!({ "error": null, "result": 2 }), Wrapping::Result), Ok(json!(2)));
        assert!(matches!(unwrapped(200, json!({}), Wrapping::Data), Err(Error::Answer(_))));
        let missing = unwrapped(404, json!({ "statusCode": 404, "code": "NOT_FOUND", "error": "no" }), Wrapping::Data);
        assert!(matches!(missing, Err(Error::Refused(Refusal { code: Some(404), .. }))));
    }
}
