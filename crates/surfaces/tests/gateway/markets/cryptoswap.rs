//! The pool of bitcoin and dollars, which no factory lists.

use std::collections::BTreeSet;

use paraffin_alkanes::Transfer;
use paraffin_devnet::market::{BTC_USD_POOL, FACTORY, USD_TOKEN, WRAPPED_BITCOIN};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::histories::{assert_history, is};
use super::truth::Deed;
use super::{MarketFixture, assert_contains, list, object, truth};

/// Trades of the pool of bitcoin and dollars, newest first: what its delegated calls took of one coin and gave of the other.
fn dollar_trades(fixture: &MarketFixture) -> Vec<Value> {
    let coins = [WRAPPED_BITCOIN, USD_TOKEN];
    let mut trades = Vec::new();
    for (height, block) in (0..).zip(&fixture.instance.chain.blocks) {
        for message in fixture.truth.state.block_traces(height).unwrap().into_iter().filter(|message| message.stands) {
            let transaction = &block.txdata[message.transaction_index as usize];
            let script = &transaction.output[0].script_pubkey;
            let address = bitcoin::Address::from_script(script, bitcoin::Network::Regtest).unwrap().to_string();
            for [came, went] in truth::delegated(&message.trace, BTC_USD_POOL) {
                let held = |transfers: &[Transfer], id: AlkaneId| -> u128 {
                    transfers.iter().filter(|transfer| transfer.id == id).map(|transfer| transfer.value).sum()
                };
                let moved = coins.map(|coin| held(&came, coin).cast_signed() - held(&went, coin).cast_signed());
                let sold = match moved {
                    [first, second] if first > 0 && second < 0 => 0,
                    [first, second] if first < 0 && second > 0 => 1,
                    _ => continue,
                };
                trades.push(json!({
                    "transactionId": message.outpoint.txid.to_string(),
                    "blockHeight": height,
                    "transactionIndex": message.transaction_index,
                    "vout": message.outpoint.vout,
                    "timestamp": truth::time(block.header.time),
                    "soldTokenBlockId": coins[sold].block.to_string(),
                    "soldTokenTxId": coins[sold].tx.to_string(),
                    "soldAmount": moved[sold].unsigned_abs().to_string(),
                    "boughtTokenTxId": coins[1 - sold].tx.to_string(),
                    "boughtAmount": moved[1 - sold].unsigned_abs().to_string(),
                    "poolBlockId": "4",
                    "pool_tx_id": "1778",
                    "sellerAddress": address,
                    "seller_address": address,
                    "successful": true,
                }));
            }
        }
    }
    trades.reverse();
    trades
}

