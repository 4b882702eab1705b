//! The rules: what the inscriptions of a block do to tokens. Source of every rule: OPI's BRC-20 indexer (bestinslot-xyz/OPI,
//! `modules/brc20_index` and its fork of ord), with its programmable module switched off, as it is by default
//! (`docs/decisions/0018`).

mod deploy;
mod refund;

use std::sync::Arc;

use bitcoin::Script;
use paraffin_primitives::Height;

use super::action::{Action, Brc20Event};
use super::amount::Amount;
use super::ledger::{Balance, Ledger, LedgerError, Note, Predeploy, Token};
use super::operation::Operation;
use super::rules::Rules;
use super::ticker::Ticker;
use crate::event::{Destination, EventKind, InscriptionEvent, InscriptionId};

/// Outputs with these scripts burn what is sent to them: a bare `OP_RETURN`, and the address of the programmable module, which
/// does not exist here. Any other `OP_RETURN` script becomes the owner, as in OPI.
const BURNING: [&[u8]; 2] = [&[0x6a], b"\x6a\x09BRC20PROG"];

/// Applies a block: every event that counts, in the order of the inscriptions that caused them. `inscriptions` are all reveals
/// and moves of the block in its order.
///
/// # Errors
/// The ledger failed or contradicts itself; the block must be given up then.
pub fn apply_block<L: Ledger>(
    rules: &Rules,
    height: Height,
    inscriptions: &[InscriptionEvent],
    ledger: &mut L,
) -> Result<Vec<Brc20Event>, LedgerError> {
    let mut block = Block { rules, height, ledger, events: Vec::new() };
    if height < rules.first_event {
        return Ok(block.events);
    }
    block.refund()?;
    for event in inscriptions {
        block.inscription(event)?;
    }
    Ok(block.events)
}

/// A block while it is applied.
struct Block<'a, L> {
    rules: &'a Rules,
    height: Height,
    ledger: &'a mut L,
    events: Vec<Brc20Event>,
}

