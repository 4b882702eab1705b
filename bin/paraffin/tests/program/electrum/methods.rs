//! Every method against `paraffin dev`.

use std::time::Duration;

use bitcoin::ScriptBuf;
use serde_json::{Value, json};

use super::{Wire, script_hash, status};
use crate::support::dev::Dev;
use crate::support::wait_for;

fn connect(dev: &Dev) -> Wire {
    Wire::connect(dev.text("/electrum_url").strip_prefix("tcp://").unwrap())
}

fn script(dev: &Dev, account: usize) -> ScriptBuf {
    ScriptBuf::from_hex(dev.text(&format!("/accounts/{account}/script"))).unwrap()
}

/// A wallet subscribes, and learns of a block and of what it holds for its scripts; its history has the status that it was notified of.
#[test]
fn a_subscriber_learns_of_blocks_and_of_its_scripts() {
    let dev = Dev::start_with(&["--blocks", "120"]);
    let mut wire = connect(&dev);
    let version = wire.call("server.version", json!(["test", ["1.4", "1.6"]]));
    assert_eq!(version[1], "1.6");
    assert!(version[0].as_str().unwrap().starts_with("Paraffin "), "{version}");
    let tip = wire.call("blockchain.headers.subscribe", json!([]));
    assert_eq!(tip["height"], dev.height());
    let hash = script_hash(&script(&dev, 4));
    let first = wire.call("blockchain.scripthash.subscribe", json!([hash]));
    let history = wire.call("blockchain.scripthash.get_history", json!([hash]));
    assert_eq!(first, status(&history));
    dev.mine(1);
    let header = wire.notification("a header", |line| line["method"] == "blockchain.headers.subscribe");
    assert_eq!(header["params"][0]["height"], dev.height() + 1);
    let changed = wire.notification("a status", |line| line["method"] == "blockchain.scripthash.subscribe");
    assert_eq!(changed["params"][0], json!(hash));
    let history = wire.call("blockchain.scripthash.get_history", json!([hash]));
    assert_eq!(changed["params"][1], status(&history));
    assert_ne!(changed["params"][1], first);
    assert_eq!(history.as_array().unwrap().last().unwrap()["height"], dev.height() + 1);
    assert_eq!(wire.call("blockchain.scripthash.unsubscribe", json!([hash])), true);
    assert_eq!(wire.call("blockchain.scripthash.unsubscribe", json!([hash])), false);
    let unknown = "00".repeat(32);
    assert_eq!(wire.call("blockchain.scripthash.subscribe", json!([unknown])), Value::Null);
}

/// Balances, histories and unspent outputs are those of Esplora; headers, proofs and transactions those of the chain.
#[test]
fn every_method_answers_what_the_chain_and_esplora_say() {
    let dev = Dev::start_with(&["--blocks", "120"]);
    let mut wire = connect(&dev);
    assert_eq!(wire.call("server.version", json!(["test", "1.4"]))[1], "1.4");
    assert_eq!(wire.refused("server.version", json!(["test", "1.4"])).0, 1);
    // The live set takes a moment to take in what development leaves unconfirmed.
    wait_for("both to have the same unconfirmed transactions", Duration::from_secs(20), || {
        (0..5).all(|account| has_equal_sums(&dev, &mut wire, account)).then_some(())
    });
    for account in 0..5 {
        let hash = script_hash(&script(&dev, account));
        let history = wire.call("blockchain.scripthash.get_history", json!([hash]));
        let rows = history.as_array().unwrap();
        let mempool = wire.call("blockchain.scripthash.get_mempool", json!([hash]));
        let mempool = mempool.as_array().unwrap();
        let (confirmed, unconfirmed) = rows.split_at(rows.len() - mempool.len());
        assert_eq!(mempool, unconfirmed);
        assert!(confirmed.is_sorted_by_key(|row| row["height"].as_i64()), "{history}");
        assert!(confirmed.iter().all(|row| row["height"].as_i64().unwrap() > 0), "{history}");
        proofs(&dev, &mut wire, &confirmed[confirmed.len() / 2]);
    }
    headers(&dev, &mut wire);
    server(&dev, &mut wire);
}

/// Whether balance, number of transactions and unspent outputs are those of Esplora.
fn has_equal_sums(dev: &Dev, wire: &mut Wire, account: usize) -> bool {
    let hash = script_hash(&script(dev, account));
    let stats = dev.call("esplora_address", json!([dev.text(&format!("/accounts/{account}/address"))]));
    let number = |part: &str, name: &str| stats[part][name].as_i64().unwrap();
    let sum = |part: &str| number(part, "funded_txo_sum") - number(part, "spent_txo_sum");
    let balance = wire.call("blockchain.scripthash.get_balance", json!([hash]));
    let history = wire.call("blockchain.scripthash.get_history", json!([hash]));
    let unspent = wire.call("blockchain.scripthash.listunspent", json!([hash]));
    let count = number("chain_stats", "tx_count") + number("mempool_stats", "tx_count");
    let value: i64 = unspent.as_array().unwrap().iter().map(|row| row["value"].as_i64().unwrap()).sum();
    balance == json!({"confirmed": sum("chain_stats"), "unconfirmed": sum("mempool_stats")})
        && i64::try_from(history.as_array().unwrap().len()).unwrap() == count
        && value == sum("chain_stats") + sum("mempool_stats")
}

