//! Parameters and answers of each REST route. Every leniency of the handlers is documented: several names of one field, integers as
//! numbers or text, `null` for what is absent.

use serde_json::{Map, Value, json};

use crate::methods::generators;
use crate::rest::Group;
use crate::rest::route::{DescribedRoute, same_as};
use crate::schema::{about, any_of, or_null};

/// The routes of some groups, with the schemas that they refer to.
pub(super) fn describe(groups: impl Iterator<Item = &'static Group>) -> (Vec<DescribedRoute>, Map<String, Value>) {
    let mut generators = generators();
    let routes = groups.flat_map(|group| group.describe(&mut generators)).collect();
    let mut schemas = generators.take_schemas();
    schemas.insert("Error".to_owned(), error());
    (routes, schemas)
}

/// The body of an error.
pub fn error() -> Value {
    json!({
        "type": "object",
        "required": ["statusCode", "code", "error"],
        "properties": {
            "statusCode": { "type": "integer", "description": "The HTTP status" },
            "code": { "type": "string", "pattern": "^[A-Z][A-Z_]*$", "description": "A word for programs, which stays the same" },
            "error": { "type": "string", "description": "A sentence for people. The routes without envelope have a word for programs here" },
            "ok": { "const": false, "description": "Only on the routes without envelope" },
            "hint": { "type": "string", "description": "A sentence for people, on the routes without envelope" },
            "result": { "type": "null", "description": "Only on the BRC-20 routes" },
            "s": { "const": "error", "description": "Only on the routes of TradingView" },
            "errmsg": { "type": "string", "description": "The same sentence, on the routes of TradingView" },
        },
    })
}

/// The schema of a body.
pub(super) fn body(route: &DescribedRoute) -> Value {
    if let Some(whole) = &route.whole_body {
        return whole.clone();
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut conditions: Vec<Value> = route.condition.iter().cloned().collect();
    for field in route.fields.iter().filter(|field| !field.is_in_path) {
        let is_alone = field.names.len() == 1;
        for name in &field.names {
            let schema = field.schema.clone();
            let schema = if field.is_needed && is_alone { schema } else { or_null(schema) };
            let schema = match field.names.as_slice() {
                [first, ..] if first != name => {
                    same_as(about(schema, &format!("The same as {first}; where both stand they must agree")), first)
                }
                _ => schema,
            };
            properties.insert((*name).to_owned(), schema);
        }
        match (field.is_needed, field.names.as_slice()) {
            (true, [only]) => required.push(*only),
            (true, names) => {
                let given =
                    names.iter().map(|name| json!({ "required": [name], "properties": { *name: field.schema } }));
                conditions.push(any_of(&given.collect::<Vec<_>>()));
            }
            (false, _) => {}
        }
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    match conditions.as_slice() {
        [] => {}
        [only] => schema["anyOf"] = only["anyOf"].clone(),
        several => schema["allOf"] = json!(several),
    }
    schema
}