impl<L: Ledger> Block<'_, L> {
    fn inscription(&mut self, event: &InscriptionEvent) -> Result<(), LedgerError> {
        match &event.kind {
            EventKind::Moved { .. } => self.moved(event),
            EventKind::Revealed { number, is_vindicated, parents, envelope, .. } => {
                // Cursed ones never count, forgiven or not. One revealed into fees counts for no script.
                let is_counted = *number >= 0 && !is_vindicated;
                let Destination::Output { script_pubkey, .. } = &event.destination else { return Ok(()) };
                if !is_counted {
                    return Ok(());
                }
                let Some(envelope) = envelope else { return Ok(()) };
                let operation = Operation::read(envelope.content_type.as_deref(), envelope.body.as_deref());
                let Some(operation) = operation else { return Ok(()) };
                let parent = parents.first().copied();
                let action = self.revealed(event.id, script_pubkey, parent, operation)?;
                self.record(event, action);
                Ok(())
            }
        }
    }

    fn record(&mut self, event: &InscriptionEvent, action: Option<Action>) {
        self.events.extend(action.map(|action| Brc20Event { inscription: event.id, txid: event.txid, action }));
    }

    fn revealed(
        &mut self,
        id: InscriptionId,
        owner: &Arc<Script>,
        parent: Option<InscriptionId>,
        operation: Operation,
    ) -> Result<Option<Action>, LedgerError> {
        match operation {
            Operation::Predeploy { hash } => self.predeploy(id, owner, hash),
            Operation::Deploy(text) => self.deploy(id, owner, parent, *text),
            Operation::Mint { ticker, amount } => self.mint(owner, parent, ticker, &amount),
            Operation::Transfer { ticker, amount } => {
                let Some((token, amount)) = self.token_and_amount(&ticker, &amount)? else { return Ok(None) };
                self.inscribe_transfer(id, owner, ticker, token.decimals, amount)
            }
        }
    }

    fn predeploy(
        &mut self,
        id: InscriptionId,
        owner: &Arc<Script>,
        hash: String,
    ) -> Result<Option<Action>, LedgerError> {
        if self.height < self.rules.predeploy() {
            return Ok(None);
        }
        let height = self.height;
        self.ledger.add_predeploy(id, &Predeploy { owner: owner.clone(), hash: hash.clone(), height })?;
        Ok(Some(Action::Predeploy { owner: owner.clone(), hash, height }))
    }

    /// Whether a name may be used at this height.
    fn is_allowed(&self, ticker: &Ticker) -> bool {
        ticker.original().len() < 6 || self.height >= self.rules.six_bytes
    }

    /// The token that an inscription names, and its amount; `None` unless it is deployed and the amount above 0.
    fn token_and_amount(&self, ticker: &Ticker, amount: &str) -> Result<Option<(Token, Amount)>, LedgerError> {
        if !self.is_allowed(ticker) {
            return Ok(None);
        }
        let Some(token) = self.ledger.token(ticker.lower())? else { return Ok(None) };
        let amount = Amount::parse(amount, token.decimals).filter(|amount| *amount > Amount::ZERO);
        Ok(amount.map(|amount| (token, amount)))
    }

    fn mint(
        &mut self,
        owner: &Arc<Script>,
        parent: Option<InscriptionId>,
        ticker: Ticker,
        amount: &str,
    ) -> Result<Option<Action>, LedgerError> {
        let Some((mut token, wanted)) = self.token_and_amount(&ticker, amount)? else { return Ok(None) };
        let may_mint = !token.is_self_mint || parent == Some(token.deployment);
        if !may_mint || token.remaining == Amount::ZERO || wanted > token.limit_per_mint {
            return Ok(None);
        }
        // The last mint gets what is left.
        let amount = wanted.min(token.remaining);
        token.remaining = token.remaining.minus(amount).ok_or(LedgerError::Damaged("more is minted than there is"))?;
        token.mints += 1;
        self.change(&mut token, owner, |balance| {
            Some(Balance { overall: balance.overall.plus(amount)?, available: balance.available.plus(amount)? })
        })?;
        self.ledger.set_token(&token)?;
        Ok(Some(Action::Mint { owner: owner.clone(), ticker, decimals: token.decimals, amount, parent }))
    }

    /// Sets a part of a balance aside, if there is enough.
    fn inscribe_transfer(
        &mut self,
        id: InscriptionId,
        source: &Arc<Script>,
        ticker: Ticker,
        decimals: u8,
        amount: Amount,
    ) -> Result<Option<Action>, LedgerError> {
        let before = self.ledger.balance(source, ticker.lower())?;
        let Some(available) = before.available.minus(amount) else { return Ok(None) };
        self.ledger.set_balance(source, ticker.lower(), before, Balance { available, ..before })?;
        let note = Note { ticker, decimals, amount, source: source.clone(), height: self.height };
        self.ledger.add_note(id, &note)?;
        Ok(Some(Action::TransferInscribe { source: source.clone(), ticker: note.ticker, decimals, amount }))
    }

    /// The first move of a transfer inscription carries it out; further ones find no note. A move into fees counts where the
    /// fee was paid, and the coinbase's own event, later in the block, finds no note either.
    fn moved(&mut self, event: &InscriptionEvent) -> Result<(), LedgerError> {
        let Some(note) = self.ledger.note(event.id)? else { return Ok(()) };
        let target = match &event.destination {
            Destination::Output { script_pubkey, .. } => Some(Arc::clone(script_pubkey)),
            Destination::Fee | Destination::Lost => None,
        };
        let action = self.transfer(event.id, note, target)?;
        self.record(event, Some(action));
        Ok(())
    }

    fn transfer(&mut self, id: InscriptionId, note: Note, target: Option<Arc<Script>>) -> Result<Action, LedgerError> {
        self.ledger.remove_note(id, &note)?;
        let Note { ticker, decimals, amount, source, .. } = note;
        let mut token = self
            .ledger
            .token(ticker.lower())?
            .ok_or(LedgerError::Damaged("a transfer of a token that is not there"))?;
        token.transfers += 1;
        match target.as_deref() {
            Some(target) if BURNING.contains(&target.as_bytes()) => {
                self.take(&mut token, &source, amount)?;
                token.burned =
                    token.burned.plus(amount).ok_or(LedgerError::Damaged("more is burned than there can be"))?;
            }
            Some(target) if !target.is_empty() => {
                self.take(&mut token, &source, amount)?;
                self.change(&mut token, target, |balance| {
                    Some(Balance { overall: balance.overall.plus(amount)?, available: balance.available.plus(amount)? })
                })?;
            }
            // Paid as a fee, or sent to the empty script, which OPI cannot distinguish from a fee: back to the sender.
            _ => self.change(&mut token, &source, |balance| {
                Some(Balance { available: balance.available.plus(amount)?, ..balance })
            })?,
        }
        self.ledger.set_token(&token)?;
        Ok(Action::TransferTransfer { source, target, ticker, decimals, amount })
    }

    /// Takes what was set aside from its owner.
    fn take(&mut self, token: &mut Token, source: &Script, amount: Amount) -> Result<(), LedgerError> {
        self.change(token, source, |balance| Some(Balance { overall: balance.overall.minus(amount)?, ..balance }))
    }

    /// Changes a balance, and the number of holders with it.
    fn change(
        &mut self,
        token: &mut Token,
        script: &Script,
        change: impl FnOnce(Balance) -> Option<Balance>,
    ) -> Result<(), LedgerError> {
        let before = self.ledger.balance(script, token.ticker.lower())?;
        let after = change(before).filter(|after| after.available <= after.overall);
        let after = after.ok_or(LedgerError::Damaged("a balance would be below what is set aside of it"))?;
        match (before.overall == Amount::ZERO, after.overall == Amount::ZERO) {
            (true, false) => token.holders += 1,
            (false, true) => token.holders = token.holders.saturating_sub(1),
            _ => {}
        }
        self.ledger.set_balance(script, token.ticker.lower(), before, after)
    }
}
