//! Candles: open, high, low, close and volume of the trades of one bucket.

use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

use super::IndexError;
use super::rows::{Parser, append_wide, id_key};

/// Widths of the buckets, seconds (docs/api.md).
pub const BUCKET_WIDTHS: [u32; 2] = [3_600, 86_400];

/// The trades of one bucket. Within a bucket trades follow the chain, also when a block's time lies before that of the block
/// before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candle {
    /// Start of the bucket, Unix seconds.
    pub start: u64,
    /// Price of the first trade, token 1 for token 0 in base units, over 1e18.
    pub open: U256,
    /// Highest price.
    pub high: U256,
    /// Lowest price.
    pub low: U256,
    /// Price of the last trade.
    pub close: U256,
    /// Volumes of token 0 and token 1 in both directions, base units.
    pub volumes: [U256; 2],
    /// Number of trades.
    pub trades: u32,
}

impl Candle {
    /// Start of the bucket that holds a time.
    pub fn bucket(width: u32, time: u64) -> u64 {
        time - time % u64::from(width.max(1))
    }

    pub(crate) fn of(start: u64, price: U256, volumes: [U256; 2]) -> Self {
        Self { start, open: price, high: price, low: price, close: price, volumes, trades: 1 }
    }

    /// Merges a later candle of the same bucket.
    pub(crate) fn merge(&mut self, later: &Self) {
        self.high = self.high.max(later.high);
        self.low = self.low.min(later.low);
        self.close = later.close;
        for (volume, more) in self.volumes.iter_mut().zip(later.volumes) {
            *volume = volume.saturating_add(more);
        }
        self.trades = self.trades.saturating_add(later.trades);
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        for number in [self.open, self.high, self.low, self.close, self.volumes[0], self.volumes[1]] {
            append_wide(number, &mut bytes);
        }
        bytes.extend_from_slice(&self.trades.to_be_bytes());
        bytes
    }

    /// Reads the row with this key.
    pub(crate) fn decode(key: &[u8], bytes: &[u8]) -> Result<Self, IndexError> {
        let start = key.last_chunk::<8>().map(|start| u64::from_be_bytes(*start));
        let start = start.ok_or_else(|| IndexError::Damaged("a key of candles is too short".to_owned()))?;
        let mut parser = Parser::new("candles", bytes);
        let (open, high, low, close) = (parser.wide()?, parser.wide()?, parser.wide()?, parser.wide()?);
        let (volumes, trades) = ([parser.wide()?, parser.wide()?], parser.number()?);
        parser.end(Self { start, open, high, low, close, volumes, trades })
    }
}

/// Prefix of the candles of a pool.
pub(crate) fn candle_prefix(pool: AlkaneId, width: u32) -> Vec<u8> {
    let mut key = id_key(pool);
    key.extend_from_slice(&width.to_be_bytes());
    key
}

/// Key of a candle.
pub(crate) fn candle_key(pool: AlkaneId, width: u32, start: u64) -> Vec<u8> {
    let mut key = candle_prefix(pool, width);
    key.extend_from_slice(&start.to_be_bytes());
    key
}
