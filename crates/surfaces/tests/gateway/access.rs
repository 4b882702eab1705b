//! Authentication of callers.

use std::time::Duration;

use paraffin_access::{ApiKey, DatabaseKeyStore, Grace, KeySelector, KeyStore as _, LEASE, NewKey};
use serde_json::json;

use crate::client::{Connection, Response};
use crate::instance::Instance;

const COUNT: &str = r#"{"method":"btc_getblockcount","id":1}"#;

fn check_refused(response: &Response, status: u16, code: &str, json_rpc: bool) {
    assert_eq!(response.status, status, "{}", response.text());
    let body = response.json();
    assert_eq!(body["code"], code);
    assert_eq!(response.header("content-type"), Some("application/json"));
    if json_rpc {
        assert_eq!((&body["jsonrpc"], &body["id"]), (&json!("2.0"), &json!(null)));
        assert_eq!(body["error"]["code"], -32001);
        assert!(body["error"]["message"].is_string());
    } else {
        assert_eq!(body["statusCode"], status);
        assert!(body["error"].is_string());
    }
}

/// row GW02
/// row AU05
#[tokio::test]
async fn a_key_in_a_header_is_accepted_in_any_case_and_a_bad_one_is_never_keyless() {
    let instance = Instance::start().await;
    let key = instance.key.key.reveal();
    for name in ["x-service-api-key", "X-Service-Api-Key", "x-subfrost-api-key"] {
        for path in ["/v4/jsonrpc", "/v4/api"] {
            let response = instance.send("POST", path, &[(name, &key)], COUNT).await;
            assert_eq!(response.json()["result"], 3, "{name} {path}");
        }
    }
    instance.keys.flush().await.unwrap();
    assert_eq!(instance.keys.list().await.unwrap()[0].request_count, 6);

    let unknown = ApiKey::generate().unwrap().reveal();
    for bad in [unknown.as_str(), "", "short", &key[1..], &format!("{key}0")] {
        check_refused(
            &instance.send("POST", "/v4/jsonrpc", &[("x-service-api-key", bad)], COUNT).await,
            401,
            "INVALID_API_KEY",
            true,
        );
        check_refused(
            &instance.send("POST", "/v4/api", &[("x-service-api-key", bad)], COUNT).await,
            401,
            "INVALID_API_KEY",
            true,
        );
        check_refused(
            &instance.send("GET", "/v4/api/indexer/height", &[("x-service-api-key", bad)], "").await,
            401,
            "INVALID_API_KEY",
            false,
        );
    }
    // Two differing headers are refused; two equal ones count as one key.
    let both = [("x-service-api-key", key.as_str()), ("x-subfrost-api-key", unknown.as_str())];
    check_refused(&instance.send("POST", "/v4/jsonrpc", &both, COUNT).await, 401, "INVALID_API_KEY", true);
    let upper = key.to_uppercase();
    let same = [("x-service-api-key", key.as_str()), ("x-subfrost-api-key", upper.as_str())];
    assert_eq!(instance.send("POST", "/v4/jsonrpc", &same, COUNT).await.status, 200);
}

/// row AU05
#[tokio::test]
async fn a_key_in_a_header_is_accepted_on_rest_routes() {
    let instance = Instance::start().await;
    let key = instance.key.key.reveal();
    assert_eq!(instance.send("GET", "/v4/api/indexer/height", &[("x-service-api-key", &key)], "").await.status, 200);
    instance.keys.flush().await.unwrap();
    assert_eq!(instance.keys.list().await.unwrap()[0].request_count, 1);
}

#[tokio::test]
async fn a_key_in_the_path_wins_over_one_in_a_header_and_upper_case_is_the_same_key() {
    let instance = Instance::start().await;
    let unknown = ApiKey::generate().unwrap().reveal();
    let response = instance.send("POST", &instance.keyed(""), &[("x-service-api-key", &unknown)], COUNT).await;
    assert_eq!(response.json()["result"], 3);
    let upper = instance.keyed("").to_uppercase().replace("/V4/", "/v4/");
    assert_eq!(instance.post(&upper, COUNT).await.status, 200);
    assert_eq!(instance.post(&instance.keyed("/jsonrpc"), COUNT).await.json()["result"], 3);
}

