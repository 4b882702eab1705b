//! The Bitcoin index as views see it: the chain up to the height that is asked about.

use bitcoin::{OutPoint, Script, Txid};
use paraffin_alkanes::views::{PlacedOutput, ViewChain, ViewError};
use paraffin_bitcoin_index::{BitcoinIndex, ReadError, ScriptKey};
use paraffin_primitives::Height;

/// Transactions of a history that are read together.
const PAGE: usize = 100;

/// The blocks up to one height.
pub struct IndexedBlocks<'a> {
    index: &'a BitcoinIndex,
    height: Height,
    is_newest: bool,
    records_max: usize,
    is_over: &'a dyn Fn() -> bool,
}

impl<'a> IndexedBlocks<'a> {
    /// `is_over`: whether the view has taken too long.
    pub fn new(
        index: &'a BitcoinIndex,
        height: Height,
        is_newest: bool,
        records_max: usize,
        is_over: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { index, height, is_newest, records_max, is_over }
    }

    /// Outputs of the script that were unspent at a past height: its history is walked, newest first.
    fn unspent_then(&self, script: &Script, key: &ScriptKey) -> Result<Vec<OutPoint>, ViewError> {
        let mut found = Vec::new();
        let mut after: Option<Txid> = None;
        loop {
            let page = self.index.history(key, after.as_ref(), PAGE).map_err(failed)?;
            for location in page.iter().filter(|location| location.height <= self.height) {
                if (self.is_over)() {
                    return Err(ViewError::TooLong);
                }
                let outputs = self.index.transaction_outputs(&location.txid).map_err(failed)?.unwrap_or_default();
                for (vout, output) in (0..).zip(&outputs) {
                    let outpoint = OutPoint { txid: location.txid, vout };
                    if output.script_pubkey.as_script() == script && !self.is_spent(&outpoint)? {
                        found.push(outpoint);
                    }
                }
                if found.len() > self.records_max {
                    return Err(ViewError::TooLarge);
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => after = Some(last.txid),
                _ => break,
            }
        }
        found.reverse();
        Ok(found)
    }

    fn is_spent(&self, outpoint: &OutPoint) -> Result<bool, ViewError> {
        let spender = self.index.outspend(outpoint).map_err(failed)?;
        Ok(spender.is_some_and(|spender| spender.confirmation.height <= self.height))
    }
}

fn failed(error: ReadError) -> ViewError {
    ViewError::Chain(error.into())
}

impl ViewChain for IndexedBlocks<'_> {
    fn output(&self, outpoint: &OutPoint) -> Result<Option<PlacedOutput>, ViewError> {
        let location = self.index.transaction_location(&outpoint.txid).map_err(failed)?;
        let Some(location) = location.filter(|location| location.height <= self.height) else { return Ok(None) };
        let output = self.index.output(outpoint).map_err(failed)?;
        Ok(output.map(|output| PlacedOutput { output, height: location.height, index: location.index }))
    }

    fn unspent(&self, script: &Script) -> Result<Vec<OutPoint>, ViewError> {
        let key = ScriptKey::from_script(script);
        if !self.is_newest {
            return self.unspent_then(script, &key);
        }
        let limit = self.records_max.saturating_add(1);
        let mut unspent = self.index.unspent(&key, None, Some(limit)).map_err(failed)?;
        if unspent.len() > self.records_max {
            return Err(ViewError::TooLarge);
        }
        unspent.reverse();
        Ok(unspent.into_iter().map(|output| output.outpoint).collect())
    }

    fn is_unspent(&self, outpoint: &OutPoint) -> Result<bool, ViewError> {
        Ok(self.output(outpoint)?.is_some() && !self.is_spent(outpoint)?)
    }
}
