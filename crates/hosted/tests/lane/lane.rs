//! The native engine and a release program of the reference on the same blocks.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, OutPoint, Script as BitcoinScript, Txid};
use paraffin_alkanes::views::{self, PlacedOutput, ViewChain, ViewContext, ViewError};
use paraffin_alkanes::{
    AlkanesModule, BlockEffects, Builtins, ChainState, CodeCache, Engine, Halt, NativeEngine, StateReader,
};
use paraffin_hosted::{
    BlockLimits, Differences, Handover, HostedEngine, HostedModule, HostedViews, OnDifference, Program, ProgramError,
    Serves, ShadowEngine, ViewError as HostedViewError, ViewLimits, load,
};
use paraffin_primitives::{ConnectedBlock, Height};
use paraffin_store::{Module, Store, StoreOptions, Writer};
use parking_lot::Mutex;
use tempfile::TempDir;

use crate::chain::{Blocks, Recipe, Rules};

/// Longest that the reference may take for one view, and for one block.
const VIEW_TIME: Duration = Duration::from_secs(60);
const BLOCK_TIME: Duration = Duration::from_secs(300);

/// A release program, compiled once, with the built-in contracts that it carries.
#[derive(Clone)]
pub(crate) struct Reference {
    program: Arc<dyn Program>,
    builtins: Arc<Builtins>,
    codes: Arc<CodeCache>,
}

impl Reference {
    /// The program of these rules; `None` after counting the test as skipped.
    pub(crate) fn of(rules: Rules) -> Option<Self> {
        static LOADED: [OnceLock<Option<Reference>>; 2] = [OnceLock::new(), OnceLock::new()];
        let loaded = LOADED[rules as usize].get_or_init(|| {
            let path = paraffin_testkit::reference_program(rules.program())?;
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let builtins = Builtins::from_operator_wasm(&rules.parameters(), &bytes).unwrap();
            builtins.require().unwrap();
            Some(Self { program: load(&bytes).unwrap(), builtins: Arc::new(builtins), codes: Arc::default() })
        });
        loaded.clone()
    }
}

/// The result of a block.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Both engines had these effects.
    Equal(BlockEffects),
    /// They differ: the first difference. The native engine's effects are stored.
    Parted(String),
    /// One of them refuses the block, and nothing of it is stored: the reason.
    Refused(String),
}

/// Records the effects of the native engine.
struct Recorder {
    engine: NativeEngine,
    effects: Arc<Mutex<Option<BlockEffects>>>,
}

impl Engine for Recorder {
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
        *self.effects.lock() = Some(effects.clone());
        Ok(effects)
    }
}

/// Both engines on a store of their own.
pub(crate) struct Lane {
    pub(crate) rules: Rules,
    builtins: Arc<Builtins>,
    codes: Arc<CodeCache>,
    views: Option<HostedViews>,
    pub(crate) blocks: Blocks,
    /// Transactions and spent outputs of the chain as it is.
    outputs: OutputIndex,
    differences: Differences,
    effects: Arc<Mutex<Option<BlockEffects>>>,
    modules: Vec<Box<dyn Module>>,
    writer: Writer,
    pub(crate) store: Store,
    _folder: TempDir,
}

impl Lane {
    /// Both engines before the block at `start`.
    pub(crate) fn new(rules: Rules, start: Height, reference: &Reference) -> Self {
        Self::of(rules, start, Some(reference), &reference.builtins, &reference.codes)
    }

    /// The native engine alone, with built-in contracts of our own.
    pub(crate) fn native_alone(rules: Rules, start: Height, builtins: &Arc<Builtins>) -> Self {
        Self::of(rules, start, None, builtins, &Arc::default())
    }

    fn of(
        rules: Rules,
        start: Height,
        reference: Option<&Reference>,
        builtins: &Arc<Builtins>,
        codes: &Arc<CodeCache>,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let options = StoreOptions { network: rules.network(), undo_blocks: None, memory_bytes: 256 << 20 };
        let schemas = [paraffin_alkanes::SCHEMA, paraffin_hosted::SCHEMA];
        let store = Store::open(folder.path(), &options, &schemas[..=usize::from(reference.is_some())]).unwrap();
        // Messages run before their turn here as well, in series as short as may be.
        let engine =
            NativeEngine::new(rules.network(), Arc::clone(builtins), Arc::clone(codes)).with_speculation_of(2, 2);
        let effects = Arc::new(Mutex::new(None));
        let native = Box::new(Recorder { engine, effects: Arc::clone(&effects) });
        let differences = Differences::default();
        let modules: Vec<Box<dyn Module>> = match reference {
            None => vec![Box::new(AlkanesModule::new(native, rules.network()))],
            Some(Reference { program, .. }) => {
                let limits = BlockLimits { time_max: BLOCK_TIME, ..BlockLimits::default() };
                let handover = Handover::default();
                let hosted = HostedEngine::new(Arc::clone(program), limits, start, handover.clone(), store.clone());
                let (serves, on) = (Serves::Native, OnDifference::Report);
                let engine = ShadowEngine::new(native, hosted, serves, on, differences.clone());
                vec![
                    Box::new(HostedModule::new(Arc::clone(program), limits, start).with_handover(handover)),
                    Box::new(AlkanesModule::new(Box::new(engine), rules.network())),
                ]
            }
        };
        let views = reference.map(|reference| {
            let limits = ViewLimits { memory_bytes_max: 4 << 30, answer_bytes_max: 64 << 20, ..ViewLimits::default() };
            HostedViews::new(Arc::clone(&reference.program), limits)
        });
        Self {
            rules,
            builtins: Arc::clone(builtins),
            codes: Arc::clone(codes),
            views,
            blocks: Blocks::new(rules, start),
            outputs: OutputIndex::default(),
            differences,
            effects,
            modules,
            writer: store.writer().unwrap(),
            store,
            _folder: folder,
        }
    }

