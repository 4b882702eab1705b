//! The routes of groups as the OpenAPI document describes them.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::types::PathId;
use super::{Base, Changes, Count, Declared, Endpoint, Group, Offset, Pages, Verb, Wrapping, placeholders};
use crate::describe::{Field, Route, part, record};
use crate::methods::Generators;

impl Group {
    /// Every route of the group.
    pub fn describe(&'static self, generators: &mut Generators) -> Vec<Route> {
        self.paths().map(|endpoint| endpoint.describe(generators)).collect()
    }
}

impl Endpoint {
    fn describe(self, generators: &mut Generators) -> Route {
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
        Route {
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
                Wrapping::Opi => record(&[("error", json!({ "type": "null" })), ("result", answer)]),
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
    fn describe_fields(&self, members: &Schema, path: &str, generator: &mut SchemaGenerator) -> Vec<Field> {
        let names = (self.fields)();
        names.into_iter().filter_map(|name| self.describe_field(name, members, path, generator)).collect()
    }

    fn describe_field(
        &self,
        name: &'static str,
        members: &Schema,
        path: &str,
        generator: &mut SchemaGenerator,
    ) -> Option<Field> {
        let schema = members.get("properties")?.get(name)?.clone();
        let required = members.get("required").and_then(Value::as_array);
        let is_needed = required.is_some_and(|required| required.iter().any(|known| known == name));
        let mut names = vec![name];
        names.extend(self.others_of(name));
        if let Some(placeholder) = placeholders(path).find(|placeholder| names.contains(placeholder)) {
            let name = names.iter().position(|name| *name == placeholder).unwrap_or_default();
            names.swap(0, name);
            let schema = in_path(schema, generator);
            return Some(Field { names: names[..1].to_vec(), schema, is_needed, is_in_path: true });
        }
        Some(Field { names, schema: without_null(schema), is_needed, is_in_path: false })
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

fn describe_pages(Pages { default, max }: Pages) -> [Field; 3] {
    let grouped = |count: usize| match count {
        0..1_000 => count.to_string(),
        _ => format!("{},{:03}", count / 1_000, count % 1_000),
    };
    let (all, max) = (default.map_or_else(|| "All".to_owned(), grouped), grouped(max));
    part(format!("{all} when absent; more than {max} is taken as {max}"))
}
