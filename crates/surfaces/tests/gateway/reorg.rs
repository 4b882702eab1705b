//! The rollback endpoint.

use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};

async fn instance() -> Instance {
    let keyed = vec![handlers::reorg()];
    Instance::with(Setup { keyed, ..Setup::default() }).await
}

async fn call(instance: &Instance, target: &str, body: Value) -> Value {
    let response = instance.post(&instance.keyed(&format!("/reorg/{target}")), body.to_string()).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")), "{body}");
    response.json()
}

fn answer(result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "result": result, "error": null, "id": 7 })
}

fn request(method: &str, params: &Value) -> Value {
    json!({ "id": 7, "method": method, "params": params })
}

/// row RO01
/// row RO06
#[tokio::test]
async fn the_block_count_is_the_height_of_the_path_whatever_the_tip() {
    let instance = instance().await;
    for target in ["0", "2", "3", "950564", "18446744073709551615"] {
        let expected = answer(&serde_json::from_str(target).unwrap());
        for body in [json!({ "id": 7, "method": "getblockcount" }), request("getblockcount", &json!([]))] {
            assert_eq!(call(&instance, target, body).await, expected);
        }
        // Also with the slash that some clients put at the end.
        assert_eq!(call(&instance, &format!("{target}/"), request("getblockcount", &json!([]))).await, expected);
    }
    // The node was not called, and calls share no state.
    assert!(instance.node.calls.lock().unwrap().is_empty());
}

/// row RO02
#[tokio::test]
async fn hashes_above_the_height_are_synthetic_and_the_others_are_the_nodes() {
    let instance = instance().await;
    let made_up = |height: u64| answer(&json!(format!("{}{height:016x}", "f".repeat(48))));
    for height in [3, 4, 951_000, u64::MAX] {
        assert_eq!(call(&instance, "2", request("getblockhash", &json!([height]))).await, made_up(height));
    }
    assert!(instance.node.calls.lock().unwrap().is_empty());
    // The node of the tests answers with the parameters that it got.
    for height in [0, 1, 2] {
        let reported = call(&instance, "2", request("getblockhash", &json!([height]))).await;
        assert_eq!(reported, answer(&json!([height])));
    }
    // The node refuses an invalid height; it never gets a synthetic hash.
    for params in [json!([]), json!([-1]), json!(["3"]), json!([3.5]), json!([3, 4]), json!([null])] {
        assert_eq!(call(&instance, "2", request("getblockhash", &params)).await, answer(&params), "{params}");
    }
}

/// row RO03
#[tokio::test]
async fn the_best_hash_is_asked_of_the_node_at_the_height() {
    let instance = instance().await;
    assert_eq!(call(&instance, "2", request("getbestblockhash", &json!([]))).await, answer(&json!([2])));
    assert_eq!(instance.node.calls.lock().unwrap().as_slice(), [("getblockhash".to_owned(), "[2]".to_owned())]);
}

