//! `sandshrew_*`.

use bitcoin::OutPoint;
use serde_json::json;

use super::scenario::Scenario;
use crate::chain::{payment, script_of};
use crate::instance::Instance;

#[tokio::test]
async fn a_multicall_answers_each_call_in_order() {
    let Scenario { instance, .. } = Scenario::start().await;
    let calls = json!([
        ["btc_getblockcount", []],
        ["metashrew_height"],
        ["alkanes_simulate", [{ "target": "2:1", "inputs": ["99"] }]],
        ["nonsense_method", []],
        ["esplora_tx", ["zz"]],
        "no call",
        [5],
        ["esplora_blocks:tip:height", null],
        ["btc_getblockhash", { "height": 1 }],
    ]);
    let answers = instance.result("sandshrew_multicall", calls).await;
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 9);
    assert_eq!((&answers[0], &answers[1]), (&json!({ "result": 6 }), &json!({ "result": "6" })));
    assert_eq!(answers[2]["result"]["status"], 0);
    for (index, code) in [(3, -32601), (4, -32602), (5, -32602), (6, -32602), (8, -32602)] {
        assert_eq!(answers[index]["error"]["code"], code, "{index}");
        assert!(answers[index].get("result").is_none());
    }
    assert_eq!(answers[7], json!({ "result": 6 }));
    assert_eq!(instance.result("sandshrew_multicall", json!([])).await, json!([]));
}

#[tokio::test]
async fn multicalls_share_a_budget_and_stand_two_deep() {
    let instance = Instance::start().await;
    let call = json!(["btc_getblockcount", []]);
    let answers = instance.result("sandshrew_multicall", json!(vec![call.clone(); 1030])).await;
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 1030);
    assert_eq!(answers[1023], json!({ "result": 3 }));
    assert_eq!(answers[1024]["error"]["code"], -32602);
    assert!(answers[1029]["error"]["message"].as_str().unwrap().starts_with("multicall sub-call budget exhausted"));
    let inner = json!(["sandshrew_multicall", [call]]);
    let two = instance.result("sandshrew_multicall", json!([inner])).await;
    assert_eq!(two, json!([{ "result": [{ "result": 3 }] }]));
    let three = instance.result("sandshrew_multicall", json!([["sandshrew_multicall", [inner]]])).await;
    assert_eq!(three[0]["result"][0]["error"]["code"], -32602);
    let nested = json!([["sandshrew_multicall", vec![call; 1024]]]);
    let nested = instance.result("sandshrew_multicall", nested).await;
    assert_eq!(nested[0]["result"][1022], json!({ "result": 3 }));
    assert_eq!(nested[0]["result"][1023]["error"]["code"], -32602);
    assert_eq!(instance.error("sandshrew_nonsense", json!([])).await.0, -32601);
}

#[tokio::test]
async fn balances_are_sorted_by_what_outputs_hold() {
    let Scenario { instance, mint, .. } = Scenario::start().await;
    let network = instance.chain.network;
    let paid = payment(&[OutPoint { txid: mint, vout: 1 }], &[(700, script_of(network, &instance.payee))]);
    instance.node.add_unconfirmed(&paid);
    let reported =
        instance.result("sandshrew_balances", json!([{ "address": instance.payee, "protocolTag": "1" }])).await;
    assert_eq!(
        reported["spendable"],
        json!([{ "outpoint": format!("{}:0", instance.payment), "value": 1_000_000, "height": 3 }])
    );
    assert_eq!(
        reported["assets"],
        json!([{ "outpoint": format!("{mint}:0"), "value": 546, "height": 5,
            "runes": [{ "block": "2", "tx": "1", "amount": "100" }] }])
    );
    assert_eq!(reported["pending"], json!([{ "outpoint": format!("{}:0", paid.compute_txid()), "value": 700 }]));
    assert_eq!((&reported["metashrewHeight"], &reported["ordHeight"]), (&json!(6), &json!(0)));
    let both = json!([{ "address": instance.payee, "assetAddress": instance.miner }]);
    assert_eq!(instance.result("sandshrew_balances", both).await["assets"].as_array().unwrap().len(), 2);
    for wrong in [
        json!([]),
        json!([{}]),
        json!([{ "address": "nobody" }]),
        json!([{ "address": instance.payee, "protocolTag": "x" }]),
    ] {
        assert_eq!(instance.error("sandshrew_balances", wrong.clone()).await.0, -32602, "{wrong}");
    }
}
