//! What was traded on a pool, and at what price.

use paraffin_amm::{MarketBook, Ratio, Volumes};
use paraffin_primitives::AlkaneId;

use super::{IndexError, PoolIndex, PoolRecord, Swap, Totals};

/// Seconds of the candles that windows are summed from.
const HOUR: u32 = 3_600;

impl PoolIndex {
    /// What was traded in the newest 24, 168 and 720 hours, which end with the hour of the newest trade, and ever.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn volumes(&self, pool: AlkaneId) -> Result<[Volumes; 4], IndexError> {
        let newest = self.swaps(pool, 0, 1)?.items.first().map_or(0, |swap| u64::from(swap.time));
        let hour = newest - newest % u64::from(HOUR);
        let window = |hours: u64| -> Result<Volumes, IndexError> {
            let from = hour.saturating_sub((hours - 1) * u64::from(HOUR));
            let candles = self.candles(pool, HOUR, (from, hour), 0, u32::MAX)?.items;
            Ok(candles.iter().fold(Volumes::default(), |sum, candle| Volumes {
                amounts: [0, 1].map(|side: usize| candle.volumes[side].saturating_add(sum.amounts[side])),
                trades: sum.trades + candle.trades,
            }))
        };
        let Totals { swaps, volumes, .. } = self.totals(pool)?;
        Ok([window(24)?, window(168)?, window(720)?, Volumes { amounts: volumes, trades: swaps }])
    }
}

impl PoolRecord {
    /// What trade is worth, satoshis: the lower of both sides, each at the price of its alkane; `None` where neither has one.
    pub fn trade_value(&self, traded: &Volumes, book: &MarketBook) -> Option<u128> {
        let sides = self.identity.tokens().into_iter().zip(traded.amounts);
        sides.filter_map(|(token, amount)| Some(book.price(token)?.price.value_of(amount))).min()
    }
}

impl Swap {
    /// Units of the second alkane for one of the first; `None` where one amount is 0.
    pub fn price(&self) -> Option<Ratio> {
        if self.zero_for_one {
            Ratio::new(self.amount_out, self.amount_in)
        } else {
            Ratio::new(self.amount_in, self.amount_out)
        }
    }
}
