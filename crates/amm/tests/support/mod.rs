//! Stores with the contracts and the markets of a chain.
#![allow(dead_code)] // each test uses another part

use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use paraffin_alkanes::{AlkanesModule, ChainState, CodeCache, NativeEngine};
use paraffin_amm::{AmmModule, Markets, Parameters};
use paraffin_devnet::market::builtins;
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{Module, Store, StoreOptions, Writer};
use tempfile::TempDir;

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
