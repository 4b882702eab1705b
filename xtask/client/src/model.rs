//! The methods or routes of one document.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::names;
use crate::schema::{Definition, Member, Reader, Type};

/// How the parameters of a method are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Named,
    Positional,
    /// The last one is a list whose items stand one after the other.
    Variadic,
}

/// What an answer is wrapped in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// `{"statusCode":200,"data":…}`.
    Data,
    /// `{"error":null,"result":…}`.
    Result,
    Bare,
    /// Text that is no JSON.
    Text,
}

/// Where it is asked.
#[derive(Debug, Clone)]
pub(crate) enum Ask {
    Method { form: Form, variable: Option<String> },
    Route { verb: &'static str, path: String, base: &'static str, wrapping: Wrapping, has_whole_body: bool },
}

/// A method or a route.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// As it is described.
    pub(crate) name: String,
    /// As it is asked: a route by its verb and path.
    pub(crate) asked: String,
    /// Other names for the same.
    pub(crate) aliases: Vec<String>,
    /// The type of its parameters.
    pub(crate) type_name: String,
    pub(crate) about: String,
    pub(crate) params: Vec<Member>,
    pub(crate) answer: Type,
    pub(crate) ask: Ask,
}

/// What one document describes.
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) about: String,
    /// The word of the path, empty for the main endpoint.
    pub(crate) surface: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) definitions: BTreeMap<String, Definition>,
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

fn about(described: &Value) -> String {
    let (summary, more) = (text(described, "summary"), text(described, "description"));
    if more.is_empty() { summary } else { format!("{summary}\n\n{more}") }
}

pub(crate) fn read(name: &str, document: &Value) -> Module {
    let none = Map::new();
    let components = document["components"]["schemas"].as_object().unwrap_or(&none);
    let described = if document["methods"].is_array() { methods(document) } else { routes(document) };
    let reserved: BTreeSet<String> = described.iter().map(|(type_name, ..)| type_name.clone()).collect();
    let mut reader = Reader::new(components, reserved);
    let variable = document["servers"][0]["variables"].as_object();
    let variable = variable.and_then(|all| all.keys().find(|name| *name != "key")).cloned();
    let calls = described
        .into_iter()
        .map(|(type_name, path, verb, of_call)| match verb {
            None => Call {
                aliases: aliases(document, of_call),
                ..method(&mut reader, type_name, of_call, variable.clone())
            },
            Some(verb) => route(&mut reader, document, type_name, (path, verb), of_call),
        })
        .collect();
    let title = text(&document["info"], "title");
    Module {
        name: name.to_owned(),
        about: title,
        surface: text(document, "x-surface"),
        calls,
        definitions: reader.definitions,
    }
}

type Described<'d> = (String, &'d str, Option<&'static str>, &'d Value);

fn methods(document: &Value) -> Vec<Described<'_>> {
    let mut seen = BTreeSet::new();
    let all = document["methods"].as_array().into_iter().flatten();
    let mut described = Vec::new();
    for method in all.filter(|method| method["name"] != "rpc.discover") {
        let name = method["name"].as_str().unwrap_or_default();
        if seen.contains(name) {
            continue;
        }
        // Other names of a method are described after it.
        seen.extend(aliases(document, method));
        described.push((names::of_type(name), name, None, method));
    }
    described
}

/// Other names of a method, as they are called.
fn aliases(document: &Value, method: &Value) -> Vec<String> {
    let family = text(method, "name").split_once('_').map_or_else(String::new, |(family, _)| format!("{family}_"));
    let family = if document.get("x-surface").is_some() { String::new() } else { family };
    let names = method["x-aliases"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|alias| format!("{family}{alias}")).collect()
}

fn routes(document: &Value) -> Vec<Described<'_>> {
    // Sorted by path and verb.
    let paths: BTreeMap<&String, &Value> = document["paths"].as_object().into_iter().flatten().collect();
    let mut described = Vec::new();
    for (path, operations) in paths {
        for (verb, of_verb) in [("get", "Get"), ("post", "Post")] {
            if let Some(operation) = operations.get(verb) {
                described.push((
                    names::of_type(&text(operation, "operationId")),
                    path.as_str(),
                    Some(of_verb),
                    operation,
                ));
            }
        }
    }
    described
}

