//! Plain HTTP Esplora.

use bitcoin::OutPoint;
use bitcoin::consensus::encode::serialize_hex;
use bitcoin::consensus::serialize;
use paraffin_bitcoin_index::RawTransactions;
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::chain::{payment, script_of, taproot};
use crate::client::Response;
use crate::instance::{Instance, Setup};

async fn instance(raw: RawTransactions) -> Instance {
    let keyed = vec![handlers::esplora()];
    Instance::with(Setup { raw, keyed, ..Setup::default() }).await
}

async fn get(instance: &Instance, path: &str) -> Response {
    instance.get(&instance.keyed(&format!("/esplora{path}"))).await
}

async fn text(instance: &Instance, path: &str) -> (u16, String) {
    let response = get(instance, path).await;
    assert_eq!(response.header("content-type"), Some("text/plain"), "{path}");
    (response.status, response.text().to_owned())
}

async fn record(instance: &Instance, path: &str) -> Value {
    let response = get(instance, path).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")), "{path}");
    assert_eq!(response.header("x-indexed-height"), Some("3"), "{path}");
    response.json()
}

/// row MR05
#[tokio::test]
async fn every_path_answers_what_its_method_answers() {
    for raw in [RawTransactions::Store, RawTransactions::Node] {
        let instance = instance(raw).await;
        let (txid, tip) = (instance.payment.to_string(), instance.chain.tip_hash().to_string());
        let miner = instance.miner.clone();
        let coinbase = instance.chain.blocks[2].txdata[0].compute_txid().to_string();
        for (path, method, params) in [
            (format!("/tx/{txid}"), "esplora_tx", json!([txid])),
            (format!("/tx/{txid}/status"), "esplora_tx::status", json!([txid])),
            (format!("/tx/{txid}/outspends"), "esplora_tx::outspends", json!([txid])),
            (format!("/tx/{txid}/outspend/1"), "esplora_tx::outspend", json!([txid, 1])),
            (format!("/tx/{txid}/merkle-proof"), "esplora_tx::merkle-proof", json!([txid])),
            (format!("/block/{tip}"), "esplora_block", json!([tip])),
            (format!("/block/{tip}/status"), "esplora_block::status", json!([tip])),
            (format!("/block/{tip}/txids"), "esplora_block::txids", json!([tip])),
            (format!("/block/{tip}/txs"), "esplora_block::txs", json!([tip])),
            (format!("/block/{tip}/txs/0"), "esplora_block::txs", json!([tip, 0])),
            ("/blocks".to_owned(), "esplora_blocks", json!([])),
            ("/blocks/1".to_owned(), "esplora_blocks", json!([1])),
            (format!("/address/{miner}"), "esplora_address", json!([miner])),
            (format!("/address/{miner}/utxo"), "esplora_address::utxo", json!([miner])),
            (format!("/address/{miner}/txs"), "esplora_address::txs", json!([miner])),
            (format!("/address/{miner}/txs/mempool"), "esplora_address::txs:mempool", json!([miner])),
            (format!("/address/{miner}/txs/chain"), "esplora_address::txs:chain", json!([miner])),
            (format!("/address/{miner}/txs/chain/{coinbase}"), "esplora_address::txs:chain", json!([miner, coinbase])),
        ] {
            assert_eq!(record(&instance, &path).await, instance.result(method, params).await, "{path}");
        }
        let block = instance.chain.blocks.last().unwrap();
        for (path, expected) in [
            ("/blocks/tip/height".to_owned(), "3".to_owned()),
            ("/blocks/tip/hash".to_owned(), tip.clone()),
            ("/block-height/3".to_owned(), tip.clone()),
            (format!("/block/{tip}/header"), serialize_hex(&block.header)),
            (format!("/block/{tip}/txid/1"), txid.clone()),
            (format!("/tx/{txid}/hex"), serialize_hex(&block.txdata[1])),
        ] {
            assert_eq!(text(&instance, &path).await, (200, expected), "{path}");
        }
        let (status, proof) = text(&instance, &format!("/tx/{txid}/merkleblock-proof")).await;
        assert_eq!(json!(proof), instance.result("esplora_tx::merkleblock-proof", json!([txid])).await);
        assert_eq!(status, 200);
        for (path, expected) in
            [(format!("/tx/{txid}/raw"), serialize(&block.txdata[1])), (format!("/block/{tip}/raw"), serialize(block))]
        {
            let response = get(&instance, &path).await;
            assert_eq!((response.status, response.header("content-type")), (200, Some("application/octet-stream")));
            assert_eq!(response.body, expected, "{path}");
        }
        // A script hash answers as its address does.
        let script = script_of(instance.chain.network, &miner);
        let hash = paraffin_bitcoin_index::ScriptKey::from_script(&script).to_string();
        for below in ["/utxo", "/txs", "/txs/chain"] {
            let by_hash = record(&instance, &format!("/scripthash/{hash}{below}")).await;
            assert_eq!(by_hash, record(&instance, &format!("/address/{miner}{below}")).await, "{below}");
        }
        // HEAD is a GET without the body, and a trailing slash changes nothing.
        let head = instance.send("HEAD", &instance.keyed("/esplora/blocks/tip/height"), &[], "").await;
        assert_eq!((head.status, head.header("content-length")), (200, Some("1")));
        assert_eq!(text(&instance, "/blocks/tip/height/").await.1, "3");
    }
}

