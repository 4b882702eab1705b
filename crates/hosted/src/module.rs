//! The indexer module: runs the program on each block and stores its writes under the block's height.

use std::sync::Arc;
use std::time::Instant;

use bitcoin::consensus::serialize;
use paraffin_primitives::{BlockId, ConnectedBlock, Height};
use paraffin_store::{Module, ModuleError, ModuleSchema, ModuleWriter};
use parking_lot::Mutex;

use crate::layout::unknown_key;
use crate::rows::{self, BlockRow, UnknownKey};
use crate::{BlockLimits, Flush, Program, ProgramError, ReadError, Reads, RunLimits, SCHEMA};

/// Hands the flush of a block from the module to the engine, which reads it in the same block.
#[derive(Clone, Default)]
pub struct Handover(Arc<Mutex<Option<(BlockId, Flush)>>>);

impl Handover {
    /// Stores the flush of a block and drops any older one.
    pub(crate) fn leave(&self, block: BlockId, flush: Flush) {
        *self.0.lock() = Some((block, flush));
    }

    /// Takes the flush of a block, if it is the stored one.
    pub(crate) fn take(&self, block: BlockId) -> Option<Flush> {
        self.0.lock().take_if(|(id, _)| *id == block).map(|(_, flush)| flush)
    }
}

/// The module of a hosted program. Undo is the store's.
pub struct HostedModule {
    program: Arc<dyn Program>,
    limits: BlockLimits,
    first_height: Height,
    handover: Option<Handover>,
}

impl HostedModule {
    /// A module that runs `program` from `first_height` on; blocks below cost nothing.
    pub fn new(program: Arc<dyn Program>, limits: BlockLimits, first_height: Height) -> Self {
        Self { program, limits, first_height, handover: None }
    }

    /// The same module that hands each flush to an engine, which sees each block after it.
    #[must_use]
    pub fn with_handover(mut self, handover: Handover) -> Self {
        self.handover = Some(handover);
        self
    }
}

/// The state before the block being applied: nothing is written before the program has ended.
struct Before<'a, 'w>(&'a ModuleWriter<'w>);

impl Reads for Before<'_, '_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
        rows::newest(self.0, key)
    }
}

/// Runs a block within its limits.
pub(crate) fn run_block(
    program: &dyn Program,
    limits: BlockLimits,
    block: &ConnectedBlock,
    reads: &dyn Reads,
) -> Result<Flush, ProgramError> {
    let deadline = Instant::now() + limits.time_max;
    let is_over = || Instant::now() >= deadline;
    let limits = RunLimits { memory_bytes_max: limits.memory_bytes_max, is_over: &is_over };
    program.run_block(block.id.height, &serialize(&block.block), reads, limits)
}

/// The error text of a program that cannot go on with a block.
pub(crate) fn halted(block: BlockId, error: &ProgramError) -> String {
    format!(
        "block {block}: the hosted indexer program halts: {error}. Its state stays at the block before and is served as it is; \
         the same block is tried again at the next start"
    )
}

impl Module for HostedModule {
    fn schema(&self) -> ModuleSchema {
        SCHEMA
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let height = block.id.height;
        if height < self.first_height {
            return Ok(());
        }
        let flush = run_block(&*self.program, self.limits, block, &Before(rows)).map_err(|error| match error {
            ProgramError::Read(ReadError::Store(error)) => ModuleError::Store(error),
            error => ModuleError::Block(halted(block.id, &error)),
        })?;
        for (key, value) in &flush.pairs {
            rows::put(rows, key, value)?;
        }
        BlockRow::of(&flush, self.program.hash()).write(height, rows)?;
        if let Some(key) = unknown_key(&flush)
            && UnknownKey::write(height, &key, rows)?
        {
            tracing::error!(
                block = %block.id,
                key,
                "the hosted indexer program writes under a key of no known kind: where it serves, what depends on the contract index is refused \
                 from here on"
            );
        }
        if let Some(handover) = &self.handover {
            handover.leave(block.id, flush);
        }
        Ok(())
    }
}
