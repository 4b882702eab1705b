//! Every REST route about alkanes, and that they agree with each other.

use serde_json::{Value, json};

use crate::support::dev::Dev;
use crate::support::http;

fn number(value: &Value) -> u128 {
    value.as_str().unwrap_or_else(|| panic!("{value}")).parse().unwrap()
}

fn ids(tokens: &Value) -> Vec<String> {
    let name =
        |token: &Value| format!("{}:{}", token["id"]["block"].as_str().unwrap(), token["id"]["tx"].as_str().unwrap());
    tokens.as_array().unwrap().iter().map(name).collect()
}

/// What two routes say that must say the same. Some of it is in dollars, and the price of a bitcoin may move between the two
/// questions: then the first says something else when it is asked again, and both are.
fn agreed(one: impl Fn() -> Value, other: impl Fn() -> Value) -> Value {
    const QUESTIONS: usize = 5;
    for _ in 0..QUESTIONS {
        let (answer, beside) = (one(), other());
        if answer == beside {
            return answer;
        }
        assert_ne!(one(), answer, "no block came, and yet the other route answers {beside}");
    }
    panic!("the answer changes with every request");
}

fn tokens(dev: &Dev) {
    let listed = dev.post("get-alkanes", json!({"limit": 100}));
    let all = ids(&listed["tokens"]);
    assert_eq!(listed["total"].as_u64().unwrap() as usize, all.len(), "{listed}");
    for id in ["/alkanes/diesel", "/alkanes/frbtc", "/alkanes/factory", "/alkanes/pools/0", "/alkanes/tokens/1"] {
        assert!(all.iter().any(|known| known == dev.text(id)), "{id} is not among {all:?}");
    }
    let mut paged = Vec::new();
    for offset in (0..all.len()).step_by(3) {
        paged.extend(ids(&dev.post("get-alkanes", json!({"limit": 3, "offset": offset}))["tokens"]));
    }
    assert_eq!(paged, all, "pages of three");
    assert_eq!(ids(&dev.get("alkanes")["tokens"]), all);

    let owned = dev.text("/alkanes/tokens/0");
    let details =
        agreed(|| dev.post("get-alkane-details", json!({"alkaneId": owned})), || dev.get(&format!("alkanes/{owned}")));
    assert_eq!((&details["symbol"], &details["decimals"]), (&json!("PUSD"), &json!(8)), "{details}");
    let found = dev.post("global-alkanes-search", json!({"searchQuery": "pusd"}));
    assert_eq!(ids(&found["tokens"]), [owned]);
    let missing =
        http::post(dev.listen(), &format!("{}/get-alkane-details", dev.path()), &json!({"alkaneId": "2:4711"}));
    assert_eq!(missing.status, 404);
    let wrong = http::post(dev.listen(), &format!("{}/get-alkane-details", dev.path()), &json!({"alkaneId": "two"}));
    assert_eq!(wrong.status, 400);
}

/// Holders, count, and what addresses and outputs hold.
fn holdings(dev: &Dev) {
    for token in ["/alkanes/diesel", "/alkanes/frbtc", "/alkanes/tokens/0", "/alkanes/tokens/1", "/alkanes/pools/0"] {
        let token = dev.text(token);
        let listed = dev.post("get-holders", json!({"alkaneId": token, "limit": 1000}));
        let holders = listed["holders"].as_array().unwrap();
        assert!(!holders.is_empty(), "{token}");
        let count = json!(holders.len());
        for route in ["get-holder-count", "get-holders-count"] {
            assert_eq!(dev.post(route, json!({"alkaneId": token}))["count"], count, "{route} {token}");
        }
        assert_eq!(dev.post("get-alkane-holders-count", json!({"alkane": token}))["count"], count);
        assert_eq!(dev.get(&format!("alkanes/{token}/holders/count"))["count"], count);
        let all = dev.post("get-alkane-holders", json!({"alkane": token, "page": 1, "limit": 500}));
        assert_eq!(dev.get(&format!("alkanes/{token}/holders"))["items"], all["items"]);
        assert_eq!(all["items"].as_array().unwrap().len(), holders.len());
        let paged: usize = (1..=holders.len().div_ceil(2))
            .map(|page| dev.post("get-alkane-holders", json!({"alkane": token, "page": page, "limit": 2})))
            .map(|page| page["items"].as_array().unwrap().len())
            .sum();
        assert_eq!(paged, holders.len(), "{token} by pages");

        for holder in holders {
            let (address, balance) = (holder["address"].as_str().unwrap(), number(&holder["balance"]));
            let answer = dev.post("get-address-balances", json!({"address": address, "include_outpoints": true}));
            assert_eq!(number(&answer["balances"][token]), balance, "{token} of {address}");
            let mut sum = 0;
            for outpoint in answer["outpoints"].as_array().unwrap() {
                let name = outpoint["outpoint"].as_str().unwrap();
                let held = dev.get(&format!("outpoint/{name}/balances"));
                assert_eq!(dev.post("get-outpoint-balances", json!({"outpoint": name}))["items"], held["items"]);
                let entries = held["items"][0]["entries"].as_array().unwrap().clone();
                sum += entries
                    .iter()
                    .filter(|entry| entry["alkane"] == token)
                    .map(|entry| number(&entry["amount"]))
                    .sum::<u128>();
            }
            assert_eq!(sum, balance, "outputs of {address} with {token}");
            let listed = agreed(
                || dev.post("get-alkanes-by-address", json!({"address": address})),
                || dev.get(&format!("address/{address}/alkanes")),
            );
            let listed = listed.as_array().unwrap().iter().zip(ids(&listed)).find(|(_, id)| id == token).unwrap().0;
            assert_eq!(number(&listed["balance"]), balance);
            let listed = dev.get(&format!("address/{address}/balances"));
            let listed =
                listed["balances"].as_array().unwrap().iter().find(|entry| entry["id"] == token).unwrap().clone();
            assert_eq!(number(&listed["amount"]), balance);
            let utxos = dev.post("get-alkanes-utxo", json!({"address": address}));
            let in_utxos =
                utxos.as_array().unwrap().iter().filter_map(|utxo| utxo["alkanes"][token]["balance"].as_str());
            assert_eq!(in_utxos.map(|held| held.parse::<u128>().unwrap()).sum::<u128>(), balance);
            let places = dev.post("get-address-outpoints", json!({"address": address}));
            assert_eq!(places["outpoints"].as_array().unwrap().len(), utxos.as_array().unwrap().len());
        }
    }
}

