//! The OpenAPI document of Esplora over HTTP. Its paths correspond to the names of the methods `esplora_*`, so it is generated
//! from their declarations.

use serde_json::{Map, Value, json};

use paraffin_gateway::describe::Document;
use paraffin_gateway::describe::openapi::{answer_headers, error, headers, info, keyed_server, refusals_with};
use paraffin_gateway::methods::{Described as _, generators};

use super::ESPLORA;

const INTRODUCTION: &str = "\
The paths, texts and status codes of Esplora, from this instance's index. Numbers, hashes and hexadecimal digits are plain text, \
and so are errors that concern a path. Without a key in the path there is nothing here.";

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";

/// The document of `/v4/<KEY>/esplora`.
pub static DOCUMENT: Document = Document::new(&["v4", "openapi", "esplora.json"], document);

fn document() -> Value {
    let mut generators = generators();
    let mut paths = Map::new();
    for method in ESPLORA.describe_family(&mut generators) {
        let name = method["name"].as_str().unwrap_or_default().trim_start_matches("esplora_");
        match name {
            "broadcast" => {
                let mut operation = operation(&method, &[], TEXT);
                operation["requestBody"] = body(TEXT, &param(&method, "transaction")["schema"]);
                paths.insert("/tx".to_owned(), json!({ "post": operation.clone() }));
                // For clients older than the route above.
                operation["operationId"] = "esplora-broadcast-by-get".into();
                operation["parameters"] = json!([in_query("tx", true, &param(&method, "transaction")["schema"])]);
                operation.as_object_mut().and_then(|members| members.remove("requestBody"));
                paths.insert("/broadcast".to_owned(), json!({ "get": operation }));
            }
            "txs:package" => {
                let mut operation = operation(&method, &[], JSON);
                operation["requestBody"] = body(JSON, &param(&method, "transactions")["schema"]);
                let optional = ["maxfeerate", "maxburnamount"];
                operation["parameters"] =
                    optional.iter().map(|name| in_query(name, false, &json!({ "type": "number" }))).collect();
                paths.insert("/txs/package".to_owned(), json!({ "post": operation }));
            }
            _ => reads(name, &method, &mut paths),
        }
    }
    let mut schemas = generators.take_schemas();
    schemas.insert("Error".to_owned(), error());
    json!({
        "openapi": "3.1.0",
        "info": info("Paraffin Esplora", INTRODUCTION),
        "servers": [keyed_server("/esplora")],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": headers(),
            "responses": refusals_with(|_| false, &["400", "404", "500", "503", "504"]),
        },
    })
}

/// The paths of a method that reads: with the parameter that may be absent, and without it.
fn reads(name: &str, method: &Value, paths: &mut Map<String, Value>) {
    let params: Vec<&Value> = method["params"].as_array().into_iter().flatten().collect();
    let is_needed = |param: &&&Value| param["required"] == true;
    let needed: Vec<&Value> = params.iter().filter(is_needed).copied().collect();
    for given in [&needed, &params] {
        let path = path_of(name, given);
        if !paths.contains_key(&path) {
            let operation = operation(method, given, media_type(name, &method["result"]["schema"]));
            paths.insert(path, json!({ "get": operation }));
        }
    }
}

/// `tx::outspend` as `/tx/{txid}/outspend/{vout}`.
fn path_of(name: &str, params: &[&Value]) -> String {
    let mut names = params.iter().filter_map(|param| param["name"].as_str());
    let mut path = String::new();
    for piece in name.split(':') {
        let piece =
            if piece.is_empty() { names.next().map(|name| format!("{{{name}}}")) } else { Some(piece.to_owned()) };
        path.extend(piece.into_iter().flat_map(|piece| ["/".to_owned(), piece]));
    }
    path.extend(names.map(|name| format!("/{{{name}}}")));
    path
}

/// As the surface writes it: bytes, a bare text or number, or JSON.
fn media_type(name: &str, answer: &Value) -> &'static str {
    let is_hash = answer["$ref"] == "#/components/schemas/Hash";
    match answer["type"].as_str() {
        _ if name.ends_with(":raw") => BYTES,
        Some("string" | "integer") => TEXT,
        _ if is_hash => TEXT,
        _ => JSON,
    }
}

fn operation(method: &Value, params: &[&Value], media_type: &str) -> Value {
    let path = path_of(method["name"].as_str().unwrap_or_default().trim_start_matches("esplora_"), params);
    let id = format!("esplora{}", path.replace('/', "-").replace(['{', '}', ':'], ""));
    let schema = if media_type == BYTES {
        json!({ "type": "string", "format": "binary" })
    } else {
        method["result"]["schema"].clone()
    };
    let answer = json!({
        "description": "The answer",
        "headers": answer_headers(false),
        "content": { media_type: { "schema": schema } },
    });
    let mut responses = Map::from_iter([("200".to_owned(), answer)]);
    for code in [400, 401, 403, 404, 408, 413, 429, 431, 500, 503, 504] {
        responses.insert(code.to_string(), json!({ "$ref": format!("#/components/responses/{code}") }));
    }
    let parameters: Vec<Value> = params
        .iter()
        .map(|param| json!({ "name": param["name"], "in": "path", "required": true, "schema": param["schema"] }))
        .collect();
    let mut operation = json!({ "operationId": id, "summary": method["summary"], "responses": responses });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation
}

fn param<'a>(method: &'a Value, name: &str) -> &'a Value {
    let mut params = method["params"].as_array().into_iter().flatten();
    params.find(|param| param["name"] == name).unwrap_or(&Value::Null)
}

fn body(media_type: &str, schema: &Value) -> Value {
    json!({ "required": true, "content": { media_type: { "schema": schema } } })
}

fn in_query(name: &str, is_needed: bool, schema: &Value) -> Value {
    json!({ "name": name, "in": "query", "required": is_needed, "schema": schema })
}
