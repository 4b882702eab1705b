//! Inscriptions and runes that a block moved.

use std::collections::HashMap;

use bitcoin::{OutPoint, Txid};
use ordinals::SatPoint;
use paraffin_ordinals_index::reader::{BlockMoves, InscriptionMove, MovesWanted, RuneHolding};

use super::{EventReader, Found, Numbers, Placed, SECOND_HALF};
use crate::event::{Event, Holder, InscriptionAction, InscriptionEvent, InscriptionPlace, RuneEvent};
use crate::filter::NamedRune;
use crate::{EventError, Kind, PreparedFilter};

/// The place of each transaction of a block.
struct Places(HashMap<Txid, u32>);

impl Places {
    fn of(&self, txid: Txid) -> Option<Placed> {
        self.0.get(&txid).map(|transaction| Placed { transaction: *transaction, txid })
    }
}

impl EventReader {
    pub(super) fn ordinals(&mut self, filter: &PreparedFilter, found: &mut Found) -> Result<(), EventError> {
        let height = found.block.height;
        let wanted = MovesWanted { inscriptions: filter.wants(Kind::Inscription), runes: filter.wants(Kind::Rune) };
        let Some(moves) = self.moves.of_block(height, wanted)? else {
            return Err(EventError::HistoryNotKept { from: self.snapshot().undo_from()? });
        };
        let BlockMoves { inscriptions, runes } = moves;
        if inscriptions.is_empty() && runes.is_empty() {
            return Ok(());
        }
        let txids = self.bitcoin.block_txids(height)?.unwrap_or_default();
        let coinbase = txids.first().copied();
        let places = Places((0..).zip(&txids).map(|(place, txid)| (*txid, place)).collect());
        self.inscriptions(inscriptions, &places, coinbase, filter, found)?;
        self.runes(runes, &places, filter, found)
    }

    /// Each inscription with the transaction that brought it where it is after the block.
    fn inscriptions(
        &self,
        moves: Vec<InscriptionMove>,
        places: &Places,
        coinbase: Option<Txid>,
        filter: &PreparedFilter,
        found: &mut Found,
    ) -> Result<(), EventError> {
        let mut placed: Vec<(Placed, InscriptionMove)> = Vec::with_capacity(moves.len());
        for moved in moves {
            let txid = match (&moved.to, &moved.from) {
                (Some(to), _) => Some(to.outpoint.txid),
                // Bound to no sat, or paid as a fee that no coinbase claimed.
                (None, None) => Some(moved.id.txid),
                (None, Some(_)) => coinbase,
            };
            placed.extend(txid.and_then(|txid| places.of(txid)).map(|of| (of, moved)));
        }
        // The order within a transaction is that of the numbering.
        placed.sort_by_key(|(of, _)| of.transaction);
        let mut numbers = Numbers::default();
        for (of, InscriptionMove { id, number, from, to }) in placed {
            let order = numbers.next(of.transaction);
            if filter.inscriptions.as_ref().is_some_and(|wanted| !wanted.contains(&id)) {
                continue;
            }
            let action = if from.is_some() { InscriptionAction::Moved } else { InscriptionAction::Created };
            let from = from.map(|point| self.place(point, found)).transpose()?;
            let to = to.map(|point| self.place(point, found)).transpose()?;
            found.push(of, Kind::Inscription, order, |occasion| {
                Event::Inscription(InscriptionEvent { occasion, inscription: id, number, action, from, to })
            })?;
        }
        Ok(())
    }

    fn place(&self, SatPoint { outpoint, offset }: SatPoint, found: &Found) -> Result<InscriptionPlace, EventError> {
        Ok(InscriptionPlace { outpoint, offset, address: self.address_of(&outpoint, found)? })
    }

    fn address_of(&self, outpoint: &OutPoint, found: &Found) -> Result<Option<String>, EventError> {
        let output = self.bitcoin.output(outpoint)?;
        Ok(output.and_then(|output| found.address(&output.script_pubkey)))
    }

    /// What spent outputs bring to transactions, and what outputs that the block does not spend get of them.
    fn runes(
        &self,
        holdings: Vec<RuneHolding>,
        places: &Places,
        filter: &PreparedFilter,
        found: &mut Found,
    ) -> Result<(), EventError> {
        let mut placed: Vec<((bool, u32, u32), Placed, RuneHolding)> = Vec::with_capacity(holdings.len());
        for holding in holdings {
            let (txid, number) = if holding.is_spent {
                let spend = self.bitcoin.outspend(&holding.outpoint)?;
                (spend.txid, spend.vin.unwrap_or(0))
            } else {
                (Some(holding.outpoint.txid), holding.outpoint.vout)
            };
            if let Some(of) = txid.and_then(|txid| places.of(txid)) {
                placed.push(((!holding.is_spent, of.transaction, number), of, holding));
            }
        }
        placed.sort_unstable_by_key(|(order, _, _)| *order);
        let mut numbers = [Numbers::default(), Numbers::default()];
        for (_, of, RuneHolding { outpoint, is_spent, runes }) in placed {
            let address = self.address_of(&outpoint, found)?;
            for (rune, name, amount) in runes {
                let number = numbers[usize::from(is_spent)].next(of.transaction);
                let names = [NamedRune::Id(rune), NamedRune::Name(name.rune.0)];
                if filter.runes.as_ref().is_some_and(|wanted| !names.iter().any(|name| wanted.contains(name))) {
                    continue;
                }
                let output = Holder::Output { outpoint, address: address.clone() };
                let (number, from, to) = if is_spent {
                    (number, output, Holder::Transaction)
                } else {
                    (SECOND_HALF.saturating_add(number), Holder::Transaction, output)
                };
                let name = name.to_string();
                found.push(of, Kind::Rune, number, |occasion| {
                    Event::Rune(RuneEvent { occasion, rune, name, amount, from, to })
                })?;
            }
        }
        Ok(())
    }
}
