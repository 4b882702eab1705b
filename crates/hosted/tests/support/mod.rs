//! Chains of the development network, what the native engine does with them, and the same in the layout of the alkanes indexer
//! program.
#![allow(dead_code)] // each test uses another part

mod foreign;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bitcoin::BlockHash;
use bitcoin::hashes::Hash as _;
use paraffin_alkanes::{AlkanesModule, BlockEffects, CodeCache, Engine, Halt, NativeEngine, StateReader};
use paraffin_devnet::market::{MarketChain, builtins};
use paraffin_hosted::{
    BlockLimits, Differences, Flush, Handover, HostedEngine, HostedModule, OnDifference, Program, ProgramError, Reads,
    RunLimits, Serves, ShadowEngine,
};
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{Module, ModuleError, Store, StoreOptions, Writer};
use parking_lot::Mutex;
use tempfile::TempDir;

pub(crate) use foreign::encode;

/// Height at which the development network's market is founded and trades.
pub(crate) const TRADING: Height = 125;

/// Builtins are the same in every test, and so is what was compiled.
fn codes() -> Arc<CodeCache> {
    static CODES: OnceLock<Arc<CodeCache>> = OnceLock::new();
    Arc::clone(CODES.get_or_init(Arc::default))
}

pub(crate) fn native() -> NativeEngine {
    NativeEngine::new(Network::Regtest, Arc::new(builtins()), codes())
}

/// Both branches of a chain, one after the other, as an index follows them.
pub(crate) fn branches(seed: u64, height: Height) -> Vec<Vec<ConnectedBlock>> {
    let mut town = MarketChain::new(seed);
    town.grow(height).unwrap();
    let first = town.blocks();
    town.fork(height - 4, height + 3).unwrap();
    vec![first, town.blocks()]
}

/// The effects of the native engine, by block.
pub(crate) type EffectsByBlock = HashMap<BlockHash, BlockEffects>;

/// Records the effects of an engine.
struct Recorder<E> {
    engine: E,
    recorded: Arc<Mutex<EffectsByBlock>>,
}

impl<E: Engine> Engine for Recorder<E> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn run_block(
        &mut self,
        height: Height,
        block: &ConnectedBlock,
        state: &dyn StateReader,
    ) -> Result<BlockEffects, Halt> {
        let effects = self.engine.run_block(height, block, state)?;
        self.recorded.lock().insert(block.id.hash, effects.clone());
        Ok(effects)
    }
}

/// Runs all branches natively and returns the effects of each block.
pub(crate) fn run_natively(branches: &[Vec<ConnectedBlock>]) -> (EffectsByBlock, [u8; 32]) {
    let recorded = Arc::new(Mutex::new(EffectsByBlock::new()));
    let engine = Recorder { engine: native(), recorded: Arc::clone(&recorded) };
    let mut index = Index::of(|_| vec![Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest))]);
    for branch in branches {
        index.follow(branch).unwrap();
    }
    let content = index.content();
    (std::mem::take(&mut recorded.lock()), content)
}

/// The flush of each block.
pub(crate) fn flushes(branches: &[Vec<ConnectedBlock>], effects: &EffectsByBlock) -> HashMap<BlockHash, Flush> {
    let blocks = branches.iter().flatten();
    blocks.map(|block| (block.id.hash, encode(block.id.height, &effects[&block.id.hash]))).collect()
}

/// A program without a machine: its flush of a block is found by the block's hash.
pub(crate) struct Scripted(pub(crate) HashMap<BlockHash, Flush>);

impl Program for Scripted {
    fn hash(&self) -> [u8; 32] {
        [7; 32]
    }

    fn has_view(&self, name: &str) -> bool {
        name == "value"
    }

    fn run_block(
        &self,
        _height: Height,
        block: &[u8],
        _reads: &dyn Reads,
        _limits: RunLimits<'_>,
    ) -> Result<Flush, ProgramError> {
        let hash = BlockHash::from_raw_hash(bitcoin::hashes::sha256d::Hash::hash(&block[..80]));
        self.0.get(&hash).cloned().ok_or(ProgramError::NoFlush)
    }

    /// Answers the value of the key that is the payload.
    fn view(
        &self,
        name: &str,
        _height: Height,
        payload: &[u8],
        reads: &dyn Reads,
        _limits: RunLimits<'_>,
    ) -> Result<Vec<u8>, ProgramError> {
        match name {
            "value" => Ok(reads.get(payload)?.unwrap_or_default()),
            _ => Err(ProgramError::UnknownView),
        }
    }
}