/// row RO04
/// row RO08
#[tokio::test]
async fn read_methods_and_broadcast_pass_through_and_the_nodes_errors_with_them() {
    let instance = instance().await;
    let made_up = format!("{}{:016x}", "f".repeat(48), 951_000);
    for (method, params) in [
        ("getblockheader", json!([made_up, true])),
        ("gettxout", json!(["00", 0])),
        ("getrawtransaction", json!(["00", 1])),
        ("btc_getblockheader", json!(["aa"])),
    ] {
        assert_eq!(call(&instance, "2", request(method, &params)).await, answer(&params), "{method}");
    }
    assert_eq!(call(&instance, "2", request("getrawmempool", &json!([]))).await, answer(&json!([])));
    let sent = call(&instance, "2", request("sendrawtransaction", &json!(["00".repeat(60)]))).await;
    assert_eq!(sent["result"], "124");
    for (method, params, code, message) in [
        ("getblock", json!([made_up, 0]), -5, "Block not found"),
        ("sendrawtransaction", json!(["00"]), -26, "bad-txns"),
        ("stop", json!([]), -32601, "Method not found"),
        ("invalidateblock", json!([made_up]), -32601, "Method not found"),
        ("generatetoaddress", json!([1, "x"]), -32601, "Method not found"),
        ("walletpassphrase", json!(["x", 1]), -32601, "Method not found"),
    ] {
        let reported = call(&instance, "2", request(method, &params)).await;
        let expected =
            json!({ "jsonrpc": "2.0", "result": null, "error": { "code": code, "message": message }, "id": 7 });
        assert_eq!(reported, expected, "{method}");
    }
    // A batch, as some clients send it, with ids of any kind.
    let batch = json!([
        { "version": "1.1", "id": "1795-0", "method": "getblockcount", "params": [] },
        { "id": 0, "method": "getblockhash", "params": [3] },
    ]);
    let reported = call(&instance, "2", batch).await;
    assert_eq!(
        (&reported[0]["id"], &reported[0]["result"], &reported[0]["error"]),
        (&json!("1795-0"), &json!(2), &Value::Null)
    );
    assert_eq!((&reported[1]["id"], reported[1]["result"].as_str().unwrap().len()), (&json!(0), 64));
    instance.node.set_away(true);
    let away = call(&instance, "2", request("getblockhash", &json!([1]))).await;
    assert_eq!(away["error"]["data"]["code"], "UPSTREAM_UNAVAILABLE");
    assert_eq!(call(&instance, "2", request("getblockcount", &json!([]))).await["result"], 2);
}

/// row RO05
/// row RO09
#[tokio::test]
async fn get_explains_the_use_with_the_depth_rule_and_the_order_of_operations() {
    let instance = instance().await;
    let response = instance.get(&instance.keyed("/reorg/950564")).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("text/plain")));
    for reported in
        ["950564", "getblockcount", "maximum reorg depth", "default is 100", "Order of operations", "950565"]
    {
        assert!(response.text().contains(reported), "{reported}");
    }
    // The page of the documentation says the same.
    let page = include_str!("../../../../docs/reorg.md");
    for reported in ["maximum reorg depth", "100", "## Order of operations", "no safety cap"] {
        assert!(page.contains(reported), "{reported}");
    }
}

/// row RO07
#[tokio::test]
async fn without_a_key_it_is_401_and_a_bad_height_is_400() {
    let instance = instance().await;
    for path in ["/v4/reorg/5", "/v4/jsonrpc/reorg/5", "/v4/nobody/reorg/5", "/v4/reorg/x"] {
        let refused = instance.post(path, request("getblockcount", &json!([])).to_string()).await;
        let reported = refused.json();
        assert_eq!((refused.status, &reported["code"]), (401, &json!("INVALID_API_KEY")), "{path}");
        assert_eq!(reported["error"]["code"], -32001);
    }
    for target in ["-1", "1.5", "abc", "0x10", "18446744073709551616", "1e3", "%20", ""] {
        let path = instance.keyed(&format!("/reorg/{target}"));
        for verb in ["POST", "GET", "PUT"] {
            let refused = instance.send(verb, &path, &[], r#"{"id":1,"method":"getblockcount"}"#).await;
            let reported = refused.json();
            assert_eq!((refused.status, &reported["code"]), (400, &json!("INVALID_REQUEST")), "{verb} {target}");
            assert_eq!(
                (&reported["result"], &reported["error"]["code"]),
                (&Value::Null, &json!(-32602)),
                "{verb} {target}"
            );
        }
    }
    assert_eq!(instance.get(&instance.keyed("/reorg/5/6")).await.status, 404);
    assert_eq!(instance.send("PUT", &instance.keyed("/reorg/5"), &[], "").await.status, 405);
    let broken = instance.post(&instance.keyed("/reorg/5"), "{").await;
    assert_eq!((broken.status, &broken.json()["error"]["code"]), (200, &json!(-32700)));
    assert!(broken.json().get("result").is_some());
}
