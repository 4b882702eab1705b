use bitcoin::OutPoint;
use paraffin_primitives::Height;

use super::ChainState;
use crate::rows::{Parser, decode_trace, outpoint_key, parse_outpoint_key};
use crate::tables::{BLOCK_TRACES, EFFECTS, TRACES};
use crate::{StateError, Trace};

/// The trace of one message of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTrace {
    /// Shadow outpoint of the message.
    pub outpoint: OutPoint,
    /// Place of the transaction in the block.
    pub transaction_index: u32,
    /// What it did.
    pub trace: Trace,
}

impl ChainState {
    /// The trace of the message at a shadow outpoint; `None` when there is none up to the height asked for.
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

    /// Shadow outpoints of the messages of a block that have a trace, in the order of the block, each with the place of its
    /// transaction.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn traced_outpoints(&self, height: Height) -> Result<Vec<(OutPoint, u32)>, StateError> {
        if height > self.height {
            return Ok(Vec::new());
        }
        let rows = self.snapshot.prefix(&BLOCK_TRACES, &height.to_be_bytes());
        rows.map(|row| {
            let (_, value) = row?;
            let mut parser = Parser::new("block_traces", &value);
            Ok((parse_outpoint_key(&mut parser)?, parser.number()?))
        })
        .collect()
    }

    /// All traces of a block, in its order.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn block_traces(&self, height: Height) -> Result<Vec<BlockTrace>, StateError> {
        let outpoints = self.traced_outpoints(height)?.into_iter();
        outpoints
            .map(|(outpoint, transaction_index)| {
                let trace = self.trace(&outpoint)?;
                let trace = trace.ok_or_else(|| StateError::Damaged(format!("the trace of {outpoint} is missing")))?;
                Ok(BlockTrace { outpoint, transaction_index, trace })
            })
            .collect()
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
