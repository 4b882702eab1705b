//! Classifies requests by their path and bytes: whether they only read, and whether they manage accounts.

use hyper::Method;
use serde_json::Value;

use crate::jsonrpc::nests_deeper_than;
use crate::rest::Base;
use crate::routes::{ErrorForm, Route, Target, push_encoded};
use crate::surface::Surfaces;

/// Whether the request only reads, so that it may be sent again after an instance has received it.
pub fn is_repeatable(surfaces: &Surfaces, route: &Route, verb: &Method, body: &[u8]) -> bool {
    if let Target::Surface(surface, tail) = &route.target
        && surface.changed_by_get.is_some()
        && tail.first().map(String::as_str) == surface.changed_by_get
    {
        return false;
    }
    match *verb {
        Method::GET | Method::HEAD => true,
        Method::POST => match (&route.target, route.form) {
            (Target::Rest(_), _) => true,
            // An escape could hide a name.
            (_, ErrorForm::JsonRpc) => {
                !holds(body, b"\\u") && surfaces.changing.iter().all(|word| !holds(body, word.as_bytes()))
            }
            (_, ErrorForm::Rest) => false,
        },
        _ => false,
    }
}

/// Whether a string in the body begins with `prefix`, as the names of the methods of this gateway itself do. A body that cannot be
/// parsed and may hide such a name counts as well.
pub fn names_own(body: &[u8], prefix: &str, depth_max: usize) -> bool {
    if !holds(body, prefix.as_bytes()) && !holds(body, b"\\u") {
        return false;
    }
    // Not parsed, so it may name anything; the instance may accept deeper nesting.
    if nests_deeper_than(body, depth_max) {
        return true;
    }
    serde_json::from_slice(body).map_or(true, |body: Value| contains_text(&body, prefix))
}

fn contains_text(value: &Value, prefix: &str) -> bool {
    match value {
        Value::String(text) => text.starts_with(prefix),
        Value::Array(values) => values.iter().any(|value| contains_text(value, prefix)),
        Value::Object(members) => members.values().any(|value| contains_text(value, prefix)),
        _ => false,
    }
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// The path of a request at an instance that identifies us by `key`. Each segment is percent-encoded, so that it stays one.
pub fn path_of(target: &Target, key: &str) -> Option<String> {
    let (begin, tail): (String, &[String]) = match target {
        Target::Main => (format!("/v4/{key}"), &[]),
        // The prefix `api/v1` keeps a route here from being taken for a surface there.
        Target::Rest(segments) => (format!("/v4/{key}/api/v1"), segments),
        Target::Beside(name, segments) => (format!("/v4/{key}/{name}"), segments),
        Target::Surface(surface, tail) if surface.base == Base::Apart => (format!("/api/v1/{key}"), tail),
        Target::Surface(surface, tail) => (format!("/v4/{key}/{}", surface.name), tail),
        Target::Health | Target::PlainHealth | Target::Description(_) | Target::Site | Target::Nothing => return None,
    };
    let mut path = begin;
    for segment in tail {
        path.push('/');
        push_encoded(segment, &mut path);
    }
    Some(path)
}
