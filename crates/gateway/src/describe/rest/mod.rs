//! What each REST route takes and gives. Every leniency of the handlers is documented: several names of one field, integers as
//! numbers or text, `null` for what is absent.

mod opi;
mod orderbook;

use serde_json::{Map, Value, json};

use super::schema::{about, any_of, component, or_null, pattern, text};
use crate::methods::generators;
use crate::rest::{GROUPS, Verb, listings};

/// Schemas that only the routes of BRC-20 refer to.
pub(super) const TOKEN_SCHEMAS: [&str; 5] = opi::SCHEMAS;

/// How an answer is wrapped.
pub(crate) enum Answer {
    /// `{"statusCode":200,"data":…}`.
    Enveloped(Value),
    /// As it is.
    Bare(Value),
    /// As it is, with 202.
    Accepted(Value),
    /// Plain text.
    Text(Value),
}

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
    pub(crate) answer: Answer,
    /// Whether what is asked about may not exist.
    pub(crate) may_be_missing: bool,
    /// A body that is no object with `fields`.
    pub(crate) whole_body: Option<Value>,
    /// Whether the key must stand in the path.
    pub(crate) is_keyed: bool,
    /// Statuses of refusals that few routes have.
    pub(crate) further: &'static [&'static str],
    /// Whether the answer depends on confirmed blocks alone, so that 304 may stand for it.
    pub(crate) has_tag: bool,
}

impl Route {
    pub(crate) fn new(path: &'static str, verb: Verb, tag: &'static str, summary: impl Into<String>) -> Self {
        let answer = Answer::Bare(json!({}));
        Self {
            path,
            verb,
            tag,
            summary: summary.into(),
            description: String::new(),
            fields: Vec::new(),
            example: None,
            condition: None,
            answer,
            may_be_missing: path.contains('{'),
            whole_body: None,
            is_keyed: false,
            further: &[],
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
        self.answer = Answer::Bare(answer);
        self
    }

    /// The whole answer of a route that takes something in, with 202.
    fn accepts(mut self, body: Value, answer: Value) -> Self {
        self.whole_body = Some(body);
        self.answer = Answer::Accepted(answer);
        self
    }

    /// A route of a surface that asks for the key in the path, and that an instance may not have.
    fn below_a_key(mut self) -> Self {
        self.is_keyed = true;
        self.may_be_missing = true;
        self
    }

    /// Statuses of refusals that few routes have.
    fn or(mut self, further: &'static [&'static str]) -> Self {
        self.further = further;
        self
    }

    /// The whole answer as plain text.
    fn gives_text(mut self, answer: Value) -> Self {
        self.answer = Answer::Text(answer);
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

/// The routes of all areas.
pub(super) fn routes() -> Vec<Route> {
    let tables = [opi::routes(), orderbook::routes()];
    let mut generators = generators();
    let declared = GROUPS.iter().flat_map(|group| group.describe(&mut generators)).collect::<Vec<_>>();
    let listed = listings::GROUPS.iter().flat_map(|group| group.describe(&mut generators));
    let listed = listed.map(Route::below_a_key).collect::<Vec<_>>();
    declared.into_iter().chain(listed).chain(tables.into_iter().flatten()).collect()
}

/// The schemas that the routes of groups refer to.
fn declared_schemas() -> Map<String, Value> {
    let mut generators = generators();
    for group in GROUPS.iter().chain(&listings::GROUPS) {
        group.describe(&mut generators);
    }
    generators.take_schemas()
}

/// The schemas that they refer to.
pub(super) fn schemas() -> Map<String, Value> {
    let shared = [
        (
            "Error",
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
            }),
        ),
        (
            "AlkaneId",
            json!({
                "description": "An alkane's id, in any of the ways in which clients write it",
                "anyOf": [
                    {
                        "type": "object",
                        "required": ["block", "tx"],
                        "properties": {
                            "block": { "$ref": "#/components/schemas/IdPart" },
                            "tx": { "$ref": "#/components/schemas/IdPart" },
                        },
                    },
                    { "type": "string", "pattern": "^\\s*[0-9]{1,39}:[0-9]{1,39}\\s*$" },
                ],
                "examples": [{ "block": "2", "tx": "0" }, "2:0"],
            }),
        ),
        ("PoolId", about(component("AlkaneId"), "The id of a pool")),
        ("FactoryId", about(component("AlkaneId"), "The id of a factory")),
        (
            "IdPart",
            json!({
                "description": "An integer of up to 128 bits: a number, its digits, or hexadecimal digits after 0x",
                "anyOf": [
                    { "type": "integer", "minimum": 0 },
                    { "type": "string", "pattern": "^([0-9]{1,39}|0x[0-9a-fA-F]{1,32})$" },
                ],
            }),
        ),
        ("AlkaneIdText", about(pattern("^[0-9]{1,39}:[0-9]{1,39}$"), "An alkane's id, block:tx")),
        ("Address", about(text(), "A Bitcoin address of this instance's network; anything else is 400")),
        ("Outpoint", about(pattern("^[0-9a-fA-F]{64}:[0-9]+$"), "txid:vout, the txid in display order")),
        (
            "Count",
            about(
                any_of(&[json!({ "type": "integer", "minimum": 1 }), pattern("^0*[1-9][0-9]*$")]),
                "A positive integer, as a number or its digits",
            ),
        ),
        (
            "Offset",
            about(
                any_of(&[json!({ "type": "integer", "minimum": 0 }), pattern("^(0|0*[1-9][0-9]*)$")]),
                "An integer from 0, as a number or its digits",
            ),
        ),
        (
            "Amount",
            about(
                any_of(&[json!({ "type": "integer", "minimum": 0 }), pattern("^([0-9]{1,39}|0x[0-9a-fA-F]{1,32})$")]),
                "An integer of up to 128 bits, as a number, its digits, or hexadecimal digits after 0x",
            ),
        ),
        // What follows stands in answers alone.
        (
            "Id",
            json!({
                "type": "object",
                "required": ["block", "tx"],
                "properties": {
                    "block": { "$ref": "#/components/schemas/Digits" },
                    "tx": { "$ref": "#/components/schemas/Digits" },
                },
                "additionalProperties": false,
            }),
        ),
        ("OutpointText", about(pattern("^[0-9a-fA-F]{64}:[0-9]+$"), "txid:vout")),
        ("IdText", pattern("^[0-9]{1,39}:[0-9]{1,39}$")),
        ("Digits", about(pattern("^[0-9]{1,39}$"), "An integer of up to 128 bits, exact; of amounts in base units")),
        ("Hash", about(pattern("^[0-9a-f]{64}$"), "32 bytes in display order")),
        ("Hex", about(pattern("^0x([0-9a-f]{2})*$"), "Bytes")),
        (
            "Time",
            about(pattern("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z$"), "RFC 3339, UTC"),
        ),
    ];
    let areas = [opi::schemas(), orderbook::schemas()].into_iter().flatten();
    let tables = shared.into_iter().chain(areas).map(|(name, schema)| (name.to_owned(), schema));
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
