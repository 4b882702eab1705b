//! The index as views read it.

use bitcoin::{OutPoint, Script};
use paraffin_primitives::{AlkaneId, Height};

use super::ViewState;
use crate::{BlockTrace, ChainState, Etching, StateError, Trace, Transfer};

impl ViewState for ChainState {
    fn trace(&self, shadow: &OutPoint) -> Result<Option<Trace>, StateError> {
        Self::trace(self, shadow)
    }

    fn traces_of_block(&self, height: Height, bytes_max: u64) -> Result<Option<Vec<BlockTrace>>, StateError> {
        self.block_traces_within(height, bytes_max)
    }

    fn first_seen(&self, height: Height) -> Result<Vec<AlkaneId>, StateError> {
        Self::first_seen(self, height)
    }

    fn etched(&self, height: Height) -> Result<Vec<(AlkaneId, Etching)>, StateError> {
        self.etchings(height)
    }

    fn inventory(&self, who: AlkaneId, limit: usize) -> Result<Vec<Transfer>, StateError> {
        let page = Self::inventory(self, who, None, limit)?;
        Ok(page.items.into_iter().map(|(id, value)| Transfer { id, value }).collect())
    }

    fn funded(&self, script: &Script, limit: usize) -> Result<Vec<OutPoint>, StateError> {
        let page = self.outputs_of(script, None, limit)?;
        Ok(page.items.into_iter().map(|output| output.outpoint).collect())
    }
}
