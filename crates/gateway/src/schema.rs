//! Pieces of JSON Schema (2020-12, as OpenAPI 3.1 and OpenRPC both have it).

use serde_json::{Value, json};

/// A schema of the `components`.
pub(crate) fn component(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

pub(crate) fn text() -> Value {
    json!({ "type": "string" })
}

/// An integer that is never negative: a height, a count, satoshis.
pub(crate) fn natural() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

pub(crate) fn any_of(schemas: &[Value]) -> Value {
    json!({ "anyOf": schemas })
}

/// The schema, or `null`.
pub(crate) fn or_null(mut schema: Value) -> Value {
    let is_one_of = schema.get("enum").is_some();
    match schema.get_mut("type") {
        Some(Value::String(only)) if !is_one_of => {
            let both = json!([only, "null"]);
            schema["type"] = both;
            schema
        }
        _ => {
            let description = schema.as_object_mut().and_then(|members| members.remove("description"));
            let either = any_of(&[schema, json!({ "type": "null" })]);
            match description {
                Some(Value::String(sentence)) => about(either, &sentence),
                _ => either,
            }
        }
    }
}

/// Adds a description to a schema.
pub(crate) fn about(mut schema: Value, sentence: &str) -> Value {
    schema["description"] = json!(sentence);
    schema
}

/// An object with these members, all of which are always there.
pub(crate) fn record(members: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<String, Value> =
        members.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "required": required, "properties": properties })
}
