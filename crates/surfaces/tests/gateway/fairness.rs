//! Expensive resources are shared among callers, and the cost of a call to the node is bounded.

use std::time::{Duration, Instant};

use paraffin_access::{KeyStore as _, NewKey, Plan};
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::client::Connection;
use crate::instance::{Instance, Setup};
use crate::limits::COUNT;

async fn key(instance: &Instance, new: NewKey) -> String {
    format!("/v4/{}", instance.keys.create(new, "test", 0).await.unwrap().key.reveal())
}

fn call(method: &str, params: &Value) -> String {
    json!({ "method": method, "params": params, "id": 1 }).to_string()
}

/// A node continues with abandoned calls, so these still count.
#[tokio::test]
async fn a_caller_whose_calls_the_node_has_not_answered_waits_and_others_do_not() {
    let mut setup = Setup::default();
    setup.config.limits.handler_timeout_ms = 500;
    let instance = Instance::with(setup).await;
    let other = key(&instance, NewKey::on_plan("other", Plan::FREE)).await;
    // Not answered for an hour.
    let stuck = call("btc_getdifficulty", &json!([]));
    let quick = call("btc_getblockchaininfo", &json!([]));
    for path in [instance.keyed(""), "/v4/jsonrpc".to_owned()] {
        assert_eq!(instance.post(&path, &quick).await.status, 200);
        for _ in 0..2 {
            assert_eq!(instance.post(&path, &stuck).await.status, 504);
        }
        assert_eq!(instance.post(&path, &quick).await.status, 504, "both permits of {path} are taken");
        // Answers of the index need no permit.
        assert_eq!(instance.post(&path, COUNT).await.json()["result"], 3);
    }
    assert_eq!(instance.post(&other, &quick).await.status, 200);
    assert_eq!(instance.post("/v4/jsonrpc", &quick).await.status, 504);
}

#[tokio::test]
async fn what_would_keep_the_node_busy_is_refused_before_it_is_asked() {
    let keyed = vec![handlers::reorg()];
    let instance = Instance::with(Setup { keyed, ..Setup::default() }).await;
    for (path, method, params, code) in [
        ("/v4/jsonrpc".to_owned(), "btc_getblock", json!(["00", 2]), -32602),
        ("/v4/jsonrpc".to_owned(), "getblock", json!(["00", 1]), -5),
        (instance.keyed(""), "btc_getblock", json!(["00", 2]), -5),
        (instance.keyed(""), "btc_getblock", json!(["00", 3]), -32602),
        (instance.keyed("/reorg/5"), "getblock", json!(["00", 3]), -32602),
        (instance.keyed("/reorg/5"), "deriveaddresses", json!(["wpkh(x/*)", 999_999]), -32602),
        (instance.keyed(""), "btc_deriveaddresses", json!(["wpkh(x/*)", [0, 999_999]]), -32602),
        (instance.keyed(""), "btc_utxoupdatepsbt", json!(["", [{ "desc": "wpkh(x/*)", "range": 999_999 }]]), -32602),
    ] {
        let answer = instance.post(&path, call(method, &params)).await.json();
        assert_eq!(answer["error"]["code"], code, "{path} {method} {params}: {answer}");
    }
    let derived = json!(["wpkh(x/*)", [0, 1000]]);
    assert_eq!(instance.result("btc_deriveaddresses", derived.clone()).await, derived);
    let asked: Vec<String> = instance.node.calls.lock().unwrap().iter().map(|(method, _)| method.clone()).collect();
    assert_eq!(asked, ["getblock", "getblock", "deriveaddresses"]);
}

#[tokio::test]
async fn a_reply_of_the_node_beyond_the_limit_is_refused() {
    let mut setup = Setup::default();
    setup.config.limits.response_bytes_max = 1_000;
    let instance = Instance::with(setup).await;
    let answer = instance.call("btc_decodescript", json!(["0".repeat(2_000)])).await;
    assert_eq!(answer["error"]["data"]["code"], "RESPONSE_TOO_LARGE");
}

