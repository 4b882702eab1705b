//! The published `electrs` on the same real node: equal answers to the same questions.

use std::time::{Duration, Instant};

use bitcoin::hashes::Hash as _;
use bitcoin::{Amount, ScriptBuf, TxOut, WScriptHash};
use serde_json::{Value, json};

use super::electrs::{Electrs, settle};
use super::{Wire, script_hash};
use crate::support::free_port;
use crate::support::served::{Backend, Numbers, Served};

/// Asks both the same; the first is ours.
fn equal(both: &mut [Wire; 2], method: &str, params: &Value) -> Value {
    let [ours, theirs] = both;
    let (ours, theirs) = (ours.call(method, params.clone()), theirs.call(method, params.clone()));
    assert_eq!(ours, theirs, "{method} {params}: ours on the left");
    ours
}

#[test]
fn answers_are_those_of_the_published_electrs() {
    let Some(core) = Backend::core() else { return };
    let address = format!("127.0.0.1:{}", free_port());
    let mut served = Served::start_with(core, &format!("[electrum]\nlisten = \"{address}\"\ncost_soft = 0\n"));
    let mut numbers = Numbers::new(11);
    served.backend.mine(110, &served.scripts[0]);
    served.mine_traffic(&mut numbers, 30);
    let Some(electrs) = Electrs::start(&served) else { return };
    let mut both = [Wire::connect(&address), Wire::connect(&electrs.address)];
    for wire in &mut both {
        wire.call("server.version", json!(["test", "1.4"]));
    }
    let scripts: Vec<String> = served.scripts.iter().map(script_hash).collect();
    for round in 0..3 {
        match round {
            0 => {}
            1 => served.reorganise(&mut numbers, 4),
            _ => {
                // Some stay unconfirmed.
                served.mine_traffic(&mut numbers, 5);
                for _ in 0..6 {
                    let before = served.backend.mempool().len();
                    served.pay(&mut numbers);
                    assert!(served.backend.mempool().len() >= before);
                }
            }
        }
        settle(&mut served, &mut both, &scripts);
        compare(&served, &mut both, &scripts);
    }
}

fn compare(served: &Served, both: &mut [Wire; 2], scripts: &[String]) {
    equal(both, "blockchain.headers.subscribe", &json!([]));
    let mut txids: Vec<(Value, i64)> = Vec::new();
    for script in scripts {
        // The other speaks 1.4, where unconfirmed transactions have no order, and so no one status when there are several.
        let [history, theirs] = both.each_mut().map(|wire| {
            let history = wire.call("blockchain.scripthash.get_history", json!([script]));
            let mut rows = history.as_array().unwrap().clone();
            let confirmed = rows.iter().take_while(|row| row["height"].as_i64().unwrap() > 0).count();
            rows[confirmed..].sort_by_key(|row| (-row["height"].as_i64().unwrap(), row["tx_hash"].to_string()));
            json!(rows)
        });
        assert_eq!(history, theirs, "get_history {script}: ours on the left");
        let unconfirmed = history.as_array().unwrap().iter().filter(|row| row["height"].as_i64().unwrap() <= 0);
        if unconfirmed.count() < 2 {
            equal(both, "blockchain.scripthash.subscribe", &json!([script]));
        }
        equal(both, "blockchain.scripthash.get_balance", &json!([script]));
        let mut unspent = both.each_mut().map(|wire| {
            let rows = wire.call("blockchain.scripthash.listunspent", json!([script]));
            let mut rows = rows.as_array().unwrap().clone();
            // Within a block the other has an order of its own.
            rows.sort_by_key(|row| (row["height"].as_i64(), row["tx_hash"].to_string(), row["tx_pos"].as_i64()));
            rows
        });
        let theirs = std::mem::take(&mut unspent[1]);
        assert_eq!(unspent[0], theirs, "listunspent {script}: ours on the left");
        txids.extend(
            history.as_array().unwrap().iter().map(|row| (row["tx_hash"].clone(), row["height"].as_i64().unwrap())),
        );
    }
    for (txid, height) in txids.iter().step_by(5) {
        equal(both, "blockchain.transaction.get", &json!([txid]));
        if *height > 0 {
            let proof = equal(both, "blockchain.transaction.get_merkle", &json!([txid, height]));
            equal(both, "blockchain.transaction.id_from_pos", &json!([height, proof["pos"], true]));
            equal(both, "blockchain.transaction.id_from_pos", &json!([height, proof["pos"]]));
        }
    }
    let tip = served.backend.height();
    for height in [0, 1, tip / 2, tip] {
        equal(both, "blockchain.block.header", &json!([height]));
        equal(both, "blockchain.block.headers", &json!([height, 10]));
    }
    // The same numbers, with digits of their own.
    for (method, params) in [("relayfee", json!([])), ("estimatefee", json!([6])), ("estimatefee", json!([100]))] {
        let method = format!("blockchain.{method}");
        let fees = both.each_mut().map(|wire| wire.call(&method, params.clone()).as_f64().unwrap());
        assert!((fees[0] - fees[1]).abs() < 1e-12, "{method}: {fees:?}");
    }
}

