//! Candles, recomputed from the trades in traces.

use std::collections::BTreeMap;

use paraffin_amm::Timeframe;
use serde_json::{Value, json};

use super::markets::{Seen, decimal, every_pool, pools, trades};
use super::scene::{Scene, text};

/// Start of a bucket by the calendar of the standard library's rules: written out, not taken from the index.
fn start(timeframe: &str, time: u32) -> u32 {
    const DAY: u32 = 86_400;
    match timeframe {
        "10m" => time - time % 600,
        "1h" => time - time % 3_600,
        "1d" => time - time % DAY,
        // The first Monday of 1970 was the fifth of January.
        "1w" => time - (time - 4 * DAY) % (7 * DAY),
        _ => {
            let (mut year, mut month, mut first) = (1970, 1, 0);
            loop {
                let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
                let days = match month {
                    2 => 28 + u32::from(is_leap),
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                if first + days * DAY > time {
                    return first;
                }
                first += days * DAY;
                (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            }
        }
    }
}

/// Open, high, low and close as fractions, both volumes, and the number of trades.
struct Bucket {
    prices: Vec<(u128, u128)>,
    volumes: [u128; 2],
}

fn buckets(seen: &[Seen], first: paraffin_primitives::AlkaneId, timeframe: &str) -> BTreeMap<u32, Bucket> {
    let mut buckets: BTreeMap<u32, Bucket> = BTreeMap::new();
    for seen in seen {
        let amounts =
            if seen.sold == first { [seen.amount_in, seen.amount_out] } else { [seen.amount_out, seen.amount_in] };
        let bucket = buckets
            .entry(start(timeframe, seen.time))
            .or_insert_with(|| Bucket { prices: Vec::new(), volumes: [0; 2] });
        bucket.prices.push((amounts[1], amounts[0]));
        for (volume, amount) in bucket.volumes.iter_mut().zip(amounts) {
            *volume += amount;
        }
    }
    buckets
}

fn expected(buckets: &BTreeMap<u32, Bucket>, side: &str) -> Vec<Value> {
    let rows = buckets.iter().map(|(start, bucket)| {
        let prices: Vec<(u128, u128)> =
            bucket.prices.iter().map(|(up, down)| if side == "base" { (*up, *down) } else { (*down, *up) }).collect();
        let by_value = |one: &&(u128, u128), other: &&(u128, u128)| (one.0 * other.1).cmp(&(other.0 * one.1));
        let text = |price: &(u128, u128)| decimal(price.0, price.1);
        json!({
            "ts": start,
            "open_time": start.to_string(),
            "open": text(&prices[0]),
            "high": text(prices.iter().max_by(by_value).unwrap()),
            "low": text(prices.iter().min_by(by_value).unwrap()),
            "close": text(&prices[prices.len() - 1]),
            "volume": bucket.volumes[usize::from(side == "quote")].to_string(),
            "volume0": bucket.volumes[0].to_string(),
            "volume1": bucket.volumes[1].to_string(),
            "trades": prices.len(),
            "trade_count": prices.len(),
        })
    });
    rows.collect()
}

fn without_end(mut candle: Value) -> Value {
    candle.as_object_mut().unwrap().remove("close_time").unwrap();
    candle
}

async fn all(scene: &Scene, mut ask: Value, limit: u32) -> (Vec<Value>, Value) {
    let mut pages = Vec::new();
    ask["limit"] = json!(limit);
    for page in 0.. {
        ask["page"] = json!(page);
        let answer = scene.ok("ammdata.get_candles", ask.clone()).await;
        let candles = answer["candles"].as_array().unwrap().clone();
        assert!(candles.windows(2).all(|pair| pair[0]["ts"].as_u64() < pair[1]["ts"].as_u64()));
        pages.insert(0, candles);
        if answer["has_more"] == false {
            return (pages.concat(), answer);
        }
    }
    unreachable!()
}

/// row AN10
/// row AN16
#[tokio::test]
async fn candles_are_those_of_the_executed_trades_for_every_timeframe_and_side() {
    let scene = Scene::start(5, 150).await;
    for (pool, tokens) in every_pool(&scene) {
        let seen = trades(&scene, pool, tokens);
        for timeframe in Timeframe::ALL {
            let name = timeframe.name();
            let buckets = buckets(&seen, tokens[0], name);
            for side in ["base", "quote"] {
                let expected = expected(&buckets, side);
                let ask = json!({ "pool": text(pool), "timeframe": name, "side": side });
                let (candles, answer) = all(&scene, ask.clone(), 3).await;
                let reported: Vec<Value> = candles.iter().cloned().map(without_end).collect();
                assert_eq!(reported, expected, "{pool} {name} {side}");
                for candle in &candles {
                    let end: u32 = candle["close_time"].as_str().unwrap().parse().unwrap();
                    let begin = u32::try_from(candle["ts"].as_u64().unwrap()).unwrap();
                    assert_eq!((start(name, end), start(name, end - 1)), (end, begin));
                }
                let head = ["pool", "timeframe", "side", "total"].map(|name| answer[name].clone());
                assert_eq!(json!(head), json!([text(pool), name, side, expected.len()]));
            }
        }
        // Later blocks do not change candles as of an older height.
        let height = scene.height() - 12;
        let then: Vec<Seen> = seen.iter().filter(|seen| seen.height <= height).cloned().collect();
        let ask = json!({ "pool": text(pool), "height": height, "timeframe": "1d" });
        let (candles, answer) = all(&scene, ask, 100).await;
        let expected = expected(&buckets(&then, tokens[0], "1d"), "base");
        assert_eq!(candles.into_iter().map(without_end).collect::<Vec<_>>(), expected);
        assert_eq!(answer["total"], expected.len());
    }
}

/// row AN10
#[tokio::test]
async fn filled_candles_have_no_gap_and_tell_the_price_before_it() {
    let scene = Scene::start(5, 150).await;
    let newest = scene.blocks()[scene.height() as usize].header.time;
    for (pool, tokens) in every_pool(&scene) {
        let seen = trades(&scene, pool, tokens);
        for name in ["10m", "1h", "1d", "1w", "1M"] {
            let traded: BTreeMap<u64, Value> = expected(&buckets(&seen, tokens[0], name), "base")
                .into_iter()
                .map(|candle| (candle["ts"].as_u64().unwrap(), candle))
                .collect();
            let ask = json!({ "pool": text(pool), "timeframe": name, "fill": true });
            let (candles, answer) = all(&scene, ask.clone(), 7).await;
            assert_eq!(answer["total"], candles.len());
            assert_eq!(candles[candles.len() - 1]["ts"], start(name, newest));
            assert_eq!(candles[0]["ts"].as_u64(), traded.keys().next().copied());
            let mut close = Value::Null;
            for pair in candles.windows(2) {
                assert_eq!(pair[0]["close_time"], pair[1]["open_time"]);
            }
            for candle in candles {
                match traded.get(&candle["ts"].as_u64().unwrap()) {
                    Some(expected) => assert_eq!(&without_end(candle.clone()), expected),
                    None => {
                        for name in ["open", "high", "low", "close"] {
                            assert_eq!(candle[name], close);
                        }
                        assert_eq!((&candle["volume"], &candle["trades"]), (&json!("0"), &json!(0)));
                    }
                }
                close = candle["close"].clone();
            }
            let all_at_once = scene.ok(
                "ammdata.get_candles",
                json!({
                    "pool": text(pool), "timeframe": name, "fill": true, "limit": 10_000,
                }),
            );
            assert_eq!(all_at_once.await["total"], answer["total"]);
        }
    }
}

/// row AN10
#[tokio::test]
async fn what_is_no_timeframe_no_side_or_no_pool_is_said_and_never_taken_for_another() {
    let scene = Scene::start(5, 118).await;
    let pool = text(pools(&scene, scene.height())[0].0);
    let default = scene.ok("ammdata.get_candles", json!({ "pool": pool })).await;
    let head = ["timeframe", "side", "page", "limit"].map(|name| default[name].clone());
    assert_eq!(json!(head), json!(["1h", "base", 0, 100]));
    for (asked, reported) in [("m10", "10m"), ("h1", "1h"), ("d1", "1d"), ("w1", "1w"), ("m1", "1M")] {
        let answer = scene.ok("ammdata.get_candles", json!({ "pool": pool, "timeframe": asked })).await;
        assert_eq!(answer["timeframe"], reported);
    }
    let refused = |ask: Value| {
        let scene = &scene;
        async move { scene.refused("ammdata.get_candles", ask).await }
    };
    for timeframe in ["4h", "1m", "", "1H"] {
        assert_eq!(refused(json!({ "pool": pool, "timeframe": timeframe })).await, "invalid_timeframe");
    }
    assert_eq!(refused(json!({ "pool": pool, "side": "middle" })).await, "invalid_side");
    for unreadable in ["", "2", "2:x", "2:-1", "x:2:3", "2:0-usd", "2:340282366920938463463374607431768211456"] {
        assert_eq!(refused(json!({ "pool": unreadable })).await, "missing_or_invalid_pool", "{unreadable}");
    }
    // Neither an alkane nor a factory is a pool.
    for unknown in ["2:0", "4:65522", "2:999999"] {
        assert_eq!(refused(json!({ "pool": unknown })).await, "pool_not_found");
    }
    let error = |ask: Value| {
        let scene = &scene;
        async move { scene.error("ammdata.get_candles", ask).await }
    };
    for wrong in [
        json!({}),
        json!({ "pool": null }),
        json!({ "pool": 2 }),
        json!({ "pool": { "block": "2", "tx": "0" } }),
        json!({ "pool": pool, "limit": 0 }),
        json!({ "pool": pool, "limit": -1 }),
        json!({ "pool": pool, "limit": 1.5 }),
        json!({ "pool": pool, "limit": "5" }),
        json!({ "pool": pool, "page": -1 }),
        json!({ "pool": pool, "fill": "yes" }),
        json!({ "pool": pool, "timeframe": 60 }),
        json!([pool]),
        json!([{ "pool": pool }]),
        json!([]),
    ] {
        assert_eq!(error(wrong.clone()).await, -32602, "{wrong}");
    }
    let capped = scene.ok("ammdata.get_candles", json!({ "pool": pool, "limit": 10_u64.pow(15) })).await;
    assert_eq!(capped["limit"], 10_000);
    for page in [1_u64 << 33, u64::MAX] {
        let far = scene.ok("ammdata.get_candles", json!({ "pool": pool, "page": page, "fill": true })).await;
        assert_eq!((&far["candles"], &far["has_more"]), (&json!([]), &json!(false)));
        let far = scene.ok("ammdata.get_candles", json!({ "pool": pool, "page": page })).await;
        assert_eq!((&far["candles"], &far["has_more"]), (&json!([]), &json!(false)));
    }
}
