//! Callers by alias.

use paraffin_access::{KeyStore as _, NewAlias, WindowLimits};
use paraffin_gateway::KeyedHandler;
use paraffin_surfaces::handlers;
use serde_json::json;

use crate::instance::{Instance, Setup};
use crate::limits::{COUNT, quota, wait_for_time_in_minute};

async fn alias(instance: &Instance, name: &str, surfaces: &[&str], per_minute: Option<u32>) {
    let new = NewAlias {
        surfaces: surfaces.iter().map(|&name| name.to_owned()).collect(),
        limits: WindowLimits { per_minute, per_day: None },
        ..NewAlias::named(instance.key.record.account, name)
    };
    instance.keys.create_alias(new, "test", 0).await.unwrap();
}

/// row GW04
/// row AU07
#[tokio::test]
async fn an_alias_stands_in_the_path_with_its_own_limits() {
    let instance = Instance::start().await;
    wait_for_time_in_minute(10).await;
    alias(&instance, "my-app", &["main", "rest"], Some(3)).await;
    let first = instance.post("/v4/my-app", COUNT).await;
    assert_eq!((first.status, &first.json()["result"], &quota(&first)[..2]), (200, &json!(3), &[3, 2][..]));
    assert_eq!(quota(&instance.get("/v4/my-app/indexer/height").await)[1], 1);
    assert_eq!(instance.get("/v4/my-app/health").await.text(), "OK");
    assert_eq!(instance.post("/v4/my-app/jsonrpc", COUNT).await.status, 200);
    let refused = instance.post("/v4/my-app", COUNT).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!(-32000)));
    // The account's keys have counters of their own.
    assert_eq!(instance.post(&instance.keyed(""), COUNT).await.status, 200);
    let listed = instance.keys.aliases().await.unwrap();
    assert_eq!(listed[0].request_count, 4);

    let page = [("Origin", "https://app.example.com")];
    let answer = instance.send("POST", "/v4/my-app", &page, COUNT).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example.com"));
}

/// row AU07
#[tokio::test]
async fn an_alias_is_kept_to_its_surfaces() {
    let instance = Instance::start().await;
    alias(&instance, "only-rest", &["rest"], None).await;
    assert_eq!(instance.get("/v4/only-rest/indexer/height").await.status, 200);
    let main = instance.post("/v4/only-rest", COUNT).await;
    let body = main.json();
    assert_eq!(
        (main.status, &body["code"], &body["error"]["code"]),
        (403, &json!("SURFACE_NOT_ALLOWED"), &json!(-32001))
    );
    let opi = instance.get("/v4/only-rest/opi").await;
    assert_eq!((opi.status, &opi.json()["code"]), (403, &json!("SURFACE_NOT_ALLOWED")));
    alias(&instance, "only-opi", &["opi"], None).await;
    let opi = instance.get("/v4/only-opi/opi/v1/brc20/db_version").await;
    assert_eq!((opi.status, opi.text()), (200, "1"));
    alias(&instance, "only-main", &["main"], None).await;
    let rest = instance.get("/v4/only-main/indexer/height").await;
    assert_eq!((rest.status, &rest.json()["statusCode"]), (403, &json!(403)));
    for path in ["/v4/only-Rest", "/v4/unknown", "/v4/ab", "/v4/only-rest%20"] {
        assert_eq!(instance.post(path, COUNT).await.status, 401, "{path}");
    }
    instance.keys.remove_alias("only-rest", "test", 0).await.unwrap();
    assert_eq!(instance.get("/v4/only-rest/indexer/height").await.status, 401);
}

/// row AU07
/// row AU08
#[tokio::test]
async fn a_keyed_surface_takes_an_alias_or_a_header_key_only_where_the_operator_says_so() {
    for allowed in [false, true] {
        let mut setup = Setup::default();
        setup.keyed.push(KeyedHandler { http: None, rpc: None, ..handlers::espo() });
        setup.access.keyed_surfaces_by_alias = allowed;
        setup.access.keyed_surfaces_by_header = allowed;
        let instance = Instance::with(setup).await;
        alias(&instance, "my-app", &["main", "espo"], None).await;
        let key = instance.key.key.reveal();
        let header = [("x-service-api-key", key.as_str())];
        let served = if allowed { 404 } else { 401 };
        let (by_alias, by_header) = (
            instance.post("/v4/my-app/espo", COUNT).await,
            instance.send("POST", "/v4/jsonrpc/espo", &header, COUNT).await,
        );
        assert_eq!((by_alias.status, by_header.status), (served, served), "the handler answers 404, the gate 401");
        let (status, code) = if allowed { (403, "SURFACE_NOT_ALLOWED") } else { (401, "INVALID_API_KEY") };
        let mempool = instance.post("/v4/my-app/mempool", COUNT).await;
        assert_eq!((mempool.status, &mempool.json()["code"]), (status, &json!(code)));
        // Never: no key at all, another place, the explorer by alias.
        for (path, headers) in [
            ("/v4/jsonrpc/espo", &[][..]),
            ("/v4/espo", &header),
            ("/v4/api/espo", &header),
            ("/api/v1/my-app/verify", &[][..]),
        ] {
            assert_eq!(instance.send("POST", path, headers, COUNT).await.status, 401, "{path}");
        }
    }
}
