//! Routes about addresses, accounts and the indexed chain.

use serde_json::{Value, json};

use super::super::schema::{
    about, anything, boolean, component, integer, list, map, natural, or_null, pattern, record, record_and, text,
};
use super::{Route, address, needed, optional};
use crate::rest::Verb;

const TAG: &str = "Bitcoin";

pub(super) fn routes() -> Vec<Route> {
    let post = |path, summary| Route::new(path, Verb::Post, TAG, summary);
    let account = || needed(&["account"], component("Account"));
    let limit =
        || optional(&["limit"], about(component("Count"), "All when absent; more than 200,000 is taken as that"));
    vec![
        post("get-address-balance", "What an address has, in satoshis").takes([address()]).gives(record(&[
            ("address", text()),
            ("balance", natural()),
            ("unconfirmedBalance", about(integer(), "What unconfirmed transactions change")),
            ("txCount", natural()),
        ])),
        post("get-taproot-balance", "What a taproot address has, in satoshis")
            .takes([needed(&["address"], component("Address"))])
            .gives(component("Balance")),
        post("get-address-utxos", "Unspent outputs of an address, newest first")
            .takes([address(), limit()])
            .gives(component("UtxoPage")),
        post("get-account-balance", "What all addresses of an account have, in satoshis")
            .takes([account()])
            .gives(component("Balance")),
        post("get-account-utxos", "Unspent outputs of all addresses of an account, newest first")
            .takes([account(), limit()])
            .gives(component("UtxoPage")),
        post("get-taproot-history", "Transactions of a taproot address, unconfirmed first, then the newest")
            .takes([
                needed(&["taprootAddress"], component("Address")),
                optional(&["totalTxs"], about(component("Count"), "25 when absent; more than 500 is taken as 500")),
            ])
            .gives(record(&[(
                "transactions",
                list(record(&[
                    ("txid", component("Hash")),
                    ("blockHeight", or_null(natural())),
                    ("timestamp", or_null(component("Time"))),
                    ("fee", or_null(natural())),
                    ("value", about(integer(), "What the transaction changed, in satoshis")),
                    ("confirmed", boolean()),
                ])),
            )])),
    ]
}

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let status = record_and(
        &[("confirmed", boolean())],
        &[("block_height", natural()), ("block_hash", component("Hash")), ("block_time", natural())],
    );
    let held = record(&[("balance", component("Digits")), ("name", or_null(text())), ("symbol", or_null(text()))]);
    let utxo = record(&[
        ("txid", component("Hash")),
        ("vout", natural()),
        ("value", natural()),
        ("status", component("TransactionStatus")),
        ("txId", component("Hash")),
        ("outputIndex", natural()),
        ("satoshis", natural()),
        ("scriptPk", about(pattern("^([0-9a-f]{2})*$"), "The script in hexadecimal digits")),
        ("address", about(or_null(text()), "null for a script that has no address form")),
        ("indexed", json!({ "const": true })),
        ("inscriptions", list(anything())),
        ("runes", map(anything())),
        ("alkanes", about(map(held), "What the output holds, block:tx to the amount")),
        ("confirmations", natural()),
    ]);
    vec![
        ("TransactionStatus", status),
        ("Utxo", utxo),
        ("UtxoPage", record(&[("utxos", list(component("Utxo"))), ("total", natural())])),
        ("Balance", record(&[("balance", natural()), ("unconfirmedBalance", integer())])),
    ]
}
