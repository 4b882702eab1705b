use std::sync::Arc;

use bitcoin::Block;
use paraffin_primitives::ConnectedBlock;

use super::{Market, MarketError};
use crate::{ACCOUNT_NAMES, Node, Scenario, Wallet};

/// A chain with a market and its traders, mined at once, for tests and benches.
pub struct MarketChain {
    /// The node.
    pub node: Node,
    /// The market.
    pub market: Market,
    scenario: Scenario,
}

impl MarketChain {
    /// An empty chain; the same seed makes the same one.
    pub fn new(seed: u64) -> Self {
        let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        let market = Market::new(seed, Arc::clone(&wallet));
        Self { node: Node::new(None), market, scenario: Scenario::new(seed, wallet) }
    }

    /// An empty chain whose market is one [`Market::with_triangle`].
    pub fn with_triangle(seed: u64) -> Self {
        let Self { node, market, scenario } = Self::new(seed);
        Self { node, market: market.with_triangle(), scenario }
    }

    /// Mines up to a height, with the transactions of the traders. The founding ends below height 112.
    ///
    /// # Errors
    /// The market or the node fails.
    pub fn grow(&mut self, height: u32) -> Result<(), MarketError> {
        while self.node.tip().height < height {
            self.market.observe(&self.node)?;
            match self.market.step(&self.node) {
                // Orders of a disconnected block are in the mempool again, and a new one of the same trader can conflict.
                Ok(_) | Err(MarketError::Refused(_)) => {}
                Err(error) => return Err(error),
            }
            let next = self.node.tip().height + 1;
            self.node.mine_block(&self.scenario.miner_script(next))?;
        }
        Ok(())
    }

    /// Leaves the best chain at a height and grows another branch, in which old transactions are in other blocks.
    ///
    /// # Errors
    /// The best chain has no block above `at`, or the errors of [`Self::grow`].
    pub fn fork(&mut self, at: u32, until: u32) -> Result<(), MarketError> {
        let hash = self.node.block_hash(at + 1).filter(|hash| self.node.invalidate(hash).is_ok());
        hash.ok_or_else(|| MarketError::Inconsistent(format!("there is no block above {at} to leave")))?;
        let script = self.scenario.miner_script(0);
        self.node.mine_block_with(Vec::new(), &script, true)?;
        self.node.mine_block(&script)?;
        self.grow(until)
    }

    /// The best chain, block 0 first, as modules of the index take it.
    pub fn blocks(&self) -> Vec<ConnectedBlock> {
        let block = |height| self.node.block(&self.node.block_hash(height)?);
        let blocks = (0..).map_while(|height| Some((height, block(height)?)));
        blocks.map(|(height, block)| ConnectedBlock::new(height, Block::clone(&block))).collect()
    }
}