/// 12 keys, 239 steps and 32 chains of addresses once took thirty seconds of a core.
#[tokio::test]
async fn a_descriptor_of_many_steps_is_refused_at_once() {
    let instance = Instance::start().await;
    let seed = bitcoin::bip32::Xpriv::new_master(bitcoin::NetworkKind::Test, &[7; 32]).unwrap();
    let xpub = bitcoin::bip32::Xpub::from_priv(&bitcoin::secp256k1::Secp256k1::new(), &seed);
    let branches: Vec<String> = (0..32).map(|branch| branch.to_string()).collect();
    let of = |steps: usize, keys: usize| {
        let key = format!("{xpub}{}/<{}>/*", "/1".repeat(steps), branches.join(";"));
        format!("wsh(multi(1,{}))", vec![key; keys].join(","))
    };
    for (descriptor, status) in [(of(239, 12), 400), (of(9, 12), 400), (of(5, 12), 200)] {
        let started = Instant::now();
        let body = json!({ "account": descriptor }).to_string();
        let answer = instance.post("/v4/api/get-account-balance", body).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn idle_connections_of_whoever_has_most_make_way() {
    let mut setup = Setup::default();
    setup.config.limits.connections_max = 20;
    let instance = Instance::with(setup).await;
    let mut held = Vec::new();
    for _ in 0..40 {
        let mut connection = Connection::open(instance.address).await;
        connection.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n").await;
        assert_eq!(connection.receive().await.unwrap().status, 200);
        held.push(connection);
    }
    let mut closed = Vec::new();
    for connection in &mut held {
        closed.push(connection.is_closed_within(Duration::from_millis(20)).await);
    }
    let count = closed.iter().filter(|closed| **closed).count();
    assert!((22..=26).contains(&count), "{closed:?}");
    assert!(closed.is_sorted_by(|one, next| one >= next), "the longest idle first: {closed:?}");
}

/// An answer that is on its way is not idle.
#[tokio::test]
async fn a_connection_that_waits_for_its_answer_is_not_closed() {
    let mut setup = Setup::default();
    setup.config.limits.connections_max = 10;
    setup.config.limits.handler_timeout_ms = 1_500;
    let instance = Instance::with(setup).await;
    let mut busy = Connection::open(instance.address).await;
    let body = call("btc_getdifficulty", &json!([]));
    busy.send(format!("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut connection = Connection::open(instance.address).await;
        connection.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n").await;
        assert_eq!(connection.receive().await.unwrap().status, 200);
        held.push(connection);
    }
    assert_eq!(busy.receive().await.unwrap().status, 504);
}

#[tokio::test]
async fn health_is_looked_at_a_bounded_number_of_times() {
    let mut setup = Setup::default();
    setup.access.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let instance = Instance::with(setup).await;
    let key = instance.keyed("/health");
    for (forwarded, path, is_bounded) in [
        ("X-Forwarded-For: 198.51.100.1\r\n", "/health", true),
        ("X-Forwarded-For: 198.51.100.2\r\n", "/v4/api/health", true),
        ("X-Forwarded-For: 198.51.100.3\r\n", &*key, true),
        ("", "/health", false),
    ] {
        let mut connection = Connection::open(instance.address).await;
        let mut statuses = Vec::new();
        for _ in 0..300 {
            connection.send(format!("GET {path} HTTP/1.1\r\nHost: t\r\n{forwarded}\r\n")).await;
            statuses.push(connection.receive().await.unwrap().status);
        }
        assert!(statuses[..200].iter().all(|status| *status == 200), "{path}: {statuses:?}");
        assert_eq!(statuses[200..].contains(&429), is_bounded, "{path}: {statuses:?}");
    }
    assert_eq!(instance.post(&instance.keyed(""), COUNT).await.status, 200);
}

/// A page whose name was made to lead to this machine sends its own name.
#[tokio::test]
async fn an_instance_that_serves_its_own_machine_answers_no_public_name() {
    let instance = Instance::start().await;
    for (host, status) in
        [("evil.example", 421), ("evil.example:8787", 421), ("localhost:8787", 200), ("127.0.0.1", 200)]
    {
        let mut connection = Connection::open(instance.address).await;
        connection
            .send(format!(
                "POST /v4/jsonrpc HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n{COUNT}",
                COUNT.len()
            ))
            .await;
        assert_eq!(connection.receive().await.unwrap().status, status, "{host}");
    }
    let mut setup = Setup::default();
    setup.access.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let behind = Instance::with(setup).await;
    let mut connection = Connection::open(behind.address).await;
    connection.send("GET /v4/api/indexer/height HTTP/1.1\r\nHost: api.example.com\r\n\r\n").await;
    assert_eq!(connection.receive().await.unwrap().status, 200);
}

#[tokio::test]
async fn every_answer_says_that_its_type_is_meant() {
    let instance = Instance::start().await;
    for path in ["/health", "/v4/api/indexer/height", "/v4/api/nothing", "/nowhere", "/v4/jsonrpc"] {
        assert_eq!(instance.get(path).await.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
}

/// The JSON library reads the text behind such a name as JSON once more, so that brackets hide in it.
#[tokio::test]
async fn a_name_of_the_json_library_is_refused() {
    let instance = Instance::start().await;
    for name in ["$serde_json::private::RawValue", r"\u0024serde_json::private::RawValue"] {
        let body = format!(r#"{{"address":{{"{name}":"[[[[[[1]]]]]]"}}}}"#);
        assert_eq!(instance.post("/v4/api/get-address-balance", &body).await.status, 400, "{name}");
        let body = format!(r#"{{"method":"btc_getblockcount","params":{body},"id":1}}"#);
        assert_eq!(instance.post("/v4/jsonrpc", &body).await.json()["error"]["code"], -32600, "{name}");
    }
}
