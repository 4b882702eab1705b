//! `btc_*`, and the methods of it that the index answers.

use serde_json::{Value, json};

use crate::instance::Instance;
use crate::node::SECRET_ADDRESS;

/// row MR02
#[tokio::test]
async fn counts_and_hashes_come_from_the_index_even_while_the_node_is_away() {
    let instance = Instance::start().await;
    instance.node.set_away(true);
    let tip = instance.chain.tip_hash().to_string();
    assert_eq!(instance.result("btc_getblockcount", json!([])).await, 3);
    assert_eq!(instance.result("getblockcount", json!([])).await, 3);
    assert_eq!(instance.result("btc_getbestblockhash", json!([])).await, tip);
    for (height, block) in instance.chain.blocks.iter().enumerate() {
        assert_eq!(instance.result("btc_getblockhash", json!([height])).await, block.block_hash().to_string());
        assert_eq!(instance.result("getblockhash", json!([height.to_string()])).await, block.block_hash().to_string());
    }
    for height in [json!(4), json!(-1), json!(4_294_967_296_u64), json!("99999999999999999999")] {
        assert_eq!(
            instance.error("btc_getblockhash", json!([height])).await,
            (-8, "Block height out of range".to_owned())
        );
    }
    assert!(instance.node.calls.lock().unwrap().is_empty());
}

/// row MR02
#[tokio::test]
async fn other_read_methods_pass_to_the_node_and_its_answer_comes_back_untouched() {
    let instance = Instance::start().await;
    let response = instance.post(&instance.keyed(""), r#"{"method":"btc_getblockchaininfo","id":1}"#).await;
    assert_eq!(
        response.text(),
        r#"{"jsonrpc":"2.0","result":{"chain":"regtest","blocks":3,"difficulty":4.656542373906925e-10,"big":12345678901234567890123},"id":1}"#
    );
    assert_eq!(response.header("x-indexed-height"), None, "nothing was read from the index");
    for method in ["btc_testmempoolaccept", "submitpackage", "btc_getrawtransaction", "decodescript"] {
        assert_eq!(instance.result(method, json!(["00", 1e2, null])).await, json!(["00", 1e2, null]), "{method}");
    }
    let calls: Vec<_> = instance.node.calls.lock().unwrap().iter().map(|(method, _)| method.clone()).collect();
    assert_eq!(calls, ["getblockchaininfo", "testmempoolaccept", "submitpackage", "getrawtransaction", "decodescript"]);
}

/// row MR02
#[tokio::test]
async fn errors_of_the_node_keep_code_and_message_and_its_absence_has_a_code_of_its_own() {
    let instance = Instance::start().await;
    assert_eq!(instance.error("btc_getblock", json!(["00"])).await, (-5, "Block not found".to_owned()));
    instance.node.set_away(true);
    let answer = instance.call("btc_getblock", json!(["00"])).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(answer["error"]["data"]["code"], "UPSTREAM_UNAVAILABLE");
    assert!(!answer.to_string().contains(SECRET_ADDRESS));
}

#[tokio::test]
async fn a_method_that_is_not_allowed_never_reaches_the_node() {
    let instance = Instance::start().await;
    for method in [
        "btc_stop",
        "stop",
        "btc_sendtoaddress",
        "getpeerinfo",
        "btc_generatetoaddress",
        "btc_invalidateblock",
        "submitblock",
    ] {
        assert_eq!(instance.error(method, json!([])).await.0, -32601, "{method}");
    }
    assert!(instance.node.calls.lock().unwrap().is_empty());
}

/// row MR10
#[tokio::test]
async fn metashrew_height_is_a_decimal_string() {
    let instance = Instance::start().await;
    for params in [Value::Null, json!([]), json!({}), json!([{}])] {
        assert_eq!(instance.result("metashrew_height", params).await, json!("3"));
    }
}

/// row MR04
#[tokio::test]
async fn fee_estimates_hold_the_standard_targets_and_never_less_than_the_node_accepts() {
    let instance = Instance::start().await;
    let estimates = instance.result("esplora_fee-estimates", json!([])).await;
    let estimates = estimates.as_object().unwrap();
    let mut targets: Vec<u16> = estimates.keys().map(|target| target.parse().unwrap()).collect();
    targets.sort_unstable();
    assert_eq!(targets, (1..=25).chain([144, 504, 1008]).collect::<Vec<_>>());
    // The node knows targets 2 (20 sat/vB), 6 (5 sat/vB) and 1008 (0.5 sat/vB), and accepts 1 sat/vB.
    for (target, expected) in [("1", 20.0), ("2", 20.0), ("5", 20.0), ("6", 5.0), ("504", 5.0), ("1008", 1.0)] {
        assert_eq!(estimates[target].as_f64(), Some(expected), "{target}");
    }
    assert_eq!(instance.result("esplora_feeestimates", json!([])).await.as_object().unwrap(), estimates);
}
