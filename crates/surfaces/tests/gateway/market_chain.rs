//! The development network's market as a chain to serve from.

use std::sync::Arc;

use bitcoin::Block;
use paraffin_alkanes::views::ViewLimits;
use paraffin_alkanes::{CodeCache, Parameters};
use paraffin_cryptoswap::{CryptoSwapModule, PoolProbe, PoolRules};
use paraffin_devnet::market::{BTC_USD_POOL, FACTORY, MarketChain, WRAPPED_BITCOIN, builtins};
use paraffin_gateway::{AlkanesParts, MarketsParts};
use paraffin_primitives::Network;

/// The best chain of a market.
pub(crate) fn blocks(town: &MarketChain) -> Vec<Block> {
    town.blocks().into_iter().map(|connected| connected.block).collect()
}

/// The blocks of a market up to a height.
pub(crate) fn market_blocks(seed: u64, height: u32) -> Vec<Block> {
    let mut town = MarketChain::new(seed);
    town.grow(height).unwrap();
    blocks(&town)
}

/// The rules of regtest, whose blocks these are, with the addresses of a network.
pub(crate) fn parameters(network: Network) -> Parameters {
    Parameters { network, ..Parameters::of(Network::Regtest) }
}

pub(crate) fn alkanes_parts(network: Network) -> AlkanesParts {
    AlkanesParts {
        parameters: parameters(network),
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
pub(crate) fn pools_module(network: Network) -> CryptoSwapModule {
    let AlkanesParts { parameters, builtins, codes, .. } = alkanes_parts(network);
    CryptoSwapModule::new(PoolRules::default(), PoolProbe { parameters, builtins, codes })
}
