//! The state of the engine between blocks.

use std::sync::Arc;

use bitcoin::Script;
use paraffin_primitives::Height;
use paraffin_store::StoreError;

use super::amount::Amount;
use super::ticker::Ticker;
use crate::event::InscriptionId;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its name as deployed.
    pub ticker: Ticker,
    /// The inscription that deployed it; the parent of every mint of a token that is minted by its deployer alone.
    pub deployment: InscriptionId,
    /// Height of the block with the deployment.
    pub deployed_at: Height,
    /// Number of the deployment among the events of its block, counted from 0.
    pub deployed_as: u32,
    /// Decimal places of its amounts, 0 to 18.
    pub decimals: u8,
    /// What can be minted in all.
    pub max_supply: Amount,
    /// What is left to be minted.
    pub remaining: Amount,
    /// The most that one mint can have.
    pub limit_per_mint: Amount,
    /// What was sent where no script owns it.
    pub burned: Amount,
    /// Whether a mint needs the deploy inscription as its parent.
    pub is_self_mint: bool,
    /// Scripts that own some of it.
    pub holders: u64,
    /// Mints that counted.
    pub mints: u64,
    /// Transfers that were carried out, those back to the sender included.
    pub transfers: u64,
}

impl Token {
    /// What was minted.
    pub fn minted(&self) -> Amount {
        self.max_supply.minus(self.remaining).unwrap_or_default()
    }
}

/// What a script has of a token. `available` is never more than `overall`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Balance {
    /// Everything.
    pub overall: Amount,
    /// What no inscription has set aside.
    pub available: Amount,
}

/// A transfer inscription that has not moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The token, as the inscription has it.
    pub ticker: Ticker,
    /// Decimal places of the token.
    pub decimals: u8,
    /// What it sets aside.
    pub amount: Amount,
    /// Whose balance.
    pub source: Arc<Script>,
    /// Height of the block that revealed it.
    pub height: Height,
}

/// A ticker announced under a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Predeploy {
    /// Who announced it.
    pub owner: Arc<Script>,
    /// As the inscription has it.
    pub hash: String,
    /// Height of the block.
    pub height: Height,
}

/// The ledger cannot be read or written, or contradicts itself.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A row does not have its form, or sums do not fit together; the text names the fault.
    #[error("the BRC-20 index is damaged: {0}")]
    Damaged(&'static str),
}

/// The state of all tokens, as the engine needs it. Names of tokens are in lower case ([`Ticker::lower`]).
pub trait Ledger {
    /// A token.
    ///
    /// # Errors
    /// See [`LedgerError`], as for all methods here.
    fn token(&self, ticker: &str) -> Result<Option<Token>, LedgerError>;

    /// Adds a token, or replaces it.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn set_token(&mut self, token: &Token) -> Result<(), LedgerError>;

    /// What a script has of a token; nothing by default.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn balance(&self, script: &Script, ticker: &str) -> Result<Balance, LedgerError>;

    /// Changes what a script has of a token. `before` is what it had.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn set_balance(
        &mut self,
        script: &Script,
        ticker: &str,
        before: Balance,
        after: Balance,
    ) -> Result<(), LedgerError>;

    /// All that a script has or had, by token, ascending by the bytes of the names.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn balances_of(&self, script: &Script) -> Result<Vec<(String, Balance)>, LedgerError>;

    /// A transfer inscription that has not moved.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn note(&self, id: InscriptionId) -> Result<Option<Note>, LedgerError>;

    /// A transfer was inscribed.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn add_note(&mut self, id: InscriptionId, note: &Note) -> Result<(), LedgerError>;

    /// A transfer inscription moved.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn remove_note(&mut self, id: InscriptionId, note: &Note) -> Result<(), LedgerError>;

    /// The predeploy of an inscription; `None` if it is none.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn predeploy(&self, id: InscriptionId) -> Result<Option<Predeploy>, LedgerError>;

    /// Stores a predeploy.
    ///
    /// # Errors
    /// See [`Ledger::token`].
    fn add_predeploy(&mut self, id: InscriptionId, predeploy: &Predeploy) -> Result<(), LedgerError>;
}
