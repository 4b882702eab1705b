//! The REST data API.

use serde_json::json;

use crate::chain::{COIN, taproot};
use crate::instance::{Instance, Setup};

/// row RB05
/// row GW05
/// row GW06
/// row GW12
#[tokio::test]
async fn get_address_balance_answers_in_the_envelope_at_every_base() {
    let instance = Instance::start().await;
    let body = json!({ "address": instance.miner }).to_string();
    for path in [
        "/v4/api/get-address-balance".to_owned(),
        instance.keyed("/get-address-balance"),
        instance.keyed("/api/v1/get-address-balance/"),
    ] {
        let response = instance.post(&path, &body).await;
        assert_eq!(
            response.json(),
            json!({ "statusCode": 200, "data": { "address": instance.miner, "balance": 2 * COIN - 1_000_500, "unconfirmedBalance": 0, "txCount": 3 } })
        );
        assert_eq!(
            (response.status, response.header("x-indexed-height"), response.header("cache-control")),
            (200, Some("3"), Some("no-store"))
        );
    }
    let fresh = json!({ "address": taproot(instance.chain.network, 3) }).to_string();
    let data = instance.post("/v4/api/get-address-balance", fresh).await.json()["data"].clone();
    assert_eq!((&data["balance"], &data["txCount"]), (&json!(0), &json!(0)));
}

/// row RB06
#[tokio::test]
async fn get_taproot_balance_takes_taproot_addresses_only() {
    let instance = Instance::start().await;
    let response = instance.post("/v4/api/get-taproot-balance", json!({ "address": instance.payee }).to_string()).await;
    assert_eq!(response.json()["data"], json!({ "balance": 1_000_000, "unconfirmedBalance": 0 }));
    let other = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";
    let refused = instance.post("/v4/api/get-taproot-balance", json!({ "address": other }).to_string()).await;
    assert_eq!(refused.status, 400);
    assert!(refused.json()["error"].as_str().unwrap().contains("address"));
    assert_eq!(instance.post("/v4/api/get-address-balance", json!({ "address": other }).to_string()).await.status, 200);
}

/// row RB07
#[tokio::test]
async fn get_address_utxos_tells_everything_with_real_confirmations() {
    let instance = Instance::start().await;
    let response = instance.post("/v4/api/get-address-utxos", json!({ "address": instance.miner }).to_string()).await;
    let data = response.json()["data"].clone();
    assert_eq!(data["total"], 2);
    let (newest, older) = (&data["utxos"][0], &data["utxos"][1]);
    let script = crate::chain::script_of(instance.chain.network, &instance.miner).to_hex_string();
    for (member, expected) in [
        ("txId", json!(instance.payment.to_string())),
        ("txid", json!(instance.payment.to_string())),
        ("outputIndex", json!(1)),
        ("vout", json!(1)),
        ("satoshis", json!(COIN - 1_000_500)),
        ("value", json!(COIN - 1_000_500)),
        ("scriptPk", json!(script)),
        ("address", json!(instance.miner)),
        ("indexed", json!(true)),
        ("inscriptions", json!([])),
        ("runes", json!({})),
        ("alkanes", json!({})),
        ("confirmations", json!(1)),
    ] {
        assert_eq!(newest[member], expected, "{member}");
    }
    assert_eq!((&newest["status"]["confirmed"], &newest["status"]["block_height"]), (&json!(true), &json!(3)));
    assert_eq!((&older["confirmations"], &older["satoshis"]), (&json!(2), &json!(COIN)));

    let limited =
        instance.post("/v4/api/get-address-utxos", json!({ "address": instance.miner, "limit": 1 }).to_string()).await;
    let data = limited.json()["data"].clone();
    assert_eq!((data["utxos"].as_array().unwrap().len(), &data["total"]), (1, &json!(2)));
    // More than one answer may hold is an error without a limit, and a page with one.
    let mut setup = Setup::default();
    setup.config.limits.list_records_max = 1;
    let small = Instance::with(setup).await;
    let body = |limit: serde_json::Value| json!({ "address": small.miner, "limit": limit }).to_string();
    let refused = small.post("/v4/api/get-address-utxos", body(serde_json::Value::Null)).await;
    assert_eq!(refused.status, 400);
    assert!(refused.json()["error"].as_str().unwrap().contains("limit"));
    assert_eq!(small.post("/v4/api/get-address-utxos", body(json!(2))).await.json()["data"]["total"], 2);
    let answer = small.call("esplora_address::utxo", json!([small.miner])).await;
    assert_eq!(answer["error"]["data"]["code"], "RESPONSE_TOO_LARGE");
    let none = instance
        .post("/v4/api/get-address-utxos", json!({ "address": taproot(instance.chain.network, 3) }).to_string())
        .await;
    assert_eq!(none.json()["data"], json!({ "utxos": [], "total": 0 }));
    for limit in [json!(0), json!(-1), json!(1.5), json!("x"), json!([])] {
        let refused = instance
            .post("/v4/api/get-address-utxos", json!({ "address": instance.miner, "limit": limit }).to_string())
            .await;
        assert_eq!(refused.status, 400, "{limit}");
        assert!(refused.json()["error"].as_str().unwrap().contains("limit"));
    }
}

