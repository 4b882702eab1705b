use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::errors::{ApiError, kind};

/// How the answers of a surface are built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// JSON-RPC 2.0: `result` or `error`, never both.
    Standard,
    /// As bitcoind: always `result` and `error`, one of them `null`.
    Bitcoind,
}

/// A request with a valid envelope.
#[derive(Debug)]
pub(super) struct Request<'a> {
    /// `None`: a notification. `null` is an id.
    pub(super) id: Option<&'a RawValue>,
    pub(super) method: Cow<'a, str>,
    pub(super) params: Option<&'a RawValue>,
}

/// A request with an invalid envelope, and the id for its answer.
#[derive(Debug)]
pub(super) struct BadRequest<'a> {
    pub(super) id: Option<&'a RawValue>,
    pub(super) error: ApiError,
}

/// The members of a request object. Of two with the same name one parser takes the first and another the last, so such a
/// request is invalid.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    is_twice: bool,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Member {
    Jsonrpc,
    Method,
    Params,
    Id,
    #[serde(other)]
    Other,
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a request object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members::default();
                while let Some(name) = map.next_key()? {
                    let member = match name {
                        Member::Jsonrpc => &mut members.jsonrpc,
                        Member::Method => &mut members.method,
                        Member::Params => &mut members.params,
                        Member::Id => &mut members.id,
                        Member::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    let is_twice = member.replace(map.next_value()?).is_some();
                    members.is_twice |= is_twice;
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

/// Reads one request object.
pub(super) fn read_request(raw: &RawValue) -> Result<Request<'_>, BadRequest<'_>> {
    if !raw.get().starts_with('{') {
        return Err(BadRequest { id: None, error: ApiError::invalid_request("a request is an object") });
    }
    let members: Members<'_> = serde_json::from_str(raw.get()).map_err(|_| BadRequest {
        id: None,
        error: ApiError::invalid_request("a member of the request cannot be read"),
    })?;
    check(&members)
}

fn check<'a>(members: &Members<'a>) -> Result<Request<'a>, BadRequest<'a>> {
    if members.id.is_some_and(|id| !matches!(id.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9' | b'n'))) {
        return Err(BadRequest { id: None, error: ApiError::invalid_request("id must be a string, a number or null") });
    }
    if members.is_twice {
        let error = ApiError::invalid_request("a member stands twice in the request");
        return Err(BadRequest { id: None, error });
    }
    let bad = |message| BadRequest { id: members.id, error: ApiError::invalid_request(message) };
    if members.jsonrpc.is_some_and(|version| !matches!(version.get(), "null" | "\"1.0\"" | "\"1.1\"" | "\"2.0\"")) {
        return Err(bad("jsonrpc must be \"2.0\""));
    }
    let Some(method) = members.method else { return Err(bad("method is missing")) };
    let plain = method.get().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let method = match plain.filter(|text| !text.contains('\\')) {
        Some(plain) => Cow::Borrowed(plain),
        None => serde_json::from_str::<MethodName<'_>>(method.get()).map_err(|_| bad("method must be a string"))?.0,
    };
    Ok(Request { id: members.id, method, params: members.params })
}

#[derive(Deserialize)]
struct MethodName<'a>(#[serde(borrow)] Cow<'a, str>);

/// A body: one request or several.
pub(super) enum Body<'a> {
    Single(Result<Request<'a>, BadRequest<'a>>),
    Batch(Vec<&'a RawValue>),
}

/// Reads a body. Errors are those that are answered without an id.
pub(super) fn read_body(body: &[u8], depth_max: usize, entries_max: usize) -> Result<Body<'_>, ApiError> {
    if super::nests_deeper_than(body, depth_max) {
        return Err(ApiError::invalid_request(format!("the body is nested deeper than {depth_max} levels")));
    }
    let parse_error = || ApiError::new(kind::PARSE_ERROR, "Parse error");
    let text = std::str::from_utf8(body).map_err(|_| parse_error())?;
    // Nearly every body is one object whose members can be read: then it is read once.
    if let Ok(members) = serde_json::from_str(text) {
        return Ok(Body::Single(check(&members)));
    }
    let whole: &RawValue = serde_json::from_str(text).map_err(|_| parse_error())?;
    if !whole.get().starts_with('[') {
        return Ok(Body::Single(read_request(whole)));
    }
    let entries: Vec<&RawValue> = serde_json::from_str(whole.get()).map_err(|_| parse_error())?;
    if entries.is_empty() {
        return Err(ApiError::invalid_request("the batch is empty"));
    }
    if entries.len() > entries_max {
        return Err(ApiError::invalid_request(format!("a batch holds at most {entries_max} requests")));
    }
    Ok(Body::Batch(entries))
}

