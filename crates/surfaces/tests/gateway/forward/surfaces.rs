use paraffin_access::{KeySelector, KeyStore as _, NewKey, Plan};
use paraffin_surfaces::handlers;
use serde_json::json;

use super::edge::{Edge, THEIR_KEY, requests_to, response_to, well_but};
use crate::client::request;
use crate::families::upstream::Reaction;
use crate::instance::{Instance, Setup};
use crate::market_chain;
use crate::stream::Stream;

/// An instance with contracts and markets.
async fn instance() -> Instance {
    let keyed = vec![handlers::esplora(), handlers::reorg(), handlers::espo()];
    Instance::with(Setup { market: Some(market_chain::market_blocks(7, 130)), keyed, ..Setup::default() }).await
}

#[tokio::test]
async fn answers_are_those_of_the_instance() {
    let instance = instance().await;
    let edge = Edge::start(&[instance.address], &instance.key.key.reveal()).await;
    let rpc =
        |method: &str, params: &str| format!(r#"{{"jsonrpc":"2.0","id":"a1","method":"{method}","params":{params}}}"#);
    let etag = instance.get(&instance.keyed("/pools")).await.header("etag").unwrap().to_owned();
    let mut received = 0;
    for (verb, path, header, body) in [
        ("POST", "", None, rpc("btc_getblockcount", "[]")),
        ("POST", "/jsonrpc", None, rpc("esplora_blocks:tip:height", "[]")),
        ("POST", "", None, rpc("nothing", "[]")),
        ("POST", "", None, rpc("metashrew_height", "[]")),
        ("POST", "", None, rpc("rpc.discover", "[]")),
        ("POST", "", None, rpc("sandshrew_multicall", r#"[["btc_getblockcount",[]],["nothing"]]"#)),
        ("POST", "", None, "{".to_owned()),
        ("POST", "", None, String::new()),
        ("POST", "", None, format!("[{},{}]", rpc("btc_getblockcount", "[]"), rpc("btc_getblockhash", "[1]"))),
        ("POST", "", None, r#"{"method":"btc_getblockcount"}"#.to_owned()),
        ("GET", "", None, String::new()),
        ("GET", "/pools", None, String::new()),
        ("GET", "/pools", Some(etag.as_str()), String::new()),
        ("HEAD", "/pools", None, String::new()),
        ("GET", "/indexer/height", None, String::new()),
        ("POST", "/get-pools", None, "{}".to_owned()),
        ("POST", "/get-alkane-details", None, r#"{"alkaneId":"2:0"}"#.to_owned()),
        ("POST", "/get-alkane-details", None, r#"{"alkaneId":"2:99"}"#.to_owned()),
        ("POST", "/get-alkane-details", None, "[".to_owned()),
        ("GET", "/get-pools", None, String::new()),
        ("GET", "/no-such-route", None, String::new()),
        ("GET", "/address/a%2F..%2Fb/balances", None, String::new()),
        ("GET", "/esplora/blocks/tip/height", None, String::new()),
        ("GET", "/esplora/block-height/1", None, String::new()),
        ("GET", "/esplora/tx/zz", None, String::new()),
        ("POST", "/espo", None, rpc("get_espo_height", "{}")),
        ("POST", "/espo", None, rpc("ammdata.get_pools", r#"{"limit":2}"#)),
        ("POST", "/espo", None, rpc("ammdata.get_pools", "[1]")),
        ("GET", "/reorg/5", None, String::new()),
        ("POST", "/reorg/5", None, rpc("getblockhash", "[9]")),
        ("POST", "/reorg/x", None, rpc("getblockcount", "[]")),
        ("POST", "/mempool", None, rpc("mempool_info", "{}")),
        ("GET", "/opi/v1/brc20/block_height", None, String::new()),
        ("GET", "/opi/v1/brc20/nothing", None, String::new()),
        ("POST", "/opi/v1/brc20/balance", None, "{}".to_owned()),
        ("GET", "/health", None, String::new()),
    ] {
        let headers: Vec<(&str, &str)> = [("X-Request-Id", "mine"), ("Content-Type", "application/json")]
            .into_iter()
            .chain(header.map(|tag| ("If-None-Match", tag)))
            .collect();
        let ours = request(instance.address, verb, &instance.keyed(path), &headers, body.as_bytes()).await;
        let theirs = request(edge.address, verb, &edge.keyed(path), &headers, body.as_bytes()).await;
        let case = format!("{verb} {path} {body}");
        assert_eq!((theirs.status, theirs.body), (ours.status, ours.body.clone()), "{case}");
        for name in
            ["content-type", "content-length", "etag", "cache-control", "x-indexed-height", "x-request-id", "allow"]
        {
            let of = |headers: &[(String, String)]| headers.iter().find(|(known, _)| known == name).cloned();
            assert_eq!(of(&theirs.headers), of(&ours.headers), "{case} {name}");
        }
        received += 1;
    }
    assert!(received > 30);
    // Without a key, as the gateway itself allows it.
    let open = edge.post("/v4/jsonrpc", &rpc("btc_getblockcount", "[]")).await;
    assert_eq!((open.status, open.header("x-ratelimit-limit")), (200, Some("100000")));
    let (status, health) = edge.health().await;
    assert_eq!((status, &health["status"], &health["height"]), (200, &json!("ok"), &json!(130)));
    assert_eq!(health["upstreams"], json!({ "reachable": 1, "configured": 1 }));
    // It describes itself, and routes that only instances have.
    assert!(edge.get("/v4/openapi.json").await.text().contains("brc20/holders"));
    assert_eq!(edge.get("/v4/opi/v1/brc20/ip").await.text(), "127.0.0.1");
}

#[tokio::test]
async fn callers_are_authenticated_counted_and_refused_by_the_edge_alone() {
    let server = well_but(|received| {
        Reaction::Bytes(response_to(&received, 200, "x-ratelimit-limit: 7\r\nset-cookie: a=b\r\n", "{}"))
    })
    .await;
    let edge = Edge::start(&[server.address], THEIR_KEY).await;
    // The key of the gateway at the instance is no key here.
    for path in [format!("/v4/{THEIR_KEY}"), "/v4/mempool".to_owned(), format!("/v4/{}/espo", "0".repeat(32))] {
        let answer = edge.post(&path, r#"{"method":"ping"}"#).await;
        assert_eq!((answer.status, &answer.json()["code"]), (401, &json!("INVALID_API_KEY")), "{path}");
    }
    assert!(requests_to(&server).is_empty());
    let free = edge.keys.create(NewKey::on_plan("free", Plan::FREE), "test", 0).await.unwrap().key.reveal();
    let mut statuses = Vec::new();
    for number in 0..61 {
        let answer = edge.post(&format!("/v4/{free}"), r#"{"method":"btc_getblockcount"}"#).await;
        assert_eq!(answer.header("x-ratelimit-limit"), Some("60"), "{number}");
        assert_eq!(answer.header("set-cookie"), None);
        statuses.push(answer.status);
    }
    assert!(statuses[..50].iter().all(|status| *status == 200), "{statuses:?}");
    // A clock minute may have begun meanwhile.
    let received = requests_to(&server);
    assert_eq!(received.len(), statuses.iter().filter(|status| **status == 200).count());
    // The instance sees our key and no data of the caller.
    for request in &received {
        assert_eq!(request.path, format!("/v4/{THEIR_KEY}"));
        assert!(
            !request.head.contains(&free[..8]) && !request.head.to_lowercase().contains("api-key"),
            "{}",
            request.head
        );
    }
}

/// row AU03
#[tokio::test]
async fn accounts_and_admins_are_those_of_the_gateway() {
    let server = well_but(|received| Reaction::Bytes(response_to(&received, 200, "", "{}"))).await;
    let edge = Edge::start(&[server.address], THEIR_KEY).await;
    let refused = edge.call("admin_listApiKeys", json!([])).await.json();
    assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32001), &json!(1)), "{refused}");
    for body in [
        r#"{"id":1,"method":"sandshrew_multicall","params":[["admin_createApiKey",{"name":"x"}]]}"#,
        r#"{"id":1,"method":"sandshrew_multicall","params":[["\u0061dmin_createApiKey",{"name":"\ud800"}]]}"#,
        r#"[{"id":1,"method":"btc_getblockcount"},{"id":2,"method":"\u0061dmin_createApiKey"}]"#,
    ] {
        let answer = edge.post(&edge.keyed(""), body).await;
        assert!(answer.text().contains("error") && !answer.text().contains("result"), "{}", answer.text());
    }
    let manager = NewKey { management: true, ..NewKey::on_plan("manager", Plan::BUSINESS) };
    let manager = edge.keys.create(manager, "test", 0).await.unwrap().key.reveal();
    let listed = edge.post(&format!("/v4/{manager}"), r#"{"id":1,"method":"admin_listApiKeys"}"#).await.json();
    assert!(listed["result"]["keys"].is_array(), "{listed}");
    for path in ["/mempool/observe", "/orderbook/ingest"] {
        let answer = edge.post(&edge.keyed(path), "{}").await;
        assert_eq!((answer.status, &answer.json()["code"]), (403, &json!("ADMIN_KEY_REQUIRED")), "{path}");
    }
    assert!(requests_to(&server).is_empty(), "{:?}", requests_to(&server));
    let admin = NewKey { admin: true, ..NewKey::on_plan("admin", Plan::BUSINESS) };
    let admin = edge.keys.create(admin, "test", 0).await.unwrap().key.reveal();
    assert_eq!(edge.post(&format!("/v4/{admin}/orderbook/ingest"), "[]").await.status, 200);
    assert_eq!(requests_to(&server).len(), 1);
}

#[tokio::test]
async fn long_answers_pass_whole_with_their_length() {
    let body: Vec<u8> = (0..5_000_000_u32).map(|place| b"0123456789"[(place % 7) as usize]).collect();
    let sent = body.clone();
    let server =
        well_but(move |received| Reaction::Bytes(response_to(&received, 200, "content-type: text/plain\r\n", &sent)))
            .await;
    let edge = Edge::start(&[server.address], THEIR_KEY).await;
    let answer = edge.get(&edge.keyed("/esplora/block/x/raw")).await;
    assert_eq!((answer.status, answer.header("content-length")), (200, Some("5000000")));
    assert!(answer.body == body);
    let large = format!(r#"{{"method":"btc_sendrawtransaction","params":["{}"]}}"#, "00".repeat(3 << 20));
    assert_eq!(edge.post(&edge.keyed(""), &large).await.status, 200);
    let refused = edge.post(&edge.keyed(""), &large.replace("btc_sendrawtransaction", "btc_getblockcount")).await;
    assert_eq!((refused.status, &refused.json()["code"]), (413, &json!("BODY_TOO_LARGE")));
}

#[tokio::test]
async fn streams_are_joined_to_those_of_the_instance() {
    let fixture = crate::orderbook::OrderbookFixture::start().await;
    let mut edge = Edge::start(&[fixture.instance.address], &fixture.instance.key.key.reveal()).await;
    let path = edge.keyed("/orderbook/ws");
    let mut stream = Stream::open(edge.address, &path).await.unwrap();
    let market = crate::orderbook::FIRE;
    stream.say(&json!({ "action": "subscribe", "market": market })).await;
    let snapshot = stream.next().await.unwrap();
    assert_eq!((&snapshot["type"], &snapshot["market"]), (&json!("snapshot"), &json!(market)));
    fixture.ingest(&json!([crate::orderbook::listing("clx1", "open", 7, 1)])).await;
    assert_eq!(stream.next().await.unwrap()["op"], "upsert");
    // Without a handshake the answer is the instance's.
    let plain = edge.get(&path).await;
    assert_eq!((plain.status, &plain.json()["code"]), (426, &json!("UPGRADE_REQUIRED")));
    let refused = Stream::open(edge.address, &edge.keyed("/orderbook/nothing")).await.err().unwrap();
    assert!(refused.starts_with("HTTP/1.1 404 "), "{refused}");
    // A key that no longer counts ends its streams, and the client gets the close frame that an instance would send.
    edge.keys.revoke(KeySelector::Id(edge.key.record.id), "test", 1).await.unwrap();
    assert_eq!(stream.next().await, Err(4001));
    let other = edge.keys.create(NewKey::on_plan("other", Plan::BUSINESS), "test", 1).await.unwrap().key.reveal();
    let mut stream = Stream::open(edge.address, &format!("/v4/{other}/orderbook/ws")).await.unwrap();
    edge.stop();
    assert_eq!(stream.next().await, Err(1001));
}
