use bitcoin::OutPoint;

use super::BitcoinIndex;
use super::location::Locator;
use crate::activity::{busy_totals, number_of, script_activity};
use crate::error::ReadError;
use crate::esplora::UnspentOutput;
use crate::outputs::visit_outputs;
use crate::rows::{Funding, take_outpoint, unspent_key};
use crate::script_key::ScriptKey;
use crate::tables::UNSPENT;

impl BitcoinIndex {
    /// Unspent outputs of the script, newest first, at most `limit` of them, starting below `after` (which may be spent
    /// by now). Costs as much as it answers.
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
                let number = number_of(&self.snapshot, self.width, &outpoint.txid)?;
                let number = number.ok_or(ReadError::NotInHistory(outpoint.txid))?;
                Some(Funding { number, vout: outpoint.vout })
            }
        };
        let is_wanted = |funding: &Funding| below.is_none_or(|below| *funding < below);
        let mut unspent = Vec::new();
        if busy_totals(&self.snapshot, script.digest())?.is_none() {
            let activity = script_activity(&self.snapshot, self.width, script)?;
            let outputs = activity.outputs.iter().rev().filter(|output| output.spender.is_none());
            let fundings = outputs.map(|output| output.funding).filter(is_wanted).take(limit).collect();
            self.render_unspent(script, fundings, &mut unspent)?;
            return Ok(unspent);
        }
        let prefix = self.width.prefix(script.digest());
        let newest = below.unwrap_or(Funding { number: u32::MAX, vout: u32::MAX });
        let oldest = Funding { number: 0, vout: 0 };
        let mut rows = self.snapshot.range(&UNSPENT, &unspent_key(prefix, oldest), &unspent_key(prefix, newest)).rev();
        while unspent.len() < limit {
            let mut fundings = Vec::new();
            for row in rows.by_ref().take(OUTPUTS_TOGETHER.min(limit - unspent.len())) {
                fundings.push(funding_of_key(&row?.0)?);
            }
            if fundings.is_empty() {
                break;
            }
            fundings.retain(is_wanted);
            self.render_unspent(script, fundings, &mut unspent)?;
        }
        Ok(unspent)
    }

    /// Appends the records of those `fundings`, newest first, that belong to the script and not to another one with the
    /// same prefix.
    fn render_unspent(
        &self,
        script: &ScriptKey,
        fundings: Vec<Funding>,
        unspent: &mut Vec<UnspentOutput>,
    ) -> Result<(), ReadError> {
        let mut locator = Locator::new(self);
        let mut wanted: Vec<(Funding, u32)> = fundings.into_iter().map(|funding| (funding, funding.vout)).collect();
        let first = unspent.len();
        visit_outputs(&self.snapshot, &mut wanted, |vout, transaction, value, output_script| {
            if script.matches(output_script) {
                let location = locator.locate(transaction)?;
                unspent.push(UnspentOutput { txid: location.txid, vout, status: location.status(), value });
            }
            Ok(())
        })?;
        unspent[first..].reverse();
        Ok(())
    }
}

/// Outputs whose transactions are read together.
const OUTPUTS_TOGETHER: usize = 1000;

fn funding_of_key(key: &[u8]) -> Result<Funding, ReadError> {
    let damaged = ReadError::Damaged { table: UNSPENT.name, reason: "a key starts with 8 bytes of a script's hash" };
    let mut key = key.get(8..).ok_or(damaged)?;
    take_outpoint(&mut key).map_err(|error| ReadError::damaged(&UNSPENT, error))
}
