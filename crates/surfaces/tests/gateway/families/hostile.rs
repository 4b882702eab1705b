use std::time::{Duration, Instant};

use hyper::Uri;
use paraffin_ordinals_index::{OPI_SERVER, ORD_SERVER};
use serde_json::{Value, json};

use super::upstream::{Reaction, Upstream, answer};
use crate::instance::{Instance, Setup};

/// A word in all answers of the servers that must never reach a caller.
const SECRET: &str = "s3cretpath";

/// An instance that asks one server for both families, with small limits.
async fn asking(url: &str) -> Instance {
    let address: Uri = format!("{url}/{SECRET}").parse().unwrap();
    let mut setup = Setup { families: vec![(ORD_SERVER, address.clone()), (OPI_SERVER, address)], ..Setup::default() };
    setup.config.limits.family_answer_bytes_max = 100_000;
    setup.config.limits.family_timeout_ms = 500;
    Instance::with(setup).await
}

/// Behaviours of a server, with their names in messages.
pub(crate) type Named = (&'static str, fn() -> Reaction);

/// Every kind of invalid answer.
pub(crate) fn reactions() -> Vec<Named> {
    let deep = || answer(200, "", format!("{}{}", "[".repeat(40_000), "]".repeat(40_000)));
    vec![
        ("nothing", || Reaction::Nothing),
        ("no http", || Reaction::Bytes(b"SSH-2.0-x\r\n\r\n".to_vec())),
        ("html", || answer(200, "content-type: text/html\r\n", format!("<html>{SECRET}</html>"))),
        ("empty", || answer(200, "", "")),
        ("no utf-8", || answer(200, "", b"{\"id\":\"\xff\"}")),
        ("half", || answer(200, "", r#"{"id":"#)),
        ("deep", deep),
        ("deep object", || {
            answer(200, "", format!(r#"{{"error":null,"result":{}{}}}"#, "[".repeat(99), "]".repeat(99)))
        }),
        ("other members", || answer(200, "", r#"{"a":1,"b":[]}"#)),
        ("a list", || answer(200, "", "[1,2]")),
        ("500", || answer(500, "", format!("error at http://10.1.2.3/{SECRET}"))),
        ("503", || answer(503, "retry-after: 5\r\n", "")),
        ("401", || answer(401, "www-authenticate: Basic\r\n", "")),
        ("403", || answer(403, "", SECRET)),
        ("429", || answer(429, "", SECRET)),
        ("204", || Reaction::Bytes(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec())),
        ("redirect", || answer(302, &format!("location: http://127.0.0.1:1/{SECRET}\r\n"), "")),
        ("too short", || Reaction::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"id\":1}".to_vec())),
        ("no length", || Reaction::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n7".to_vec())),
        ("many heads", || {
            Reaction::Bytes(format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(10_000)).into_bytes())
        }),
        ("slow", || Reaction::Slow(b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n7".to_vec())),
        ("slow head", || Reaction::Slow(b"HTTP/1.1 200 OK\r\nx: ".to_vec())),
        ("endless", || Reaction::Endless(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec())),
        ("endless chunks", || {
            Reaction::Endless(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffff\r\n".to_vec())
        }),
        ("too long", || Reaction::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\n7".to_vec())),
    ]
}

fn check_words(text: &str, case: &str) {
    for secret in [SECRET, "127.0.0.1", "10.1.2.3", "http://"] {
        assert!(!text.contains(secret), "{case}: {text}");
    }
}

/// Codes of an answer that could not be had: the server is away, or says too much.
fn check_code(code: &Value, case: &str) {
    let is_told = ["UPSTREAM_UNAVAILABLE", "RESPONSE_TOO_LARGE"].iter().any(|known| code == known);
    assert!(is_told, "{case}: {code}");
}

#[tokio::test]
async fn whatever_a_server_says_callers_get_an_error_of_ours_in_time() {
    for (case, reaction) in reactions() {
        let server = Upstream::always(reaction).await;
        let instance = asking(&server.url()).await;
        let payee = instance.payee.clone();
        let id = format!("{}i0", "11".repeat(32));
        for (method, params) in [
            ("ord_blockheight", json!([])),
            ("ord_blockhash", json!([])),
            ("ord_inscription", json!([0])),
            ("ord_parents", json!([id])),
            ("ord_metadata", json!([id])),
            ("ord_address", json!([payee])),
        ] {
            let started = Instant::now();
            let answer = instance.call(method, params).await;
            assert!(started.elapsed() < Duration::from_secs(5), "{case} {method}");
            let error = &answer["error"];
            assert_eq!(error["code"], -32603, "{case} {method}: {answer}");
            check_code(&error["data"]["code"], case);
            check_words(&answer.to_string(), case);
        }
        for path in ["block_height", "balance?ticker=a&pkscript=51", "holders?ticker=a"] {
            let answer = instance.get(&format!("/v4/opi/v1/brc20/{path}")).await;
            let body = answer.json();
            assert_eq!((answer.status, &body["result"]), (503, &Value::Null), "{case} {path}: {body}");
            check_code(&body["code"], case);
            check_words(answer.text(), case);
        }
    }
}

#[tokio::test]
async fn an_unavailable_server_is_reported_and_retried() {
    let port = {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.local_addr().unwrap().port()
    };
    let instance = asking(&format!("http://127.0.0.1:{port}")).await;
    let error = instance.call("ord_blockheight", json!([])).await["error"].clone();
    let reported = json!({ "code": -32603, "message": "the ord server is not available", "data": { "code": "UPSTREAM_UNAVAILABLE" } });
    assert_eq!(error, reported);
    // Other families are not affected.
    assert_eq!(instance.result("btc_getblockcount", json!([])).await, 3);
}

#[tokio::test]
async fn numbers_beyond_64_bits_stay_as_they_are_or_are_no_number() {
    let digits = "123456789012345678901234567890123456789012345678901234567890";
    let big = move || answer(200, "", format!(r#"{{"entry":{{"premine":{digits}}},"id":"1:1","mintable":false}}"#));
    let server = Upstream::always(big).await;
    let instance = asking(&server.url()).await;
    let body = r#"{"id":1,"method":"ord_rune","params":["1:1"]}"#;
    assert!(instance.post(&instance.keyed(""), body).await.text().contains(digits));
    for number in [digits, "-1", "1.5", "1e3", "4294967296", "0x7", "7 7", "\"7\""] {
        let server = Upstream::always(move || answer(200, "", number)).await;
        let instance = asking(&server.url()).await;
        assert_eq!(instance.call("ord_blockcount", json!([])).await["error"]["code"], -32603, "{number}");
        let answer = instance.get("/v4/opi/v1/brc20/block_height").await;
        assert_eq!(answer.status == 200, number == "4294967296", "{number}");
    }
}

/// A refusal of a server is reported with our own message.
#[tokio::test]
async fn words_of_a_server_are_not_repeated() {
    let refusal =
        || answer(400, "", format!(r#"{{"error":"no such thing at http://10.1.2.3/{SECRET}","result":null}}"#));
    let server = Upstream::always(refusal).await;
    let instance = asking(&server.url()).await;
    let answer = instance.call("ord_inscription", json!([0])).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    check_words(&answer.to_string(), "ord");
    let answer = instance.get("/v4/opi/v1/brc20/balance?ticker=a&pkscript=51").await;
    assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("INVALID_REQUEST")));
    check_words(answer.text(), "OPI");
}

/// An address with more outputs than our own lists have is refused as ours are.
#[tokio::test]
async fn lists_have_our_own_limit() {
    let long = || answer(200, "", r#"{"outputs":[1,2,3],"inscriptions":[],"sat_balance":0,"runes_balances":[]}"#);
    let server = Upstream::always(long).await;
    let mut setup = Setup { families: super::ord_at(&server.url()), ..Setup::default() };
    setup.config.limits.list_records_max = 2;
    let instance = Instance::with(setup).await;
    let payee = instance.payee.clone();
    let answer = instance.call("ord_address", json!([payee])).await;
    assert_eq!(answer["error"]["data"]["code"], "RESPONSE_TOO_LARGE", "{answer}");
}

/// A server of the operator is shared among callers as the node is.
#[tokio::test]
async fn one_caller_does_not_take_all_requests_to_a_server() {
    let server = Upstream::start(|received| {
        Box::pin(async move {
            let slow = received.path.contains("/block/");
            let text = || answer(200, "", "7");
            if slow { Reaction::Late(Duration::from_secs(8), b"HTTP/1.1 500 X\r\n\r\n".to_vec()) } else { text() }
        })
    })
    .await;
    let address = format!("http://{}", server.address).parse().unwrap();
    let mut setup = Setup { families: vec![(ORD_SERVER, address)], ..Setup::default() };
    // One of four for a caller, two for anonymous callers together.
    setup.config.limits.family_requests_max = 4;
    let instance = Instance::with(setup).await;
    let call = |method: &str, params: Value| json!({ "method": method, "params": params, "id": 1 }).to_string();
    let quick = call("ord_blockcount", json!([]));
    let mut slow = futures_util::stream::FuturesUnordered::new();
    for _ in 0..6 {
        slow.push(instance.post("/v4/jsonrpc", call("ord_block", json!([1]))));
    }
    let others = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        for _ in 0..3 {
            let started = Instant::now();
            assert_eq!(instance.post(&instance.keyed(""), &quick).await.json()["result"], 7);
            assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
        }
    };
    tokio::select! {
        biased;
        _ = futures_util::StreamExt::next(&mut slow) => panic!("a slow answer came before three quick ones"),
        () = others => {}
    }
}