/// row AU08
#[tokio::test]
async fn keyed_surfaces_without_a_key_in_the_path_are_401_and_with_one_are_known() {
    let instance = Instance::start().await;
    let key = instance.key.key.reveal();
    for (surface, json_rpc) in [
        ("mempool", true),
        ("mempool/observe", false),
        ("forex", true),
        ("orderbook/markets", false),
        ("btcusd", true),
        ("espo", true),
        ("reorg/5", true),
    ] {
        for prefix in ["", "/jsonrpc", "/api"] {
            for headers in [&[][..], &[("x-service-api-key", key.as_str())]] {
                let response = instance.send("POST", &format!("/v4{prefix}/{surface}"), headers, COUNT).await;
                check_refused(&response, 401, "INVALID_API_KEY", json_rpc);
            }
        }
        let unknown = ApiKey::generate().unwrap().reveal();
        check_refused(
            &instance.post(&format!("/v4/{unknown}/{surface}"), COUNT).await,
            401,
            "INVALID_API_KEY",
            json_rpc,
        );
        let response = instance.post(&instance.keyed(&format!("/{surface}")), COUNT).await;
        assert_eq!((response.status, &response.json()["code"]), (404, &json!("SURFACE_NOT_AVAILABLE")), "{surface}");
    }
}

/// row AU08
#[tokio::test]
async fn segments_that_are_no_key_are_401() {
    let instance = Instance::start().await;
    let key = instance.key.key.reveal();
    for segment in
        [&key[1..], &format!("{key}0"), "nobody", "0123456789abcdef0123456789abcdeg", "%00", "a%20b", "%F0%9F%A6%80"]
    {
        check_refused(&instance.post(&format!("/v4/{segment}"), COUNT).await, 401, "INVALID_API_KEY", true);
        check_refused(
            &instance.post(&format!("/v4/{segment}/get-address-balance"), "{}").await,
            401,
            "INVALID_API_KEY",
            false,
        );
    }
    // An empty key is no key.
    check_refused(&instance.post("/v4//mempool", COUNT).await, 401, "INVALID_API_KEY", true);
}

#[tokio::test]
async fn anonymous_callers_may_use_the_shared_endpoint_and_the_rest_routes() {
    let instance = Instance::start().await;
    assert_eq!(instance.post("/v4/jsonrpc", COUNT).await.json()["result"], 3);
    assert_eq!(instance.get("/v4/api/indexer/height").await.status, 200);
}

#[tokio::test]
async fn main_json_rpc_at_api_needs_a_header_key_or_a_registered_origin() {
    let instance = Instance::start().await;
    check_refused(&instance.post("/v4/api", COUNT).await, 401, "INVALID_API_KEY", true);
    for origin in ["https://example.com", "null"] {
        check_refused(
            &instance.send("POST", "/v4/api", &[("Origin", origin)], COUNT).await,
            403,
            "ORIGIN_NOT_ALLOWED",
            true,
        );
    }
    let key = instance.key.key.reveal();
    let headers = [("Origin", "https://example.com"), ("x-service-api-key", key.as_str())];
    assert_eq!(instance.send("POST", "/v4/api", &headers, COUNT).await.json()["result"], 3);
}

/// row AU04
/// row AU14
#[tokio::test]
async fn a_revoked_key_is_refused_by_the_next_request_like_an_unknown_one() {
    let instance = Instance::start().await;
    let path = instance.keyed("");
    assert_eq!(instance.post(&path, COUNT).await.status, 200);
    instance.keys.revoke(KeySelector::Id(instance.key.record.id), "test", 1).await.unwrap();
    let revoked = instance.post(&path, COUNT).await;
    let unknown = instance.post(&format!("/v4/{}", ApiKey::generate().unwrap().reveal()), COUNT).await;
    check_refused(&revoked, 401, "INVALID_API_KEY", true);
    assert_eq!(revoked.body, unknown.body);
}

/// row AU04
#[tokio::test]
async fn a_revocation_by_another_process_is_seen_within_a_second() {
    let instance = Instance::start().await;
    let path = instance.keyed("");
    assert_eq!(instance.post(&path, COUNT).await.status, 200);
    let tool = DatabaseKeyStore::open(&instance.keys_path).await.unwrap();
    tool.revoke(KeySelector::Key(instance.key.key.clone()), "cli", 1).await.unwrap();
    tokio::time::sleep(LEASE).await;
    assert_eq!(instance.post(&path, COUNT).await.status, 401);
}

/// row AU10
#[tokio::test]
async fn without_the_key_store_nobody_is_served_but_health_and_preflight() {
    let instance = Instance::start().await;
    let path = instance.keyed("");
    assert_eq!(instance.post(&path, COUNT).await.status, 200);
    let aside = instance.keys_path.with_extension("aside");
    std::fs::rename(&instance.keys_path, &aside).unwrap();
    tokio::time::sleep(LEASE).await;
    let key = instance.key.key.reveal();
    for response in [
        instance.post(&path, COUNT).await,
        instance.post("/v4/jsonrpc", COUNT).await,
        instance.send("POST", "/v4/jsonrpc", &[("x-service-api-key", &key)], COUNT).await,
        instance.post("/v4/api", COUNT).await,
        instance.post("/v4/some-alias", COUNT).await,
        instance.post("/v4/mempool", COUNT).await,
    ] {
        check_refused(&response, 503, "AUTH_UNAVAILABLE", true);
        assert_eq!(response.header("retry-after"), None);
        assert!(!response.text().contains("sqlite"), "{}", response.text());
    }
    check_refused(&instance.get("/v4/api/indexer/height").await, 503, "AUTH_UNAVAILABLE", false);
    assert_eq!(instance.get("/v4/api/health").await.status, 200);
    assert_eq!(instance.get("/health").await.text(), "OK");
    assert_eq!(instance.get(&instance.keyed("/health")).await.text(), "OK");
    assert_eq!(instance.send("OPTIONS", "/v4/jsonrpc", &[], "").await.status, 204);

    std::fs::rename(&aside, &instance.keys_path).unwrap();
    tokio::time::sleep(LEASE).await;
    assert_eq!(instance.post(&path, COUNT).await.status, 200);
}

