//! `esplora_*` from the index.

use bitcoin::OutPoint;
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hex::DisplayHex as _;
use paraffin_bitcoin_index::RawTransactions;
use serde_json::{Value, json};

use crate::chain::{COIN, payment, script_of, taproot};
use crate::instance::{Instance, Setup};

/// row MR05
#[tokio::test]
async fn a_transaction_has_the_complete_record_from_the_store_and_from_the_nodes_blocks() {
    for raw in [RawTransactions::Store, RawTransactions::Node] {
        let instance = Instance::with(Setup { raw, ..Setup::default() }).await;
        let txid = instance.payment.to_string();
        let record = instance.result("esplora_tx", json!([txid])).await;
        let miner_script = script_of(instance.chain.network, &instance.miner).to_hex_string();
        assert_eq!(
            (&record["txid"], &record["version"], &record["locktime"], &record["fee"]),
            (&json!(txid), &json!(2), &json!(0), &json!(500))
        );
        let input = &record["vin"][0];
        assert_eq!(input["prevout"]["value"], COIN);
        assert_eq!(input["prevout"]["scriptpubkey"], miner_script);
        assert_eq!(input["prevout"]["scriptpubkey_address"], instance.miner);
        assert_eq!(input["prevout"]["scriptpubkey_type"], "v1_p2tr");
        assert!(input["prevout"]["scriptpubkey_asm"].as_str().unwrap().starts_with("OP_PUSHNUM_1 OP_PUSHBYTES_32 "));
        assert_eq!((&input["is_coinbase"], &input["witness"][0]), (&json!(false), &json!("07".repeat(64))));
        assert_eq!(record["vout"][0]["scriptpubkey_address"], instance.payee);
        assert_eq!(record["vout"][0]["value"], 1_000_000);
        let block = instance.chain.blocks.last().unwrap();
        let status = json!({ "confirmed": true, "block_height": 3, "block_hash": block.block_hash().to_string(), "block_time": block.header.time });
        assert_eq!(record["status"], status);
        let transaction = &block.txdata[1];
        assert_eq!(
            (record["size"].as_u64(), record["weight"].as_u64()),
            (Some(transaction.total_size() as u64), Some(transaction.weight().to_wu()))
        );

        assert_eq!(instance.result("esplora_tx::status", json!([txid])).await, status);
        for method in ["esplora_tx::hex", "esplora_txhex", "esplora_tx::raw"] {
            assert_eq!(instance.result(method, json!([txid])).await, serialize_hex(transaction), "{method}");
        }
        let coinbase = instance.chain.blocks[1].txdata[0].compute_txid().to_string();
        let record = instance.result("esplora_tx", json!([coinbase])).await;
        assert_eq!(
            (&record["vin"][0]["is_coinbase"], &record["vin"][0]["prevout"], &record["fee"]),
            (&json!(true), &Value::Null, &json!(0))
        );
        let spends = json!([{ "spent": true, "txid": txid, "vin": 0, "status": status }]);
        assert_eq!(instance.result("esplora_tx::outspends", json!([coinbase])).await, spends);
        assert_eq!(instance.result("esplora_tx::outspend", json!([coinbase, 0])).await, spends[0]);
        assert_eq!(instance.result("esplora_tx::outspend", json!([txid, "0"])).await, json!({ "spent": false }));
        let proof = instance.result("esplora_tx::merkle-proof", json!([txid])).await;
        assert_eq!(
            (&proof["block_height"], &proof["pos"], &proof["merkle"]),
            (&json!(3), &json!(1), &json!([block.txdata[0].compute_txid().to_string()]))
        );
        assert!(instance.result("esplora_tx::merkleblock-proof", json!([txid])).await.as_str().unwrap().len() > 160);
    }
}

