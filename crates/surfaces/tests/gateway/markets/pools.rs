//! The routes about pools, pairs and positions, and the GET routes.

use std::collections::BTreeSet;
use std::sync::Arc;

use paraffin_alkanes::Transfer;
use paraffin_devnet::market::{BTC_USD_POOL, DIESEL, FACTORY, WRAPPED_BITCOIN};
use paraffin_prices::{BitcoinPrices, PricePoint, PriceReport, UsdPrice};
use paraffin_primitives::{AlkaneId, format_outpoint};
use serde_json::{Value, json};

use super::truth::{Doing, Pool};
use super::{HEIGHT, MarketFixture, SEED, assert_contains, list, object, post};
use crate::chain::script_of;
use crate::instance::{Instance, Setup};
use crate::market_chain;

/// Seconds of an hour.
const HOUR: u32 = 3_600;

impl MarketFixture {
    fn reserves(&self, pool: Pool) -> [u128; 2] {
        pool.tokens.map(|token| self.truth.balance(token, pool.id))
    }

    /// Index of wrapped bitcoin among the alkanes of a pool: every pool of the market has it.
    fn bitcoin_side(pool: Pool) -> usize {
        pool.tokens.iter().position(|token| *token == WRAPPED_BITCOIN).expect("a pool with wrapped bitcoin")
    }

    /// What a pool holds in satoshis: wrapped bitcoin as it is; the other side is worth the same, less what is rounded away.
    fn worth(&self, pool: Pool) -> u128 {
        self.reserves(pool)[Self::bitcoin_side(pool)]
    }

    /// Base units traded since a time.
    fn traded(&self, pool: Pool, since: u32) -> [u128; 2] {
        let mut sums = [0; 2];
        for deed in self.truth.deeds.iter().filter(|deed| deed.is_on(pool.id) && deed.time >= since) {
            if let Doing::Swap { sold, bought } = deed.doing {
                for Transfer { id, value } in [sold, bought] {
                    sums[usize::from(id != pool.tokens[0])] += value;
                }
            }
        }
        sums
    }

    fn record(&self, pool: Pool) -> Value {
        let [first, second] = self.reserves(pool);
        let creator = self.truth.deeds.iter().find(|deed| deed.is_on(pool.id) && deed.kind() == "creation").unwrap();
        json!({
            "id": pool.id.to_string(),
            "poolId": object(pool.id),
            "factoryId": object(FACTORY),
            "token0": object(pool.tokens[0]),
            "token1": object(pool.tokens[1]),
            "factoryBlockId": "4",
            "factoryTxId": "65522",
            "poolBlockId": pool.id.block.to_string(),
            "poolTxId": pool.id.tx.to_string(),
            "token0BlockId": pool.tokens[0].block.to_string(),
            "token1TxId": pool.tokens[1].tx.to_string(),
            "poolName": self.truth.text(pool.id, "/name"),
            "token0Amount": first.to_string(),
            "token1Amount": second.to_string(),
            "reserve0": first.to_string(),
            "reserve1": second.to_string(),
            "tokenSupply": self.truth.slot(pool.id, "/totalsupply").to_string(),
            "totalSupply": self.truth.slot(pool.id, "/totalsupply").to_string(),
            "creatorAddress": creator.address,
            "creationBlockHeight": pool.height,
            // What one shipped client decodes, every member of it.
            "factory_block_id": "4",
            "factory_tx_id": "65522",
            "pool_block_id": pool.id.block.to_string(),
            "pool_tx_id": pool.id.tx.to_string(),
            "token0_block_id": pool.tokens[0].block.to_string(),
            "token0_tx_id": pool.tokens[0].tx.to_string(),
            "token1_block_id": pool.tokens[1].block.to_string(),
            "token1_tx_id": pool.tokens[1].tx.to_string(),
            "pool_name": self.truth.text(pool.id, "/name"),
            "token0_amount": first.to_string(),
            "token1_amount": second.to_string(),
            "token_supply": self.truth.slot(pool.id, "/totalsupply").to_string(),
            "creator_address": creator.address,
            "creation_block_height": pool.height,
        })
    }

