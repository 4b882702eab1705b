//! The API's descriptions of itself.

use paraffin_access::LEASE;
use serde_json::{Value, json};

use crate::client::Response;
use crate::instance::{Instance, Setup};

const PATHS: [&str; 11] = [
    "/v4/openapi.json",
    "/v4/openrpc.json",
    "/v4/proto/alkanes.proto",
    "/v4/proto/protorune.proto",
    "/docs",
    "/docs/page.js",
    "/docs/page.css",
    "/docs/home.js",
    "/docs/icon.svg",
    "/favicon.ico",
    "/api/v1/openapi.json",
];
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":7,"method":"rpc.discover","params":[]}"#;

fn open(response: &Response, path: &str) {
    assert_eq!(response.status, 200, "{path}");
    assert_eq!(response.header("x-ratelimit-limit"), None, "{path} is counted");
    assert!(!response.text().is_empty(), "{path}");
}

#[tokio::test]
async fn descriptions_need_no_key_and_are_not_counted() {
    let instance = Instance::start().await;
    for path in PATHS {
        open(&instance.get(path).await, path);
        open(&instance.get(&format!("{path}/")).await, path);
        // An unknown key changes nothing.
        open(&instance.send("GET", path, &[("x-service-api-key", "nonsense")], "").await, path);
        let refused = instance.send("POST", path, &[], "{}").await;
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{path}");
    }
    for path in ["/docs/other", "/v4/proto/other.proto", "/v4/proto", "/v4/openapi", "/openapi.json"] {
        assert!([401, 404].contains(&instance.get(path).await.status), "{path}");
    }
    let from_a_page = instance.send("GET", PATHS[0], &[("Origin", "https://example.org")], "").await;
    assert_eq!(from_a_page.header("access-control-allow-origin"), Some("https://example.org"));
}

/// row GW21
#[tokio::test]
async fn surfaces_whose_shapes_may_change_are_labelled() {
    let instance = Instance::start().await;
    for path in ["/v4/openapi.json", "/v4/openrpc.json"] {
        let about = instance.get(path).await.json()["info"]["description"].as_str().unwrap().to_owned();
        assert!(about.ends_with("their shapes may change."), "{path}: {about}");
        for label in ["`/v4/<key>/mempool`", "is a preview", "`/v4/<key>/orderbook` is beta"] {
            assert!(about.contains(label), "{path}: {about}");
        }
    }
    let document = instance.get("/v4/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/orderbook/"));
    let operations: Vec<&Value> = paths.flat_map(|(_, item)| [&item["get"], &item["post"]]).collect();
    let described = operations.into_iter().filter(|operation| operation.is_object());
    assert!(described.clone().count() >= 5);
    assert!(described.clone().all(|operation| operation["tags"] == json!(["Orderbook (beta)"])));
    let mempool = include_str!("../../../../docs/mempool.md");
    assert!(mempool.contains("The surface is a preview: its shapes may change."));
    let orderbook = include_str!("../../../../docs/orderbook.md");
    assert!(orderbook.contains("The surface is beta: its shapes may change."));
}

/// `/` is a page for browsers. Any other request to it is answered like one to an unknown path.
#[tokio::test]
async fn the_first_page_leads_to_the_others() {
    let instance = Instance::start().await;
    let page = instance.get("/").await;
    open(&page, "/");
    assert_eq!(
        (page.header("content-type"), page.header("cache-control")),
        (Some("text/html; charset=utf-8"), Some("no-store"))
    );
    for link in page.text().split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        // Hidden where there is no site, as here.
        if matches!(link, "/console" | "/explorer") {
            continue;
        }
        assert_eq!(instance.get(link).await.status, 200, "{link}");
    }
    for path in ["/docs", "/v4/openapi.json", "/v4/openrpc.json", "/api/v1/openapi.json", "/v4/api/health", "/health"] {
        assert!(page.text().contains(&format!("href=\"{path}\"")), "{path}");
    }
    for stream in ["/v4/&lt;key&gt;/mempool/ws", "/v4/&lt;key&gt;/orderbook/ws"] {
        assert!(page.text().contains(stream), "{stream}");
    }
    let head = instance.send("HEAD", "/", &[], "").await;
    assert_eq!((head.status, head.text()), (200, ""));
    for verb in ["POST", "PUT", "DELETE"] {
        let refused = instance.send(verb, "/", &[], DISCOVER).await;
        assert_eq!((refused.status, &refused.json()["code"]), (404, &json!("NOT_FOUND")), "{verb}");
    }
}

