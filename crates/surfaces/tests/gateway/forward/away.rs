use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use paraffin_access::{KeyStore as _, NewKey, Plan};
use serde_json::json;

use super::edge::{Edge, THEIR_KEY, is_health_check, requests_to, response_to, well_but};
use crate::client::request;
use crate::families::upstream::{Reaction, Upstream};
use crate::instance::Instance;

const READ: &str = r#"{"id":1,"method":"btc_getblockcount","params":[]}"#;

async fn seven() -> Upstream {
    well_but(|received| Reaction::Bytes(response_to(&received, 200, "", r#"{"id":1,"result":7}"#))).await
}

#[tokio::test]
async fn what_reads_is_asked_of_the_next_and_what_writes_is_sent_once() {
    let first = well_but(|_| Reaction::Nothing).await;
    let second = seven().await;
    let edge = Edge::start(&[first.address, second.address], THEIR_KEY).await;
    edge.wait_for_health(|health| health["upstreams"]["reachable"] == 2).await;
    let answer = edge.post(&edge.keyed(""), READ).await;
    assert_eq!((answer.status, &answer.json()["result"]), (200, &json!(7)));
    assert_eq!((requests_to(&first).len(), requests_to(&second).len()), (1, 1));
    for (path, body) in [
        ("", r#"{"method":"btc_sendrawtransaction","params":["00"]}"#),
        ("", r#"{"method":"lua_evalscript","params":["return 1"]}"#),
        ("/esplora/tx", "00"),
    ] {
        // The failed instance is tried last until its health has been checked again.
        edge.wait_for_health(|health| health["upstreams"]["reachable"] == 2).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        let before = (requests_to(&first).len(), requests_to(&second).len());
        let answer = edge.post(&edge.keyed(path), body).await;
        assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("UPSTREAM_UNAVAILABLE")), "{body}");
        assert_eq!((requests_to(&first).len(), requests_to(&second).len()), (before.0 + 1, before.1), "{body}");
    }
}

/// Without a connection nothing was sent, so that even writes may go to the next instance.
#[tokio::test]
async fn what_writes_goes_to_the_next_when_the_first_cannot_be_reached() {
    let gone = {
        let server = seven().await;
        server.address
    };
    let second = seven().await;
    let edge = Edge::start(&[gone, second.address], THEIR_KEY).await;
    let answer = edge.call("btc_sendrawtransaction", json!(["00"])).await;
    assert_eq!((answer.status, &answer.json()["result"]), (200, &json!(7)));
}

#[tokio::test]
async fn an_instance_that_hangs_is_left_within_seconds() {
    let hangs = Arc::new(AtomicBool::new(false));
    let is_hanging = Arc::clone(&hangs);
    let first = Upstream::start(move |received| {
        let is_hanging = is_hanging.load(Ordering::SeqCst);
        Box::pin(async move {
            if is_hanging {
                return Reaction::Late(Duration::from_secs(60), Vec::new());
            }
            let health = r#"{"status":"ok","network":"regtest","height":3}"#;
            Reaction::Bytes(response_to(&received, 200, "", health))
        })
    })
    .await;
    let second = seven().await;
    let edge = Edge::start(&[first.address, second.address], THEIR_KEY).await;
    edge.wait_for_health(|health| health["upstreams"]["reachable"] == 2).await;
    hangs.store(true, Ordering::SeqCst);
    let started = Instant::now();
    let answer = edge.post(&edge.keyed(""), READ).await;
    assert_eq!(answer.json()["result"], 7);
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    // From now on it is not tried first.
    let started = Instant::now();
    assert_eq!(edge.post(&edge.keyed(""), READ).await.json()["result"], 7);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[tokio::test]
async fn so_many_requests_are_handed_on_at_once_and_further_ones_wait() {
    const SLOTS: usize = 3;
    let (open, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, seen) = (Arc::clone(&open), Arc::clone(&most));
    let server = Upstream::start(move |received| {
        let (now, seen) = (Arc::clone(&now), Arc::clone(&seen));
        Box::pin(async move {
            if is_health_check(&received) {
                let health = r#"{"status":"ok","network":"regtest","height":3}"#;
                return Reaction::Bytes(response_to(&received, 200, "", health));
            }
            seen.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(200)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Reaction::Bytes(response_to(&received, 200, "", r#"{"id":1,"result":7}"#))
        })
    })
    .await;
    let edge = Edge::with(&[server.address], THEIR_KEY, |limits| limits.forwarded_requests_max = SLOTS).await;
    let mut load = tokio::task::JoinSet::new();
    // One account may use a quarter of the forwarded requests, at least one.
    for number in 0..4 {
        let new = NewKey::on_plan(format!("caller {number}"), Plan::BUSINESS);
        let key = edge.keys.create(new, "test", 0).await.unwrap().key.reveal();
        for _ in 0..SLOTS {
            let (address, path) = (edge.address, format!("/v4/{key}"));
            load.spawn(async move { request(address, "POST", &path, &[], READ.as_bytes()).await.status });
        }
    }
    let began = Instant::now();
    while let Some(status) = load.join_next().await {
        assert_eq!(status.unwrap(), 200);
    }
    assert_eq!(most.load(Ordering::SeqCst), SLOTS);
    assert!(began.elapsed() >= Duration::from_millis(700), "{:?}", began.elapsed());

    // A caller that waits longer than a request may take gets an error that says so.
    let hangs = well_but(|_| Reaction::Late(Duration::from_secs(60), Vec::new())).await;
    let edge = Edge::with(&[hangs.address], THEIR_KEY, |limits| {
        limits.forwarded_requests_max = 1;
        limits.handler_timeout_ms = 500;
    })
    .await;
    let (path, body) = (edge.keyed(""), READ.as_bytes());
    let ask = || request(edge.address, "POST", &path, &[], body);
    let (first, second) = tokio::join!(ask(), ask());
    assert_eq!((first.status, second.status), (504, 504));
}

#[tokio::test]
async fn no_request_fails_while_one_of_two_goes_away() {
    let (first, second) = (seven().await, seven().await);
    let edge = Edge::start(&[first.address, second.address], THEIR_KEY).await;
    edge.wait_for_health(|health| health["upstreams"]["reachable"] == 2).await;
    let (address, path) = (edge.address, edge.keyed(""));
    let over = Arc::new(AtomicBool::new(false));
    let mut load = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (path, over) = (path.clone(), Arc::clone(&over));
        load.spawn(async move {
            let mut answered = 0_usize;
            while !over.load(Ordering::SeqCst) {
                let answer = request(address, "POST", &path, &[], READ.as_bytes()).await;
                assert_eq!((answer.status, answer.text()), (200, r#"{"id":1,"result":7}"#));
                answered += 1;
            }
            answered
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let of_first = requests_to(&first).len();
    drop(first);
    tokio::time::sleep(Duration::from_millis(900)).await;
    over.store(true, Ordering::SeqCst);
    let mut answered = 0;
    while let Some(count) = load.join_next().await {
        answered += count.unwrap();
    }
    assert!(of_first > 0 && !requests_to(&second).is_empty() && answered > 50, "{of_first} {answered}");
}

#[tokio::test]
async fn health_reports_the_instances() {
    let mut instance = Instance::start().await;
    let second = seven().await;
    let edge = Edge::start(&[instance.address, second.address], &instance.key.key.reveal()).await;
    let health = edge.wait_for_health(|health| health["upstreams"]["reachable"] == 2).await;
    assert_eq!((&health["status"], &health["height"]), (&json!("ok"), &json!(3)));
    drop(second);
    let health = edge.wait_for_health(|health| health["upstreams"]["reachable"] == 1).await;
    assert_eq!((&health["status"], &health["height"]), (&json!("degraded"), &json!(3)));
    drop(instance.stop.take());
    instance.served.take().unwrap().await.unwrap();
    let health = edge.wait_for_health(|health| health["upstreams"]["reachable"] == 0).await;
    assert_eq!(health["status"], "stalled");
    assert_eq!(edge.health().await.0, 503);
    let answer = edge.post(&edge.keyed(""), READ).await;
    let body = answer.json();
    assert_eq!(
        (answer.status, &body["code"], &body["error"]["code"]),
        (503, &json!("UPSTREAM_UNAVAILABLE"), &json!(-32603))
    );
    let answer = edge.get(&edge.keyed("/pools")).await;
    assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("UPSTREAM_UNAVAILABLE")));
    assert_eq!(edge.get("/health").await.text(), "OK");
}
