//! Webhooks through the gateway: endpoints of an account, and connected and disconnected blocks as events.

use std::time::{Duration, Instant};

use paraffin_access::{AccountId, KeyStore as _, NewAlias, NewKey, Plan};
use paraffin_gateway::AccessConfig;
use paraffin_primitives::Network;
use paraffin_webhooks::{SigningSecret, WebhookSettings, signature};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::chain::{script_of, taproot};
use crate::instance::{Instance, Setup};

async fn start() -> Instance {
    let webhooks = Some(WebhookSettings {
        allow_private: true,
        allow_http: true,
        endpoints_per_account_max: 2,
        ..WebhookSettings::default()
    });
    let access = AccessConfig { keyed_surfaces_by_alias: true, ..Setup::default().access };
    Instance::with(Setup { access, webhooks, ..Setup::default() }).await
}

async fn ask(instance: &Instance, path: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = instance.post(path, body.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

async fn call(instance: &Instance, method: &str, params: Value) -> Value {
    let answer = ask(instance, &instance.keyed("/webhooks"), method, params).await;
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].clone()
}

async fn refusal(instance: &Instance, method: &str, params: Value) -> String {
    let answer = ask(instance, &instance.keyed("/webhooks"), method, params).await;
    answer["error"]["data"]["code"].as_str().unwrap_or_else(|| panic!("{method}: {answer}")).to_owned()
}

/// A receiver that acknowledges: the headers and the body of each request.
async fn receiver() -> (String, mpsc::UnboundedReceiver<(String, String)>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/in", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            let mut bytes = [0; 4096];
            while !request.ends_with(b"}}") {
                let read = stream.read(&mut bytes).await.unwrap();
                request.extend(&bytes[..read]);
            }
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
            let request = String::from_utf8(request).unwrap();
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            sender.send((head.to_owned(), body.to_owned())).unwrap();
        }
    });
    (url, requests)
}

async fn next(requests: &mut mpsc::UnboundedReceiver<(String, String)>) -> (String, String) {
    tokio::time::timeout(Duration::from_secs(20), requests.recv()).await.unwrap().unwrap()
}

/// The cursor at the end of the block of an event.
fn end_of(event: &Value) -> Value {
    json!(format!("{}-{}-{}", event["height"], event["block_hash"].as_str().unwrap(), (1_u64 << 53) - 1))
}

