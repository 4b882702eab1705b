//! Misbehaving clients.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Connection, request};
use crate::instance::{Instance, Setup};

const COUNT: &str = r#"{"method":"btc_getblockcount","id":1}"#;

#[tokio::test]
async fn a_body_one_byte_too_large_is_413_in_the_form_of_the_path() {
    let instance = Instance::start().await;
    let limit = 4 << 20;
    let body = |size: usize| {
        let frame = r#"{"method":"getblockcount","id":""}"#;
        format!(r#"{{"method":"getblockcount","id":"{}"}}"#, "x".repeat(size - frame.len()))
    };
    assert_eq!(instance.post("/v4/jsonrpc", body(limit)).await.json()["result"], 3);
    let refused = instance.post("/v4/jsonrpc", body(limit + 1)).await;
    assert_eq!(
        (refused.status, &refused.json()["code"], &refused.json()["error"]["code"]),
        (413, &json!("BODY_TOO_LARGE"), &json!(-32600))
    );
    assert_eq!(refused.header("connection"), Some("close"));
    let refused = instance.post("/v4/api/get-address-balance", vec![b' '; limit + 1]).await;
    assert_eq!(
        (refused.status, &refused.json()["code"], &refused.json()["statusCode"]),
        (413, &json!("BODY_TOO_LARGE"), &json!(413))
    );
}

#[tokio::test]
async fn a_refused_client_gets_its_answer_even_when_it_sends_a_large_body() {
    let instance = Instance::start().await;
    let body = vec![b' '; 3 << 20];
    for (path, status) in
        [("/v4/nobody", 401), ("/v4/api/nothing", 404), ("/v4/api/indexer/height", 405), ("/health", 200)]
    {
        assert_eq!(instance.post(path, &body).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn a_transaction_may_be_larger_when_its_method_comes_first() {
    let instance = Instance::start().await;
    let hex = "00".repeat(3 << 20);
    for method in ["btc_sendrawtransaction", "sendrawtransaction"] {
        let answer = instance
            .post("/v4/jsonrpc", format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":["{hex}"]}}"#))
            .await;
        assert_eq!(answer.json()["result"], (hex.len() + 4).to_string(), "{method}");
    }
    for body in [
        format!(r#"{{"method":"btc_decoderawtransaction","id":1,"params":["{hex}"]}}"#),
        format!(r#"{{"params":["{hex}"],"method":"btc_sendrawtransaction","id":1}}"#),
        format!(r#"[{{"method":"btc_sendrawtransaction","id":1,"params":["{hex}"]}}]"#),
    ] {
        assert_eq!(instance.post("/v4/jsonrpc", body).await.status, 413);
    }
    let over = "00".repeat(17 << 20);
    let answer =
        instance.post("/v4/jsonrpc", format!(r#"{{"method":"sendrawtransaction","id":1,"params":["{over}"]}}"#)).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn an_announced_length_beyond_all_limits_is_refused_without_reading_it() {
    let instance = Instance::start().await;
    let mut connection = Connection::open(instance.address).await;
    connection.send("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999\r\n\r\n").await;
    assert_eq!(connection.receive().await.unwrap().status, 413);
    assert!(connection.is_closed_within(Duration::from_secs(2)).await);
}

#[tokio::test]
async fn deep_json_is_refused_on_both_kinds_of_path() {
    let instance = Instance::start().await;
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // The request object and its array of parameters are two levels themselves.
    let call = |depth: usize| format!(r#"{{"method":"decodescript","id":1,"params":[{}]}}"#, nested(depth - 2));
    assert!(instance.post("/v4/jsonrpc", call(64)).await.json()["result"].is_array());
    let refused = instance.post("/v4/jsonrpc", call(65)).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["code"], &refused.json()["id"]),
        (200, &json!(-32600), &json!(null))
    );
    assert_eq!(instance.post("/v4/jsonrpc", "[".repeat(4 << 20)).await.json()["error"]["code"], -32600);
    let rest = instance.post("/v4/api/get-address-balance", format!(r#"{{"address":{}}}"#, nested(64))).await;
    assert_eq!(rest.status, 400);
    assert!(rest.json()["error"].as_str().unwrap().contains("deep"));
}

#[tokio::test]
async fn large_heads_are_431_with_a_body_and_larger_ones_are_cut() {
    let instance = Instance::start().await;
    let filler = |bytes: usize| "x".repeat(bytes);
    let fits = instance.send("POST", "/v4/jsonrpc", &[("X-Filler", &filler(30 << 10))], COUNT).await;
    assert_eq!(fits.status, 200);
    let refused = instance.send("POST", "/v4/jsonrpc", &[("X-Filler", &filler(33 << 10))], COUNT).await;
    assert_eq!((refused.status, &refused.json()["code"]), (431, &json!("HEADERS_TOO_LARGE")));
    let path = format!("/v4/api/{}", filler(33 << 10));
    assert_eq!(instance.get(&path).await.status, 431);
    let mut connection = Connection::open(instance.address).await;
    connection.send(format!("GET /health HTTP/1.1\r\nHost: t\r\nX-Filler: {}\r\n\r\n", filler(200 << 10))).await;
    let answer = connection.receive().await;
    assert!(answer.is_none_or(|answer| answer.status == 431));
    assert_eq!(instance.get("/health").await.status, 200);
}

fn impatient() -> Setup {
    let mut setup = Setup::default();
    setup.config.limits.header_read_timeout_ms = 300;
    setup.config.limits.body_read_timeout_ms = 300;
    setup.config.limits.handler_timeout_ms = 300;
    setup.config.limits.write_timeout_ms = 500;
    setup.config.limits.shutdown_timeout_ms = 1000;
    setup
}

#[tokio::test]
async fn clients_that_send_their_head_or_body_too_slowly_are_cut() {
    let instance = Instance::with(impatient()).await;
    let mut head = Connection::open(instance.address).await;
    head.send("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nX-Slow: ").await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        head.send("x").await;
    }
    assert!(head.is_closed_within(Duration::from_secs(1)).await);

    let started = Instant::now();
    let mut body = Connection::open(instance.address).await;
    body.send("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: 1000\r\n\r\n").await;
    let answer = tokio::join!(body.receive(), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
    })
    .0
    .unwrap();
    assert_eq!((answer.status, &answer.json()["code"]), (408, &json!("REQUEST_TIMEOUT")));
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(body.is_closed_within(Duration::from_secs(1)).await);

    let mut idle = Connection::open(instance.address).await;
    assert!(idle.is_closed_within(Duration::from_secs(3)).await, "a connection that sends nothing is not kept");
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answer_is_cut() {
    let mut setup = impatient();
    setup.config.limits.header_read_timeout_ms = 60_000;
    let instance = Instance::with(setup).await;
    let ids: Vec<_> =
        (0..8).map(|_| json!({ "method": "decodescript", "id": 1, "params": ["x".repeat(500_000)] })).collect();
    let body = serde_json::Value::from(ids).to_string();
    let request = format!("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let mut connection = Connection::open(instance.address).await;
    // Several answers of 4 MB fill every buffer between the two; from then on the server takes nothing more either.
    let sent = tokio::spawn(async move {
        for _ in 0..10 {
            connection.send(&request).await;
        }
        connection
    });
    let patience = Duration::from_secs(10);
    let _connection = tokio::time::timeout(patience, sent).await.expect("the server keeps the connection").unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(request_metrics(&instance).await.contains("paraffin_http_connections 0"), "the connection is still open");
}

async fn request_metrics(instance: &Instance) -> String {
    request(instance.metrics, "GET", "/metrics", &[], b"").await.text().to_owned()
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_a_timeout_and_spoils_no_other() {
    let instance = Instance::with(impatient()).await;
    let alone = instance.post("/v4/jsonrpc", r#"{"method":"getdifficulty","id":"slow"}"#).await;
    assert_eq!(alone.status, 504);
    let answer = alone.json();
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["message"], &answer["id"]),
        (&json!(-32603), &json!("timeout"), &json!("slow"))
    );
    let batch =
        instance.post("/v4/jsonrpc", r#"[{"method":"getdifficulty","id":1},{"method":"getblockcount","id":2}]"#).await;
    assert_eq!(batch.status, 200);
    assert_eq!((&batch.json()[0]["error"]["message"], &batch.json()[1]["result"]), (&json!("timeout"), &json!(3)));
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_an_error_and_not_a_flood() {
    let mut setup = Setup::default();
    setup.config.limits.response_bytes_max = 1000;
    let instance = Instance::with(setup).await;
    let long = "x".repeat(600);
    let call = json!({ "method": "decodescript", "id": 1, "params": [long, long] });
    let alone = instance.post("/v4/jsonrpc", call.to_string()).await.json();
    assert_eq!(
        (&alone["error"]["code"], &alone["error"]["data"]["code"]),
        (&json!(-32603), &json!("RESPONSE_TOO_LARGE"))
    );
    let half = json!({ "method": "decodescript", "id": 2, "params": [long] });
    let batch = instance.post("/v4/jsonrpc", json!([half, half]).to_string()).await.json();
    assert!(batch[0]["result"].is_array());
    assert_eq!((&batch[1]["error"]["data"]["code"], &batch[1]["id"]), (&json!("RESPONSE_TOO_LARGE"), &json!(2)));
}

#[tokio::test]
async fn pipelined_requests_and_http_1_0_are_answered() {
    let instance = Instance::start().await;
    let mut connection = Connection::open(instance.address).await;
    let one = format!("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{COUNT}", COUNT.len());
    connection.send(format!("{one}{one}GET /health HTTP/1.1\r\nHost: t\r\n\r\n")).await;
    assert_eq!(connection.receive().await.unwrap().json()["result"], 3);
    assert_eq!(connection.receive().await.unwrap().json()["result"], 3);
    assert_eq!(connection.receive().await.unwrap().text(), "OK");

    let mut old = Connection::open(instance.address).await;
    old.send(format!("POST /v4/jsonrpc HTTP/1.0\r\nContent-Length: {}\r\n\r\n{COUNT}", COUNT.len())).await;
    assert_eq!(old.receive().await.unwrap().json()["result"], 3);
    assert!(old.is_closed_within(Duration::from_secs(2)).await);

    let mut chunked = Connection::open(instance.address).await;
    let (first, second) = COUNT.split_at(10);
    chunked.send(format!("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\na\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", second.len())).await;
    assert_eq!(chunked.receive().await.unwrap().json()["result"], 3);

    let mut waiting = Connection::open(instance.address).await;
    waiting
        .send(format!(
            "POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            COUNT.len()
        ))
        .await;
    assert_eq!(waiting.receive().await.unwrap().status, 100);
    waiting.send(COUNT).await;
    assert_eq!(waiting.receive().await.unwrap().json()["result"], 3);
}

#[tokio::test]
async fn what_is_no_http_does_not_hurt() {
    let instance = Instance::start().await;
    for bytes in [
        &b"\0\0\0\0\0\0\0\0\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: t\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 some TLS hello\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n",
        b"POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /health HTTP/1.1\r\nHost: t\r\nBad Header\r\n\r\n",
    ] {
        let mut connection = Connection::open(instance.address).await;
        connection.send(bytes).await;
        let answer = connection.receive().await;
        assert!(answer.as_ref().is_none_or(|answer| (400..500).contains(&answer.status)), "{bytes:?} {answer:?}");
    }
    for target in ["*", "http://other/v4/jsonrpc"] {
        let mut connection = Connection::open(instance.address).await;
        connection.send(format!("OPTIONS {target} HTTP/1.1\r\nHost: t\r\n\r\n")).await;
        assert!(connection.receive().await.is_some(), "{target}");
    }
    assert_eq!(instance.get("/health").await.text(), "OK");
}

#[tokio::test]
async fn odd_strings_in_requests_are_answered() {
    let instance = Instance::start().await;
    for (body, code) in [
        (r#"{"method":"\ud800","id":1}"#.to_owned(), -32600),
        (r#"{"method":"esplora_tx","params":["\ud800"],"id":1}"#.to_owned(), -32602),
        (r#"{"method":"esplora_address","params":["\u0000\u202e"],"id":1}"#.to_owned(), -32602),
        (format!(r#"{{"method":"{}","id":1}}"#, "x".repeat(1 << 20)), -32601),
        (format!(r#"{{"method":"esplora_{}","id":1}}"#, ":".repeat(100_000)), -32601),
        (r#"{"method":"esplora_block-height","params":[1e999],"id":1}"#.to_owned(), -32602),
    ] {
        let answer = instance.post("/v4/jsonrpc", &body).await;
        assert_eq!(
            (answer.status, answer.json()["error"]["code"].as_i64()),
            (200, Some(code)),
            "{}",
            &body[..body.len().min(80)]
        );
    }
}

#[tokio::test]
async fn a_stop_lets_requests_in_flight_finish_and_accepts_no_more() {
    let mut instance = Instance::start().await;
    let mut busy = Connection::open(instance.address).await;
    busy.send(format!("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n", COUNT.len())).await;
    let mut idle = Connection::open(instance.address).await;
    idle.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n").await;
    assert_eq!(idle.receive().await.unwrap().status, 200);
    instance.stop.take().unwrap().send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(idle.is_closed_within(Duration::from_secs(1)).await);
    assert!(tokio::net::TcpStream::connect(instance.address).await.is_err());
    busy.send(COUNT).await;
    assert_eq!(busy.receive().await.unwrap().json()["result"], 3);
    tokio::time::timeout(Duration::from_secs(5), instance.served.take().unwrap()).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_call_that_never_ends() {
    let mut setup = Setup::default();
    setup.config.limits.shutdown_timeout_ms = 500;
    let mut instance = Instance::with(setup).await;
    let mut stuck = Connection::open(instance.address).await;
    let body = r#"{"method":"getdifficulty","id":1}"#;
    stuck.send(format!("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{body}", body.len())).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    instance.stop.take().unwrap().send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(5), instance.served.take().unwrap()).await.unwrap().unwrap();
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_a_slot() {
    let mut setup = Setup::default();
    setup.config.limits.connections_max = 2;
    let instance = Instance::with(setup).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(instance.address).await;
        connection.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n").await;
        assert_eq!(connection.receive().await.unwrap().status, 200);
        held.push(connection);
    }
    let mut waiting = Connection::open(instance.address).await;
    waiting.send("GET /health HTTP/1.1\r\nHost: t\r\n\r\n").await;
    assert!(tokio::time::timeout(Duration::from_millis(300), waiting.receive()).await.is_err());
    held.pop();
    assert_eq!(waiting.receive().await.unwrap().status, 200);
}
