//! Methods of the small families.

use serde_json::{Value, json};

use super::super::schema::{
    about, any_of, anything, integer, list, map, natural, or_null, pattern, record, record_and, text,
};
use super::Row;

pub(super) const SANDSHREW: [Row; 2] = [
    ("multicall", "Many calls in one; each parameter is a method and its params", "call?:MultiCall", "MultiAnswer[]"),
    ("balances", "Unspent outputs of an address, sorted by what they hold", "request:BalancesRequest", "Balances"),
];

/// Those of the family `lua`, under `sandshrew_`.
pub(super) const SCRIPTS: [Row; 3] = [
    (
        "evalscript",
        "Runs a Lua script; what follows its source stands in `args`, any number of parameters",
        "script:text argument?:any",
        "ScriptResult",
    ),
    ("savescript", "Keeps a Lua script by the SHA-256 of its source", "script:text", "SavedScript"),
    ("evalsaved", "Runs a script that was kept", "hash:text argument?:any", "ScriptResult"),
];

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let id = || any_of(&[json!({ "type": "integer" }), text()]);
    let outputs = || {
        list(record_and(
            &[("outpoint", text()), ("value", natural())],
            &[("height", natural()), ("runes", list(map(anything())))],
        ))
    };
    vec![
        (
            "MultiCall",
            about(
                json!({ "type": "array", "minItems": 1, "maxItems": 2 }),
                "A method and its params; any number of them follow each other",
            ),
        ),
        ("MultiAnswer", any_of(&[record(&[("result", anything())]), record(&[("error", map(anything()))])])),
        (
            "BalancesRequest",
            record_and(&[("address", text())], &[("protocolTag", or_null(id())), ("assetAddress", or_null(text()))]),
        ),
        (
            "Balances",
            record(&[
                ("spendable", outputs()),
                ("assets", outputs()),
                ("pending", outputs()),
                ("ordHeight", natural()),
                ("metashrewHeight", natural()),
            ]),
        ),
        ("SavedScript", record(&[("hash", pattern("^[0-9a-f]{64}$"))])),
        (
            "ScriptResult",
            record(&[
                ("calls", about(natural(), "Calls of _RPC that the script made")),
                ("returns", about(anything(), "The first value that the script returned")),
                (
                    "error",
                    or_null(record_and(&[("code", integer()), ("message", text())], &[("data", map(anything()))])),
                ),
                ("runtime", about(natural(), "Milliseconds")),
            ]),
        ),
    ]
}