#[tokio::test]
async fn descriptions_answer_while_the_key_store_is_away() {
    let instance = Instance::start().await;
    std::fs::rename(&instance.keys_path, instance.keys_path.with_extension("aside")).unwrap();
    tokio::time::sleep(LEASE).await;
    assert_eq!(instance.get("/v4/api/indexer/height").await.status, 503);
    for path in PATHS {
        open(&instance.get(path).await, path);
    }
    for path in ["/v4/jsonrpc".to_owned(), instance.keyed("")] {
        let reported = instance.post(&path, DISCOVER).await;
        assert_eq!((reported.status, &reported.json()["id"]), (200, &json!(7)), "{path}");
        assert_eq!(reported.json()["result"]["info"]["title"], "Paraffin JSON-RPC");
        for other in [
            r#"{"id":7,"method":"btc_getblockcount"}"#,
            r#"[{"id":7,"method":"rpc.discover"}]"#,
            r#"{"method":"rpc.discovery"}"#,
            "rpc.discover",
            "",
        ] {
            let refused = instance.post(&path, other).await;
            assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("AUTH_UNAVAILABLE")), "{other}");
        }
        // The member that counts is the last of its name: no other method can be called behind this one.
        let behind = instance.post(&path, r#"{"id":7,"method":"rpc.discover","method":"btc_getblockcount"}"#).await;
        assert!(behind.json().get("result").is_none(), "{}", behind.text());
    }
}

#[tokio::test]
async fn discover_gives_the_document_of_the_path_and_takes_no_parameters() {
    let instance = Instance::start().await;
    let document = instance.get("/v4/openrpc.json").await.json();
    assert_eq!(document["openrpc"], "1.3.2");
    assert_eq!(instance.result("rpc.discover", json!([])).await, document);
    assert_eq!(instance.error("rpc.discover", json!([1])).await.0, -32602);
    for path in document["x-messages"].as_array().unwrap() {
        open(&instance.get(path.as_str().unwrap()).await, "a message file");
    }
}

/// Every method of the description is one that is answered: with no parameters it may be refused, but it is known.
#[tokio::test]
async fn every_described_method_is_known() {
    let setup = Setup {
        alkanes: Some(crate::market_chain::alkanes_parts(paraffin_primitives::Network::Regtest)),
        ..Setup::default()
    };
    let instance = Instance::with(setup).await;
    // What the node would be asked is known before it is.
    instance.node.set_away(true);
    let document = instance.get("/v4/openrpc.json").await.json();
    let methods = document["methods"].as_array().unwrap();
    assert!(methods.len() > 100, "{}", methods.len());
    for method in methods {
        let name = method["name"].as_str().unwrap();
        let answer = instance.call(name, json!([])).await;
        assert_ne!(answer["error"]["code"], -32601, "{name}: {answer}");
    }
}

