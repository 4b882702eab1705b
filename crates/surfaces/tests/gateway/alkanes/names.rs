//! Names of tokens are those that their contracts report as of the answered block.

use bitcoin::{OutPoint, Transaction};
use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use super::scenario::{CREATE, Scenario, TOKEN, calling, contract, text};
use crate::chain::{script_of, taproot};
use crate::instance::{Instance, Setup};
use crate::market_chain::market_blocks;

const FIRST: AlkaneId = AlkaneId { block: 2, tx: 2 };
const SECOND: AlkaneId = AlkaneId { block: 2, tx: 3 };

/// The coinbase output of a block.
fn coin(instance: &Instance, height: usize) -> OutPoint {
    OutPoint { txid: instance.chain.blocks[height].txdata[0].compute_txid(), vout: 0 }
}

fn mine(instance: &mut Instance, transactions: Vec<Transaction>) {
    let script = script_of(instance.chain.network, &taproot(instance.chain.network, 2));
    instance.chain.mine(script, transactions);
    instance.node.add_block(instance.chain.blocks.last().unwrap());
}

/// Sends all of a new token to the payee.
fn deploy(instance: &Instance, coin: OutPoint, name: &str) -> Transaction {
    let payee = script_of(instance.chain.network, &instance.payee);
    let inputs = [0, 1_000, 100, 5, text(name), 0, text(name)];
    calling(coin, payee, CREATE, &inputs, Some(&contract("free-mint")))
}

async fn ask(instance: &Instance, route: &str, body: Value) -> Value {
    let response = instance.post(&format!("/v4/api/{route}"), body.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.json());
    response.json()["data"].clone()
}

/// The names of a contract held by the payee in three routes: the search by a word, the record, an amount.
async fn names(instance: &Instance, id: AlkaneId) -> [Option<String>; 2] {
    let name = |value: &Value| value["name"].as_str().map(str::to_owned);
    let path = format!("/v4/api/address/{}/balances", instance.payee);
    let balances = instance.get(&path).await.json();
    let balances = balances["data"]["balances"].as_array().unwrap().clone();
    let held = balances.iter().find(|held| held["id"] == id.to_string()).and_then(name);
    // The record comes last: requesting it must not refresh the others.
    [held, name(&ask(instance, "get-alkane-details", json!({ "id": id.to_string() })).await)]
}

async fn found(instance: &Instance, word: &str) -> Vec<String> {
    let found = ask(instance, "global-alkanes-search", json!({ "searchQuery": word })).await;
    let ids = found["tokens"].as_array().unwrap().iter();
    ids.map(|token| format!("{}:{}", token["id"]["block"].as_str().unwrap(), token["id"]["tx"].as_str().unwrap()))
        .collect()
}

/// row RA02
#[tokio::test]
async fn after_a_reorg_no_token_has_the_name_of_the_one_that_had_its_id() {
    let Scenario { mut instance, .. } = Scenario::start().await;
    let [left, right] =
        [(4, "Zebra"), (5, "Yak")].map(|(height, name)| deploy(&instance, coin(&instance, height), name));
    mine(&mut instance, vec![left.clone(), right.clone()]);
    assert_eq!(found(&instance, "zebra").await, ["2:2"]);
    let path = format!("/v4/api/address/{}/balances", instance.payee);
    let before = instance.get(&path).await;
    let tag = before.header("etag").unwrap().to_owned();
    assert_eq!(names(&instance, SECOND).await, [Some("Yak".to_owned()), Some("Yak".to_owned())]);

    instance.chain.undo();
    mine(&mut instance, vec![right, left]);
    assert_eq!(found(&instance, "zebra").await, ["2:3"]);
    assert_eq!(found(&instance, "yak").await, ["2:2"]);
    let after = instance.send("GET", &path, &[("If-None-Match", &tag)], "").await;
    assert_eq!(after.status, 200);
    assert_ne!(after.header("etag").unwrap(), tag);
    let first = names(&instance, FIRST).await;
    assert_eq!(first, [Some("Yak".to_owned()), Some("Yak".to_owned())]);
    assert_eq!(names(&instance, SECOND).await, [Some("Zebra".to_owned()), Some("Zebra".to_owned())]);
    // The same a block later, and the search no longer finds what the branch does not contain.
    instance.chain.undo();
    mine(&mut instance, vec![]);
    assert_eq!(found(&instance, "zebra").await, [] as [&str; 0]);
    let only = deploy(&instance, coin(&instance, 6), "Xerus");
    mine(&mut instance, vec![only]);
    mine(&mut instance, vec![]);
    assert_eq!(names(&instance, FIRST).await, [Some("Xerus".to_owned()), Some("Xerus".to_owned())]);
    let response = instance.get(&path).await;
    let (tag, reported) = (response.header("etag").unwrap().to_owned(), response.json());
    assert_eq!(instance.get(&path).await.json(), reported);
    assert_eq!(instance.send("GET", &path, &[("If-None-Match", &tag)], "").await.status, 304);
}

