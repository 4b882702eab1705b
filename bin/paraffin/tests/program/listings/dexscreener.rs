//! DEX Screener's adapter: the latest block, then the events of every range up to it, then assets and pairs of what was seen.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Kind, assert_fields, get, history, is_decimal, list, refused, text, units};
use crate::support::dev::Dev;

/// Place of an event in the chain.
fn place(event: &Value) -> (u64, u64, u64) {
    let number = |value: &Value| value.as_u64().unwrap();
    (number(&event["block"]["blockNumber"]), number(&event["txnIndex"]), number(&event["eventIndex"]))
}

fn block(record: &Value) {
    assert_fields(record, &[("blockNumber", Kind::Integer), ("blockTimestamp", Kind::Integer)], &[]);
}

/// The fields of an event by its type, and the rules that its readers stop at.
fn assert_event(event: &Value) {
    let shared = [
        ("block", Kind::Object),
        ("eventType", Kind::Text),
        ("txnId", Kind::Text),
        ("txnIndex", Kind::Integer),
        ("eventIndex", Kind::Integer),
        ("maker", Kind::Text),
        ("pairId", Kind::Text),
    ];
    block(&event["block"]);
    if !event["reserves"].is_null() {
        assert_fields(&event["reserves"], &[("asset0", Kind::Decimal), ("asset1", Kind::Decimal)], &[]);
    }
    match text(&event["eventType"]) {
        "swap" => {
            let amounts = ["asset0In", "asset1In", "asset0Out", "asset1Out"].map(|name| (name, Kind::Decimal));
            let needed = [&shared[..], &[("priceNative", Kind::Decimal)]].concat();
            assert_fields(event, &needed, &[&amounts[..], &[("reserves", Kind::Object)]].concat());
            let has = |name: &str| event.get(name).is_some();
            let (first, second) = (has("asset0In"), has("asset1In"));
            assert!(first != second && has("asset1Out") == first && has("asset0Out") == second, "one way: {event}");
            assert!(text(&event["priceNative"]).bytes().any(|digit| (b'1'..=b'9').contains(&digit)), "{event}");
        }
        "join" | "exit" => {
            let needed = [&shared[..], &[("amount0", Kind::Decimal), ("amount1", Kind::Decimal)]].concat();
            assert_fields(event, &needed, &[("reserves", Kind::Object)]);
        }
        other => panic!("{other} is no type of event"),
    }
}

/// What an event adds to and takes from what the pool holds.
fn change(event: &Value) -> [i128; 2] {
    let amount = |name: &str| event.get(name).map_or(0, |amount| i128::try_from(units(amount)).unwrap());
    match text(&event["eventType"]) {
        "swap" => [amount("asset0In") - amount("asset0Out"), amount("asset1In") - amount("asset1Out")],
        "join" => [amount("amount0"), amount("amount1")],
        _ => [-amount("amount0"), -amount("amount1")],
    }
}

/// An event of the adapter as the history has it.
fn as_history(row: &Value) -> Option<Value> {
    let kind = match text(&row["type"]) {
        "swap" => "swap",
        "mint" | "creation" => "join",
        "burn" => "exit",
        _ => return None,
    };
    Some(json!([row["blockHeight"], row["transactionIndex"], row["eventIndex"], row["transactionId"], kind]))
}

fn events(dev: &Dev, from: u64, to: u64) -> Vec<Value> {
    let answer = get(dev, &format!("dexscreener/events?fromBlock={from}&toBlock={to}"));
    assert_fields(&answer, &[("events", Kind::List)], &[]);
    list(&answer["events"]).to_vec()
}

fn latest(dev: &Dev) -> u64 {
    let answer = get(dev, "dexscreener/latest-block");
    assert_fields(&answer, &[("block", Kind::Object)], &[]);
    block(&answer["block"]);
    answer["block"]["blockNumber"].as_u64().unwrap()
}