/// row RB10
#[tokio::test]
async fn get_taproot_history_tells_value_and_fee_newest_first() {
    let instance = Instance::start().await;
    let history = |body: serde_json::Value| instance.post("/v4/api/get-taproot-history", body.to_string());
    let data = history(json!({ "taprootAddress": instance.miner })).await.json()["data"].clone();
    let rows = data["transactions"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["txid"], instance.payment.to_string());
    assert_eq!(
        (&rows[0]["value"], &rows[0]["fee"], &rows[0]["confirmed"], &rows[0]["blockHeight"]),
        (&json!(-1_000_500), &json!(500), &json!(true), &json!(3))
    );
    assert_eq!(rows[0]["timestamp"], "2023-11-14T22:43:20Z");
    assert_eq!((&rows[2]["value"], &rows[2]["fee"]), (&json!(COIN), &json!(0)));
    let one = history(json!({ "taprootAddress": instance.miner, "totalTxs": 1 })).await.json();
    assert_eq!(one["data"]["transactions"].as_array().unwrap().len(), 1);
    assert_eq!(history(json!({ "taprootAddress": instance.miner, "totalTxs": 0 })).await.status, 400);
    assert_eq!(history(json!({ "totalTxs": 1 })).await.json()["error"], "taprootAddress is required");
}

