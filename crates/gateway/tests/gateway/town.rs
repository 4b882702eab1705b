//! The development network's market as a chain to serve from.

use std::sync::Arc;

use bitcoin::Block;
use paraffin_alkanes::views::ViewLimits;
use paraffin_alkanes::{CodeCache, Parameters};
use paraffin_cryptoswap::{CryptoSwapModule, PoolProbe, PoolRules};
use paraffin_devnet::market::{BTC_USD_POOL, FACTORY, Market, WRAPPED_BITCOIN, builtins};
use paraffin_devnet::{ACCOUNT_NAMES, Node, Scenario, Wallet};
use paraffin_gateway::{AlkanesParts, MarketsParts};
use paraffin_primitives::Network;

/// A chain on which pools were founded and traded; the founding ends below height 112.
pub(crate) struct Town {
    pub(crate) node: Node,
    pub(crate) market: Market,
    scenario: Scenario,
}

impl Town {
    pub(crate) fn new(seed: u64) -> Self {
        let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        let market = Market::new(seed, Arc::clone(&wallet));
        Self { node: Node::new(None), market, scenario: Scenario::new(seed, wallet) }
    }

    /// Mines up to a height, with everything that traders do meanwhile.
    pub(crate) fn grow(&mut self, height: u32) {
        while self.node.tip().height < height {
            self.market.observe(&self.node).unwrap();
            self.market.step(&self.node).unwrap();
            let next = self.node.tip().height + 1;
            self.node.mine_block(&self.scenario.miner_script(next)).unwrap();
        }
    }

    /// Leaves the best chain at a height and grows another branch, in which old transactions land in other blocks.
    pub(crate) fn fork(&mut self, at: u32, until: u32) {
        let hash = self.node.block_hash(at + 1).unwrap();
        self.node.invalidate(&hash).unwrap();
        let script = self.scenario.miner_script(0);
        self.node.mine_block_with(Vec::new(), &script, true).unwrap();
        self.node.mine_block(&script).unwrap();
        self.grow(until);
    }

    pub(crate) fn blocks(&self) -> Vec<Block> {
        let heights = 0..=self.node.tip().height;
        heights.map(|height| Block::clone(&self.node.block(&self.node.block_hash(height).unwrap()).unwrap())).collect()
    }
}

/// The blocks of a market up to a height.
pub(crate) fn market_blocks(seed: u64, height: u32) -> Vec<Block> {
    let mut town = Town::new(seed);
    town.grow(height);
    town.blocks()
}

pub(crate) fn alkanes_parts() -> AlkanesParts {
    AlkanesParts {
        parameters: Parameters::of(Network::Regtest),
        builtins: Arc::new(builtins()),
        codes: Arc::new(CodeCache::default()),
        limits: ViewLimits::default(),
    }
}

pub(crate) fn markets_parts() -> MarketsParts {
    MarketsParts {
        wrapped_bitcoin: WRAPPED_BITCOIN,
        factory: FACTORY,
        snake_case_twins: true,
        cryptoswap_pools: vec![BTC_USD_POOL],
    }
}

/// The pool index.
pub(crate) fn pools_module() -> CryptoSwapModule {
    let AlkanesParts { parameters, builtins, codes, .. } = alkanes_parts();
    CryptoSwapModule::new(PoolRules::default(), PoolProbe { parameters, builtins, codes })
}
