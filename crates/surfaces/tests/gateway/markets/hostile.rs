//! Invalid and hostile requests get a clear error and nothing else.

use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::{MarketFixture, list, object};

/// Every route about markets, with what it cannot do without.
const ROUTES: [(&str, &[&str]); 36] = [
    ("get-amm-utxos", &["address"]),
    ("get-pools", &[]),
    ("get-all-pools-details", &[]),
    ("get-pool-details", &["poolId"]),
    ("get-pool-by-id", &["id"]),
    ("get-all-token-pairs", &[]),
    ("get-token-pairs", &["alkaneId"]),
    ("address-positions", &["address"]),
    ("get-alkane-swap-pair-details", &["tokenId"]),
    ("get-pool-swap-history", &[]),
    ("get-swap-history", &[]),
    ("get-token-swap-history", &["alkaneId"]),
    ("get-pool-mint-history", &[]),
    ("get-mint-history", &[]),
    ("get-pool-burn-history", &[]),
    ("get-burn-history", &[]),
    ("get-pool-creation-history", &[]),
    ("get-pool-history", &[]),
    ("get-all-history", &[]),
    ("get-all-wrap-history", &[]),
    ("get-all-unwrap-history", &[]),
    ("get-address-wrap-history", &["address"]),
    ("get-address-unwrap-history", &["address"]),
    ("get-address-swap-history-for-pool", &["address", "poolId"]),
    ("get-address-swap-history-for-token", &["address", "tokenId"]),
    ("get-address-pool-creation-history", &["address"]),
    ("get-address-pool-mint-history", &["address"]),
    ("get-address-pool-burn-history", &["address"]),
    ("get-all-amm-tx-history", &[]),
    ("get-all-address-amm-tx-history", &["address"]),
    ("get-total-unwrap-amount", &[]),
    ("get-trades", &["pool"]),
    ("get-candles", &["pool"]),
    ("get-reserves", &["pool"]),
    ("pathfind", &["token_in", "token_out", "amount_in"]),
    ("global-alkanes-search", &["searchQuery"]),
];

/// Routes that have pages.
fn has_pages(route: &str) -> bool {
    !matches!(
        route,
        "get-pool-details"
            | "get-pool-by-id"
            | "get-total-unwrap-amount"
            | "get-trades"
            | "get-candles"
            | "get-reserves"
            | "pathfind"
    )
}