/// The modules of an instance that runs a program: alone, or beside the native engine.
pub(crate) fn modules(
    store: &Store,
    program: &Arc<dyn Program>,
    serves: Serves,
    native_too: Option<OnDifference>,
) -> Vec<Box<dyn Module>> {
    let (limits, handover) = (BlockLimits::default(), Handover::default());
    let hosted = HostedEngine::new(Arc::clone(program), limits, 0, handover.clone(), store.clone());
    let engine: Box<dyn Engine> = match native_too {
        None => Box::new(hosted),
        Some(on) => Box::new(ShadowEngine::new(Box::new(native()), hosted, serves, on, Differences::default())),
    };
    vec![
        Box::new(HostedModule::new(Arc::clone(program), limits, 0).with_handover(handover)),
        Box::new(AlkanesModule::new(engine, Network::Regtest)),
    ]
}

/// A store and the modules that write it.
pub(crate) struct Index {
    _folder: TempDir,
    pub(crate) store: Store,
    writer: Writer,
    modules: Vec<Box<dyn Module>>,
}

impl Index {
    pub(crate) fn of(modules: impl FnOnce(&Store) -> Vec<Box<dyn Module>>) -> Self {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let schemas = [paraffin_alkanes::SCHEMA, paraffin_hosted::SCHEMA];
        let store = Store::open(folder.path(), &options, &schemas).unwrap();
        let modules = modules(&store);
        let writer = store.writer().unwrap();
        Self { _folder: folder, store, writer, modules }
    }

    /// Other modules from now on.
    pub(crate) fn replace(&mut self, modules: impl FnOnce(&Store) -> Vec<Box<dyn Module>>) {
        self.modules = modules(&self.store);
    }

    /// Both engines side by side.
    pub(crate) fn shadowed(program: Arc<dyn Program>, serves: Serves, on: OnDifference) -> (Self, Differences) {
        Self::shadowed_beside(native(), program, serves, on)
    }

    /// The same beside another native engine.
    pub(crate) fn shadowed_beside(
        native: NativeEngine,
        program: Arc<dyn Program>,
        serves: Serves,
        on: OnDifference,
    ) -> (Self, Differences) {
        let differences = Differences::default();
        let index = Self::of(|store| {
            let limits = BlockLimits::default();
            let handover = Handover::default();
            let hosted = HostedEngine::new(Arc::clone(&program), limits, 0, handover.clone(), store.clone());
            let engine = ShadowEngine::new(Box::new(native), hosted, serves, on, differences.clone());
            vec![
                Box::new(HostedModule::new(program, limits, 0).with_handover(handover)),
                Box::new(AlkanesModule::new(Box::new(engine), Network::Regtest)),
            ]
        });
        (index, differences)
    }

    /// Undoes what is not of the chain, then takes in the rest.
    pub(crate) fn follow(&mut self, blocks: &[ConnectedBlock]) -> Result<(), ModuleError> {
        while let Some(tip) = self.writer.tip().map(|tip| tip.id) {
            if blocks.get(tip.height as usize).is_some_and(|block| block.id == tip) {
                break;
            }
            self.writer.undo_block().unwrap();
        }
        let next = self.height().map_or(0, |height| height as usize + 1);
        blocks[next..].iter().try_for_each(|block| self.connect(block))
    }

    fn connect(&mut self, block: &ConnectedBlock) -> Result<(), ModuleError> {
        let previous = self.writer.tip().map_or(BlockHash::all_zeros(), |tip| tip.id.hash);
        self.writer.begin_block(block.id, previous, block.block.header.time).unwrap();
        for module in &mut self.modules {
            let id = module.schema().id;
            if let Err(error) = module.connect(block, &mut self.writer.module(id).unwrap()) {
                self.writer.abandon_block();
                return Err(error);
            }
        }
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
        Ok(())
    }

    /// Runs one module alone over the chain again.
    pub(crate) fn run_again(&mut self, index: usize, blocks: &[ConnectedBlock]) -> Result<(), ModuleError> {
        let module = self.modules[index].schema().id;
        self.writer.rewind_module(module, None).unwrap();
        while let Some(id) = self.writer.next_replay(module).unwrap() {
            self.writer.replay_block(module, id).unwrap();
            let block = &blocks[id.height as usize];
            self.modules[index].connect(block, &mut self.writer.module(module).unwrap())?;
            self.writer.end_block().unwrap();
        }
        self.writer.commit(false).unwrap();
        Ok(())
    }

    /// Newest height.
    pub(crate) fn height(&self) -> Option<Height> {
        self.writer.tip().map(|tip| tip.id.height)
    }

    pub(crate) fn content(&self) -> [u8; 32] {
        self.store.snapshot().content_digest().unwrap()
    }
}
