//! Lists, tokens, pools, routes, prices, the order book and rates.

use serde_json::{Value, json};

use super::world::{MARKUP, World, candles, enveloped, hostile, id, pairs, pool, result, swaps, token, trades};

#[tokio::test]
async fn lists_have_pages_orders_and_filters() {
    let tokens = json!({ "total": 120, "tokens": [token("2:3", Some("Paraffin Dollar"), 8, "2000000000000"), token("4:1", None, 255, "5")] });
    let pools =
        json!({ "total": 4, "pools": [pool("Paraffin Dollar / frBTC LP", "45583412459")], "totalTvl": 5_000.5 });
    let world = World::new(vec![
        ("get-alkanes", 200, enveloped(tokens)),
        ("get-all-pools-details", 200, enveloped(pools)),
        ("get-all-token-pairs", 200, pairs()),
    ])
    .await;
    let page = world.page("/explorer/tokens?page=2&q=a%26b").await;
    assert!(page.contains("$144.59") && page.contains("20,000") && page.contains("51 to 100 of 120"));
    assert!(
        page.contains("sort=volume&#38;q=a%26b&#38;page=3") || page.contains("sort=volume&amp;q=a%26b&amp;page=3"),
        "{page}"
    );
    let body = &world.bodies("get-alkanes")[0];
    assert_eq!((&body["offset"], &body["sortBy"], &body["searchQuery"]), (&json!(50), &json!("volume"), &json!("a&b")));
    let page = world.page("/explorer/contracts?sort=oldest&page=99999999999999999999").await;
    assert!(page.contains("/explorer/contract/4:1") && world.bodies("get-alkanes")[0]["order"] == "asc");
    let page = world.page("/explorer/pools").await;
    for text in ["455.83412459 PUSD", "0.99331058 frBTC", "0.0020226 frBTC", "-6.17 %", "9.42 %", "$5,000"] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn a_token_has_holders_with_their_shares() {
    let holders = json!({ "total": 30, "holders": [{ "address": "bcrt1pn9hpf04", "balance": "500000000000" },
        { "address": MARKUP, "balance": "5" }] });
    let world = World::new(vec![
        ("get-alkane-details", 200, enveloped(token("2:3", Some("Paraffin Dollar"), 8, "2000000000000"))),
        ("get-holders", 200, enveloped(holders)),
        ("get-token-pairs", 200, pairs()),
        ("get-token-swap-history", 200, swaps()),
    ])
    .await;
    let page = world.page("/explorer/token/2:3?page=2").await;
    for text in [
        "Paraffin Dollar",
        "25 %",
        "&#60; 0.01 %",
        "26 to 30 of 30",
        "0.08057836 frBTC",
        "39.8397928 PUSD",
        "2023-11-16 00:03 UTC",
    ] {
        assert!(page.contains(text) || page.contains(&text.replace("PUSD", "Paraffin Dollar")), "{text}: {page}");
    }
    assert_eq!(world.bodies("get-holders")[0]["offset"], 25);
}

fn of_pool(name: &str, amount: &str, prices: [&str; 4]) -> Vec<(&'static str, u16, Value)> {
    vec![
        ("get-pool-details", 200, enveloped(pool(name, amount))),
        ("get-alkane-details", 200, enveloped(token("2:3", Some("PUSD"), 8, "5"))),
        ("get-candles", 200, candles(prices)),
        ("get-trades", 200, trades()),
        ("get-pool-swap-history", 200, swaps()),
    ]
}

#[tokio::test]
async fn a_pool_has_candles_history_and_both_prices() {
    let world =
        World::new(of_pool("Paraffin Dollar / frBTC LP", "45583412459", ["0.002", "0.004", "0.001", "0.002"])).await;
    let page = world.page("/explorer/pool/2:6?interval=1d&from=1700000000&to=1700086400").await;
    for text in [
        "1 PUSD = 0.0020226 PUSD",
        "494.42",
        "high 0.004, low 0.001",
        "/console/chart.js",
        "Earlier",
        "Reserve of PUSD",
        "39.8397928",
        "1 %",
    ] {
        assert!(page.contains(text), "{text}");
    }
    let body = &world.bodies("get-candles")[0];
    assert_eq!((&body["interval"], &body["start_time"]), (&json!("1d"), &json!(1_700_000_000)));
    let page = world.page("/explorer/pool/2:6?side=1&kind=burns").await;
    assert!(page.contains("high 1,000, low 250") && page.contains("there is no such thing"));
    assert_eq!(world.bodies("get-pool-burn-history").len(), 1);
}

#[tokio::test]
async fn hostile_values_of_markets_are_plain() {
    let most = u128::MAX.to_string();
    let name = hostile();
    let mut answers = of_pool(&name, &most, ["1e400", "-1", "NaN", "0"]);
    answers[1].2 = enveloped(token("2:3", Some(&name), 255, &most));
    let tokens = json!({ "total": u64::MAX, "tokens": [token("2:3", Some(&name), 255, &most)] });
    answers.push(("get-alkanes", 200, enveloped(tokens)));
    answers.push((
        "get-holders",
        200,
        enveloped(json!({ "total": u64::MAX, "holders": [{ "address": name, "balance": most }] })),
    ));
    let world = World::new(answers).await;
    for path in [
        "pool/2:6",
        "pool/2:6?side=1",
        "tokens",
        "contracts?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "token/2:3",
        "contract/2:3",
    ] {
        let page = world.page(&format!("/explorer/{path}")).await;
        assert!(page.contains("&#60;script&#62;"), "{path}");
    }
}

#[tokio::test]
async fn routes_are_found_and_compared() {
    let two = |id_of: &str, token0: &str, token1: &str, r0: &str, r1: &str| json!({ "poolId": id(id_of), "token0": id(token0), "token1": id(token1), "token0Amount": r0, "token1Amount": r1, "feePer1000": 10 });
    let direct = two("2:9", "2:0", "32:0", "2219168741", "52288270");
    let paths = json!({ "paths": [
        { "type": "direct", "path": [id("2:0"), id("32:0")], "pools": [direct] },
        { "type": "multi", "path": [id("2:0"), id("2:3"), id("32:0")], "pools": [
            two("2:8", "2:0", "2:3", "1805210965", "27494932743"), two("2:6", "2:3", "32:0", "45583412459", "99331058")] }] });
    let best = json!({ "ok": true, "paths": [{ "estimated_output": "32500", "pools": ["2:8", "2:6"], "hops": [
        { "pool": "2:8", "token_in": "2:0", "token_out": "2:3", "kind": "factory" },
        { "pool": "2:6", "token_in": "2:3", "token_out": "32:0", "kind": "factory" }] }] });
    let tokens =
        json!({ "total": 2, "tokens": [token("2:0", Some("DIESEL"), 8, "5"), token("32:0", Some("frBTC"), 8, "5")] });
    let world = World::new(vec![
        ("get-alkanes", 200, enveloped(tokens)),
        ("pathfind", 200, best),
        ("get-alkane-swap-pair-details", 200, enveloped(paths)),
    ])
    .await;
    let page = world.page("/explorer/routes?from=diesel&to=32:0&amount=0.01").await;
    for text in ["0.000325 frBTC", "/explorer/pool/2:8", ">best<", "0.00023316 frBTC", "28.25 % less"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(world.bodies("pathfind")[0]["amount_in"], "1000000");
    for (query, sentence) in [
        ("from=2:0&to=2:0", "To: this is the same token."),
        ("from=2:0&to=32:0&amount=-1", "Amount: The amount is a number"),
        ("from=2:0&to=32:0&amount=0", "Amount: it is more than nothing."),
        ("from=none&to=32:0", "From: there is no such token."),
    ] {
        assert!(world.page(&format!("/explorer/routes?{query}")).await.contains(sentence), "{query}");
        assert!(world.bodies("pathfind").is_empty());
    }
}

const PRICES: &str = "0x08011205080410f20d1a05080410f00d220208202a1331303030303030303030303030303030303030320e31363531343639383532363834373880d0d5aa0640a0014a2009d81d8632001ec80deef0a38ae5b17615a511d67c072ede1ce17a7e42c7f023520e31353037383636373539353135315a0e313531363538323036323434363660a001";

#[tokio::test]
async fn bitcoin_has_the_price_of_the_feed_and_three_of_the_pool() {
    let feed = json!({ "bitcoin": { "usd": 72_674.566 }, "source": hostile(), "timestamp": "2026-11-28T03:55:32Z", "stale": true });
    let mut answers = of_pool("", "5", ["0.00001", "0.00002", "0.00001", "0.00001"]);
    answers.push(("get-bitcoin-price", 200, enveloped(feed)));
    answers.push((
        "get-bitcoin-market-chart",
        200,
        enveloped(json!({ "prices": [[1_795_751_996_000_i64, 71_099.9], [1_795_752_596_000_i64, 71_200.5]] })),
    ));
    answers.push(("metashrew_view", 200, result(json!(PRICES))));
    let mut world = World::new(answers).await;
    let page = world.page("/explorer/bitcoin-price?days=7").await;
    assert!(page.contains("$72,674.57") && page.contains("stale") && page.contains("Sign in to see the marginal"));
    assert_eq!(world.bodies("get-bitcoin-market-chart")[0]["days"], "7");
    world.sign_in().await;
    let page = world.page("/explorer/bitcoin-price").await;
    for text in ["$60,552.12", "$66,318.86", "$65,937.74", "/explorer/block/160", "high 100,000, low 50,000"] {
        assert!(page.contains(text), "{text}");
    }
}

#[tokio::test]
async fn the_order_book_and_rates_are_shown_or_their_sentence() {
    let order = |side: &str, price: &str| {
        json!({ "id": hostile(), "side": side, "status": "open", "price": price,
        "priceUnit": "DIESEL", "makerAddress": MARKUP, "assets": [{ "tokenId": "2:1387", "amountRaw": "3" }], "updatedAt": 1_754_000_000_000_000_i64 })
    };
    let key = "orbitals:regtest:module:<b>&x";
    let answers = vec![
        ("orderbook/markets", 200, json!({ "markets": [{ "market_key": key, "open_orders": 7 }] })),
        (
            "orderbook/snapshot",
            200,
            json!({ "seq": 80, "orders": [order("buy", "400"), order("buy", "300"), order("sell", "500")] }),
        ),
        (
            "forex_status",
            200,
            result(json!({ "available": ["USD", "EUR"], "sources": [{ "name": "ecb", "kind": "ecb", "currencies": 16,
            "as_of": "2026-11-18", "answered_at": null, "failure": hostile() }] })),
        ),
        (
            "forex_rates",
            200,
            result(
                json!({ "base": "USD", "rates": { "USD": "1", "EUR": "0.8631" }, "age_seconds_by_currency": { "EUR": 7200 },
            "stale": false, "as_of_unix": 1_795_836_304, "missing_reasons": { "XXX": "no_quotes" }, "provenance": { "EUR": { "method": "median",
            "sources": [{ "source": "ecb", "role": "used" }] } } }),
            ),
        ),
    ];
    let mut world = World::new(answers).await;
    for path in ["orderbook", "rates", "markets"] {
        assert!(world.page(&format!("/explorer/{path}")).await.contains("Sign in to see this"), "{path}");
    }
    world.sign_in().await;
    let page = world.page("/explorer/orderbook").await;
    for text in [
        "6 bid for from 300",
        "3 asked for up to 500",
        "3 × 2:1387",
        "market=orbitals%3Aregtest%3Amodule%3A%3Cb%3E%26x",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(page.find("400 DIESEL").unwrap() < page.find("300 DIESEL").unwrap());
    let page = world.page("/explorer/rates?base=eur").await;
    for text in ["0.8631", "1.1586", "2 hours ago", "ecb", "no quotes"] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(world.bodies("forex_rates")[0]["params"]["base"], "EUR");
    assert!(world.page("/explorer/markets").await.contains("7 open orders"));
    let mut away = World::new(Vec::new()).await;
    away.sign_in().await;
    for path in ["orderbook", "rates", "markets", "bitcoin-price"] {
        assert!(away.page(&format!("/explorer/{path}")).await.contains("there is no such thing"), "{path}");
    }
}
