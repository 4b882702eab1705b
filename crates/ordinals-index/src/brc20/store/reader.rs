//! Reads of the tables for requests.

mod digest;

use bitcoin::{Script, ScriptBuf};
use paraffin_primitives::Height;
use paraffin_store::{Row, Snapshot, StoreError};

use super::keys::{
    ScriptName, id_part, position_of, position_part, script_part, take_id, take_rank, take_script, take_ticker,
    ticker_part,
};
use super::tables::{
    BALANCES, EVENTS, EVENTS_OF_INSCRIPTION, EVENTS_OF_PAIR, EVENTS_OF_SCRIPT, HASHES, LONG_SCRIPTS, MODULE,
    NOTES_OF_SCRIPT, NOTES_OF_TICKER, RANKING, TOKENS,
};
use super::values::{decode_amount, decode_balance, decode_event, decode_hashes, decode_listed_note, decode_token};
use crate::brc20::action::Brc20Event;
use crate::brc20::amount::Amount;
use crate::brc20::hashes::BlockHashes;
use crate::brc20::ledger::{Balance, LedgerError, Token};
use crate::event::InscriptionId;

pub use digest::BalancesDigest;

/// An event and its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedEvent {
    /// Height of its block.
    pub height: Height,
    /// Which event of the block, counted from 0.
    pub place: u32,
    /// The event.
    pub event: Brc20Event,
}

/// A transfer inscription that has not moved, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenNote {
    /// The inscription.
    pub inscription: InscriptionId,
    /// The token, in lower case.
    pub ticker: String,
    /// Whose balance.
    pub source: ScriptBuf,
    /// What it sets aside.
    pub amount: Amount,
    /// Height of the block that revealed it.
    pub height: Height,
}

/// Who owns some of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The script.
    pub script: ScriptBuf,
    /// What it has.
    pub balance: Balance,
}

/// The tables as of one block. Tickers are in lower case.
#[derive(Clone, Copy)]
pub struct Brc20Index<'s> {
    snapshot: &'s Snapshot,
}

type ReadResult<T> = Result<T, LedgerError>;

impl<'s> Brc20Index<'s> {
    /// The tables of a snapshot.
    pub fn new(snapshot: &'s Snapshot) -> Self {
        Self { snapshot }
    }

    /// Newest block that they hold; `None` where nothing is indexed.
    ///
    /// # Errors
    /// The disk cannot be read, or the store is damaged; as for all reads here.
    pub fn height(&self) -> Result<Option<Height>, LedgerError> {
        Ok(self.snapshot.module_height(MODULE)?)
    }

    /// The hashes of a block and the number of its events; `None` for a block outside of the index.
    ///
    /// # Errors
    /// See [`Brc20Index::height`].
    pub fn hashes(&self, height: Height) -> Result<Option<(BlockHashes, u32)>, LedgerError> {
        self.snapshot.get(&HASHES, &height.to_be_bytes())?.map(|row| decode_hashes(&row)).transpose()
    }

    /// A token.
    ///
    /// # Errors
    /// See [`Brc20Index::height`].
    pub fn token(&self, ticker: &str) -> Result<Option<Token>, LedgerError> {
        self.snapshot.get(&TOKENS, ticker.as_bytes())?.map(|row| decode_token(&row)).transpose()
    }

    /// What a script has of a token at the end of a block; `None` when it never had any.
    ///
    /// # Errors
    /// See [`Brc20Index::height`].
    pub fn balance_at(&self, script: &Script, ticker: &str, height: Height) -> Result<Option<Balance>, LedgerError> {
        let key = [&script_part(script)[..], ticker.as_bytes()].concat();
        self.snapshot.get_at(&BALANCES, &key, height)?.map(|row| decode_balance(&row)).transpose()
    }

