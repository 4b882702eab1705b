// Calls read better with `json!` values given away.
#![allow(clippy::needless_pass_by_value)]

use super::super::canned::{Canned, NEWEST, run, utxo};
use super::*;

const TXID: &str = "1111111111111111111111111111111111111111111111111111111111111111";

fn listed(record: Value) -> Canned {
    Canned::default()
        .with("metashrew_height", json!(NEWEST.to_string()))
        .with("get-address-utxos", json!({ "utxos": [record], "total": 1 }))
}

fn read(endpoint: &Canned) -> Result<Vec<Coin>, CallError> {
    run(coins(endpoint, "bcrt1", &ScriptBuf::new()))
}

fn sheet(balances: Value) -> Value {
    json!({ "balance_sheet": { "cached": { "balances": balances } }, "outpoint": {}, "output": { "value": 5000 } })
}

#[test]
fn an_instance_that_does_not_tell_leaves_a_coin_unknown() {
    let coins = read(&listed(utxo(TXID, 1, 5_000, 3))).unwrap();
    assert_eq!((coins[0].alkanes.clone(), coins[0].ordinals.clone()), (None, Ordinals::Unknown));
    assert_eq!((coins[0].sats(), coins[0].confirmations), (5_000, 3));
}

#[test]
fn coins_are_read_exactly_as_the_instance_reports_them() {
    // Amounts beyond 64 bits, as text and as a number.
    let balances = json!([
        {"block": 2, "tx": "0", "amount": "340282366920938463463374607431768211455"},
        {"block": "0x4", "tx": 7, "amount": serde_json::from_str::<Value>("36893488147419103232").unwrap()},
    ]);
    let endpoint = listed(utxo(TXID, 1, 5_000, 3))
        .with("alkanes_protorunesbyoutpoint", sheet(balances))
        .with("ord_output", json!({ "indexed": true, "inscriptions": [], "runes": {} }));
    let coins = read(&endpoint).unwrap();
    let alkanes = coins[0].alkanes.as_ref().unwrap();
    assert_eq!(alkanes.amount(AlkaneId { block: 2, tx: 0 }), u128::MAX);
    assert_eq!(alkanes.amount(AlkaneId { block: 4, tx: 7 }), 1 << 65);
    assert_eq!(coins[0].ordinals, Ordinals::None);
    // The plain object, with the id as people write it.
    let asked = endpoint.asked.borrow();
    assert!(asked.contains(&("alkanes_protorunesbyoutpoint".to_owned(), json!([{ "txid": TXID, "vout": 1 }]))));
}

#[test]
fn an_index_that_is_behind_or_has_not_seen_an_output_says_nothing_about_it() {
    let empty = || sheet(json!([]));
    let coin = || utxo(TXID, 1, 5_000, 3);
    let known = |endpoint: Canned| read(&endpoint).unwrap()[0].alkanes.is_some();
    assert!(known(listed(coin()).with("alkanes_protorunesbyoutpoint", empty())));
    // Three confirmations at height 1000: the coin is of block 998.
    let at = |height: u64| listed(coin()).with("metashrew_height", json!(height));
    assert!(known(at(998).with("alkanes_protorunesbyoutpoint", empty())));
    assert!(!known(at(997).with("alkanes_protorunesbyoutpoint", empty())));
    // The answer for an unknown output.
    let unseen = json!({ "balance_sheet": { "cached": { "balances": [] } }, "output": { "value": 0 } });
    assert!(!known(listed(coin()).with("alkanes_protorunesbyoutpoint", unseen)));
    let off = Refusal { code: Some(-32603), word: Some("ALKANES_NOT_INDEXED".to_owned()), message: String::new() };
    assert!(!known(listed(coin()).with_fn("alkanes_protorunesbyoutpoint", move |_| Err(off.clone()))));
    let broken = Refusal { code: Some(-32603), word: None, message: "broken".to_owned() };
    let endpoint = listed(coin()).with_fn("alkanes_protorunesbyoutpoint", move |_| Err(broken.clone()));
    assert!(read(&endpoint).is_err(), "an error is no silence");
}

#[test]
fn inscriptions_and_runes_are_read_from_every_answer() {
    let mut record = utxo(TXID, 1, 5_000, 3);
    record["runes"] = json!({ "UNCOMMON•GOODS": { "amount": "1" } });
    assert_eq!(read(&listed(record)).unwrap()[0].ordinals, Ordinals::Held(vec!["rune UNCOMMON•GOODS".to_owned()]));
    let output = json!({ "indexed": true, "inscriptions": ["ai0"], "runes": {} });
    let endpoint = listed(utxo(TXID, 1, 5_000, 3)).with("ord_output", output);
    assert_eq!(read(&endpoint).unwrap()[0].ordinals, Ordinals::Held(vec!["inscription ai0".to_owned()]));
    let behind = listed(utxo(TXID, 1, 5_000, 3)).with("ord_output", json!({ "indexed": false, "inscriptions": [] }));
    assert_eq!(read(&behind).unwrap()[0].ordinals, Ordinals::Unknown);
}

