//! What a schema says, in the few kinds that the documents use.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::names;

/// The type of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    /// Anything.
    Any,
    /// Always absent.
    Null,
    Flag,
    /// An integer of so many bits.
    Unsigned(u8),
    Signed(u8),
    /// A number with a fraction: its digits, never a float.
    Number,
    Text,
    /// A text of decimal digits, up to 128 bits.
    Amount,
    /// This value and no other.
    Constant(Value),
    List(Box<Self>),
    Tuple(Vec<Self>),
    /// By name.
    Map(Box<Self>),
    Named(String),
    /// Or `null`.
    Optional(Box<Self>),
}

/// A member of an object, or a parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) kind: Type,
    pub(crate) is_required: bool,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Record(Vec<Member>),
    /// One of these, tried in this order.
    Union(Vec<Type>),
    /// One of these texts; where it is open, others may come.
    Words {
        words: Vec<String>,
        is_open: bool,
    },
    Alias(Type),
}

#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) about: String,
    pub(crate) shape: Shape,
    /// Whether each member of a record may stand there a second time under its `snake_case` name.
    pub(crate) has_twins: bool,
}

/// Reads the schemas of one document, and names what has no name there.
pub(crate) struct Reader<'d> {
    components: &'d Map<String, Value>,
    taken: BTreeSet<String>,
    /// What was named here.
    unnamed: Vec<(String, Shape)>,
    pub(crate) definitions: BTreeMap<String, Definition>,
}

fn text(schema: &Value, member: &str) -> String {
    schema[member].as_str().unwrap_or_default().to_owned()
}

impl<'d> Reader<'d> {
    pub(crate) fn new(components: &'d Map<String, Value>, reserved: BTreeSet<String>) -> Self {
        Self { components, taken: reserved, unnamed: Vec::new(), definitions: BTreeMap::new() }
    }

