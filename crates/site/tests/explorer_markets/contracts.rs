//! Contracts, their views, storage and source; and missing objects.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::world::{MARKUP, World, enveloped, hostile, id, pairs, result, token};

fn contract() -> Vec<(&'static str, u16, Value)> {
    vec![
        ("get-alkane-details", 200, enveloped(token("2:0", Some("DIESEL"), 8, "50049866168"))),
        ("alkanes_getdeployment", 200, result(json!({ "outpoint": { "txid": "e8".repeat(32), "vout": 5 } }))),
        ("alkanes_getbytecode", 200, result(json!("0x0061736d01"))),
        (
            "alkanes_meta",
            200,
            result(json!({ "contract": "GenesisToken", "methods": [
            { "name": "get_name", "opcode": 99, "params": [], "returns": "String" }] })),
        ),
        ("alkanes_getinventory", 200, result(json!({ "alkanes": [{ "id": id("2:3"), "value": "45583412459" }] }))),
        ("get-token-pairs", 200, pairs()),
        (
            "get-keys",
            200,
            json!({ "ok": true, "alkane": "2:0", "keys": { "/name": { "key": "/name", "key_hex": "0x2f6e616d65",
            "value": "0x44494553454c", "value_str": "DIESEL", "last_txid": null } } }),
        ),
        ("alkanes_getstorageat", 200, result(json!("0xb85934a70b0000000000000000000000"))),
        (
            "alkanes_simulate",
            200,
            result(json!({ "status": 0, "gasUsed": 2607, "execution": { "alkanes": [], "storage": [],
            "data": "0x44494553454c", "error": null }, "trace": [] })),
        ),
    ]
}

#[tokio::test]
async fn a_contract_is_shown_with_views_and_storage() {
    let world = World::new(contract()).await;
    let page = world.page("/explorer/contract/2:0?view=99&inputs=2:7&key=/totalsupply").await;
    for text in [
        "DIESEL",
        "GenesisToken",
        "5 bytes",
        "500.49866168 DIESEL",
        "2,607",
        "0x44494553454c",
        "50,049,866,168",
        "/name",
        "45,583,412,459",
        "Sign in to see this",
        "/explorer/pool/2:6",
        "block/104",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.contains(&format!("/explorer/tx/{}", "e8".repeat(32))));
    let call = &world.bodies("alkanes_simulate")[0]["params"][0];
    assert_eq!(call["inputs"], json!(["99", "2", "7"]));
    assert_eq!(world.bodies("alkanes_getstorageat")[0]["params"][0]["path"], "/totalsupply");
}

#[tokio::test]
async fn a_call_that_reverts_shows_its_text_and_wrong_inputs_name_their_field() {
    let mut answers = contract();
    answers.retain(|(name, ..)| *name != "alkanes_simulate");
    let error = format!("ALKANES: revert: {}", hostile());
    answers.push((
        "alkanes_simulate",
        200,
        result(json!({ "status": 1, "gasUsed": 0, "execution": { "alkanes": [],
        "storage": [], "data": "0x", "error": error }, "trace": [] })),
    ));
    let world = World::new(answers).await;
    let page = world.page("/explorer/contract/2:0?view=5").await;
    assert!(page.contains("revert") && page.contains("ALKANES: revert: &#60;script&#62;"), "{page}");
    let page = world.page("/explorer/contract/2:0?view=abc&inputs=%22%3E").await;
    assert!(
        page.contains("Opcode: this is no number")
            && page.contains("value=\"abc\"")
            && page.contains("value=\"&#34;&#62;\"")
    );
    assert!(world.bodies("alkanes_simulate").is_empty());
    let page = world.page("/explorer/contract/2:0?view=1&inputs=x").await;
    assert!(page.contains("Inputs: “x” is no number"));
    let page = world.page("/explorer/contract/2:0?key=0xzz").await;
    assert!(page.contains("Key: after 0x stand hexadecimal digits") && world.bodies("alkanes_getstorageat").is_empty());
}

#[tokio::test]
async fn a_verified_source_is_shown_to_people_who_are_signed_in() {
    let mut answers = contract();
    answers.push((
        "/source/2/0",
        200,
        json!({ "ok": true, "source": { "verified": true, "verdict": "reproducible", "match_pct": 100,
        "repo": hostile(), "commit": "ab12", "built": { "rustc": "1.96.0" } } }),
    ));
    answers.push((
        "/source/2/0/tree",
        200,
        json!({ "ok": true, "tree": { "nodes": [{ "path": "src/<b>.rs", "type": "file", "size": 5 },
        { "path": "src", "type": "dir", "size": null }] } }),
    ));
    answers.push((
        "/source/2/0/blob",
        200,
        json!({ "ok": true, "blob": { "binary": false, "text": format!("fn a() {{}}\n{MARKUP}") } }),
    ));
    answers.push((
        "essentials.get_keys",
        200,
        result(json!({ "ok": true, "total": 60, "items": { "0x2f61": { "hex": "0x2f61",
        "value_hex": "0x01", "last_txid": "cd".repeat(32) } } })),
    ));
    let mut world = World::new(answers).await;
    world.sign_in().await;
    let page = world.page("/explorer/contract/2:0?file=src/%3Cb%3E.rs&keys=2").await;
    for text in [
        "Verified",
        "reproducible",
        "1.96.0",
        "1 files",
        "src/&#60;b&#62;.rs",
        "file=src%2F%3Cb%3E.rs",
        "fn a() {}",
        "26 to 50 of 60",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(world.bodies("get_keys")[0]["params"]["page"], 1);
    assert!(
        world.answers.calls.lock().iter().any(|call| call.path == "/api/v1/KEY/source/2/0/blob?path=src%2F%3Cb%3E.rs")
    );
}

#[tokio::test]
async fn what_is_not_there_or_not_served_has_its_status() {
    let world = World::new(Vec::new()).await;
    for path in ["contract/9:9", "contract/x", "contract/%3Cb%3E", "token/9:9", "token/2:", "pool/9:9", "pool/-1:0"] {
        let (status, page) = world.get(&format!("/explorer/{path}")).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.contains("There is") || page.contains("there is") || page.contains("This is no id"), "{page}");
    }
    let starting = json!({ "statusCode": 503, "code": "STARTING", "error": "the index is being built" });
    let paths = ["get-alkanes", "get-all-pools-details", "get-pool-details", "get-alkane-details"];
    let world = World::new(paths.into_iter().map(|path| (path, 503, starting.clone())).collect()).await;
    for path in ["contracts", "tokens", "pools", "pool/2:6", "token/2:0", "contract/2:0"] {
        let (status, page) = world.get(&format!("/explorer/{path}")).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}");
        assert!(page.contains("the index is being built"));
    }
    let limited = json!({ "statusCode": 429, "code": "RATE_LIMITED", "error": "slow down" });
    let world = World::new(vec![("get-bitcoin-price", 429, limited)]).await;
    for path in ["markets", "bitcoin-price"] {
        assert_eq!(world.get(&format!("/explorer/{path}")).await.0, StatusCode::TOO_MANY_REQUESTS);
    }
}