/// row RA02
#[tokio::test]
async fn a_contract_that_changes_its_name_is_known_by_the_new_one() {
    let Scenario { mut instance, deploy, .. } = Scenario::start().await;
    let network = instance.chain.network;
    let (miner, payee) = (script_of(network, &instance.miner), script_of(network, &instance.payee));
    let probe = calling(coin(&instance, 4), payee.clone(), CREATE, &[0], Some(&contract("probe")));
    mine(&mut instance, vec![probe]);
    // Its owner is the holder of the scenario's token.
    let inputs = [0x7ffc, FIRST.block, FIRST.tx, TOKEN.block, TOKEN.tx];
    let proxy = calling(coin(&instance, 5), payee, CREATE, &inputs, Some(&contract("upgradeable-proxy")));
    mine(&mut instance, vec![proxy]);
    let height = instance.chain.tip_height();
    let name = async |instance: &Instance| {
        let token = ask(instance, "get-alkane-details", json!({ "id": SECOND.to_string() })).await;
        token["name"].as_str().map(str::to_owned)
    };
    assert_eq!(found(&instance, "probe").await, ["2:2", "2:3"]);
    assert_eq!(name(&instance).await.as_deref(), Some("Probe"));
    mine(&mut instance, vec![]);
    assert_eq!(found(&instance, "probe").await, ["2:2", "2:3"]);

    let owned = OutPoint { txid: deploy, vout: 0 };
    let upgrade = calling(owned, miner, SECOND, &[0x7ffe, 32, 1], None);
    mine(&mut instance, vec![upgrade]);
    assert_eq!(found(&instance, "probe").await, ["2:2"]);
    assert_eq!(found(&instance, "owner").await, ["2:3"]);
    assert_eq!(name(&instance).await.as_deref(), Some("OWNER"));
    while instance.chain.tip_height() > height {
        instance.chain.undo();
    }
    assert_eq!(found(&instance, "owner").await, [] as [&str; 0]);
    assert_eq!(name(&instance).await.as_deref(), Some("Probe"));
}

/// row RA02
#[tokio::test]
async fn numbers_that_mean_something_else_are_no_facts_of_a_token() {
    let instance = Instance::with(Setup { market: Some(market_blocks(7, 130)), ..Setup::default() }).await;
    let token = async |id: &str| ask(&instance, "get-alkane-details", json!({ "id": id })).await;
    let uncounted = |token: &Value| {
        for member in ["cap", "max", "minted", "premine"] {
            assert_eq!(token[member], Value::Null, "{member} of {token}");
        }
        token["totalSupply"].as_str().map(|supply| supply.parse::<u128>().unwrap())
    };
    let slot = |id: AlkaneId| {
        use paraffin_gateway::ChainState as _;
        let snapshot = instance.state.snapshot();
        let state = paraffin_alkanes::ChainState::at(&snapshot, instance.chain.tip_height());
        let key = paraffin_alkanes::StateKey::Storage(id, b"/totalsupply".to_vec());
        let stored = paraffin_alkanes::StateReader::get(&state, &key).unwrap().unwrap();
        u128::from_le_bytes(stored[..16].try_into().unwrap())
    };
    let wrapped = token("32:0").await;
    assert_eq!((&wrapped["name"], &wrapped["decimals"]), (&json!("frBTC"), &json!(8)));
    assert_eq!(uncounted(&wrapped), Some(slot(AlkaneId { block: 32, tx: 0 })));
    let supply: f64 = wrapped["totalSupply"].as_str().unwrap().parse().unwrap();
    assert_eq!(wrapped["marketcapInSats"].as_f64(), Some(supply), "a coin is worth a coin");
    let dollars = token("4:1776").await;
    assert_eq!(dollars["decimals"], json!(8));
    assert_eq!(uncounted(&dollars), Some(slot(AlkaneId { block: 4, tx: 1776 })));
    let pool = token("4:1778").await;
    assert_eq!((&pool["decimals"], &pool["name"]), (&json!(18), &Value::Null));
    assert_eq!(uncounted(&pool), Some(slot(AlkaneId { block: 4, tx: 1778 })));
    let diesel = token("2:0").await;
    assert_eq!((&diesel["name"], &diesel["decimals"]), (&json!("DIESEL"), &json!(8)));
    assert!(uncounted(&diesel) > Some(50_000_000));
}
