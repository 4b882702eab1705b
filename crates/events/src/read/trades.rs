//! Trades with the pools of factories.

use paraffin_alkanes::Transfer;
use paraffin_amm::{Action, Markets};

use super::{EventReader, Found, Placed};
use crate::event::{Event, MovedAmount, TradeEvent};
use crate::{EventError, Kind, PreparedFilter};

impl EventReader {
    pub(super) fn trades(&self, filter: &PreparedFilter, found: &mut Found) -> Result<(), EventError> {
        let height = found.block.height;
        let markets = Markets::at(self.snapshot(), height);
        for event in markets.events_of_blocks(height, height, usize::MAX)?.unwrap_or_default() {
            let Action::Swap { pool, sold, bought } = event.action else { continue };
            if filter.pools.as_ref().is_some_and(|wanted| !wanted.contains(&pool.id)) {
                continue;
            }
            let address = event.actor.as_deref().and_then(|script| found.address(script));
            let of = Placed { transaction: event.place.transaction, txid: event.txid };
            found.push(of, Kind::Trade, event.place.event, |occasion| {
                Event::Trade(TradeEvent {
                    occasion,
                    vout: event.vout,
                    pool: pool.id,
                    factory: pool.factory,
                    sold: amount(sold),
                    bought: amount(bought),
                    address,
                })
            })?;
        }
        Ok(())
    }
}

fn amount(Transfer { id: alkane, value: amount }: Transfer) -> MovedAmount {
    MovedAmount { alkane, amount }
}
