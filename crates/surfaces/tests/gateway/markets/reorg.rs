//! Markets after a reorg: no trace of the abandoned blocks remains.

use paraffin_devnet::market::{MarketChain, WRAPPED_BITCOIN};
use paraffin_gateway::ChainState as _;
use serde_json::{Value, json};

use super::truth::Truth;
use super::{SEED, assert_contains, list, object, post};
use crate::instance::{Instance, Setup};
use crate::market_chain;

/// Where the branches part, and where they end.
const FORK: u32 = 150;
const HEIGHT: u32 = 165;

/// row RH01, RH16, RP02
#[tokio::test]
async fn after_a_reorg_markets_are_those_of_the_branch_that_won() {
    let mut town = MarketChain::new(SEED);
    town.grow(HEIGHT).unwrap();
    let setup = Setup { market: Some(market_chain::blocks(&town)), ..Setup::default() };
    let mut instance = Instance::with(setup).await;
    let data = async |instance: &Instance, route: &str, body: Value| {
        let (status, answer) = post(instance, route, &body).await;
        assert_eq!(status, 200, "{answer}");
        answer["data"].clone()
    };
    let everything = json!({ "count": 500, "successful": "all" });
    let left = data(&instance, "get-all-amm-tx-history", everything.clone()).await;
    let left_pools = data(&instance, "get-all-pools-details", json!({})).await;

    town.fork(FORK, HEIGHT + 1).unwrap();
    let blocks = market_chain::blocks(&town);
    while instance.chain.blocks.last().unwrap().block_hash() != blocks[instance.chain.blocks.len() - 1].block_hash() {
        instance.chain.undo();
    }
    assert_eq!(instance.chain.tip_height(), FORK);
    for block in &blocks[instance.chain.blocks.len()..] {
        instance.chain.add(block.clone());
    }
    let truth = Truth::read(&instance.state.snapshot(), &instance.chain.blocks);
    let now = data(&instance, "get-all-amm-tx-history", everything).await;
    assert_ne!(now["transactions"], left["transactions"], "the branches differ");
    let expected = truth.rows(|_| true);
    assert_eq!(now["total"], json!(expected.len()));
    for (row, expected) in list(&now, "transactions").iter().zip(&expected) {
        assert_contains(row, expected);
    }
    let body = json!({ "tokenId": object(WRAPPED_BITCOIN), "count": 500, "successful": "all" });
    let now = data(&instance, "get-token-swap-history", body).await;
    let expected = truth.rows_everywhere(|deed| deed.trades(WRAPPED_BITCOIN));
    assert!(truth.dollars.iter().any(|deed| deed.height > FORK), "the pool without a factory is traded on the branch");
    assert_eq!(now["total"], json!(expected.len()));
    for (row, expected) in list(&now, "swaps").iter().zip(&expected) {
        assert_contains(row, expected);
    }
    let pools = data(&instance, "get-all-pools-details", json!({})).await;
    assert_ne!(pools, left_pools);
    for (reported, pool) in list(&pools, "pools").iter().zip(&truth.pools) {
        let [first, second] = pool.tokens.map(|token| truth.balance(token, pool.id).to_string());
        let supply = truth.slot(pool.id, "/totalsupply").to_string();
        let expected =
            json!({ "poolId": object(pool.id), "reserve0": first, "reserve1": second, "tokenSupply": supply });
        assert_contains(reported, &expected);
        let trades = truth.deeds.iter().filter(|deed| deed.is_on(pool.id) && deed.kind() == "swap" && deed.successful);
        assert_eq!(reported["tradesAllTime"], json!(trades.count()));
    }
}
