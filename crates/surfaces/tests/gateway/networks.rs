//! The same blocks on each network: contracts, pools, histories, analytics and the pool index are answered alike, with the addresses of the
//! network.

use std::collections::BTreeMap;

use paraffin_cryptoswap::PoolRules;
use paraffin_primitives::Network;
use paraffin_surfaces::handlers;
use serde_json::{Value, json};

use crate::instance::{Instance, Setup};
use crate::market_chain::market_blocks;

const SEED: u64 = 7;
/// Blocks of the founding and of some trade.
const HEIGHT: u32 = 130;
/// Scalars of the smallest answer that holds something; a page without rows has its bounds alone.
const SCALARS_MIN: usize = 6;

struct Served {
    network: Network,
    instance: Instance,
    answers: BTreeMap<String, Value>,
}

impl Served {
    async fn start(network: Network) -> Self {
        let keyed = vec![handlers::espo(), handlers::btcusd(PoolRules::default())];
        let market = Some(market_blocks(SEED, HEIGHT));
        let instance = Instance::with(Setup { network, keyed, market, ..Setup::default() }).await;
        Self { network, instance, answers: BTreeMap::new() }
    }

    /// Calls a REST route and records its answer.
    async fn rest(&mut self, route: &str, body: Value) -> Value {
        let response = self.instance.post(&format!("/v4/api/{route}"), body.to_string()).await;
        assert_eq!(response.status, 200, "{:?} {route} {body}: {}", self.network, response.text());
        self.keep(route, response.json()["data"].clone())
    }

    /// The same for a method of a surface.
    async fn rpc(&mut self, surface: &str, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let answer = self.instance.post(&self.instance.keyed(surface), body).await.json();
        assert!(answer.get("error").is_none(), "{:?} {method} {params}: {answer}", self.network);
        self.keep(&format!("{surface} {method} {params}"), answer["result"].clone())
    }

    fn keep(&mut self, name: &str, answer: Value) -> Value {
        let is_full = scalars(&answer) >= SCALARS_MIN || answer.as_str().is_some_and(|digits| digits.len() > 80);
        assert!(is_full, "{:?} {name} holds nothing: {answer}", self.network);
        // Parameters hold addresses, which are of the network as well.
        let name = name.split(" [").next().and_then(|name| name.split(" {").next()).unwrap_or(name);
        self.answers.insert(name.to_owned(), answer.clone());
        answer
    }

    /// The first address in an answer.
    fn address(&self, answer: &Value) -> String {
        match answer {
            Value::String(text) if self.network.parse_address(text).is_ok() => text.clone(),
            Value::Array(items) => {
                items.iter().map(|item| self.address(item)).find(|found| !found.is_empty()).unwrap_or_default()
            }
            Value::Object(members) => {
                members.values().map(|member| self.address(member)).find(|found| !found.is_empty()).unwrap_or_default()
            }
            _ => String::new(),
        }
    }

    /// An answer with each address as its script, and how many there were. An address of another network would stay.
    fn with_scripts(&self, answer: &Value, count: &mut usize) -> Value {
        match answer {
            Value::String(text) => match self.network.parse_address(text) {
                Ok(address) => {
                    *count += 1;
                    json!(address.script_pubkey().to_hex_string())
                }
                Err(_) => answer.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.with_scripts(item, count)).collect(),
            Value::Object(members) => {
                let members = members.iter().map(|(name, member)| (name.clone(), self.with_scripts(member, count)));
                Value::Object(members.collect())
            }
            _ => answer.clone(),
        }
    }
}

/// Numbers, texts and flags of an answer.
fn scalars(answer: &Value) -> usize {
    match answer {
        Value::Null => 0,
        Value::Array(items) => items.iter().map(scalars).sum(),
        Value::Object(members) => members.values().map(scalars).sum(),
        _ => 1,
    }
}

/// Calls every family of routes about contracts with objects of the chain.
async fn asked(network: Network) -> Served {
    let mut served = Served::start(network).await;
    let holders = served.rpc("/espo", "essentials.get_holders", json!({ "alkane": "2:0" })).await;
    let address = served.address(&holders);
    assert!(!address.is_empty(), "{network:?}: {holders}");
    // Contracts.
    served.rest("get-alkanes", json!({ "limit": 5 })).await;
    served.rest("get-alkane-details", json!({ "alkaneId": { "block": "2", "tx": "0" } })).await;
    served.rest("get-alkanes-by-address", json!({ "address": address })).await;
    served.rest("get-alkanes-utxo", json!({ "address": address })).await;
    served.rpc("", "alkanes_protorunesbyaddress", json!([{ "address": address }])).await;
    // Pools and what happened to them.
    let pools = served.rest("get-all-pools-details", json!({ "factoryId": { "block": "4", "tx": "65522" } })).await;
    let pool = &pools["pools"][0];
    let pool = json!({ "block": pool["poolBlockId"], "tx": pool["poolTxId"] });
    served.rest("get-pool-swap-history", json!({ "poolId": pool })).await;
    served.rest("get-all-history", json!({ "count": 50 })).await;
    // Analytics.
    served.rpc("/espo", "essentials.get_address_balances", json!({ "address": address })).await;
    let pool = format!("{}:{}", pool["block"].as_str().unwrap(), pool["tx"].as_str().unwrap());
    served.rpc("/espo", "ammdata.get_candles", json!({ "pool": pool })).await;
    served.rpc("/espo", "ammdata.get_activity", json!({ "pool": pool })).await;
    // The pool index.
    served.rpc("/btcusd", "metashrew_view", json!(["getpools", "0x", "latest"])).await;
    served
}

/// row GW10
#[tokio::test]
async fn contracts_pools_histories_and_analytics_are_served_on_each_network_with_its_own_addresses() {
    let regtest = asked(Network::Regtest).await;
    assert_eq!(regtest.answers.len(), 13);
    for network in [Network::Mainnet, Network::Signet] {
        let served = asked(network).await;
        let (mut own, mut theirs) = (0, 0);
        for (name, answer) in &regtest.answers {
            let expected = regtest.with_scripts(answer, &mut theirs);
            assert_eq!(served.with_scripts(&served.answers[name], &mut own), expected, "{network:?} {name}");
        }
        assert!(own == theirs && own > 20, "{network:?}: {own} addresses, {theirs} on regtest");
        // Addresses of another network are refused.
        let address = regtest.address(&regtest.answers["/espo essentials.get_holders"]);
        for route in ["get-alkanes-by-address", "get-alkanes-utxo"] {
            let body = json!({ "address": address }).to_string();
            assert_eq!(
                served.instance.post(&format!("/v4/api/{route}"), body).await.status,
                400,
                "{network:?} {route}"
            );
        }
        assert_eq!(
            served.instance.error("alkanes_protorunesbyaddress", json!([{ "address": address }])).await.0,
            -32602
        );
    }
}
