//! Inscriptions and runes that a block moved.

use std::collections::HashMap;

use bitcoin::{OutPoint, Txid};
use ordinals::SatPoint;
use paraffin_ordinals_index::reader::{BlockMoves, InscriptionMove, MovesWanted, RuneHolding};

use super::{EventCollector, EventReader, Numbers, SECOND_HALF, TransactionPosition};
use crate::event::{Event, Holder, InscriptionAction, InscriptionEvent, InscriptionPlace, RuneEvent};
use crate::filter::NamedRune;
use crate::{EventError, Kind, PreparedFilter};

/// The index of each transaction of a block.
struct TransactionPositions(HashMap<Txid, u32>);

impl TransactionPositions {
    fn of(&self, txid: Txid) -> Option<TransactionPosition> {
        self.0.get(&txid).map(|transaction| TransactionPosition { transaction: *transaction, txid })
    }
}

impl EventReader {
    pub(super) fn ordinals(
        &mut self,
        filter: &PreparedFilter,
        collector: &mut EventCollector,
    ) -> Result<(), EventError> {
        let height = collector.block.height;
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
        let positions = TransactionPositions((0..).zip(&txids).map(|(position, txid)| (*txid, position)).collect());
        self.inscriptions(inscriptions, &positions, coinbase, filter, collector)?;
        self.runes(runes, &positions, filter, collector)
    }

    /// Each inscription with the transaction that moved it to its location after the block.
    fn inscriptions(
        &self,
        moves: Vec<InscriptionMove>,
        positions: &TransactionPositions,
        coinbase: Option<Txid>,
        filter: &PreparedFilter,
        collector: &mut EventCollector,
    ) -> Result<(), EventError> {
        let mut ordered: Vec<(TransactionPosition, InscriptionMove)> = Vec::with_capacity(moves.len());
        for moved in moves {
            let txid = match (&moved.to, &moved.from) {
                (Some(to), _) => Some(to.outpoint.txid),
                // Bound to no sat, or paid as a fee that no coinbase claimed.
                (None, None) => Some(moved.id.txid),
                (None, Some(_)) => coinbase,
            };
            ordered.extend(txid.and_then(|txid| positions.of(txid)).map(|of| (of, moved)));
        }
        // The order within a transaction is that of the numbering.
        ordered.sort_by_key(|(of, _)| of.transaction);
        let mut numbers = Numbers::default();
        for (of, InscriptionMove { id, number, from, to }) in ordered {
            let order = numbers.next(of.transaction);
            if filter.inscriptions.as_ref().is_some_and(|wanted| !wanted.contains(&id)) {
                continue;
            }
            let action = if from.is_some() { InscriptionAction::Moved } else { InscriptionAction::Created };
            let from = from.map(|point| self.sat_location(point, collector)).transpose()?;
            let to = to.map(|point| self.sat_location(point, collector)).transpose()?;
            collector.push(of, Kind::Inscription, order, |occasion| {
                Event::Inscription(InscriptionEvent { occasion, inscription: id, number, action, from, to })
            })?;
        }
        Ok(())
    }

    fn sat_location(
        &self,
        SatPoint { outpoint, offset }: SatPoint,
        collector: &EventCollector,
    ) -> Result<InscriptionPlace, EventError> {
        Ok(InscriptionPlace { outpoint, offset, address: self.address_of(&outpoint, collector)? })
    }

    fn address_of(&self, outpoint: &OutPoint, collector: &EventCollector) -> Result<Option<String>, EventError> {
        let output = self.bitcoin.output(outpoint)?;
        Ok(output.and_then(|output| collector.address(&output.script_pubkey)))
    }

    /// Runes that spent outputs bring to transactions, and runes of new outputs that the block does not spend.
    fn runes(
        &self,
        holdings: Vec<RuneHolding>,
        positions: &TransactionPositions,
        filter: &PreparedFilter,
        collector: &mut EventCollector,
    ) -> Result<(), EventError> {
        let mut ordered: Vec<((bool, u32, u32), TransactionPosition, RuneHolding)> = Vec::with_capacity(holdings.len());
        for holding in holdings {
            let (txid, number) = if holding.is_spent {
                let spender = self.bitcoin.outspend(&holding.outpoint)?;
                spender.map_or((None, 0), |spender| (Some(spender.txid), spender.vin))
            } else {
                (Some(holding.outpoint.txid), holding.outpoint.vout)
            };
            if let Some(of) = txid.and_then(|txid| positions.of(txid)) {
                ordered.push(((!holding.is_spent, of.transaction, number), of, holding));
            }
        }
        ordered.sort_unstable_by_key(|(order, _, _)| *order);
        let mut numbers = [Numbers::default(), Numbers::default()];
        for (_, of, RuneHolding { outpoint, is_spent, runes }) in ordered {
            let address = self.address_of(&outpoint, collector)?;
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
                collector.push(of, Kind::Rune, number, |occasion| {
                    Event::Rune(RuneEvent { occasion, rune, name, amount, from, to })
                })?;
            }
        }
        Ok(())
    }
}
