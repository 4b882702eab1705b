//! A hosted program as an engine of the alkanes module.

use std::sync::Arc;

use paraffin_alkanes::{BlockEffects, Engine, Halt, StateReader};
use paraffin_primitives::{ConnectedBlock, Height};
use paraffin_store::{ModuleId, Store};

use crate::layout::{LayoutError, Translated, translate};
use crate::module::{halted, run_block};
use crate::rows::BlockRow;
use crate::{BlockLimits, Flush, Handover, HostedState, MODULE, Program};

/// Follows the alkanes indexer program: its writes in a block are translated into effects.
///
/// The program itself is run by [`crate::HostedModule`], which sees each block first and hands over its flush. A block that
/// comes alone, because the alkanes module is run again, is run here on the state that the hosted module has stored.
pub struct HostedEngine {
    program: Arc<dyn Program>,
    limits: BlockLimits,
    first_height: Height,
    handover: Handover,
    store: Store,
}

impl HostedEngine {
    /// An engine that takes flushes from `handover`. Blocks below `first_height` have no effects.
    pub fn new(
        program: Arc<dyn Program>,
        limits: BlockLimits,
        first_height: Height,
        handover: Handover,
        store: Store,
    ) -> Self {
        Self { program, limits, first_height, handover, store }
    }

    fn flush(&self, block: &ConnectedBlock) -> Result<Flush, Halt> {
        if let Some(flush) = self.handover.take(block.id) {
            return Ok(flush);
        }
        let halt = |error: &dyn std::fmt::Display| Halt::Hosted(error.to_string());
        let snapshot = self.store.snapshot();
        let before = block.id.height.checked_sub(1);
        let have = snapshot.module_height(MODULE).map_err(|error| halt(&error))?;
        if block.id.height > self.first_height && have < before {
            return Err(Halt::Hosted(format!(
                "the hosted indexer program has not run block {}: run `paraffin reindex hosted` first",
                block.id
            )));
        }
        let state = HostedState::at(&snapshot, before);
        let flush = run_block(&*self.program, self.limits, block, &state);
        let flush = flush.map_err(|error| Halt::Hosted(halted(block.id, &error)))?;
        let row = BlockRow::at(&snapshot, block.id.height).map_err(|error| halt(&error))?;
        match row.filter(|row| row.program == self.program.hash() && row.digest != flush.digest()) {
            None => Ok(flush),
            Some(_) => Err(Halt::Hosted(format!(
                "the hosted indexer program wrote other values when block {} was run again: the disk or the memory of this \
                 machine cannot be trusted, or the program asks for more than its block",
                block.id
            ))),
        }
    }

    /// The translated effects of a block, or the reason why the flush cannot be read.
    ///
    /// # Errors
    /// The program failed, or the state cannot be read.
    pub(crate) fn translated(
        &self,
        block: &ConnectedBlock,
        state: &dyn StateReader,
    ) -> Result<Result<Translated, Unreadable>, Halt> {
        if block.id.height < self.first_height {
            return Ok(Ok(Translated::default()));
        }
        match translate(&self.flush(block)?, block, state) {
            Ok(translated) => Ok(Ok(translated)),
            Err(LayoutError::State(error)) => Err(error.into()),
            Err(error) => Ok(Err(Unreadable(format!(
                "block {}: what the hosted indexer program writes cannot be read: {error}",
                block.id
            )))),
        }
    }
}

/// The reason why a flush cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) String);

impl From<Unreadable> for Halt {
    fn from(Unreadable(text): Unreadable) -> Self {
        Self::Hosted(text)
    }
}

impl Engine for HostedEngine {
    fn name(&self) -> &'static str {
        "hosted"
    }

    /// The hosted module hands the writes of the block over.
    fn follows(&self) -> Option<ModuleId> {
        Some(MODULE)
    }

    fn run_block(
        &mut self,
        _height: Height,
        block: &ConnectedBlock,
        state: &dyn StateReader,
    ) -> Result<BlockEffects, Halt> {
        Ok(self.translated(block, state)??.effects)
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn accept_partial(&mut self) -> Result<(), Halt> {
        Ok(())
    }
}
