//! The outputs that a block spends: values, scripts and heights.

use bitcoin::ScriptBuf;
use paraffin_bitcoin_index::{BlockInputs, MissingPrevouts, SpentOutput};
use paraffin_primitives::{ConnectedBlock, Height};
use paraffin_store::{ModuleError, ModuleWriter};

/// The outputs that a block spends: as the node reported them, else from the Bitcoin index.
pub(super) struct SpentOutputs<'a> {
    block: &'a ConnectedBlock,
    indexed: Vec<Vec<Option<SpentOutput>>>,
}

impl<'a> SpentOutputs<'a> {
    pub(super) fn of(
        block: &'a ConnectedBlock,
        rows: &ModuleWriter<'_>,
        missing: MissingPrevouts,
    ) -> Result<Self, ModuleError> {
        let mut spent = Self { block, indexed: Vec::new() };
        if block.spent.is_some() {
            return Ok(spent);
        }
        spent.indexed = BlockInputs::new(rows.earlier())?.all()?;
        let is_whole = spent.indexed.iter().flatten().all(Option::is_some);
        if missing == MissingPrevouts::Refuse && !is_whole {
            return Err(ModuleError::Block(format!("block {} spends outputs that the index does not know", block.id)));
        }
        Ok(spent)
    }

    /// Value of each input in satoshis; not for the coinbase. In an isolated block the first input whose output is unknown is
    /// assumed to cover what the outputs need, and the others to be worth 0.
    pub(super) fn values(&self, transaction_index: usize) -> Vec<u64> {
        if let Some(reported) = &self.block.spent {
            return reported.get(transaction_index).into_iter().flatten().map(|output| output.value.to_sat()).collect();
        }
        let Some(found) = self.indexed.get(transaction_index) else { return Vec::new() };
        let value_of = |input: &Option<SpentOutput>| input.as_ref().map(|spent| spent.output.value.to_sat());
        let outputs =
            self.block.block.txdata.get(transaction_index).into_iter().flat_map(|transaction| &transaction.output);
        let paid_out = outputs.fold(0u64, |sum, output| sum.saturating_add(output.value.to_sat()));
        let paid_in = found.iter().filter_map(value_of).fold(0, u64::saturating_add);
        let mut needed = paid_out.saturating_sub(paid_in);
        found.iter().map(|input| value_of(input).unwrap_or_else(|| std::mem::take(&mut needed))).collect()
    }

    /// Script of the output that an input spends.
    pub(super) fn script(&self, transaction_index: usize, input: usize) -> Option<&ScriptBuf> {
        match &self.block.spent {
            Some(reported) => reported.get(transaction_index)?.get(input).map(|output| &output.script_pubkey),
            None => self.indexed.get(transaction_index)?.get(input)?.as_ref().map(|spent| &spent.output.script_pubkey),
        }
    }

    /// Height of the transaction that made the output that an input spends; `None` when it is unknown.
    pub(super) fn height(
        &self,
        transaction_index: usize,
        input: usize,
        rows: &ModuleWriter<'_>,
    ) -> Result<Option<Height>, ModuleError> {
        if self.block.spent.is_none() {
            let found = self.indexed.get(transaction_index).and_then(|inputs| inputs.get(input)?.as_ref());
            return Ok(found.map(|spent| spent.height));
        }
        let inputs =
            BlockInputs::new(rows.earlier())?.of_transaction(u32::try_from(transaction_index).unwrap_or(u32::MAX))?;
        Ok(inputs.get(input).and_then(|spent| spent.as_ref().map(|spent| spent.height)))
    }
}
