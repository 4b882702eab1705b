use super::BitcoinIndex;
use crate::activity::{busy_totals, script_activity};
use crate::error::ReadError;
use crate::rows::ScriptTotals;
use crate::script_key::ScriptKey;

impl BitcoinIndex {
    /// What the script received and spent: one read for a busy script, a walk over its few transactions for any other.
    ///
    /// # Errors
    /// [`ReadError`] when reading fails.
    pub fn script_totals(&self, script: &ScriptKey) -> Result<ScriptTotals, ReadError> {
        match busy_totals(&self.snapshot, script.digest())? {
            Some(totals) => Ok(totals),
            None => Ok(script_activity(&self.snapshot, self.width, script)?.totals),
        }
    }
}