/// row MR05
/// row MR04
#[tokio::test]
async fn mempool_and_fees_come_from_the_node() {
    let instance = instance(RawTransactions::Store).await;
    let spent = OutPoint { txid: instance.payment, vout: 0 };
    let pending = payment(&[spent], &[(999_000, script_of(instance.chain.network, &instance.miner))]);
    instance.node.add_unconfirmed(&pending);
    let txid = pending.compute_txid().to_string();
    assert_eq!(get(&instance, "/mempool/txids").await.json(), json!([txid]));
    assert_eq!(get(&instance, "/mempool").await.json()["count"], 1);
    assert_eq!(get(&instance, "/mempool/recent").await.json()[0]["txid"], txid);
    let record = get(&instance, &format!("/tx/{txid}")).await.json();
    assert_eq!((&record["status"], &record["fee"]), (&json!({ "confirmed": false }), &json!(1000)));
    assert_eq!(get(&instance, &format!("/tx/{txid}/hex")).await.text(), serialize_hex(&pending));
    assert_eq!(text(&instance, &format!("/tx/{txid}/merkle-proof")).await.0, 404);
    let fees = get(&instance, "/fee-estimates").await.json();
    let fees = fees.as_object().unwrap();
    for target in (1..=25).chain([144, 504, 1008]) {
        let fee = fees[&target.to_string()].as_f64().unwrap();
        assert!(fee >= 1.0, "{target}: {fee} is below the node's minimum");
    }
    assert_eq!(fees.len(), 28);
}

