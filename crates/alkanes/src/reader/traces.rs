use bitcoin::OutPoint;
use paraffin_primitives::Height;
use paraffin_store::EarlierTables;

use super::ChainState;
use crate::rows::{Parser, decode_trace, outpoint_key, parse_outpoint_key, read_state};
use crate::tables::{BLOCK_TRACES, EFFECTS, TRACES};
use crate::{StateError, StateKey, StateReader, Trace};

/// The trace of one message of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTrace {
    /// Shadow outpoint of the message.
    pub outpoint: OutPoint,
    /// Index of the transaction in the block.
    pub transaction_index: u32,
    /// Whether its effects were kept ([`BlockEffects::undone`](crate::BlockEffects::undone)).
    pub stands: bool,
    /// Its trace.
    pub trace: Trace,
}

/// A row of `block_traces`.
pub(super) struct Traced {
    pub(super) outpoint: OutPoint,
    pub(super) transaction_index: u32,
    pub(super) stands: bool,
}

impl Traced {
    pub(super) fn read(row: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("block_traces", row);
        let (outpoint, transaction_index) = (parse_outpoint_key(&mut parser)?, parser.number()?);
        let [stands] = parser.array()?;
        Ok(Self { outpoint, transaction_index, stands: stands != 0 })
    }

    /// The trace that a row of `traces` holds.
    fn with(self, stored: Option<Vec<u8>>) -> Result<BlockTrace, StateError> {
        let Self { outpoint, transaction_index, stands } = self;
        let stored = stored.ok_or_else(|| StateError::Damaged(format!("the trace of {outpoint} is missing")))?;
        let mut parser = Parser::new("traces", &stored);
        parser.number()?;
        Ok(BlockTrace { outpoint, transaction_index, stands, trace: decode_trace(parser.rest())? })
    }
}

/// The state and the traces of the block that is being applied, for modules that see it after [`AlkanesModule`](crate::AlkanesModule).
#[derive(Clone, Copy)]
pub struct BlockState<'a>(EarlierTables<'a>);

impl<'a> BlockState<'a> {
    /// Of the tables that such a module is given; its schema names [`MODULE`](crate::MODULE) among what it reads.
    pub fn new(tables: EarlierTables<'a>) -> Self {
        Self(tables)
    }

    /// All traces of the block, in its order.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn traces(&self) -> Result<Vec<BlockTrace>, StateError> {
        let rows = self.0.prefix(&BLOCK_TRACES, &self.0.height().to_be_bytes(), usize::MAX)?;
        rows.iter()
            .map(|(_, row)| {
                let traced = Traced::read(row)?;
                let stored = self.0.get(&TRACES, &outpoint_key(&traced.outpoint))?;
                traced.with(stored)
            })
            .collect()
    }
}

impl StateReader for BlockState<'_> {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        read_state(key, self.0.height(), |table, row_key| self.0.get(table, row_key))
    }
}

impl ChainState {
    /// The trace of the message at a shadow outpoint; `None` when there is none up to the requested height.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn trace(&self, outpoint: &OutPoint) -> Result<Option<Trace>, StateError> {
        let Some(stored) = self.snapshot.get(&TRACES, &outpoint_key(outpoint))? else { return Ok(None) };
        let mut parser = Parser::new("traces", &stored);
        if parser.number()? > self.height {
            return Ok(None);
        }
        decode_trace(parser.rest()).map(Some)
    }

    /// Shadow outpoints of the messages of a block that have a trace, in the order of the block, each with the index of its
    /// transaction.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn traced_outpoints(&self, height: Height) -> Result<Vec<(OutPoint, u32)>, StateError> {
        if height > self.height {
            return Ok(Vec::new());
        }
        let rows = self.snapshot.prefix(&BLOCK_TRACES, &height.to_be_bytes());
        rows.map(|row| Traced::read(&row?.1).map(|traced| (traced.outpoint, traced.transaction_index))).collect()
    }

    /// All traces of a block, in its order: at most some 192 MiB.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn block_traces(&self, height: Height) -> Result<Vec<BlockTrace>, StateError> {
        Ok(self.block_traces_within(height, u64::MAX)?.unwrap_or_default())
    }

    /// All traces of a block, in its order; `None` when they count more than `bytes_max` ([`Trace::bytes`]).
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn block_traces_within(&self, height: Height, bytes_max: u64) -> Result<Option<Vec<BlockTrace>>, StateError> {
        let (mut traces, mut bytes) = (Vec::new(), 0_u64);
        for traced in self.each_block_trace(height)? {
            let traced = traced?;
            bytes = bytes.saturating_add(traced.trace.bytes());
            if bytes > bytes_max {
                return Ok(None);
            }
            traces.push(traced);
        }
        Ok(Some(traces))
    }

    /// The traces of a block one after the other, from either end: one message is in memory at a time.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn each_block_trace(
        &self,
        height: Height,
    ) -> Result<impl DoubleEndedIterator<Item = Result<BlockTrace, StateError>> + '_, StateError> {
        let rows = (height <= self.height).then(|| self.snapshot.prefix(&BLOCK_TRACES, &height.to_be_bytes()));
        let rows: Vec<Traced> =
            rows.into_iter().flatten().map(|row| Traced::read(&row?.1)).collect::<Result<_, _>>()?;
        Ok(rows.into_iter().map(|traced| {
            let stored = self.snapshot.get(&TRACES, &outpoint_key(&traced.outpoint))?;
            traced.with(stored)
        }))
    }

    /// Digest of everything that the block at a height changed; `None` where the module had not begun.
    /// See [`BlockEffects::digest`](crate::BlockEffects::digest).
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn effects_digest(&self, height: Height) -> Result<Option<[u8; 32]>, StateError> {
        let stored = self.snapshot.get(&EFFECTS, &height.to_be_bytes())?;
        stored.map(|stored| Parser::new("effects", &stored).array()).transpose()
    }
}
