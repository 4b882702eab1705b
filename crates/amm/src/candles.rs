//! Candles: open, high, low, close and volume of the trades of one bucket.

use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

use crate::rows::{Parser, append_volumes, id_key};
use crate::{AmmError, Ratio, Timeframe};

/// The alkane of a pool that prices are for (docs/api.md, "Analytics").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Units of the second alkane for one of the first; volume in the first.
    Base,
    /// Units of the first alkane for one of the second; volume in the second.
    Quote,
}

/// The trades of one bucket, seen from the base side. Within a bucket trades follow the chain, also when a block's time lies
/// before that of the block before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candle {
    /// Start of the bucket, Unix seconds.
    pub start: u32,
    /// Price of the first trade.
    pub open: Ratio,
    /// Highest price.
    pub high: Ratio,
    /// Lowest price.
    pub low: Ratio,
    /// Price of the last trade.
    pub close: Ratio,
    /// Volumes of both alkanes in both directions, base units.
    pub volumes: [U256; 2],
    /// Number of trades; it stops at 2^32 - 1.
    pub trades: u32,
}

/// A candle in the prices of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SidedCandle {
    /// Price of the first trade.
    pub open: Ratio,
    /// Highest price.
    pub high: Ratio,
    /// Lowest price.
    pub low: Ratio,
    /// Price of the last trade.
    pub close: Ratio,
    /// Volume of the side's own alkane, base units.
    pub volume: U256,
}

impl Candle {
    /// The candle of a single trade of these amounts.
    pub(crate) fn of(start: u32, price: Ratio, amounts: [u128; 2]) -> Self {
        let volumes = amounts.map(U256::from);
        Self { start, open: price, high: price, low: price, close: price, volumes, trades: 1 }
    }

    /// Merges the candle of later trades of the same bucket.
    pub(crate) fn merge(&mut self, later: &Self) {
        if later.high.compare(&self.high).is_gt() {
            self.high = later.high;
        }
        if later.low.compare(&self.low).is_lt() {
            self.low = later.low;
        }
        self.close = later.close;
        for (volume, more) in self.volumes.iter_mut().zip(later.volumes) {
            *volume = volume.saturating_add(more);
        }
        self.trades = self.trades.saturating_add(later.trades);
    }

    /// The candle in the prices of `side`: the highest price of one side is the lowest of the other.
    pub fn seen_from(&self, side: Side) -> SidedCandle {
        let Self { open, high, low, close, volumes: [first, second], .. } = *self;
        match side {
            Side::Base => SidedCandle { open, high, low, close, volume: first },
            Side::Quote => SidedCandle {
                open: open.inverse(),
                high: low.inverse(),
                low: high.inverse(),
                close: close.inverse(),
                volume: second,
            },
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(196);
        for ratio in [self.open, self.high, self.low, self.close] {
            bytes.extend_from_slice(&ratio.numerator.to_be_bytes());
            bytes.extend_from_slice(&ratio.denominator.to_be_bytes());
        }
        append_volumes(self.volumes, self.trades, &mut bytes);
        bytes
    }

    pub(crate) fn decode(start: u32, bytes: &[u8]) -> Result<Self, AmmError> {
        let mut parser = Parser::new("candles", bytes);
        let (open, high, low, close) = (parser.ratio()?, parser.ratio()?, parser.ratio()?, parser.ratio()?);
        let (volumes, trades) = ([parser.wide()?, parser.wide()?], parser.number()?);
        parser.end(Self { start, open, high, low, close, volumes, trades })
    }
}

/// Prefix of the candles of a pool.
pub(crate) fn candle_prefix(pool: AlkaneId, timeframe: Timeframe) -> Vec<u8> {
    let mut key = id_key(pool);
    key.push(timeframe.number());
    key
}

/// Key of a candle.
pub(crate) fn candle_key(pool: AlkaneId, timeframe: Timeframe, start: u32) -> Vec<u8> {
    let mut key = candle_prefix(pool, timeframe);
    key.extend_from_slice(&start.to_be_bytes());
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn trade([first, second]: [u128; 2]) -> Candle {
        Candle::of(600, Ratio::new(second, first).unwrap(), [first, second])
    }

    /// Compares two prices by another way than cross products: whole part first, then the same of the rests, inverted.
    fn compare(mut a: (u128, u128), mut b: (u128, u128)) -> std::cmp::Ordering {
        let mut is_turned = false;
        loop {
            let whole = (a.0 / a.1).cmp(&(b.0 / b.1));
            let rests = (a.0 % a.1, b.0 % b.1);
            let order = match (whole.is_eq(), rests) {
                (false, _) => whole,
                (true, (0, _) | (_, 0)) => rests.0.min(1).cmp(&rests.1.min(1)),
                (true, _) => {
                    (a, b) = ((a.1, rests.0), (b.1, rests.1));
                    is_turned = !is_turned;
                    continue;
                }
            };
            return if is_turned { order.reverse() } else { order };
        }
    }

    proptest! {
        #[test]
        fn a_candle_built_trade_by_trade_is_that_of_all_trades(
            trades in prop::collection::vec(prop_oneof![
                prop::array::uniform2(1u128..1_000),
                prop::array::uniform2(1u128..=u128::MAX),
            ], 1..40),
            cut in 0usize..40,
        ) {
            let whole = |trades: &[[u128; 2]]| {
                let mut candle = trade(trades[0]);
                for amounts in &trades[1..] {
                    candle.merge(&trade(*amounts));
                    // A candle survives encoding and decoding.
                    candle = Candle::decode(600, &candle.encode()).unwrap();
                }
                candle
            };
            let candle = whole(&trades);
            let pair = |ratio: Ratio| (ratio.numerator, ratio.denominator);
            let price = |[first, second]: [u128; 2]| (second, first);
            prop_assert_eq!((pair(candle.open), pair(candle.close)), (price(trades[0]), price(trades[trades.len() - 1])));
            let highest = trades.iter().map(|trade| price(*trade)).max_by(|a, b| compare(*a, *b)).unwrap();
            let lowest = trades.iter().map(|trade| price(*trade)).min_by(|a, b| compare(*a, *b)).unwrap();
            prop_assert!(compare(pair(candle.high), highest).is_eq() && compare(pair(candle.low), lowest).is_eq());
            for side in 0..2 {
                let sum = trades.iter().fold(U256::ZERO, |sum, trade| sum + U256::from(trade[side]));
                prop_assert_eq!(candle.volumes[side], sum);
            }
            prop_assert_eq!(candle.trades as usize, trades.len());
            let cut = cut.clamp(1, trades.len());
            if cut < trades.len() {
                let mut halves = whole(&trades[..cut]);
                halves.merge(&whole(&trades[cut..]));
                prop_assert_eq!(halves, candle);
            }
            let quote = candle.seen_from(Side::Quote);
            prop_assert_eq!((quote.high, quote.low, quote.volume), (candle.low.inverse(), candle.high.inverse(), candle.volumes[1]));
        }
    }

    #[test]
    fn every_cut_of_a_stored_candle_is_refused() {
        let bytes = trade([3, 4]).encode();
        for length in 0..bytes.len() {
            assert!(Candle::decode(600, &bytes[..length]).is_err(), "{length}");
        }
        assert!(Candle::decode(600, &[0; 196]).is_err());
    }
}
