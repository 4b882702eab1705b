//! BRC-20 as part of a module: what it writes for a block.

use std::sync::Arc;

use bitcoin::Script;
use paraffin_primitives::{ConnectedBlock, Height, Network};
use paraffin_store::{ModuleError, ModuleWriter};

use super::keys::{id_part, is_long, position_of, position_part, rank, script_digest, script_part, ticker_part};
use super::tables::{
    BALANCES, EVENTS, EVENTS_OF_INSCRIPTION, EVENTS_OF_PAIR, EVENTS_OF_SCRIPT, HASHES, LONG_SCRIPTS, NOTES,
    NOTES_OF_SCRIPT, NOTES_OF_TICKER, RANKING, TOKENS,
};
use super::values::{
    decode_balance, decode_event, decode_hashes, decode_note, decode_token, encode_amount, encode_balance,
    encode_event, encode_hashes, encode_listed_note, encode_note, encode_token, is_predeploy, kind_of,
};
use crate::EventConsumer;
use crate::brc20::action::{Action, Brc20Event};
use crate::brc20::engine::apply_block;
use crate::brc20::hashes::BlockHashes;
use crate::brc20::ledger::{Balance, Ledger, LedgerError, Note, Predeploy, Token};
use crate::brc20::operation::may_be_operation;
use crate::brc20::rules::Rules;
use crate::event::{EventKind, InscriptionEvent, InscriptionId};

/// BRC-20 as part of the module of this crate. Undo is the store's.
#[derive(Debug, Clone)]
pub struct Brc20Module {
    rules: Rules,
}

impl From<LedgerError> for ModuleError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Store(error) => Self::Store(error),
            damaged @ LedgerError::Damaged(_) => Self::Block(damaged.to_string()),
        }
    }
}

impl Brc20Module {
    /// With the rules of a network.
    pub fn new(network: Network) -> Self {
        Self::with_rules(Rules::of(network))
    }

    /// With other rules.
    pub fn with_rules(rules: Rules) -> Self {
        Self { rules }
    }

    /// Writes the rows of the block that `rows` is at. To be called for every block, in the module's `connect`, with all
    /// reveals and moves of inscriptions in their order; below the network's first height it writes nothing. The tables of
    /// the module's schema include [`super::TABLES`]. An inscription that is bound to no sat is not part of `inscriptions`.
    ///
    /// # Errors
    /// The store failed, or its rows contradict each other.
    pub fn connect(&self, inscriptions: &[InscriptionEvent], rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let height = rows.height();
        if height < self.rules.first_hash {
            return Ok(());
        }
        let events = apply_block(&self.rules, height, inscriptions, &mut StoreLedger { rows: &mut *rows })?;
        write_events(height, &events, rows)?;
        let before = cumulative_before(height, rows)?;
        let count = u32::try_from(events.len()).map_err(|_| LedgerError::Damaged("too many events"))?;
        let hashes = encode_hashes(&BlockHashes::of(before, &events), count);
        rows.put(&HASHES, &height.to_be_bytes(), &hashes)?;
        Ok(())
    }
}

impl EventConsumer for Brc20Module {
    fn consume(
        &mut self,
        _block: &ConnectedBlock,
        events: &[InscriptionEvent],
        rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        self.connect(events, rows)
    }

    /// Reveals of what may be an operation, and first moves: only these can reveal or use an open transfer.
    fn wants(&self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Moved { moves } => *moves == 0,
            EventKind::Revealed { envelope, .. } => {
                envelope.as_ref().is_some_and(|envelope| may_be_operation(envelope))
            }
        }
    }
}

/// The cumulative hash of the block before; none where the index begins.
fn cumulative_before(height: Height, rows: &ModuleWriter<'_>) -> Result<Option<[u8; 32]>, LedgerError> {
    let Some(before) = height.checked_sub(1) else { return Ok(None) };
    let row = rows.get(&HASHES, &before.to_be_bytes())?;
    Ok(row.map(|row| decode_hashes(&row)).transpose()?.map(|(hashes, _)| hashes.cumulative))
}

fn write_events(height: Height, events: &[Brc20Event], rows: &mut ModuleWriter<'_>) -> Result<(), LedgerError> {
    for (index, event) in (0u32..).zip(events) {
        let position = position_part(height, index);
        rows.put(&EVENTS, &position, &encode_event(event))?;
        let of_inscription = [&id_part(event.inscription)[..], &position].concat();
        rows.put(&EVENTS_OF_INSCRIPTION, &of_inscription, &[kind_of(&event.action)])?;
        let (first, second) = event.action.parties();
        for script in std::iter::once(first).chain(second) {
            keep_long(script, rows)?;
            let part = script_part(script);
            rows.put(&EVENTS_OF_SCRIPT, &[&part[..], &position].concat(), &[])?;
            if let Some(ticker) = event.action.ticker() {
                let key = [&part[..], &ticker_part(ticker.lower()), &position].concat();
                rows.put(&EVENTS_OF_PAIR, &key, &[])?;
            }
        }
    }
    Ok(())
}

/// Stores a script that keys name only by its digest.
fn keep_long(script: &Script, rows: &mut ModuleWriter<'_>) -> Result<(), LedgerError> {
    if is_long(script) {
        let digest = script_digest(script);
        if rows.get(&LONG_SCRIPTS, &digest)?.is_none() {
            rows.put(&LONG_SCRIPTS, &digest, script.as_bytes())?;
        }
    }
    Ok(())
}

