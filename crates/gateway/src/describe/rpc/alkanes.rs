use serde_json::{Value, json};

use super::super::schema::{
    about, any_of, anything, component, list, map, natural, or_null, pattern, record, record_and, text,
};
use super::Row;

const VIEW: &str = "The view in hexadecimal digits, as metashrew_view has it";

pub(super) const METHODS: [Row; 26] = [
    ("simulate", "How a call would end; one that fails has status 1", "call:Call tag?:BlockTag", "Simulated"),
    ("meta", "What a contract says of its operations: its own JSON", "id:Target tag?:BlockTag", "any"),
    ("getbytecode", "The module of a contract", "id:Target tag?:BlockTag", "Hex"),
    ("getdeployment", "The output that made a contract", "id:Target tag?:BlockTag", "Deployment"),
    ("alkanesidtooutpoint", "The same as alkanes_getdeployment", "id:Target tag?:BlockTag", "Deployment"),
    ("alkanes_id_to_outpoint", "The same as alkanes_getdeployment", "id:Target tag?:BlockTag", "Deployment"),
    (
        "trace",
        "Events of a message, by its shadow output; the txid in either order",
        "outpoint:OutpointObject tag?:BlockTag",
        "TraceEvent[]",
    ),
    ("traceblock", "Traces of a block", "height:HeightOrObject tag?:BlockTag", "BlockTrace[]"),
    (
        "protorunesbyoutpoint",
        "What an output holds. With a tag the answer is an array of tokens and values; the first may also be the txid, with vout, tag and protocol tag after it",
        "outpoint:OutpointOrTxid tag?:any block_tag?:BlockTag protocol_tag?:text",
        "any",
    ),
    (
        "protorunes_by_outpoint",
        "The same as alkanes_protorunesbyoutpoint",
        "outpoint:OutpointOrTxid tag?:any block_tag?:BlockTag protocol_tag?:text",
        "any",
    ),
    (
        "protorunesbyaddress",
        "What the unspent outputs of an address hold",
        "address:AddressOrObject tag?:BlockTag protocol_tag?:text",
        "Wallet",
    ),
    (
        "protorunesbyheight",
        "Alkanes that outputs held for the first time in a block",
        "height:HeightOrObject tag?:BlockTag",
        "object",
    ),
    (
        "spendablesbyaddress",
        "All unspent outputs of an address; may be called without its family",
        "address:AddressOrObject tag?:BlockTag",
        "Wallet",
    ),
    ("getstorageat", "A value in the storage of a contract", "request:StorageRequest tag?:BlockTag", "Hex"),
    ("getinventory", "What a contract holds", "id:Target tag?:BlockTag", "Inventory"),
    ("sequence", "The number of the next contract 2:n", "tag?:BlockTag", "Digits"),
    ("unwrap", "Payments of the wrapped-bitcoin contract that are not made yet", "tag?:BlockTag", "object"),
    ("getblock", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("multisimluate", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("multisimulate", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("runesbyaddress", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("runesbyheight", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("runesbyoutpoint", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("simulateblock", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("simulateprotostones", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
    ("simulatetransaction", VIEW, "input?:bytes tag?:BlockTag", "Hex"),
];

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let id = || component("AlkaneId");
    let integer =
        || about(any_of(&[natural(), pattern("^([0-9]+|0x[0-9a-fA-F]+)$")]), "A number, its digits, or 0x and digits");
    let hex = || pattern("^(0x)?([0-9a-fA-F]{2})*$");
    let outpoint = record(&[("txid", pattern("^[0-9a-fA-F]{64}$")), ("vout", integer())]);
    let with_tag = |mut schema: Value| {
        schema["properties"]["protocolTag"] = or_null(integer());
        schema
    };
    let address = with_tag(record(&[("address", text())]));
    let height = json!({
        "type": "object",
        "properties": { "height": or_null(integer()), "block": or_null(integer()), "protocolTag": or_null(integer()) },
    });
    let call = record_and(
        &[("target", id())],
        &[
            ("inputs", or_null(list(integer()))),
            ("alkanes", or_null(list(record(&[("id", id()), ("value", integer())])))),
            ("transaction", or_null(hex())),
            ("block", or_null(hex())),
            ("height", or_null(integer())),
            ("vout", or_null(integer())),
        ],
    );
    let execution = record(&[
        ("alkanes", list(component("Transfer"))),
        ("storage", list(record(&[("key", text()), ("value", component("Hex"))]))),
        ("data", component("Hex")),
        ("error", or_null(text())),
    ]);
    let target = any_of(&[id(), record(&[("target", id())]), record(&[("alkaneId", id())]), record(&[("id", id())])]);
    let plain_outpoint = || record(&[("txid", component("Hash")), ("vout", natural())]);
    vec![
        ("Call", call),
        (
            "Simulated",
            record(&[
                ("status", json!({ "enum": [0, 1] })),
                ("gasUsed", natural()),
                ("execution", execution),
                ("trace", list(component("TraceEvent"))),
            ]),
        ),
        ("Target", about(target, "An id, alone or as a member of an object")),
        (
            "Deployment",
            record(&[("outpoint", about(map(anything()), "txid and vout; empty for built-in and unknown contracts"))]),
        ),
        ("OutpointObject", outpoint.clone()),
        ("OutpointOrTxid", any_of(&[with_tag(outpoint), pattern("^[0-9a-fA-F]{64}$")])),
        ("AddressOrObject", any_of(&[text(), address])),
        ("HeightOrObject", any_of(&[component("BlockTag"), height])),
        (
            "StorageRequest",
            record_and(
                &[],
                &[
                    ("id", id()),
                    ("target", id()),
                    ("alkaneId", id()),
                    ("block", integer()),
                    ("tx", integer()),
                    ("path", about(text(), "Text, or bytes in hexadecimal digits after 0x")),
                    ("key", about(text(), "The same as path")),
                ],
            ),
        ),
        ("Inventory", record(&[("alkanes", list(component("Transfer")))])),
        (
            "TraceEvent",
            record(&[
                ("event", json!({ "enum": ["create", "invoke", "return", "omitted"] })),
                ("data", map(anything())),
            ]),
        ),
        (
            "BlockTrace",
            record(&[("outpoint", plain_outpoint()), ("txindex", natural()), ("trace", list(component("TraceEvent")))]),
        ),
        (
            "Wallet",
            record_and(
                &[(
                    "outpoints",
                    list(record_and(
                        &[
                            ("outpoint", plain_outpoint()),
                            ("value", natural()),
                            ("height", natural()),
                            ("balance_sheet", map(anything())),
                        ],
                        &[
                            ("output", map(anything())),
                            ("txindex", natural()),
                            ("block_height", natural()),
                            ("runes", list(map(anything()))),
                        ],
                    )),
                )],
                &[("balances", map(anything()))],
            ),
        ),
    ]
}
