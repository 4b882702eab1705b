use bitcoin::{OutPoint, ScriptBuf, Txid};
use paraffin_primitives::Height;

use super::BitcoinIndex;
use crate::activity::PageCursor;
use crate::error::ReadError;
use crate::outputs::visit_outputs;
use crate::rows::Funding;

/// What a transaction of a block does with an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputUse {
    /// Its input with this number spends it.
    Spent(u32),
    /// It is its own output with this number.
    Made(u32),
}

impl OutputUse {
    /// Whether the transaction makes the output.
    pub fn is_made(self) -> bool {
        matches!(self, Self::Made(_))
    }
}

/// An output that a transaction of a block makes or spends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockOutput {
    /// Index of the transaction in the block; the coinbase has 0.
    pub transaction: u32,
    /// The transaction.
    pub txid: Txid,
    /// Whether it makes or spends the output, and by which of its outputs or inputs.
    pub usage: OutputUse,
    /// The output.
    pub outpoint: OutPoint,
    /// Satoshis.
    pub value: u64,
    /// The output's script.
    pub script: ScriptBuf,
}

impl BitcoinIndex {
    /// Visits every output that the transactions of the block at `height` make, in their order, and then every output that they spend,
    /// in no order. Inputs whose output is not in the index are passed over. Returns `false` for a block that is not indexed.
    /// Transactions that the block spends from are read once each, independent of the number of inputs.
    ///
    /// # Errors
    /// Those of reading, and what `visit` answers.
    pub fn visit_block<E: From<ReadError>>(
        &self,
        height: Height,
        mut visit: impl FnMut(BlockOutput) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(row) = self.block_row(height)? else { return Ok(false) };
        let mut cursor = PageCursor::default();
        let mut txids = Vec::new();
        let mut spent: Vec<(Funding, (u32, u32, u32))> = Vec::new();
        for index in 0..row.transaction_count {
            let number = row.first_number.saturating_add(index);
            let transaction = cursor.transaction(&self.snapshot, number)?;
            let txid = transaction.txid;
            txids.push(txid);
            for (vout, (value, script)) in (0..).zip(transaction.outputs()) {
                let outpoint = OutPoint { txid, vout };
                let (usage, script) = (OutputUse::Made(vout), script.to_script());
                visit(BlockOutput { transaction: index, txid, usage, outpoint, value, script })?;
            }
            for (vin, funding) in (0..).zip(transaction.inputs()) {
                spent.extend(funding.map(|funding| (funding, (index, vin, funding.vout))));
            }
        }
        // The reader of outputs has one type of error: that of the visitor is carried around it.
        let mut failed = None;
        visit_outputs(&self.snapshot, &mut spent, |(index, vin, vout), funding, value, script| {
            let (Some(txid), None) = (txids.get(index as usize), &failed) else { return Ok(()) };
            let outpoint = OutPoint { txid: funding.txid, vout };
            let (usage, script) = (OutputUse::Spent(vin), script.to_script());
            failed = visit(BlockOutput { transaction: index, txid: *txid, usage, outpoint, value, script }).err();
            Ok(())
        })?;
        failed.map_or(Ok(true), Err)
    }
}
