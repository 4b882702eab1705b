//! `paraffin serve` without a store, before two instances: every surface answers as the instance does, one of them is killed
//! under load and no request fails, and no key is ever shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::dev::Dev;
use crate::support::process::{Running, paraffin, write_config};
use crate::support::{free_port, http, wait_for};
use serde_json::{Value, json};

/// A gateway without a store.
struct Edge {
    process: Running,
    address: String,
    /// A key of its own, without limits.
    key: String,
    folder: tempfile::TempDir,
}

impl Edge {
    fn start(instances: &[&Dev], key: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let urls: Vec<String> = instances.iter().map(|dev| format!("\"{}\"", dev.text("/base_url"))).collect();
        let data = folder.path().join("data");
        let config = write_config(
            folder.path(),
            &format!(
                "network = \"regtest\"\ndata_dir = \"{}\"\n[upstream]\nurls = [{}]\nkey = \"{key}\"\n[gateway]\nlisten = \"{address}\"\n[log]\nfilter = \"debug\"\n",
                data.display(),
                urls.join(", ")
            ),
        );
        let mut process = Running::start(paraffin().args(["serve", "--config"]).arg(config));
        process.wait_for_output("without a store", Duration::from_secs(20));
        let created = paraffin()
            .args(["keys", "create", "test", "--plan", "business", "--data-dir"])
            .arg(&data)
            .output()
            .unwrap();
        let key = String::from_utf8_lossy(&created.stdout).trim().to_owned();
        let edge = Self { process, address, key, folder };
        edge.wait_for_instances(instances.len());
        edge
    }

    fn wait_for_instances(&self, count: usize) -> Value {
        wait_for("the instances behind the gateway", Duration::from_secs(20), || {
            let health = http::get(&self.address, "/v4/api/health").json();
            (health["upstreams"]["reachable"] == count).then_some(health)
        })
    }
}

/// Two instances with the same chain and the same keys.
fn twins() -> (Dev, Dev) {
    let mut first = Dev::start();
    assert!(first.process.terminate(Duration::from_secs(20)).success());
    let (one, other) = (first.kill(), tempfile::tempdir().unwrap());
    for name in ["dev.json", "accounts.sqlite"] {
        std::fs::copy(one.path().join(name), other.path().join(name)).unwrap();
    }
    (Dev::start_in(one, &[]), Dev::start_in(other, &[]))
}

/// One request of every surface, below a key.
fn requests(dev: &Dev) -> Vec<(&'static str, String, Value)> {
    let rpc = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let address = dev.text("/accounts/0/address").to_owned();
    let txid = dev.text("/samples/txid").to_owned();
    vec![
        ("POST", String::new(), rpc("btc_getblockcount", json!([]))),
        ("POST", String::new(), rpc("esplora_tx", json!([txid]))),
        ("POST", String::new(), rpc("ord_blockheight", json!([]))),
        ("POST", String::new(), rpc("metashrew_height", json!([]))),
        ("POST", String::new(), rpc("alkanes_protorunesbyaddress", json!([{ "address": address }]))),
        ("POST", String::new(), rpc("sandshrew_balances", json!([{ "address": address }]))),
        ("POST", String::new(), rpc("lua_evalscript", json!(["return _RPC.btc_getblockcount()"]))),
        ("GET", "/alkanes".to_owned(), Value::Null),
        ("GET", format!("/address/{address}/balances"), Value::Null),
        ("POST", "/get-address-utxos".to_owned(), json!({ "address": address })),
        ("POST", "/get-all-pools-details".to_owned(), json!({})),
        ("GET", "/esplora/blocks/tip/hash".to_owned(), Value::Null),
        ("GET", format!("/esplora/tx/{txid}/raw"), Value::Null),
        ("POST", "/espo".to_owned(), rpc("get_address_balances", json!({ "address": address }))),
        ("POST", "/btcusd".to_owned(), rpc("metashrew_view", json!(["getpools", "0x", "latest"]))),
        ("GET", "/opi/v1/brc20/block_height".to_owned(), Value::Null),
        ("POST", "/mempool".to_owned(), rpc("mempool_feerate_histogram", json!({}))),
        ("GET", "/orderbook/markets".to_owned(), Value::Null),
        ("POST", "/forex".to_owned(), rpc("forex_currencies", json!({}))),
        ("POST", "/reorg/5".to_owned(), rpc("getblockhash", json!([6]))),
    ]
}

fn send(address: &str, path: &str, verb: &str, body: &Value) -> http::Answer {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    http::try_request(address, verb, path, &[("content-type", "application/json")], body.as_bytes()).unwrap()
}

