//! The market: everything it founds exists, trades succeed, and the same seed makes the same chain.

mod conservation;
mod cryptoswap;
mod handmade;
mod hostile;
mod ledger;
mod reckoning;
mod store;
mod vandal;

use std::sync::Arc;

use paraffin_devnet::market::{DIESEL, FACTORY, Market, MarketChain, WRAPPED_BITCOIN};
use paraffin_devnet::{ACCOUNT_NAMES, Node, OutputKind, Wallet};

/// Mines `blocks` with the market alone.
fn grown(seed: u64, blocks: u32) -> (Node, Market) {
    let node = Node::new(None);
    let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
    let mut market = Market::new(seed, Arc::clone(&wallet));
    for _ in 0..blocks {
        market.observe(&node).unwrap();
        market.step(&node).unwrap();
        node.mine_block(&wallet.script(0, OutputKind::Taproot)).unwrap();
    }
    market.observe(&node).unwrap();
    (node, market)
}

#[test]
fn the_market_founds_three_pools_and_trades() {
    let (_, market) = grown(1, 125);
    let summary = market.summary().unwrap();
    assert_eq!(summary.factory, Some(FACTORY));
    assert_eq!(summary.pools.len(), 3, "{summary:?}");
    assert_eq!(summary.tokens.len(), 2);
    assert!(![DIESEL, WRAPPED_BITCOIN].contains(&summary.tokens[0]));
}

#[test]
fn a_fourth_pool_closes_a_triangle() {
    let mut chain = MarketChain::with_triangle(1);
    chain.grow(112).unwrap();
    chain.market.observe(&chain.node).unwrap();
    assert_eq!(chain.market.summary().unwrap().pools.len(), 4);
}

#[test]
fn the_same_seed_makes_the_same_market() {
    let (first, _) = grown(7, 112);
    let (second, _) = grown(7, 112);
    let (other, _) = grown(8, 112);
    assert_eq!(first.tip(), second.tip());
    assert_ne!(first.tip(), other.tip());
}
