//! Callers by the origin of a browser's page.

use paraffin_access::{KeyStore as _, OriginRecord, Plan};
use serde_json::json;

use crate::client::request;
use crate::instance::Instance;
use crate::limits::{COUNT, quota, wait_for_time_in_minute};

async fn register(instance: &Instance, pattern: &str) -> OriginRecord {
    let account = instance.keys.create_account("site", Plan::FREE, "test", 0).await.unwrap().id;
    instance.keys.register_origin(account, pattern.parse().unwrap(), true, "test", 0).await.unwrap()
}

/// row GW03
/// row AU06
#[tokio::test]
async fn a_registered_origin_calls_without_a_key_and_counts_for_its_account() {
    let instance = Instance::start().await;
    wait_for_time_in_minute(10).await;
    register(&instance, "https://*.example.com").await;
    let page = [("Origin", "https://app.example.com")];
    let main = instance.send("POST", "/v4/api", &page, COUNT).await;
    assert_eq!((main.status, &main.json()["result"]), (200, &json!(3)));
    assert_eq!(main.header("access-control-allow-origin"), Some("https://app.example.com"));
    assert_eq!(main.header("vary"), Some("Origin"));
    assert!(main.header("access-control-expose-headers").unwrap().contains("X-RateLimit-Daily-Remaining"));
    assert_eq!(quota(&main)[..2], [60, 59]);
    let rest = instance.send("GET", "/v4/api/indexer/height", &page, "").await;
    assert_eq!((rest.status, quota(&rest)[1]), (200, 58), "REST counts for the same account");
    assert_eq!(rest.header("access-control-allow-origin"), Some("https://app.example.com"));
    let other = [("Origin", "https://www.example.com")];
    assert_eq!(quota(&instance.send("POST", "/v4/api", &other, COUNT).await)[1], 57);
    // The shared path is shared; a registered page may read its answer.
    let shared = instance.send("POST", "/v4/jsonrpc", &page, COUNT).await;
    assert_eq!(shared.header("access-control-allow-origin"), Some("https://app.example.com"));
    assert_eq!(quota(&shared)[3], 2_147_483_647);
    assert_eq!(instance.keys.origins().await.unwrap()[0].request_count, 3);
}

/// row GW03
/// row AU06
#[tokio::test]
async fn an_unregistered_origin_is_refused_where_it_is_the_only_credential() {
    let instance = Instance::start().await;
    register(&instance, "https://app.example.com").await;
    let address = instance.address;
    let post = |path: &'static str, headers: &'static [(&'static str, &'static str)]| async move {
        request(address, "POST", path, headers, COUNT.as_bytes()).await
    };
    for headers in [
        &[("Origin", "https://evil.example.com")][..],
        &[("Origin", "null")],
        &[("Origin", "http://app.example.com")],
        &[("Origin", "https://app.example.com.evil.org")],
        &[("Origin", "https://APP.example.com")],
        &[("Origin", "https://app.example.com/")],
        &[("Origin", "https://app.example.com"), ("Origin", "https://app.example.com")],
        &[("Origin", "https://app.example.com"), ("Origin", "https://evil.example.com")],
    ] {
        let refused = post("/v4/api", headers).await;
        let body = refused.json();
        assert_eq!(
            (refused.status, &body["code"], &body["error"]["code"]),
            (403, &json!("ORIGIN_NOT_ALLOWED"), &json!(-32001)),
            "{headers:?}"
        );
        assert_eq!((refused.header("access-control-allow-origin"), refused.header("vary")), (None, Some("Origin")));
    }
    let evil = &[("Origin", "https://evil.example.com")][..];
    let anonymous = post("/v4/api", &[]).await;
    assert_eq!((anonymous.status, &anonymous.json()["code"]), (401, &json!("INVALID_API_KEY")));
    // Elsewhere the origin is not what decides, and the page cannot read what came.
    for path in ["/v4/jsonrpc", "/v4/api/get-nothing"] {
        let answer = post(path, evil).await;
        assert!(matches!(answer.status, 200 | 404), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
    let key = instance.key.key.reveal();
    let with_key = instance.send("POST", "/v4/api", &[evil[0], ("x-service-api-key", &key)], COUNT).await;
    assert_eq!(with_key.status, 200, "a valid key is served whatever the origin");
    let bad_key = instance
        .send("POST", "/v4/api", &[("Origin", "https://app.example.com"), ("x-service-api-key", "bad")], COUNT)
        .await;
    assert_eq!(bad_key.status, 401, "an invalid key is never overlooked");
}

/// row AU06
#[tokio::test]
async fn an_origin_that_has_not_been_proved_and_one_that_was_removed_are_refused() {
    let instance = Instance::start().await;
    let account = instance.key.record.account;
    let pattern = "https://app.example.com".parse().unwrap();
    let origin = instance.keys.register_origin(account, pattern, false, "test", 0).await.unwrap();
    let page = [("Origin", "https://app.example.com")];
    assert_eq!(instance.send("POST", "/v4/api", &page, COUNT).await.status, 403);
    instance.keys.confirm_origin(origin.id, "dns", "test", 0).await.unwrap();
    assert_eq!(instance.send("POST", "/v4/api", &page, COUNT).await.status, 200);
    instance.keys.remove_origin(origin.id, "test", 0).await.unwrap();
    assert_eq!(instance.send("POST", "/v4/api", &page, COUNT).await.status, 403);
}