/// Scripts of the timing: a few where nothing else is said, for the machine of a quick run says little about speed.
fn timed_scripts() -> u32 {
    if std::env::var_os("PARAFFIN_LONG").is_some() { 100_000 } else { 2_000 }
}

/// Subscribes to all scripts and reads their histories, in batches of a hundred; the statuses, and how long it took.
fn subscribe_and_read(address: &str, scripts: &[String]) -> (Vec<Value>, Duration) {
    let mut wire = Wire::connect(address);
    wire.call("server.version", json!(["test", "1.4"]));
    let mut statuses = Vec::new();
    let begun = Instant::now();
    for scripts in scripts.chunks(100) {
        for method in ["subscribe", "get_history"] {
            let batch: Vec<Value> = (0..)
                .zip(scripts)
                .map(|(id, script)| json!({"jsonrpc": "2.0", "id": id, "method": format!("blockchain.scripthash.{method}"), "params": [script]}))
                .collect();
            wire.send(&json!(batch).to_string());
            let answers = wire.line();
            let answers = answers.as_array().unwrap();
            assert_eq!(answers.len(), scripts.len());
            if method == "subscribe" {
                statuses.extend(answers.iter().map(|answer| answer["result"].clone()));
            } else {
                assert!(answers.iter().all(|answer| answer["result"].as_array().is_some_and(|rows| !rows.is_empty())));
            }
        }
    }
    (statuses, begun.elapsed())
}

/// The bar: subscriptions to and histories of many scripts take no longer than the published `electrs` takes on the same node.
#[test]
fn many_scripts_are_read_as_fast_as_by_the_published_electrs() {
    let Some(core) = Backend::core() else { return };
    let address = format!("127.0.0.1:{}", free_port());
    let mut served = Served::start_with(core, &format!("[electrum]\nlisten = \"{address}\"\ncost_soft = 0\n"));
    served.backend.mine(140, &served.scripts[0]);
    let mut scripts = Vec::new();
    let count = timed_scripts();
    for part in (0..count).collect::<Vec<_>>().chunks(2_000) {
        let of = |number: &u32| {
            let mut hash = [7; 32];
            hash[..4].copy_from_slice(&number.to_le_bytes());
            ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(hash))
        };
        let outputs: Vec<TxOut> =
            part.iter().map(|number| TxOut { value: Amount::from_sat(1_000), script_pubkey: of(number) }).collect();
        let coin = served.spendable().into_iter().next().unwrap();
        let transaction = served.wallet.pay(&[coin], &outputs, &served.scripts[1], 1_000_000).unwrap();
        served.backend.submit(&transaction);
        served.backend.mine(1, &served.scripts[0]);
        scripts.extend(part.iter().map(|number| script_hash(&of(number))));
    }
    served.wait_for_tip();
    let Some(electrs) = Electrs::start(&served) else { return };
    let mut both = [Wire::connect(&address), Wire::connect(&electrs.address)];
    settle(&mut served, &mut both, &scripts[..1]);
    drop(both);
    let (ours, our_time) = subscribe_and_read(&address, &scripts);
    let (theirs, their_time) = subscribe_and_read(&electrs.address, &scripts);
    assert_eq!(ours, theirs);
    let times = their_time.as_secs_f64() / our_time.as_secs_f64();
    eprintln!("{count} scripts: paraffin {our_time:.2?}, electrs {their_time:.2?}, {times:.2} times its speed");
    // The published program is optimised; ours is, where this test is.
    assert!(times >= 1.0, "{times:.2} times the speed of electrs");
}
