//! Methods of the small families.

use serde_json::{Value, json};

use super::super::schema::{
    about, any_of, anything, component, integer, list, map, natural, or_null, pattern, record, record_and, text,
};
use super::Row;

pub(super) const METASHREW: [Row; 7] = [
    ("height", "The height that views answer at", "", "Digits"),
    (
        "view",
        "A view: a protobuf message in and out, or for some an object in and JSON out",
        "name:text input?:ViewInput tag?:BlockTag",
        "any",
    ),
    (
        "preview",
        "A view as it would answer after one more block, which is run aside and forgotten",
        "block:bytes name:text input?:bytes tag?:BlockTag",
        "Hex",
    ),
    ("getblockhash", "0x and the hash of a block, in display order", "height?:BlockTag", "Hex"),
    ("stateroot", "Digest of what the contract index wrote in one block", "height?:BlockTag", "Hex"),
    (
        "blockdigest",
        "Digests of one block, of each part of the index and of everything up to the block",
        "height?:BlockTag",
        "BlockDigest",
    ),
    ("snapshot", "Heights, as JSON in a string", "", "text"),
];

pub(super) const SANDSHREW: [Row; 2] = [
    ("multicall", "Many calls in one; each parameter is a method and its params", "call?:MultiCall", "MultiAnswer[]"),
    ("balances", "Unspent outputs of an address, sorted by what they hold", "request:BalancesRequest", "Balances"),
];

/// The same under `lua_` and under `sandshrew_`.
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

pub(super) const ADMIN: [Row; 4] = [
    (
        "createApiKey",
        "A new key of the caller's account; the only time that it is shown",
        "request:CreateKey",
        "object",
    ),
    ("listApiKeys", "The keys of the caller's account", "", "object"),
    ("revokeApiKey", "Ends a key", "request:RevokeKey", "object"),
    ("rerollApiKey", "A new key with the settings of an old one, which ends", "request:RerollKey", "object"),
];

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let id = || any_of(&[json!({ "type": "integer" }), text()]);
    let outputs = || {
        list(record_and(
            &[("outpoint", text()), ("value", natural())],
            &[("height", natural()), ("runes", list(map(anything())))],
        ))
    };
    let digest = || pattern("^0x[0-9a-f]{64}$");
    vec![
        (
            "BlockDigest",
            record(&[
                ("network", text()),
                ("format", about(natural(), "Version of the store's format")),
                ("height", natural()),
                ("hash", component("Hash")),
                ("digest", about(digest(), "Of everything that was written in the block")),
                ("cumulative", about(digest(), "Of everything that was written up to the block")),
                (
                    "modules",
                    about(
                        map(record(&[("version", natural()), ("digest", digest())])),
                        "By the name of the module: version of its tables, digest of what it wrote in the block",
                    ),
                ),
            ]),
        ),
        (
            "ViewInput",
            about(any_of(&[text(), map(anything())]), "A message in hexadecimal digits after 0x, or an object"),
        ),
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
        (
            "CreateKey",
            record_and(&[("name", text())], &[("perMinute", or_null(natural())), ("perDay", or_null(natural()))]),
        ),
        ("RevokeKey", record(&[("id", id())])),
        ("RerollKey", record_and(&[("id", id())], &[("graceSeconds", or_null(natural()))])),
    ]
}
