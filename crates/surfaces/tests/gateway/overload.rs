//! Memory of all requests together, and clients that do not read their answers.

use std::time::{Duration, Instant};

use paraffin_ordinals_index::OrdinalsOptions;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::client::{Connection, Response};
use crate::instance::{Instance, Setup};
use crate::{opi, ord};

const MIB: usize = 1 << 20;
/// Above what the system keeps for a client that reads nothing.
const ANSWER_BYTES: usize = 10 * MIB;
const SHARE_BYTES: usize = 16 * MIB;
const SHARE_BYTES_AND_SOME: f64 = 17.0 * 1_048_576.0;

/// The whole is 64 MiB, a caller's share 16 MiB.
fn setup() -> Setup {
    let mut setup = Setup::default();
    bound(&mut setup, SHARE_BYTES);
    setup
}

fn bound(setup: &mut Setup, share_bytes: usize) {
    let limits = &mut setup.config.limits;
    limits.held_bytes_max = 4 * share_bytes;
    limits.response_bytes_max = share_bytes;
    limits.large_body_bytes_max = share_bytes;
    limits.body_bytes_max = share_bytes;
}

/// A request whose answer has [`ANSWER_BYTES`] and some more.
async fn large_call(instance: &Instance) -> String {
    let document = instance.post("/v4/jsonrpc", r#"{"method":"rpc.discover","id":1}"#).await.body.len();
    let calls = vec![json!(["rpc.discover"]); ANSWER_BYTES.div_ceil(document) + 1];
    json!({ "method": "sandshrew_multicall", "id": 1, "params": calls }).to_string()
}

fn head(path: &str, body: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Sends a request from a client that the system keeps little for.
async fn sent(instance: &Instance, request: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(instance.address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// The status of an answer of which no more is read.
async fn status(stream: &mut TcpStream) -> u16 {
    let mut start = [0; 12];
    tokio::time::timeout(Duration::from_secs(20), stream.read_exact(&mut start)).await.unwrap().unwrap();
    std::str::from_utf8(&start[9..]).unwrap().parse().unwrap()
}

async fn metric(instance: &Instance, name: &str) -> f64 {
    let text = crate::client::request(instance.metrics, "GET", "/metrics", &[], b"").await;
    let line = text.text().lines().find(|line| line.starts_with(&format!("{name} "))).map(ToOwned::to_owned);
    line.unwrap_or_else(|| panic!("no {name}")).rsplit(' ').next().unwrap().parse().unwrap()
}

fn is_overloaded(response: &Response) {
    let seconds: u32 = response.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=10).contains(&seconds));
    assert_eq!((response.status, &response.json()["code"]), (503, &json!("OVERLOADED")), "{}", response.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_at_its_share_gets_overloaded_in_both_forms_and_others_are_served() {
    let instance = Instance::with(setup()).await;
    let call = large_call(&instance).await;
    let mut reader = sent(&instance, &head("/v4/jsonrpc", &call)).await;
    assert_eq!(status(&mut reader).await, 200);
    assert!(metric(&instance, "paraffin_http_held_bytes").await >= 10e6);

    let refused = instance.post("/v4/jsonrpc", &call).await;
    is_overloaded(&refused);
    let error: Value = refused.json();
    assert_eq!(
        (&error["error"]["code"], &error["id"], &error["jsonrpc"]),
        (&json!(-32603), &Value::Null, &json!("2.0"))
    );
    // A body counts as well, here with the form of REST.
    let refused = instance.post("/v4/api/get-address-balance", vec![b' '; 8 * MIB]).await;
    is_overloaded(&refused);
    assert_eq!(refused.json()["statusCode"], 503);

    assert_eq!(instance.post("/v4/jsonrpc", r#"{"method":"btc_getblockcount","id":1}"#).await.status, 200, "small");
    let other = instance.post(&instance.keyed(""), &call).await;
    assert_eq!((other.status, other.body.len() > ANSWER_BYTES), (200, true), "another caller");
    drop(reader);
    let again = Instant::now();
    while instance.post("/v4/jsonrpc", &call).await.status != 200 {
        assert!(again.elapsed() < Duration::from_secs(10), "what was held is not given back");
    }
    while metric(&instance, "paraffin_http_held_bytes").await > 0.0 {
        assert!(again.elapsed() < Duration::from_secs(10), "what was held is not given back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_slow_readers_hold_no_more_than_their_share_and_another_caller_is_served() {
    let instance = Instance::with(setup()).await;
    let call = large_call(&instance).await;
    let request = head("/v4/jsonrpc", &call);
    let before = resident_bytes();
    // The first has its answer under way before the others ask; all at once might each get a part and none the whole.
    let mut first = sent(&instance, &request).await;
    assert_eq!(status(&mut first).await, 200);
    let mut readers = Vec::new();
    for _ in 1..100 {
        readers.push(sent(&instance, &request).await);
    }
    let started = Instant::now();
    let other = instance.post(&instance.keyed(""), &call).await;
    assert_eq!((other.status, other.body.len() > ANSWER_BYTES), (200, true));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    drop(other);
    let mut served = 1;
    for reader in &mut readers {
        served += usize::from(status(reader).await == 200);
    }
    let held = metric(&instance, "paraffin_http_held_bytes").await;
    assert!(served >= 1 && held <= SHARE_BYTES_AND_SOME, "{served} served, {held} held");
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 300 * MIB, "{} MiB more", grown / MIB);
}

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_below_the_least_rate_is_disconnected_although_it_reads_all_the_time() {
    let mut setup = setup();
    setup.config.limits.response_bytes_max = 64 * MIB;
    setup.config.limits.held_bytes_max = 512 * MIB;
    setup.config.limits.write_timeout_ms = 1_500;
    // A client of this test reads some 6 MiB a second, so often that it never makes the server wait for long.
    setup.config.limits.write_bytes_per_second_min = 200 << 20;
    let instance = Instance::with(setup).await;
    let call = large_call(&instance).await;
    let calls: Vec<Value> = vec![serde_json::from_str(&call).unwrap(); 5];
    let mut reader = sent(&instance, &head("/v4/jsonrpc", &json!(calls).to_string())).await;
    let (mut read, mut buffer) = (0, vec![0; 128 << 10]);
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        match tokio::time::timeout(Duration::from_secs(20), reader.read(&mut buffer)).await.unwrap() {
            Ok(0) | Err(_) => break,
            Ok(bytes) => read += bytes,
        }
        assert!(read < 5 * ANSWER_BYTES, "the whole answer arrived");
    }
    assert!(read > MIB, "{read} bytes: it was cut before it had a chance");
    // The connection is gone, and others are served.
    let mut connection = Connection::open(instance.address).await;
    connection.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n").await;
    assert_eq!(connection.receive().await.unwrap().status, 200);
}

#[tokio::test]
async fn an_answer_of_rest_has_the_bound_of_all_answers() {
    let mut setup = Setup::default();
    setup.config.limits.response_bytes_max = 300;
    let instance = Instance::with(setup).await;
    let body = json!({ "address": instance.miner }).to_string();
    let refused = instance.post("/v4/api/get-address-utxos", body).await;
    assert_eq!((refused.status, &refused.json()["code"]), (400, &json!("RESPONSE_TOO_LARGE")), "{}", refused.text());
    let small = instance.get("/v4/api/indexer/height").await;
    assert_eq!(small.status, 200, "{}", small.text());
}

/// Answers of the node are counted before they are passed on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_of_the_node_beyond_the_share_of_its_caller_is_overloaded() {
    let instance = Instance::with(setup()).await;
    let stats = json!({ "method": "btc_getblockstats", "params": [1], "id": 1 }).to_string();
    assert_eq!(instance.post("/v4/jsonrpc", &stats).await.status, 200);
    let call = large_call(&instance).await;
    let mut reader = sent(&instance, &head("/v4/jsonrpc", &call)).await;
    assert_eq!(status(&mut reader).await, 200);
    is_overloaded(&instance.post("/v4/jsonrpc", &stats).await);
    assert_eq!(instance.post(&instance.keyed(""), &stats).await.status, 200, "another caller");
}

/// A caller that has waited ten seconds for others gets an error that asks to retry later, in both forms.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_too_long_for_a_permit_is_overloaded() {
    let instance = Instance::start().await;
    // Not answered for an hour; one caller has two of the permits.
    let stuck = json!({ "method": "btc_getdifficulty", "params": [], "id": 1 }).to_string();
    let quick = json!({ "method": "btc_getblockchaininfo", "params": [], "id": 1 }).to_string();
    let mut waiting = Vec::new();
    for _ in 0..2 {
        waiting.push(sent(&instance, &head("/v4/jsonrpc", &stuck)).await);
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let started = Instant::now();
    is_overloaded(&instance.post("/v4/jsonrpc", &quick).await);
    assert!(started.elapsed() >= Duration::from_secs(9), "{:?}", started.elapsed());
    assert_eq!(instance.post(&instance.keyed(""), &quick).await.status, 200, "another caller");
    drop(waiting);
}

/// The whole is 1 MiB, a caller's share 256 KiB.
fn narrow(mut setup: Setup) -> Setup {
    bound(&mut setup, 256 << 10);
    setup
}

/// 1,500 inscriptions on one sat make answers of a third of the share, and rows of more than it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ord_reads_counts_before_it_is_kept() {
    let setup = || Setup { ordinals: Some(OrdinalsOptions::default()), ..Setup::default() };
    let (roomy, narrow) = (ord::crowded(setup()).await, ord::crowded(narrow(setup())).await);
    let (reveal, id, payee) = (roomy.1, format!("{}i0", roomy.1), roomy.0.payee.clone());
    let large = [
        ("ord_output", json!([format!("{reveal}:0")])),
        ("ord_outputs", json!([payee])),
        ("ord_address", json!([payee])),
        ("ord_address::inscriptions", json!([payee])),
        ("ord_block", json!([4])),
        ("ord_tx", json!([reveal])),
        ("ord_inscription", json!([id])),
        ("ord_content", json!([id])),
    ];
    for (method, params) in large {
        roomy.0.result(method, params.clone()).await;
        let call = json!({ "method": method, "params": params, "id": 1 }).to_string();
        is_overloaded(&narrow.0.post("/v4/jsonrpc", call).await);
    }
    for (method, params) in [
        ("ord_inscriptions", json!([])),
        ("ord_inscriptions::block", json!([4])),
        ("ord_blocks", json!([])),
        ("ord_children", json!([id])),
    ] {
        assert_eq!(narrow.0.result(method, params.clone()).await, roomy.0.result(method, params).await, "{method}");
    }
}

/// Ten owners with scripts of 30 kB each.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_opi_reads_counts_before_it_is_kept() {
    let (roomy, narrow) =
        (opi::with_long_scripts(Setup::default()).await, opi::with_long_scripts(narrow(Setup::default())).await);
    let inscription = opi::long_scripts_inscription();
    for path in [
        "activity_on_block?block_height=2".to_owned(),
        "history?height=2".to_owned(),
        format!("event?inscription_id={inscription}"),
        "holders?ticker=long".to_owned(),
        "get_valid_tx_notes_of_ticker?ticker=long".to_owned(),
    ] {
        let path = format!("/v4/opi/v1/brc20/{path}");
        let served = roomy.get(&path).await;
        assert_eq!((served.status, served.body.len() > 60_000), (200, true), "{path}: {}", served.text());
        let refused = narrow.get(&path).await;
        is_overloaded(&refused);
    }
    for path in ["block_height", "token_summary?ticker=long", "activity_on_block?block_height=1"] {
        let path = format!("/v4/opi/v1/brc20/{path}");
        let (served, whole) = (narrow.get(&path).await, roomy.get(&path).await);
        assert_eq!((served.status, served.text()), (200, whole.text()), "{path}");
    }
}
