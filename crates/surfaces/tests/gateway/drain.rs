//! A server that is stopping reports so, and answers until its grace period ends.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Connection;
use crate::instance::{Instance, Setup};

const COUNT: &str =
    "POST /v4/jsonrpc HTTP/1.1\r\nHost: t\r\nContent-Length: 40\r\n\r\n{\"method\":\"btc_getblockcount\",\"id\":1}   ";
const DRAIN: Duration = Duration::from_secs(1);

async fn instance() -> Instance {
    let mut setup = Setup::default();
    setup.config.drain_seconds = DRAIN.as_secs();
    Instance::with(setup).await
}

async fn draining(instance: &Instance) {
    for _ in 0..100 {
        if instance.get("/health").await.status == 503 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("health does not say that the server is about to stop");
}

#[tokio::test]
async fn health_says_draining_while_requests_are_answered_and_their_connections_closed() {
    let mut instance = instance().await;
    let mut kept = Connection::open(instance.address).await;
    let mut idle = Connection::open(instance.address).await;
    for connection in [&mut kept, &mut idle] {
        connection.send(COUNT).await;
        let answer = connection.receive().await.unwrap();
        assert_eq!((answer.json()["result"].clone(), answer.header("connection")), (json!(3), None));
    }
    let started = Instant::now();
    instance.stop.take().unwrap().send(()).unwrap();
    draining(&instance).await;
    let plain = instance.get("/health").await;
    assert_eq!((plain.status, plain.text()), (503, "draining"));
    let health = instance.get("/v4/api/health").await;
    assert_eq!((health.status, &health.json()["status"]), (503, &json!("draining")));
    let metrics = crate::client::request(instance.metrics, "GET", "/metrics", &[], b"").await;
    assert!(metrics.text().contains("\nparaffin_draining 1\n"), "{}", metrics.text());

    // A connection from before is closed after its next answer; a new one is answered as well.
    kept.send(COUNT).await;
    let last = kept.receive().await.unwrap();
    assert_eq!((&last.json()["result"], last.header("connection")), (&json!(3), Some("close")));
    assert!(kept.is_closed_within(Duration::from_secs(1)).await);
    while started.elapsed() + Duration::from_millis(100) < DRAIN {
        let answer = instance.post("/v4/jsonrpc", r#"{"method":"btc_getblockcount","id":1}"#).await;
        assert_eq!(answer.json()["result"], 3);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The idle one is closed at the end.
    assert!(idle.is_closed_within(Duration::from_secs(2)).await);
    instance.served.take().unwrap().await.unwrap();
    assert!(started.elapsed() >= DRAIN, "{:?}", started.elapsed());
    assert!(tokio::net::TcpStream::connect(instance.address).await.is_err());
}

#[tokio::test]
async fn connections_in_the_queue_at_the_end_are_served() {
    let mut setup = Setup::default();
    setup.config.limits.connections_max = 3;
    let mut instance = Instance::with(setup).await;
    let mut held = Connection::open(instance.address).await;
    held.send(COUNT).await;
    assert_eq!(held.receive().await.unwrap().json()["result"], 3);
    // Sent at the same moment as the signal to stop; a connection accepted then is answered.
    let mut late = Connection::open(instance.address).await;
    late.send(COUNT).await;
    instance.stop.take().unwrap().send(()).unwrap();
    assert_eq!(late.receive().await.unwrap().json()["result"], 3);
    instance.served.take().unwrap().await.unwrap();
}