/// row MR05
#[tokio::test]
async fn errors_are_plain_text_with_the_words_and_codes_that_clients_know() {
    let instance = instance(RawTransactions::Store).await;
    let (nothing, tip) = ("00".repeat(32), instance.chain.tip_hash().to_string());
    let (miner, payee) = (instance.miner.clone(), instance.payee.clone());
    let (txid, coinbase) = (instance.payment, instance.chain.blocks[1].txdata[0].compute_txid());
    for (path, status, words) in [
        (format!("/tx/{nothing}"), 404, "Transaction not found"),
        (format!("/tx/{nothing}/hex"), 404, "Transaction not found"),
        (format!("/tx/{nothing}/raw"), 404, "Transaction not found"),
        (format!("/tx/{nothing}/outspends"), 404, "Transaction not found"),
        (format!("/tx/{nothing}/merkle-proof"), 404, "Transaction not found or is unconfirmed"),
        (format!("/tx/{nothing}/merkleblock-proof"), 404, "Transaction not found or is unconfirmed"),
        ("/tx/xyz".to_owned(), 400, "Invalid hex string"),
        (format!("/tx/{}", &nothing[1..]), 400, "Invalid hex string"),
        (format!("/tx/{txid}/outspend/x"), 400, "Invalid number"),
        (format!("/tx/{txid}/outspend/4294967296"), 400, "Invalid number"),
        (format!("/block/{nothing}"), 404, "Block not found"),
        (format!("/block/{nothing}/header"), 404, "Block not found"),
        (format!("/block/{nothing}/raw"), 404, "Block not found"),
        (format!("/block/{nothing}/txids"), 404, "Block not found"),
        (format!("/block/{nothing}/txs/25"), 404, "Block not found"),
        ("/block/zz".to_owned(), 400, "Invalid hex string"),
        (format!("/block/{tip}/txid/2"), 404, "tx index out of range"),
        (format!("/block/{tip}/txs/25"), 404, "start index out of range"),
        (format!("/block/{tip}/txs/7"), 400, "start index must be a multiple of 25"),
        ("/block-height/4".to_owned(), 404, "Block not found"),
        ("/block-height/-1".to_owned(), 400, "Invalid number"),
        ("/blocks/4".to_owned(), 404, "Block not found"),
        // The last character of the checksum is another one.
        (format!("/address/{}", miner.replace(&miner[miner.len() - 1..], "q")), 400, "Invalid Bitcoin address"),
        ("/address/bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4".to_owned(), 400, "Address on invalid network"),
        ("/address/nonsense/utxo".to_owned(), 400, "Invalid Bitcoin address"),
        (format!("/scripthash/{}", &nothing[2..]), 400, "Invalid scripthash"),
        (format!("/scripthash/{nothing}00/txs"), 400, "Invalid scripthash"),
        // A page token of another address, an unknown one, and an invalid one.
        (format!("/address/{payee}/txs/chain/{coinbase}"), 404, "Transaction not found in this history"),
        (format!("/address/{payee}/txs/chain/{nothing}"), 404, "Transaction not found in this history"),
        (format!("/address/{payee}/txs/chain/zz"), 400, "Invalid hex string"),
        ("/address-prefix/bcrt1".to_owned(), 400, "address search disabled"),
        ("/broadcast".to_owned(), 400, "Missing tx"),
        ("/nothing/here".to_owned(), 404, "endpoint does not exist \"/nothing/here\""),
        ("/broadcast/00".to_owned(), 404, "endpoint does not exist \"/broadcast/00\""),
        (String::new(), 404, "endpoint does not exist \"/\""),
    ] {
        assert_eq!(text(&instance, &path).await, (status, words.to_owned()), "{path}");
    }
    // An unknown transaction is unconfirmed, and an unknown block is not in the best chain.
    assert_eq!(record(&instance, &format!("/tx/{nothing}/status")).await, json!({ "confirmed": false }));
    assert_eq!(record(&instance, &format!("/block/{nothing}/status")).await["in_best_chain"], false);
    assert_eq!(record(&instance, &format!("/address/{}/utxo", taproot(instance.chain.network, 3))).await, json!([]));
    for verb in ["PUT", "DELETE", "POST"] {
        let response = instance.send(verb, &instance.keyed("/esplora/blocks"), &[], "").await;
        assert_eq!(response.status, 404, "{verb}");
    }
}

