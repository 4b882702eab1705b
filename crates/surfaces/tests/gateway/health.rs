//! Health.

use std::time::{SystemTime, UNIX_EPOCH};

use paraffin_access::KeyStore as _;
use paraffin_gateway::IndexingStatus;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};
use crate::node::SECRET_ADDRESS;

/// row GW07
#[tokio::test]
async fn health_is_ok_with_the_time_and_tells_height_and_node() {
    let instance = Instance::start().await;
    for verb in ["GET", "POST"] {
        let response = instance.send(verb, "/v4/api/health", &[], "").await;
        assert_eq!(response.status, 200);
        let health = response.json();
        assert_eq!(health["status"], "ok");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        assert!(now.abs_diff(health["timestamp"].as_u64().unwrap()) <= 2);
        assert_eq!((&health["height"], &health["network"]), (&json!(3), &json!("regtest")));
        assert_eq!(health["node"], json!({ "reachable": true, "height": 3, "error": null }));
    }
    instance.keys.flush().await.unwrap();
    assert_eq!(instance.keys.list().await.unwrap()[0].request_count, 0, "health is not counted");
}

#[tokio::test]
async fn health_follows_the_state_of_index_and_node_and_never_reveals_the_address_of_the_node() {
    let instance = Instance::start().await;
    for (indexing, away, status, word) in [
        (IndexingStatus::Synced, true, 200, "degraded"),
        (IndexingStatus::Importing { blocks_left: 1 }, false, 200, "ok"),
        (IndexingStatus::Importing { blocks_left: 1000 }, false, 503, "starting"),
        (IndexingStatus::Stopped, false, 503, "stalled"),
    ] {
        *instance.state.indexing.lock().unwrap() = indexing;
        instance.node.set_away(away);
        let response = instance.get("/v4/api/health").await;
        assert_eq!((response.status, response.json()["status"].as_str()), (status, Some(word)));
        assert!(!response.text().contains(SECRET_ADDRESS));
        assert_eq!(response.json()["node"]["error"], if away { json!("unavailable") } else { Value::Null });
        // Reads go on whatever health says.
        assert_eq!(instance.result("btc_getblockcount", json!([])).await, 3);
    }
}

/// row RG05
#[tokio::test]
async fn plain_health_is_ok_at_both_paths_and_needs_a_good_key_where_it_has_one() {
    let instance = Instance::start().await;
    for path in ["/health", "/health/", &instance.keyed("/health")] {
        let response = instance.get(path).await;
        assert_eq!((response.status, response.text()), (200, "OK"), "{path}");
        assert_eq!(response.header("content-type"), Some("text/plain"));
    }
    assert_eq!(instance.get("/v4/0123456789abcdef0123456789abcdef/health").await.status, 401);
}

#[tokio::test]
async fn an_empty_index_is_starting_and_says_so_to_every_read() {
    let instance = Instance::with(Setup { empty_chain: true, ..Setup::default() }).await;
    let health = instance.get("/v4/api/health").await;
    assert_eq!(
        (health.status, &health.json()["status"], &health.json()["height"]),
        (503, &json!("starting"), &Value::Null)
    );
    for method in ["btc_getblockcount", "btc_getbestblockhash", "metashrew_height", "esplora_blocks:tip:height"] {
        let answer = instance.call(method, json!([])).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["code"]),
            (&json!(-32603), &json!("STARTING")),
            "{method}"
        );
    }
    let height = instance.get("/v4/api/indexer/height").await;
    assert_eq!((height.status, &height.json()["code"]), (503, &json!("STARTING")));
}

#[tokio::test]
async fn metrics_have_their_own_address_and_count_by_surface_and_status() {
    let instance = Instance::start().await;
    instance.result("btc_getblockcount", json!([])).await;
    instance.get("/v4/api/nothing").await;
    let response = crate::client::request(instance.metrics, "GET", "/metrics", &[], b"").await;
    assert_eq!(response.status, 200);
    for line in [
        "paraffin_http_requests_total{surface=\"main\",status=\"200\"} 1",
        "paraffin_http_requests_total{surface=\"rest\",status=\"404\"} 1",
        "paraffin_rpc_calls_total{family=\"btc\",outcome=\"ok\"} 1",
        "paraffin_indexed_height 3",
        "paraffin_node_reachable 1",
        "paraffin_http_request_seconds_bucket{surface=\"main\",le=\"30\"} 1",
    ] {
        assert!(response.text().lines().any(|found| found == line), "{line}\n{}", response.text());
    }
    assert_eq!(instance.get("/metrics").await.status, 404);
    assert_eq!(crate::client::request(instance.metrics, "GET", "/v4/jsonrpc", &[], b"").await.status, 404);
}
