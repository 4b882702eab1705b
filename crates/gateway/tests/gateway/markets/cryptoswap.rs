//! The pool of bitcoin and dollars, which no factory lists.

use std::collections::BTreeSet;

use paraffin_alkanes::Transfer;
use paraffin_devnet::market::{BTC_USD_POOL, FACTORY, USD_TOKEN, WRAPPED_BITCOIN};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::{Bazaar, assert_tells, list, object, truth};

/// Trades of the pool of bitcoin and dollars, newest first: what its delegated calls took of one coin and gave of the other.
fn dollar_trades(bazaar: &Bazaar) -> Vec<Value> {
    let coins = [WRAPPED_BITCOIN, USD_TOKEN];
    let mut trades = Vec::new();
    for (height, block) in (0..).zip(&bazaar.instance.chain.blocks) {
        for message in bazaar.truth.state.block_traces(height).unwrap().into_iter().filter(|message| message.stands) {
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
    let bazaar = Bazaar::open().await;
    let name = BTC_USD_POOL.to_string();
    let trades = dollar_trades(&bazaar);
    assert!(trades.len() > 5, "{} trades", trades.len());
    let swaps = bazaar.data("get-pool-swap-history", json!({ "poolId": name, "count": 500 })).await;
    assert_eq!((&swaps["total"], list(&swaps, "swaps").len()), (&json!(trades.len()), trades.len()));
    for (told, expected) in list(&swaps, "swaps").iter().zip(&trades) {
        assert_tells(told, expected);
    }
    for rows in list(&swaps, "swaps").chunk_by(|one, other| one["transactionId"] == other["transactionId"]) {
        let places: Vec<u64> = rows.iter().rev().map(|row| row["eventIndex"].as_u64().unwrap()).collect();
        assert_eq!(places, (0..rows.len() as u64).collect::<Vec<_>>());
    }
    let ids: BTreeSet<&str> = list(&swaps, "swaps").iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), trades.len(), "every row has an id of its own");
    // A page that ends within a transaction still counts its trades from the first.
    for offset in 0..trades.len() {
        let one = bazaar.data("get-pool-swap-history", json!({ "poolId": name, "limit": 1, "offset": offset })).await;
        assert_eq!(list(&one, "swaps")[0], list(&swaps, "swaps")[offset]);
    }
    let second = bazaar.data("get-pool-swap-history", json!({ "poolId": name, "limit": 3, "page": 2 })).await;
    assert_eq!(list(&second, "swaps"), &list(&swaps, "swaps")[3..6]);
    for (body, total) in [
        (json!({ "poolId": name, "page": 4_000_000 }), trades.len()),
        (json!({ "poolId": name, "successful": false }), 0),
    ] {
        let none = bazaar.data("get-pool-swap-history", body.clone()).await;
        assert_eq!((&none["swaps"], &none["total"]), (&json!([]), &json!(total)), "{body}");
    }

    let held = [USD_TOKEN, WRAPPED_BITCOIN].map(|coin| bazaar.truth.balance(coin, BTC_USD_POOL).to_string());
    let details = bazaar.data("get-pool-details", json!({ "factoryId": object(FACTORY), "poolId": name })).await;
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
    assert_tells(&details, &expected);
    assert_eq!(details["token1TvlInSats"].to_string(), held[1]);
    assert!(details["tokenSupply"].as_str().unwrap().parse::<u128>().unwrap() > 0);
    assert_eq!(bazaar.instance.get(&format!("/v4/api/pools/{name}")).await.json()["data"], details);
    let reserves = bazaar.post("get-reserves", &json!({ "pool": name })).await.1;
    assert_eq!((&reserves["reserve0"], &reserves["reserve1"]), (&json!(held[0]), &json!(held[1])));
    // Lists of the factory do not hold it, and what is not kept of it is not told as empty.
    let listed = bazaar.data("get-pools", json!({})).await;
    assert!(!list(&listed, "pools").iter().any(|pool| pool["id"] == json!(name)));
    for route in ["get-pool-mint-history", "get-pool-burn-history", "get-pool-history"] {
        assert_eq!(bazaar.refusal(route, json!({ "poolId": name })).await, 404, "{route}");
    }
}
