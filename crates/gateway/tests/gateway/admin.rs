//! Keys managed over JSON-RPC.

use std::time::{Duration, Instant};

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
    assert!(started.elapsed() >= LEASE, "told only when it is true for every process");
    assert_eq!(instance.post(&format!("/v4/{fresh}"), COUNT).await.status, 401);
    let actors: Vec<String> = instance.keys.audit(3).await.unwrap().into_iter().map(|row| row.actor).collect();
    assert!(actors.iter().all(|actor| actor == "key:2"), "{actors:?}");
}

/// row AU13
#[tokio::test]
async fn without_management_access_nothing_is_managed_and_other_accounts_do_not_exist() {
    let instance = Instance::start().await;
    for path in [instance.keyed(""), "/v4/jsonrpc".to_owned()] {
        for method in ["admin_createApiKey", "admin_listApiKeys", "admin_revokeApiKey", "admin_rerollApiKey"] {
            let answer = call(&instance, &path, method, json!({"name": "x", "id": "1"})).await;
            assert_eq!(answer["error"], json!({"code": -32001, "message": "management access required"}), "{method}");
        }
    }
    let path = manager(&instance, Plan::BUSINESS).await;
    let stranger = instance.key.record.id.to_string();
    for method in ["admin_revokeApiKey", "admin_rerollApiKey"] {
        for id in [json!(stranger), json!(999), json!(i64::MAX)] {
            let answer = call(&instance, &path, method, json!({"id": id})).await;
            assert_eq!(
                (&answer["error"]["code"], &answer["error"]["message"]),
                (&json!(-32004), &json!("no such key")),
                "{method}"
            );
        }
    }
    assert_eq!(instance.post(&instance.keyed(""), COUNT).await.status, 200, "the stranger's key works on");
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
    // A cached answer for one of them would be a hundred times quicker.
    assert!(of_revoked < of_unknown * 3 && of_unknown < of_revoked * 3, "{of_revoked:?} {of_unknown:?}");
}

/// Admin rights cannot be asked for over the API, and they cannot be taken over either.
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