/// row AU02
#[tokio::test]
async fn every_request_with_a_key_is_counted_once_and_none_is_lost_by_a_clean_stop() {
    let mut instance = Instance::start().await;
    let path = instance.keyed("");
    for _ in 0..5 {
        instance.post(&path, COUNT).await;
    }
    instance.post(&path, format!("[{COUNT},{COUNT},{COUNT}]")).await;
    instance.post(&path, "not json").await;
    instance.post("/v4/jsonrpc", COUNT).await;
    instance.get(&instance.keyed("/health")).await;
    instance.stop.take().unwrap().send(()).unwrap();
    instance.served.take().unwrap().await.unwrap();
    let other = DatabaseKeyStore::open(&instance.keys_path).await.unwrap();
    let listed = other.list().await.unwrap();
    assert_eq!(listed[0].request_count, 7);
    assert!(listed[0].last_used_at.is_some());
}

#[tokio::test]
async fn a_new_key_works_at_once_and_a_rerolled_one_for_its_grace() {
    let instance = Instance::start().await;
    let created = instance.keys.create(NewKey::named("new"), "test", 0).await.unwrap();
    assert_eq!(instance.post(&format!("/v4/{}", created.key.reveal()), COUNT).await.status, 200);
    let now =
        i64::try_from(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let rerolled = instance
        .keys
        .reroll(KeySelector::Id(created.record.id), Grace::of(Duration::from_millis(300)), "test", now)
        .await
        .unwrap();
    assert_eq!(instance.post(&format!("/v4/{}", rerolled.key.reveal()), COUNT).await.status, 200);
    tokio::time::sleep(Duration::from_millis(350)).await;
    assert_eq!(instance.post(&format!("/v4/{}", created.key.reveal()), COUNT).await.status, 401);
}

#[tokio::test]
async fn a_preflight_is_answered_anywhere_and_a_keyed_path_echoes_any_origin() {
    let instance = Instance::start().await;
    let origin = ("Origin", "https://app.example.com");
    for path in ["/v4", "/v4/jsonrpc", "/v4/api/get-alkanes", "/v4/nobody", "/v4/mempool", &instance.keyed("")] {
        let response = instance.send("OPTIONS", path, &[origin], "").await;
        assert_eq!((response.status, response.body.len()), (204, 0), "{path}");
        assert_eq!(response.header("access-control-allow-origin"), Some(origin.1));
        assert_eq!(response.header("access-control-allow-methods"), Some("GET, POST, OPTIONS"));
        assert_eq!(
            response.header("access-control-allow-headers"),
            Some("Content-Type, x-service-api-key, x-subfrost-api-key")
        );
        assert_eq!(response.header("access-control-max-age"), Some("86400"));
        assert_eq!(response.header("vary"), Some("Origin"));
    }
    let keyed = instance.send("POST", &instance.keyed(""), &[origin], COUNT).await;
    assert_eq!((keyed.header("access-control-allow-origin"), keyed.header("vary")), (Some(origin.1), Some("Origin")));
    let keyless = instance.send("POST", "/v4/jsonrpc", &[origin], COUNT).await;
    assert_eq!((keyless.header("access-control-allow-origin"), keyless.header("vary")), (None, Some("Origin")));
    let two =
        instance.send("POST", &instance.keyed(""), &[origin, ("Origin", "https://other.example.com")], COUNT).await;
    assert_eq!((two.status, two.header("access-control-allow-origin")), (200, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_clients_at_once_are_counted_exactly() {
    let instance = Instance::start().await;
    let path = instance.keyed("");
    let address = instance.address;
    let clients = (0..32).map(|_| {
        let head = format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: {}\r\n\r\n{COUNT}", COUNT.len());
        tokio::spawn(async move {
            let mut connection = Connection::open(address).await;
            for _ in 0..50 {
                connection.send(&head).await;
                assert_eq!(connection.receive().await.unwrap().status, 200);
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    assert_eq!(instance.keys.list().await.unwrap()[0].request_count, 32 * 50);
}
