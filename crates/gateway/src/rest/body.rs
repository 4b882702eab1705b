use std::fmt;

use crate::routes::decode_segment;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::api_types::alkane_id;
use crate::errors::ApiError;
use crate::jsonrpc::nests_deeper_than;

/// The members of an object, or `None` when one is duplicated: parsers differ in whether the first or the last counts.
struct Members(Option<Map<String, Value>>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Members, A::Error> {
                let (mut members, mut is_twice) = (Map::new(), false);
                while let Some((name, value)) = access.next_entry::<String, Value>()? {
                    is_twice |= members.insert(name, value).is_some();
                }
                Ok(Members((!is_twice).then_some(members)))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// The JSON object of a POST. A member that is `null` is absent.
#[derive(Debug)]
pub struct RestBody(Map<String, Value>);

impl RestBody {
    /// Reads a body: `{}` for routes without parameters; a zero-length or non-object body is 400 (docs/api.md).
    ///
    /// # Errors
    /// 400: it is no JSON object, or nests too deeply.
    pub fn parse(body: &[u8], depth_max: usize) -> Result<Self, ApiError> {
        if body.is_empty() {
            return Err(ApiError::invalid("the body is empty: send a JSON object, {} for no parameters"));
        }
        if nests_deeper_than(body, depth_max) {
            return Err(ApiError::invalid(format!("the body is nested deeper than {depth_max} levels")));
        }
        match serde_json::from_slice(body) {
            Ok(Members(Some(members))) => Ok(Self(members)),
            Ok(Members(None)) => Err(ApiError::invalid("a member stands twice in the body")),
            Err(error) if error.is_data() => Err(ApiError::invalid("the body must be a JSON object")),
            Err(_) => Err(ApiError::invalid("the body is not valid JSON")),
        }
    }

    /// Reads the query of a GET as a body whose members are all text.
    ///
    /// # Errors
    /// 400 when a member is not UTF-8 after percent-decoding, or is repeated with different values.
    pub fn of_query(query: Option<&str>) -> Result<Self, ApiError> {
        let mut members = Map::new();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let bad = || ApiError::invalid("the query holds a percent sign without two hex digits of UTF-8");
            let (name, value) = (percent_decoded(name).ok_or_else(bad)?, percent_decoded(value).ok_or_else(bad)?);
            if members.get(&name).is_some_and(|earlier| *earlier != value) {
                return Err(ApiError::invalid("a member stands twice in the query with two values"));
            }
            members.insert(name, Value::String(value));
        }
        Ok(Self(members))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Sets a member.
    pub(super) fn insert(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// All members.
    pub fn into_members(self) -> Map<String, Value> {
        self.0
    }

    /// Moves the value of a member under any of its names to the first name; returns the name that the request used.
    ///
    /// # Errors
    /// 400 when two of them differ. The same id in two notations does not differ.
    pub(super) fn unify(
        &mut self,
        name: &'static str,
        others: &'static [&'static str],
    ) -> Result<Option<&'static str>, ApiError> {
        let mut found: Option<(&'static str, Value)> = None;
        for other in std::iter::once(name).chain(others.iter().copied()) {
            let Some(value) = self.0.remove(other).filter(|value| !value.is_null()) else { continue };
            match &found {
                Some((earlier, first)) if !agree(first, &value) => {
                    return Err(ApiError::invalid(format!("{earlier} and {other} differ")));
                }
                Some(_) => {}
                None => found = Some((other, value)),
            }
        }
        let Some((given, value)) = found else { return Ok(None) };
        self.insert(name, value);
        Ok(Some(given))
    }

    /// An optional member that is a non-negative integer, as a number or decimal text; capped at `cap`.
    ///
    /// # Errors
    /// 400: it is no natural number.
    pub fn natural(&self, name: &str, cap: usize) -> Result<Option<usize>, ApiError> {
        match self.get(name) {
            Some(Value::Number(number)) if number.as_u64() == Some(0) => Ok(Some(0)),
            Some(Value::String(text)) if text == "0" => Ok(Some(0)),
            _ => self
                .positive(name, cap)
                .map_err(|_| ApiError::invalid(format!("{name} must be a non-negative integer"))),
        }
    }

    /// An optional member that is a positive integer, as a number or decimal text; capped at `cap`.
    ///
    /// # Errors
    /// 400: it is no positive number.
    pub fn positive(&self, name: &str, cap: usize) -> Result<Option<usize>, ApiError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = match value {
            Value::Number(number) => number.as_u64().or_else(|| too_large(&number.to_string())),
            Value::String(text) => crate::jsonrpc::parse_unsigned(text).or_else(|| too_large(text)),
            _ => None,
        };
        match number {
            None | Some(0) => Err(ApiError::invalid(format!("{name} must be a positive integer"))),
            Some(number) => Ok(Some(usize::try_from(number).unwrap_or(usize::MAX).min(cap))),
        }
    }
}

/// Whether two values are equal, or the same id.
fn agree(one: &Value, other: &Value) -> bool {
    one == other || alkane_id(one).is_ok_and(|id| alkane_id(other) == Ok(id))
}

/// A part of a query as it was before it was encoded.
fn percent_decoded(text: &str) -> Option<String> {
    decode_segment(&text.replace('+', " "))
}

/// An integer beyond 64 bits is capped like any other large one.
fn too_large(text: &str) -> Option<u64> {
    (!text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())).then_some(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::read_members;
    use proptest::prelude::*;

    #[derive(serde::Deserialize)]
    struct WithAddress {
        #[expect(dead_code, reason = "only read")]
        address: String,
    }

    /// row GW20
    #[test]
    fn a_body_that_is_no_object_is_refused_and_a_wrong_member_is_named() {
        for body in [
            &b""[..],
            b" ",
            b"[]",
            b"null",
            b"5",
            b"\"a\"",
            b"{",
            b"{\"a\":\"\\ud800\"}",
            b"\xff",
            "[".repeat(65).as_bytes(),
        ] {
            assert_eq!(RestBody::parse(body, 64).unwrap_err().kind.status.as_u16(), 400, "{body:?}");
        }
        let twice = RestBody::parse(br#"{"a":1,"b":2,"a":1}"#, 64).unwrap_err();
        assert_eq!((twice.kind.status.as_u16(), &*twice.message), (400, "a member stands twice in the body"));
        let refused = |body: &[u8]| {
            let members = RestBody::parse(body, 64).unwrap().into_members();
            read_members::<WithAddress>(members).map(drop).unwrap_err().to_string()
        };
        assert_eq!(refused(br#"{"address":5,"other":1}"#), "address must be a string");
        assert_eq!(refused(br#"{"address":null}"#), "address is required");
        assert_eq!(refused(b"{}"), "address is required");
    }

    #[test]
    fn a_count_is_a_positive_integer_and_is_capped_silently() {
        let count = |value: &str| {
            RestBody::parse(format!("{{\"limit\":{value}}}").as_bytes(), 64).unwrap().positive("limit", 500)
        };
        assert_eq!(count("null").unwrap(), None);
        for (value, expected) in
            [("1", 1), ("\"7\"", 7), ("500", 500), ("501", 500), ("1e2", 0), ("99999999999999999999999", 500)]
        {
            match expected {
                0 => assert!(count(value).is_err(), "{value}"),
                _ => assert_eq!(count(value).unwrap(), Some(expected), "{value}"),
            }
        }
        for value in ["0", "-1", "1.5", "\"\"", "\"a\"", "true", "[]", "{}"] {
            assert!(count(value).unwrap_err().message.contains("limit"), "{value}");
        }
    }

    #[test]
    fn a_query_is_read_as_a_body_of_texts() {
        let body = RestBody::of_query(Some("days=7&a%20b=%C3%a9+&&flag&days=7")).unwrap();
        assert_eq!(
            (&body.0["days"], &body.0["a b"], &body.0["flag"]),
            (&Value::from("7"), &Value::from("é "), &Value::from(""))
        );
        assert!(RestBody::of_query(None).unwrap().0.is_empty());
        for bad in ["a=%", "a=%2", "a=%zz", "%ff=1", "a=%ff", "days=1&days=7"] {
            assert_eq!(RestBody::of_query(Some(bad)).unwrap_err().kind.status.as_u16(), 400, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bodies_never_panic(bytes: Vec<u8>) {
            let _ = RestBody::parse(&bytes, 8);
        }
    }
}
