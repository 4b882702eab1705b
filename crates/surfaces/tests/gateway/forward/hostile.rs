use std::time::{Duration, Instant};

use serde_json::json;

use super::edge::{Edge, THEIR_KEY, requests_to, response_to, well_but};
use crate::families::hostile::reactions;
use crate::families::upstream::{Reaction, Upstream, answer};

const READ: &str = r#"{"id":1,"method":"btc_getblockcount","params":[]}"#;

/// Callers see neither our key at the instance, nor its address, nor its messages.
fn check_words(text: &str, case: &str) {
    for secret in [&THEIR_KEY[..8], "s3cretpath", "10.1.2.3", "http://"] {
        assert!(!text.contains(secret), "{case}: {text}");
    }
}

/// A server that does not repeat the id of a request is no instance.
#[tokio::test]
async fn what_is_no_instance_is_not_handed_on() {
    for (case, reaction) in reactions() {
        let server = well_but(move |_| reaction()).await;
        let edge = Edge::start(&[server.address], THEIR_KEY).await;
        for path in ["", "/pools", "/esplora/blocks/tip/height", "/opi/v1/brc20/block_height"] {
            let started = Instant::now();
            let answer = if path.is_empty() {
                edge.post(&edge.keyed(path), READ).await
            } else {
                edge.get(&edge.keyed(path)).await
            };
            // A head that never ends is waited for as long as a request may take.
            if case == "slow head" {
                assert!(matches!(answer.status, 503 | 504), "{case}");
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(5), "{case} {path}");
            assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("UPSTREAM_UNAVAILABLE")), "{case} {path}");
            check_words(answer.text(), case);
        }
    }
}

#[tokio::test]
async fn what_an_instance_holds_against_us_is_not_held_against_the_caller() {
    for (status, code) in [
        (401, "INVALID_API_KEY"),
        (403, "ADMIN_KEY_REQUIRED"),
        (403, "SURFACE_NOT_ALLOWED"),
        (429, "RATE_LIMITED"),
        (503, "AUTH_UNAVAILABLE"),
    ] {
        let refusal = format!(r#"{{"statusCode":{status},"code":"{code}","error":"{THEIR_KEY}"}}"#);
        let server =
            well_but(move |received| Reaction::Bytes(response_to(&received, status, "retry-after: 9\r\n", &refusal)))
                .await;
        let edge = Edge::start(&[server.address], THEIR_KEY).await;
        for path in ["", "/pools"] {
            let answer = if path.is_empty() {
                edge.post(&edge.keyed(path), READ).await
            } else {
                edge.get(&edge.keyed(path)).await
            };
            assert_eq!((answer.status, &answer.json()["code"]), (503, &json!("UPSTREAM_REFUSED")), "{code} {path}");
            assert_eq!(answer.header("retry-after"), None);
            check_words(answer.text(), code);
        }
    }
}

/// Another instance may have what one lacks at the moment; when none has it, the answer is that of an instance.
#[tokio::test]
async fn an_instance_that_cannot_now_is_passed_over() {
    let busy = |received: &_| {
        response_to(received, 503, "retry-after: 3\r\n", r#"{"statusCode":503,"code":"STARTING","error":"x"}"#)
    };
    let first = well_but(move |received| Reaction::Bytes(busy(&received))).await;
    let edge = Edge::start(&[first.address], THEIR_KEY).await;
    let answer = edge.get(&edge.keyed("/pools")).await;
    assert_eq!(
        (answer.status, &answer.json()["code"], answer.header("retry-after")),
        (503, &json!("STARTING"), Some("3"))
    );
    let second = well_but(|received| Reaction::Bytes(response_to(&received, 200, "", "{}"))).await;
    let edge = Edge::start(&[first.address, second.address], THEIR_KEY).await;
    assert_eq!(edge.get(&edge.keyed("/pools")).await.status, 200);
}

#[tokio::test]
async fn another_network_and_pages_of_proxies_are_no_health() {
    let other = r#"{"status":"ok","network":"mainnet","height":3}"#;
    for health in [other.to_owned(), "<html>OK".to_owned(), "{}".to_owned(), "[".repeat(100_000)] {
        let server = Upstream::always(move || answer(200, "", &health)).await;
        let edge = Edge::start(&[server.address], THEIR_KEY).await;
        let health = edge.health().await;
        assert_eq!((health.0, &health.1["status"], &health.1["height"]), (503, &json!("stalled"), &json!(null)));
    }
}

/// Segments and queries reach the instance as they are, and never as other ones.
#[tokio::test]
async fn paths_cannot_be_bent() {
    let server = well_but(|received| Reaction::Bytes(response_to(&received, 200, "", "{}"))).await;
    let edge = Edge::start(&[server.address], THEIR_KEY).await;
    for (path, there) in [
        ("/address/%2e%2e%2fmempool/balances?a=%2F..", "/api/v1/address/%2E%2E%2Fmempool/balances?a=%2F.."),
        ("/api/v1/mempool", "/api/v1/mempool"),
        ("/x%0d%0aHost:%20evil", "/api/v1/x%0D%0AHost%3A%20evil"),
        ("/../../../admin", "/api/v1/%2E%2E/%2E%2E/%2E%2E/admin"),
    ] {
        edge.get(&edge.keyed(path)).await;
        let received = requests_to(&server).pop().unwrap();
        assert_eq!(received.path, format!("/v4/{THEIR_KEY}{there}"), "{path}");
    }
}
