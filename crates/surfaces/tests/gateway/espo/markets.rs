//! Pools, trades and other events of pools, compared with balances and traces.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use paraffin_alkanes::StateReader as _;
use paraffin_devnet::market::{BTC_USD_POOL, FACTORY, USD_TOKEN, WRAPPED_BITCOIN};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::scene::{Scene, number, text};
use crate::traces::frames;

/// A successful swap as read from traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) txid: String,
    pub(super) vout: u32,
    pub(super) time: u32,
    pub(super) height: u32,
    pub(super) sold: AlkaneId,
    pub(super) amount_in: u128,
    pub(super) amount_out: u128,
}

/// Pools by id with their alkanes, from the contracts' storage.
pub(super) fn pools(scene: &Scene, height: u32) -> Vec<(AlkaneId, [AlkaneId; 2])> {
    let contracts = scene.contracts(height);
    let slot =
        |contract, key: &[u8]| contracts.get(&paraffin_alkanes::StateKey::Storage(contract, key.to_vec())).unwrap();
    let integer = |bytes: &[u8]| u128::from_le_bytes(bytes.try_into().unwrap());
    let id = |bytes: Vec<u8>| AlkaneId { block: integer(&bytes[..16]), tx: integer(&bytes[16..]) };
    let count = slot(FACTORY, b"/all_pools_length").map_or(0, |bytes| integer(&bytes));
    (0..count)
        .map(|number| {
            let pool = id(slot(FACTORY, &[b"/all_pools/".as_slice(), &number.to_le_bytes()].concat()).unwrap());
            (pool, [b"/alkane/0", b"/alkane/1"].map(|key| id(slot(pool, key).unwrap())))
        })
        .collect()
}

/// The same at the newest height, and the pool of bitcoin and dollars, which no factory lists.
pub(super) fn every_pool(scene: &Scene) -> Vec<(AlkaneId, [AlkaneId; 2])> {
    let mut pools = pools(scene, scene.height());
    pools.push((BTC_USD_POOL, [USD_TOKEN, WRAPPED_BITCOIN]));
    pools
}

/// Trades of a pool in the order of the chain.
pub(super) fn trades(scene: &Scene, pool: AlkaneId, tokens: [AlkaneId; 2]) -> Vec<Seen> {
    let contracts = scene.contracts(scene.height());
    let swap = if pool == BTC_USD_POOL { 5 } else { 3 };
    let mut seen = Vec::new();
    for height in 0..=scene.height() {
        for message in contracts.block_traces(height).unwrap().into_iter().filter(|message| message.stands) {
            for call in frames(&message.trace).0 {
                // The proxy calls its template in its own name; that is not a second trade.
                let is_own = call.myself == pool && call.kind == paraffin_alkanes::CallKind::Call;
                let Some(answer) = call.answer.filter(|_| is_own && call.inputs.first() == Some(&swap)) else {
                    continue;
                };
                let brought =
                    |id| -> u128 { call.incoming.iter().filter(|held| held.id == id).map(|held| held.value).sum() };
                let index = usize::from(brought(tokens[0]) == 0);
                let out = tokens[1 - index];
                let paid = answer.iter().filter(|paid| paid.id == out);
                seen.push(Seen {
                    txid: message.outpoint.txid.to_string(),
                    vout: message.outpoint.vout,
                    time: scene.blocks()[height as usize].header.time,
                    height,
                    sold: tokens[index],
                    amount_in: brought(tokens[index]),
                    amount_out: paid.map(|paid| paid.value).sum(),
                });
            }
        }
    }
    seen
}