    /// Runs the next block in both.
    pub(crate) fn connect(&mut self, recipes: &[Recipe]) -> Outcome {
        let before = self.blocks.clone();
        let block = self.blocks.push(recipes);
        let count = self.differences.count();
        let previous = self.writer.tip().map_or(BlockHash::all_zeros(), |tip| tip.id.hash);
        self.writer.begin_block(block.id, previous, block.block.header.time).unwrap();
        for module in &mut self.modules {
            let id = module.schema().id;
            if let Err(error) = module.connect(&block, &mut self.writer.module(id).unwrap()) {
                self.writer.abandon_block();
                self.blocks = before;
                return Outcome::Refused(error.to_string());
            }
        }
        self.writer.end_block().unwrap();
        self.writer.commit(false).unwrap();
        self.outputs.add(&block);
        let effects = self.effects.lock().take().unwrap_or_default();
        if self.differences.count() == count {
            return Outcome::Equal(effects);
        }
        Outcome::Parted(self.differences.last().unwrap_or_default())
    }

    /// Undoes the newest blocks.
    pub(crate) fn undo(&mut self, count: usize) {
        for _ in 0..count.min(self.blocks.connected.len()) {
            self.writer.undo_block().unwrap();
            self.blocks.undo(1);
        }
        self.outputs = OutputIndex::default();
        self.blocks.connected.iter().for_each(|block| self.outputs.add(block));
    }

    pub(crate) fn start(&self) -> Height {
        self.blocks.next_height() - self.blocks.connected.len() as Height
    }

    /// A view of this program.
    pub(crate) fn native_view(&self, height: Height, name: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let snapshot = self.store.snapshot();
        let parameters = self.rules.parameters();
        let block = views::block_wanted(name, payload).and_then(|height| {
            let block = self.blocks.connected.get(height.checked_sub(self.start())? as usize)?;
            Some(bitcoin::consensus::serialize(&block.block))
        });
        let begun = Instant::now();
        let is_over = || begun.elapsed() > VIEW_TIME;
        let context = ViewContext {
            parameters: &parameters,
            builtins: &self.builtins,
            codes: &self.codes,
            height,
            state: &ChainState::at(&snapshot, height),
            chain: &Until { outputs: &self.outputs, height },
            block: block.as_deref(),
            limits: &views::ViewLimits::default(),
            is_over: &is_over,
        };
        views::call(name, payload, &context).map_err(|error| error.to_string())
    }

    /// The same view of the reference.
    pub(crate) fn reference_view(&self, height: Height, name: &str, payload: &[u8]) -> Result<Vec<u8>, String> {
        let views = self.views.as_ref().expect("asked only beside a program");
        let begun = Instant::now();
        let is_over = || begun.elapsed() > VIEW_TIME;
        views.view(&self.store.snapshot(), height, name, payload, &is_over).map_err(|error| match error {
            HostedViewError::Program(ProgramError::Trapped(text)) => format!("trapped: {text}"),
            error => error.to_string(),
        })
    }
}

/// Transactions by id, and heights at which outputs are spent.
#[derive(Default)]
struct OutputIndex {
    transactions: HashMap<Txid, (Height, u32, bitcoin::Transaction)>,
    /// By outpoint the height of the block that spends it.
    spent: HashMap<OutPoint, Height>,
    /// In the order of the chain.
    order: Vec<Txid>,
}

impl OutputIndex {
    fn add(&mut self, block: &ConnectedBlock) {
        for (index, (transaction, txid)) in (0..).zip(block.block.txdata.iter().zip(&block.txids)) {
            for input in &transaction.input {
                self.spent.entry(input.previous_output).or_insert(block.id.height);
            }
            self.order.push(*txid);
            self.transactions.insert(*txid, (block.id.height, index, transaction.clone()));
        }
    }
}

/// The chain up to a height.
struct Until<'a> {
    outputs: &'a OutputIndex,
    height: Height,
}

impl Until<'_> {
    fn is_spent(&self, outpoint: &OutPoint) -> bool {
        self.outputs.spent.get(outpoint).is_some_and(|height| *height <= self.height)
    }
}

impl ViewChain for Until<'_> {
    fn output(&self, outpoint: &OutPoint) -> Result<Option<PlacedOutput>, ViewError> {
        let found = self.outputs.transactions.get(&outpoint.txid).filter(|(height, ..)| *height <= self.height);
        let Some((height, index, transaction)) = found else { return Ok(None) };
        let output = transaction.output.get(outpoint.vout as usize).cloned();
        Ok(output.map(|output| PlacedOutput { output, height: *height, index: *index }))
    }

    fn unspent(&self, script: &BitcoinScript) -> Result<Vec<OutPoint>, ViewError> {
        let mut unspent = Vec::new();
        for txid in &self.outputs.order {
            let (height, _, transaction) = &self.outputs.transactions[txid];
            if *height > self.height {
                break;
            }
            for (vout, output) in (0..).zip(&transaction.output) {
                let outpoint = OutPoint { txid: *txid, vout };
                if output.script_pubkey.as_script() == script && !self.is_spent(&outpoint) {
                    unspent.push(outpoint);
                }
            }
        }
        Ok(unspent)
    }

    fn is_unspent(&self, outpoint: &OutPoint) -> Result<bool, ViewError> {
        Ok(self.output(outpoint)?.is_some() && !self.is_spent(outpoint))
    }
}
