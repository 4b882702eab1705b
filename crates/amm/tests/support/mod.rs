//! Chains of the development network's market, and stores that index them.

use std::sync::Arc;

use bitcoin::Transaction;
use bitcoin::hashes::Hash as _;
use paraffin_alkanes::{AlkanesModule, ChainState, CodeCache, NativeEngine};
use paraffin_amm::{AmmModule, Markets, Parameters};
use paraffin_devnet::market::{Market, MarketError, builtins};
use paraffin_devnet::{ACCOUNT_NAMES, Node, Scenario, Wallet};
use paraffin_primitives::{BlockId, ConnectedBlock, Height, Network};
use paraffin_store::{Module, Store, StoreOptions, Writer};
use tempfile::TempDir;

/// A node with a market, and those who trade on it.
pub(crate) struct Town {
    pub(crate) node: Node,
    market: Market,
    scenario: Scenario,
}

impl Town {
    pub(crate) fn new(seed: u64) -> Self {
        let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        let market = Market::new(seed, Arc::clone(&wallet));
        Self { node: Node::new(None), market, scenario: Scenario::new(seed, wallet) }
    }

    /// Mines up to a height, with everything that traders do meanwhile.
    pub(crate) fn grow(&mut self, height: Height) {
        while self.node.tip().height < height {
            self.market.observe(&self.node).unwrap();
            match self.market.step(&self.node) {
                // Orders of a dropped block wait again, and a new one of the same trader can get in their way.
                Ok(_) | Err(MarketError::Refused(_)) => {}
                Err(error) => panic!("{error}"),
            }
            let next = self.node.tip().height + 1;
            self.node.mine_block(&self.scenario.miner_script(next)).unwrap();
        }
    }

    /// Leaves the best chain at a height and grows another branch, in which old transactions land in other blocks.
    pub(crate) fn fork(&mut self, at: Height, until: Height) {
        let hash = self.node.block_hash(at + 1).unwrap();
        self.node.invalidate(&hash).unwrap();
        let script = self.scenario.miner_script(0);
        self.node.mine_block_with(Vec::new(), &script, true).unwrap();
        self.node.mine_block(&script).unwrap();
        self.grow(until);
    }

    pub(crate) fn blocks(&self) -> Vec<ConnectedBlock> {
        let heights = 0..=self.node.tip().height;
        heights
            .map(|height| connected(height, &self.node.block(&self.node.block_hash(height).unwrap()).unwrap()))
            .collect()
    }
}

pub(crate) fn connected(height: Height, block: &bitcoin::Block) -> ConnectedBlock {
    ConnectedBlock {
        id: BlockId { height, hash: block.block_hash() },
        block: block.clone(),
        size: block.total_size() as u32,
        txids: block.txdata.iter().map(Transaction::compute_txid).collect(),
        offsets: Vec::new(),
        spent: None,
    }
}

/// The index of one chain: contracts and markets in one store.
pub(crate) struct Index {
    _folder: TempDir,
    store: Store,
    writer: Writer,
    modules: Vec<Box<dyn Module>>,
}

impl Index {
    pub(crate) fn new() -> Self {
        let engine = NativeEngine::new(Network::Regtest, Arc::new(builtins()), Arc::new(CodeCache::default()));
        let modules: Vec<Box<dyn Module>> = vec![
            Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest)),
            Box::new(AmmModule::new(Parameters::default())),
        ];
        let schemas: Vec<_> = modules.iter().map(|module| module.schema()).collect();
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &schemas).unwrap();
        let writer = store.writer().unwrap();
        Self { _folder: folder, store, writer, modules }
    }

    /// Undoes what is not of the chain, then takes in the rest.
    pub(crate) fn follow(&mut self, blocks: &[ConnectedBlock]) {
        while let Some(tip) = self.writer.tip().map(|tip| tip.id) {
            if blocks.get(tip.height as usize).is_some_and(|block| block.id == tip) {
                break;
            }
            self.writer.undo_block().unwrap();
        }
        let next = self.writer.tip().map_or(0, |tip| tip.id.height as usize + 1);
        for block in &blocks[next..] {
            self.connect(block);
        }
    }

    fn connect(&mut self, block: &ConnectedBlock) {
        let previous = self.writer.tip().map_or(bitcoin::BlockHash::all_zeros(), |tip| tip.id.hash);
        self.writer.begin_block(block.id, previous, block.block.header.time).unwrap();
        for module in &mut self.modules {
            let id = module.schema().id;
            module.connect(block, &mut self.writer.module(id).unwrap()).unwrap();
        }
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
    }

    /// Runs the market's module alone over the chain again, as after a change of its rules.
    pub(crate) fn run_markets_again(&mut self, blocks: &[ConnectedBlock]) {
        let module = paraffin_amm::MODULE;
        self.writer.rewind_module(module, None).unwrap();
        while let Some(id) = self.writer.next_replay(module).unwrap() {
            self.writer.replay_block(module, id).unwrap();
            let block = &blocks[id.height as usize];
            self.modules[1].connect(block, &mut self.writer.module(module).unwrap()).unwrap();
            self.writer.end_block().unwrap();
        }
        self.writer.commit(false).unwrap();
    }

    pub(crate) fn markets(&self) -> Markets {
        self.markets_at(Height::MAX)
    }

    pub(crate) fn markets_at(&self, height: Height) -> Markets {
        Markets::at(&self.store.snapshot(), height)
    }

    pub(crate) fn state(&self, height: Height) -> ChainState {
        ChainState::at(&self.store.snapshot(), height)
    }

    pub(crate) fn content(&self) -> [u8; 32] {
        self.store.snapshot().content_digest().unwrap()
    }
}
