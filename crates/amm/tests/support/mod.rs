//! Chains of the development network's market, and stores that index them.

use std::sync::Arc;

use bitcoin::Transaction;
use bitcoin::hashes::Hash as _;
use paraffin_alkanes::{AlkanesModule, ChainState, CodeCache, NativeEngine};
use paraffin_amm::{AmmError, AmmModule, ChainContracts, ContractReads, ContractSource, Markets, Parameters};
use paraffin_devnet::market::{Market, builtins};
use paraffin_devnet::{ACCOUNT_NAMES, Node, Scenario, Wallet};
use paraffin_primitives::{BlockId, ConnectedBlock, Height, Network};
use paraffin_store::{Module, ModuleWriter, Store, StoreOptions, Writer};
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
            self.market.step(&self.node).unwrap();
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

/// A store with one module.
struct Shelf {
    _folder: TempDir,
    store: Arc<Store>,
    writer: Writer,
    module: Box<dyn Module>,
}

impl Shelf {
    fn new(module: Box<dyn Module>) -> Self {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Arc::new(Store::open(folder.path(), &options, &[module.schema()]).unwrap());
        let writer = store.writer().unwrap();
        Self { _folder: folder, store, writer, module }
    }

    fn connect(&mut self, block: &ConnectedBlock) {
        let previous = self.writer.tip().map_or(bitcoin::BlockHash::all_zeros(), |tip| tip.id.hash);
        self.writer.begin_block(block.id, previous, block.block.header.time).unwrap();
        let id = self.module.schema().id;
        self.module.connect(block, &mut self.writer.module(id).unwrap()).unwrap();
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
    }
}

struct OtherStore(Arc<Store>);

impl ContractSource for OtherStore {
    fn contracts<'r>(
        &'r self,
        height: Height,
        _: &'r ModuleWriter<'_>,
    ) -> Result<Box<dyn ContractReads + 'r>, AmmError> {
        Ok(Box::new(ChainContracts(ChainState::at(&self.0.snapshot(), height))))
    }
}

/// Both indexes of one chain.
pub(crate) struct Index {
    alkanes: Shelf,
    amm: Shelf,
}

impl Index {
    pub(crate) fn new() -> Self {
        let engine = NativeEngine::new(Network::Regtest, Arc::new(builtins()), Arc::new(CodeCache::default()));
        let alkanes = Shelf::new(Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest)));
        let source = OtherStore(Arc::clone(&alkanes.store));
        let amm = Shelf::new(Box::new(AmmModule::new(Box::new(source), Parameters::default())));
        Self { alkanes, amm }
    }

    /// Undoes what is not of the chain, then takes in the rest.
    pub(crate) fn follow(&mut self, blocks: &[ConnectedBlock]) {
        while let Some(tip) = self.amm.writer.tip().map(|tip| tip.id) {
            if blocks.get(tip.height as usize).is_some_and(|block| block.id == tip) {
                break;
            }
            self.amm.writer.undo_block().unwrap();
            self.alkanes.writer.undo_block().unwrap();
        }
        let next = self.amm.writer.tip().map_or(0, |tip| tip.id.height as usize + 1);
        for block in &blocks[next..] {
            self.alkanes.connect(block);
            self.amm.connect(block);
        }
    }

    pub(crate) fn markets(&self) -> Markets {
        self.markets_at(Height::MAX)
    }

    pub(crate) fn markets_at(&self, height: Height) -> Markets {
        Markets::at(&self.amm.store.snapshot(), height)
    }

    pub(crate) fn state(&self, height: Height) -> ChainState {
        ChainState::at(&self.alkanes.store.snapshot(), height)
    }

    pub(crate) fn content(&self) -> [u8; 32] {
        self.amm.store.snapshot().content_digest().unwrap()
    }
}