#[tokio::test]
async fn broadcast_passes_on_the_nodes_txid_or_its_own_words() {
    let instance = instance(RawTransactions::Store).await;
    let post = |path: &str, body: &str| {
        let (path, body) = (instance.keyed(&format!("/esplora{path}")), body.to_owned());
        let instance = &instance;
        async move { instance.post(&path, body).await }
    };
    let sent = post("/tx", &format!("{}\n", "00".repeat(60))).await;
    assert_eq!((sent.status, sent.text(), sent.header("content-type")), (200, "124", Some("text/plain")));
    let refused = post("/tx", "00").await;
    let words = r#"sendrawtransaction RPC error: {"code":-26,"message":"bad-txns"}"#;
    assert_eq!((refused.status, refused.text()), (400, words));
    let refused = get(&instance, "/broadcast?tx=00").await;
    assert_eq!((refused.status, refused.text()), (400, words));
    assert_eq!(instance.post(&instance.keyed("/esplora/tx"), b"\xff\xfe").await.text(), "Invalid hex string");

    // The node of the tests answers a package with the parameters that it got.
    let (first, second) = ("aa".repeat(60), "bb".repeat(60));
    let both = json!([first, second]);
    let sent = post("/txs/package?maxfeerate=0.1&maxburnamount=0.00000001", &both.to_string()).await;
    assert_eq!((sent.status, sent.text()), (200, format!("[{both},0.1,0.00000001]").as_str()));
    for (written, passed) in [("1e-5", "0.00001000"), (".1", "0.10000000"), ("5.", "5.00000000"), ("0.10", "0.10")] {
        let sent = post(&format!("/txs/package?maxfeerate={written}"), &both.to_string()).await;
        assert_eq!((sent.status, sent.text()), (200, format!("[{both},{passed}]").as_str()), "{written}");
    }
    assert_eq!(post("/txs/package", &json!([first]).to_string()).await.json(), json!([[first]]));
    assert_eq!(instance.result("esplora_txs:package", json!([["aa", "bb"], "0.1"])).await, json!([["aa", "bb"], 0.1]));
    let many = serde_json::to_string(&vec!["aa"; 26]).unwrap();
    let no_hex = json!([first, "zz".repeat(60)]).to_string();
    for (path, body, words) in [
        ("/txs/package", many.as_str(), "Exceeded maximum of 25 transactions"),
        ("/txs/package", r#"["aa"]"#, "Invalid transaction size for item 0"),
        ("/txs/package", no_hex.as_str(), "Invalid transaction hex for item 1"),
        ("/txs/package?maxfeerate=x", "[]", "Invalid maxfeerate"),
        ("/txs/package?maxfeerate=inf", "[]", "Invalid maxfeerate"),
        ("/txs/package?maxfeerate=-0", "[]", "Invalid maxfeerate"),
        ("/txs/package?maxburnamount=-1", "[]", "Invalid maxburnamount"),
        ("/txs/package", "{}", "Invalid package: a JSON array of transactions in hex is expected"),
        ("/txs/package", "[1]", "Invalid package: a JSON array of transactions in hex is expected"),
    ] {
        let refused = post(path, body).await;
        assert_eq!((refused.status, refused.text()), (400, words), "{path} {body}");
    }
    instance.node.set_away(true);
    let away = post("/tx", "00").await;
    assert_eq!((away.status, away.text()), (503, "the Bitcoin node is not available"));
}

#[tokio::test]
async fn answers_from_confirmed_blocks_alone_are_not_sent_twice() {
    let mut instance = instance(RawTransactions::Store).await;
    let tip = instance.chain.tip_hash().to_string();
    let fixed = [
        "/blocks/tip/height".to_owned(),
        format!("/block/{tip}/txids"),
        format!("/address/{}/txs/chain", instance.miner),
        format!("/tx/{}/merkle-proof", instance.payment),
    ];
    let mut tags = Vec::new();
    for path in &fixed {
        let path = instance.keyed(&format!("/esplora{path}"));
        let tag = instance.get(&path).await.header("etag").unwrap_or_else(|| panic!("{path}")).to_owned();
        assert_eq!(instance.send("GET", &path, &[("If-None-Match", &tag)], "").await.status, 304, "{path}");
        tags.push(tag);
    }
    for path in
        [format!("/address/{}/utxo", instance.miner), format!("/tx/{}", instance.payment), "/mempool".to_owned()]
    {
        let response = get(&instance, &path).await;
        assert_eq!((response.header("etag"), response.header("cache-control")), (None, Some("no-store")), "{path}");
    }
    let script = script_of(instance.chain.network, &instance.miner);
    instance.chain.mine(script, vec![]);
    for (path, tag) in fixed.iter().zip(&tags) {
        let path = instance.keyed(&format!("/esplora{path}"));
        assert_eq!(instance.send("GET", &path, &[("If-None-Match", tag)], "").await.status, 200, "{path}");
    }
    // Errors are not cacheable.
    assert_eq!(get(&instance, "/blocks/99").await.header("etag"), None);
}

#[tokio::test]
async fn a_key_is_needed_and_an_empty_index_says_so() {
    let instance = instance(RawTransactions::Store).await;
    for path in ["/v4/esplora/blocks/tip/height", "/v4/api/esplora/blocks", "/v4/nobody/esplora/blocks"] {
        let response = instance.get(path).await;
        assert_eq!((response.status, &response.json()["code"]), (401, &json!("INVALID_API_KEY")), "{path}");
    }
    let keyed = vec![handlers::esplora()];
    let empty = Instance::with(Setup { keyed, empty_chain: true, ..Setup::default() }).await;
    for path in ["/blocks/tip/height", "/blocks"] {
        assert_eq!(text(&empty, path).await, (503, "the index holds no block yet".to_owned()), "{path}");
    }
}
