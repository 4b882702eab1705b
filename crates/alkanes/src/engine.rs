//! The interface of engines: blocks in, effects out. The native engine is one, a hosted indexer program another.

mod difference;
mod digest;

use bitcoin::OutPoint;
use paraffin_primitives::{ConnectedBlock, Height};
use paraffin_store::ModuleId;

pub use digest::EffectsPart;

use crate::{Halt, StateKey, StateReader, Trace};

/// Everything that a block changes. Two engines agree on a block when these are equal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BlockEffects {
    /// State, sorted by key, each key once. A value that was there before is left out.
    pub writes: Vec<(StateKey, Vec<u8>)>,
    /// Traces of messages in the order of the block, by shadow outpoint (protocol B15).
    pub traces: Vec<(OutPoint, Trace)>,
    /// Messages whose trace remains although their effects were undone: their transaction is void, or what they returned did not fit
    /// its pointer. It follows from the rest, so engines are not compared by it.
    pub undone: Vec<OutPoint>,
    /// Outputs of this block that got alkanes, in the order of the block; also when spent within it.
    pub funded: Vec<OutPoint>,
}

/// Runs blocks.
pub trait Engine: Send {
    /// Its name in configuration and messages.
    fn name(&self) -> &'static str;

    /// Runs the block after the one that `state` stands at.
    ///
    /// # Errors
    /// The engine halts; nothing of the block may be applied.
    fn run_block(
        &mut self,
        height: Height,
        block: &ConnectedBlock,
        state: &dyn StateReader,
    ) -> Result<BlockEffects, Halt>;

    /// A module that must have applied a block before the engine runs it.
    fn follows(&self) -> Option<ModuleId> {
        None
    }

    /// Whether its effects hold all of the state that the native engine reads. What an engine leaves out that follows another
    /// program, the native engine would miss.
    fn is_whole(&self) -> bool {
        true
    }

    /// Called before a block whose state was made by an engine that is not whole.
    ///
    /// # Errors
    /// The engine cannot go on from there.
    fn accept_partial(&mut self) -> Result<(), Halt> {
        Err(Halt::PartialState)
    }
}
