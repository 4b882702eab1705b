//! Methods of the small families.

use serde_json::{Value, json};

use super::super::schema::{about, any_of, anything, list, map, natural, or_null, record, record_and, text};
use super::Row;

pub(super) const METASHREW: [Row; 6] = [
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
    ("snapshot", "Heights, as JSON in a string", "", "text"),
];

pub(super) const SANDSHREW: [Row; 2] = [
    ("multicall", "Many calls in one; each parameter is a method and its params", "call?:MultiCall", "MultiAnswer[]"),
    ("balances", "Unspent outputs of an address, sorted by what they hold", "request:BalancesRequest", "Balances"),
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
    vec![
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
        (
            "CreateKey",
            record_and(&[("name", text())], &[("perMinute", or_null(natural())), ("perDay", or_null(natural()))]),
        ),
        ("RevokeKey", record(&[("id", id())])),
        ("RerollKey", record_and(&[("id", id())], &[("graceSeconds", or_null(natural()))])),
    ]
}
