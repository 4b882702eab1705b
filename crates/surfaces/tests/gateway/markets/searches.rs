//! Prices of tokens, pools in search results, and the routes without envelope.

use paraffin_devnet::market::{DIESEL, WRAPPED_BITCOIN};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::truth::{Deed, Doing, time};
use super::{MarketFixture, list, object};

/// row RA03
#[tokio::test]
async fn tokens_have_the_prices_of_their_pools_and_a_search_finds_pools() {
    let fixture = MarketFixture::open().await;
    let pools = fixture.truth.pools.clone();
    let mut capitalised = 0;
    for pool in &pools {
        let [first, second] = pool.tokens.map(|token| fixture.truth.balance(token, pool.id));
        let (token, own, bitcoin) = if pool.tokens[1] == WRAPPED_BITCOIN {
            (pool.tokens[0], first, second)
        } else {
            (pool.tokens[1], second, first)
        };
        let details = fixture.data("get-alkane-details", json!({ "alkaneId": object(token) })).await;
        let price = bitcoin * 100_000_000 / own;
        assert_eq!(details["priceInSatoshi"].to_string(), price.to_string(), "{token}");
        #[allow(clippy::cast_precision_loss)]
        let exact = bitcoin as f64 * 1e8 / own as f64;
        assert!((details["frbtcPoolPriceInSats"].as_f64().unwrap() / exact - 1.0).abs() < 1e-9);
        for name in ["priceUsd", "floorPrice", "busdPoolPriceInUsd", "marketcap", "tokenPoolsVolume1dInUsd"] {
            assert_eq!(details[name], Value::Null, "{name}: no source of dollars here");
        }
        if let Some(supply) = details["totalSupply"].as_str() {
            let supply: u128 = supply.parse().unwrap();
            capitalised += 1;
            let marketcap = details["marketcapInSats"].to_string().parse::<u128>().unwrap();
            // Whatever does not fit behind the decimal point of the price is at most a millionth.
            let expected = supply * bitcoin / own;
            assert!(
                marketcap <= expected && expected - marketcap <= expected / 1_000_000 + 1,
                "{marketcap} of {expected}"
            );
        }
        let details = fixture.data("get-pool-details", json!({ "poolId": object(pool.id) })).await;
        for query in [pool.id.to_string(), fixture.truth.text(pool.id, "/name").to_lowercase()] {
            let found = fixture.data("global-alkanes-search", json!({ "searchQuery": query })).await;
            assert_eq!(list(&found, "pools"), std::slice::from_ref(&details), "{query}");
        }
    }
    // By the symbol of an alkane in either case, and the pool that no factory lists.
    for pool in &pools {
        let tokens = pool.tokens.into_iter().filter(|token| *token != WRAPPED_BITCOIN);
        for token in tokens {
            let symbol =
                fixture.data("get-alkane-details", json!({ "alkaneId": object(token) })).await["symbol"].clone();
            let query = symbol.as_str().unwrap().to_lowercase();
            let found = fixture.data("global-alkanes-search", json!({ "searchQuery": query })).await;
            assert!(list(&found, "pools").iter().any(|found| found["id"] == pool.id.to_string()), "{symbol}: {found}");
        }
    }
    let found = fixture.data("global-alkanes-search", json!({ "searchQuery": "4:1778" })).await;
    assert_eq!((&found["pools"][0]["id"], &found["pools"][0]["type"]), (&json!("4:1778"), &json!("cryptoswap")));
    let bitcoin = fixture.data("get-alkane-details", json!({ "alkaneId": object(WRAPPED_BITCOIN) })).await;
    assert_eq!(bitcoin["priceInSatoshi"], json!(100_000_000));
    assert_eq!(
        bitcoin["totalSupply"].as_str(),
        bitcoin["marketcapInSats"].as_number().map(ToString::to_string).as_deref()
    );
    assert!(capitalised >= 2, "{capitalised} tokens report their supply");
    let found = fixture.data("global-alkanes-search", json!({ "searchQuery": "zzz" })).await;
    assert_eq!((&found["tokens"], &found["pools"]), (&json!([]), &json!([])));

    let by_volume = fixture.data("get-alkanes", json!({ "sortBy": "volume", "limit": 500 })).await;
    let volumes: Vec<Option<u64>> =
        list(&by_volume, "tokens").iter().map(|token| token["tokenPoolsVolume1dInSats"].as_u64()).collect();
    assert_eq!(by_volume["tokens"][0]["id"], object(WRAPPED_BITCOIN), "it stands in every pool");
    assert!(volumes.iter().rev().is_sorted() && volumes[3] > Some(0) && volumes[4].is_none(), "{volumes:?}");
    let held = fixture.data("get-alkanes-by-address", json!({ "address": fixture.busiest(|_| true) })).await;
    let diesel = held.as_array().unwrap().iter().find(|token| token["id"] == object(DIESEL));
    assert!(diesel.is_none_or(|token| token["priceInSatoshi"].is_u64()));
}