/// What scripts and contracts hold is the supply that the contract itself returns.
fn supplies(dev: &Dev) {
    let contracts: Vec<String> = ids(&dev.post("get-alkanes", json!({"limit": 100}))["tokens"]);
    for token in ["/alkanes/tokens/0", "/alkanes/tokens/1", "/alkanes/pools/1"] {
        let token = dev.text(token);
        let holders = dev.post("get-holders", json!({"alkaneId": token, "limit": 1000}));
        let by_scripts: u128 =
            holders["holders"].as_array().unwrap().iter().map(|holder| number(&holder["balance"])).sum();
        let mut by_contracts = 0;
        for contract in contracts.iter().filter(|contract| *contract != token) {
            let held = dev.call("alkanes_getinventory", json!([contract]));
            for entry in held["alkanes"].as_array().unwrap() {
                let id = format!("{}:{}", entry["id"]["block"].as_str().unwrap(), entry["id"]["tx"].as_str().unwrap());
                by_contracts += if id == token { number(&entry["value"]) } else { 0 };
            }
        }
        let answer = dev.call("alkanes_simulate", json!([{"target": token, "inputs": ["101"]}]));
        if answer["status"] != 0 {
            continue;
        }
        let data = crate::support::protobuf::unhex(answer["execution"]["data"].as_str().unwrap());
        let supply = u128::from_le_bytes(data[..16].try_into().unwrap());
        assert_eq!(by_scripts + by_contracts, supply, "{token}");
    }
}

fn storage_and_intents(dev: &Dev) {
    let keys =
        dev.post("get-keys", json!({"alkane": dev.text("/alkanes/factory"), "prefix": "/all_pools", "limit": 10}));
    assert_eq!(keys["keys"].as_object().unwrap().len(), 5, "four pools and their number: {keys}");

    let holders = dev.post("get-holders", json!({"alkaneId": dev.text("/alkanes/pools/0"), "limit": 10}));
    let trader = holders["holders"][0]["address"].as_str().unwrap();
    let intents = dev.post("get-intent-history", json!({"address": trader, "limit": 200}));
    let listed = intents["intents"].as_array().unwrap();
    assert!(listed.len() > 3 && intents["total"].as_u64().unwrap() as usize == listed.len(), "{intents}");
    let heights: Vec<_> = listed.iter().map(|intent| intent["blockHeight"].as_u64().unwrap()).collect();
    assert!(heights.is_sorted_by(|left, right| left >= right), "newest first: {heights:?}");
    let page = dev.post("get-intent-history", json!({"address": trader, "limit": 2, "offset": 1}));
    assert_eq!(page["intents"].as_array().unwrap()[..], listed[1..3]);
}

/// row RA01
/// row RA02
/// row RA03
/// row RA04
/// row RA05
/// row RA07
/// row RG01
/// row RG03
/// row RG07
#[test]
fn every_route_about_alkanes_answers_and_agrees_with_the_others() {
    let dev = Dev::start();
    tokens(&dev);
    holdings(&dev);
    supplies(&dev);
    storage_and_intents(&dev);
}
