//! Writes the typed part of the clients from the `OpenRPC` and `OpenAPI` documents of the API: Rust for `paraffin-client`, TypeScript
//! for browsers. [`model`] reads a document once; [`rust`] and [`typescript`] write what it holds.
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
