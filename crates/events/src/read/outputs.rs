//! Outputs of watched scripts, and alkanes that outputs bring and get.

use bitcoin::ScriptBuf;
use paraffin_alkanes::ChainState;
use paraffin_bitcoin_index::{BlockOutput, OutputUse};
use paraffin_primitives::{AlkaneId, Height};

use super::{EventCollector, EventReader, Numbers, SECOND_HALF, TransactionPosition};
use crate::event::{AddressEvent, Direction, Event, Holder, TransferEvent};
use crate::{EventError, Kind, PreparedFilter};

/// An output with alkanes that a block spends, or that it makes and does not spend.
struct Holding {
    of: TransactionPosition,
    usage: OutputUse,
    outpoint: bitcoin::OutPoint,
    script: ScriptBuf,
    alkanes: Vec<(AlkaneId, u128)>,
}

/// Alkanes of outputs before and after a block.
struct Sheets {
    before: Option<ChainState>,
    after: ChainState,
}

impl Sheets {
    fn of(reader: &EventReader, height: Height) -> Self {
        let at = |height| ChainState::at(reader.snapshot(), height);
        Self { before: height.checked_sub(1).map(at), after: at(height) }
    }

    /// The alkanes that an output brings, or that it has at the end of the block.
    fn alkanes(&self, output: &BlockOutput) -> Result<Vec<(AlkaneId, u128)>, EventError> {
        let state = match output.usage {
            OutputUse::Made(_) => Some(&self.after),
            OutputUse::Spent(_) => self.before.as_ref(),
        };
        let Some(state) = state else { return Ok(Vec::new()) };
        // Most outputs have no such row, which a filter in memory shows.
        if state.output(&output.outpoint)?.is_none() {
            return Ok(Vec::new());
        }
        Ok(state.sheet(&output.outpoint)?.load().iter().filter(|(_, amount)| *amount > 0).collect())
    }
}

impl EventReader {
    /// Reads the outputs of the block once for both kinds.
    pub(super) fn outputs(&self, filter: &PreparedFilter, collector: &mut EventCollector) -> Result<(), EventError> {
        let height = collector.block.height;
        let sheets = filter.wants(Kind::Transfer).then(|| Sheets::of(self, height));
        let mut holdings = Vec::new();
        self.bitcoin.visit_block(height, |output| -> Result<(), EventError> {
            if filter.scripts.contains(&output.script) {
                watched(&output, collector)?;
            }
            let Some(sheets) = &sheets else { return Ok(()) };
            let alkanes = sheets.alkanes(&output)?;
            if !alkanes.is_empty() {
                let BlockOutput { transaction, txid, usage, outpoint, script, .. } = output;
                holdings.push(Holding {
                    of: TransactionPosition { transaction, txid },
                    usage,
                    outpoint,
                    script,
                    alkanes,
                });
            }
            Ok(())
        })?;
        holdings.sort_unstable_by_key(|holding| (holding.usage.is_made(), holding.of.transaction, holding.usage));
        let mut numbers = [Numbers::default(), Numbers::default()];
        for holding in holdings {
            let is_made = holding.usage.is_made();
            for (alkane, amount) in holding.alkanes {
                let number = numbers[usize::from(is_made)].next(holding.of.transaction);
                if filter.alkanes.as_ref().is_some_and(|wanted| !wanted.contains(&alkane)) {
                    continue;
                }
                let address = collector.address(&holding.script);
                let output = Holder::Output { outpoint: holding.outpoint, address };
                let (number, from, to) = if is_made {
                    (SECOND_HALF.saturating_add(number), Holder::Transaction, output)
                } else {
                    (number, output, Holder::Transaction)
                };
                collector.push(holding.of, Kind::Transfer, number, |occasion| {
                    Event::Transfer(TransferEvent { occasion, alkane, amount, from, to })
                })?;
            }
        }
        Ok(())
    }
}

fn watched(output: &BlockOutput, collector: &mut EventCollector) -> Result<(), EventError> {
    let (direction, number, order) = match output.usage {
        OutputUse::Spent(vin) => (Direction::Spend, vin, vin),
        OutputUse::Made(vout) => (Direction::Receive, vout, SECOND_HALF.saturating_add(vout)),
    };
    let address = collector.address(&output.script);
    let of = TransactionPosition { transaction: output.transaction, txid: output.txid };
    collector.push(of, Kind::Address, order, |occasion| {
        Event::Address(AddressEvent {
            occasion,
            direction,
            number,
            outpoint: output.outpoint,
            value: output.value.to_string(),
            address,
            script: output.script.to_hex_string(),
        })
    })
}
