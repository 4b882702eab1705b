//! Trades with pools: those of factories, and those that no factory lists.

use paraffin_alkanes::Transfer;
use paraffin_amm::{Action, Markets};
use paraffin_primitives::AlkaneId;

use super::{EventCollector, EventReader, SECOND_HALF, TransactionPosition};
use crate::event::{Event, MovedAmount, TradeEvent};
use crate::{EventError, Kind, PreparedFilter};

impl EventReader {
    pub(super) fn trades(&self, filter: &PreparedFilter, collector: &mut EventCollector) -> Result<(), EventError> {
        let factories = Markets::at(self.snapshot(), collector.block.height);
        trades_of(&factories, 0, |_| Ok(true), filter, collector)?;
        let Some(pools) = self.unlisted_pools else { return Ok(()) };
        let unlisted = Markets::over(pools.journal, self.snapshot(), collector.block.height);
        // A contract that answers as both kinds of pool is reported once, as that of its factory.
        trades_of(&unlisted, SECOND_HALF, |id| Ok(factories.pool(id)?.is_none()), filter, collector)
    }
}

/// Trades of one index. Their numbers in a transaction begin at `first`, since each index numbers its own events.
fn trades_of(
    markets: &Markets,
    first: u32,
    is_counted: impl Fn(AlkaneId) -> Result<bool, EventError>,
    filter: &PreparedFilter,
    collector: &mut EventCollector,
) -> Result<(), EventError> {
    let height = collector.block.height;
    for event in markets.events_of_blocks(height, height, usize::MAX)?.unwrap_or_default() {
        let Action::Swap { pool, sold, bought } = event.action else { continue };
        if filter.pools.as_ref().is_some_and(|wanted| !wanted.contains(&pool.id)) || !is_counted(pool.id)? {
            continue;
        }
        let address = event.actor.as_deref().and_then(|script| collector.address(script));
        let of = TransactionPosition { transaction: event.position.transaction, txid: event.txid };
        let number = first.saturating_add(event.position.event);
        collector.push(of, Kind::Trade, number, |occasion| {
            Event::Trade(TradeEvent {
                occasion,
                vout: event.vout,
                pool: pool.id,
                factory: (pool.factory != AlkaneId::default()).then_some(pool.factory),
                sold: amount(sold),
                bought: amount(bought),
                address,
            })
        })?;
    }
    Ok(())
}

fn amount(Transfer { id: alkane, value: amount }: Transfer) -> MovedAmount {
    MovedAmount { alkane, amount }
}