/// Whether an event is of a pool that no factory lists: their places come behind those of factories' pools.
fn is_unlisted(event: &Value) -> bool {
    event["eventIndex"].as_u64().unwrap() >= 1 << 28
}

/// The events of `CryptoSwap` pools are those of their histories, and end at what the pools hold.
fn assert_unlisted(dev: &Dev, events: &[&Value]) {
    let pools: BTreeSet<&str> = events.iter().map(|event| text(&event["pairId"])).collect();
    assert!(!pools.is_empty() && events.iter().filter(|event| event["eventType"] == "swap").count() > 3);
    for pool in pools {
        let of_pool: Vec<&&Value> = events.iter().filter(|event| event["pairId"] == pool).collect();
        let pair = get(dev, &format!("dexscreener/pair?id={pool}"))["pair"].clone();
        let needed = [
            ("id", Kind::Text),
            ("dexKey", Kind::Text),
            ("asset0Id", Kind::Text),
            ("asset1Id", Kind::Text),
            ("createdAtBlockNumber", Kind::Integer),
            ("createdAtBlockTimestamp", Kind::Integer),
        ];
        assert_fields(&pair, &needed, &[]);
        assert_eq!((&pair["id"], &pair["dexKey"]), (&json!(pool), &json!("0:0")));
        assert!(pair["createdAtBlockNumber"].as_u64() <= of_pool[0]["block"]["blockNumber"].as_u64());
        let page = dev.post("get-pool-swap-history", json!({ "poolId": pool, "limit": 500 }));
        let mut swaps: Vec<&Value> = list(&page["swaps"]).iter().map(|swap| &swap["transactionId"]).collect();
        swaps.reverse();
        let answered: Vec<&Value> =
            of_pool.iter().filter(|event| event["eventType"] == "swap").map(|event| &event["txnId"]).collect();
        assert_eq!(answered, swaps, "{pool}");
        let reserves = dev.post("get-reserves", json!({ "pool": pool }));
        let last = of_pool.iter().rev().find(|event| !event["reserves"].is_null()).unwrap();
        for (name, held) in [("asset0", "reserve0"), ("asset1", "reserve1")] {
            assert_eq!(units(&last["reserves"][name]).to_string(), text(&reserves[held]), "{pool}");
        }
        // Charts have it by the same id, with the volume of all its swaps.
        let symbol = get(dev, &format!("udf/symbols?symbol={pool}"));
        assert_eq!((&symbol["ticker"], &symbol["exchange"]), (&json!(pool), &json!("0:0")));
        let bars = get(dev, &format!("udf/history?symbol=0:0:{pool}&resolution=1D&to=4000000000"));
        let volume: u128 = list(&bars["v"]).iter().map(|volume| units(&Value::String(volume.to_string()))).sum();
        let swapped = |name: &str| -> u128 { of_pool.iter().filter_map(|event| event.get(name)).map(units).sum() };
        assert_eq!(volume, swapped("asset0In") + swapped("asset0Out"), "{pool}");
    }
}

