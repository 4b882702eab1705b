use bitcoin::OutPoint;
use paraffin_mempool::{Limits, Origin};
use paraffin_primitives::Network;
use serde_json::json;

use super::{NOW, add, instance, raw};
use crate::chain::{payment, script_of};

/// Once the live set agrees with the node, what Esplora returns of unconfirmed transactions comes from it.
#[tokio::test]
async fn esplora_answers_from_the_live_set_and_asks_the_node_no_more() {
    let (instance, mempool) = instance(Limits::default()).await;
    let script = |address: &str| script_of(Network::Regtest, address);
    // The payee spends its payment of 1,000,000 to the miner and back to itself.
    let from = OutPoint { txid: instance.payment, vout: 0 };
    let spent = bitcoin::TxOut { value: bitcoin::Amount::from_sat(1_000_000), script_pubkey: script(&instance.payee) };
    let transaction = payment(&[from], &[(300_000, script(&instance.miner)), (690_000, script(&instance.payee))]);
    let known = move |outpoint: &OutPoint| (*outpoint == from).then(|| spent.clone());
    let other = paraffin_mempool::Mempool::new(Limits::default(), 1, std::sync::Arc::new(known));
    let inserted = other.insert(&transaction, raw(&transaction), Origin::P2p, NOW).unwrap();
    assert_eq!(inserted.entry.fee, Some(10_000));
    drop(other);
    // Not filled yet: the node's mempool is used.
    add(&mempool, &transaction);
    let before = instance.result("esplora_address", json!([instance.payee])).await;
    assert_eq!(before["mempool_stats"]["tx_count"], 0);
    let asked = || instance.node.calls.lock().unwrap().iter().filter(|(method, _)| method == "getrawmempool").count();
    let asked_before = asked();
    assert!(asked_before > 0);

    let tip = instance.chain.blocks.last().unwrap().block_hash();
    mempool.agreement().reach(tip);
    mempool.agreement().settle(tip);
    let txid = transaction.compute_txid();
    let address = instance.result("esplora_address", json!([instance.miner])).await;
    assert_eq!(
        (&address["mempool_stats"]["tx_count"], &address["mempool_stats"]["funded_txo_sum"]),
        (&json!(1), &json!(300_000))
    );
    let listed = instance.result("esplora_address::txs:mempool", json!([instance.miner])).await;
    assert_eq!((&listed[0]["txid"], &listed[0]["status"]["confirmed"]), (&json!(txid), &json!(false)));
    let utxos = instance.result("esplora_address::utxo", json!([instance.payee])).await;
    let own = utxos.as_array().unwrap().iter().find(|utxo| utxo["txid"] == json!(txid)).unwrap();
    assert_eq!((&own["vout"], &own["value"]), (&json!(1), &json!(690_000)));
    assert!(!utxos.as_array().unwrap().iter().any(|utxo| utxo["txid"] == json!(instance.payment)), "{utxos}");
    let outspend = instance.result("esplora_tx::outspend", json!([instance.payment, 0])).await;
    assert_eq!((&outspend["spent"], &outspend["txid"]), (&json!(true), &json!(txid)));
    let summary = instance.result("esplora_mempool", json!([])).await;
    assert_eq!((&summary["count"], &summary["vsize"]), (&json!(1), &json!(transaction.vsize())));
    assert_eq!(instance.result("esplora_mempool:txids", json!([])).await, json!([txid]));
    let recent = instance.result("esplora_mempool:recent", json!([])).await;
    assert_eq!((&recent[0]["txid"], &recent[0]["value"]), (&json!(txid), &json!(990_000)));
    let body = json!({"address": instance.miner}).to_string();
    let balance = instance.post("/v4/api/get-address-balance", body).await.json();
    assert_eq!(balance["data"]["unconfirmedBalance"], 300_000, "{balance}");
    assert_eq!(asked(), asked_before);
    // The set is behind a block and may hold invalid transactions, so the node's mempool is used again.
    mempool.agreement().leave();
    let address = instance.result("esplora_address", json!([instance.miner])).await;
    assert_eq!(address["mempool_stats"]["tx_count"], 0);
    assert!(asked() > asked_before);
}
