//! The OpenRPC document of the main JSON-RPC.

use serde_json::{Map, Value, json};

use super::rpc::{self, Method};
use super::{DECLARED, DISCOVER, PROTOS, rest};
use crate::methods::generators;
use crate::surfaces::MainRpc;

const INTRODUCTION: &str = "\
POST at `/v4/<key>`, `/v4/jsonrpc` and, for registered browser origins, `/v4/api`; one request, or an array of at most 1,000. \
Parameters stand by position; an object stands for an array with that object alone, and `null` for what is absent. A method \
without parameters takes `[]`, `{}`, `[{}]` or nothing. The `btc_` of a method of the node may be left out. Numbers may be \
written as text where a text is taken. `/v4/<key>/mempool`, whose methods docs/mempool.md has, is a preview and \
`/v4/<key>/orderbook` is beta: their shapes may change.";

/// The document of the main JSON-RPC.
pub(super) fn document(main: &MainRpc) -> Value {
    let described = rpc::methods();
    let mut generators = generators();
    let mut methods = Vec::new();
    for family in main.families() {
        match family.declared() {
            Some(declared) => methods.extend(declared.describe_family(&mut generators)),
            None => methods.extend(described.iter().filter(|one| one.family() == family.name()).map(described_method)),
        }
    }
    methods.push(json!({
        "name": DISCOVER,
        "summary": "This description",
        "paramStructure": "by-position",
        "params": [],
        "result": { "name": "description", "schema": { "type": "object" } },
    }));
    let methods = Value::Array(methods);
    let mut all: Map<String, Value> = rpc::schemas().into_iter().chain(rest::schemas()).collect();
    all.extend(generators.take_schemas());
    let schemas = reached(&methods, all);
    json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "Paraffin JSON-RPC",
            "version": env!("CARGO_PKG_VERSION"),
            "description": INTRODUCTION,
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "servers": [
            { "name": "header key or nobody", "url": "/v4/jsonrpc" },
            { "name": "key or alias in the path", "url": "/v4/${key}", "variables": { "key": { "default": "KEY" } } },
        ],
        // Where the other surfaces are described, and the message files of the views.
        "x-surfaces": DECLARED.iter().map(|surface| format!("/v4/openrpc/{}.json", surface.name())).collect::<Vec<_>>(),
        "x-messages": PROTOS.iter().map(|(name, _)| format!("/v4/proto/{name}")).collect::<Vec<_>>(),
        "methods": methods,
        "components": { "schemas": schemas },
    })
}

/// Those schemas that the methods refer to, and those that these refer to.
fn reached(methods: &Value, mut others: Map<String, Value>) -> Map<String, Value> {
    let mut reached = Map::new();
    let mut texts = vec![methods.to_string()];
    while let Some(text) = texts.pop() {
        let (named, rest): (Map<String, Value>, _) =
            others.into_iter().partition(|(name, _)| text.contains(&format!("\"#/components/schemas/{name}\"")));
        others = rest;
        texts.extend(named.values().map(Value::to_string));
        reached.extend(named);
    }
    reached
}

fn described_method(method: &Method) -> Value {
    let params: Vec<Value> = method
        .params
        .iter()
        .map(|param| json!({ "name": param.name, "required": param.is_needed, "schema": param.schema }))
        .collect();
    json!({
        "name": method.name,
        "summary": method.summary,
        "tags": [{ "name": method.family() }],
        "paramStructure": "by-position",
        "params": params,
        "result": { "name": "result", "schema": method.result },
    })
}