/// `numerator / denominator` with 18 places, half to even, worked out digit by digit.
pub(super) fn decimal(numerator: u128, denominator: u128) -> String {
    let (mut digits, mut rest) = ((numerator / denominator).to_string(), numerator % denominator);
    let whole = digits.len();
    for _ in 0..18 {
        rest *= 10;
        digits.push(char::from(b'0' + u8::try_from(rest / denominator).unwrap()));
        rest %= denominator;
    }
    let mut number: u128 = digits.parse().unwrap();
    match (rest * 2).cmp(&denominator) {
        Ordering::Greater => number += 1,
        Ordering::Equal => number += number % 2,
        Ordering::Less => {}
    }
    let digits = format!("{number:0>width$}", width = whole + 18);
    let (whole, fraction) = digits.split_at(digits.len() - 18);
    format!("{whole}.{fraction}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn row(seen: &Seen, tokens: [AlkaneId; 2], side: &str) -> [String; 8] {
    let own = tokens[usize::from(side == "quote")];
    let other = tokens[usize::from(side == "base")];
    let (of_own, of_other) =
        if seen.sold == own { (seen.amount_in, seen.amount_out) } else { (seen.amount_out, seen.amount_in) };
    assert!(seen.sold == own || seen.sold == other);
    [
        seen.txid.clone(),
        seen.vout.to_string(),
        seen.time.to_string(),
        seen.height.to_string(),
        if seen.sold == own { "sell" } else { "buy" }.to_owned(),
        seen.amount_in.to_string(),
        seen.amount_out.to_string(),
        decimal(of_other, of_own),
    ]
}

fn reported(trade: &Value) -> [String; 8] {
    let text = |name: &str| trade[name].as_str().unwrap().to_owned();
    [
        text("txid"),
        trade["vout"].as_u64().unwrap().to_string(),
        text("timestamp"),
        trade["block_height"].as_u64().unwrap().to_string(),
        text("side"),
        text("amount_in"),
        text("amount_out"),
        text("price"),
    ]
}

async fn listed(scene: &Scene, mut ask: Value, limit: u32) -> (Vec<Value>, Value) {
    let mut rows = Vec::new();
    ask["limit"] = json!(limit);
    for page in 0.. {
        ask["page"] = json!(page);
        let answer = scene.ok("ammdata.get_trades", ask.clone()).await;
        let trades = answer["trades"].as_array().unwrap().clone();
        assert!(trades.len() <= limit as usize);
        rows.extend(trades);
        assert_eq!(answer["has_more"], answer["total"].as_u64().unwrap() > rows.len() as u64);
        if answer["has_more"] == false {
            return (rows, answer);
        }
    }
    unreachable!()
}

/// row AN11
#[tokio::test]
async fn trades_are_the_swaps_that_stood_seen_from_either_side_in_every_order() {
    let scene = Scene::start(5, 150).await;
    let mut most = 0;
    for (pool, tokens) in every_pool(&scene) {
        let seen = trades(&scene, pool, tokens);
        most = most.max(seen.len());
        for side in ["base", "quote"] {
            let newest_first: Vec<_> = seen.iter().rev().map(|seen| row(seen, tokens, side)).collect();
            let (rows, answer) = listed(&scene, json!({ "pool": text(pool), "side": side }), 3).await;
            assert_eq!(rows.iter().map(reported).collect::<Vec<_>>(), newest_first);
            let head = ["pool", "side", "filter_side", "sort", "dir", "total"].map(|name| answer[name].clone());
            let expected = json!([text(pool), side, "all", "timestamp", "desc", seen.len()]);
            assert_eq!(json!(head), expected);
            for trade in &rows {
                let (base, quote) = (trade["base_inflow"].as_str().unwrap(), trade["quote_inflow"].as_str().unwrap());
                let signs = [base, quote].map(|change| change.parse::<i128>().unwrap());
                assert!(signs[0].signum() * signs[1].signum() < 0, "{trade}");
                let own = signs[usize::from(side == "quote")];
                assert_eq!(trade["side"], if own < 0 { "buy" } else { "sell" });
                assert_eq!(trade["xpubkey"].as_str().unwrap().len(), 64);
                assert!(trade["address"].as_str().unwrap().starts_with("bcrt1p"));
            }
            let ask = json!({ "pool": text(pool), "side": side, "dir": "ascending", "sort": "block_height" });
            let (rows, _) = listed(&scene, ask, 4).await;
            assert_eq!(
                rows.iter().map(reported).collect::<Vec<_>>(),
                newest_first.iter().rev().cloned().collect::<Vec<_>>()
            );
            for filter in ["buy", "sell"] {
                let expected: Vec<_> = newest_first.iter().filter(|row| row[4] == filter).cloned().collect();
                let ask = json!({ "pool": text(pool), "side": side, "filter_side": filter });
                let (rows, answer) = listed(&scene, ask, 3).await;
                assert_eq!(rows.iter().map(reported).collect::<Vec<_>>(), expected);
                assert_eq!(answer["total"], expected.len());
            }
            for (sort, index) in [("amount_in", 5), ("amount_out", 6)] {
                for dir in ["asc", "desc"] {
                    let ask = json!({ "pool": text(pool), "side": side, "sort": sort, "dir": dir });
                    let (rows, answer) = listed(&scene, ask, 5).await;
                    assert_eq!((&answer["sort"], &answer["dir"]), (&json!(sort), &json!(dir)));
                    let found: Vec<u128> = rows.iter().map(|trade| reported(trade)[index].parse().unwrap()).collect();
                    let mut expected: Vec<u128> = newest_first.iter().map(|row| row[index].parse().unwrap()).collect();
                    expected.sort_unstable();
                    if dir == "desc" {
                        expected.reverse();
                    }
                    assert_eq!(found, expected);
                }
            }
            let ask = json!({ "pool": text(pool), "side": side, "sort": "price", "dir": "asc" });
            let (rows, _) = listed(&scene, ask, 7).await;
            let prices: Vec<f64> = rows.iter().map(|trade| reported(trade)[7].parse().unwrap()).collect();
            assert!(prices.is_sorted() && prices.len() == seen.len());
            let (rows, _) = listed(&scene, json!({ "pool": text(pool), "sort": "side", "dir": "asc" }), 100).await;
            let sides: Vec<String> = rows.iter().map(|trade| reported(trade)[4].clone()).collect();
            assert!(sides.is_sorted());
        }
        // As of an older block only earlier events.
        let height = scene.height() - 12;
        let ask = json!({ "pool": text(pool), "height": height, "limit": 10_000 });
        let then = scene.ok("ammdata.get_trades", ask).await;
        let expected = seen.iter().rev().filter(|seen| seen.height <= height).map(|seen| row(seen, tokens, "base"));
        assert_eq!(
            then["trades"].as_array().unwrap().iter().map(reported).collect::<Vec<_>>(),
            expected.collect::<Vec<_>>()
        );
    }
    assert!(most > 10, "{most}");
    let pool = text(pools(&scene, scene.height())[0].0);
    assert_eq!(scene.error("ammdata.get_trades", json!({ "pool": pool, "sort": "txid" })).await, -32602);
    assert_eq!(scene.refused("ammdata.get_trades", json!({ "pool": pool, "dir": "up" })).await, "invalid_dir");
    assert_eq!(scene.refused("ammdata.get_trades", json!({ "pool": pool, "side": "both" })).await, "invalid_side");
    let refused = scene.refused("ammdata.get_trades", json!({ "pool": pool, "filter_side": "neutral" })).await;
    assert_eq!(refused, "invalid_filter_side");
}

/// row AN11
#[tokio::test]
async fn the_activity_of_a_pool_adds_up_to_what_it_holds_after_every_block() {
    let scene = Scene::start(5, 150).await;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (pool, tokens) in every_pool(&scene) {
        let answer = scene.ok("ammdata.get_activity", json!({ "pool": text(pool), "limit": 10_000 })).await;
        let rows = answer["activity"].as_array().unwrap();
        let mut sums: BTreeMap<u64, [i128; 2]> = BTreeMap::new();
        for row in rows {
            *kinds.entry(row["kind"].as_str().unwrap().to_owned()).or_default() += 1;
            let sum = sums.entry(row["block_height"].as_u64().unwrap()).or_default();
            for (sum, name) in sum.iter_mut().zip(["base_delta", "quote_delta"]) {
                *sum += row[name].as_str().unwrap().parse::<i128>().unwrap();
            }
            let time = scene.blocks()[row["block_height"].as_u64().unwrap() as usize].header.time;
            assert_eq!(row["timestamp"], time);
            let amount: f64 = row["amount"].to_string().parse().unwrap();
            let own: f64 = row["base_delta"].as_str().unwrap().parse().unwrap();
            assert!((amount * 1e8 - own.abs()).abs() < 1.0);
        }
        for height in 1..=scene.height() {
            let held = |height| {
                let contracts = scene.contracts(height);
                tokens.map(|token| i128::try_from(contracts.balance(token, pool).unwrap()).unwrap())
            };
            let (before, after) = (held(height - 1), held(height));
            let change = [after[0] - before[0], after[1] - before[1]];
            assert_eq!(change, sums.get(&u64::from(height)).copied().unwrap_or_default(), "{pool} {height}");
        }
        // The three choices share the rows among them, whatever side is looked at.
        let count = |kind: &str, filter: &str| {
            let ask = json!({ "pool": text(pool), "activity_type": kind, "filter_side": filter, "limit": 10_000 });
            let scene = &scene;
            async move {
                let answer = scene.ok("ammdata.get_activity", ask).await;
                assert_eq!(answer["total"], answer["activity"].as_array().unwrap().len());
                answer["total"].as_u64().unwrap()
            }
        };
        let (trades, events) = (count("trades", "all").await, count("events", "all").await);
        assert_eq!(trades + events, rows.len() as u64);
        assert!(events > 0);
        assert_eq!(count("events", "buy").await, events);
        assert_eq!(count("trades", "buy").await + count("trades", "sell").await, trades);
        assert_eq!(count("all", "buy").await, count("trades", "buy").await + events);
    }
    for kind in ["pool_create", "trade_buy", "trade_sell", "liquidity_add", "liquidity_remove"] {
        assert!(kinds.contains_key(kind), "{kind}: {kinds:?}");
    }
}

/// row AN12
#[tokio::test]
async fn pools_hold_what_contracts_say_they_hold_now_and_then() {
    let scene = Scene::start(5, 130).await;
    for height in [scene.height(), 115, 105] {
        let expected = pools(&scene, height);
        let contracts = scene.contracts(height);
        let answer = scene.ok("ammdata.get_pools", json!({ "height": height })).await;
        assert_eq!((&answer["total"], &answer["limit"]), (&json!(expected.len()), &json!(100)));
        let reported = answer["pools"].as_object().unwrap();
        assert_eq!(reported.len(), expected.len());
        for (pool, tokens) in &expected {
            let reported = &reported[&text(*pool)];
            for (index, token) in tokens.iter().enumerate() {
                let held = contracts.balance(*token, *pool).unwrap();
                assert_eq!(reported[format!("token{index}")], text(*token));
                assert_eq!(number(&reported[format!("reserve{index}")]), held);
                let other = ["base", "quote"][index];
                assert_eq!(reported[other], reported[format!("token{index}")]);
                assert_eq!(reported[format!("{other}_reserve")], reported[format!("reserve{index}")]);
            }
            let supply = paraffin_alkanes::StateKey::Storage(*pool, b"/totalsupply".to_vec());
            let supply = u128::from_le_bytes(contracts.get(&supply).unwrap().unwrap().try_into().unwrap());
            assert_eq!(number(&reported["total_supply"]), supply);
            assert_eq!(reported["factory"], text(FACTORY));
        }
        let mut paged: Vec<String> = Vec::new();
        for page in 0..4 {
            let ask = json!({ "height": height, "page": page, "limit": 1 });
            let answer = scene.ok("ammdata.get_pools", ask).await;
            paged.extend(answer["pools"].as_object().unwrap().keys().cloned());
            assert_eq!(answer["has_more"], page + 1 < expected.len() as u64);
        }
        assert_eq!(paged, expected.iter().map(|(pool, _)| text(*pool)).collect::<Vec<_>>());
    }
    let factories = scene.ok("ammdata.get_amm_factories", json!({})).await;
    let expected = json!({
        "ok": true, "page": 0, "limit": 100, "total": 1, "has_more": false, "factories": [text(FACTORY)],
    });
    assert_eq!(factories, expected);
    let none = scene.ok("ammdata.get_pools", json!({ "factory": text(WRAPPED_BITCOIN) })).await;
    assert_eq!((&none["total"], &none["pools"]), (&json!(0), &json!({})));
}
