//! The Rust of a document.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::model::{Ask, Call, Form, Module, Wrapping};
use crate::names;
use crate::schema::{Definition, Member, Shape, Type};

const MARK: &str = "// Written from the declarations: docs/clients.md says how.\n";
const DERIVES: &str = "#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]\n";

pub(crate) fn index(modules: &[Module]) -> String {
    let mut text = format!("//! Types of every method and route, from their descriptions.\n{MARK}\n");
    for module in modules {
        let _ = writeln!(text, "pub mod {};", module.name);
    }
    text
}

/// For a test: reads an answer as the type that the client has for it.
pub(crate) fn answers(modules: &[Module]) -> String {
    let mut text =
        format!("//! Reads any answer as its type in the client.\n{MARK}\nuse paraffin_client::{{Method, Route}};\n");
    text.push_str("use serde::de::DeserializeOwned;\nuse serde_json::Value;\n\n");
    text.push_str("fn read<A: DeserializeOwned>(answer: &Value) -> Option<String> {\n    A::deserialize(answer).err().map(|error| error.to_string())\n}\n\n");
    text.push_str("/// What is wrong with an answer, if something is; `None` of a name that the client does not have is an error too.\n");
    text.push_str(
        "pub fn finding(module: &str, name: &str, answer: &Value) -> Option<String> {\n    match (module, name) {\n",
    );
    for module in modules {
        for call in &module.calls {
            let trait_name = if matches!(call.ask, Ask::Method { .. }) { "Method" } else { "Route" };
            let names =
                std::iter::once(&call.asked).chain(&call.aliases).map(|name| format!("({:?}, {name:?})", module.name));
            let patterns = names.collect::<Vec<_>>().join(" | ");
            let _ = writeln!(
                text,
                "        {patterns} => read::<<paraffin_client::{}::{} as {trait_name}>::Answer>(answer),",
                module.name, call.type_name
            );
        }
    }
    text.push_str("        _ => Some(\"the client does not have it\".to_owned()),\n    }\n}\n");
    text
}

pub(crate) fn module(module: &Module) -> String {
    let mut text = format!("//! {}.\n{MARK}\n", escaped(&module.about));
    let all = module.calls.iter();
    if all.clone().any(|call| matches!(call.ask, Ask::Method { .. })) {
        text.push_str("use crate::method::{Form, Method};\n");
    } else {
        text.push_str("use crate::route::{Base, Route, Verb, Wrapping};\n");
    }
    text.push_str("#[allow(unused_imports, reason = \"not every document has all\")]\n");
    text.push_str("use crate::value::{Amount, NumberOrText, one_of};\n");
    for call in all {
        write_call(&mut text, module, call);
    }
    for (name, definition) in &module.definitions {
        write_definition(&mut text, name, definition);
    }
    text
}

/// Words between brackets are no links, and addresses stand as they are.
fn escaped(about: &str) -> String {
    about.replace('[', "\\[").replace(']', "\\]").replace('<', "\\<").replace('>', "\\>")
}

fn write_about(text: &mut String, about: &str, indent: &str, otherwise: &str) {
    let about = if about.is_empty() { otherwise } else { about };
    for line in escaped(about).lines() {
        let _ = writeln!(text, "{}", format!("{indent}/// {line}").trim_end());
    }
}