/// row RA03
#[tokio::test]
async fn pages_of_a_search_are_of_one_list_and_leave_none_out() {
    let fixture = MarketFixture::open().await;
    let whole = fixture.data("global-alkanes-search", json!({ "searchQuery": "32:0", "limit": 500 })).await;
    // All pools hold wrapped bitcoin; the one of no factory comes first.
    let mut expected: Vec<String> = fixture.truth.pools.iter().map(|pool| pool.id.to_string()).collect();
    expected.push("4:1778".to_owned());
    let mut named: Vec<&str> = list(&whole, "pools").iter().map(|pool| pool["id"].as_str().unwrap()).collect();
    assert_eq!(named[0], "4:1778");
    named.sort_unstable();
    expected.sort_unstable();
    assert_eq!(named, expected);
    assert!(expected.len() >= 3, "too few pools for pages: {expected:?}");
    // Tokens and pools are two lists with the same part of each.
    for query in ["32:0", "a"] {
        let whole = fixture.data("global-alkanes-search", json!({ "searchQuery": query, "limit": 500 })).await;
        assert!(query == "32:0" || list(&whole, "tokens").len() >= 3, "too few tokens for pages: {whole}");
        for limit in 1..=3 {
            let mut paged = json!({ "tokens": [], "pools": [] });
            for number in 0..20 {
                let body = json!({ "searchQuery": query, "limit": limit, "offset": number * limit });
                let page = fixture.data("global-alkanes-search", body).await;
                let body = json!({ "searchQuery": query, "limit": limit, "page": number + 1 });
                assert_eq!(fixture.data("global-alkanes-search", body).await, page);
                for name in ["tokens", "pools"] {
                    assert!(list(&page, name).len() <= limit);
                    paged[name].as_array_mut().unwrap().extend_from_slice(list(&page, name));
                }
            }
            for name in ["tokens", "pools"] {
                let ids = |all: &Value| -> Vec<Value> { list(all, name).iter().map(|one| one["id"].clone()).collect() };
                assert_eq!(ids(&paged), ids(&whole), "{name} of {query} by {limit}");
            }
            assert!(paged == whole, "{query} by {limit}");
        }
    }
}

