//! The JSON-RPC envelope over the wire.

use serde_json::{Value, json};

use crate::instance::Instance;

/// row GW01
/// row MR01
#[tokio::test]
async fn get_block_count_answers_with_the_key_in_the_path() {
    let instance = Instance::start().await;
    let response = instance
        .post(&instance.keyed(""), r#"{"jsonrpc":"2.0","method":"btc_getblockcount","params":[],"id":1}"#)
        .await;
    assert_eq!(response.status, 200);
    assert_eq!(response.text(), r#"{"jsonrpc":"2.0","result":3,"id":1}"#);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("content-length"), Some(response.body.len().to_string().as_str()));
    assert_eq!(response.header("x-indexed-height"), Some("3"));
    assert_eq!(response.header("cache-control"), Some("no-store"));
    assert!(response.header("x-request-id").is_some());
}

/// row GW13
#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    let instance = Instance::start().await;
    for id in ["0", "\"1795-0\"", "null", "123456789012345678901234567890", "1.50", "-0", "\"\\ud800\"", "\"\\u00e9\""]
    {
        let response = instance.post("/v4/jsonrpc", format!(r#"{{"method":"getblockcount","id":{id}}}"#)).await;
        assert_eq!(response.text(), format!(r#"{{"jsonrpc":"2.0","result":3,"id":{id}}}"#));
    }
    let long = "x".repeat(1_000_000);
    let response = instance.post("/v4/jsonrpc", format!(r#"{{"method":"getblockcount","id":"{long}"}}"#)).await;
    assert_eq!(response.json()["id"], json!(long));
}

/// row MR01
#[tokio::test]
async fn no_parameters_may_be_written_in_every_way_and_with_any_content_type() {
    let instance = Instance::start().await;
    for params in ["", r#","params":null"#, r#","params":[]"#, r#","params":{}"#, r#","params":[{}]"#] {
        for content_type in ["application/json", "text/plain", "application/x-www-form-urlencoded", "garbage"] {
            let body = format!(r#"{{"method":"btc_getblockcount","id":1{params}}}"#);
            let headers = [("Content-Type", content_type), ("Authorization", "Basic dXNlcjpwYXNz")];
            let response = instance.send("POST", "/v4/jsonrpc/", &headers, &body).await;
            assert_eq!(response.json()["result"], 3, "{params} {content_type}");
        }
    }
}

/// row GW14
#[tokio::test]
async fn invalid_json_is_minus_32700_with_status_200() {
    let instance = Instance::start().await;
    for body in ["", "{", "nonsense", "{\"a\":1}}", "\0", "[{\"method\":"] {
        let response = instance.post("/v4/jsonrpc", body).await;
        assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (200, Some(-32700)), "{body}");
        assert_eq!(response.json()["id"], Value::Null);
    }
    assert_eq!(instance.post("/v4/jsonrpc", b"\xff\xfe").await.json()["error"]["code"], -32700);
}

/// row GW15
#[tokio::test]
async fn what_is_no_request_is_minus_32600() {
    let instance = Instance::start().await;
    for body in [
        "5",
        "\"a\"",
        "true",
        "null",
        "{}",
        "[]",
        r#"{"method":1,"id":1}"#,
        r#"{"method":"getblockcount","jsonrpc":"3.0","id":1}"#,
    ] {
        let response = instance.post("/v4/jsonrpc", body).await;
        assert_eq!((response.status, response.json()["error"]["code"].as_i64()), (200, Some(-32600)), "{body}");
    }
}

/// row GW16
#[tokio::test]
async fn an_unknown_method_is_minus_32601_with_the_known_words() {
    let instance = Instance::start().await;
    let methods = [
        "nothing",
        "btc_nothing",
        "btc_stop",
        "stop",
        "btc_getpeerinfo",
        "btc_generatetoaddress",
        "unknown_method",
        "_",
        "btc_",
        "",
        "esplora_",
        "esplora_nothing",
        "esplora_tx::nothing",
        "esplora_address::nothing",
        "esplora_block::nothing",
        "metashrew_nothing",
        "ord_nothing",
        "BTC_getblockcount",
    ];
    for method in methods {
        assert_eq!(instance.error(method, json!(["a"])).await, (-32601, "Method not found".to_owned()), "{method}");
    }
}

/// row GW17
#[tokio::test]
async fn wrong_parameters_are_minus_32602() {
    let instance = Instance::start().await;
    for (method, params) in [
        ("btc_getblockcount", json!([1])),
        ("btc_getblockcount", json!("scalar")),
        ("btc_getblockhash", json!([])),
        ("btc_getblockhash", json!([true])),
        ("btc_getblockhash", json!([{}])),
        ("btc_getblockhash", json!(["abc"])),
        ("btc_getblockhash", json!([1, 2])),
        ("esplora_tx", json!([])),
        ("esplora_tx", json!(["zz"])),
        ("esplora_tx", json!([[1]])),
        ("esplora_address", json!(["nothing"])),
        ("metashrew_height", json!([5])),
    ] {
        assert_eq!(instance.error(method, params.clone()).await.0, -32602, "{method} {params}");
    }
}

/// row GW18
#[tokio::test]
async fn a_broken_handler_is_minus_32603_without_details_and_the_server_lives_on() {
    let instance = Instance::start().await;
    let batch =
        r#"[{"method":"getblockcount","id":1},{"method":"getchaintips","id":2},{"method":"getblockcount","id":3}]"#;
    let response = instance.post("/v4/jsonrpc", batch).await;
    let answers = response.json();
    assert_eq!((&answers[0]["result"], &answers[2]["result"]), (&json!(3), &json!(3)));
    assert_eq!(answers[1]["error"]["code"], -32603);
    assert!(!response.text().contains(crate::node::SECRET_ADDRESS));
    let metrics = crate::client::request(instance.metrics, "GET", "/metrics", &[], b"").await;
    assert!(metrics.text().contains("paraffin_handler_panics_total 1"), "{}", metrics.text());
}

#[tokio::test]
async fn a_batch_is_answered_in_its_order_and_bad_entries_spoil_nothing() {
    let instance = Instance::start().await;
    let batch = r#"[{"method":"getblockcount","id":"a"},5,{"id":7},{"method":"nothing","id":8},{"method":"getblockcount"},{"method":"getbestblockhash","id":null},[]]"#;
    let response = instance.post(&instance.keyed(""), batch).await;
    let best = instance.chain.tip_hash().to_string();
    let answers = response.json();
    let answers = answers.as_array().unwrap();
    let seen: Vec<_> = answers
        .iter()
        .map(|answer| (answer["id"].clone(), answer["result"].clone(), answer["error"]["code"].clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (json!("a"), json!(3), Value::Null),
            (Value::Null, Value::Null, json!(-32600)),
            (json!(7), Value::Null, json!(-32600)),
            (json!(8), Value::Null, json!(-32601)),
            (Value::Null, json!(best), Value::Null),
            (Value::Null, Value::Null, json!(-32600)),
        ]
    );
    for answer in answers {
        assert!(answer.get("result").is_some() != answer.get("error").is_some(), "never both: {answer}");
    }
}

#[tokio::test]
async fn a_thousand_entries_are_answered_and_one_more_is_refused() {
    let instance = Instance::start().await;
    let batch = |count: usize| {
        let entries: Vec<_> = (0..count).map(|id| json!({ "method": "getblockcount", "id": id })).collect();
        Value::from(entries).to_string()
    };
    let answers = instance.post("/v4/jsonrpc", batch(1000)).await.json();
    let ids: Vec<_> = answers.as_array().unwrap().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (0..1000).collect::<Vec<_>>());
    let refused = instance.post("/v4/jsonrpc", batch(1001)).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_i64()), (200, Some(-32600)));
}

#[tokio::test]
async fn notifications_run_and_are_not_answered() {
    let instance = Instance::start().await;
    for body in [r#"{"method":"getmempoolinfo"}"#, r#"[{"method":"getmempoolinfo"},{"method":"nothing"}]"#] {
        instance.node.calls.lock().unwrap().clear();
        let response = instance.post("/v4/jsonrpc", body).await;
        assert_eq!((response.status, response.body.len()), (204, 0), "{body}");
        assert_eq!(instance.node.calls.lock().unwrap().len(), 1, "it ran: {body}");
    }
}

#[tokio::test]
async fn all_entries_of_a_batch_read_the_same_block() {
    let mut instance = Instance::start().await;
    let script = crate::chain::script_of(instance.chain.network, &instance.miner);
    let entries: Vec<_> = (0..200).map(|id| json!({ "method": "getblockcount", "id": id })).collect();
    let body = Value::from(entries).to_string();
    let address = instance.address;
    let asked =
        tokio::spawn(async move { crate::client::request(address, "POST", "/v4/jsonrpc", &[], body.as_bytes()).await });
    instance.chain.mine(script.clone(), vec![]);
    instance.chain.mine(script, vec![]);
    let response = asked.await.unwrap();
    let heights: std::collections::BTreeSet<_> =
        response.json().as_array().unwrap().iter().map(|answer| answer["result"].as_u64().unwrap()).collect();
    assert_eq!(heights.len(), 1);
    assert_eq!(response.header("x-indexed-height").unwrap(), heights.first().unwrap().to_string());
}
