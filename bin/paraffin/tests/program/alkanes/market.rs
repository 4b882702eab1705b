//! What the market's transactions did, read back through traces, outputs and balances.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::dev::Dev;

/// The first block with a transaction of the market.
const FIRST: u64 = 102;

fn reversed(txid: &str) -> String {
    let bytes: Vec<&str> = (0..txid.len() / 2).rev().map(|place| &txid[2 * place..2 * place + 2]).collect();
    bytes.concat()
}

/// row MR12
#[test]
fn every_message_of_the_market_has_its_trace_under_either_order_of_its_txid() {
    let dev = Dev::start();
    let (mut succeeded, mut reverted, mut targets) = (0, 0, BTreeMap::<String, u32>::new());
    for height in FIRST..=dev.height() {
        let block = dev.call("alkanes_traceblock", json!([height]));
        for entry in block.as_array().unwrap() {
            let (txid, vout) = (entry["outpoint"]["txid"].as_str().unwrap(), &entry["outpoint"]["vout"]);
            for txid in [txid.to_owned(), reversed(txid)] {
                assert_eq!(dev.call("alkanes_trace", json!([{"txid": txid, "vout": vout}])), entry["trace"]);
            }
            // A trace is not there before its block.
            assert_eq!(dev.call("alkanes_trace", json!([{"txid": txid, "vout": vout}, height - 1])), json!([]));
            let events = entry["trace"].as_array().unwrap();
            assert_eq!(events.last().unwrap()["event"], "return", "{entry}");
            let first = events.iter().find(|event| event["event"] == "invoke").unwrap();
            let myself = &first["data"]["context"]["myself"];
            *targets
                .entry(format!("{}:{}", myself["block"].as_str().unwrap(), myself["tx"].as_str().unwrap()))
                .or_default() += 1;
            match events.last().unwrap()["data"]["status"].as_str().unwrap() {
                "success" => succeeded += 1,
                _ => reverted += 1,
            }
            let transaction = dev.call("esplora_tx", json!([txid]));
            assert_eq!(transaction["status"]["block_height"], height);
        }
    }
    assert!(succeeded > 50 && reverted > 0, "{succeeded} {reverted}");
    for id in ["/alkanes/diesel", "/alkanes/frbtc", "/alkanes/factory"] {
        assert!(targets[dev.text(id)] > 3, "{targets:?}");
    }
}

/// Coins with alkanes and coins without are listed apart, and nothing is in two lists.
#[test]
fn sandshrew_balances_part_the_outputs_of_an_address() {
    let dev = Dev::start();
    for account in 0..5 {
        let address = dev.text(&format!("/accounts/{account}/address")).to_owned();
        let parted = dev.call("sandshrew_balances", json!([{"address": address}]));
        let outpoints = |list: &str| -> Vec<String> {
            parted[list]
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| entry["outpoint"].as_str().unwrap().to_owned())
                .collect()
        };
        let (spendable, assets) = (outpoints("spendable"), outpoints("assets"));
        let held = dev.call("alkanes_protorunesbyaddress", json!([address]));
        let held: Vec<String> = held["outpoints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| format!("{}:{}", row["outpoint"]["txid"].as_str().unwrap(), row["outpoint"]["vout"]))
            .collect();
        assert!(held.iter().all(|outpoint| assets.contains(outpoint) && !spendable.contains(outpoint)), "{address}");
        assert_eq!(held.len(), assets.len());
        let of_list = |list: &str| -> u64 {
            parted[list].as_array().unwrap().iter().map(|entry: &Value| entry["value"].as_u64().unwrap()).sum()
        };
        // Coins that an unconfirmed transaction spends are in neither.
        let answer = dev.post("get-address-utxos", json!({"address": address}));
        let confirmed =
            answer["utxos"].as_array().unwrap().iter().filter(|utxo| utxo["confirmations"].as_u64().unwrap() > 0);
        let confirmed: u64 = confirmed.map(|utxo| utxo["satoshis"].as_u64().unwrap()).sum();
        assert_eq!(confirmed, of_list("spendable") + of_list("assets"), "{address}");
        assert_eq!(parted["metashrewHeight"], dev.height());
    }
}