    /// The type of a schema; what has to be named gets `name`.
    pub(crate) fn read(&mut self, schema: &Value, name: &str) -> Type {
        if let Some(component) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            return self.component(component);
        }
        if let Some(value) = schema.get("const") {
            return self.constant(value, name, schema);
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.values(values, name, schema);
        }
        let alternatives = ["anyOf", "oneOf"].into_iter().find_map(|either| schema[either].as_array());
        if let Some(schemas) = alternatives.filter(|_| schema.get("properties").is_none()) {
            return self.union(schemas, name, schema);
        }
        match &schema["type"] {
            Value::String(kind) => self.simple(kind, schema, name),
            Value::Array(kinds) => {
                let of_kind = |kind: &Value| {
                    let mut alone = schema.clone();
                    alone["type"] = kind.clone();
                    alone
                };
                let schemas: Vec<Value> = kinds.iter().map(of_kind).collect();
                self.union(&schemas, name, schema)
            }
            _ if schema.get("properties").is_some() => self.simple("object", schema, name),
            _ => Type::Any,
        }
    }

    fn component(&mut self, component: &str) -> Type {
        let name = names::of_type(component);
        let name = if self.taken.contains(&name) { format!("{name}Record") } else { name };
        if component == "Digits" {
            return Type::Amount;
        }
        if !self.definitions.contains_key(&name)
            && let Some(schema) = self.components.get(component)
        {
            // Stands there before it is read: a schema may refer to itself.
            let about = text(schema, "description");
            self.definitions.insert(
                name.clone(),
                Definition { about: about.clone(), shape: Shape::Alias(Type::Any), has_twins: false },
            );
            let read = self.read(schema, &name);
            if read == number_or_text() {
                self.definitions.remove(&name);
                return read;
            }
            if read != Type::Named(name.clone()) {
                self.definitions
                    .insert(name.clone(), Definition { about, shape: Shape::Alias(read), has_twins: false });
            }
        }
        Type::Named(name)
    }

    fn define(&mut self, name: &str, schema: &Value, shape: Shape) -> Type {
        // The same in two places is one type, unless each has a name in the document.
        let is_equal = |known: &&(String, Shape)| known.1 == shape;
        let is_own = matches!(self.definitions.get(name), Some(Definition { shape: Shape::Alias(Type::Any), .. }));
        if !is_own && let Some((known, _)) = self.unnamed.iter().find(is_equal) {
            return Type::Named(known.clone());
        }
        let mut free = name.to_owned();
        let mut number = 1;
        while !is_own && (self.taken.contains(&free) || self.definitions.contains_key(&free)) {
            number += 1;
            free = format!("{name}{number}");
        }
        if !is_own {
            self.unnamed.push((free.clone(), shape.clone()));
        }
        let has_twins = schema.get("x-twins").is_some();
        self.definitions.insert(free.clone(), Definition { about: text(schema, "description"), shape, has_twins });
        Type::Named(free)
    }

    fn constant(&mut self, value: &Value, name: &str, schema: &Value) -> Type {
        match value {
            Value::String(word) => {
                self.define(name, schema, Shape::Words { words: vec![word.clone()], is_open: false })
            }
            value => Type::Constant(value.clone()),
        }
    }

    fn values(&mut self, values: &[Value], name: &str, schema: &Value) -> Type {
        let words: Vec<String> = values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect();
        let kind = if words.len() < values.iter().filter(|value| !value.is_null()).count() {
            let union = vec![Type::Unsigned(64), Type::Text];
            self.define(name, schema, Shape::Union(union))
        } else {
            self.define(name, schema, Shape::Words { words, is_open: true })
        };
        if values.iter().any(Value::is_null) { Type::Optional(Box::new(kind)) } else { kind }
    }

    fn union(&mut self, schemas: &[Value], name: &str, around: &Value) -> Type {
        let words = schemas.iter().map(|schema| schema["const"].as_str().map(str::to_owned));
        if let Some(words) = words.collect::<Option<Vec<String>>>() {
            return self.define(name, around, Shape::Words { words, is_open: true });
        }
        let mut kinds = Vec::new();
        let mut is_optional = false;
        let alternatives: Vec<&Value> = schemas.iter().filter(|schema| schema["type"] != "null").collect();
        is_optional |= alternatives.len() < schemas.len();
        let is_alone = alternatives.len() == 1;
        for (place, schema) in alternatives.into_iter().enumerate() {
            let inner = if is_alone { name.to_owned() } else { format!("{name}{}", case_name(schema, place)) };
            match self.read(schema, &inner) {
                Type::Optional(inner) => {
                    is_optional = true;
                    kinds.push(*inner);
                }
                kind if kinds.contains(&kind) => {}
                kind => kinds.push(kind),
            }
        }
        let kind = match kinds.len() {
            0 => Type::Null,
            1 => kinds.remove(0),
            _ if kinds.contains(&Type::Any) => Type::Any,
            _ if kinds == [Type::Unsigned(64), Type::Text] || kinds == [Type::Text, Type::Unsigned(64)] => {
                number_or_text()
            }
            _ => self.define(name, around, Shape::Union(kinds)),
        };
        if is_optional && kind != Type::Any { Type::Optional(Box::new(kind)) } else { kind }
    }

    fn simple(&mut self, kind: &str, schema: &Value, name: &str) -> Type {
        let bits = |name: &str| match schema["format"].as_str().and_then(|format| format.strip_prefix(name)) {
            Some("8" | "16" | "32") => 32,
            Some("128") => 128,
            _ => 64,
        };
        match kind {
            "null" => Type::Null,
            "boolean" => Type::Flag,
            "string" if schema["pattern"] == "^[0-9]{1,39}$" => Type::Amount,
            "string" => Type::Text,
            "number" => Type::Number,
            "integer" if schema["minimum"].as_u64().is_some() => Type::Unsigned(bits("uint")),
            "integer" => Type::Signed(bits("int")),
            "array" => match schema["prefixItems"].as_array() {
                Some(items) => Type::Tuple(items.iter().map(|item| self.read(item, &format!("{name}Item"))).collect()),
                None => Type::List(Box::new(self.read(&schema["items"], &format!("{name}Item")))),
            },
            "object" => self.object(schema, name),
            _ => Type::Any,
        }
    }

    fn object(&mut self, schema: &Value, name: &str) -> Type {
        let Some(members) = schema["properties"].as_object() else {
            let values = schema.get("additionalProperties").filter(|values| values.is_object());
            let kind = values.map_or(Type::Any, |values| self.read(values, &format!("{name}Value")));
            return Type::Map(Box::new(kind));
        };
        // Sorted, so that the files do not depend on how a build keeps the order of members.
        let sorted: BTreeMap<&String, &Value> = members.iter().collect();
        let read = sorted.into_iter().map(|(member, of_member)| self.member(schema, member, of_member, name)).collect();
        self.define(name, schema, Shape::Record(read))
    }

    /// A member of an object.
    pub(crate) fn member(&mut self, schema: &Value, member: &str, of_member: &Value, name: &str) -> Member {
        let required = schema["required"].as_array();
        Member {
            name: member.to_owned(),
            about: text(of_member, "description"),
            kind: self.read(of_member, &format!("{name}{}", names::of_type(member))),
            is_required: required.is_some_and(|required| required.iter().any(|known| known == member)),
        }
    }
}

/// A number or its digits, of which the clients have a type.
pub(crate) fn number_or_text() -> Type {
    Type::Named("NumberOrText".to_owned())
}

/// What a case of a union is called: by its distinguishing word, or by its number.
fn case_name(schema: &Value, place: usize) -> String {
    let mut members = schema["properties"].as_object().into_iter().flatten();
    let word = members.find_map(|(_, member)| member["const"].as_str());
    word.map_or_else(|| format!("Case{}", place + 1), names::of_type)
}