/// Bytes of an answer around result and id.
const ENVELOPE_BYTES: usize = r#"{"jsonrpc":"2.0","result":,"error":null,"id":}"#.len();

/// Writes one answer.
pub(super) fn write_answer(
    out: &mut String,
    flavour: Flavour,
    id: Option<&RawValue>,
    outcome: &Result<Box<RawValue>, ApiError>,
) {
    let id = id.map_or("null", RawValue::get);
    out.reserve_exact(outcome.as_ref().map_or(128, |result| result.get().len()) + id.len() + ENVELOPE_BYTES);
    out.push_str(r#"{"jsonrpc":"2.0","#);
    match (outcome, flavour) {
        (Ok(result), Flavour::Standard) => push(out, &[r#""result":"#, result.get()]),
        (Ok(result), Flavour::Bitcoind) => push(out, &[r#""result":"#, result.get(), r#","error":null"#]),
        (Err(error), Flavour::Standard) => push(out, &[r#""error":"#, &write_error(error)]),
        (Err(error), Flavour::Bitcoind) => push(out, &[r#""result":null,"error":"#, &write_error(error)]),
    }
    push(out, &[r#","id":"#, id, "}"]);
}

fn push(out: &mut String, parts: &[&str]) {
    for part in parts {
        out.push_str(part);
    }
}

fn write_error(error: &ApiError) -> String {
    // An error is a number, a string and a JSON value: that always serialises.
    serde_json::to_string(error).unwrap_or_else(|_| r#"{"code":-32603,"message":"Internal error"}"#.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Id, method and parameters as they were written; or the id to answer to and the error code.
    type Read = Result<(Option<String>, String, Option<String>), (Option<String>, i64)>;

    fn request(text: &str) -> Read {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        match read_request(raw) {
            Ok(request) => Ok((
                request.id.map(|id| id.get().to_owned()),
                request.method.into_owned(),
                request.params.map(|params| params.get().to_owned()),
            )),
            Err(bad) => Err((bad.id.map(|id| id.get().to_owned()), bad.error.kind.rpc_code)),
        }
    }

    #[test]
    fn ids_are_kept_as_they_were_written() {
        for id in
            ["0", "\"1795-0\"", "null", "18446744073709551616123", "1.50", "-0", "1e400", "\"\\ud800\"", "\"\\u0041\""]
        {
            let (read, ..) = request(&format!(r#"{{"id":{id},"method":"m"}}"#)).unwrap();
            assert_eq!(read.as_deref(), Some(id));
        }
        assert_eq!(request(r#"{"method":"m"}"#).unwrap().0, None);
    }

    /// row GW15
    #[test]
    fn what_is_no_request_is_refused() {
        for (text, id) in [
            ("5", None),
            ("\"m\"", None),
            ("null", None),
            ("{}", None),
            (r#"{"id":1}"#, Some("1")),
            (r#"{"id":1,"method":5}"#, Some("1")),
            (r#"{"id":1,"method":null}"#, Some("1")),
            (r#"{"id":1,"method":"\ud800"}"#, Some("1")),
            (r#"{"id":1,"method":"m","jsonrpc":"3.0"}"#, Some("1")),
            (r#"{"id":1,"method":"m","jsonrpc":2.0}"#, Some("1")),
            (r#"{"id":[1],"method":"m"}"#, None),
            (r#"{"id":{},"method":"m"}"#, None),
            (r#"{"id":true,"method":"m"}"#, None),
            (r#"{"\ud800":1,"id":1,"method":"m"}"#, None),
        ] {
            assert_eq!(request(text).unwrap_err(), (id.map(ToOwned::to_owned), -32600), "{text}");
        }
    }

    #[test]
    fn versions_1_0_1_1_2_0_and_none_are_accepted() {
        for version in [
            "",
            r#""jsonrpc":null,"#,
            r#""jsonrpc":"1.0","#,
            r#""jsonrpc":"1.1","#,
            r#""jsonrpc":"2.0","#,
            r#""version":"1.1","#,
        ] {
            assert!(request(&format!(r#"{{{version}"method":"m"}}"#)).is_ok(), "{version}");
        }
    }

    #[test]
    fn a_member_that_comes_twice_means_nothing() {
        for text in [
            r#"{"id":1,"method":"a","method":"b"}"#,
            r#"{"id":1,"method":"a","method":"a"}"#,
            r#"{"id":1,"method":"a","method":"b"}"#,
            r#"{"id":1,"id":2,"method":"a"}"#,
            r#"{"id":1,"method":"a","params":[],"params":[1]}"#,
        ] {
            assert_eq!(request(text).unwrap_err(), (None, -32600), "{text}");
        }
        assert!(
            request(r#"{"id":1,"method":"a","x":1,"x":2}"#).is_ok(),
            "what is not read may come as often as it likes"
        );
    }

    /// row GW14
    #[test]
    fn invalid_json_is_a_parse_error() {
        for body in [
            &b""[..],
            b" ",
            b"{",
            b"[1,",
            b"{\"a\":}",
            b"nul",
            b"\xff\xfe",
            b"{} {}",
            b"\0",
            b"{\"method\":\"\x01\"}",
            b"'a'",
        ] {
            let error = read_body(body, 64, 1000).err().unwrap();
            assert_eq!(error.kind.rpc_code, -32700, "{body:?}");
        }
    }

    #[test]
    fn empty_large_and_deep_bodies_are_invalid_requests() {
        let batch = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        assert!(read_body(batch(1000).as_bytes(), 64, 1000).is_ok());
        for body in [batch(0), batch(1001), "[".repeat(65)] {
            assert_eq!(read_body(body.as_bytes(), 64, 1000).err().unwrap().kind.rpc_code, -32600);
        }
    }

    /// row GW13
    #[test]
    fn the_two_flavours_differ_in_what_stands_beside_the_result() {
        let id: &RawValue = serde_json::from_str("7").unwrap();
        let good: Result<Box<RawValue>, ApiError> = Ok(RawValue::from_string("[1]".into()).unwrap());
        let bad = Err(ApiError::new(crate::errors::ErrorKind::of_node(-5), "gone"));
        let check = |flavour, outcome, expected: &str| {
            let mut out = String::new();
            write_answer(&mut out, flavour, Some(id), outcome);
            assert_eq!(out, expected);
        };
        check(Flavour::Standard, &good, r#"{"jsonrpc":"2.0","result":[1],"id":7}"#);
        check(Flavour::Bitcoind, &good, r#"{"jsonrpc":"2.0","result":[1],"error":null,"id":7}"#);
        check(Flavour::Standard, &bad, r#"{"jsonrpc":"2.0","error":{"code":-5,"message":"gone"},"id":7}"#);
        check(
            Flavour::Bitcoind,
            &bad,
            r#"{"jsonrpc":"2.0","result":null,"error":{"code":-5,"message":"gone"},"id":7}"#,
        );
    }

    #[test]
    fn a_body_of_one_request_is_understood_like_an_entry_of_a_batch() {
        for text in [
            r#" {"id":1,"method":"m","params":[1]} "#,
            r#"{"method":"a\u0062\"","id":null}"#,
            r#"{"method":"\ud800","id":1}"#,
            r#"{"\ud800":1,"method":"m","id":1}"#,
            r#"{"m\u0065thod":"escaped name","id":1,"x":{"y":[1,"\ud800"]}}"#,
            r#"{"method":5,"id":"x"}"#,
            r#"{"id":[],"method":"m"}"#,
            "{}",
            "5",
            "null",
            "\"m\"",
        ] {
            let Ok(Body::Single(read)) = read_body(text.as_bytes(), 64, 1000) else { panic!("{text}") };
            let read = match read {
                Ok(request) => Ok((request.id.map(RawValue::get), request.method.into_owned())),
                Err(bad) => Err((bad.id.map(RawValue::get), bad.error)),
            };
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            let entry = match read_request(raw) {
                Ok(request) => Ok((request.id.map(RawValue::get), request.method.into_owned())),
                Err(bad) => Err((bad.id.map(RawValue::get), bad.error)),
            };
            assert_eq!(read, entry, "{text}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bodies_never_panic(bytes: Vec<u8>) {
            if let Ok(Body::Batch(entries)) = read_body(&bytes, 8, 10) {
                for entry in entries {
                    let _ = read_request(entry);
                }
            }
        }

        #[test]
        fn any_json_value_is_read_or_refused(text in r#"[\[\]{}":,a1\\u0de ]{0,40}"#) {
            match read_body(text.as_bytes(), 8, 10) {
                Ok(Body::Single(_)) => {}
                Ok(Body::Batch(entries)) => for entry in entries { let _ = read_request(entry); },
                Err(error) => prop_assert!(error.kind.rpc_code == -32700 || error.kind.rpc_code == -32600),
            }
        }
    }
}