/// Every path of the description is a route that takes the verbs listed there, and no others.
#[tokio::test]
async fn every_described_route_exists_and_takes_the_described_verbs() {
    let orders = crate::orderbook::OrderbookFixture::start().await;
    let instance = &orders.instance;
    let document = instance.get("/v4/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 40, "{}", paths.len());
    for (path, operations) in paths {
        let below = path
            .replace("{source}", "orbitals")
            .replace("{id}", "2:0")
            .replace("{address}", &instance.payee)
            .replace("{outpoint}", "x");
        for verb in ["GET", "POST", "PUT"] {
            let reported = operations.get(verb.to_lowercase()).is_some();
            let status = instance.send(verb, &instance.keyed(&below), &[], "{}").await.status;
            assert_eq!(status != 405, reported, "{verb} {path}: {status}");
        }
    }
    let all = document.to_string();
    for code in
        ["200", "202", "304", "400", "401", "403", "404", "408", "410", "413", "429", "431", "500", "503", "504"]
    {
        assert!(all.contains(&format!("\"{code}\":")), "{code}");
    }
}

#[tokio::test]
async fn message_files_are_those_of_the_repository() {
    let instance = Instance::start().await;
    for (path, text) in [
        (PATHS[2], include_str!("../../../../proto/alkanes.proto")),
        (PATHS[3], include_str!("../../../../proto/protorune.proto")),
    ] {
        let response = instance.get(path).await;
        assert_eq!((response.text(), response.header("content-type")), (text, Some("text/plain")));
    }
}

/// The pages may run only their own scripts, and send requests only to this instance.
#[tokio::test]
async fn the_pages_take_nothing_from_elsewhere() {
    let instance = Instance::start().await;
    for (path, content_type) in [
        ("/", "text/html; charset=utf-8"),
        ("/docs/home.js", "text/javascript; charset=utf-8"),
        ("/docs", "text/html; charset=utf-8"),
        ("/docs/page.js", "text/javascript; charset=utf-8"),
        ("/docs/page.css", "text/css; charset=utf-8"),
    ] {
        let response = instance.get(path).await;
        assert_eq!(response.header("content-type"), Some(content_type));
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
        for foreign in ["http://", "https://", "src=\"//", "<script>", "<style", " onclick=", "innerHTML", "eval("] {
            assert!(!response.text().contains(foreign), "{path} has {foreign}");
        }
    }
    for (page, parts) in [
        ("/", ["/docs/home.js", "/docs/page.css", "/docs/icon.svg"]),
        ("/docs", ["/docs/page.js", "/docs/page.css", "/docs/icon.svg"]),
    ] {
        let page = instance.get(page).await;
        for part in parts {
            assert!(page.text().contains(&format!("\"{part}\"")), "{part}");
        }
    }
    assert_eq!(instance.get("/docs/icon.svg").await.header("content-type"), Some("image/svg+xml"));
}

/// The members of an answer that a record of the document requires are there.
#[tokio::test]
async fn an_answer_has_what_its_description_requires() {
    let instance = Instance::start().await;
    let document = instance.get("/v4/openapi.json").await.json();
    let body = json!({ "address": instance.payee }).to_string();
    let page = instance.post(&instance.keyed("/get-address-utxos"), body).await.json();
    let required = |name: &str| -> Vec<String> {
        let members = document["components"]["schemas"][name]["required"].as_array().unwrap().iter();
        members.map(|member| member.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(page["data"]["total"], 1);
    for (name, value) in [("UtxoPage", &page["data"]), ("Utxo", &page["data"]["utxos"][0])] {
        let members: &serde_json::Map<String, Value> = value.as_object().unwrap();
        let reported = required(name);
        assert_eq!(reported.len(), members.len(), "{name}");
        assert!(reported.iter().all(|member| members.contains_key(member)), "{name}: {reported:?}");
    }
}

/// Answers of the orderbook have exactly the described members.
#[tokio::test]
async fn answers_of_the_orderbook_are_those_described() {
    let orders = crate::orderbook::OrderbookFixture::start().await;
    let example = {
        let document = orders.instance.get("/v4/openapi.json").await.json();
        document["components"]["schemas"]["ChangeEvents"]["examples"][0].clone()
    };
    orders.ingest(&example).await;
    let document = orders.instance.get("/v4/openapi.json").await.json();
    let paths = &document["paths"];
    let resolved = |schema: &Value| match schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        Some(name) => document["components"]["schemas"][name].clone(),
        None => schema.clone(),
    };
    let has_members = |schema: &Value, value: &Value| {
        let schema = resolved(schema);
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let (reported, known) = (names(value), names(&schema["properties"]));
        assert!(reported.iter().all(|name| known.contains(name)), "{reported:?} of {known:?}");
        let required = schema["required"].as_array().unwrap();
        assert!(
            required.iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
            "{value} lacks of {required:?}"
        );
    };
    let answer = |path: &str| paths[path]["get"]["responses"]["200"]["content"]["application/json"]["schema"].clone();
    let market = "orbitals:mainnet:module:fire-pos";
    for (path, below, records) in [
        ("/orderbook/markets", "/markets".to_owned(), Some("markets")),
        ("/orderbook/snapshot", format!("/snapshot?market={market}"), Some("orders")),
        ("/orderbook/events", "/events".to_owned(), Some("events")),
        ("/orderbook/order/{source}/{id}", "/order/orbitals/example".to_owned(), None),
    ] {
        let reported = orders.get(&below).await;
        assert_eq!(reported.status, 200, "{path}");
        let (schema, reported) = (answer(path), reported.json());
        has_members(&schema, &reported);
        if let Some(name) = records {
            has_members(&schema["properties"][name]["items"], &reported[name][0]);
        }
    }
}