/// The tables as the engine sees them.
struct StoreLedger<'r, 'w> {
    rows: &'r mut ModuleWriter<'w>,
}

fn balance_key(script: &Script, ticker: &str) -> Vec<u8> {
    let mut key = script_part(script);
    key.extend_from_slice(ticker.as_bytes());
    key
}

fn ranking_key(script: &Script, ticker: &str, balance: Balance) -> Vec<u8> {
    [&ticker_part(ticker)[..], &rank(balance.overall), &script_part(script)].concat()
}

/// Keys of a note in the lists of its owner and of its token.
fn note_keys(id: InscriptionId, note: &Note) -> [Vec<u8>; 2] {
    let (script, ticker, id) = (script_part(&note.source), ticker_part(note.ticker.lower()), id_part(id));
    [[&script[..], &ticker, &id].concat(), [&ticker[..], &script, &id].concat()]
}

impl StoreLedger<'_, '_> {
    fn long_script(&self, digest: &[u8; 32]) -> Result<Arc<Script>, LedgerError> {
        let script = self.rows.get(&LONG_SCRIPTS, digest)?.ok_or(LedgerError::Damaged("a long script is missing"))?;
        Ok(Script::from_bytes(&script).into())
    }
}

impl Ledger for StoreLedger<'_, '_> {
    fn token(&self, ticker: &str) -> Result<Option<Token>, LedgerError> {
        self.rows.get(&TOKENS, ticker.as_bytes())?.map(|row| decode_token(&row)).transpose()
    }

    fn set_token(&mut self, token: &Token) -> Result<(), LedgerError> {
        Ok(self.rows.put(&TOKENS, token.ticker.lower().as_bytes(), &encode_token(token))?)
    }

    fn balance(&self, script: &Script, ticker: &str) -> Result<Balance, LedgerError> {
        let row = self.rows.get(&BALANCES, &balance_key(script, ticker))?;
        Ok(row.map(|row| decode_balance(&row)).transpose()?.unwrap_or_default())
    }

    fn set_balance(
        &mut self,
        script: &Script,
        ticker: &str,
        before: Balance,
        after: Balance,
    ) -> Result<(), LedgerError> {
        keep_long(script, self.rows)?;
        self.rows.put(&BALANCES, &balance_key(script, ticker), &encode_balance(after))?;
        if before.overall.0 > 0 && before.overall != after.overall {
            self.rows.delete(&RANKING, &ranking_key(script, ticker, before))?;
        }
        if after.overall.0 > 0 {
            self.rows.put(&RANKING, &ranking_key(script, ticker, after), &encode_amount(after.available))?;
        }
        Ok(())
    }

    fn balances_of(&self, script: &Script) -> Result<Vec<(String, Balance)>, LedgerError> {
        let part = script_part(script);
        let rows = self.rows.prefix(&BALANCES, &part, usize::MAX)?;
        rows.into_iter()
            .map(|(key, value)| {
                let ticker = String::from_utf8(key[part.len()..].to_vec());
                let ticker = ticker.map_err(|_| LedgerError::Damaged("a ticker in a key is no text"))?;
                Ok((ticker, decode_balance(&value)?))
            })
            .collect()
    }

    fn note(&self, id: InscriptionId) -> Result<Option<Note>, LedgerError> {
        let row = self.rows.get(&NOTES, &id_part(id))?;
        row.map(|row| decode_note(&row, &|digest| self.long_script(digest))).transpose()
    }

    fn add_note(&mut self, id: InscriptionId, note: &Note) -> Result<(), LedgerError> {
        keep_long(&note.source, self.rows)?;
        self.rows.put(&NOTES, &id_part(id), &encode_note(note))?;
        let row = encode_listed_note(note.amount, note.height);
        let [of_script, of_ticker] = note_keys(id, note);
        self.rows.put(&NOTES_OF_SCRIPT, &of_script, &row)?;
        Ok(self.rows.put(&NOTES_OF_TICKER, &of_ticker, &row)?)
    }

    fn remove_note(&mut self, id: InscriptionId, note: &Note) -> Result<(), LedgerError> {
        self.rows.delete(&NOTES, &id_part(id))?;
        let [of_script, of_ticker] = note_keys(id, note);
        self.rows.delete(&NOTES_OF_SCRIPT, &of_script)?;
        Ok(self.rows.delete(&NOTES_OF_TICKER, &of_ticker)?)
    }

    /// Read from the events of earlier blocks, which are written by now: a predeploy is used three blocks later at the earliest.
    fn predeploy(&self, id: InscriptionId) -> Result<Option<Predeploy>, LedgerError> {
        let events = self.rows.prefix(&EVENTS_OF_INSCRIPTION, &id_part(id), 1)?;
        let Some((key, _)) = events.into_iter().find(|(_, kind)| is_predeploy(kind)) else { return Ok(None) };
        let (height, index) = position_of(&key)?;
        let row = self.rows.get(&EVENTS, &position_part(height, index))?;
        let row = row.ok_or(LedgerError::Damaged("an event that is listed is missing"))?;
        match decode_event(&row, &|digest| self.long_script(digest))?.action {
            Action::Predeploy { owner, hash, height } => Ok(Some(Predeploy { owner, hash, height })),
            _ => Err(LedgerError::Damaged("an event is not of the kind under which it is listed")),
        }
    }

    /// Nothing to write: the row of the event holds the predeploy.
    fn add_predeploy(&mut self, _id: InscriptionId, _predeploy: &Predeploy) -> Result<(), LedgerError> {
        Ok(())
    }
}
