//! The routes of groups as the OpenAPI document describes them.

use hyper::StatusCode;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{Base, Changes, Declared, Endpoint, Group, Pages, Statuses, Verb, Wrapping, placeholders};
use crate::api_types::{Count, Offset, PathId};
use crate::methods::Generators;
use crate::schema::{about, component, record};

/// A member of the body, of the query or of the path, as the documents describe it.
pub struct DescribedField {
    /// Its accepted names; the first is the one of the specification.
    pub names: Vec<&'static str>,
    /// Its schema.
    pub schema: Value,
    /// Whether a request must have it.
    pub is_needed: bool,
    /// Whether it is a segment of the path.
    pub is_in_path: bool,
}

/// A route as the documents describe it.
pub struct DescribedRoute {
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
    pub fields: Vec<DescribedField>,
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
pub(crate) fn same_as(mut schema: Value, name: &str) -> Value {
    schema["x-same-as"] = json!(name);
    schema
}

fn optional(names: &'static [&'static str], schema: Value) -> DescribedField {
    DescribedField { names: names.to_vec(), schema, is_needed: false, is_in_path: false }
}

/// `limit` or `count`, and `offset` or `page`.
fn part(default: impl std::fmt::Display) -> [DescribedField; 3] {
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
impl Group {
    /// Every route of the group.
    pub fn describe(&'static self, generators: &mut Generators) -> Vec<DescribedRoute> {
        self.paths().map(|endpoint| endpoint.describe(generators)).collect()
    }
}

impl Endpoint {
    fn describe(self, generators: &mut Generators) -> DescribedRoute {
        let Self { group, route, verb, path } = self;
        let members = (route.members)(generators.read());
        let answer = (route.answer)(generators.written()).to_value();
        let text = members.get("description").and_then(Value::as_str).unwrap_or_default();
        let (summary, rest) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut fields = route.describe_fields(&members, path, generators.read());
        let whole = route.whole_body.and_then(|body| fields.iter().position(|field| field.names == [body]));
        let whole_body = whole.map(|place| fields.remove(place).schema);
        if let Some(pages) = route.pages {
            generators.read().subschema_for::<(Count, Offset)>();
            fields.extend(describe_pages(pages));
        }
        DescribedRoute {
            path,
            verb,
            tag: group.tag,
            summary: summary.replace('\n', " "),
            description: rest.to_owned(),
            fields,
            example: serde_json::from_str(route.example).ok(),
            condition: members.get("anyOf").map(|any| json!({ "anyOf": any })),
            answer: match route.wrapping {
                Wrapping::Enveloped => record(&[("statusCode", json!({ "const": 200 })), ("data", answer)]),
                Wrapping::Bare | Wrapping::Flat => answer,
                Wrapping::WithError => record(&[("error", json!({ "type": "null" })), ("result", answer)]),
            },
            statuses: route.statuses,
            media_types: route.media_types,
            // An instance may not have the surface.
            may_be_missing: route.may_be_missing || !matches!(group.base, Base::Api | Base::Open),
            whole_body,
            base: group.base,
            refusals: route.refusals,
            has_tag: verb == Verb::Get && route.changes != Changes::Anytime,
        }
    }
}

impl Declared {
    fn describe_fields(&self, members: &Schema, path: &str, generator: &mut SchemaGenerator) -> Vec<DescribedField> {
        let names = (self.fields)();
        names.into_iter().filter_map(|name| self.describe_field(name, members, path, generator)).collect()
    }

    fn describe_field(
        &self,
        name: &'static str,
        members: &Schema,
        path: &str,
        generator: &mut SchemaGenerator,
    ) -> Option<DescribedField> {
        let schema = members.get("properties")?.get(name)?.clone();
        let required = members.get("required").and_then(Value::as_array);
        let is_needed = required.is_some_and(|required| required.iter().any(|known| known == name));
        let mut names = vec![name];
        names.extend(self.others_of(name));
        if let Some(placeholder) = placeholders(path).find(|placeholder| names.contains(placeholder)) {
            let name = names.iter().position(|name| *name == placeholder).unwrap_or_default();
            names.swap(0, name);
            let schema = in_path(schema, generator);
            return Some(DescribedField { names: names[..1].to_vec(), schema, is_needed, is_in_path: true });
        }
        Some(DescribedField { names, schema: without_null(schema), is_needed, is_in_path: false })
    }
}

/// In a path the id of an alkane can only be text.
fn in_path(schema: Value, generator: &mut SchemaGenerator) -> Value {
    if schema["$ref"] != "#/components/schemas/AlkaneId" {
        return schema;
    }
    let mut of_path = generator.subschema_for::<PathId>();
    if let Some(about) = schema.get("description") {
        of_path.insert("description".to_owned(), about.clone());
    }
    of_path.to_value()
}

/// The schema without `null`, which every optional member accepts.
fn without_null(mut schema: Value) -> Value {
    let is_null = |schema: &Value| schema["type"] == "null";
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    if let Some(kinds) = schema["type"].as_array() {
        let kinds: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
        schema["type"] = if let [only] = kinds.as_slice() { only.clone() } else { kinds.into() };
        return schema;
    }
    let Some([one, other]) = schema["anyOf"].as_array().map(Vec::as_slice) else { return schema };
    let inner = match (is_null(one), is_null(other)) {
        (true, false) => other.clone(),
        (false, true) => one.clone(),
        _ => return schema,
    };
    let Some(beside) = schema.as_object() else { return inner };
    let beside: Map<String, Value> =
        beside.iter().filter(|(name, _)| *name != "anyOf").map(|(name, value)| (name.clone(), value.clone())).collect();
    match inner {
        Value::Object(mut members) => {
            members.extend(beside);
            members.into()
        }
        inner => inner,
    }
}

fn describe_pages(Pages { default, max }: Pages) -> [DescribedField; 3] {
    let grouped = |count: usize| match count {
        0..1_000 => count.to_string(),
        _ => format!("{},{:03}", count / 1_000, count % 1_000),
    };
    let (all, max) = (default.map_or_else(|| "All".to_owned(), grouped), grouped(max));
    part(format!("{all} when absent; more than {max} is taken as {max}"))
}
