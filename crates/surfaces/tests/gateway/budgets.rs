//! Budgets of one request, and of all requests together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Connection;
use crate::instance::{Instance, Setup};
use crate::lua;

/// Runs of the node's `decodescript`, which answers its parameters.
fn calls_of_the_node(instance: &Instance) -> usize {
    instance.node.calls.lock().unwrap().iter().filter(|(method, _)| method == "decodescript").count()
}

fn decode(id: usize, bytes: usize) -> Value {
    json!({ "method": "decodescript", "id": id, "params": ["x".repeat(bytes)] })
}

fn code(answer: &Value) -> Option<&str> {
    answer["error"]["data"]["code"].as_str()
}

/// Numbers of answers that are results, that are too large, and that were not executed.
fn sorted(answers: &[Value]) -> [usize; 3] {
    let count = |known| answers.iter().filter(|answer| code(answer) == known).count();
    assert_eq!(count(None), answers.iter().filter(|answer| answer.get("error").is_none()).count(), "{answers:?}");
    [count(None), count(Some("RESPONSE_TOO_LARGE")), count(Some("BUDGET_EXCEEDED"))]
}

fn head(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn entries_that_the_budget_of_calls_does_not_reach_are_not_run() {
    let mut setup = Setup::default();
    setup.config.limits.calls_per_request_max = 10;
    let instance = Instance::with(setup).await;
    let entries: Vec<Value> = (0..20).map(|id| decode(id, 1)).collect();
    let answers = instance.post("/v4/jsonrpc", json!(entries).to_string()).await.json();
    let answers = answers.as_array().unwrap();
    assert_eq!((sorted(answers), calls_of_the_node(&instance)), ([10, 0, 10], 10));
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id);
        if let Some(error) = answer.get("error") {
            assert_eq!(error["code"], -32603);
            assert!(error["message"].as_str().unwrap().contains("smaller batch"), "{error}");
        }
    }
    let one = instance.post("/v4/jsonrpc", json!(entries[..10]).to_string()).await.json();
    assert_eq!(sorted(one.as_array().unwrap()), [10, 0, 0], "the next request has a budget of its own");
}

#[tokio::test]
async fn multicalls_nested_ones_and_scripts_have_the_budget_of_their_request() {
    let mut setup = lua::setup();
    setup.config.limits.calls_per_request_max = 10;
    let instance = Instance::with(setup).await;
    let call = json!(["decodescript", ["x"]]);
    let inner = json!(["sandshrew_multicall", vec![call.clone(); 4]]);
    // Three entries, two inner multicalls in each, four calls in each of these: 3 + 6 + 24.
    let entry = json!({ "method": "sandshrew_multicall", "id": 1, "params": [inner, inner] });
    let batch = instance.post("/v4/jsonrpc", json!([entry, entry, entry]).to_string()).await.text().to_owned();
    assert!(batch.contains("BUDGET_EXCEEDED"), "{batch}");
    assert!((1..10).contains(&calls_of_the_node(&instance)), "{}", calls_of_the_node(&instance));

    let before = calls_of_the_node(&instance);
    let script = "local failed = 0
        for _ = 1, 15 do if not pcall(_RPC.btc_decodescript, 'x') then failed = failed + 1 end end
        return failed";
    let answer = instance.result("lua_evalscript", json!([script])).await;
    assert_eq!((&answer["returns"], calls_of_the_node(&instance) - before), (&json!(5), 10), "{answer}");
}

#[tokio::test]
async fn bytes_are_counted_over_all_entries_and_before_they_are_kept() {
    let mut setup = Setup::default();
    setup.config.limits.response_bytes_max = 100_000;
    setup.config.limits.batch_parallel_max = 1;
    let instance = Instance::with(setup).await;
    let entries: Vec<Value> = (0..20).map(|id| decode(id, 30_000)).collect();
    let response = instance.post("/v4/jsonrpc", json!(entries).to_string()).await;
    let answers = response.json();
    assert_eq!(sorted(answers.as_array().unwrap()), [3, 1, 16]);
    assert_eq!(calls_of_the_node(&instance), 4, "what is not reached is not run");
    assert!(response.body.len() < 105_000, "{}", response.body.len());

    // A multicall is counted once, as a part of the batch: twice 40,000 fits, three times does not.
    let call = json!(["decodescript", ["x".repeat(20_000)]]);
    let multicall = |id| json!({ "method": "sandshrew_multicall", "id": id, "params": [call, call] });
    let batch = json!([multicall(1), multicall(2), multicall(3), multicall(4)]).to_string();
    let answers = instance.post("/v4/jsonrpc", batch).await.json();
    assert_eq!(sorted(answers.as_array().unwrap()), [2, 1, 1]);
}