fn read(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_that_come_and_leave_are_delivered_with_a_signature() {
    let mut instance = start().await;
    let (url, mut requests) = receiver().await;
    let tip = instance.chain.tip_height();
    let made = call(&instance, "webhooks_create", json!({ "url": url, "from": 1, "description": "all" })).await;
    let id = made["id"].clone();
    assert_eq!(
        (&made["state"], &made["filter"], &made["failures"]),
        (&json!("active"), &json!({ "kinds": ["block"] }), &json!(0))
    );
    let secret: SigningSecret = made["secret"].as_str().unwrap().parse().unwrap();

    let (head, text) = next(&mut requests).await;
    let body = read(&text);
    let events = body["data"]["events"].as_array().unwrap();
    let heights: Vec<u64> = events.iter().map(|event| event["height"].as_u64().unwrap()).collect();
    assert_eq!(heights, (1..=u64::from(tip)).collect::<Vec<_>>());
    assert!(events.iter().all(|event| event["type"] == "block_connected"));
    assert_eq!((&body["type"], &body["data"]["cursor"]), (&json!("events"), &end_of(events.last().unwrap())));
    let seconds = header(&head, "webhook-timestamp").parse().unwrap();
    let signed = signature(&[secret], header(&head, "webhook-id"), seconds, text.as_bytes());
    assert_eq!(signed, header(&head, "webhook-signature"));

    // The newest block leaves, and two come.
    let left = instance.chain.tip_hash().to_string();
    instance.chain.undo();
    let other = script_of(Network::Regtest, &taproot(Network::Regtest, 3));
    instance.chain.mine(other.clone(), vec![]);
    instance.chain.mine(other, vec![]);
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let (_, body) = next(&mut requests).await;
        seen.extend(read(&body)["data"]["events"].as_array().unwrap().clone());
    }
    let kinds: Vec<_> =
        seen.iter().map(|event| (event["type"].as_str().unwrap(), event["height"].as_u64().unwrap())).collect();
    let tip = u64::from(tip);
    assert_eq!(kinds, [("block_disconnected", tip), ("block_connected", tip), ("block_connected", tip + 1)]);
    assert_eq!(seen[0]["block_hash"], left);

    let began = Instant::now();
    let state = loop {
        let state = call(&instance, "webhooks_get", json!({ "id": id })).await;
        if state["cursor"] == end_of(&seen[2]) {
            break state;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "{state}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(state["last_success_at"].is_string() && state["last_error"].is_null() && state["message_id"].is_null());

    let tested = call(&instance, "webhooks_test", json!({ "id": id })).await;
    assert_eq!((&tested["delivered"], &tested["status"]), (&json!(true), &json!(204)));
    let (head, body) = next(&mut requests).await;
    assert_eq!(
        (&read(&body)["type"], header(&head, "webhook-id")),
        (&json!("ping"), tested["message_id"].as_str().unwrap())
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_manages_the_endpoints_of_its_account_and_nothing_else() {
    let instance = start().await;
    let url = "http://127.0.0.1:9/in";
    let made = call(
        &instance,
        "webhooks_create",
        json!({ "url": url, "filter": { "kinds": ["trade", "block", "trade"], "pools": ["2:7"] } }),
    )
    .await;
    let id = made["id"].clone();
    assert_eq!(made["filter"], json!({ "kinds": ["block", "trade"], "pools": ["2:7"] }));
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    let rotated = call(&instance, "webhooks_rotate_secret", json!({ "id": id })).await;
    assert!(rotated["secret"] != made["secret"] && rotated["old_secret_until"].is_string());
    let paused = call(&instance, "webhooks_pause", json!({ "id": id })).await;
    assert_eq!((&paused["state"], paused.get("secret")), (&json!("paused"), None));
    let changed = call(&instance, "webhooks_update", json!({ "id": id, "description": "new", "filter": {} })).await;
    assert_eq!(
        (&changed["description"], &changed["filter"], &changed["state"]),
        (&json!("new"), &json!({ "kinds": ["block"] }), &json!("paused"))
    );
    assert_eq!(call(&instance, "webhooks_resume", json!({ "id": id })).await["state"], "active");
    let tested = call(&instance, "webhooks_test", json!({ "id": id })).await;
    assert_eq!((&tested["delivered"], &tested["error"]), (&json!(false), &json!("cannot connect: connection refused")));
    assert_eq!(call(&instance, "webhooks_list", json!({})).await.as_array().unwrap().len(), 1);

    for (params, code) in [
        (json!({ "url": "ftp://x/" }), "INVALID_ENDPOINT"),
        (json!({ "url": "http://127.0.0.1:0/" }), "INVALID_ENDPOINT"),
        (json!({ "url": url, "filter": { "kind": [] } }), "INVALID_ENDPOINT"),
        (json!({ "url": url, "filter": [] , "from": 4_000_000 }), "INVALID_ENDPOINT"),
        (json!({ "url": url, "from": "nonsense" }), "INVALID_ENDPOINT"),
        (json!({ "url": url, "description": "x".repeat(201) }), "INVALID_ENDPOINT"),
    ] {
        assert_eq!(refusal(&instance, "webhooks_create", params.clone()).await, code, "{params}");
    }
    for params in [json!({}), json!({ "url": 7 }), json!({ "url": url, "from": -1 }), json!({ "url": url, "from": [] })]
    {
        let answer = ask(&instance, &instance.keyed("/webhooks"), "webhooks_create", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    call(&instance, "webhooks_create", json!({ "url": url })).await;
    assert_eq!(refusal(&instance, "webhooks_create", json!({ "url": url })).await, "ENDPOINT_LIMIT_REACHED");

    // They do not exist for another account.
    let other = instance.keys.create(NewKey::on_plan("other", Plan::BUSINESS), "test", 0).await.unwrap();
    let path = format!("/v4/{}/webhooks", other.key.reveal());
    assert_eq!(ask(&instance, &path, "webhooks_list", json!({})).await["result"], json!([]));
    for method in ["get", "update", "pause", "resume", "rotate_secret", "test", "delete"] {
        let answer = ask(&instance, &path, &format!("webhooks_{method}"), json!({ "id": id })).await;
        assert_eq!(answer["error"]["data"]["code"], "NOT_FOUND", "{method}: {answer}");
    }

    // An alias of the account may not, even where aliases may use keyed surfaces.
    let account: AccountId = instance.key.record.account;
    let alias = NewAlias { surfaces: vec!["main".to_owned()], ..NewAlias::named(account, "my-app") };
    instance.keys.create_alias(alias, "test", 0).await.unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "webhooks_list" }).to_string();
    for path in ["/v4/my-app/webhooks", "/v4/webhooks/webhooks", "/v4/api/webhooks", "/v4/jsonrpc/webhooks"] {
        assert_eq!(instance.post(path, &body).await.status, 401, "{path}");
    }
    call(&instance, "webhooks_delete", json!({ "id": id })).await;
    assert_eq!(refusal(&instance, "webhooks_get", json!({ "id": id })).await, "NOT_FOUND");
}

#[tokio::test]
async fn without_webhooks_the_surface_is_not_there() {
    let instance = Instance::start().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "webhooks_list" }).to_string();
    assert_eq!(instance.post(&instance.keyed("/webhooks"), body).await.status, 404);
}
