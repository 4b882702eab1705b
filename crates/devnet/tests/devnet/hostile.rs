//! Requests that mean harm get an error, and the node goes on.

use std::time::Duration;

use paraffin_devnet::{Devnet, DevnetOptions};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::{AUTHORIZATION, address, http, post, result};

async fn start() -> (Devnet, String) {
    let devnet = Devnet::start(DevnetOptions::default()).await.unwrap();
    let address = address(&devnet);
    (devnet, address)
}

#[tokio::test]
async fn only_the_right_credentials_are_let_in() {
    let options =
        DevnetOptions { user: Some("u".into()), password: Some("p:w".into()), blocks: 1, ..DevnetOptions::default() };
    let devnet = Devnet::start(options).await.unwrap();
    let node = address(&devnet);
    assert_eq!((devnet.user(), devnet.password()), ("u", "p:w"));
    let body = br#"{"method":"getblockcount"}"#;
    for (head, status) in [
        ("", 401),
        ("Authorization: Basic ZGV2OmRldg==\r\n", 401),
        ("Authorization: Bearer dTpwOnc=\r\n", 401),
        ("Authorization: Basic\r\n", 401),
        ("Authorization: Basic dTpwOnc\r\n", 401),
        ("Authorization: Basic dTpwOnc=\r\n", 200),
    ] {
        assert_eq!(http(&node, "POST", "/", head, body).await.status, status, "{head}");
    }
    assert_eq!(http(&node, "GET", "/", "Authorization: Basic dTpwOnc=\r\n", b"").await.status, 405);
    assert_eq!(http(&node, "POST", "/other", "Authorization: Basic dTpwOnc=\r\n", body).await.status, 404);
}

#[tokio::test]
async fn malformed_and_deep_json_is_a_parse_error() {
    let (_devnet, node) = start().await;
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep_params = format!(r#"{{"method":"echo","params":{}}}"#, deep(100_000));
    for body in ["", "{", "nul", "{\"method\":\"getblockcount\"} x", "\u{feff}{}", &deep(100_000), &deep_params] {
        let answer = post(&node, body).await;
        assert_eq!(answer.status, 500);
        assert_eq!(answer.json()["error"]["code"], -32700);
    }
    let answer = post(&node, b"{\"method\":\"\xff\xfe\"}").await;
    assert_eq!(answer.json()["error"]["code"], -32700);
    let batch = format!("[{}]", vec!["{}"; 10_001].join(","));
    assert_eq!(post(&node, batch).await.json()["error"]["code"], -32600);
    result(&node, "getblockcount", json!([])).await;
}

#[tokio::test]
async fn a_body_above_32_mib_is_refused_and_never_held() {
    let (_devnet, node) = start().await;
    let mut stream = TcpStream::connect(&node).await.unwrap();
    let length = 33 << 20;
    let head = format!("POST / HTTP/1.1\r\nHost: node\r\n{AUTHORIZATION}Content-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let writing = tokio::spawn(async move {
        let chunk = vec![b' '; 1 << 20];
        for _ in 0..33 {
            if writer.write_all(&chunk).await.is_err() {
                break;
            }
        }
    });
    let mut start = vec![0; 12];
    reader.read_exact(&mut start).await.unwrap();
    assert_eq!(start, b"HTTP/1.1 413");
    drop(reader);
    writing.await.unwrap();
    result(&node, "getblockcount", json!([])).await;
}

#[tokio::test]
async fn heads_that_are_no_http_or_too_large_end_the_connection_only() {
    let (_devnet, node) = start().await;
    let large = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(1 << 20));
    for bytes in ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", &large] {
        let mut stream = TcpStream::connect(&node).await.unwrap();
        let _ = stream.write_all(bytes.as_bytes()).await;
        let mut answer = Vec::new();
        let reading = stream.read_to_end(&mut answer);
        let _ = tokio::time::timeout(Duration::from_secs(5), reading).await.expect("the connection ends");
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{:?}", String::from_utf8_lossy(&answer));
    }
    result(&node, "getblockcount", json!([])).await;
}

#[tokio::test]
async fn clients_that_send_nothing_do_not_keep_others_waiting() {
    let (_devnet, node) = start().await;
    let mut idle = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(&node).await.unwrap();
        stream.write_all(b"POST / HTTP/1.1\r\nHost").await.unwrap();
        idle.push(stream);
    }
    result(&node, "getblockcount", json!([])).await;
}

#[tokio::test]
async fn long_texts_in_errors_are_cut() {
    let (_devnet, node) = start().await;
    let answer = post(&node, json!({"method": "getblock", "params": ["z".repeat(1 << 20)]}).to_string()).await;
    assert_eq!(answer.json()["error"]["code"], -8);
    assert!(answer.body.len() < 1_000);
}

#[tokio::test]
async fn every_method_answers_every_kind_of_value_in_every_place() {
    let devnet = Devnet::start(DevnetOptions { blocks: 3, ..DevnetOptions::default() }).await.unwrap();
    let node = address(&devnet);
    let listing = result(&node, "help", json!([])).await;
    let methods: Vec<&str> = listing
        .as_str()
        .unwrap()
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("=="))
        .filter_map(|line| line.split(' ').next())
        .chain(["invalidateblock", "reconsiderblock"])
        .collect();
    assert!(methods.len() > 40);
    let hash = "00".repeat(32);
    let deep = serde_json::from_str::<serde_json::Value>(&format!("{}{}", "[".repeat(60), "]".repeat(60))).unwrap();
    let huge = serde_json::from_str::<serde_json::Value>("1e999999").unwrap();
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(2_147_483_648_u64),
        json!(u64::MAX),
        huge,
        json!(""),
        json!("zz"),
        json!("00"),
        json!(hash),
        json!([]),
        json!([null]),
        json!([hash]),
        json!(["00"]),
        json!([[]]),
        json!({}),
        json!({"txid": hash}),
        json!([{"txid": hash, "vout": -1}]),
        json!("addr()"),
        json!("raw("),
        json!("#"),
        json!("é".repeat(32)),
        deep,
    ];
    for method in methods {
        let mut batch = Vec::new();
        for first in &values {
            batch.push(json!({"method": method, "params": [first], "id": 1}));
            for second in &values {
                batch.push(json!({"method": method, "params": [first, second], "id": 1}));
                batch.push(json!({"method": method, "params": [hash, first, second], "id": 1}));
            }
        }
        batch.push(json!({"method": method, "params": [], "id": 1}));
        batch.push(json!({"method": method, "params": {"a": 1}, "id": 1}));
        let count = batch.len();
        let answer = post(&node, serde_json::Value::Array(batch).to_string()).await;
        assert_eq!(answer.status, 200, "{method}: {}", answer.text());
        let replies = answer.json();
        assert_eq!(replies.as_array().unwrap().len(), count, "{method}");
    }
    result(&node, "setmocktime", json!([0])).await;
    result(&node, "getblockcount", json!([])).await;
}
