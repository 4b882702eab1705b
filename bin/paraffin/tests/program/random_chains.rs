//! Random chains with reorgs of depth 1 to 100: every answer equals what the raw blocks say.

use crate::support::served::{Backend, Ledger, Numbers, Served, address};
use crate::support::{http, served};
use bitcoin::{OutPoint, ScriptBuf};
use serde_json::{Value, json};

/// Transactions on a page of history.
const PAGE: usize = 25;

/// Compares every script, every output and every block with the recomputation.
fn check(served: &Served, what: &str) {
    let ledger = Ledger::of(&served.backend);
    let tip = served.backend.height();
    for script in &served.scripts {
        check_script(served, &ledger, script, tip, what);
    }
    let total = ledger.balance(&served.scripts.iter().cloned().collect());
    assert!(total > 0, "{what}");
    for height in (0..=tip).rev().take(120) {
        check_block(served, &ledger, height, what);
    }
}

fn check_script(served: &Served, ledger: &Ledger, script: &ScriptBuf, tip: u32, what: &str) {
    let address = address(script);
    let context = format!("{what}, {address}");
    let empty = Vec::new();
    let history = ledger.histories.get(script).unwrap_or(&empty);

    // Totals.
    let funded: Vec<_> = ledger.outputs.iter().filter(|(_, made)| made.output.script_pubkey == *script).collect();
    let record = served.esplora(&format!("/address/{address}"));
    assert_eq!(record["chain_stats"], ledger.chain_stats(script), "{context}");
    assert_eq!(record["mempool_stats"]["tx_count"], 0, "{context}");

    // Unspent outputs, newest first.
    let mut unspent: Vec<_> = funded.iter().filter(|(outpoint, _)| !ledger.spends.contains_key(outpoint)).collect();
    unspent.sort_by_key(|(outpoint, made)| std::cmp::Reverse((made.height, made.index, outpoint.vout)));
    assert_eq!(served.esplora(&format!("/address/{address}/utxo")), ledger.utxo_records(script), "{context}");

    // History page by page, to the empty page after the last.
    let expected: Vec<_> = history.iter().rev().map(|(height, _, txid)| (*height, txid.to_string())).collect();
    let mut seen: Vec<(u32, String)> = Vec::new();
    loop {
        let token = seen.last().map_or_else(String::new, |(_, txid)| format!("/{txid}"));
        let page = served.esplora(&format!("/address/{address}/txs/chain{token}"));
        let page = page.as_array().unwrap();
        assert!(page.len() == PAGE || seen.len() + page.len() == expected.len(), "{context}: a short page");
        if page.is_empty() {
            break;
        }
        for record in page {
            let height = record["status"]["block_height"].as_u64().unwrap() as u32;
            assert_eq!(record["status"], ledger.status(height), "{context}");
            check_record(ledger, record, &context);
            seen.push((height, record["txid"].as_str().unwrap().to_owned()));
        }
    }
    assert_eq!(seen, expected, "{context}");

    // The REST data API says the same.
    let answer =
        http::post(&served.address, &served.keyed("/get-address-balance"), &json!({ "address": address })).json();
    let balance: u64 = unspent.iter().map(|(_, made)| made.output.value.to_sat()).sum();
    assert_eq!((&answer["data"]["balance"], &answer["data"]["txCount"]), (&json!(balance), &json!(history.len())));
    let answer =
        http::post(&served.address, &served.keyed("/get-address-utxos"), &json!({ "address": address })).json();
    let listed = answer["data"]["utxos"].as_array().unwrap().clone();
    assert_eq!(listed.len(), unspent.len(), "{context}");
    for (record, (outpoint, made)) in listed.iter().zip(&unspent) {
        assert_eq!((&record["txId"], &record["outputIndex"]), (&json!(outpoint.txid), &json!(outpoint.vout)));
        assert_eq!(record["confirmations"], tip + 1 - made.height, "{context}");
    }
}

/// What a transaction spends, pays, and costs.
fn check_record(ledger: &Ledger, record: &Value, context: &str) {
    let mut paid_in = 0;
    for input in record["vin"].as_array().unwrap() {
        if input["is_coinbase"] == true {
            continue;
        }
        let spent = OutPoint {
            txid: input["txid"].as_str().unwrap().parse().unwrap(),
            vout: u32::try_from(input["vout"].as_u64().unwrap()).unwrap(),
        };
        let output = &ledger.outputs[&spent].output;
        paid_in += output.value.to_sat();
        assert_eq!(input["prevout"]["value"], output.value.to_sat(), "{context}");
        assert_eq!(input["prevout"]["scriptpubkey"], output.script_pubkey.to_hex_string(), "{context}");
    }
    let paid_out: u64 = record["vout"].as_array().unwrap().iter().map(|output| output["value"].as_u64().unwrap()).sum();
    let fee = if paid_in == 0 { 0 } else { paid_in - paid_out };
    assert_eq!(record["fee"], fee, "{context}");
}

fn check_block(served: &Served, ledger: &Ledger, height: u32, what: &str) {
    let block = &ledger.blocks[height as usize];
    let hash = block.block_hash();
    let txids: Vec<_> = block.txdata.iter().map(bitcoin::Transaction::compute_txid).collect();
    assert_eq!(served.esplora(&format!("/block/{hash}/txids")), json!(txids), "{what}, block {height}");
    for (txid, transaction) in txids.iter().zip(&block.txdata) {
        let expected: Vec<Value> = (0..transaction.output.len() as u32)
            .map(|vout| match ledger.spends.get(&OutPoint { txid: *txid, vout }) {
                None => json!({ "spent": false }),
                Some((spender, vin, at)) => {
                    json!({ "spent": true, "txid": spender, "vin": vin, "status": ledger.status(*at) })
                }
            })
            .collect();
        assert_eq!(served.esplora(&format!("/tx/{txid}/outspends")), json!(expected), "{what}, {txid}");
    }
}

fn run(seed: u64, depths: &[u32]) {
    let mut served = Served::start(Backend::devnet());
    let mut numbers = served::Numbers::new(seed);
    served.mine_traffic(&mut numbers, 115);
    served.mine_traffic(&mut numbers, 90);
    served.mine_mempool();
    served.wait_for_tip();
    check(&served, &format!("seed {seed}, before any reorg"));
    for depth in depths {
        served.reorganise(&mut numbers, *depth);
        served.mine_mempool();
        served.wait_for_tip();
        check(&served, &format!("seed {seed}, after a reorg of depth {depth}"));
    }
}

#[test]
fn answers_equal_a_recomputation_after_shallow_reorgs() {
    let mut numbers = Numbers::new(1);
    let depths: Vec<u32> = [1, 2].into_iter().chain((0..4).map(|_| 1 + numbers.below(12) as u32)).collect();
    run(11, &depths);
}

#[test]
fn answers_equal_a_recomputation_after_reorgs_of_up_to_100_blocks() {
    let mut numbers = Numbers::new(2);
    let depths: Vec<u32> = [100, 1].into_iter().chain((0..2).map(|_| 13 + numbers.below(88) as u32)).collect();
    run(12, &depths);
}
