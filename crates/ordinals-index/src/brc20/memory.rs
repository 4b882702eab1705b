//! A ledger in memory, for tests and for uses of the engine without a store.

use std::collections::{BTreeMap, HashMap};

use bitcoin::{Script, ScriptBuf};

use super::ledger::{Balance, Ledger, LedgerError, Note, Predeploy, Token};
use crate::event::InscriptionId;

/// A ledger whose rows are in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryLedger {
    /// By name in lower case.
    pub tokens: BTreeMap<String, Token>,
    /// By script, then by token.
    pub balances: BTreeMap<ScriptBuf, BTreeMap<String, Balance>>,
    /// Transfer inscriptions that have not moved.
    pub notes: HashMap<InscriptionId, Note>,
    /// Announcements.
    pub predeploys: HashMap<InscriptionId, Predeploy>,
}

impl Ledger for MemoryLedger {
    fn token(&self, ticker: &str) -> Result<Option<Token>, LedgerError> {
        Ok(self.tokens.get(ticker).cloned())
    }

    fn set_token(&mut self, token: &Token) -> Result<(), LedgerError> {
        self.tokens.insert(token.ticker.lower().to_owned(), token.clone());
        Ok(())
    }

    fn balance(&self, script: &Script, ticker: &str) -> Result<Balance, LedgerError> {
        Ok(self.balances.get(script).and_then(|tokens| tokens.get(ticker)).copied().unwrap_or_default())
    }

    fn set_balance(
        &mut self,
        script: &Script,
        ticker: &str,
        before: Balance,
        after: Balance,
    ) -> Result<(), LedgerError> {
        let tokens = self.balances.entry(script.to_owned()).or_default();
        let replaced = tokens.insert(ticker.to_owned(), after).unwrap_or_default();
        if replaced == before { Ok(()) } else { Err(LedgerError::Damaged("a balance is not what it was")) }
    }

    fn balances_of(&self, script: &Script) -> Result<Vec<(String, Balance)>, LedgerError> {
        let tokens = self.balances.get(script).into_iter().flatten();
        Ok(tokens.map(|(ticker, balance)| (ticker.clone(), *balance)).collect())
    }

    fn note(&self, id: InscriptionId) -> Result<Option<Note>, LedgerError> {
        Ok(self.notes.get(&id).cloned())
    }

    fn add_note(&mut self, id: InscriptionId, note: &Note) -> Result<(), LedgerError> {
        self.notes.insert(id, note.clone());
        Ok(())
    }

    fn remove_note(&mut self, id: InscriptionId, _note: &Note) -> Result<(), LedgerError> {
        self.notes.remove(&id);
        Ok(())
    }

    fn predeploy(&self, id: InscriptionId) -> Result<Option<Predeploy>, LedgerError> {
        Ok(self.predeploys.get(&id).cloned())
    }

    fn add_predeploy(&mut self, id: InscriptionId, predeploy: &Predeploy) -> Result<(), LedgerError> {
        self.predeploys.insert(id, predeploy.clone());
        Ok(())
    }
}