#[tokio::test]
async fn wrong_requests_are_refused_and_name_what_is_wrong() {
    let fixture = MarketFixture::open().await;
    let pool = fixture.truth.pools[0];
    let value = |field: &str| match field {
        "address" => json!(fixture.truth.deeds[0].address),
        "poolId" | "id" | "pool" => json!(pool.id.to_string()),
        "amount_in" => json!("5"),
        "token_out" => json!("32:0"),
        _ => json!("2:0"),
    };
    for (route, fields) in ROUTES {
        let body: Value =
            fields.iter().map(|field| ((*field).to_owned(), value(field))).collect::<serde_json::Map<_, _>>().into();
        let (status, answer) = fixture.post(route, &body).await;
        assert_eq!(status, 200, "{route} {body}: {answer}");
        let with = |more: &[(&str, Value)]| {
            let mut body = body.clone();
            for (name, value) in more {
                body[*name] = value.clone();
            }
            body
        };
        // Anything unknown, and `null` for whatever is optional, changes nothing.
        let strange = with(&[
            ("unknown", json!({ "deep": [1] })),
            ("successful", Value::Null),
            ("offset", Value::Null),
            ("limit", Value::Null),
        ]);
        assert_eq!(fixture.post(route, &strange).await, (200, answer), "{route}");
        for field in fields {
            let mut wrongs =
                vec![Value::Null, json!(5), json!(true), json!([]), json!({}), json!({ "block": "-1", "tx": 0 })];
            if *field != "searchQuery" {
                wrongs.extend([json!(""), json!("2"), json!("a:b"), json!("2:0:1"), json!("'; drop table pools; --")]);
            }
            if *field == "amount_in" {
                wrongs.retain(|wrong| wrong.as_str() != Some("2") && !wrong.is_number());
                wrongs.push(json!("340282366920938463463374607431768211456"));
            }
            for wrong in wrongs {
                let body = with(&[(*field, wrong)]);
                let (status, answer) = fixture.post(route, &body).await;
                assert_eq!(status, 400, "{route} {body}: {answer}");
                let message = answer["error"].as_str().unwrap_or_default();
                assert!(!message.is_empty() && !message.contains("panicked"), "{route} {body}: {answer}");
            }
        }
        if has_pages(route) {
            for (name, wrong) in [
                ("limit", json!(0)),
                ("limit", json!(-1)),
                ("limit", json!(1.5)),
                ("limit", json!("x")),
                ("count", json!(0)),
                ("offset", json!(-1)),
                ("page", json!("x")),
            ] {
                assert_eq!(fixture.refusal(route, with(&[(name, wrong.clone())])).await, 400, "{route} {name} {wrong}");
            }
            assert_eq!(fixture.refusal(route, with(&[("limit", json!(3)), ("count", json!(4))])).await, 400, "{route}");
            let huge = with(&[("limit", json!(u64::MAX)), ("offset", json!("99999999999999999999999999"))]);
            assert_eq!(fixture.post(route, &huge).await.0, 200, "{route}");
        }
    }
    // Other verbs and other paths.
    let get = fixture.instance.get("/v4/api/get-pools").await;
    assert_eq!(get.status, 405);
    assert_eq!(fixture.instance.post("/v4/api/pools", "{}").await.status, 405);
    assert_eq!(fixture.instance.post("/v4/api/get-pool-nothing", "{}").await.status, 404);
}