    #[track_caller]
    fn assert_details(&self, reported: &Value, pool: Pool) {
        assert_contains(reported, &self.record(pool));
        let bitcoin = Self::bitcoin_side(pool);
        let worth = self.worth(pool);
        let number = |name: &str| reported[name].as_u64().unwrap_or_else(|| panic!("{name} of {reported}"));
        let near = |name: &str, expected: u128, slack: u128| {
            let value = u128::from(number(name));
            assert!(value <= expected && value + slack >= expected, "{name} is {value}, not {expected}");
        };
        assert_eq!(u128::from(number(&format!("token{bitcoin}TvlInSats"))), worth);
        near(&format!("token{}TvlInSats", 1 - bitcoin), worth, 1);
        near("poolTvlInSats", 2 * worth, 1);
        assert_eq!(reported["pool_tvl_in_sats"], reported["poolTvlInSats"]);
        // Windows are whole hours and end with that of the newest trade.
        let swaps =
            self.truth.deeds.iter().filter(|deed| deed.is_on(pool.id) && deed.kind() == "swap" && deed.successful);
        let newest = swaps.clone().map(|deed| deed.time).max().unwrap();
        let hour = newest - newest % HOUR;
        for (window, hours) in [("1d", 24), ("7d", 168), ("30d", 720), ("AllTime", hour / HOUR + 1)] {
            let since = hour - (hours - 1) * HOUR;
            let [first, second] = self.traded(pool, since);
            assert_eq!(reported[format!("token0Volume{window}")], json!(first.to_string()), "{window}");
            assert_eq!(reported[format!("token1Volume{window}")], json!(second.to_string()), "{window}");
            let trades = swaps.clone().filter(|deed| deed.time >= since).count();
            assert_eq!(reported[format!("trades{window}")], json!(trades), "{window}");
            // Every trade counts once, by the side that is worth less at the prices of now.
            let amounts = [first, second];
            let other = amounts[1 - bitcoin] * worth / self.reserves(pool)[1 - bitcoin];
            near(&format!("poolVolume{window}InSats"), amounts[bitcoin].min(other), 1);
        }
        let supply = self.truth.slot(pool.id, "/totalsupply");
        near("lPTokenValueInSats", 2 * worth * 100_000_000 / supply, 1_000);
        let [first, second] = match self.truth.deeds.iter().find(|deed| deed.is_on(pool.id)).unwrap().doing {
            Doing::Create { amounts, .. } => amounts,
            other => panic!("{other:?}"),
        };
        assert_eq!(reported["initialToken0Amount"], json!(first.to_string()));
        assert_eq!(reported["initialToken1Amount"], json!(second.to_string()));
        // 365 / 30 times what 8 of 1,000 of a month's trade make, of what the pool holds.
        #[allow(clippy::cast_precision_loss)]
        let apr = number("poolVolume30dInSats") as f64 * 0.008 * 365.0 / 30.0 * 100.0 / number("poolTvlInSats") as f64;
        assert!(
            (reported["poolApr"].as_f64().unwrap() / apr - 1.0).abs() < 1e-9,
            "{} is not {apr}",
            reported["poolApr"]
        );
        assert_eq!(reported["feePer1000"], json!(10));
        // No source of dollars here.
        for name in ["poolTvlInUsd", "tvl", "volume1d", "poolVolume1dInUsd", "lPTokenValueInUsd", "pool_tvl_in_usd"] {
            assert_eq!(reported[name], Value::Null, "{name}");
        }
    }
}

fn ids(records: &[Value]) -> Vec<&str> {
    records.iter().map(|record| record["id"].as_str().unwrap()).collect()
}

