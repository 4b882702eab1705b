//! Keys managed over JSON-RPC.

use std::time::{Duration, Instant, UNIX_EPOCH};

use paraffin_access::{KeyStore as _, LEASE, NewKey, Plan};
use serde_json::{Value, json};

use crate::instance::Instance;
use crate::limits::COUNT;

/// A key with management access on a plan, and its path.
async fn manager(instance: &Instance, plan: Plan) -> String {
    let new = NewKey { management: true, ..NewKey::on_plan("manager", plan) };
    format!("/v4/{}", instance.keys.create(new, "test", 0).await.unwrap().key.reveal())
}

async fn call(instance: &Instance, path: &str, method: &str, params: Value) -> Value {
    let response = instance.post(path, json!({"method": method, "params": params, "id": 1}).to_string()).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

/// row AU13
/// row AU01
/// row AU02
#[tokio::test]
async fn an_account_with_management_access_creates_lists_rerolls_and_revokes_its_keys() {
    let instance = Instance::start().await;
    let path = manager(&instance, Plan::BUSINESS).await;
    let made =
        call(&instance, &path, "admin_createApiKey", json!({"name": "production-backend"})).await["result"].clone();
    let key = made["key"].as_str().unwrap().to_owned();
    assert_eq!((key.len(), &made["name"]), (32, &json!("production-backend")));
    assert!(made["createdAt"].as_str().unwrap().ends_with('Z') && made["id"].is_string(), "{made}");
    assert_eq!(made.as_object().unwrap().len(), 4);
    let in_array = call(&instance, &path, "admin_createApiKey", json!([{"name": "second", "perMinute": 2}])).await;
    assert!(in_array["result"]["key"].is_string(), "{in_array}");
    assert_eq!(instance.post(&format!("/v4/{key}"), COUNT).await.status, 200);

    let listed = call(&instance, &path, "admin_listApiKeys", json!([])).await["result"]["keys"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 3, "the keys of this account and no other: {listed}");
    let found = &listed[1];
    assert_eq!(
        (&found["id"], &found["name"], &found["prefix"], &found["admin"], &found["plan"], &found["requestCount"]),
        (&made["id"], &json!("production-backend"), &json!(key[..4]), &json!(false), &json!("business"), &json!(1))
    );
    assert!(found["lastUsedAt"].is_string() && found["revokedAt"].is_null());
    assert!(!listed.to_string().contains(&key), "a key is shown once");

    let rerolled = call(&instance, &path, "admin_rerollApiKey", json!({"id": made["id"], "graceSeconds": 60})).await;
    let fresh = rerolled["result"]["key"].as_str().unwrap().to_owned();
    assert_eq!(
        (
            instance.post(&format!("/v4/{key}"), COUNT).await.status,
            instance.post(&format!("/v4/{fresh}"), COUNT).await.status
        ),
        (200, 200)
    );

    let started = Instant::now();
    let revoked = call(&instance, &path, "admin_revokeApiKey", json!([{"id": rerolled["result"]["id"]}])).await;
    assert!(revoked["result"]["revokedAt"].is_string(), "{revoked}");
    assert!(started.elapsed() >= LEASE, "reported only when it is true for every process");
    assert_eq!(instance.post(&format!("/v4/{fresh}"), COUNT).await.status, 401);
    let actors: Vec<String> = instance.keys.audit(3).await.unwrap().into_iter().map(|row| row.actor).collect();
    assert!(actors.iter().all(|actor| actor == "key:2"), "{actors:?}");
}

/// row AU13
#[tokio::test]
async fn without_management_access_nothing_is_managed_and_other_accounts_do_not_exist() {
    let instance = Instance::start().await;
    for path in [instance.keyed(""), "/v4/jsonrpc".to_owned()] {
        for method in
            ["admin_createApiKey", "admin_listApiKeys", "admin_revokeApiKey", "admin_rerollApiKey", "admin_getUsage"]
        {
            let answer = call(&instance, &path, method, json!({"name": "x", "id": "1"})).await;
            assert_eq!(answer["error"], json!({"code": -32001, "message": "management access required"}), "{method}");
        }
    }
    let path = manager(&instance, Plan::BUSINESS).await;
    let foreign_key = instance.key.record.id.to_string();
    for method in ["admin_revokeApiKey", "admin_rerollApiKey"] {
        for id in [json!(foreign_key), json!(999), json!(i64::MAX)] {
            let answer = call(&instance, &path, method, json!({"id": id})).await;
            assert_eq!(
                (&answer["error"]["code"], &answer["error"]["message"]),
                (&json!(-32004), &json!("no such key")),
                "{method}"
            );
        }
    }
    assert_eq!(instance.post(&instance.keyed(""), COUNT).await.status, 200, "the key of the other account still works");
    assert_eq!(call(&instance, &path, "admin_nothing", json!({})).await["error"]["code"], -32601);
}

/// row AU13
#[tokio::test]
async fn bad_input_to_key_management_is_named() {
    let instance = Instance::start().await;
    let path = manager(&instance, Plan::FREE).await;
    for params in [
        json!([]),
        json!({}),
        json!([{}]),
        json!({"name": 5}),
        json!({"name": null}),
        json!(["x"]),
        json!([{"name": "a"}, {"name": "b"}]),
        json!({"name": ""}),
        json!({"name": "a".repeat(10_240)}),
        json!({"name": "a\nb"}),
        json!({"name": "a", "perMinute": 0}),
        json!({"name": "a", "perMinute": -1}),
        json!({"name": "a", "perDay": 1e30}),
        json!({"name": "a", "expiresInDays": 0}),
        json!({"name": "a", "expiresInDays": 36_501}),
        json!({"name": "a", "expiresInDays": u64::MAX}),
    ] {
        let answer = call(&instance, &path, "admin_createApiKey", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    for params in [json!({"id": "x"}), json!({"id": 1.5}), json!({"id": {}}), json!({}), json!([1, 2])] {
        let answer = call(&instance, &path, "admin_revokeApiKey", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    let answer = call(&instance, &path, "admin_rerollApiKey", json!({"id": "1", "graceSeconds": 99_999_999})).await;
    assert_eq!(answer["error"]["code"], -32602);
    let full = call(&instance, &path, "admin_createApiKey", json!({"name": "second"})).await;
    assert_eq!(
        (&full["error"]["code"], &full["error"]["data"]["code"]),
        (&json!(-32001), &json!("KEY_LIMIT_REACHED")),
        "Free has one key"
    );
}

#[tokio::test]
async fn rights_cannot_be_asked_for_over_the_api() {
    let instance = Instance::start().await;
    let path = manager(&instance, Plan::BUSINESS).await;
    let wanted =
        json!({"name": "x", "admin": true, "management": true, "plan": "business", "account": 1, "prefix": "ffff"});
    let made = call(&instance, &path, "admin_createApiKey", wanted).await;
    let key = made["result"]["key"].as_str().unwrap().to_owned();
    let record = instance.keys.authenticate(&key.parse().unwrap(), 0).await.unwrap().unwrap();
    assert!(!record.admin && !record.management && record.account.0 == 2 && record.prefix == key[..4]);
    let answer = call(&instance, &format!("/v4/{key}"), "admin_listApiKeys", json!([])).await;
    assert_eq!(answer["error"]["code"], -32001);
}

#[tokio::test]
async fn unknown_and_revoked_keys_take_the_same_time() {
    let instance = Instance::start().await;
    let revoked = instance.keys.create(NewKey::named("k"), "test", 0).await.unwrap();
    instance.keys.revoke(paraffin_access::KeySelector::Id(revoked.record.id), "test", 1).await.unwrap();
    let unknown = paraffin_access::ApiKey::generate().unwrap();
    let (mut of_revoked, mut of_unknown) = (Vec::new(), Vec::new());
    for _ in 0..200 {
        for (key, times) in [(&revoked.key, &mut of_revoked), (&unknown, &mut of_unknown)] {
            let started = Instant::now();
            assert!(instance.keys.authenticate(key, 2).await.unwrap().is_none());
            times.push(started.elapsed());
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let (of_revoked, of_unknown) = (median(&mut of_revoked), median(&mut of_unknown));
    // A cached answer for either would be a hundred times quicker.
    assert!(of_revoked < of_unknown * 3 && of_unknown < of_revoked * 3, "{of_revoked:?} {of_unknown:?}");
}

/// Admin rights can neither be requested nor taken over through the API.
#[tokio::test]
async fn a_key_with_a_right_that_the_manager_lacks_is_not_rerolled() {
    let instance = Instance::start().await;
    let account = instance.keys.create_account("team", Plan::BUSINESS, "test", 0).await.unwrap().id;
    let make = async |admin: bool, management: bool| {
        let new = NewKey { admin, management, ..NewKey::in_account("one", account) };
        let created = instance.keys.create(new, "test", 0).await.unwrap();
        (format!("/v4/{}", created.key.reveal()), created.record.id.to_string())
    };
    let (manager, own) = make(false, true).await;
    let (admin, of_admin) = make(true, false).await;
    let (both, _) = make(true, true).await;
    let refused = call(&instance, &manager, "admin_rerollApiKey", json!({"id": of_admin})).await;
    assert_eq!(refused["error"]["code"], -32001, "{refused}");
    assert_eq!(instance.post(&admin, COUNT).await.status, 200, "the key is as it was");
    let grace = json!({"id": own, "graceSeconds": 60});
    assert!(call(&instance, &manager, "admin_rerollApiKey", grace).await["result"]["key"].is_string());
    let grace = json!({"id": of_admin, "graceSeconds": 60});
    assert!(call(&instance, &both, "admin_rerollApiKey", grace).await["result"]["key"].is_string());
}

#[tokio::test]
async fn the_usage_of_an_account_is_listed_with_what_was_refused_and_what_failed() {
    let instance = Instance::start().await;
    let path = manager(&instance, Plan::BUSINESS).await;
    let made = call(&instance, &path, "admin_createApiKey", json!({"name": "limited", "perMinute": 3})).await;
    let (key, id) = (made["result"]["key"].as_str().unwrap(), made["result"]["id"].clone());
    // The rest of a minute in which the requests do not straddle its end.
    while UNIX_EPOCH.elapsed().unwrap().as_secs() % 60 > 50 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert_eq!(instance.post(&format!("/v4/{key}"), COUNT).await.status, 200);
    assert_eq!(instance.get(&format!("/v4/{key}/no-such-route")).await.status, 404);
    assert_eq!(instance.get(&format!("/v4/{key}/opi/v1/brc20/no-such-route")).await.status, 404);
    assert_eq!(instance.post(&format!("/v4/{key}"), COUNT).await.status, 429);
    // Requests without a key or with an unknown one are counted for no account.
    assert_eq!(instance.get("/health").await.status, 200);
    assert_eq!(instance.post(&format!("/v4/{}", "0".repeat(32)), COUNT).await.status, 401);
    let usage = call(&instance, &path, "admin_getUsage", json!([{"days": 2}])).await["result"].clone();
    let callers = usage["callers"].as_array().unwrap();
    let expected = json!({"kind": "key", "id": id, "requests": 4, "rateLimited": 1, "errors": 2});
    assert!(callers.contains(&expected), "{usage}");
    assert_eq!(callers.len(), 2, "the keys of this account and no other: {usage}");
    let mut surfaces = std::collections::BTreeMap::<String, (u64, u64, u64)>::new();
    for one in usage["surfaces"].as_array().unwrap() {
        assert_eq!(one["day"].as_str().unwrap().len(), 10, "{one}");
        let sums = surfaces.entry(one["surface"].as_str().unwrap().to_owned()).or_default();
        let number = |name: &str| one[name].as_u64().unwrap();
        *sums = (sums.0 + number("requests"), sums.1 + number("rateLimited"), sums.2 + number("errors"));
    }
    // On main the two of the key and the one that made it; the question itself has not ended.
    let expected = [("main", (3, 1, 0)), ("opi", (1, 0, 1)), ("rest", (1, 0, 1))];
    assert_eq!(surfaces, expected.map(|(name, sums)| (name.to_owned(), sums)).into());
    for days in [json!(0), json!(91), json!(-1), json!(1e30), json!("2")] {
        let refused = call(&instance, &path, "admin_getUsage", json!({"days": days})).await;
        assert_eq!(refused["error"]["code"], -32602, "{days}: {refused}");
    }
    assert!(call(&instance, &path, "admin_getUsage", json!([])).await["result"]["surfaces"].is_array());
}

#[tokio::test]
async fn rerolling_in_a_chain_makes_no_more_keys_than_the_plan_has_and_one() {
    let instance = Instance::start().await;
    let path = manager(&instance, Plan::BUSINESS).await;
    let made = call(&instance, &path, "admin_createApiKey", json!({"name": "one", "expiresInDays": 7})).await;
    let (first, ends) = (made["result"]["id"].clone(), made["result"]["expiresAt"].clone());
    assert!(ends.is_string(), "{made}");
    let reroll = async |id: &Value, seconds: u64| {
        call(&instance, &path, "admin_rerollApiKey", json!({"id": id, "graceSeconds": seconds})).await
    };
    let rerolled = reroll(&first, 600).await;
    let second = rerolled["result"]["id"].clone();
    assert_eq!(rerolled["result"]["expiresAt"], ends, "the successor expires when the old key would have");
    for (id, seconds) in [(&first, 0), (&first, 600), (&second, 600)] {
        let refused = reroll(id, seconds).await;
        assert_eq!(
            (&refused["error"]["code"], &refused["error"]["data"]["code"]),
            (&json!(-32001), &json!("KEY_IN_GRACE"))
        );
    }
    let third = reroll(&second, 0).await;
    assert!(third["result"]["key"].is_string(), "{third}");
    // When the first one is gone, another one may have its grace.
    call(&instance, &path, "admin_revokeApiKey", json!({"id": first})).await;
    assert!(reroll(&third["result"]["id"], 600).await["result"]["key"].is_string());
}

/// A client that disconnects before its answer has made a request nevertheless.
#[tokio::test]
async fn a_request_whose_client_disconnects_is_counted() {
    let instance = Instance::start().await;
    let path = instance.keyed("");
    let mut stream = tokio::net::TcpStream::connect(instance.address).await.unwrap();
    // The announced body is never sent.
    let head = format!("POST {path} HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n");
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let count = async || {
        let usage = instance.keys.usage(instance.key.record.account, 1, unix_millis()).await.unwrap();
        usage.surfaces.iter().map(|one| one.counts.requests).sum::<i64>()
    };
    assert_eq!(count().await, 0, "it has not ended");
    drop(stream);
    let started = Instant::now();
    while count().await == 0 {
        assert!(started.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(count().await, 1);
}

fn unix_millis() -> i64 {
    i64::try_from(UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap()
}