/// row GW11
/// row GW20
#[tokio::test]
async fn bad_bodies_and_fields_are_400_and_name_the_field() {
    let instance = Instance::start().await;
    for (body, word) in [
        ("", "empty"),
        ("[]", "object"),
        ("null", "object"),
        ("\"a\"", "object"),
        ("{", "JSON"),
        ("{}", "address"),
        (r#"{"address":null}"#, "address"),
        (r#"{"address":5}"#, "address"),
        (r#"{"address":""}"#, "address"),
        (r#"{"address":"nonsense"}"#, "address"),
        (r#"{"address":"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}"#, "regtest"),
    ] {
        let response = instance.post("/v4/api/get-address-balance", body).await;
        let answer = response.json();
        assert_eq!(
            (response.status, &answer["statusCode"], &answer["code"]),
            (400, &json!(400), &json!("INVALID_REQUEST")),
            "{body}"
        );
        assert!(answer["error"].as_str().unwrap().contains(word), "{body}: {answer}");
    }
    let body = json!({ "address": instance.miner, "unknown": [1, 2], "other": null }).to_string();
    assert_eq!(
        instance.send("POST", "/v4/api/get-address-balance", &[("Content-Type", "text/css")], &body).await.status,
        200
    );
    let unknown = instance.post("/v4/api/get-nothing", "{}").await;
    assert_eq!((unknown.status, &unknown.json()["statusCode"]), (404, &json!(404)));
}

/// row RG04
#[tokio::test]
async fn indexer_height_is_bare_and_is_not_sent_twice_to_who_has_it() {
    let mut instance = Instance::start().await;
    for path in ["/v4/api/indexer/height".to_owned(), instance.keyed("/indexer/height")] {
        let response = instance.get(&path).await;
        assert_eq!((response.status, response.text()), (200, r#"{"height":3}"#));
        assert_eq!(response.header("x-indexed-height"), Some("3"));
        assert_eq!(response.header("cache-control"), Some("no-cache"));
        let tag = response.header("etag").unwrap().to_owned();
        assert!(tag.contains(&instance.chain.tip_hash().to_string()));
        for condition in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
            let again = instance.send("GET", &path, &[("If-None-Match", &condition)], "").await;
            assert_eq!(
                (again.status, again.header("etag"), again.header("x-indexed-height")),
                (304, Some(tag.as_str()), Some("3")),
                "{condition}"
            );
        }
        assert_eq!(instance.send("GET", &path, &[("If-None-Match", "\"other\"")], "").await.status, 200);
    }
    let tag = instance.get("/v4/api/indexer/height").await.header("etag").unwrap().to_owned();
    let script = crate::chain::script_of(instance.chain.network, &instance.miner);
    instance.chain.mine(script, vec![]);
    let changed = instance.send("GET", "/v4/api/indexer/height", &[("If-None-Match", &tag)], "").await;
    assert_eq!((changed.status, changed.text()), (200, r#"{"height":4}"#));
}

/// row RG08
#[tokio::test]
async fn latest_block_hash_and_indexer_position() {
    let instance = Instance::start().await;
    let hash = instance.chain.tip_hash().to_string();
    let height = instance.chain.tip_height();
    for (get, posts, data) in [
        ("blockheight", &["blockheight", "get-block-height"][..], json!({ "height": height })),
        ("blockhash", &["get-block-hash"], json!({ "hash": hash })),
        ("indexer-position", &["get-indexer-position"], json!({ "height": height, "hash": hash })),
    ] {
        let expected = json!({ "statusCode": 200, "data": data });
        let got = instance.get(&instance.keyed(&format!("/{get}"))).await;
        assert_eq!(got.json(), expected, "{get}");
        assert!(got.header("etag").is_some(), "{get}");
        assert_eq!(instance.send("HEAD", &format!("/v4/api/{get}"), &[], "").await.status, 200, "{get}");
        assert_eq!(instance.send("PUT", &format!("/v4/api/{get}"), &[], "").await.status, 405, "{get}");
        for post in posts {
            let posted = instance.post(&format!("/v4/api/{post}"), "{}").await;
            assert_eq!((posted.status, posted.json()), (200, expected.clone()), "{post}");
            assert_eq!(posted.header("etag"), None, "{post}");
        }
    }
    assert_eq!(instance.get("/v4/api/get-block-hash").await.status, 405);
}

/// Removed blocks are recorded by branch, with the blocks that replaced them.
#[tokio::test]
async fn reorganisations_are_listed_with_what_took_the_place_of_their_blocks() {
    let mut instance = Instance::start().await;
    let none = json!({ "reorgs": [], "count": 0 });
    assert_eq!(instance.get("/v4/api/reorgs").await.json()["data"], none);
    let script = crate::chain::script_of(instance.chain.network, &instance.miner);
    let fork = instance.chain.tip_hash().to_string();
    let mut left = Vec::new();
    for _ in 0..2 {
        instance.chain.mine(script.clone(), vec![]);
        left.push(instance.chain.tip_hash().to_string());
    }
    instance.chain.undo();
    instance.chain.undo();
    let answer = instance.get("/v4/api/reorgs").await.json();
    assert_eq!(answer["data"]["reorgs"][0]["blocks"][0]["replacedBy"], json!(null), "{answer}");
    let other = crate::chain::script_of(instance.chain.network, &instance.payee);
    let mut now = Vec::new();
    for _ in 0..3 {
        instance.chain.mine(other.clone(), vec![]);
        now.push(instance.chain.tip_hash().to_string());
    }
    instance.chain.undo();
    let answer = instance.post("/v4/api/get-reorgs", "{}".to_owned()).await.json();
    let reorgs = &answer["data"]["reorgs"];
    assert_eq!((&answer["data"]["count"], reorgs[0]["depth"].as_u64()), (&json!(2), Some(1)), "{answer}");
    assert_eq!((&reorgs[0]["forkHeight"], &reorgs[0]["forkHash"]), (&json!(5), &json!(now[1])));
    assert_eq!((&reorgs[1]["forkHeight"], &reorgs[1]["forkHash"]), (&json!(3), &json!(fork)));
    let blocks = reorgs[1]["blocks"].as_array().unwrap();
    let pairs: Vec<_> = blocks.iter().map(|block| (&block["height"], &block["hash"], &block["replacedBy"])).collect();
    assert_eq!(pairs, [(&json!(5), &json!(left[1]), &json!(now[1])), (&json!(4), &json!(left[0]), &json!(now[0]))]);
    let second = instance.get("/v4/api/reorgs?limit=1&offset=1").await.json();
    assert_eq!(second["data"]["reorgs"].as_array().unwrap().len(), 1);
    assert_eq!(second["data"]["reorgs"][0], reorgs[1]);
}