/// row RP01, RP02, RP03, RG02, RG06
#[tokio::test]
async fn pools_hold_what_their_balances_say_and_are_worth_what_they_hold() {
    let fixture = MarketFixture::open().await;
    let pools = fixture.truth.pools.clone();
    let oldest: Vec<String> = pools.iter().map(|pool| pool.id.to_string()).collect();
    for body in [json!({}), json!({ "factoryId": object(FACTORY) }), json!({ "factory_id": "4:65522", "limit": null })]
    {
        let data = fixture.data("get-pools", body).await;
        assert_eq!(ids(list(&data, "pools")), oldest);
        assert_eq!(
            (&data["total"], &data["count"], &data["limit"], &data["offset"]),
            (&json!(3), &json!(3), &Value::Null, &json!(0))
        );
        for (record, pool) in list(&data, "pools").iter().zip(&pools) {
            assert_contains(record, &fixture.record(*pool));
        }
    }
    for (body, expected) in [
        (json!({ "limit": 2 }), vec![0, 1]),
        (json!({ "limit": 2, "page": 2 }), vec![2]),
        (json!({ "limit": 2, "offset": 9 }), vec![]),
        (json!({ "order": "desc" }), vec![2, 1, 0]),
        (json!({ "searchQuery": pools[1].id.to_string() }), vec![1]),
        (json!({ "searchQuery": fixture.truth.text(pools[2].id, "/name").to_uppercase() }), vec![2]),
        (json!({ "searchQuery": "no such pool" }), vec![]),
        (json!({ "address": fixture.instance.payee }), vec![]),
    ] {
        let data = fixture.data("get-pools", body.clone()).await;
        let expected: Vec<&str> = expected.into_iter().map(|index: usize| &*oldest[index]).collect();
        assert_eq!(ids(list(&data, "pools")), expected, "{body}");
    }

    let data = fixture.data("get-all-pools-details", json!({ "factoryId": object(FACTORY) })).await;
    assert_eq!(ids(list(&data, "pools")), oldest);
    for (record, pool) in list(&data, "pools").iter().zip(&pools) {
        fixture.assert_details(record, *pool);
    }
    let sum = |name: &str| list(&data, "pools").iter().map(|pool| pool[name].as_u64().unwrap()).sum::<u64>();
    assert_eq!(data["totalTvlInSats"], json!(sum("poolTvlInSats")));
    assert_eq!(data["totalPoolVolume24hInSats"], json!(sum("poolVolume1dInSats")));
    assert_eq!((&data["totalTvl"], &data["totalPoolVolume24h"]), (&Value::Null, &Value::Null));
    let largest = pools.iter().max_by_key(|pool| fixture.worth(**pool)).unwrap();
    assert_eq!(data["largestPool"]["id"], json!(largest.id.to_string()));
    for (sort, order) in
        [("tvl", "desc"), ("tvl", "asc"), ("volume1d", "desc"), ("volumeAllTime", "asc"), ("apr", "desc")]
    {
        let sorted = fixture.data("get-all-pools-details", json!({ "sortBy": sort, "order": order, "limit": 3 })).await;
        let name = match sort {
            "tvl" => "poolTvlInSats",
            "volume1d" => "poolVolume1dInSats",
            "volumeAllTime" => "poolVolumeAllTimeInSats",
            _ => "poolApr",
        };
        let values: Vec<f64> = list(&sorted, "pools").iter().map(|pool| pool[name].as_f64().unwrap()).collect();
        assert!(
            if order == "asc" { values.is_sorted() } else { values.iter().rev().is_sorted() },
            "{sort}: {values:?}"
        );
        assert_eq!(sorted["totalTvlInSats"], data["totalTvlInSats"]);
    }

    let details =
        fixture.data("get-pool-details", json!({ "factoryId": object(FACTORY), "poolId": object(pools[0].id) })).await;
    fixture.assert_details(&details, pools[0]);
    for (route, body) in [
        ("get-pool-details", json!({ "poolId": pools[0].id.to_string() })),
        ("get-pool-by-id", json!({ "id": pools[0].id.to_string() })),
        ("get-pool-by-id", json!({ "poolId": object(pools[0].id), "id": pools[0].id.to_string() })),
    ] {
        assert_eq!(fixture.data(route, body).await, details);
    }

    // The GET routes return the same.
    let get = async |path: &str| fixture.instance.get(&format!("/v4/api/{path}")).await;
    let all = get("pools").await;
    assert_eq!(all.json()["data"], fixture.data("get-pools", json!({})).await);
    let tag = all.header("etag").unwrap().to_owned();
    let again = fixture.instance.send("GET", "/v4/api/pools", &[("If-None-Match", &tag)], "").await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let id = pools[1].id;
    assert_eq!(
        get(&format!("pools/{id}")).await.json()["data"],
        fixture.data("get-pool-details", json!({ "poolId": id.to_string() })).await
    );
    let swaps = get(&format!("pools/{id}/swaps")).await.json();
    assert_eq!(swaps["data"], fixture.data("get-pool-swap-history", json!({ "poolId": id.to_string() })).await);
    let history = get(&format!("pools/{id}/history")).await.json();
    let expected = fixture.truth.rows(|deed| deed.is_on(id) && deed.successful);
    assert_eq!(history["data"]["total"], json!(expected.len()));
    for (row, expected) in list(&history["data"], "transactions").iter().zip(&expected) {
        assert_contains(row, expected);
    }
    for (path, status) in [("pools/2:0", 404), ("pools/2:0/history", 404), ("pools/9:9/swaps", 404), ("pools/x", 400)] {
        assert_eq!(get(path).await.status, status, "{path}");
    }
}

