use bitcoin::{Amount, OutPoint, TxOut, Txid};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{ModuleError, ModuleWriter, read_together};

use super::recent::{DigestHashing, RecentNumbers, TxidMap};
use crate::activity::number_of;
use crate::error::ReadError;
use crate::outputs::visit_outputs;
use crate::rows::Funding;
use crate::settings::MissingPrevouts;

/// Number of txids from which on another thread looks up their numbers.
const LOOKED_UP_BY_ONE: usize = 64;

/// What the inputs of a block spend.
pub(super) struct SpentOutputs<'a> {
    block: &'a ConnectedBlock,
    inputs: Vec<SpentOutput>,
    /// Where the inputs of each transaction start in `inputs`; one more at the end.
    starts: Vec<usize>,
    /// Where the outputs of each transaction start among all of the block.
    output_starts: Vec<usize>,
    /// Outputs read from the index, by index in `inputs`; empty when the node supplied them.
    loaded: Vec<Option<TxOut>>,
}

/// What one input spends.
#[derive(Debug, Clone, Copy)]
pub(super) struct SpentOutput {
    /// `None`: an unknown output, tolerated.
    pub(super) funding: Option<Funding>,
    source: OutputSource,
}

/// Where the spent output can be read.
#[derive(Debug, Clone, Copy)]
enum OutputSource {
    /// Supplied with the block, for input `.1` of transaction `.0`.
    Supplied(usize, usize),
    /// Output `.1` of transaction `.0` of the same block.
    SameBlock(usize, usize),
    /// Read from the index: position in `loaded`.
    Loaded(usize),
}

impl<'a> SpentOutputs<'a> {
    /// Finds the funding transaction of every input, and its output unless it was supplied with the block.
    pub(super) fn resolve(
        block: &'a ConnectedBlock,
        first_number: u32,
        rows: &ModuleWriter<'_>,
        recent: &RecentNumbers,
        missing: MissingPrevouts,
    ) -> Result<Self, ModuleError> {
        let transactions = &block.block.txdata;
        let finder = Finder { rows, recent, is_sure: block.spent.is_some() && missing == MissingPrevouts::Refuse };
        let input_count = transactions.iter().map(|transaction| transaction.input.len()).sum();
        let mut inputs: Vec<SpentOutput> = Vec::with_capacity(input_count);
        let mut starts = Vec::with_capacity(transactions.len() + 1);
        let mut output_starts = Vec::with_capacity(transactions.len());
        let mut outputs = 0;
        // Inputs that spend an earlier block's outputs.
        let mut earlier: Vec<(usize, OutPoint)> = Vec::new();
        let mut in_block: TxidMap<usize> =
            TxidMap::with_capacity_and_hasher(transactions.len(), DigestHashing::default());
        for (index, transaction) in transactions.iter().enumerate() {
            starts.push(inputs.len());
            output_starts.push(outputs);
            outputs += transaction.output.len();
            for (vin, input) in transaction.input.iter().enumerate().take_while(|_| index > 0) {
                let OutPoint { txid, vout } = input.previous_output;
                inputs.push(if let Some(earlier) = in_block.get(&txid) {
                    let exists = (vout as usize) < transactions[*earlier].output.len();
                    let funding = exists.then_some(Funding { number: first_number + *earlier as u32, vout });
                    SpentOutput { funding, source: OutputSource::SameBlock(*earlier, vout as usize) }
                } else {
                    let input_index = inputs.len();
                    earlier.push((input_index, input.previous_output));
                    let source = if block.spent.is_some() {
                        OutputSource::Supplied(index, vin)
                    } else {
                        OutputSource::Loaded(input_index)
                    };
                    SpentOutput { funding: None, source }
                });
            }
            in_block.insert(block.txids[index], index);
        }
        starts.push(inputs.len());
        let numbers = finder.numbers_of(&earlier)?;
        let mut to_read = Vec::with_capacity(earlier.len());
        for ((index, OutPoint { txid, vout }), number) in earlier.into_iter().zip(numbers) {
            let Some(number) = number else { continue };
            let funding = Funding { number, vout };
            inputs[index].funding = Some(funding);
            to_read.push((funding, (index, txid)));
        }
        let mut spent = Self { block, inputs, starts, output_starts, loaded: Vec::new() };
        if !finder.is_sure {
            spent.read(rows, to_read)?;
        }
        if missing == MissingPrevouts::Refuse {
            spent.check_all_resolved()?;
        }
        Ok(spent)
    }