#[test]
fn malformed_lists_of_coins_are_errors() {
    for record in [
        json!({}),
        json!(5),
        json!({ "txid": "zz", "vout": 0, "value": 1, "confirmations": 1 }),
        json!({ "txid": TXID, "vout": 4_294_967_296_u64, "value": 1, "confirmations": 1 }),
        json!({ "txid": TXID, "vout": 0, "value": -1, "confirmations": 1 }),
        json!({ "txid": TXID, "vout": 0, "value": 2_100_000_000_000_001_u64, "confirmations": 1 }),
        json!({ "txid": TXID, "vout": 0, "value": 1 }),
        json!({ "txid": TXID, "vout": 0, "value": 1, "confirmations": 1, "alkanes": { "x": { "balance": "1" } } }),
        json!({ "txid": TXID, "vout": 0, "value": 1, "confirmations": 1, "alkanes": { "2:0": { "balance": "-1" } } }),
    ] {
        let error = read(&listed(record.clone())).unwrap_err().to_string();
        assert!(error.contains("get-address-utxos"), "{record}: {error}");
    }
    assert!(read(&Canned::default().with("get-address-utxos", json!({}))).is_err());
    assert!(read(&Canned::default()).is_err());
}

#[test]
fn malformed_balances_and_contradictions_are_errors() {
    for balances in [json!([{}]), json!([{"block": 2, "tx": 0, "amount": 1.5}]), json!([{"block": "2", "tx": "0"}])] {
        let endpoint = listed(utxo(TXID, 1, 5_000, 3)).with("alkanes_protorunesbyoutpoint", sheet(balances));
        assert!(read(&endpoint).is_err());
    }
    let twice = json!([
        {"block": 2, "tx": 0, "amount": "340282366920938463463374607431768211455"}, {"block": 2, "tx": 0, "amount": "1"},
    ]);
    assert!(read(&listed(utxo(TXID, 1, 5_000, 3)).with("alkanes_protorunesbyoutpoint", sheet(twice))).is_err());
    assert!(read(&listed(utxo(TXID, 1, 5_000, 3)).with("alkanes_protorunesbyoutpoint", json!(null))).is_err());
    let mut record = utxo(TXID, 1, 5_000, 3);
    record["alkanes"] = json!({ "2:0": { "balance": "7", "name": "", "symbol": "" } });
    let error = read(&listed(record).with("alkanes_protorunesbyoutpoint", sheet(json!([])))).unwrap_err();
    assert!(error.to_string().contains("try again"), "{error}");
}

#[test]
fn a_transaction_with_another_id_is_refused() {
    let txid: Txid = TXID.parse().unwrap();
    for answer in [json!("00"), json!(null), json!("02000000000000000000")] {
        let endpoint = Canned::default().with("esplora_tx::hex", answer);
        assert!(run(transactions(&endpoint, &BTreeSet::from([txid]))).is_err());
    }
}

#[test]
fn estimates_of_the_feerate_are_read_exactly_and_rounded_up() {
    for (estimate, sats) in [("1.0", 1000), ("12", 12_000), ("1.0001", 1001), ("0.1", 100), ("2.5000", 2500)] {
        let answer: Value = serde_json::from_str(&format!("{{\"1\":99,\"3\":{estimate}}}")).unwrap();
        let rate = run(fee_rate(&Canned::default().with("esplora_fee-estimates", answer))).unwrap();
        assert_eq!(rate.sats_per_kvb(), sats, "{estimate}");
    }
    for answer in [json!({}), json!({"3": "1"}), json!({"3": -1}), json!({"3": 0}), json!([]), json!({"3": 1e300})] {
        let endpoint = Canned::default().with("esplora_fee-estimates", answer.clone());
        assert!(run(fee_rate(&endpoint)).unwrap_err().to_string().contains("--fee-rate"), "{answer}");
    }
}

#[test]
fn the_network_is_the_nodes() {
    for (chain, network) in [("main", Network::Mainnet), ("signet", Network::Signet), ("regtest", Network::Regtest)] {
        let endpoint = Canned::default().with("btc_getblockchaininfo", json!({ "chain": chain }));
        assert_eq!(run(super::network(&endpoint)).unwrap(), network);
    }
    assert!(
        run(super::network(&Canned::default().with("btc_getblockchaininfo", json!({ "chain": "test4" })))).is_err()
    );
}

#[test]
fn a_trace_is_asked_for_with_the_bytes_of_the_id_as_they_stand_in_a_transaction() {
    let txid: Txid = format!("{}ff", "0".repeat(62)).parse().unwrap();
    let endpoint = Canned::default().with("alkanes_trace", json!([]));
    assert_eq!(run(trace(&endpoint, txid, 4)).unwrap(), None);
    let asked = json!([{ "txid": format!("ff{}", "0".repeat(62)), "vout": 4 }]);
    assert_eq!(endpoint.asked.borrow()[0].1, asked);
}

#[test]
fn numbers_are_read_in_every_form_that_instances_use() {
    assert_eq!(unsigned(&json!("0x10")), Some(16));
    assert_eq!(unsigned(&json!("10")), Some(10));
    assert_eq!(unsigned(&json!(10)), Some(10));
    for value in [json!("ff"), json!("0x"), json!("+1"), json!("0x+1"), json!(-1), json!(1.5), json!(null), json!("")] {
        assert_eq!(unsigned(&value), None, "{value}");
    }
}
