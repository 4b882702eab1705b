use bitcoin::OutPoint;

use super::BitcoinIndex;
use super::location::{Confirmation, Locator};
use crate::activity::{busy_totals, number_of, script_activity};
use crate::error::ReadError;
use crate::rows::{Funding, UnspentRow, take_outpoint, unspent_key};
use crate::script_key::ScriptKey;
use crate::tables::UNSPENT;

/// An unspent output of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnspentOutput {
    /// The output.
    pub outpoint: OutPoint,
    /// Satoshis.
    pub value: u64,
    /// The block of the transaction that pays it.
    pub confirmation: Confirmation,
}

impl BitcoinIndex {
    /// Unspent outputs of the script, newest first, at most `limit` of them, starting below `after` (which may be spent
    /// by now). A script with many is answered by one scan and the headers of the blocks that it meets.
    ///
    /// # Errors
    /// [`ReadError::NotInHistory`] when the transaction of `after` is unknown; else those of reading.
    pub fn unspent(
        &self,
        script: &ScriptKey,
        after: Option<&OutPoint>,
        limit: Option<usize>,
    ) -> Result<Vec<UnspentOutput>, ReadError> {
        let limit = limit.unwrap_or(usize::MAX);
        let below = match after {
            None => None,
            Some(outpoint) => {
                let number = number_of(&self.snapshot, &outpoint.txid)?;
                let number = number.ok_or(ReadError::NotInHistory(outpoint.txid))?;
                Some(Funding { number, vout: outpoint.vout })
            }
        };
        let is_wanted = |funding: &Funding| below.is_none_or(|below| *funding < below);
        let mut locator = Locator::new(self);
        if busy_totals(&self.snapshot, script.digest())?.is_none() {
            let activity = script_activity(&self.snapshot, self.width, script)?;
            let outputs = activity.outputs.iter().rev().filter(|output| output.spender.is_none());
            let outputs = outputs.map(|output| (output.funding, output.row));
            let wanted: Vec<_> = outputs.filter(|(funding, _)| is_wanted(funding)).take(limit).collect();
            return locator.unspent(&wanted);
        }
        let newest = below.unwrap_or(Funding { number: u32::MAX, vout: u32::MAX });
        let (oldest, digest) = (Funding { number: 0, vout: 0 }, script.digest());
        let mut rows = self.snapshot.range(&UNSPENT, &unspent_key(digest, oldest), &unspent_key(digest, newest)).rev();
        let mut unspent = Vec::new();
        while unspent.len() < limit {
            let mut outputs = Vec::new();
            for row in rows.by_ref().take(OUTPUTS_TOGETHER.min(limit - unspent.len())) {
                let (key, value) = row?;
                let row = UnspentRow::decode(&value).map_err(|error| ReadError::damaged(&UNSPENT, error))?;
                outputs.push((funding_of_key(&key)?, row));
            }
            if outputs.is_empty() {
                break;
            }
            outputs.retain(|(funding, _)| is_wanted(funding));
            unspent.append(&mut locator.unspent(&outputs)?);
        }
        Ok(unspent)
    }
}

impl Locator<'_> {
    /// The records of some outputs, in their order. Their blocks are read together.
    fn unspent(&mut self, outputs: &[(Funding, UnspentRow)]) -> Result<Vec<UnspentOutput>, ReadError> {
        self.read_blocks(outputs.iter().map(|(_, row)| row.height))?;
        let record = |(funding, row): &(Funding, UnspentRow)| {
            let UnspentRow { txid, height, satoshis } = *row;
            let outpoint = OutPoint { txid, vout: funding.vout };
            Ok(UnspentOutput { outpoint, value: satoshis, confirmation: self.confirmation(height)? })
        };
        outputs.iter().map(record).collect()
    }
}

/// Outputs whose blocks are read together.
const OUTPUTS_TOGETHER: usize = 10_000;

fn funding_of_key(key: &[u8]) -> Result<Funding, ReadError> {
    let damaged = ReadError::Damaged { table: UNSPENT.name, reason: "a key starts with 32 bytes of a script's hash" };
    let mut key = key.get(32..).ok_or(damaged)?;
    take_outpoint(&mut key).map_err(|error| ReadError::damaged(&UNSPENT, error))
}
