//! Invalid requests, and mistakes of other servers that must not be repeated.

use serde_json::{Value, json};

use super::markets::pools;
use super::scene::{Scene, text};

/// Every method that takes members, with a request that is right.
fn good(pool: &str, address: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("get_address_balances", json!({ "address": address })),
        ("get_address_outpoints", json!({ "address": address })),
        ("get_address_spendable_outpoints", json!({ "address": address })),
        ("get_outpoint_balances", json!({ "outpoint": format!("{}:0", "ab".repeat(32)) })),
        ("get_holders", json!({ "alkane": "2:0" })),
        ("get_holders_count", json!({ "alkane": "2:0" })),
        ("get_keys", json!({ "alkane": "2:0" })),
        ("ammdata.get_candles", json!({ "pool": pool })),
        ("ammdata.get_trades", json!({ "pool": pool })),
        ("ammdata.get_activity", json!({ "pool": pool })),
        ("ammdata.get_pools", json!({})),
        ("ammdata.get_amm_factories", json!({})),
        ("ammdata.find_best_swap_path", json!({ "token_in": "2:0", "token_out": "32:0", "amount_in": "100000" })),
        ("ammdata.get_best_mev_swap", json!({ "token": "2:0" })),
    ]
}

/// row AN17
/// row AN18
#[tokio::test]
async fn positional_parameters_missing_members_and_wrong_types_are_errors_for_every_method() {
    let scene = Scene::start(5, 114).await;
    let pool = text(pools(&scene, scene.height())[0].0);
    for (method, ask) in good(&pool, &scene.instance.payee) {
        assert!(scene.result(method, ask.clone()).await["ok"].is_boolean(), "{method}");
        assert_eq!(scene.error(method, json!([ask])).await, -32602, "{method}");
        assert_eq!(scene.error(method, json!([])).await, -32602, "{method}");
        assert_eq!(scene.error(method, json!(["2:0"])).await, -32602, "{method}");
        assert_eq!(scene.error(method, json!("2:0")).await, -32602, "{method}");
        let members = ask.as_object().unwrap();
        for name in members.keys() {
            for wrong in [json!(7.5), json!(true), json!([]), json!({}), Value::Null] {
                let mut broken = members.clone();
                broken.insert(name.clone(), wrong.clone());
                assert_eq!(scene.error(method, json!(broken)).await, -32602, "{method} {name} {wrong}");
            }
            let mut short = members.clone();
            short.remove(name);
            assert_eq!(scene.error(method, json!(short)).await, -32602, "{method} without {name}");
        }
        // Unknown members, and those that are null, change nothing.
        let mut padded = members.clone();
        padded.extend([("nonsense".to_owned(), json!(1)), ("height".to_owned(), Value::Null)]);
        assert_eq!(scene.result(method, json!(padded)).await, scene.result(method, ask.clone()).await);
    }
}

#[tokio::test]
async fn a_height_is_that_of_the_answer_and_one_that_is_not_indexed_is_said_to_be() {
    let scene = Scene::start(5, 114).await;
    let pool = text(pools(&scene, scene.height())[0].0);
    for (method, ask) in good(&pool, &scene.instance.payee) {
        let mut members = ask.as_object().unwrap().clone();
        let now = scene.result(method, ask.clone()).await;
        for same in [json!(scene.height()), json!("latest"), json!(scene.height().to_string())] {
            members.insert("height".to_owned(), same);
            assert_eq!(scene.result(method, json!(members)).await, now, "{method}");
        }
        for (above, detail) in [
            (json!(scene.height() + 1), "height_not_indexed"),
            (json!(u64::MAX), "height_out_of_range"),
            (json!("soon"), "height_unreadable"),
        ] {
            members.insert("height".to_owned(), above);
            let answer = scene.result(method, json!(members)).await;
            assert_eq!(answer["ok"], false, "{method}");
            let reported = (&answer["error"], &answer["detail"]);
            assert_eq!(reported, (&json!("missing_or_invalid_height"), &json!(detail)), "{method}");
        }
        for wrong in [json!(-1), json!(1.5), json!(true), json!([])] {
            members.insert("height".to_owned(), wrong);
            assert_eq!(scene.error(method, json!(members)).await, -32602, "{method}");
        }
    }
}

#[tokio::test]
async fn batches_keep_their_order_and_notifications_have_no_answer() {
    let scene = Scene::start(5, 104).await;
    let path = scene.instance.keyed("/espo");
    let batch = json!([
        { "jsonrpc": "2.0", "id": "a", "method": "essentials.ping", "params": [] },
        { "jsonrpc": "2.0", "method": "ammdata.ping" },
        { "jsonrpc": "2.0", "id": null, "method": "get_espo_height" },
        { "jsonrpc": "2.0", "id": 3, "method": "get_keys", "params": ["2:0"] },
        7,
    ]);
    let answers = scene.instance.post(&path, batch.to_string()).await.json();
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("a"), &Value::Null, &json!(3), &Value::Null]);
    assert_eq!((&answers[0]["result"], &answers[1]["result"]["height"]), (&json!("pong"), &json!(104)));
    assert_eq!((&answers[2]["error"]["code"], &answers[3]["error"]["code"]), (&json!(-32602), &json!(-32600)));
    for silent in [
        json!({ "jsonrpc": "2.0", "method": "ammdata.get_pools" }),
        json!([{ "jsonrpc": "2.0", "method": "ping" }]),
        // Also one that fails.
        json!({ "jsonrpc": "2.0", "method": "get_keys", "params": [1] }),
    ] {
        let response = scene.instance.post(&path, silent.to_string()).await;
        assert_eq!((response.status, response.text().len()), (204, 0), "{silent}");
    }
    for (body, code) in [("[]", -32600), ("{", -32700), (r#"{"jsonrpc":"3.0","id":1,"method":"ping"}"#, -32600)] {
        let answer = scene.instance.post(&path, body).await.json();
        assert_eq!(answer["error"]["code"], code, "{body}");
    }
    let response = scene.instance.post("/v4/jsonrpc/espo", r#"{"id":1,"method":"ping"}"#).await;
    assert_eq!((response.status, &response.json()["code"]), (401, &json!("INVALID_API_KEY")));
    let get = scene.instance.get(&path).await;
    assert_eq!(get.status, 405);
}

/// Ids of different writings are one id; ids that differ are never taken for each other.
/// row AN18
#[tokio::test]
async fn ids_are_read_in_both_bases_and_answered_in_one() {
    let scene = Scene::start(5, 114).await;
    let plain = scene.ok("get_holders", json!({ "alkane": "2:0" })).await;
    for same in ["0x2:0x0", "02:0", "2:0x00"] {
        assert_eq!(scene.ok("get_holders", json!({ "alkane": same })).await, plain);
    }
    let wide = format!("{}:{}", u128::MAX, u128::MAX);
    for (id, word) in [
        ("2", "missing_or_invalid_alkane"),
        ("2:0:0", "missing_or_invalid_alkane"),
        (" 2:0", "missing_or_invalid_alkane"),
        ("2:+0", "missing_or_invalid_alkane"),
        ("2:0x", "missing_or_invalid_alkane"),
        ("4294967298:0", "alkane_not_found"),
        ("340282366920938463463374607431768211458:0", "missing_or_invalid_alkane"),
        (wide.as_str(), "alkane_not_found"),
    ] {
        for method in ["get_holders", "get_holders_count", "get_keys"] {
            assert_eq!(scene.refused(method, json!({ "alkane": id })).await, word, "{method} {id}");
        }
    }
}