    /// Owners of a token, the richest first.
    pub fn holders(&self, ticker: &str) -> impl Iterator<Item = ReadResult<Holder>> + use<'s> {
        let prefix = ticker_part(ticker);
        let (this, skipped) = (*self, prefix.len());
        this.snapshot.prefix(&RANKING, &prefix).map(move |row| {
            let (key, value) = row?;
            let mut key = &key[skipped..];
            let overall = take_rank(&mut key)?;
            let script = this.script(take_script(&mut key)?)?;
            Ok(Holder { script, balance: Balance { overall, available: decode_amount(&value)? } })
        })
    }

    /// Transfer inscriptions of a script that have not moved, by token.
    pub fn notes_of_script(&self, script: &Script) -> impl Iterator<Item = ReadResult<OpenNote>> + use<'s> {
        let prefix = script_part(script);
        let (owner, skipped) = (script.to_owned(), prefix.len());
        self.snapshot.prefix(&NOTES_OF_SCRIPT, &prefix).map(move |row| {
            let (key, value) = row?;
            let mut key = &key[skipped..];
            let (ticker, inscription) = (take_ticker(&mut key)?, take_id(&mut key)?);
            let (amount, height) = decode_listed_note(&value)?;
            Ok(OpenNote { inscription, ticker, source: owner.clone(), amount, height })
        })
    }

    /// Transfer inscriptions of a token that have not moved, by owner.
    pub fn notes_of_ticker(&self, ticker: &str) -> impl Iterator<Item = ReadResult<OpenNote>> + use<'s> {
        let prefix = ticker_part(ticker);
        let (this, ticker, skipped) = (*self, ticker.to_owned(), prefix.len());
        this.snapshot.prefix(&NOTES_OF_TICKER, &prefix).map(move |row| {
            let (key, value) = row?;
            let mut key = &key[skipped..];
            let source = this.script(take_script(&mut key)?)?;
            let inscription = take_id(&mut key)?;
            let (amount, height) = decode_listed_note(&value)?;
            Ok(OpenNote { inscription, ticker: ticker.clone(), source, amount, height })
        })
    }

    /// The events of a block in their order.
    pub fn events(&self, height: Height) -> impl Iterator<Item = ReadResult<PlacedEvent>> + use<'s> {
        let this = *self;
        this.snapshot.prefix(&EVENTS, &height.to_be_bytes()).map(move |row| {
            let (key, value) = row?;
            let (height, place) = position_of(&key)?;
            Ok(PlacedEvent { height, place, event: this.decoded(&value)? })
        })
    }

    /// One event.
    ///
    /// # Errors
    /// See [`Brc20Index::height`].
    pub fn event(&self, height: Height, place: u32) -> Result<Option<PlacedEvent>, LedgerError> {
        let row = self.snapshot.get(&EVENTS, &position_part(height, place))?;
        let event = row.map(|row| self.decoded(&row)).transpose()?;
        Ok(event.map(|event| PlacedEvent { height, place, event }))
    }

    /// The events of an inscription, the oldest first.
    pub fn events_of(&self, inscription: InscriptionId) -> impl Iterator<Item = ReadResult<PlacedEvent>> + use<'s> {
        let this = *self;
        this.snapshot.prefix(&EVENTS_OF_INSCRIPTION, &id_part(inscription)).map(move |row| this.referenced(row))
    }

    /// The events in which a script had a part, of one token or of all, the newest first; those before `before` (height and
    /// index) where that is given.
    pub fn history(
        &self,
        script: &Script,
        ticker: Option<&str>,
        before: Option<(Height, u32)>,
    ) -> impl Iterator<Item = ReadResult<PlacedEvent>> + use<'s> {
        let (table, mut prefix) =
            (if ticker.is_some() { &EVENTS_OF_PAIR } else { &EVENTS_OF_SCRIPT }, script_part(script));
        prefix.extend(ticker.map(ticker_part).into_iter().flatten());
        let from = [&prefix[..], &position_part(0, 0)].concat();
        let to = before.map_or([0xff; 8], |(height, place)| position_part(height, place));
        let to_key = [&prefix[..], &to].concat();
        let (this, skipped) = (*self, usize::from(before.is_some()));
        // The bound itself is part of the range, but not of what comes before it.
        let rows = this.snapshot.range(table, &from, &to_key).rev();
        let rows = rows.filter(move |row| skipped == 0 || !row.as_ref().is_ok_and(|(key, _)| key.ends_with(&to)));
        rows.map(move |row| this.referenced(row))
    }

    /// The event that a row of a list names.
    fn referenced(self, row: Result<Row, StoreError>) -> ReadResult<PlacedEvent> {
        let (height, place) = position_of(&row?.0)?;
        self.event(height, place)?.ok_or(LedgerError::Damaged("an event that is listed is missing"))
    }

    fn decoded(self, row: &[u8]) -> Result<Brc20Event, LedgerError> {
        decode_event(row, &|digest| Ok(self.script(ScriptName::Digest(*digest))?.as_script().into()))
    }

    fn script(self, name: ScriptName) -> Result<ScriptBuf, LedgerError> {
        match name {
            ScriptName::Whole(script) => Ok(script),
            ScriptName::Digest(digest) => {
                let script = self.snapshot.get(&LONG_SCRIPTS, &digest)?;
                script.map(ScriptBuf::from).ok_or(LedgerError::Damaged("a long script is missing"))
            }
        }
    }
}