/// The answer without the members that depend on the moment and not on the chain.
fn without_time(mut answer: Value) -> Value {
    if let Some(result) = answer.get_mut("result").and_then(Value::as_object_mut) {
        result.remove("runtime_ms");
        result.remove("runtime");
    }
    answer
}

#[test]
fn every_surface_answers_through_a_gateway_without_a_store_and_a_killed_instance_is_not_noticed() {
    let (first, second) = twins();
    assert_eq!(first.text("/tip_hash"), second.text("/tip_hash"));
    let theirs = first.text("/keys/business").to_owned();
    assert_eq!(second.text("/keys/business"), theirs);
    let mut edge = Edge::start(&[&first, &second], &theirs);
    assert!(!edge.folder.path().join("data/store").exists());

    for (verb, path, body) in requests(&first) {
        let ours = send(first.listen(), &format!("{}{path}", first.path()), verb, &body);
        let through = send(&edge.address, &format!("/v4/{}{path}", edge.key), verb, &body);
        let case = format!("{verb} {path} {body}: {}", through.text());
        assert_eq!(through.status, ours.status, "{case}");
        assert_eq!(through.status, 200, "{case}");
        if verb == "GET" {
            assert_eq!(through.body, ours.body, "{case}");
        } else {
            assert_eq!(without_time(through.json()), without_time(ours.json()), "{case}");
        }
        for name in ["content-type", "etag", "x-indexed-height"] {
            assert_eq!(through.header(name), ours.header(name), "{case}");
        }
    }
    // The explorer has a path of its own.
    let explorer = |address: &str, key: &str| send(address, &format!("/api/v1/{key}/source/4:0"), "GET", &Value::Null);
    let (ours, through) = (explorer(first.listen(), &theirs), explorer(&edge.address, &edge.key));
    assert_eq!((through.status, through.body), (ours.status, ours.body));

    // The first is killed while many ask.
    let over = Arc::new(AtomicBool::new(false));
    let load: Vec<_> = (0..6)
        .map(|_| {
            let (address, path, over) = (edge.address.clone(), format!("/v4/{}", edge.key), Arc::clone(&over));
            std::thread::spawn(move || {
                let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "btc_getblockhash", "params": [5] });
                let known = send(&address, &path, "POST", &body).body;
                let mut answered = 0_u32;
                while !over.load(Ordering::SeqCst) {
                    let answer = http::try_request(&address, "POST", &path, &[], body.to_string().as_bytes());
                    let answer = answer.expect("the gateway cut a connection");
                    assert_eq!((answer.status, &answer.body), (200, &known), "{}", answer.text());
                    answered += 1;
                }
                answered
            })
        })
        .collect();
    std::thread::sleep(Duration::from_millis(500));
    drop(first.kill());
    std::thread::sleep(Duration::from_millis(1_500));
    over.store(true, Ordering::SeqCst);
    let answered: u32 = load.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert!(answered > 100, "{answered}");
    println!("{answered} requests around the kill, none failed");
    let health = edge.wait_for_instances(1);
    assert_eq!((&health["status"], &health["height"]), (&json!("degraded"), &json!(160)));

    // The log contains neither key.
    let log = format!("{}{}", edge.process.output(), edge.process.errors());
    assert!(log.contains("an instance behind this gateway has changed"), "{log}");
    for key in [&theirs, &edge.key] {
        assert!(!log.contains(&key[..8]), "a key stands in the log");
    }
    assert!(edge.process.terminate(Duration::from_secs(5)).success());
}

#[test]
fn a_gateway_without_a_store_runs_nothing_that_needs_one() {
    let folder = tempfile::tempdir().unwrap();
    let head = format!("network = \"regtest\"\ndata_dir = \"{}\"\n", folder.path().join("data").display());
    let upstream = "[upstream]\nurl = \"http://127.0.0.1:1\"\nkey = \"0123456789abcdef0123456789abcdef\"\n";
    let run = |config: &str, arguments: &[&str]| {
        let config = write_config(folder.path(), config);
        let output = paraffin().args(arguments).arg("--config").arg(config).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = run(&format!("{head}{upstream}"), &["index", "--once"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("without a store"), "{text}");
    let both = format!("{head}{upstream}[node]\nurl = \"http://127.0.0.1:1\"\n");
    let (code, text) = run(&both, &["serve"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("[upstream]") && !text.contains("0123"), "{text}");
    let (code, text) = run(&head, &["serve"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("node"), "{text}");
}