fn write_call(text: &mut String, module: &Module, call: &Call) {
    text.push('\n');
    write_about(text, &call.about, "", &call.name);
    let name = &call.type_name;
    let variable = match &call.ask {
        Ask::Method { variable: Some(variable), .. } => Some(format!("{}_{variable}", module.surface)),
        _ => None,
    };
    let has_needs = variable.is_some() || call.params.iter().any(|param| param.is_required);
    text.push_str(if has_needs {
        "#[derive(Debug, Clone, PartialEq, serde::Serialize)]\n"
    } else {
        "#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]\n"
    });
    if call.params.is_empty() && variable.is_none() {
        // With braces, so that it is an empty object and not `null`.
        let _ = writeln!(text, "pub struct {name} {{}}");
    } else {
        let _ = writeln!(text, "pub struct {name} {{");
        if let Some(variable) = &variable {
            let _ = writeln!(text, "    /// In the path.\n    #[serde(skip)]\n    pub {variable}: u32,");
        }
        write_members(text, &call.params);
        text.push_str("}\n");
    }
    write_constructor(text, call, variable.as_deref());
    match &call.ask {
        Ask::Method { form, .. } => write_method(text, module, call, *form, variable.as_deref()),
        Ask::Route { verb, path, base, wrapping, has_whole_body } => {
            let wrapping = match wrapping {
                Wrapping::Data => "Data",
                Wrapping::Result => "Result",
                Wrapping::Bare => "Bare",
                Wrapping::Text => "Text",
            };
            let _ = writeln!(
                text,
                "\nimpl Route for {name} {{\n    const VERB: Verb = Verb::{verb};\n    const BASE: Base = Base::{base};"
            );
            let _ = writeln!(
                text,
                "    const PATH: &'static str = {path:?};\n    const WRAPPING: Wrapping = Wrapping::{wrapping};"
            );
            if *has_whole_body {
                text.push_str("    const HAS_WHOLE_BODY: bool = true;\n");
            }
            let _ = writeln!(text, "    type Answer = {};\n}}", kind(&call.answer));
        }
    }
}

fn write_method(text: &mut String, module: &Module, call: &Call, form: Form, variable: Option<&str>) {
    let form = match form {
        Form::Named => "Named",
        Form::Positional => "Positional",
        Form::Variadic => "Variadic",
    };
    let names: Vec<&str> = call.params.iter().map(|param| param.name.as_str()).collect();
    let _ = writeln!(text, "\nimpl Method for {} {{\n    const NAME: &'static str = {:?};", call.type_name, call.name);
    let _ =
        writeln!(text, "    const SURFACE: &'static str = {:?};\n    const FORM: Form = Form::{form};", module.surface);
    let _ = writeln!(
        text,
        "    const PARAMETERS: &'static [&'static str] = &{names:?};\n    type Answer = {};",
        kind(&call.answer)
    );
    if let Some(variable) = variable {
        let _ = writeln!(
            text,
            "\n    fn surface(&self) -> String {{\n        format!(\"{{}}/{{}}\", Self::SURFACE, self.{variable})\n    }}"
        );
    }
    text.push_str("}\n");
}

/// `new` takes what must be there.
fn write_constructor(text: &mut String, call: &Call, variable: Option<&str>) {
    let mut arguments: Vec<String> = variable.iter().map(|name| format!("{name}: u32")).collect();
    let mut values: Vec<String> = variable.iter().map(|name| (*name).to_owned()).collect();
    for (param, field) in call.params.iter().zip(fields(&call.params)) {
        match (param.is_required, &param.kind) {
            (true, Type::Text) => {
                arguments.push(format!("{field}: impl Into<String>"));
                values.push(format!("{field}: {field}.into()"));
            }
            (true, Type::Named(name)) => {
                arguments.push(format!("{field}: impl Into<{name}>"));
                values.push(format!("{field}: {field}.into()"));
            }
            (true, other) => {
                arguments.push(format!("{field}: {}", kind(other)));
                values.push(field);
            }
            (false, _) => values.push(format!("{field}: None")),
        }
    }
    let name = &call.type_name;
    let _ = writeln!(text, "\nimpl {name} {{\n    /// With what must be given.");
    let _ = writeln!(text, "    #[must_use]\n    pub fn new({}) -> Self {{", arguments.join(", "));
    let _ = writeln!(text, "        Self {{ {} }}\n    }}\n}}", values.join(", "));
}

/// Names of members as fields, which differ where `pool_id` stands beside `poolId`.
fn fields(members: &[Member]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut free = |member: &Member| {
        let mut field = names::of_field(&member.name);
        while !taken.insert(field.clone()) {
            field.push('_');
        }
        field
    };
    members.iter().map(&mut free).collect()
}

fn write_members(text: &mut String, members: &[Member]) {
    for (member, field) in members.iter().zip(fields(members)) {
        write_about(text, &member.about, "    ", &format!("`{}`.", member.name));
        let written = match (&member.kind, member.is_required) {
            (Type::Optional(_) | Type::Null, _) | (_, true) => kind(&member.kind),
            (_, false) => format!("Option<{}>", kind(&member.kind)),
        };
        let mut attributes: Vec<String> = Vec::new();
        if field.trim_start_matches("r#") != member.name {
            attributes.push(format!("rename = {:?}", member.name));
        }
        if written.starts_with("Option<") {
            attributes.push("default".to_owned());
            // What is always there may be `null`, and is written so.
            if !member.is_required {
                attributes.push("skip_serializing_if = \"Option::is_none\"".to_owned());
            }
        }
        if !attributes.is_empty() {
            let _ = writeln!(text, "    #[serde({})]", attributes.join(", "));
        }
        let _ = writeln!(text, "    pub {field}: {written},");
    }
}

