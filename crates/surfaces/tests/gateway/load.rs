//! Many clients at once, and the store taken away in the middle.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use paraffin_access::{DatabaseKeyStore, KeyStore as _, LEASE, NewAlias, NewKey, Plan};

use crate::client::Connection;
use crate::instance::Instance;
use crate::limits::COUNT;

const CONNECTIONS: usize = 64;

/// Three seconds; `PARAFFIN_LOAD_SECONDS` for the long run.
fn length() -> Duration {
    let seconds = std::env::var("PARAFFIN_LOAD_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3);
    Duration::from_secs(seconds)
}

fn head(path: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{COUNT}", COUNT.len())
}

/// row AU02
/// row RL04
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_load_of_64_connections_with_keys_of_all_plans_counts_exactly_what_was_sent() {
    let mut instance = Instance::start().await;
    let mut paths = BTreeMap::new();
    for (name, plan) in [("free", Plan::FREE), ("pro", Plan::PRO), ("business", Plan::BUSINESS)] {
        let created = instance.keys.create(NewKey::on_plan(name, plan), "test", 0).await.unwrap();
        paths.insert(name.to_owned(), format!("/v4/{}", created.key.reveal()));
    }
    let alias = NewAlias::named(instance.key.record.account, "load");
    instance.keys.create_alias(alias, "test", 0).await.unwrap();
    paths.insert("alias".to_owned(), "/v4/load".to_owned());
    let sent: Arc<BTreeMap<String, AtomicU64>> =
        Arc::new(paths.keys().map(|name| (name.clone(), AtomicU64::new(0))).collect());
    let stop = Arc::new(AtomicBool::new(false));
    let limited = Arc::new(AtomicU64::new(0));
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|number| {
            let (name, path) = paths.iter().nth(number % paths.len()).unwrap();
            let (name, head, address) = (name.clone(), head(path), instance.address);
            let (sent, stop, limited) = (Arc::clone(&sent), Arc::clone(&stop), Arc::clone(&limited));
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await;
                while !stop.load(Ordering::Relaxed) {
                    connection.send(&head).await;
                    let response = connection.receive().await.unwrap();
                    sent[&name].fetch_add(1, Ordering::Relaxed);
                    assert!(matches!(response.status, 200 | 429), "{}", response.status);
                    assert!(response.header("x-ratelimit-remaining").is_some());
                    limited.fetch_add(u64::from(response.status == 429), Ordering::Relaxed);
                }
            })
        })
        .collect();
    tokio::time::sleep(length()).await;
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    instance.stop.take().unwrap().send(()).unwrap();
    instance.served.take().unwrap().await.unwrap();
    let other = DatabaseKeyStore::open(&instance.keys_path).await.unwrap();
    let mut counted: BTreeMap<String, i64> =
        other.list().await.unwrap().into_iter().map(|key| (key.name, key.request_count)).collect();
    counted.insert("alias".to_owned(), other.aliases().await.unwrap()[0].request_count);
    let mut total = 0;
    for (name, sent) in sent.iter() {
        let sent = sent.load(Ordering::Relaxed);
        assert_eq!(u64::try_from(counted[name]).unwrap(), sent, "{name}");
        total += sent;
    }
    println!(
        "{total} requests, {} of them refused as too many; counted by caller: {counted:?}",
        limited.load(Ordering::Relaxed)
    );
    assert!(total > 500, "{total} requests are no load");
    assert!(limited.load(Ordering::Relaxed) > 0, "Free and Pro reached their limits");
}

/// row AU10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_taken_away_under_load_serves_nobody_and_serves_again_when_it_is_back() {
    let instance = Instance::start().await;
    let account = instance.key.record.account;
    instance.keys.create_alias(NewAlias::named(account, "load"), "test", 0).await.unwrap();
    instance.keys.register_origin(account, "https://app.example.com".parse().unwrap(), true, "test", 0).await.unwrap();
    let key = instance.key.key.reveal();
    let by_origin = head("/v4/api").replace("Host: t", "Host: t\r\nOrigin: https://app.example.com");
    let by_header = head("/v4/jsonrpc").replace("Host: t", &format!("Host: t\r\nx-service-api-key: {key}"));
    let heads =
        [head(&instance.keyed("")), by_header, head("/v4/load"), by_origin, head("/v4/jsonrpc"), head("/v4/unknown")];
    // 0: there, 1: changing, 2: away
    let phase = Arc::new(AtomicU64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..24)
        .map(|number| {
            let (head, address) = (heads[number % heads.len()].clone(), instance.address);
            let (phase, stop) = (Arc::clone(&phase), Arc::clone(&stop));
            let known = if number % heads.len() == 5 { 401 } else { 200 };
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await;
                let mut seen = [0_u32; 3];
                while !stop.load(Ordering::SeqCst) {
                    let before = phase.load(Ordering::SeqCst);
                    connection.send(&head).await;
                    let response = connection.receive().await.unwrap();
                    let after = phase.load(Ordering::SeqCst);
                    match (before, after) {
                        // A client that repeatedly sends unknown keys is throttled.
                        (0, 0) if known == 401 => assert!(matches!(response.status, 401 | 429)),
                        (0, 0) => assert_eq!(response.status, known),
                        (2, 2) => {
                            assert_eq!(
                                (response.status, response.json()["code"].as_str()),
                                (503, Some("AUTH_UNAVAILABLE"))
                            );
                            assert_eq!(response.header("retry-after"), None);
                        }
                        _ => assert!(matches!(response.status, 200 | 401 | 429 | 503)),
                    }
                    seen[usize::try_from(after).unwrap()] += 1;
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
                assert!(seen[0] > 0 && seen[2] > 0, "{seen:?}");
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    phase.store(1, Ordering::SeqCst);
    let aside = instance.keys_path.with_extension("aside");
    std::fs::rename(&instance.keys_path, &aside).unwrap();
    tokio::time::sleep(LEASE + Duration::from_millis(100)).await;
    phase.store(2, Ordering::SeqCst);
    assert_eq!(instance.get("/v4/api/health").await.status, 200);
    tokio::time::sleep(Duration::from_millis(500)).await;
    phase.store(1, Ordering::SeqCst);
    std::fs::rename(&aside, &instance.keys_path).unwrap();
    tokio::time::sleep(LEASE + Duration::from_millis(100)).await;
    phase.store(0, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::SeqCst);
    for client in clients {
        client.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_opens_too_many_connections_or_sends_slowly_does_not_starve_others() {
    let mut setup = crate::instance::Setup::default();
    setup.config.limits.connections_per_client_max = 16;
    setup.config.limits.connections_max = 64;
    setup.config.limits.header_read_timeout_ms = 2_000;
    let instance = Instance::with(setup).await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut connection = Connection::open(instance.address).await;
        connection.send("POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nX-Slow: ").await;
        slow.push(connection);
    }
    // Beyond its share the flood is closed at once.
    let mut closed = 0;
    for connection in &mut slow {
        closed += u32::from(connection.is_closed_within(Duration::from_millis(20)).await);
    }
    assert!(closed >= 84, "{closed}");
    // Another client (another loopback address) is served while the slow ones hold their share.
    let answer = from_another_address(instance.address, &head(&instance.keyed(""))).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    // And the slow ones are disconnected in time.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(instance.post(&instance.keyed(""), COUNT).await.status, 200);
}

async fn from_another_address(address: std::net::SocketAddr, request: &str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let read = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut answer)).await.unwrap().unwrap();
    String::from_utf8_lossy(&answer[..read]).into_owned()
}
