//! The OpenRPC document of the main JSON-RPC.

use serde_json::{Value, json};

use super::{DISCOVER, PROTOS};
use crate::methods::{Described as _, generators};
use crate::surface::Surfaces;

const INTRODUCTION: &str = "\
POST at `/v4/<key>`, `/v4/jsonrpc` and, for registered browser origins, `/v4/api`; one request, or an array of at most 1,000. \
Parameters stand by position; an object stands for an array with that object alone, and `null` for what is absent. A method \
without parameters takes `[]`, `{}`, `[{}]` or nothing. The `btc_` of a method of the node may be left out. Numbers may be \
written as text where a text is taken. `/v4/<key>/mempool`, whose methods docs/mempool.md has, is a preview and \
`/v4/<key>/orderbook` is beta: their shapes may change.";

/// The document of the main JSON-RPC.
pub(super) fn document(surfaces: &Surfaces) -> Value {
    let mut generators = generators();
    let mut methods: Vec<Value> =
        surfaces.families.iter().flat_map(|family| family.describe_family(&mut generators)).collect();
    methods.push(json!({
        "name": DISCOVER,
        "summary": "This description",
        "paramStructure": "by-position",
        "params": [],
        "result": { "name": "description", "schema": { "type": "object" } },
    }));
    let schemas = generators.take_schemas();
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
        // Links to the descriptions of the other surfaces, and to the message files of the views.
        "x-surfaces": surfaces.described().map(|surface| format!("/v4/openrpc/{}.json", surface.name())).collect::<Vec<_>>(),
        "x-messages": PROTOS.iter().map(|(name, _)| format!("/v4/proto/{name}")).collect::<Vec<_>>(),
        "methods": methods,
        "components": { "schemas": schemas },
    })
}
