//! The native engine: the order of things in a block (protocol B1).

use std::sync::Arc;

use paraffin_primitives::{ConnectedBlock, Height, Network};

use crate::protorune::{Ledger, Placed, save_sheet};
use crate::transaction::process;
use crate::vm::{Queue, Run, Speculating, Speculation};
use crate::{
    BlockEffects, Builtins, CodeCache, Engine, Halt, MessageRunner, Overlay, Parameters, Sheet, StateKey, StateReader,
    Transfer, World, deploy_builtins, handle_message, patches, wrapped_bitcoin,
};

/// Deploys the built-in contracts that are not deployed yet, and returns what they issue to the genesis outpoint (protocol
/// B18): [`deploy_builtins`], or a stand-in in tests.
pub type Deployer = fn(&mut World<'_>) -> Result<Vec<Transfer>, Halt>;

/// Runs blocks in this process.
pub struct NativeEngine {
    parameters: Parameters,
    builtins: Arc<Builtins>,
    codes: Arc<CodeCache>,
    known_until: Option<u64>,
    run_message: MessageRunner,
    deploy: Deployer,
    speculating: Speculating,
    speculated: (u64, u64),
    #[cfg(test)]
    counted: Vec<(u64, crate::FuelTank)>,
}

impl NativeEngine {
    /// An engine for a network. `builtins` are the contracts that are never on chain; `codes` may be shared with views.
    pub fn new(network: Network, builtins: Arc<Builtins>, codes: Arc<CodeCache>) -> Self {
        Self {
            parameters: Parameters::of(network),
            builtins,
            codes,
            known_until: None,
            run_message: handle_message,
            deploy: deploy_builtins,
            speculating: Speculating::with(0, usize::MAX),
            speculated: (0, 0),
            #[cfg(test)]
            counted: Vec::new(),
        }
    }

    /// The same engine that runs equal messages of a block before their turn, on as many threads as there are cores, four in all at most. Each of
    /// those that it starts takes up to 64 MiB while a block has such messages. Effects are the same.
    #[must_use]
    pub fn with_speculation(mut self) -> Self {
        self.speculating = Speculating::by_cores();
        self
    }

    /// The same with so many threads beside its own, for series of so many messages and more.
    #[doc(hidden)]
    #[must_use]
    pub fn with_speculation_of(mut self, threads: usize, series_len_min: usize) -> Self {
        self.speculating = Speculating::with(threads, series_len_min);
        self
    }

    /// Messages of all blocks whose attempts were taken, and whose attempts were missed.
    #[doc(hidden)]
    pub fn speculation_counts(&self) -> (u64, u64) {
        self.speculated
    }

    /// The same engine with other parameters.
    #[must_use]
    pub fn with_parameters(mut self, parameters: Parameters) -> Self {
        self.parameters = parameters;
        self
    }

    /// The same engine that halts above a height, whose rules it does not know; `None` for one that knows all.
    #[must_use]
    pub fn with_known_until(mut self, height: Option<u64>) -> Self {
        self.known_until = height;
        self
    }

    /// The same engine with stand-ins for the contracts, so that the ledger can be tested without any.
    #[doc(hidden)]
    #[must_use]
    pub fn with_contracts(mut self, run_message: MessageRunner, deploy: Deployer) -> Self {
        self.run_message = run_message;
        self.deploy = deploy;
        self
    }

    /// First block that it has anything to do with.
    pub fn genesis_height(&self) -> u64 {
        self.parameters.genesis_height
    }
}

impl NativeEngine {
    fn process_all(&self, block: &ConnectedBlock, world: &mut World<'_>) -> Result<Ledger, Halt> {
        let mut ledger = Ledger::default();
        for (index, (transaction, txid)) in block.block.txdata.iter().zip(&block.txids).enumerate() {
            let placed = Placed { transaction, txid: *txid, index: index as u32 };
            process(&mut ledger, world, self.run_message, placed)?;
        }
        Ok(ledger)
    }
}

impl Engine for NativeEngine {
    fn name(&self) -> &'static str {
        "native"
    }

    fn run_block(
        &mut self,
        height: Height,
        block: &ConnectedBlock,
        state: &dyn StateReader,
    ) -> Result<BlockEffects, Halt> {
        let height = u64::from(height);
        if height < self.parameters.genesis_height {
            return Ok(BlockEffects::default());
        }
        if let Some(known_until) = self.known_until.filter(|known_until| height > *known_until) {
            return Err(Halt::UnknownRules { height, known_until });
        }
        let series = self.speculating.series(&block.block, &block.txids);
        let queue = Queue::default();
        let state = Overlay::of_block(state, &self.parameters);
        let mut world = World::new(&self.parameters, height, &block.block, state, &self.codes, &self.builtins);
        if world.state.get(&StateKey::SeenGenesis)?.is_none_or(|seen| seen.is_empty()) {
            world.state.put(StateKey::SeenGenesis, vec![1]);
            world.state.put(StateKey::Sequence, 1u128.to_le_bytes().to_vec());
        }
        issue(&mut world, self.deploy)?;
        patches::apply(&mut world);

        let ledger = match &series {
            None => self.process_all(block, &mut world)?,
            Some(series) => {
                let (parameters, codes, builtins) = (&self.parameters, &*self.codes, &*self.builtins);
                let is_eager = self.speculating.is_eager;
                let run = Run { parameters, height, series, codes, builtins, is_eager };
                self.speculating.beside(&queue, run, || {
                    world.speculation = Some(Speculation::new(&self.speculating, series, &queue, run));
                    self.process_all(block, &mut world)
                })?
            }
        };
        let speculated = world.speculation.take().map_or((0, 0), |speculation| speculation.counts());
        wrapped_bitcoin::advance(&mut world, block)?;
        #[cfg(test)]
        self.counted.append(&mut world.counted);
        let World { state, traces, undone, .. } = world;
        self.speculated.0 += u64::from(speculated.0);
        self.speculated.1 += u64::from(speculated.1);
        Ok(BlockEffects { writes: state.into_writes()?, traces: traces.into_traces(), undone, funded: ledger.funded })
    }
}

/// Deploys missing built-in contracts, and saves the alkanes that they issue (protocol B16, B18).
fn issue(world: &mut World<'_>, deploy: Deployer) -> Result<(), Halt> {
    let mut sheet = Sheet::new();
    for Transfer { id, value } in deploy(world)? {
        // An overflow here would be the built-in's own doing; the reference does not check.
        sheet.set(id, sheet.get(id).wrapping_add(value));
    }
    save_sheet(world, StateKey::Sheet(world.parameters.genesis_outpoint()), &sheet)?;
    Ok(())
}

#[cfg(test)]
mod tests;