#[test]
fn the_adapter_gives_every_event_once_in_order_with_the_reserves_after_it() {
    let dev = Dev::start();
    let newest = latest(&dev);
    let all = events(&dev, 0, newest);
    all.iter().for_each(assert_event);
    assert!(all.is_sorted_by(|one, other| place(one) < place(other)), "each place is there once, in order");
    let (unlisted, of_factories): (Vec<&Value>, Vec<&Value>) = all.iter().partition(|event| is_unlisted(event));
    assert_unlisted(&dev, &unlisted);
    let expected: Vec<Value> = history(&dev).iter().filter_map(as_history).collect();
    let answered: Vec<Value> = of_factories
        .iter()
        .map(|event| {
            json!([
                event["block"]["blockNumber"],
                event["txnIndex"],
                event["eventIndex"],
                event["txnId"],
                event["eventType"]
            ])
        })
        .collect();
    assert_eq!(answered, expected);
    assert!(
        answered.iter().filter(|event| event[4] == "swap").count() > 10
            && answered.iter().any(|event| event[4] == "exit")
    );

    // Any cut into ranges gives the same.
    for width in [1, 7, 100] {
        let mut parts = Vec::new();
        for from in (0..=newest).step_by(width) {
            parts.extend(events(&dev, from, (from + width as u64 - 1).min(newest)));
        }
        assert_eq!(parts, all, "ranges of {width} blocks");
    }

    // Reserves follow the events, and end at what the pool holds.
    let mut held: BTreeMap<&str, [i128; 2]> = BTreeMap::new();
    let mut assets = BTreeSet::new();
    for event in &of_factories {
        let known = held.entry(text(&event["pairId"])).or_default();
        for (known, change) in known.iter_mut().zip(change(event)) {
            *known += change;
        }
        let answered = ["asset0", "asset1"].map(|name| i128::try_from(units(&event["reserves"][name])).unwrap());
        assert_eq!(answered, *known, "{event}");
    }
    for (pool, held) in &held {
        let reserves = dev.post("get-reserves", json!({ "pool": pool }));
        for (name, held) in ["reserve0", "reserve1"].into_iter().zip(held) {
            assert_eq!(reserves[name], held.to_string(), "{pool}");
        }
        let pair = get(&dev, &format!("dexscreener/pair?id={pool}"))["pair"].clone();
        let needed = [
            ("id", Kind::Text),
            ("dexKey", Kind::Text),
            ("asset0Id", Kind::Text),
            ("asset1Id", Kind::Text),
            ("createdAtBlockNumber", Kind::Integer),
            ("createdAtBlockTimestamp", Kind::Integer),
            ("createdAtTxnId", Kind::Text),
            ("feeBps", Kind::Integer),
        ];
        assert_fields(&pair, &needed, &[("creator", Kind::Text)]);
        let first = of_factories.iter().find(|event| event["pairId"] == *pool).unwrap();
        assert_eq!(
            (&pair["id"], &pair["createdAtBlockNumber"], &pair["createdAtTxnId"], &pair["createdAtBlockTimestamp"]),
            (&json!(pool), &first["block"]["blockNumber"], &first["txnId"], &first["block"]["blockTimestamp"])
        );
        assets.extend(["asset0Id", "asset1Id"].map(|name| text(&pair[name]).to_owned()));
    }
    for id in &assets {
        let asset = get(&dev, &format!("dexscreener/asset?id={id}"))["asset"].clone();
        let needed = [("id", Kind::Text), ("name", Kind::Text), ("symbol", Kind::Text)];
        assert_fields(&asset, &needed, &[("totalSupply", Kind::Decimal)]);
        assert_eq!(asset["id"], *id);
    }
    assert!(is_decimal(text(&get(&dev, "dexscreener/asset?id=2:0")["asset"]["totalSupply"])));

    for (path, status) in [
        (format!("dexscreener/events?fromBlock=0&toBlock={}", newest + 1), 400),
        ("dexscreener/events?fromBlock=5&toBlock=4".to_owned(), 400),
        ("dexscreener/events?fromBlock=5".to_owned(), 400),
        ("dexscreener/events?fromBlock=0&toBlock=99999999999999999999".to_owned(), 400),
        ("dexscreener/asset?id=9:9".to_owned(), 404),
        ("dexscreener/pair?id=2:0".to_owned(), 404),
        ("dexscreener/pair?id=x".to_owned(), 400),
    ] {
        let (refused, body) = refused(&dev, &path);
        assert_eq!(refused, status, "{path}: {body}");
        assert!(body["error"].is_string() && body["code"].is_string(), "{path}: {body}");
    }

    // A new block: it is named as soon as its events are there, and they are.
    dev.mine(1);
    let next = latest(&dev);
    assert!(next > newest);
    let mut longer = all.clone();
    longer.extend(events(&dev, newest + 1, next));
    assert_eq!(events(&dev, 0, next), longer);
}
