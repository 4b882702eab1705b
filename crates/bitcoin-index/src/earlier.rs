//! What the inputs of a block spend, for modules that see the block after this one.

use bitcoin::{Amount, TxOut};
use paraffin_primitives::Height;
use paraffin_store::EarlierTables;

use crate::activity::PageCursor;
use crate::error::ReadError;
use crate::outputs::visit_outputs;
use crate::rows::{BlockRow, Funding};
use crate::tables::BLOCKS;

/// An output that an input of the block spends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentOutput {
    /// The output.
    pub output: TxOut,
    /// Height of the transaction that made it.
    pub height: Height,
}

/// The inputs of the block that is being applied, as this index has just written them. All of it is read by the numbers of
/// transactions, which never change, so it is the same when a module catches up alone.
#[derive(Clone, Copy)]
pub struct BlockInputs<'a> {
    earlier: EarlierTables<'a>,
    first_number: u32,
    transaction_count: u32,
}

impl<'a> BlockInputs<'a> {
    /// The inputs of the block being applied.
    ///
    /// # Errors
    /// Those of reading; the block's own row is missing.
    pub fn new(earlier: EarlierTables<'a>) -> Result<Self, ReadError> {
        let missing =
            ReadError::Damaged { table: BLOCKS.name, reason: "the row of the block being applied is missing" };
        let row = earlier.get(&BLOCKS, &earlier.height().to_be_bytes())?.ok_or(missing)?;
        let row = BlockRow::decode(&row).map_err(|error| ReadError::damaged(&BLOCKS, error))?;
        Ok(Self { earlier, first_number: row.first_number, transaction_count: row.transaction_count })
    }

    /// What the inputs of the transaction at position `index` of the block spend, in input order; `None` for unknown outputs, and
    /// empty for the coinbase.
    ///
    /// # Errors
    /// Those of reading.
    pub fn of_transaction(&self, index: u32) -> Result<Vec<Option<SpentOutput>>, ReadError> {
        Ok(self.of_transactions(index, 1)?.pop().unwrap_or_default())
    }

    /// The same for every transaction of the block. Reads each funding transaction once.
    ///
    /// # Errors
    /// Those of reading.
    pub fn all(&self) -> Result<Vec<Vec<Option<SpentOutput>>>, ReadError> {
        self.of_transactions(0, self.transaction_count)
    }

    fn of_transactions(&self, first: u32, count: u32) -> Result<Vec<Vec<Option<SpentOutput>>>, ReadError> {
        let mut cursor = PageCursor::default();
        let mut spent = Vec::new();
        let mut wanted: Vec<(Funding, (usize, usize))> = Vec::new();
        for (row_index, index) in (first..self.transaction_count.min(first.saturating_add(count))).enumerate() {
            let row = cursor.transaction(&self.earlier, self.first_number.saturating_add(index))?;
            spent.push(vec![None; row.input_count as usize]);
            let fundings = row.inputs().enumerate();
            wanted.extend(fundings.filter_map(|(input, funding)| Some((funding?, (row_index, input)))));
        }
        visit_outputs(&self.earlier, &mut wanted, |(row_index, input), transaction, satoshis, script| {
            let output = TxOut { value: Amount::from_sat(satoshis), script_pubkey: script.to_script() };
            spent[row_index][input] = Some(SpentOutput { output, height: transaction.height });
            Ok(())
        })?;
        Ok(spent)
    }
}