/// row RP03, RH01, RG06
#[tokio::test]
async fn a_pool_without_a_factory_is_found_where_it_is_named_and_only_there() {
    let fixture = MarketFixture::open().await;
    let name = BTC_USD_POOL.to_string();
    let trades = dollar_trades(&fixture);
    assert!(trades.len() > 5, "{} trades", trades.len());
    let swaps = fixture.data("get-pool-swap-history", json!({ "poolId": name, "count": 500 })).await;
    assert_eq!((&swaps["total"], list(&swaps, "swaps").len()), (&json!(trades.len()), trades.len()));
    for (reported, expected) in list(&swaps, "swaps").iter().zip(&trades) {
        assert_contains(reported, expected);
    }
    for rows in list(&swaps, "swaps").chunk_by(|one, other| one["transactionId"] == other["transactionId"]) {
        let indices: Vec<u64> = rows.iter().rev().map(|row| row["eventIndex"].as_u64().unwrap()).collect();
        assert_eq!(indices, (0..rows.len() as u64).collect::<Vec<_>>());
    }
    let ids: BTreeSet<&str> = list(&swaps, "swaps").iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), trades.len(), "every row has an id of its own");
    // A page that ends within a transaction still counts its trades from the first.
    for offset in 0..trades.len() {
        let one = fixture.data("get-pool-swap-history", json!({ "poolId": name, "limit": 1, "offset": offset })).await;
        assert_eq!(list(&one, "swaps")[0], list(&swaps, "swaps")[offset]);
    }
    let second = fixture.data("get-pool-swap-history", json!({ "poolId": name, "limit": 3, "page": 2 })).await;
    assert_eq!(list(&second, "swaps"), &list(&swaps, "swaps")[3..6]);
    for (body, total) in [
        (json!({ "poolId": name, "page": 4_000_000 }), trades.len()),
        (json!({ "poolId": name, "successful": false }), 0),
    ] {
        let none = fixture.data("get-pool-swap-history", body.clone()).await;
        assert_eq!((&none["swaps"], &none["total"]), (&json!([]), &json!(total)), "{body}");
    }

    let held = [USD_TOKEN, WRAPPED_BITCOIN].map(|coin| fixture.truth.balance(coin, BTC_USD_POOL).to_string());
    let details = fixture.data("get-pool-details", json!({ "factoryId": object(FACTORY), "poolId": name })).await;
    let expected = json!({
        "type": "cryptoswap",
        "id": name,
        "poolId": object(BTC_USD_POOL),
        "factoryId": null,
        "token0": object(USD_TOKEN),
        "token1": object(WRAPPED_BITCOIN),
        "token0Amount": held[0],
        "reserve1": held[1],
        "token1_amount": held[1],
        "token1TvlInUsd": null,
        "tradesAllTime": trades.len(),
    });
    assert_contains(&details, &expected);
    assert_eq!(details["token1TvlInSats"].to_string(), held[1]);
    assert!(details["tokenSupply"].as_str().unwrap().parse::<u128>().unwrap() > 0);
    assert_eq!(fixture.instance.get(&format!("/v4/api/pools/{name}")).await.json()["data"], details);
    let reserves = fixture.post("get-reserves", &json!({ "pool": name })).await.1;
    assert_eq!((&reserves["reserve0"], &reserves["reserve1"]), (&json!(held[0]), &json!(held[1])));
    // Lists of the factory do not hold it.
    let listed = fixture.data("get-pools", json!({})).await;
    assert!(!list(&listed, "pools").iter().any(|pool| pool["id"] == json!(name)));
    let creation = json!({ "factoryId": object(FACTORY), "poolId": name });
    assert_eq!(fixture.refusal("get-pool-creation-history", creation).await, 404);
}

/// row RH01, RH02, RH03, RH11, RH12, RH14, RH15
#[tokio::test]
async fn histories_that_name_it_and_those_of_tokens_and_addresses_hold_it() {
    let fixture = MarketFixture::open().await;
    let pool = object(BTC_USD_POOL);
    let on_pool = |deed: &Deed| deed.is_on(BTC_USD_POOL);
    for kind in ["swap", "mint", "burn"] {
        let found = fixture.truth.dollars.iter().filter(|deed| deed.kind() == kind).count();
        assert!(found > 0, "no {kind}");
        let (route, name) = (format!("get-pool-{kind}-history"), format!("{kind}s"));
        let body = json!({ "poolId": pool });
        assert_history(&fixture, &route, body, &name, |deed| is(kind)(deed) && on_pool(deed)).await;
    }
    for token in [USD_TOKEN, WRAPPED_BITCOIN] {
        let body = json!({ "tokenId": object(token) });
        assert_history(&fixture, "get-token-swap-history", body, "swaps", |deed| deed.trades(token)).await;
    }
    let mut owners: Vec<&str> = fixture.truth.dollars.iter().map(|deed| &*deed.address).collect();
    owners.sort_unstable();
    owners.dedup();
    for owner in owners {
        let own = |deed: &Deed| deed.address == owner;
        let body = json!({ "address": owner, "poolId": pool });
        let route = "get-address-swap-history-for-pool";
        assert_history(&fixture, route, body, "swaps", |deed| is("swap")(deed) && on_pool(deed) && own(deed)).await;
        for token in [USD_TOKEN, WRAPPED_BITCOIN] {
            let body = json!({ "address": owner, "tokenId": object(token) });
            let which = |deed: &Deed| deed.trades(token) && own(deed);
            assert_history(&fixture, "get-address-swap-history-for-token", body, "swaps", which).await;
        }
        for kind in ["mint", "burn"] {
            let (route, name) = (format!("get-address-pool-{kind}-history"), format!("{kind}s"));
            let body = json!({ "address": owner });
            assert_history(&fixture, &route, body, &name, |deed| is(kind)(deed) && own(deed)).await;
        }
    }
    let rows = fixture.truth.rows_everywhere(|deed| deed.trades(WRAPPED_BITCOIN));
    let switches = rows.windows(2).filter(|pair| (pair[0]["poolTxId"] == "1778") != (pair[1]["poolTxId"] == "1778"));
    assert!(switches.count() > 10, "trades of both kinds of pools are interleaved");

    // Requests that name the pool return everything about it; those that name none return nothing about it.
    let expected = fixture.truth.rows_everywhere(on_pool);
    let all = fixture.data("get-pool-history", json!({ "poolId": pool, "limit": 500 })).await;
    assert_eq!(all["total"], json!(expected.len()));
    for (reported, expected) in list(&all, "transactions").iter().zip(&expected) {
        assert_contains(reported, expected);
    }
    let got = fixture.instance.get(&format!("/v4/api/pools/{BTC_USD_POOL}/history")).await.json();
    assert_contains(&list(&got["data"], "transactions")[0], &expected[0]);
    for route in ["get-all-amm-tx-history", "get-pool-history", "get-pool-swap-history", "get-pool-mint-history"] {
        let data = fixture.data(route, json!({ "limit": 500 })).await;
        assert!(!data.to_string().contains("\"1778\""), "{route}");
    }
}

