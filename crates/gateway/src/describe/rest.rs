//! Parameters and answers of each REST route. Every leniency of the handlers is documented: several names of one field, integers as
//! numbers or text, `null` for what is absent.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::schema::{about, any_of, component, or_null};
use crate::methods::generators;
use crate::rest::{Base, Group, Statuses, Verb};
use crate::surface::Surfaces;

/// A member of the body, or of the query.
pub struct Field {
    /// Its accepted names; the first is the one of the specification.
    pub names: Vec<&'static str>,
    /// Its schema.
    pub schema: Value,
    /// Whether a request must have it.
    pub is_needed: bool,
    /// Whether it is a segment of the path.
    pub is_in_path: bool,
}

/// One route.
pub struct Route {
    /// Its path.
    pub path: &'static str,
    /// Its verb.
    pub verb: Verb,
    /// Tag of its group.
    pub tag: &'static str,
    /// The first paragraph about it.
    pub summary: String,
    /// Further description beside the summary.
    pub description: String,
    /// Its members.
    pub fields: Vec<Field>,
    /// Members of a request.
    pub example: Option<Value>,
    /// Constraint on the fields together.
    pub condition: Option<Value>,
    /// Schema of its answer.
    pub answer: Value,
    /// Statuses with which the answer comes.
    pub statuses: Statuses,
    /// Media types of the answer.
    pub media_types: &'static [&'static str],
    /// Whether the subject of a request may not exist (404).
    pub may_be_missing: bool,
    /// Schema of a body that is not an object with `fields`.
    pub whole_body: Option<Value>,
    /// Where it is served.
    pub base: Base,
    /// Statuses of refusals that few routes have.
    pub refusals: &'static [StatusCode],
    /// Whether the answer depends on confirmed blocks alone, so that 304 may stand for it.
    pub has_tag: bool,
}

/// An alternative to another member: `x-same-as` marks it for programs, which then omit one of the two.
fn same_as(mut schema: Value, name: &str) -> Value {
    schema["x-same-as"] = json!(name);
    schema
}

fn optional(names: &'static [&'static str], schema: Value) -> Field {
    Field { names: names.to_vec(), schema, is_needed: false, is_in_path: false }
}

/// `limit` or `count`, and `offset` or `page`.
pub fn part(default: impl std::fmt::Display) -> [Field; 3] {
    let limit = about(component("Count"), &format!("Records of a page. {default}"));
    [
        optional(&["limit", "count"], limit),
        optional(&["offset"], about(component("Offset"), "Records before the page")),
        optional(
            &["page"],
            same_as(
                about(component("Offset"), "Another way to tell the offset: counts from 1, and 0 acts as 1"),
                "offset",
            ),
        ),
    ]
}

/// The routes of some groups, with the schemas that they refer to.
pub(super) fn describe(surfaces: &Surfaces, is_wanted: impl Fn(&Group) -> bool) -> (Vec<Route>, Map<String, Value>) {
    let mut generators = generators();
    let wanted = surfaces.groups().filter(|group| is_wanted(group));
    let routes = wanted.flat_map(|group| group.describe(&mut generators)).collect();
    let mut schemas = generators.take_schemas();
    schemas.insert("Error".to_owned(), error());
    (routes, schemas)
}

/// The body of an error.
pub(super) fn error() -> Value {
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
pub(super) fn body(route: &Route) -> Value {
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