/// row MR05
#[tokio::test]
async fn blocks_are_found_by_hash_and_height() {
    let instance = Instance::start().await;
    let block = &instance.chain.blocks[3];
    let hash = block.block_hash().to_string();
    let record = instance.result("esplora_block", json!([hash])).await;
    for (member, expected) in [
        ("id", json!(hash)),
        ("height", json!(3)),
        ("version", json!(0x2000_0000)),
        ("timestamp", json!(block.header.time)),
        ("tx_count", json!(2)),
        ("merkle_root", json!(block.header.merkle_root.to_string())),
        ("previousblockhash", json!(instance.chain.blocks[2].block_hash().to_string())),
        ("bits", json!(0x207f_ffff)),
        ("nonce", json!(0)),
    ] {
        assert_eq!(record[member], expected, "{member}");
    }
    assert_eq!(instance.result("esplora_block::header", json!([hash])).await, serialize_hex(&block.header));
    assert_eq!(instance.result("esplora_block::raw", json!([hash])).await, serialize_hex(block));
    assert_eq!(
        instance.result("esplora_block::status", json!([hash])).await,
        json!({ "in_best_chain": true, "height": 3, "next_best": null })
    );
    let txids: Vec<_> = block.txdata.iter().map(|transaction| transaction.compute_txid().to_string()).collect();
    assert_eq!(instance.result("esplora_block::txids", json!([hash])).await, json!(txids));
    assert_eq!(instance.result("esplora_block::txid", json!([hash, 1])).await, json!(txids[1]));
    let records = instance.result("esplora_block::txs", json!([hash])).await;
    assert_eq!(records.as_array().unwrap().iter().map(|record| record["txid"].clone()).collect::<Vec<_>>(), txids);
    assert_eq!(instance.result("esplora_block-height", json!([3])).await, hash);
    assert_eq!(instance.result("esplora_block-height", json!(["3"])).await, hash);
    for method in ["esplora_blocks:tip:height", "esplora_blocks::tip:height", "esplora_blockstipheight"] {
        assert_eq!(instance.result(method, json!([])).await, json!(3), "{method}");
    }
    assert_eq!(instance.result("esplora_blocks:tip:hash", json!([])).await, hash);
    let heights = |records: &Value| {
        records.as_array().unwrap().iter().map(|record| record["height"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(heights(&instance.result("esplora_blocks", json!([])).await), [3, 2, 1, 0]);
    assert_eq!(heights(&instance.result("esplora_blocks", json!([1])).await), [1, 0]);
}

/// row MR03
#[tokio::test]
async fn an_address_has_totals_unspent_outputs_and_history() {
    let instance = Instance::start().await;
    let record = instance.result("esplora_address", json!([instance.miner])).await;
    assert_eq!(record["address"], instance.miner);
    assert_eq!(
        record["chain_stats"],
        json!({ "funded_txo_count": 3, "funded_txo_sum": 3 * COIN - 1_000_500, "spent_txo_count": 1, "spent_txo_sum": COIN, "tx_count": 3 })
    );
    assert_eq!(record["mempool_stats"]["tx_count"], 0);

    let block = instance.chain.blocks.last().unwrap();
    let expected = json!([{
        "txid": instance.payment.to_string(), "vout": 0, "value": 1_000_000,
        "status": { "confirmed": true, "block_height": 3, "block_hash": block.block_hash().to_string(), "block_time": block.header.time },
    }]);
    for method in ["esplora_address::utxo", "esplora_addressutxo"] {
        assert_eq!(instance.result(method, json!([instance.payee])).await, expected, "{method}");
    }
    let txids = |records: &Value| {
        records.as_array().unwrap().iter().map(|record| record["txid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let history: Vec<_> = [
        instance.payment,
        instance.chain.blocks[2].txdata[0].compute_txid(),
        instance.chain.blocks[1].txdata[0].compute_txid(),
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    for method in ["esplora_address::txs", "esplora_address::txs:chain", "esplora_addresstxs"] {
        assert_eq!(txids(&instance.result(method, json!([instance.miner])).await), history, "{method}");
    }
    let rest = instance.result("esplora_address::txs:chain", json!([instance.miner, history[0]])).await;
    assert_eq!(txids(&rest), history[1..]);
    let end = instance.result("esplora_address::txs:chain", json!([instance.miner, history[2]])).await;
    assert_eq!(end, json!([]));
    // An unused address has an empty history, not an error.
    let fresh = taproot(instance.chain.network, 3);
    assert_eq!(instance.result("esplora_address::txs", json!([fresh])).await, json!([]));
    assert_eq!(instance.result("esplora_address::utxo", json!([fresh])).await, json!([]));
    assert_eq!(instance.result("esplora_address", json!([fresh])).await["chain_stats"]["tx_count"], 0);
    // The same by the SHA-256 of the script.
    let digest = paraffin_bitcoin_index::ScriptKey::from_script(&script_of(instance.chain.network, &instance.payee));
    let digest = digest.digest().to_lower_hex_string();
    assert_eq!(instance.result("esplora_scripthash::utxo", json!([digest])).await, expected);
    assert_eq!(instance.result("esplora_scripthash", json!([digest])).await["scripthash"], digest);
}

/// row MR05
#[tokio::test]
async fn a_path_may_stand_in_the_name_or_go_on_in_the_parameters() {
    let instance = Instance::start().await;
    let (txid, payee) = (instance.payment.to_string(), instance.payee.clone());
    for (method, params, same, of) in [
        ("esplora_tx".to_owned(), json!([txid, "hex"]), "esplora_tx::hex", json!([txid])),
        ("esplora_tx".to_owned(), json!([txid, "outspend", 0]), "esplora_tx::outspend", json!([txid, 0])),
        (format!("esplora_tx:{txid}"), json!([]), "esplora_tx", json!([txid])),
        (format!("esplora_tx:{txid}:hex"), json!([]), "esplora_tx::hex", json!([txid])),
        (format!("esplora_address:{payee}:utxo"), json!({}), "esplora_address::utxo", json!([payee])),
        ("esplora_block-height:2".to_owned(), json!([]), "esplora_block-height", json!([2])),
        ("esplora_blocks".to_owned(), json!(["tip", "height"]), "esplora_blocks:tip:height", json!([])),
        ("esplora_blocks".to_owned(), json!({}), "esplora_blocks", json!([])),
    ] {
        assert_eq!(instance.result(&method, params).await, instance.result(same, of).await, "{method}");
    }
}

/// row MR03
#[tokio::test]
async fn unconfirmed_transactions_show_and_what_they_spend_is_no_longer_unspent() {
    let instance = Instance::start().await;
    let network = instance.chain.network;
    let receiver = taproot(network, 3);
    let spent = OutPoint { txid: instance.payment, vout: 0 };
    let parent =
        payment(&[spent], &[(400_000, script_of(network, &receiver)), (599_000, script_of(network, &instance.payee))]);
    let parent_txid = parent.compute_txid();
    let child = payment(&[OutPoint { txid: parent_txid, vout: 0 }], &[(399_000, script_of(network, &instance.payee))]);
    instance.node.add_unconfirmed(&parent);
    instance.node.add_unconfirmed(&child);

    let unspent = instance.result("esplora_address::utxo", json!([instance.payee])).await;
    let mut values: Vec<_> = unspent
        .as_array()
        .unwrap()
        .iter()
        .map(|output| (output["value"].as_u64().unwrap(), output["status"].clone()))
        .collect();
    values.sort_by_key(|(value, _)| *value);
    assert_eq!(values, [(399_000, json!({ "confirmed": false })), (599_000, json!({ "confirmed": false }))]);
    assert_eq!(instance.result("esplora_address::utxo", json!([receiver])).await, json!([]));
    let stats = instance.result("esplora_address", json!([instance.payee])).await;
    assert_eq!(
        stats["mempool_stats"],
        json!({ "funded_txo_count": 2, "funded_txo_sum": 998_000, "spent_txo_count": 1, "spent_txo_sum": 1_000_000, "tx_count": 2 })
    );
    let pending = instance.result("esplora_address::txs:mempool", json!([receiver])).await;
    assert_eq!(pending.as_array().unwrap().len(), 2);
    let record = instance.result("esplora_tx", json!([child.compute_txid().to_string()])).await;
    assert_eq!(
        (&record["fee"], &record["status"], &record["vin"][0]["prevout"]["value"]),
        (&json!(1000), &json!({ "confirmed": false }), &json!(400_000))
    );
    assert_eq!(instance.result("esplora_tx::hex", json!([parent_txid.to_string()])).await, serialize_hex(&parent));
    let spends = instance.result("esplora_tx::outspends", json!([instance.payment.to_string()])).await;
    assert_eq!(
        spends[0],
        json!({ "spent": true, "txid": parent_txid.to_string(), "vin": 0, "status": { "confirmed": false } })
    );
    assert_eq!(spends[1], json!({ "spent": false }));
    let rest =
        instance.post("/v4/api/get-address-balance", json!({ "address": instance.payee }).to_string()).await.json();
    assert_eq!(
        rest["data"],
        json!({ "address": instance.payee, "balance": 1_000_000, "unconfirmedBalance": -2000, "txCount": 3 })
    );

    let page = instance
        .post("/v4/api/get-address-utxos", json!({ "address": instance.payee, "limit": 1 }).to_string())
        .await
        .json();
    assert_eq!((page["data"]["utxos"].as_array().unwrap().len(), &page["data"]["total"]), (1, &json!(2)));
    assert_eq!(
        (&page["data"]["utxos"][0]["confirmations"], &page["data"]["utxos"][0]["status"]),
        (&json!(0), &json!({ "confirmed": false }))
    );
    let mempool = instance.result("esplora_mempool", json!([])).await;
    assert_eq!((&mempool["count"], &mempool["vsize"], &mempool["total_fee"]), (&json!(2), &json!(777), &json!(2000)));
    let vsize = parent.vsize() + child.vsize();
    assert_eq!(mempool["fee_histogram"][0][1], vsize);
    let mut txids = [parent_txid.to_string(), child.compute_txid().to_string()];
    txids.sort();
    assert_eq!(instance.result("esplora_mempool:txids", json!([])).await, json!(txids));
    let recent = instance.result("esplora_mempool::recent", json!([])).await;
    assert_eq!(recent.as_array().unwrap().len(), 2);
    assert_eq!((&recent[0]["txid"], &recent[0]["fee"]), (&json!(txids[1]), &json!(1000)));
    assert!([399_000, 999_000].contains(&recent[0]["value"].as_u64().unwrap()));

    // While the node is unavailable the confirmed part is answered.
    instance.node.set_away(true);
    let unspent = instance.result("esplora_address::utxo", json!([instance.payee])).await;
    assert_eq!(unspent[0]["value"], 1_000_000);
    assert_eq!(instance.result("esplora_address::txs:mempool", json!([receiver])).await, json!([]));
}

#[tokio::test]
async fn a_transaction_that_the_index_has_confirmed_is_not_listed_twice() {
    let instance = Instance::start().await;
    let confirmed = instance.chain.blocks[3].txdata[1].clone();
    instance.node.add_unconfirmed(&confirmed);
    assert_eq!(instance.result("esplora_address::txs:mempool", json!([instance.payee])).await, json!([]));
    assert_eq!(instance.result("esplora_address::txs", json!([instance.payee])).await.as_array().unwrap().len(), 1);
    assert_eq!(instance.result("esplora_address::utxo", json!([instance.payee])).await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_does_not_exist_is_minus_32004_and_what_cannot_be_read_is_minus_32602() {
    let instance = Instance::start().await;
    let nothing = "00".repeat(32);
    let hash = instance.chain.tip_hash().to_string();
    for (method, params) in [
        ("esplora_tx", json!([nothing])),
        ("esplora_tx::hex", json!([nothing])),
        ("esplora_tx::outspends", json!([nothing])),
        ("esplora_tx::merkle-proof", json!([nothing])),
        ("esplora_block", json!([nothing])),
        ("esplora_block::txids", json!([nothing])),
        ("esplora_block::raw", json!([nothing])),
        ("esplora_block::txid", json!([hash, 2])),
        ("esplora_block::txs", json!([hash, 25])),
        ("esplora_block-height", json!([4])),
        ("esplora_blocks", json!([4])),
        ("esplora_address::txs:chain", json!([instance.payee, nothing])),
    ] {
        let answer = instance.call(method, params).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["code"]),
            (&json!(-32004), &json!("NOT_FOUND")),
            "{method} {answer}"
        );
    }
    for (method, params) in [
        ("esplora_tx", json!(["00"])),
        ("esplora_tx", json!([format!("{nothing}0")])),
        ("esplora_tx", json!(["../../health"])),
        ("esplora_tx::outspend", json!([instance.payment.to_string(), -1])),
        ("esplora_tx::outspend", json!([instance.payment.to_string(), 4_294_967_296_u64])),
        ("esplora_block", json!(["zz"])),
        ("esplora_block::txs", json!([hash, 24])),
        ("esplora_block::txid", json!([hash, "x"])),
        ("esplora_block-height", json!([-1])),
        ("esplora_block-height", json!(["1.5"])),
        ("esplora_block-height", json!([{}])),
        ("esplora_address", json!(["bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"])),
        ("esplora_address", json!(["\u{0}"])),
        ("esplora_address", json!(["x".repeat(100_000)])),
        ("esplora_scripthash", json!([instance.payee])),
    ] {
        assert_eq!(instance.error(method, params.clone()).await.0, -32602, "{method} {params}");
    }
    assert_eq!(instance.result("esplora_tx::status", json!([nothing])).await, json!({ "confirmed": false }));
    assert_eq!(instance.result("esplora_block::status", json!([nothing])).await["in_best_chain"], false);
}

#[tokio::test]
async fn without_the_node_a_store_that_keeps_no_transactions_says_who_is_missing() {
    let instance = Instance::with(Setup { raw: RawTransactions::Node, ..Setup::default() }).await;
    instance.node.set_away(true);
    let txid = instance.payment.to_string();
    let answer = instance.call("esplora_tx", json!([txid])).await;
    assert_eq!(answer["error"]["data"]["code"], "UPSTREAM_UNAVAILABLE");
    assert!(!answer.to_string().contains(crate::node::SECRET_ADDRESS));
    assert_eq!(instance.result("esplora_tx::status", json!([txid])).await["confirmed"], true);
    assert_eq!(instance.result("esplora_address::utxo", json!([instance.payee])).await[0]["value"], 1_000_000);
}

#[tokio::test]
async fn bytes_of_a_lying_node_are_never_passed_on() {
    let instance = Instance::with(Setup { raw: RawTransactions::Node, ..Setup::default() }).await;
    let block = instance.chain.blocks.last().unwrap();
    let mut forged = bitcoin::consensus::serialize(block);
    let at = forged.len() - 1;
    forged[at] ^= 1;
    instance.node.replace_block(block.block_hash(), forged);
    let txid = instance.payment.to_string();
    for method in ["esplora_tx", "esplora_tx::hex", "esplora_tx::raw"] {
        assert_eq!(instance.error(method, json!([txid])).await.0, -32603, "{method}");
    }
    assert_eq!(instance.error("esplora_address::txs", json!([instance.payee])).await.0, -32603);
}

#[tokio::test]
async fn broadcast_hands_over_the_nodes_txid_or_its_reason() {
    let instance = Instance::start().await;
    assert_eq!(instance.result("esplora_broadcast", json!(["00".repeat(60)])).await, json!(124));
    assert_eq!(instance.error("esplora_broadcast", json!(["00"])).await, (-26, "bad-txns".to_owned()));
    assert_eq!(instance.error("esplora_broadcast", json!([])).await.0, -32602);
}

#[tokio::test]
async fn a_long_history_comes_in_pages_of_25() {
    let mut instance = Instance::start().await;
    let script = script_of(instance.chain.network, &taproot(instance.chain.network, 3));
    let mut mined: Vec<_> = (0..60).map(|_| instance.chain.mine(script.clone(), vec![]).to_string()).collect();
    mined.reverse();
    let address = taproot(instance.chain.network, 3);
    let mut seen: Vec<String> = Vec::new();
    loop {
        let params = seen.last().map_or_else(|| json!([address]), |last| json!([address, last]));
        let page = instance.result("esplora_address::txs:chain", params).await;
        let page: Vec<_> =
            page.as_array().unwrap().iter().map(|record| record["txid"].as_str().unwrap().to_owned()).collect();
        if page.is_empty() {
            break;
        }
        assert!(page.len() == 25 || seen.len() + page.len() == 60);
        seen.extend(page);
    }
    assert_eq!(seen, mined);
    assert_eq!(instance.result("esplora_address::utxo", json!([address])).await.as_array().unwrap().len(), 60);
}