fn method(reader: &mut Reader<'_>, type_name: String, method: &Value, variable: Option<String>) -> Call {
    let params: Vec<&Value> = method["params"].as_array().into_iter().flatten().collect();
    let is_variadic = params.last().is_some_and(|last| last["x-variadic"] == true);
    let form = match text(method, "paramStructure").as_str() {
        "by-position" if is_variadic => Form::Variadic,
        "by-position" => Form::Positional,
        _ => Form::Named,
    };
    let read_param = |param: &&Value| {
        let name = text(param, "name");
        let kind = reader.read(&param["schema"], &format!("{type_name}{}", names::of_type(&name)));
        Member { kind, about: text(param, "description"), is_required: param["required"] == true, name }
    };
    let mut params: Vec<Member> = params.iter().map(read_param).collect();
    if let (Form::Variadic, Some(last)) = (form, params.last_mut()) {
        last.kind = Type::List(Box::new(last.kind.clone()));
        last.is_required = true;
    }
    let answer = reader.read(&method["result"]["schema"], &format!("{type_name}Answer"));
    Call {
        asked: text(method, "name"),
        name: text(method, "name"),
        aliases: Vec::new(),
        about: about(method),
        params,
        answer,
        ask: Ask::Method { form, variable },
        type_name,
    }
}

fn route(
    reader: &mut Reader<'_>,
    document: &Value,
    type_name: String,
    (path, verb): (&str, &'static str),
    operation: &Value,
) -> Call {
    let item = &document["paths"][path];
    let base = match (document["servers"][0]["url"].as_str(), item.get("servers"), operation.get("servers")) {
        (Some("/api/v1/{key}"), ..) => "Explorer",
        (_, Some(_), _) => "BesideApi",
        (_, _, Some(_)) => "Keyed",
        _ => "Api",
    };
    let mut params = Vec::new();
    for param in operation["parameters"].as_array().into_iter().flatten() {
        if param["in"] == "header" || param["schema"].get("x-same-as").is_some() {
            continue;
        }
        let name = text(param, "name");
        let kind = reader.read(&param["schema"], &format!("{type_name}{}", names::of_type(&name)));
        params.push(Member {
            kind,
            about: text(&param["schema"], "description"),
            is_required: param["required"] == true,
            name,
        });
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let has_whole_body = body.get("$ref").is_some();
    if has_whole_body {
        let kind = reader.read(body, &format!("{type_name}Body"));
        params.push(Member { name: "body".to_owned(), about: text(body, "description"), kind, is_required: true });
    }
    let members: BTreeMap<&String, &Value> = body["properties"].as_object().into_iter().flatten().collect();
    for (name, schema) in members.into_iter().filter(|(_, schema)| schema.get("x-same-as").is_none()) {
        params.push(reader.member(body, name, schema, &type_name));
    }
    let responses = operation["responses"].as_object().into_iter().flatten();
    let good = responses.filter(|(status, _)| status.starts_with('2')).map(|(_, answer)| answer).next();
    let json = good.map_or(&Value::Null, |answer| &answer["content"]["application/json"]["schema"]);
    let is_constant = |member: &str| {
        json["properties"][member].get("const").is_some() || json["properties"][member]["type"] == "null"
    };
    let members = json["properties"].as_object().map_or(0, Map::len);
    let (wrapping, schema) = match () {
        () if json.is_null() => (Wrapping::Text, json),
        () if members == 2 && is_constant("statusCode") => (Wrapping::Data, &json["properties"]["data"]),
        () if members == 2 && is_constant("error") => (Wrapping::Result, &json["properties"]["result"]),
        () => (Wrapping::Bare, json),
    };
    let answer =
        if wrapping == Wrapping::Text { Type::Text } else { reader.read(schema, &format!("{type_name}Answer")) };
    let ask = Ask::Route { verb, path: path.trim_start_matches('/').to_owned(), base, wrapping, has_whole_body };
    let asked = format!("{} {path}", verb.to_uppercase());
    Call {
        asked,
        name: text(operation, "operationId"),
        aliases: Vec::new(),
        about: about(operation),
        params,
        answer,
        ask,
        type_name,
    }
}
