//! Writes the typed part of the clients from the `OpenRPC` and `OpenAPI` documents of the API: Rust for `paraffin-client`, TypeScript
//! for browsers. `model` reads a document once; `rust` and `typescript` write what it holds.
#![forbid(unsafe_code)]

mod model;
mod names;
mod rust;
mod schema;
mod typescript;

use std::collections::BTreeMap;

use serde_json::Value;

/// What the documents of an API give: the text of each file by its path in the repository. Names are the modules of the clients.
pub fn files(documents: &[(&str, Value)]) -> BTreeMap<String, String> {
    let mut models: Vec<model::Module> = documents.iter().map(|(name, document)| model::read(name, document)).collect();
    models.sort_by(|one, other| one.name.cmp(&other.name));
    let mut files = BTreeMap::new();
    for module in &models {
        files.insert(format!("crates/client/src/generated/{}.rs", module.name), rust::module(module));
        files.insert(format!("clients/typescript/src/{}.ts", module.name), typescript::module(module));
    }
    files.insert("crates/client/src/generated/mod.rs".to_owned(), rust::index(&models));
    files.insert("bin/paraffin/tests/program/clients/answers.rs".to_owned(), rust::answers(&models));
    files.insert("clients/typescript/src/index.ts".to_owned(), typescript::index(&models));
    files
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(documents: &[(&str, Value)]) -> (String, String) {
        let files = files(documents);
        let module = documents[0].0;
        let text = |path: String| files[&path].clone();
        (text(format!("crates/client/src/generated/{module}.rs")), text(format!("clients/typescript/src/{module}.ts")))
    }

    #[test]
    fn a_method_becomes_a_struct_with_its_answer_in_both_languages() {
        let document = json!({
            "info": { "title": "A" },
            "x-surface": "a",
            "methods": [{
                "name": "a_get", "summary": "Gets.", "paramStructure": "by-position", "x-aliases": ["get"],
                "params": [
                    { "name": "type", "required": true, "schema": { "type": "string" } },
                    { "name": "more", "required": false, "x-variadic": true, "schema": { "type": "integer", "minimum": 0 } },
                ],
                "result": { "schema": { "$ref": "#/components/schemas/Balance" } },
            }, { "name": "get", "params": [], "result": { "schema": {} } }],
            "components": { "schemas": {
                "Digits": { "type": "string", "pattern": "^[0-9]{1,39}$" },
                "Balance": {
                    "type": "object", "required": ["amount"],
                    "properties": {
                        "amount": { "$ref": "#/components/schemas/Digits" },
                        "priceInUsd": { "type": ["number", "null"], "format": "double" },
                    },
                },
            } },
        });
        let (rust, typescript) = written(&[("a", document)]);
        for line in [
            "pub struct AGet {",
            "    pub r#type: String,",
            "    pub more: Vec<u64>,",
            "    const FORM: Form = Form::Variadic;",
            "    const PARAMETERS: &'static [&'static str] = &[\"type\", \"more\"];",
            "    type Answer = Balance;",
            "    pub amount: Amount,",
            "    #[serde(rename = \"priceInUsd\", default, skip_serializing_if = \"Option::is_none\")]",
            "    pub price_in_usd: Option<serde_json::Number>,",
        ] {
            assert!(rust.contains(line), "{line} is not in\n{rust}");
        }
        assert!(!rust.contains("pub struct Get {"), "another name of a method is no method");
        for line in [
            "  \"a_get\": { params: [type_: string, ...more: Array<number>]; answer: Balance };",
            "  \"get\": Methods[\"a_get\"];",
            "  \"amount\": string;",
            "  \"priceInUsd\"?: number | null;",
        ] {
            assert!(typescript.contains(line), "{line} is not in\n{typescript}");
        }
    }

    #[test]
    fn a_route_loses_its_envelope_and_the_other_names_of_its_members() {
        let id = json!({ "type": "string" });
        let document = json!({
            "servers": [{ "url": "/v4/api" }],
            "paths": { "/get-a/{id}": { "post": {
                "operationId": "get-a-id", "summary": "Gets.",
                "parameters": [{ "name": "id", "in": "path", "required": true, "schema": id }],
                "requestBody": { "content": { "application/json": { "schema": {
                    "type": "object",
                    "properties": { "limit": { "type": "integer" }, "count": { "type": "integer", "x-same-as": "limit" } },
                } } } },
                "responses": { "200": { "content": { "application/json": { "schema": { "properties": {
                    "statusCode": { "const": 200 },
                    "data": { "anyOf": [{ "type": "boolean" }, { "type": "array", "items": { "enum": ["x", "y"] } }] },
                } } } } } },
            } } },
        });
        let (rust, typescript) = written(&[("rest", document)]);
        for line in [
            "    const PATH: &'static str = \"get-a/{id}\";",
            "    const WRAPPING: Wrapping = Wrapping::Data;",
            "    pub limit: Option<i64>,",
            "    List(Vec<GetAIdAnswerCase2Item>),",
            "    Other(String),",
        ] {
            assert!(rust.contains(line), "{line} is not in\n{rust}");
        }
        assert!(!rust.contains("count"));
        assert!(
            typescript.contains("\"POST /get-a/{id}\": { params: { \"id\": string; \"limit\"?: number | null };"),
            "{typescript}"
        );
    }
}