/// Bytes of this process in memory.
fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Polls the health route; returns the longest wait and the greatest growth of memory.
async fn watched(address: std::net::SocketAddr, is_over: Arc<AtomicBool>) -> (Duration, usize) {
    let (before, mut grown, mut longest) = (resident_bytes(), 0, Duration::ZERO);
    while !is_over.load(Ordering::Relaxed) {
        let started = Instant::now();
        let health = crate::client::request(address, "GET", "/v4/api/health", &[], b"").await;
        assert_eq!(health.status, 200);
        longest = longest.max(started.elapsed());
        grown = grown.max(resident_bytes().saturating_sub(before));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    (longest, grown)
}

/// An anonymous body of 300 KB whose answers, all ready at once, exceed a gigabyte.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_of_multicalls_of_the_description_holds_no_thread_and_little_memory() {
    const GROWTH_MAX: usize = 400 << 20;
    let instance = Instance::start().await;
    let document = instance.post("/v4/jsonrpc", r#"{"method":"rpc.discover","id":1}"#).await.body.len();
    let entry = json!({ "method": "sandshrew_multicall", "id": 1, "params": vec![json!(["rpc.discover"]); 800] });
    // Each entry keeps to the bound of one answer.
    let body = json!(vec![entry; 22]).to_string();
    assert!(body.len() > 280_000 && document * 17_600 > 1 << 30, "{} {document}", body.len());
    let is_over = Arc::new(AtomicBool::new(false));
    let watching = tokio::spawn(watched(instance.address, Arc::clone(&is_over)));
    let response = instance.post("/v4/jsonrpc", body).await;
    is_over.store(true, Ordering::Relaxed);
    let (longest, grown) = watching.await.unwrap();
    assert_eq!(response.status, 200);
    assert!(response.body.len() <= 65 << 20, "{}", response.body.len());
    assert!(longest < Duration::from_secs(1), "health waited {longest:?}");
    assert!(grown < GROWTH_MAX, "{} MiB more", grown >> 20);
}

#[tokio::test]
async fn calls_that_are_ready_at_once_let_others_in_between() {
    let instance = Instance::start().await;
    // On one thread, as here, a call that never yields runs alone.
    let multicall =
        json!({ "method": "sandshrew_multicall", "id": 1, "params": vec![json!(["btc_getblockcount"]); 1_000] });
    let batch: Vec<Value> = (0..1_000).map(|id| json!({ "method": "btc_getblockcount", "id": id })).collect();
    for body in [multicall.to_string(), json!(batch).to_string()] {
        let (mut busy, mut other) =
            (Connection::open(instance.address).await, Connection::open(instance.address).await);
        busy.send(head("/v4/jsonrpc", &body)).await;
        let answered = async {
            let response = busy.receive().await.unwrap();
            assert_eq!(response.status, 200);
            Instant::now()
        };
        let between = async {
            // The batch has begun.
            tokio::task::yield_now().await;
            other.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n").await;
            assert_eq!(other.receive().await.unwrap().status, 200);
            Instant::now()
        };
        let (answered, between) = tokio::join!(answered, between);
        assert!(between < answered, "the other request waited for all of it");
    }
}

#[tokio::test]
async fn entries_without_time_are_not_run() {
    let mut setup = Setup::default();
    setup.config.limits.handler_timeout_ms = 300;
    setup.config.limits.batch_parallel_max = 1;
    let instance = Instance::with(setup).await;
    // The first never ends.
    let mut entries = vec![json!({ "method": "getdifficulty", "id": 99 })];
    entries.extend((0..5).map(|id| decode(id, 1)));
    let answers = instance.post("/v4/jsonrpc", json!(entries).to_string()).await.json();
    for answer in answers.as_array().unwrap() {
        assert_eq!((&answer["error"]["message"], code(answer)), (&json!("timeout"), Some("TIMEOUT")), "{answer}");
    }
    assert_eq!(calls_of_the_node(&instance), 0);
}