    /// Reads outputs from the index, and drops those whose transaction only shares the prefix of the one meant.
    fn read(&mut self, rows: &ModuleWriter<'_>, mut to_read: Vec<(Funding, (usize, Txid))>) -> Result<(), ReadError> {
        let mut loaded = vec![None; self.inputs.len()];
        visit_outputs(rows, &mut to_read, |(index, txid), transaction, satoshis, script| {
            if transaction.txid == txid {
                loaded[index] = Some(TxOut { value: Amount::from_sat(satoshis), script_pubkey: script.to_script() });
            }
            Ok(())
        })?;
        for (_, (index, _)) in to_read {
            if loaded[index].is_none() {
                self.inputs[index].funding = None;
            }
        }
        self.loaded = loaded;
        Ok(())
    }

    fn check_all_resolved(&self) -> Result<(), ModuleError> {
        for (index, transaction) in self.block.block.txdata.iter().enumerate().skip(1) {
            let inputs = self.of_transaction(index).iter().zip(&transaction.input);
            if let Some((_, input)) = inputs.into_iter().find(|(spent, _)| spent.funding.is_none()) {
                let (id, txid, outpoint) = (self.block.id, self.block.txids[index], input.previous_output);
                let message =
                    format!("block {id}: transaction {txid} spends {outpoint}, which the index does not know");
                return Err(ModuleError::Block(message));
            }
        }
        Ok(())
    }

    /// Inputs of a transaction of the block; none for the coinbase.
    pub(super) fn of_transaction(&self, index: usize) -> &[SpentOutput] {
        &self.inputs[self.starts[index]..self.starts[index + 1]]
    }

    /// The output that an input spends; `None` when it is unknown.
    pub(super) fn output(&self, input: &SpentOutput) -> Option<&TxOut> {
        input.funding?;
        match input.source {
            OutputSource::Supplied(index, vin) => self.block.spent.as_ref()?.get(index)?.get(vin),
            OutputSource::SameBlock(index, vout) => self.block.block.txdata.get(index)?.output.get(vout),
            OutputSource::Loaded(index) => self.loaded.get(index)?.as_ref(),
        }
    }

    /// SHA-256 of the script of that output, where it came with the block.
    pub(super) fn digest(&self, input: &SpentOutput) -> Option<[u8; 32]> {
        let digests = self.block.script_digests.as_ref()?;
        match input.source {
            OutputSource::Supplied(index, vin) => digests.spent.get(self.starts[index] + vin).copied(),
            OutputSource::SameBlock(index, vout) => self.digest_of_output(index, vout),
            OutputSource::Loaded(_) => None,
        }
    }

    /// SHA-256 of the script of output `vout` of transaction `index` of the block, where it came with the block.
    pub(super) fn digest_of_output(&self, index: usize, vout: usize) -> Option<[u8; 32]> {
        self.block.script_digests.as_ref()?.outputs.get(self.output_starts[index] + vout).copied()
    }
}

struct Finder<'a, 'w> {
    rows: &'a ModuleWriter<'w>,
    recent: &'a RecentNumbers,
    /// The node reported what the block spends, so it has seen every funding transaction, and none need be read.
    is_sure: bool,
}

impl Finder<'_, '_> {
    /// Numbers of the transactions that the inputs spend.
    fn numbers_of(&self, inputs: &[(usize, OutPoint)]) -> Result<Vec<Option<u32>>, ReadError> {
        let mut numbers = self.recent.get(inputs.iter().map(|(_, outpoint)| &outpoint.txid));
        let indexes: Vec<usize> = (0..inputs.len()).filter(|index| numbers[*index].is_none()).collect();
        let older = read_together(&indexes, LOOKED_UP_BY_ONE, |index| number_of(self.rows, &inputs[*index].1.txid))?;
        for (index, number) in indexes.into_iter().zip(older) {
            numbers[index] = number;
        }
        Ok(numbers)
    }
}
