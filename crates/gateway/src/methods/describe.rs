//! The OpenRPC document of a surface, from the declarations of its methods.

use std::fmt::Write as _;

use bytes::Bytes;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{Declaration, Declared, ErrorCase, Form, PathVariable, Surface};
use crate::errors::{ApiError, rpc_code};
use crate::jsonrpc::Params;
use crate::surface::RpcResult;

/// The method of every JSON-RPC surface that describes its methods.
pub const DISCOVER: &str = "rpc.discover";

/// Errors that every method has (docs/api.md).
const COMMON_ERRORS: [ErrorCase; 2] = [
    ErrorCase {
        code: rpc_code::INVALID_PARAMS,
        name: "",
        when: "The parameters do not fit: the message names the parameter and says what it must be",
    },
    ErrorCase {
        code: rpc_code::INTERNAL,
        name: "INTERNAL_ERROR",
        when: "Something failed on our side: try again later, and report it with the request id when it stays",
    },
];

/// A surface without the type of its state.
pub trait Described: Sync {
    /// Its segment in the path.
    fn name(&self) -> &'static str;

    /// The OpenRPC document.
    fn document(&self) -> Bytes;

    /// The descriptions of the methods of a family of the main endpoint, by their full names.
    fn describe_family(&self, generators: &mut Generators) -> Vec<Value>;

    /// Checks all declarations together and returns the first defect.
    fn finding(&self) -> Option<String>;
}

impl<S: Sync> Described for Surface<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn document(&self) -> Bytes {
        self.document.get_or_init(|| document(self).to_string().into()).clone()
    }

    fn describe_family(&self, generators: &mut Generators) -> Vec<Value> {
        let describe = |method| {
            let described = describe_method(method, generators);
            let named = |name: &str| {
                let mut described = described.clone();
                described["name"] = format!("{}_{name}", self.name).into();
                described["tags"] = json!([{ "name": self.name }]);
                described
            };
            std::iter::once(method.name).chain(method.aliases.iter().copied()).map(named).collect::<Vec<_>>()
        };
        self.all().flat_map(describe).collect()
    }

    fn finding(&self) -> Option<String> {
        let mut names = std::collections::BTreeSet::new();
        for method in self.all() {
            let name = method.name;
            if !std::iter::once(&name).chain(method.aliases).all(|name| names.insert(*name)) {
                return Some(format!("{name} or one of its aliases stands twice"));
            }
            let raw: &RawValue = match serde_json::from_str(method.example) {
                Ok(raw) => raw,
                Err(error) => return Some(format!("{name}: its example is no JSON: {error}")),
            };
            let read = Params::parse(Some(raw)).and_then(|params| (method.check)(&params));
            if let Err(error) = read {
                return Some(format!("{name}: its example is refused: {}", error.message));
            }
            let described = describe_method(method, &mut generators());
            let lacks_text = |value: &Value| value["description"].as_str().or(value["summary"].as_str()).is_none();
            if lacks_text(&described) {
                return Some(format!("{name} has no doc comment"));
            }
            let params = described["params"].as_array().cloned().unwrap_or_default();
            if let Declaration::ParamList { .. } = method.params {
                continue;
            }
            if let Some(param) = params.iter().find(|param| lacks_text(param)) {
                return Some(format!("{name}: {} has no doc comment", param["name"]));
            }
        }
        None
    }
}

impl<S: Sync> Surface<S> {
    /// `rpc.discover`.
    pub(super) fn discover(&self, params: &Params) -> RpcResult {
        params.none()?;
        let text = String::from_utf8(self.document().to_vec()).map_err(|error| ApiError::internal(&error))?;
        RawValue::from_string(text).map_err(|error| ApiError::internal(&error))
    }
}

/// Generators of the schemas of parameters and of answers.
pub struct Generators {
    read: SchemaGenerator,
    written: SchemaGenerator,
}

impl Generators {
    /// The generator for parameters.
    pub fn read(&mut self) -> &mut SchemaGenerator {
        &mut self.read
    }

    /// The generator for answers.
    pub fn written(&mut self) -> &mut SchemaGenerator {
        &mut self.written
    }

    /// The schemas that the descriptions refer to.
    pub fn take_schemas(&mut self) -> Map<String, Value> {
        let mut schemas = self.read.take_definitions(true);
        schemas.extend(self.written.take_definitions(true));
        schemas
    }
}