/// row RP04, RP05, RP07
#[tokio::test]
async fn pairs_and_ways_follow_from_the_pools() {
    let fixture = MarketFixture::open().await;
    let pools = fixture.truth.pools.clone();
    let all = fixture.data("get-all-token-pairs", json!({ "factoryId": object(FACTORY) })).await;
    assert_eq!((&all["total"], list(&all, "pairs").len()), (&json!(3), 3));
    for (pair, pool) in list(&all, "pairs").iter().zip(&pools) {
        let reserves = fixture.reserves(*pool);
        assert_eq!(
            (&pair["poolId"], &pair["poolName"]),
            (&object(pool.id), &json!(fixture.truth.text(pool.id, "/name")))
        );
        for index in 0..2 {
            let token = &pair[format!("token{index}")];
            let details = fixture.data("get-alkane-details", json!({ "id": object(pool.tokens[index]) })).await;
            assert!(details["name"].is_string());
            let expected = json!({
                "alkaneId": object(pool.tokens[index]),
                "name": details["name"],
                "symbol": details["symbol"],
                "decimals": details["decimals"],
                "amount": reserves[index].to_string(),
            });
            assert_contains(token, &expected);
            assert_eq!(pair[format!("reserve{index}")], json!(reserves[index].to_string()));
        }
        let tvl = pair["poolTvlInSats"].as_u64().unwrap();
        assert!((2 * fixture.worth(*pool)).abs_diff(u128::from(tvl)) <= 1);
        assert_eq!((&pair["poolTvlInUsd"], &pair["poolVolume1dInUsd"]), (&Value::Null, &Value::Null));
    }
    let pairs = async |token: AlkaneId| {
        let data = fixture.data("get-token-pairs", json!({ "alkaneId": object(token) })).await;
        let expected: Vec<&Value> = list(&all, "pairs")
            .iter()
            .zip(&pools)
            .filter(|(_, pool)| pool.tokens.contains(&token))
            .map(|(pair, _)| pair)
            .collect();
        assert_eq!(list(&data, "pairs").iter().collect::<Vec<_>>(), expected);
        assert_eq!(data["total"], json!(expected.len()));
        expected.len()
    };
    assert_eq!(pairs(WRAPPED_BITCOIN).await, 3);
    assert_eq!(pairs(DIESEL).await, 1);
    assert_eq!(pairs(AlkaneId { block: 32, tx: 1 }).await, 0);

    // By pages, each pair with its direct way.
    let mut seen = Vec::new();
    for page in 1..=4 {
        let body =
            json!({ "factoryId": object(FACTORY), "tokenId": object(WRAPPED_BITCOIN), "page": page, "limit": 1 });
        let data = fixture.data("get-alkane-swap-pair-details", body).await;
        assert_eq!((&data["total"], &data["limit"]), (&json!(3), &json!(1)));
        for (pair, way) in list(&data, "pairs").iter().zip(list(&data, "paths")) {
            assert_eq!(way["type"], "direct");
            let pool = pools[seen.len()];
            let other = pool.tokens[1 - MarketFixture::bitcoin_side(pool)];
            assert_eq!(way["path"], json!([object(WRAPPED_BITCOIN), object(other)]));
            assert_contains(&way["pools"][0], &fixture.record(pool));
            seen.push(pair.clone());
        }
    }
    assert_eq!(&seen, list(&all, "pairs"));

    // Between alkanes of two pools there is one route, through wrapped bitcoin.
    let others: Vec<AlkaneId> = pools.iter().map(|pool| pool.tokens[1 - MarketFixture::bitcoin_side(*pool)]).collect();
    let ways = async |from: AlkaneId, to: AlkaneId| {
        let body = json!({ "tokenAId": object(from), "tokenBId": object(to) });
        fixture.data("get-alkane-swap-pair-details", body).await
    };
    let multi = ways(others[0], others[2]).await;
    assert_eq!((&multi["pairs"], list(&multi, "paths").len()), (&json!([]), 1));
    let way = &multi["paths"][0];
    assert_eq!(way["type"], "multi");
    assert_eq!(way["path"], json!([object(others[0]), object(WRAPPED_BITCOIN), object(others[2])]));
    assert_eq!(ids(list(way, "pools")), [pools[0].id.to_string(), pools[2].id.to_string()]);
    let direct = ways(others[1], WRAPPED_BITCOIN).await;
    assert_eq!(list(&direct, "pairs").len(), 1);
    assert_eq!((&direct["paths"][0]["type"], list(&direct, "paths").len()), (&json!("direct"), 1));
    let none = ways(others[1], AlkaneId { block: 32, tx: 1 }).await;
    assert_eq!((&none["paths"], &none["total"]), (&json!([]), &json!(0)));
}