/// row GW19
#[tokio::test]
async fn an_identifier_is_an_object_of_texts_or_of_numbers_or_one_text_and_answers_name_it_as_an_object_of_texts() {
    let fixture = MarketFixture::open().await;
    let pool = fixture.truth.pools[0];
    let (of_pool, of_token) = (pool.id, pool.tokens[0]);
    let address = json!(fixture.truth.deeds[0].address);
    for (route, fields) in ROUTES {
        let mut body = json!({});
        let mut ids = Vec::new();
        for field in fields {
            match *field {
                "poolId" | "id" | "pool" => ids.push((*field, of_pool)),
                "alkaneId" | "tokenId" | "token_in" => ids.push((*field, of_token)),
                "token_out" => ids.push((*field, pool.tokens[1])),
                "address" => body[*field] = address.clone(),
                "amount_in" => body[*field] = json!("5"),
                "searchQuery" => body[*field] = json!("2"),
                other => panic!("{route}: what is {other}?"),
            }
        }
        // The factory may be left out; where a route takes it, it is an identifier like the others.
        ids.push(("factoryId", AlkaneId { block: 4, tx: 65_522 }));
        let mut answers = Vec::new();
        for written in [
            |id: AlkaneId| object(id),
            |id: AlkaneId| json!({ "block": id.block as u64, "tx": id.tx as u64 }),
            |id: AlkaneId| json!(id.to_string()),
        ] {
            let mut body = body.clone();
            for (field, id) in &ids {
                body[*field] = written(*id);
            }
            let (status, answer) = fixture.post(route, &body).await;
            assert_eq!(status, 200, "{route} {body}: {answer}");
            answers.push(answer);
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{route}: {answers:?}");
    }
    let details = fixture.data("get-alkane-details", json!({ "alkaneId": object(of_token) })).await;
    assert_eq!(details["id"], object(of_token));
}

/// row RP03, RP05, RH01, RH02, RH05, RH11, RH12
#[tokio::test]
async fn what_does_not_exist_is_told_apart_from_what_is_empty() {
    let fixture = MarketFixture::open().await;
    let pool = fixture.truth.pools[0];
    let address = fixture.truth.deeds[0].address.clone();
    let (diesel, nowhere, most) =
        ("2:0", "2:999999", json!({ "block": u128::MAX.to_string(), "tx": u128::MAX.to_string() }));
    for (route, body) in [
        ("get-pool-details", json!({ "poolId": diesel })),
        ("get-pool-details", json!({ "poolId": most })),
        ("get-pool-details", json!({ "poolId": object(pool.id), "factoryId": diesel })),
        ("get-pools", json!({ "factoryId": diesel })),
        ("get-pools", json!({ "factoryId": most })),
        ("get-all-pools-details", json!({ "factoryId": nowhere })),
        ("get-all-token-pairs", json!({ "factoryId": nowhere })),
        ("get-token-pairs", json!({ "factoryId": nowhere, "alkaneId": diesel })),
        ("get-token-pairs", json!({ "alkaneId": nowhere })),
        ("address-positions", json!({ "factoryId": nowhere, "address": address })),
        ("get-alkane-swap-pair-details", json!({ "tokenId": nowhere })),
        ("get-alkane-swap-pair-details", json!({ "tokenAId": diesel, "tokenBId": nowhere })),
        ("get-pool-swap-history", json!({ "poolId": diesel })),
        ("get-pool-mint-history", json!({ "poolId": nowhere })),
        ("get-pool-burn-history", json!({ "poolId": most })),
        ("get-pool-history", json!({ "poolId": nowhere })),
        ("get-token-swap-history", json!({ "tokenId": nowhere })),
        ("get-pool-creation-history", json!({ "factoryId": nowhere })),
        ("get-pool-creation-history", json!({ "poolId": object(pool.id), "factoryId": nowhere })),
        ("get-address-swap-history-for-pool", json!({ "address": address, "poolId": nowhere })),
        ("get-address-swap-history-for-token", json!({ "address": address, "tokenId": nowhere })),
    ] {
        assert_eq!(fixture.refusal(route, body.clone()).await, 404, "{route} {body}");
    }
    for (route, body) in [
        ("get-pool-details", json!({ "poolId": "2:1", "pool_id": "2:2" })),
        ("get-pool-details", json!({ "poolId": object(pool.id), "factoryId": "4:1", "factory_id": "4:2" })),
        ("get-token-swap-history", json!({ "alkaneId": "2:0", "tokenId": "2:1" })),
        ("get-pool-swap-history", json!({ "successful": "maybe" })),
        ("get-pool-swap-history", json!({ "successful": true, "successfulOnly": false })),
        ("get-pools", json!({ "sortBy": "luck" })),
        ("get-pools", json!({ "order": "up" })),
        ("get-pools", json!({ "searchQuery": 5 })),
        ("get-pools", json!({ "address": "nobody" })),
        ("get-alkane-swap-pair-details", json!({ "tokenAId": "2:0" })),
        ("get-alkane-swap-pair-details", json!({ "tokenBId": "2:0" })),
        ("get-alkane-swap-pair-details", json!({ "tokenAId": "2:0", "tokenBId": "2:0" })),
        // An address of another network.
        ("address-positions", json!({ "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" })),
        ("get-address-wrap-history", json!({ "address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" })),
    ] {
        assert_eq!(fixture.refusal(route, body.clone()).await, 400, "{route} {body}");
    }
    // A token without trades has an empty history; a page behind the end is empty and has the total.
    let auth = fixture.data("get-token-swap-history", json!({ "alkaneId": "32:1" })).await;
    assert_eq!((&auth["swaps"], &auth["total"]), (&json!([]), &json!(0)));
    let behind = fixture.data("get-pool-swap-history", json!({ "poolId": object(pool.id), "page": 4_000_000 })).await;
    assert_eq!(list(&behind, "swaps").len(), 0);
    assert!(behind["total"].as_u64().unwrap() > 0);
}