/// row RG06
#[tokio::test]
async fn trades_candles_reserves_and_ways_without_envelope() {
    let fixture = MarketFixture::open().await;
    let pool = fixture.truth.pools[0];
    let flat = async |route: &str, body: Value| {
        let (status, answer) = fixture.post(route, &body).await;
        assert_eq!((status, &answer["ok"]), (200, &json!(true)), "{route} {body}: {answer}");
        answer
    };
    let name = pool.id.to_string();
    let reserves = flat("get-reserves", json!({ "pool": name })).await;
    let [first, second] = pool.tokens.map(|token| fixture.truth.balance(token, pool.id));
    assert_eq!((&reserves["reserve0"], &reserves["reserve1"]), (&json!(first.to_string()), &json!(second.to_string())));
    let tip = fixture.instance.chain.blocks.last().unwrap();
    assert_eq!(reserves["block_height"], json!(fixture.instance.chain.tip_height()));
    assert_eq!(reserves["timestamp"], json!(time(tip.header.time)));

    let swaps: Vec<&Deed> = fixture
        .truth
        .deeds
        .iter()
        .rev()
        .filter(|deed| deed.is_on(pool.id) && deed.kind() == "swap" && deed.successful)
        .collect();
    let reported = flat("get-trades", json!({ "pool": name, "limit": 1000 })).await;
    assert_eq!(list(&reported, "trades").len(), swaps.len());
    for (trade, deed) in list(&reported, "trades").iter().zip(&swaps) {
        let Doing::Swap { sold, bought } = deed.doing else { unreachable!() };
        let index = usize::from(sold.id != pool.tokens[0]);
        assert_eq!(trade[format!("amount{index}_in")], json!(sold.value.to_string()));
        assert_eq!(trade[format!("amount{}_out", 1 - index)], json!(bought.value.to_string()));
        assert_eq!((&trade[format!("amount{index}_out")], &trade["txid"]), (&json!("0"), &json!(deed.txid)));
        assert_eq!((&trade["block_height"], &trade["timestamp"]), (&json!(deed.height), &json!(time(deed.time))));
    }
    // The reserves after the newest trade are the current ones, unless liquidity changed since.
    let moved = fixture.truth.deeds.iter().rev().find(|deed| deed.is_on(pool.id) && deed.successful).unwrap();
    if moved.kind() == "swap" {
        assert_eq!(reported["trades"][0]["reserve0_after"], json!(first.to_string()));
    }
    let (from, to) = (swaps[swaps.len() * 3 / 4].time, swaps[swaps.len() / 4].time);
    let between = flat("get-trades", json!({ "pool": name, "start_time": from, "end_time": to, "limit": 1000 })).await;
    let expected = swaps.iter().filter(|deed| (from..=to).contains(&deed.time)).count();
    assert!(expected > 2 && expected < swaps.len());
    assert_eq!(list(&between, "trades").len(), expected);
    assert_eq!(list(&flat("get-trades", json!({ "pool": name, "limit": 2 })).await, "trades").len(), 2);

    for (interval, width) in [("10m", 600), ("1h", 3_600), ("4h", 14_400), ("1d", 86_400)] {
        let reported = flat("get-candles", json!({ "pool": name, "interval": interval, "limit": 2000 })).await;
        let mut expected = Vec::<(u32, Vec<&Deed>)>::new();
        for deed in &swaps {
            let start = deed.time - deed.time % width;
            match expected.last_mut().filter(|(known, _)| *known == start) {
                Some((_, deeds)) => deeds.push(deed),
                None => expected.push((start, vec![deed])),
            }
        }
        assert_eq!(list(&reported, "candles").len(), expected.len(), "{interval}");
        for (candle, (start, deeds)) in list(&reported, "candles").iter().zip(&expected) {
            assert_eq!(
                (&candle["open_time"], &candle["close_time"]),
                (&json!(time(*start)), &json!(time(start + width)))
            );
            let traded = |deed: &Deed| -> [u128; 2] {
                let Doing::Swap { sold, bought } = deed.doing else { unreachable!() };
                if sold.id == pool.tokens[0] { [sold.value, bought.value] } else { [bought.value, sold.value] }
            };
            #[allow(clippy::cast_precision_loss)]
            let prices: Vec<f64> = deeds.iter().map(|deed| traded(deed)).map(|[a, b]| b as f64 / a as f64).collect();
            let near = |name: &str, expected: f64| {
                let value: f64 = candle[name].as_str().unwrap().parse().unwrap();
                assert!((value / expected - 1.0).abs() < 1e-9, "{interval} {name}: {value}, not {expected}");
            };
            near("open", prices[prices.len() - 1]);
            near("close", prices[0]);
            near("high", prices.iter().copied().fold(0.0, f64::max));
            near("low", prices.iter().copied().fold(f64::INFINITY, f64::min));
            let sum = |index: usize| deeds.iter().map(|deed| traded(deed)[index]).sum::<u128>().to_string();
            assert_eq!((&candle["volume0"], &candle["volume1"]), (&json!(sum(0)), &json!(sum(1))));
            assert_eq!(candle["trade_count"], json!(deeds.len()));
        }
    }
    let few = flat("get-candles", json!({ "pool": name, "interval": "4h", "limit": 1 })).await;
    assert_eq!(list(&few, "candles").len(), 1);

    // Through the one pool, by its own formula.
    let (index, amount) = (usize::from(pool.tokens[0] == WRAPPED_BITCOIN), 1_000_000_u128);
    let out = |index: usize, amount: u128| {
        let paid = amount * 990;
        let reserves = [first, second];
        paid * reserves[1 - index] / (reserves[index] * 1_000 + paid)
    };
    let body = |from: AlkaneId, to: AlkaneId| json!({ "token_in": from.to_string(), "token_out": to.to_string(), "amount_in": amount.to_string() });
    let way = flat("pathfind", body(pool.tokens[index], pool.tokens[1 - index])).await;
    assert_eq!(way["paths"][0]["estimated_output"], json!(out(index, amount).to_string()));
    assert_eq!(way["paths"][0]["pools"], json!([name]));
    assert_eq!(way["paths"][0]["hops"][0]["amount_in"], json!(amount.to_string()));
    assert_eq!(flat("pathfind", body(pool.tokens[index], AlkaneId { block: 9, tx: 9 })).await["paths"], json!([]));
    for (route, body, status) in [
        ("get-reserves", json!({ "pool": "x" }), 400),
        ("get-reserves", json!({}), 400),
        ("get-reserves", json!({ "pool": "2:0" }), 404),
        ("get-trades", json!({ "pool": "9:9" }), 404),
        ("get-trades", json!({ "pool": name, "start_time": "soon" }), 400),
        ("get-candles", json!({ "pool": name, "interval": "1m" }), 400),
        ("get-candles", json!({ "pool": name, "interval": 5 }), 400),
        ("pathfind", json!({ "token_in": "2:0" }), 400),
        ("pathfind", json!({ "token_in": "2:0", "token_out": "32:0" }), 400),
        ("pathfind", json!({ "token_in": "2:0", "token_out": "32:0", "amount_in": "-1" }), 400),
    ] {
        let (got, answer) = fixture.post(route, &body).await;
        assert_eq!(got, status, "{route} {body}: {answer}");
    }
    for amount in ["0", "340282366920938463463374607431768211455"] {
        let body = json!({ "token_in": name, "token_out": "32:0", "amount_in": amount });
        assert_eq!(flat("pathfind", body).await["paths"], json!([]), "nothing trades liquidity itself");
    }
}
