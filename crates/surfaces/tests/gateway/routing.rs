//! Paths and verbs.

use serde_json::json;

use crate::instance::Instance;

const COUNT: &str = r#"{"method":"btc_getblockcount","id":1}"#;

/// row GW21
#[tokio::test]
async fn the_version_is_part_of_the_path() {
    let instance = Instance::start().await;
    for path in ["/", "/v3/jsonrpc", "/v5/jsonrpc", "/jsonrpc", "/v4", "/V4/jsonrpc"] {
        let response = instance.post(path, COUNT).await;
        assert_eq!((response.status, &response.json()["code"]), (404, &json!("NOT_FOUND")), "{path}");
    }
}

#[tokio::test]
async fn slashes_and_escapes_change_nothing() {
    let instance = Instance::start().await;
    let key = instance.key.key.reveal();
    for path in [
        "/v4/jsonrpc/".to_owned(),
        "//v4//jsonrpc//".to_owned(),
        "/%764/json%72pc".to_owned(),
        "/v4/jsonrpc?a=b&c=%zz".to_owned(),
        format!("/v4/{key}/"),
        format!("/v4/%{:02x}{}", key.as_bytes()[0], &key[1..]),
    ] {
        assert_eq!(instance.post(&path, COUNT).await.json()["result"], 3, "{path}");
    }
    for path in ["/v4/%zz", "/v4/%", "/v4/%f", "/v4/%ff", "/v4/jsonrpc%00", "/v4/jsonrpc/x"] {
        let status = instance.post(path, COUNT).await.status;
        assert!(status == 404 || status == 401, "{path} {status}");
    }
}

#[tokio::test]
async fn the_wrong_verb_is_405_and_names_the_right_ones() {
    let instance = Instance::start().await;
    for (verb, path, allow, status) in [
        ("GET", "/v4/jsonrpc", "POST, OPTIONS", 405),
        ("PUT", "/v4/jsonrpc", "POST, OPTIONS", 405),
        ("BREW", "/v4/jsonrpc", "POST, OPTIONS", 405),
        ("GET", "/v4/api/get-address-balance", "POST, OPTIONS", 405),
        ("POST", "/v4/api/indexer/height", "GET, HEAD, OPTIONS", 405),
        ("DELETE", "/v4/api/indexer/height", "GET, HEAD, OPTIONS", 405),
        ("DELETE", "/v4/api/health", "GET, HEAD, POST, OPTIONS", 405),
        ("GET", "/v4/api/nothing", "", 404),
    ] {
        let response = instance.send(verb, path, &[], "").await;
        assert_eq!(response.status, status, "{verb} {path}");
        assert_eq!(response.header("allow").unwrap_or(""), allow, "{verb} {path}");
        assert!(response.json()["error"].is_string() || response.json()["error"].is_object());
    }
    let head = instance.send("HEAD", "/v4/api/indexer/height", &[], "").await;
    assert_eq!((head.status, head.header("content-length")), (200, Some("12")));
}

/// row AU12
#[tokio::test]
async fn surfaces_of_the_table_that_are_not_built_say_so() {
    let instance = Instance::start().await;
    let key = instance.key.key.reveal();
    for path in [instance.keyed("/udf/config"), format!("/api/v1/{key}/source/2:0")] {
        let response = instance.get(&path).await;
        assert_eq!((response.status, &response.json()["code"]), (404, &json!("SURFACE_NOT_AVAILABLE")), "{path}");
    }
    // The explorer takes its key from the path only.
    let response = instance.send("GET", "/api/v1/nobody/source/2:0", &[("x-service-api-key", &key)], "").await;
    assert_eq!(response.status, 401);
}

#[tokio::test]
async fn request_ids_are_kept_when_harmless_and_made_otherwise() {
    let instance = Instance::start().await;
    let kept = instance.send("GET", "/health", &[("X-Request-Id", "abc-1_2.3")], "").await;
    assert_eq!(kept.header("x-request-id"), Some("abc-1_2.3"));
    let key = instance.key.key.reveal();
    let long = "a-".repeat(33);
    for bad in [key.as_str(), long.as_str(), "a b", "a\"b", "é", ""] {
        let response = instance.send("GET", "/health", &[("X-Request-Id", bad)], "").await;
        let id = response.header("x-request-id").unwrap();
        assert!(id != bad && id.len() == 20, "{bad} {id}");
    }
    let own = instance.get("/health").await.header("x-request-id").unwrap().to_owned();
    assert_eq!(
        instance.send("GET", "/health", &[("X-Request-Id", &own)], "").await.header("x-request-id"),
        Some(own.as_str())
    );
    let (one, other) = (instance.get("/health").await, instance.get("/health").await);
    assert_ne!(one.header("x-request-id"), other.header("x-request-id"));
}

/// row GW10
#[tokio::test]
async fn each_network_takes_its_own_addresses_and_refuses_the_others() {
    use crate::chain::taproot;
    use crate::instance::Setup;
    use paraffin_primitives::Network;
    for network in Network::ALL {
        let instance = Instance::with(Setup { network, ..Setup::default() }).await;
        assert_eq!(instance.get("/v4/api/health").await.json()["network"], network.name());
        for other in Network::ALL {
            let address = taproot(other, 1);
            let body = json!({ "address": address }).to_string();
            let response = instance.post("/v4/api/get-address-balance", body).await;
            assert_eq!(response.status == 200, network == other, "{network} {address} {}", response.text());
            if network != other {
                assert!(response.json()["error"].as_str().unwrap().contains(network.name()), "{}", response.text());
                assert_eq!(instance.error("esplora_address", json!([address])).await.0, -32602);
            }
        }
        assert_eq!(instance.result("btc_getblockcount", json!([])).await, 3);
    }
}