fn proofs(dev: &Dev, wire: &mut Wire, row: &Value) {
    let (txid, height) = (&row["tx_hash"], &row["height"]);
    let hex = dev.node("getrawtransaction", json!([txid, false]));
    assert_eq!(wire.call("blockchain.transaction.get", json!([txid])), hex);
    let record = wire.call("blockchain.transaction.get", json!([txid, true]));
    assert_eq!((&record["txid"], &record["hex"]), (txid, &hex));
    let expected = dev.call("esplora_tx::merkle-proof", json!([txid]));
    let proof = wire.call("blockchain.transaction.get_merkle", json!([txid, height]));
    assert_eq!(proof, expected);
    let position = &proof["pos"];
    assert_eq!(wire.call("blockchain.transaction.id_from_pos", json!([height, position])), *txid);
    let with_proof = wire.call("blockchain.transaction.id_from_pos", json!([height, position, true]));
    assert_eq!(with_proof, json!({"tx_hash": txid, "merkle": proof["merkle"]}));
    assert_eq!(wire.refused("blockchain.transaction.get_merkle", json!([txid, 0])).0, 1);
    assert_eq!(wire.refused("blockchain.transaction.id_from_pos", json!([height, 100_000])).0, 1);
    assert_eq!(wire.refused("blockchain.transaction.get", json!(["11".repeat(32)])).0, 1);
}

fn headers(dev: &Dev, wire: &mut Wire) {
    let header = |height: u64| {
        let hash = dev.node("getblockhash", json!([height]));
        dev.node("getblockheader", json!([hash, false])).as_str().unwrap().to_owned()
    };
    assert_eq!(wire.call("blockchain.block.header", json!([5])), json!(header(5)));
    let chunk = wire.call("blockchain.block.headers", json!([3, 2]));
    assert_eq!(chunk, json!({"count": 2, "hex": format!("{}{}", header(3), header(4)), "max": 2016}));
    let tip = wire.call("blockchain.headers.subscribe", json!([]))["height"].as_u64().unwrap();
    let beyond = wire.call("blockchain.block.headers", json!([tip, 50]));
    assert_eq!((&beyond["count"], &beyond["hex"]), (&json!(1), &json!(header(tip))));
    assert_eq!(wire.call("blockchain.block.headers", json!([tip + 10, 50]))["count"], 0);
    let proven = wire.call("blockchain.block.header", json!([5, 100]));
    assert_eq!(proven["header"], json!(header(5)));
    let chunk = wire.call("blockchain.block.headers", json!([4, 2, 100]));
    assert_eq!((&chunk["root"], &chunk["branch"]), (&proven["root"], &proven["branch"]));
    for wrong in [json!([5, 4]), json!([5, tip + 1]), json!([tip + 1])] {
        assert_eq!(wire.refused("blockchain.block.header", wrong).0, 1);
    }
    // In 1.6 headers are a list.
    let mut newer = connect(dev);
    newer.call("server.version", json!(["test", "1.6"]));
    let chunk = newer.call("blockchain.block.headers", json!([3, 2]));
    assert_eq!(chunk, json!({"count": 2, "headers": [header(3), header(4)], "max": 2016}));
    assert_eq!(newer.refused("blockchain.relayfee", json!([])).0, -32601);
}

fn server(dev: &Dev, wire: &mut Wire) {
    assert_eq!(wire.call("server.ping", json!([])), Value::Null);
    assert!(wire.call("server.banner", json!([])).is_string());
    assert!(wire.call("server.donation_address", json!([])).is_string());
    assert_eq!(wire.call("server.peers.subscribe", json!([])), json!([]));
    assert_eq!(wire.call("server.add_peer", json!([{}])), false);
    let features = wire.call("server.features", json!([]));
    assert_eq!(features["genesis_hash"], dev.node("getblockhash", json!([0])));
    assert_eq!((&features["protocol_min"], &features["protocol_max"]), (&json!("1.4"), &json!("1.6")));
    assert!(wire.call("blockchain.estimatefee", json!([6])).is_number());
    assert!(wire.call("blockchain.relayfee", json!([])).is_number());
    let info = wire.call("mempool.get_info", json!([]));
    assert!(
        ["mempoolminfee", "minrelaytxfee", "incrementalrelayfee"].iter().all(|name| info[*name].is_number()),
        "{info}"
    );
    let histogram = wire.call("mempool.get_fee_histogram", json!([]));
    assert!(histogram.as_array().unwrap().iter().all(|row| row[0].is_number() && row[1].is_number()), "{histogram}");
    assert_eq!(wire.refused("blockchain.transaction.broadcast", json!(["00"])).0, 1);
    assert_eq!(wire.refused("blockchain.nonsense", json!([])).0, -32601);
    assert_eq!(wire.refused("blockchain.scripthash.get_history", json!(["00"])).0, -32602);
    wire.send(
        r#"[{"id":"a","method":"server.ping"},{"method":"server.ping"},{"id":"b","method":"blockchain.nonsense"},5]"#,
    );
    let batch = wire.line();
    let batch = batch.as_array().unwrap();
    assert_eq!(batch.len(), 3, "{batch:?}");
    assert_eq!((&batch[0]["id"], &batch[1]["error"]["code"]), (&json!("a"), &json!(-32601)));
    wire.send("nonsense");
    assert_eq!(wire.line()["error"]["code"], -32700);
    let mut old = connect(dev);
    assert_eq!(old.refused("server.version", json!(["test", "1.2"])).0, 1);
    assert_eq!(old.try_line(), None, "a client of another version is disconnected");
}