/// row RP06, RA06
#[tokio::test]
async fn positions_are_the_liquidity_that_outputs_hold() {
    let fixture = MarketFixture::open().await;
    let pools = fixture.truth.pools.clone();
    let addresses: BTreeSet<String> = fixture.truth.deeds.iter().map(|deed| deed.address.clone()).collect();
    let (mut positions_seen, mut outputs_seen) = (0, 0);
    for address in &addresses {
        let script = script_of(paraffin_primitives::Network::Regtest, address);
        let mut held = vec![0; pools.len()];
        let mut outpoints = Vec::new();
        for output in fixture.truth.state.outputs_of(&script, None, 10_000).unwrap().items {
            let alkanes = fixture.truth.state.sheet(&output.outpoint).unwrap().load().transfers();
            for (held, pool) in held.iter_mut().zip(&pools) {
                *held += alkanes.iter().filter(|alkane| alkane.id == pool.id).map(|alkane| alkane.value).sum::<u128>();
            }
            // Including liquidity of the BTC/USD pool, which no factory lists.
            let is_liquidity = |id| id == BTC_USD_POOL || pools.iter().any(|pool| pool.id == id);
            if alkanes.iter().any(|alkane| is_liquidity(alkane.id)) {
                outpoints.push((format_outpoint(&output.outpoint), alkanes));
            }
        }
        let data = fixture.data("address-positions", json!({ "factoryId": object(FACTORY), "address": address })).await;
        let expected: Vec<(Pool, u128)> = pools.iter().copied().zip(held).filter(|(_, held)| *held > 0).collect();
        assert_eq!(data["total"], json!(expected.len()));
        for (position, (pool, held)) in list(&data, "positions").iter().zip(&expected) {
            let supply = fixture.truth.slot(pool.id, "/totalsupply");
            let [first, second] = fixture.reserves(*pool).map(|reserve| held * reserve / supply);
            let expected = json!({
                "poolId": object(pool.id),
                "address": address,
                "liquidityAmount": held.to_string(),
                "balance": held.to_string(),
                "token0Amount": first.to_string(),
                "token1Amount": second.to_string(),
                "liquidity_amount": held.to_string(),
                "totalValueInUsd": null,
            });
            assert_contains(position, &expected);
            fixture.assert_details(&position["pool"], *pool);
            let bitcoin = MarketFixture::bitcoin_side(*pool);
            assert_eq!(
                position[format!("token{bitcoin}ValueInSats")].to_string(),
                [first, second][bitcoin].to_string()
            );
            #[allow(clippy::cast_precision_loss)]
            let share = *held as f64 / supply as f64;
            assert!((position["share"].as_f64().unwrap() / share - 1.0).abs() < 1e-12);
            positions_seen += 1;
        }
        let utxos = fixture.data("get-amm-utxos", json!({ "address": address })).await;
        assert_eq!(list(&utxos, "utxos").len(), outpoints.len());
        for (utxo, (outpoint, alkanes)) in list(&utxos, "utxos").iter().zip(&outpoints) {
            let reported = format!("{}:{}", utxo["txId"].as_str().unwrap(), utxo["outputIndex"]);
            assert_eq!((&reported, &utxo["address"]), (outpoint, &json!(address)));
            assert_eq!(utxo["alkanes"].as_object().unwrap().len(), alkanes.len());
            for Transfer { id, value } in alkanes {
                assert_eq!(utxo["alkanes"][id.to_string()]["balance"], json!(value.to_string()));
            }
            outputs_seen += 1;
        }
    }
    assert!(positions_seen >= 3 && outputs_seen >= 3, "{positions_seen} positions in {outputs_seen} outputs");
    let inactive = json!({ "address": fixture.instance.payee });
    assert_eq!(fixture.data("address-positions", inactive.clone()).await["positions"], json!([]));
    assert_eq!(fixture.data("get-amm-utxos", inactive).await["utxos"], json!([]));
    assert_eq!(HEIGHT, fixture.instance.chain.tip_height());
}