fn write_definition(text: &mut String, name: &str, definition: &Definition) {
    text.push('\n');
    if matches!(definition.shape, Shape::Union(_)) {
        text.push_str("one_of! {\n");
    }
    write_about(text, &definition.about, "", &format!("`{name}` of the descriptions."));
    match &definition.shape {
        Shape::Record(members) if members.is_empty() => {
            let _ = writeln!(text, "{DERIVES}pub struct {name} {{}}");
        }
        Shape::Record(members) => {
            let is_optional = |member: &Member| !member.is_required || matches!(member.kind, Type::Optional(_));
            if members.iter().all(is_optional) {
                text.push_str("#[derive(Default)]\n");
            }
            let _ = writeln!(text, "{DERIVES}pub struct {name} {{");
            write_members(text, members);
            text.push_str("}\n");
        }
        Shape::Alias(of) => {
            let _ = writeln!(text, "pub type {name} = {};", kind(of));
        }
        Shape::Words { words, is_open } => {
            let _ = writeln!(text, "{DERIVES}#[derive(Eq)]\npub enum {name} {{");
            let mut taken = BTreeSet::new();
            for word in words {
                let mut variant = names::of_type(word);
                while variant.is_empty() || !taken.insert(variant.clone()) {
                    variant.push('X');
                }
                let _ = writeln!(text, "    /// `{}`.\n    #[serde(rename = {word:?})]\n    {variant},", escaped(word));
            }
            if *is_open {
                let other = if taken.contains("Other") { "Unknown" } else { "Other" };
                let _ = writeln!(
                    text,
                    "    /// What a later version answers.\n    #[serde(untagged)]\n    {other}(String),"
                );
            }
            text.push_str("}\n");
        }
        Shape::Union(kinds) => {
            let _ = writeln!(text, "{name} {{");
            let mut taken = BTreeSet::new();
            for of in kinds {
                let mut variant = variant(of);
                while !taken.insert(variant.clone()) {
                    variant.push('2');
                }
                let _ = writeln!(text, "    {variant}({}),", kind(of));
            }
            text.push_str("} }\n");
        }
    }
}

fn variant(kind: &Type) -> String {
    let name = match kind {
        Type::Any => "Any",
        Type::Null => "Null",
        Type::Flag => "Flag",
        Type::Unsigned(_) | Type::Signed(_) => "Integer",
        Type::Number => "Number",
        Type::Text => "Text",
        Type::Amount => "Amount",
        Type::Constant(_) => "Constant",
        Type::List(_) => "List",
        Type::Tuple(_) => "Tuple",
        Type::Map(_) => "Object",
        Type::Optional(inner) => return variant(inner),
        Type::Named(name) => name,
    };
    name.to_owned()
}

/// A type as Rust writes it.
fn kind(of: &Type) -> String {
    match of {
        Type::Any => "serde_json::Value".to_owned(),
        Type::Null => "Option<()>".to_owned(),
        Type::Flag | Type::Constant(Value::Bool(_)) => "bool".to_owned(),
        Type::Unsigned(bits) => format!("u{bits}"),
        Type::Constant(Value::Number(_)) => "u64".to_owned(),
        Type::Signed(bits) => format!("i{bits}"),
        Type::Number => "serde_json::Number".to_owned(),
        Type::Text | Type::Constant(_) => "String".to_owned(),
        Type::Amount => "Amount".to_owned(),
        Type::List(inner) => format!("Vec<{}>", kind(inner)),
        Type::Tuple(items) => format!("({},)", items.iter().map(kind).collect::<Vec<_>>().join(", ")),
        Type::Map(inner) => format!("std::collections::BTreeMap<String, {}>", kind(inner)),
        Type::Named(name) => name.clone(),
        Type::Optional(inner) => format!("Option<{}>", kind(inner)),
    }
}