/// Generators whose schemas go into the components of a document.
pub fn generators() -> Generators {
    let settings = || {
        SchemaSettings::draft2020_12().with(|settings| {
            settings.meta_schema = None;
            settings.definitions_path = "/components/schemas".into();
        })
    };
    Generators {
        read: settings().for_deserialize().into_generator(),
        written: settings().for_serialize().into_generator(),
    }
}

fn document<S: Sync>(surface: &Surface<S>) -> Value {
    let mut generators = generators();
    let mut methods: Vec<Value> = surface.all().map(|method| describe_method(method, &mut generators)).collect();
    methods.push(json!({
        "name": DISCOVER,
        "summary": "This description",
        "paramStructure": "by-name",
        "params": [],
        "result": { "name": "description", "schema": { "type": "object" } },
    }));
    let schemas = generators.take_schemas();
    let mut url = format!("/v4/${{key}}/{}", surface.name);
    let mut variables = json!({ "key": { "default": "KEY" } });
    if let Some(PathVariable { name, default, about }) = surface.variable {
        let _ = write!(url, "/${{{name}}}");
        variables[name] = json!({ "default": default, "description": about });
    }
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": format!("Paraffin JSON-RPC: {}", surface.name),
            "version": env!("CARGO_PKG_VERSION"),
            "description": surface.introduction,
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "servers": [{
            "name": "key or alias in the path",
            "url": url,
            "variables": variables,
        }],
        "x-surface": surface.name,
        "methods": methods,
        "components": { "schemas": schemas },
    })
}

fn describe_method<S>(method: &Declared<S>, generators: &mut Generators) -> Value {
    let example: Value = serde_json::from_str(method.example).unwrap_or_default();
    let (text, mut params) = match &method.params {
        Declaration::Struct { fields, schema } => {
            let schema = schema(&mut generators.read);
            let params: Vec<Value> = fields().iter().filter_map(|name| describe_param(name, &schema)).collect();
            (schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(), params)
        }
        Declaration::ParamList { summary, params } => {
            let params = params.iter().map(|param| param.describe(&mut generators.read)).collect();
            ((*summary).to_owned(), params)
        }
    };
    let names: Vec<String> = params.iter().filter_map(|param| param["name"].as_str().map(str::to_owned)).collect();
    if let (Form::Variadic, Some(last)) = (method.form, params.last_mut()) {
        // Items of a variadic list are separate positional parameters.
        last["schema"] = last["schema"]["items"].take();
        last["required"] = false.into();
        last["x-variadic"] = true.into();
    }
    let (summary, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let answer = (method.answer)(&mut generators.written);
    let errors: Vec<Value> = method.errors.iter().chain(&COMMON_ERRORS).map(describe_error).collect();
    let mut described = json!({
        "name": method.name,
        "summary": summary.replace('\n', " "),
        "paramStructure": match method.form {
            Form::Nothing | Form::NamedNothing => "either",
            Form::Named | Form::NamedInArray => "by-name",
            Form::Positional | Form::Variadic => "by-position",
        },
        "params": params,
        "result": { "name": "result", "schema": answer },
        "errors": errors,
        "examples": [{
            "name": "call",
            "params": example_params(&example, &names),
        }],
    });
    if !rest.is_empty() {
        described["description"] = rest.into();
    }
    if !method.aliases.is_empty() {
        described["x-aliases"] = method.aliases.into();
    }
    described
}

fn example_params(example: &Value, names: &[String]) -> Vec<Value> {
    let param = |name: &str, value: &Value| json!({ "name": name, "value": value });
    match example {
        Value::Array(items) => names.iter().zip(items).map(|(name, value)| param(name, value)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| param(name, value)).collect(),
        _ => Vec::new(),
    }
}

/// `None` for another name of a field, which has no schema.
fn describe_param(name: &str, schema: &Schema) -> Option<Value> {
    let mut of_field: Map<String, Value> = schema.get("properties")?.get(name)?.as_object()?.clone();
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|required| required.iter().any(|known| known == name));
    let mut param = json!({ "name": name, "required": is_required });
    if let Some(text) = of_field.remove("description") {
        param["description"] = text;
    }
    param["schema"] = of_field.into();
    Some(param)
}

fn describe_error(case: &ErrorCase) -> Value {
    let mut error = json!({ "code": case.code, "message": case.when });
    if !case.name.is_empty() {
        error["data"] = json!({ "code": case.name });
    }
    error
}