/// A constant bitcoin price.
struct Still(u64);

impl BitcoinPrices for Still {
    fn current(&self) -> Option<PriceReport> {
        Some(PriceReport { newest: self.at(0)?, source: "test".to_owned(), is_stale: false })
    }

    fn at(&self, time: u64) -> Option<PricePoint> {
        Some(PricePoint { time, price: UsdPrice(u128::from(self.0) * 10_u128.pow(16)) })
    }

    fn range(&self, _: u64, _: u64) -> Vec<PricePoint> {
        Vec::new()
    }

    fn volume_day(&self) -> Option<f64> {
        None
    }
}

/// row RP02, RP06
#[tokio::test]
async fn dollars_are_satoshis_at_the_price_of_bitcoin() {
    const DOLLARS: u32 = 50_000;
    let prices = Some(Arc::new(Still(DOLLARS.into())) as Arc<dyn BitcoinPrices>);
    let setup = Setup { market: Some(market_chain::market_blocks(SEED, 130)), prices, ..Setup::default() };
    let instance = Instance::with(setup).await;
    let data = async |route: &str, body: Value| post(&instance, route, &body).await.1["data"].clone();
    let is_worth = |record: &Value, satoshis: &str, dollars: &str| {
        let expected = record[satoshis].as_f64().unwrap() * f64::from(DOLLARS) / 1e8;
        let reported = record[dollars].as_f64().unwrap_or_else(|| panic!("{dollars} of {record}"));
        assert!(expected > 0.0 && (reported / expected - 1.0).abs() < 1e-6, "{dollars}: {reported}, not {expected}");
    };
    let details = data("get-all-pools-details", json!({})).await;
    is_worth(&details, "totalTvlInSats", "totalTvl");
    for pool in list(&details, "pools") {
        for name in ["poolTvl", "token0Tvl", "token1Tvl"] {
            is_worth(pool, &format!("{name}InSats"), &format!("{name}InUsd"));
        }
        is_worth(pool, "poolTvlInSats", "tvl");
        assert_eq!(pool["pool_tvl_in_usd"], pool["poolTvlInUsd"]);
    }
    let pairs = data("get-all-token-pairs", json!({})).await;
    is_worth(&pairs["pairs"][0], "poolTvlInSats", "poolTvlInUsd");
    let creator = details["pools"][0]["creatorAddress"].clone();
    let positions = data("address-positions", json!({ "address": creator })).await;
    is_worth(&positions["positions"][0], "totalValueInSats", "totalValueInUsd");
    let token = data("get-alkane-details", json!({ "id": "2:0" })).await;
    is_worth(&token, "frbtcPoolPriceInSats", "priceUsd");
    assert_eq!((&token["floorPrice"], &token["busdPoolPriceInUsd"]), (&token["priceUsd"], &token["priceUsd"]));
    // Dollar values change between blocks, so answers that contain them must not be cached.
    for (path, is_cacheable) in [("pools", true), ("pools/x", false), ("alkanes/2:0", false), ("alkanes", false)] {
        let path = path.replace('x', details["pools"][0]["id"].as_str().unwrap());
        let answer = instance.get(&format!("/v4/api/{path}")).await;
        assert_eq!((answer.status, answer.header("etag").is_some()), (200, is_cacheable), "{path}");
    }
}
