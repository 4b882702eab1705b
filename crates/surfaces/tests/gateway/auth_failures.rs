//! Throttling of failed authentication, and clients that disconnect while they wait.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use paraffin_access::{ApiKey, DatabaseKeyStore, Grace, KeyStore as _, NewAlias, NewKey, ThrottleSettings};
use paraffin_gateway::AccessConfig;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::client::{Connection, Response};
use crate::instance::{Instance, Setup};
use crate::limits::COUNT;

fn unknown() -> String {
    format!("/v4/{}", ApiKey::generate().unwrap().reveal())
}

async fn status_from(client: &str, address: SocketAddr, path: &str) -> String {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(format!("{client}:0").parse().unwrap()).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    let request = format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{COUNT}", COUNT.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[9..]).into_owned()
}

#[tokio::test]
async fn a_guessing_client_is_throttled_before_the_key_store_is_queried_and_others_are_not() {
    let instance = Instance::start().await;
    let known = instance.keyed("");
    assert_eq!(instance.post(&known, COUNT).await.status, 200);
    let guess = |number: usize| {
        let instance = &instance;
        async move {
            match number % 3 {
                0 => instance.post(&unknown(), COUNT).await,
                1 => instance.post(&format!("/v4/guess-{number}"), COUNT).await,
                _ => instance.send("POST", "/v4/api", &[("Origin", "https://guess.example")], COUNT).await,
            }
        }
    };
    let mut refused: Option<Response> = None;
    let mut guesses = 0;
    while refused.is_none() {
        assert!(guesses < 5_000, "guesses are not throttled");
        let answer = guess(guesses).await;
        guesses += 1;
        match answer.status {
            401 | 403 => {}
            _ => refused = Some(answer),
        }
    }
    assert!(guesses > 200, "{guesses}: two hundred errors are forgiven");
    let refused = refused.unwrap();
    assert_eq!((refused.status, &refused.json()["code"]), (429, &json!("RATE_LIMITED")));
    assert_eq!((refused.header("retry-after"), &refused.json()["error"]["code"]), (Some("1"), &json!(-32000)));
    // A known key is served, and so is the shared endpoint; another client may still fail.
    assert_eq!(instance.post(&known, COUNT).await.status, 200);
    assert_eq!(instance.post("/v4/jsonrpc", COUNT).await.status, 200);
    assert_eq!(status_from("127.0.0.2", instance.address, &unknown()).await, "401");
    // Throttled requests were not authenticated: a new key of this client is served as soon as it may retry.
    let created = instance.keys.create(NewKey::named("new"), "test", 0).await.unwrap().key.reveal();
    let started = Instant::now();
    while instance.post(&format!("/v4/{created}"), COUNT).await.status != 200 {
        assert!(started.elapsed() < Duration::from_secs(5), "the new key is not served");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn what_another_process_makes_is_served_by_the_next_request_although_it_was_unknown_before() {
    let instance = Instance::start().await;
    let other = DatabaseKeyStore::open(&instance.keys_path).await.unwrap();
    let account = instance.key.record.account;
    let origin = [("Origin", "https://late.example.com")];
    assert_eq!(instance.post("/v4/late-alias", COUNT).await.status, 401);
    assert_eq!(instance.send("POST", "/v4/api", &origin, COUNT).await.status, 403);
    other.create_alias(NewAlias::named(account, "late-alias"), "test", 0).await.unwrap();
    other.register_origin(account, origin[0].1.parse().unwrap(), true, "test", 0).await.unwrap();
    assert_eq!(instance.post("/v4/late-alias", COUNT).await.status, 200);
    // An unknown origin is cached until this process sees a change of keys, aliases or origins.
    let made = Instant::now();
    while instance.send("POST", "/v4/api", &origin, COUNT).await.status != 200 {
        assert!(made.elapsed() < Duration::from_secs(5), "the origin is not served");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let created = other.create(NewKey::named("late"), "test", 0).await.unwrap().key;
    assert_eq!(instance.post(&format!("/v4/{}", created.reveal()), COUNT).await.status, 200);
    let now = i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let selector = paraffin_access::KeySelector::Key(created);
    let rerolled = other.reroll(selector, Grace::of(Duration::ZERO), "test", now).await.unwrap().key;
    assert_eq!(instance.post(&format!("/v4/{}", rerolled.reveal()), COUNT).await.status, 200);
}

/// row AU11
#[tokio::test]
async fn who_leaves_while_waiting_gives_the_place_back_and_those_behind_move_up() {
    let keyless =
        ThrottleSettings { burst: 1, refill_per_minute: 60, wait_ms_max: 3_000, ..ThrottleSettings::default() };
    let access = AccessConfig { keyless, ..AccessConfig::default() };
    let instance = Instance::with(Setup { access, ..Setup::default() }).await;
    assert_eq!(instance.post("/v4/jsonrpc", COUNT).await.status, 200);
    let started = Instant::now();
    let post = format!("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{COUNT}", COUNT.len());
    let get = "GET /v4/api/indexer/height HTTP/1.1\r\nHost: t\r\n\r\n".to_owned();
    let mut waiting = Vec::new();
    for (place, request) in [(1, &post), (2, &get), (3, &post)] {
        let mut connection = Connection::open(instance.address).await;
        connection.send(request).await;
        until_waiting(&instance, place).await;
        waiting.push(connection);
    }
    let full = instance.post("/v4/jsonrpc", COUNT).await;
    assert_eq!(full.status, 429, "the fourth would wait for four seconds");
    // The first two go away, one of them with an unread body.
    let mut last = waiting.pop().unwrap();
    drop(waiting);
    until_waiting(&instance, 1).await;
    let behind = instance.post("/v4/jsonrpc", COUNT);
    let (moved_up, behind) = tokio::join!(
        async {
            let response = last.receive().await.unwrap();
            (response.status, started.elapsed())
        },
        async { (behind.await.status, started.elapsed()) }
    );
    assert_eq!((moved_up.0, behind.0), (200, 200));
    assert!(moved_up.1 < Duration::from_millis(2_500), "third in line, first after the others left: {moved_up:?}");
    assert!(moved_up.1 < behind.1 && behind.1 < Duration::from_millis(3_500), "{moved_up:?} {behind:?}");
    until_waiting(&instance, 0).await;
}

async fn until_waiting(instance: &Instance, count: u32) {
    let line = format!("paraffin_keyless_requests_waiting {count}");
    let started = Instant::now();
    loop {
        let metrics = crate::client::request(instance.metrics, "GET", "/metrics", &[], b"").await;
        if metrics.text().lines().any(|found| found == line) {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "{line}: {}", metrics.text());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
