use std::collections::{BTreeSet, HashMap, HashSet};

use bitcoin::{OutPoint, Txid};
use paraffin_store::read_together;

use super::BitcoinIndex;
use super::location::{Confirmation, Locator};
use crate::activity::{PageCursor, READ_BY_ONE, busy_totals, history_numbers, number_of, transaction_in, visit_pages};
use crate::error::ReadError;
use crate::rows::{decode_spender, take_outpoint};
use crate::script_key::ScriptKey;
use crate::tables::SPENDS;

/// What spends an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spender {
    /// The spending transaction.
    pub txid: Txid,
    /// Index of the spending input.
    pub vin: u32,
    /// The block of the spending transaction.
    pub confirmation: Confirmation,
}

impl BitcoinIndex {
    /// What spends an output; `None` also when the output is unknown.
    ///
    /// # Errors
    /// [`ReadError`] when reading fails.
    pub fn outspend(&self, outpoint: &OutPoint) -> Result<Option<Spender>, ReadError> {
        let Some(number) = number_of(&self.snapshot, &outpoint.txid)? else { return Ok(None) };
        let spends = self.spends_of(number, |vout| vout == outpoint.vout)?;
        Ok(spends.get(&outpoint.vout).copied())
    }

    /// What spends each output of a transaction; `None` when the transaction is unknown.
    ///
    /// # Errors
    /// [`ReadError`] when reading fails.
    pub fn outspends(&self, txid: &Txid) -> Result<Option<Vec<Option<Spender>>>, ReadError> {
        let Some(number) = number_of(&self.snapshot, txid)? else { return Ok(None) };
        let output_count = PageCursor::default().transaction(&self.snapshot, number)?.output_count;
        let spends = self.spends_of(number, |_| true)?;
        Ok(Some((0..output_count).map(|vout| spends.get(&vout).copied()).collect()))
    }

    /// Spenders of the chosen outputs of transaction `number` that are spent, by output index (and of others that happen
    /// to be met). Each transaction that may be a spender is read once, independent of the number of outputs.
    fn spends_of(&self, number: u32, is_chosen: impl Fn(u32) -> bool) -> Result<HashMap<u32, Spender>, ReadError> {
        let mut locator = Locator::new(self);
        let mut spends = HashMap::new();
        let candidates: Vec<u32> = self.possible_spenders(number, is_chosen)?.into_iter().collect();
        visit_pages(
            &self.snapshot,
            &candidates,
            |candidate| *candidate,
            |candidates, page| {
                for candidate in candidates {
                    let row = transaction_in(*candidate, page)?;
                    for (vin, funding) in (0u32..).zip(row.inputs()) {
                        if let Some(funding) = funding.filter(|funding| funding.number == number) {
                            let location = locator.locate(&row)?;
                            let (txid, confirmation) = (location.txid, location.confirmation());
                            spends.insert(funding.vout, Spender { txid, vin, confirmation });
                        }
                    }
                }
                Ok(())
            },
        )?;
        Ok(spends)
    }

    /// Transactions among which all spenders of the chosen outputs are. A busy script has rows that name them; of any
    /// other script the later ones of its few transactions are taken.
    fn possible_spenders(&self, number: u32, is_chosen: impl Fn(u32) -> bool) -> Result<BTreeSet<u32>, ReadError> {
        let mut spenders = BTreeSet::new();
        let mut answered = HashSet::new();
        for row in self.snapshot.prefix(&SPENDS, &number.to_be_bytes()) {
            let (key, value) = row?;
            let funding = take_outpoint(&mut key.as_slice()).map_err(|error| ReadError::damaged(&SPENDS, error))?;
            if is_chosen(funding.vout) {
                spenders.insert(decode_spender(number, &value).map_err(|error| ReadError::damaged(&SPENDS, error))?);
                answered.insert(funding.vout);
            }
        }
        let mut cursor = PageCursor::default();
        let transaction = cursor.transaction(&self.snapshot, number)?;
        let (mut scripts, mut keys) = (HashSet::new(), Vec::new());
        for (vout, (_, script)) in (0u32..).zip(transaction.outputs()) {
            if !is_chosen(vout)
                || answered.contains(&vout)
                || script.is_unspendable()
                || !scripts.insert(script.packed())
            {
                continue;
            }
            keys.push(ScriptKey::from_script(&script.to_script()));
        }
        let numbers_of = |key: &ScriptKey| match busy_totals(&self.snapshot, key.digest())? {
            Some(_) => Ok(Vec::new()),
            None => history_numbers(&self.snapshot, self.width, key),
        };
        for numbers in read_together(&keys, READ_BY_ONE, numbers_of)? {
            spenders.extend(numbers.into_iter().filter(|later| *later > number));
        }
        Ok(spenders)
    }
}
