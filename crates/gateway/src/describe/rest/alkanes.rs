//! Routes about alkanes, who holds them, and what outputs hold.

use serde_json::{Value, json};

use super::super::schema::{
    about, anything, boolean, component, list, map, natural, number, one_of, or_null, record, record_and, text,
};
use super::{Field, Route, address, all_or_part, needed, optional, paged, part};
use crate::rest::Verb;

const TAG: &str = "Alkanes";

/// The id of an alkane under every name that clients give it.
fn alkane_id() -> Field {
    needed(&["alkaneId", "id", "tokenId", "alkane"], component("AlkaneId"))
}

/// An id where the route without envelope calls it `alkane`.
fn alkane() -> Field {
    needed(&["alkane", "alkaneId", "id", "tokenId"], component("AlkaneId"))
}

fn holders() -> [Field; 3] {
    part("100 when absent; more than 1,000 is taken as 1,000")
}

pub(super) fn routes() -> Vec<Route> {
    let post = |path, summary| Route::new(path, Verb::Post, TAG, summary);
    let get = |path, summary| Route::new(path, Verb::Get, TAG, summary);
    let count = || record(&[("count", natural())]);
    let query = |names| optional(names, about(text(), "Part of a name or symbol, or an id"));
    let total_wanted = || optional(&["totalTxs"], about(component("Count"), "The same as limit, where that is absent"));
    vec![
        post("get-alkanes", "All alkanes, newest first or as asked")
            .takes(paged())
            .takes([
                optional(&["sortBy", "sort_by"], one_of(&["height", "holders", "volume", "name"])),
                optional(&["order"], about(one_of(&["asc", "desc"]), "desc when absent, names asc")),
                query(&["searchQuery", "search", "query"]),
            ])
            .gives(component("TokenPage")),
        post("get-alkane-details", "One alkane").takes([alkane_id()]).gives(component("Token")).or_missing(),
        post("global-alkanes-search", "Alkanes and pools by id, symbol and name")
            .takes([needed(&["searchQuery", "query"], json!({ "type": "string", "maxLength": 200 }))])
            .takes(paged())
            .gives(record(&[("tokens", list(component("Token"))), ("pools", list(component("PoolDetails")))])),
        post("get-alkanes-by-address", "Alkanes that an address holds, the greatest amount first")
            .takes([address()])
            .takes(all_or_part())
            .gives(list(component("Token"))),
        post("get-alkanes-utxo", "Unspent outputs of an address that hold alkanes")
            .takes([address()])
            .takes(all_or_part())
            .gives(list(component("Utxo"))),
        post("get-address-outpoints", "What the outputs of an address hold; in the envelope and beside it")
            .takes([address()])
            .takes(all_or_part())
            .gives_bare(record(&[
                ("statusCode", json!({ "const": 200 })),
                ("data", record(&[("address", text()), ("outpoints", list(component("OutpointEntries")))])),
                ("ok", json!({ "const": true })),
                ("address", text()),
                ("outpoints", list(component("OutpointEntries"))),
            ])),
        post("get-address-balances", "What an address holds, without envelope")
            .takes([
                address(),
                optional(&["include_outpoints"], component("Flag")),
                optional(&["includeOutpoints"], component("Flag")),
            ])
            .gives_bare(record_and(
                &[("ok", json!({ "const": true })), ("address", text()), ("balances", map(component("Digits")))],
                &[("outpoints", list(component("OutpointEntries")))],
            )),
        post("get-outpoint-balances", "What an output holds, without envelope")
            .takes([needed(&["outpoint"], component("Outpoint"))])
            .gives_bare(record(&[
                ("ok", json!({ "const": true })),
                ("outpoint", component("OutpointText")),
                ("items", list(component("OutpointItem"))),
            ])),
        post("get-alkane-holders", "Addresses that hold an alkane, the greatest amount first, without envelope")
            .takes([alkane()])
            .takes(holders())
            .gives_bare(component("HolderPage")),
        post("get-alkane-holders-count", "How many addresses hold an alkane, without envelope")
            .takes([alkane()])
            .gives_bare(record(&[
                ("ok", json!({ "const": true })),
                ("alkane", component("IdText")),
                ("count", natural()),
            ])),
        post("get-holders", "Addresses that hold an alkane, the greatest amount first")
            .takes([alkane_id()])
            .takes(holders())
            .takes([optional(&["minBalance"], component("Amount"))])
            .gives(record(&[
                (
                    "holders",
                    list(record(&[
                        ("address", text()),
                        ("balance", component("Digits")),
                        ("amount", component("Digits")),
                        ("lastUpdatedBlock", or_null(natural())),
                    ])),
                ),
                ("total", natural()),
                ("count", natural()),
                ("limit", natural()),
                ("offset", natural()),
            ]))
            .or_missing(),
        post("get-holder-count", "How many addresses hold an alkane").takes([alkane_id()]).gives(count()).or_missing(),
        post("get-holders-count", "The same as get-holder-count").takes([alkane_id()]).gives(count()).or_missing(),
        post("get-keys", "Values in the storage of a contract, without envelope")
            .takes([
                alkane(),
                optional(&["prefix"], about(text(), "What keys begin with: text, or hexadecimal digits after 0x")),
                optional(&["limit"], about(component("Count"), "100 when absent; more than 1,000 is taken as 1,000")),
            ])
            .gives_bare(record(&[
                ("ok", json!({ "const": true })),
                ("alkane", component("IdText")),
                (
                    "keys",
                    map(record(&[
                        ("key", text()),
                        ("key_hex", component("Hex")),
                        ("value", component("Hex")),
                        ("value_str", or_null(text())),
                        ("last_txid", or_null(component("Hash"))),
                        ("last_vout", or_null(natural())),
                        ("block_height", or_null(natural())),
                        ("updated_at", or_null(anything())),
                    ])),
                ),
            ])),
        post("get-intent-history", "Messages of the transactions of an address, newest first")
            .takes([address()])
            .takes(paged())
            .takes([total_wanted()])
            .gives(record(&[("intents", list(component("Intent"))), ("total", natural())])),
        get("alkanes", "The newest 50 alkanes").gives(component("TokenPage")),
        get("alkanes/{id}", "One alkane").gives(component("Token")),
        get("alkanes/{id}/holders", "The 100 addresses that hold most of an alkane").gives(component("HolderPage")),
        get("alkanes/{id}/holders/count", "How many addresses hold an alkane").gives(count()),
        get("address/{address}/balances", "What an address holds").gives(record(&[
            ("address", text()),
            (
                "balances",
                list(record(&[
                    ("id", component("IdText")),
                    ("alkaneId", component("Id")),
                    ("amount", component("Digits")),
                    ("name", or_null(text())),
                    ("symbol", or_null(text())),
                ])),
            ),
        ])),
        get("address/{address}/alkanes", "Alkanes that an address holds, the greatest amount first")
            .gives(list(component("Token"))),
        get("outpoint/{outpoint}/balances", "What an output holds")
            .gives(record(&[("outpoint", component("OutpointText")), ("items", list(component("OutpointItem")))])),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let digits = || or_null(component("Digits"));
    let mut members = vec![
        ("id", component("Id")),
        ("alkaneId", component("Id")),
        ("name", or_null(text())),
        ("symbol", or_null(text())),
        ("decimals", natural()),
        ("image", about(or_null(text()), "What the contract tells: text, or a data URI")),
        ("tokenImage", or_null(text())),
        ("max", about(digits(), "Amount of one mint")),
        ("cap", about(digits(), "How many mints there may be")),
        ("minted", about(digits(), "How many mints there were")),
        ("premine", about(digits(), "The supply without all mints, of a contract that counts them")),
        ("totalSupply", digits()),
        ("balance", about(digits(), "Where an address is asked about")),
        ("holders", natural()),
        ("createdAtHeight", natural()),
        ("floorPrice", or_null(number())),
        ("priceUsd", or_null(number())),
        ("busdPoolPriceInUsd", or_null(number())),
        ("priceInSatoshi", or_null(natural())),
        ("frbtcPoolPriceInSats", about(or_null(number()), "The price in satoshis with its fractions")),
    ];
    for name in ["priceChange24h", "priceChange7d"] {
        members.push((name, about(or_null(number()), "Percent")));
    }
    for (dollars, satoshis) in [
        ("marketcap", "marketcapInSats"),
        ("fdv", "fdvInSats"),
        ("tokenPoolsVolume1dInUsd", "tokenPoolsVolume1dInSats"),
        ("tokenPoolsVolume7dInUsd", "tokenPoolsVolume7dInSats"),
        ("tokenPoolsVolume30dInUsd", "tokenPoolsVolume30dInSats"),
        ("tokenPoolsVolumeAllTimeInUsd", "tokenPoolsVolumeAllTimeInSats"),
    ] {
        members.push((dollars, or_null(number())));
        members.push((satoshis, or_null(natural())));
    }
    let token =
        about(record(&members), "A contract; what it is worth is of 10^8 base units, null where no price is known");
    let intent = record(&[
        ("txid", component("Hash")),
        ("blockHeight", natural()),
        ("timestamp", component("Time")),
        ("vout", natural()),
        ("target", or_null(component("Id"))),
        ("opcode", digits()),
        ("inputs", list(component("Digits"))),
        ("status", one_of(&["success", "revert"])),
        ("incoming", list(component("Transfer"))),
        ("outgoing", list(component("Transfer"))),
    ]);
    vec![
        ("Token", token),
        (
            "TokenPage",
            record(&[
                ("tokens", list(component("Token"))),
                ("total", natural()),
                ("count", natural()),
                ("limit", natural()),
                ("offset", natural()),
            ]),
        ),
        ("Transfer", record(&[("id", component("Id")), ("value", component("Digits"))])),
        ("Intent", intent),
        ("Entry", record(&[("alkane", component("IdText")), ("amount", component("Digits"))])),
        ("OutpointEntries", record(&[("outpoint", component("OutpointText")), ("entries", list(component("Entry")))])),
        (
            "OutpointItem",
            record(&[
                ("outpoint", component("OutpointText")),
                ("address", about(text(), "The script in hexadecimal digits where it has no address form")),
                ("entries", list(component("Entry"))),
            ]),
        ),
        (
            "HolderPage",
            record(&[
                ("ok", json!({ "const": true })),
                ("alkane", component("IdText")),
                ("page", natural()),
                ("limit", natural()),
                ("total", natural()),
                ("has_more", boolean()),
                ("items", list(record(&[("address", text()), ("amount", component("Digits"))]))),
            ]),
        ),
    ]
}