#[tokio::test]
async fn trades_and_candles_without_envelope_include_the_cryptoswap_pool() {
    let fixture = MarketFixture::open().await;
    let name = BTC_USD_POOL.to_string();
    let expected = fixture.truth.rows_everywhere(|deed| is("swap")(deed) && deed.is_on(BTC_USD_POOL));
    let (status, reported) = fixture.post("get-trades", &json!({ "pool": name, "limit": 1_000 })).await;
    assert_eq!((status, list(&reported, "trades").len()), (200, expected.len()));
    let mut volumes = [0u128; 2];
    for (reported, expected) in list(&reported, "trades").iter().zip(&expected) {
        let amount = |name: &str| reported[name].as_str().unwrap().parse::<u128>().unwrap();
        let (sold, bought) = (&expected["soldAmount"], &expected["boughtAmount"]);
        let is_first = expected["soldTokenBlockId"] == USD_TOKEN.block.to_string();
        let names = if is_first { ["amount0_in", "amount1_out"] } else { ["amount1_in", "amount0_out"] };
        assert_eq!((&reported[names[0]], &reported[names[1]]), (sold, bought));
        assert_eq!(reported["txid"], expected["transactionId"]);
        volumes[0] += amount("amount0_in") + amount("amount0_out");
        volumes[1] += amount("amount1_in") + amount("amount1_out");
        let height = u32::try_from(reported["block_height"].as_u64().unwrap()).unwrap();
        let then = paraffin_alkanes::ChainState::at(fixture.truth.state.snapshot(), height);
        for (index, token) in [USD_TOKEN, WRAPPED_BITCOIN].into_iter().enumerate() {
            let held = then.balance(token, BTC_USD_POOL).unwrap();
            assert_eq!(amount(&format!("reserve{index}_after")), held);
        }
    }
    for interval in ["10m", "1h", "4h", "1d", "1w", "1M"] {
        let body = json!({ "pool": name, "interval": interval, "limit": 2_000 });
        let (status, reported) = fixture.post("get-candles", &body).await;
        assert_eq!(status, 200, "{reported}");
        for (index, volume) in volumes.into_iter().enumerate() {
            let member = format!("volume{index}");
            let sum: u128 = list(&reported, "candles")
                .iter()
                .map(|row| row[&member].as_str().unwrap().parse::<u128>().unwrap())
                .sum();
            assert_eq!(sum, volume, "{interval} {member}");
        }
        let trades: u64 = list(&reported, "candles").iter().map(|row| row["trade_count"].as_u64().unwrap()).sum();
        assert_eq!(trades, expected.len() as u64);
    }
}
