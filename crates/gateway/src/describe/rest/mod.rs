//! What each REST route takes and gives. Every leniency of the handlers is documented: several names of one field, integers as
//! numbers or text, `null` for what is absent.

mod opi;

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::schema::{about, any_of, component, or_null, pattern};
use crate::methods::generators;
use crate::rest::{Base, GROUPS, Group, Statuses, Verb};
use crate::surfaces::{orderbook, verify};

/// Schemas that only the routes of BRC-20 refer to.
pub(super) const TOKEN_SCHEMAS: [&str; 5] = opi::SCHEMAS;

/// A member of the body, or of the query.
pub(crate) struct Field {
    /// Every name that it may have; the first is the one of the specification.
    pub(crate) names: Vec<&'static str>,
    pub(crate) schema: Value,
    pub(crate) is_needed: bool,
    /// Whether it is a segment of the path.
    pub(crate) is_in_path: bool,
}

/// One route.
pub(crate) struct Route {
    pub(crate) path: &'static str,
    pub(crate) verb: Verb,
    pub(crate) tag: &'static str,
    pub(crate) summary: String,
    /// What the summary leaves out.
    pub(crate) description: String,
    pub(crate) fields: Vec<Field>,
    /// Members of a request.
    pub(crate) example: Option<Value>,
    /// What the fields must be together.
    pub(crate) condition: Option<Value>,
    pub(crate) answer: Value,
    /// Statuses with which the answer comes.
    pub(crate) statuses: Statuses,
    pub(crate) media_types: &'static [&'static str],
    /// Whether what is asked about may not exist.
    pub(crate) may_be_missing: bool,
    /// A body that is no object with `fields`.
    pub(crate) whole_body: Option<Value>,
    /// Where it is served.
    pub(crate) base: Base,
    /// Statuses of refusals that few routes have.
    pub(crate) refusals: &'static [StatusCode],
    /// Whether the answer depends on confirmed blocks alone, so that 304 may stand for it.
    pub(crate) has_tag: bool,
}

impl Route {
    pub(crate) fn new(path: &'static str, verb: Verb, tag: &'static str, summary: impl Into<String>) -> Self {
        Self {
            path,
            verb,
            tag,
            summary: summary.into(),
            description: String::new(),
            fields: Vec::new(),
            example: None,
            condition: None,
            answer: json!({}),
            statuses: &[(StatusCode::OK, "The answer")],
            media_types: &["application/json"],
            may_be_missing: path.contains('{'),
            whole_body: None,
            base: Base::Api,
            refusals: &[],
            has_tag: verb == Verb::Get,
        }
    }

    /// Whether it stands below `/v4`, or below a key, but not below `/v4/api`.
    pub(super) fn is_beside_the_api(&self) -> bool {
        self.path.starts_with("opi/")
    }

    fn takes(mut self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.fields.extend(fields);
        self
    }

    /// The whole answer, without envelope.
    fn gives_bare(mut self, answer: Value) -> Self {
        self.answer = answer;
        self
    }

    /// The whole answer as plain text.
    fn gives_text(mut self, answer: Value) -> Self {
        (self.answer, self.media_types) = (answer, &["text/plain"]);
        self
    }

    /// An answer that changes between blocks.
    fn without_tag(mut self) -> Self {
        self.has_tag = false;
        self
    }
}

/// Another way to say what a member says: `x-same-as` marks it for programs, which then omit one of the two.
fn same_as(mut schema: Value, name: &str) -> Value {
    schema["x-same-as"] = json!(name);
    schema
}

fn needed(names: &'static [&'static str], schema: Value) -> Field {
    Field { names: names.to_vec(), schema, is_needed: true, is_in_path: false }
}

fn optional(names: &'static [&'static str], schema: Value) -> Field {
    Field { names: names.to_vec(), schema, is_needed: false, is_in_path: false }
}

/// `limit` or `count`, and `offset` or `page`.
pub(crate) fn part(default: impl std::fmt::Display) -> [Field; 3] {
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

/// All groups: those of the REST data API, then those of other surfaces.
pub(crate) fn groups() -> impl Iterator<Item = &'static Group> {
    GROUPS.into_iter().chain(orderbook::GROUPS).chain(verify::GROUPS)
}

/// The routes of some groups, with the schemas that they refer to.
fn describe(groups: impl Iterator<Item = &'static Group>) -> (Vec<Route>, Map<String, Value>) {
    let mut generators = generators();
    let routes = groups.flat_map(|group| group.describe(&mut generators)).collect();
    (routes, generators.take_schemas())
}

/// The routes of contract verification, with the schemas that they refer to.
pub(super) fn explorer() -> (Vec<Route>, Map<String, Value>) {
    describe(groups().filter(|group| group.base == Base::Explorer))
}

/// The routes of all areas.
pub(super) fn routes() -> Vec<Route> {
    let (declared, _) = describe(groups().filter(|group| group.base != Base::Explorer));
    declared.into_iter().chain(opi::routes()).collect()
}

/// The schemas that the routes of groups refer to.
fn declared_schemas() -> Map<String, Value> {
    describe(groups().filter(|group| group.base != Base::Explorer)).1
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
        },
    })
}

/// The schemas that they refer to.
pub(super) fn schemas() -> Map<String, Value> {
    let shared = [
        ("Error", error()),
        ("AlkaneIdText", about(pattern("^[0-9]{1,39}:[0-9]{1,39}$"), "An alkane's id, block:tx")),
        ("Hash", about(pattern("^[0-9a-f]{64}$"), "32 bytes in display order")),
    ];
    let tables = shared.into_iter().chain(opi::schemas()).map(|(name, schema)| (name.to_owned(), schema));
    tables.chain(declared_schemas()).collect()
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
