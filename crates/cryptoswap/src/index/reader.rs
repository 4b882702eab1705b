//! Reads for views: pools, states, swaps, candles, slots and summaries as of a height.

use bitcoin::Txid;
use paraffin_amm::Markets;
use paraffin_primitives::{AlkaneId, Height};
use paraffin_store::Snapshot;
use ruint::aliases::U256;

use super::IndexError;
use super::candle::{Candle, candle_key, candle_prefix};
use super::find::POOL_COUNT;
use super::rows::{
    BlockSummary, Identity, PoolRow, SwapRow, Totals, decode_count, decode_slot, id_key, slot_key, swap_key,
};
use super::state::{PoolState, executed_price_q};
use super::tables::{CANDLES, COUNTS, JOURNAL, MODULE, POOL_LIST, POOLS, SLOTS, STATES, SUMMARIES, SWAPS, TOTALS};

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Number of items in the whole list.
    pub total: u32,
}

/// A pool and its first appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRecord {
    /// The contract, which is also the LP token.
    pub id: AlkaneId,
    /// Height of the first block in which it did anything.
    pub first_height: Height,
    /// Time of that block, Unix seconds.
    pub first_time: u32,
    /// Whether its creation was seen.
    pub from_init: bool,
    /// Its coins.
    pub identity: Identity,
}

/// A trade that was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swap {
    /// Height of its block.
    pub height: Height,
    /// Time of the block, Unix seconds.
    pub time: u32,
    /// The transaction.
    pub txid: Txid,
    /// Shadow output of its message.
    pub vout: u32,
    /// Whether token 0 was sold.
    pub zero_for_one: bool,
    /// The amount of the token sold that the pool kept, base units.
    pub amount_in: u128,
    /// The amount of the other that it paid, base units.
    pub amount_out: u128,
    /// Token 1 for token 0, over 1e18, rounded down; `None` when no token 0 moved.
    pub price_q: Option<U256>,
}

/// A slot of a pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawSlot {
    /// The transaction that wrote it last; `None` when that was before the pool was indexed.
    pub txid: Option<Txid>,
    /// The stored bytes.
    pub value: Vec<u8>,
}

impl SwapRow {
    /// Its amounts of token 0 and token 1.
    pub(crate) fn amounts(&self) -> [u128; 2] {
        if self.zero_for_one { [self.amount_in, self.amount_out] } else { [self.amount_out, self.amount_in] }
    }
}

impl From<SwapRow> for Swap {
    fn from(row: SwapRow) -> Self {
        let price_q = executed_price_q(row.amounts());
        let SwapRow { height, time, txid, vout, zero_for_one, amount_in, amount_out } = row;
        Self { height, time, txid, vout, zero_for_one, amount_in, amount_out, price_q }
    }
}

/// The pool index as of the end of the block at a height. Cheap to clone; keep it for one request, not longer.
#[derive(Clone)]
pub struct PoolIndex {
    snapshot: Snapshot,
    height: Height,
    /// Whether no block of the snapshot is above the height.
    is_newest: bool,
}

impl PoolIndex {
    /// The index at the end of the block at `height`; above the newest block it is that of the newest.
    pub fn at(snapshot: &Snapshot, height: Height) -> Self {
        let is_newest = snapshot.tip().is_none_or(|tip| tip.id.height <= height);
        Self { snapshot: snapshot.clone(), height, is_newest }
    }

    /// Newest height that can be read; `None` when there is no pool index, or nothing in it yet.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn newest(snapshot: &Snapshot) -> Result<Option<Height>, IndexError> {
        Ok(snapshot.module_height(MODULE)?)
    }

    /// The requested height.
    pub fn height(&self) -> Height {
        self.height
    }

    /// The pool with an id; `None` when the contract is no pool.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn pool(&self, id: AlkaneId) -> Result<Option<PoolRecord>, IndexError> {
        let Some(stored) = self.snapshot.get_at(&POOLS, &id_key(id), self.height)? else { return Ok(None) };
        let PoolRow { first_height, first_time, from_init, identity } = PoolRow::decode(&stored)?;
        Ok(identity.map(|identity| PoolRecord { id, first_height, first_time, from_init, identity }))
    }

    /// All pools, the newest first.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn pools(&self) -> Result<impl Iterator<Item = Result<PoolRecord, IndexError>> + '_, IndexError> {
        let count = decode_count("counts", self.snapshot.get_at(&COUNTS, POOL_COUNT, self.height)?.as_deref())?;
        Ok((0..count).rev().map(|number| {
            let missing = || IndexError::Damaged(format!("pool number {number} is missing"));
            let key = self.snapshot.get(&POOL_LIST, &number.to_be_bytes())?.ok_or_else(missing)?;
            let part = |bytes: &[u8]| bytes.try_into().map(u128::from_be_bytes).ok();
            let (block, tx) = key.split_at_checked(16).ok_or_else(missing)?;
            let id = AlkaneId { block: part(block).ok_or_else(missing)?, tx: part(tx).ok_or_else(missing)? };
            self.pool(id)?.ok_or_else(missing)
        }))
    }

    /// The state of a pool; `None` until its contract has written one.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn state(&self, pool: AlkaneId) -> Result<Option<PoolState>, IndexError> {
        self.snapshot.get_at(&STATES, &id_key(pool), self.height)?.as_deref().map(PoolState::decode).transpose()
    }

    /// Volume of a pool since its creation.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn totals(&self, pool: AlkaneId) -> Result<Totals, IndexError> {
        let stored = self.snapshot.get_at(&TOTALS, &id_key(pool), self.height)?;
        Ok(stored.as_deref().map(Totals::decode).transpose()?.unwrap_or_default())
    }

    /// Trades, deposits and withdrawals with their senders, and candles of the exact prices, in the form of the market index. A
    /// pool's factory is written as 0:0; there are no lists of all events ([`paraffin_amm::Scope::All`]) or of factories, and
    /// failed attempts are not stored.
    pub fn markets(&self) -> Markets {
        Markets::over(JOURNAL, &self.snapshot, self.height)
    }

    /// Trades of a pool, the newest first, behind the newest `offset`; at most `limit`.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn swaps(&self, pool: AlkaneId, offset: u64, limit: u32) -> Result<Page<Swap>, IndexError> {
        let total = self.totals(pool)?.swaps;
        let end = total.saturating_sub(u32::try_from(offset).unwrap_or(u32::MAX));
        let begin = end.saturating_sub(limit);
        if begin == end {
            return Ok(Page { items: Vec::new(), total });
        }
        let rows = self.snapshot.range(&SWAPS, &swap_key(pool, begin), &swap_key(pool, end - 1)).rev();
        let items = rows.map(|row| SwapRow::decode(&row?.1).map(Swap::from)).collect::<Result<Vec<_>, _>>()?;
        if items.len() as u32 != end - begin {
            return Err(IndexError::Damaged(format!("swaps of {pool} are missing")));
        }
        Ok(Page { items, total })
    }

    /// The newest trade of a pool that has a price.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn newest_priced_swap(&self, pool: AlkaneId) -> Result<Option<Swap>, IndexError> {
        let Some(number) = self.totals(pool)?.newest_priced else { return Ok(None) };
        let missing = || IndexError::Damaged(format!("swap {number} of {pool} is missing"));
        let stored = self.snapshot.get(&SWAPS, &swap_key(pool, number))?.ok_or_else(missing)?;
        Ok(Some(SwapRow::decode(&stored)?.into()))
    }

    /// Candles of a pool whose bucket of `width` seconds begins in `from..=to`, ascending, behind the first `offset`; at most
    /// `limit`. Buckets without trades have none.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn candles(
        &self,
        pool: AlkaneId,
        width: u32,
        (from, to): (u64, u64),
        offset: u64,
        limit: u32,
    ) -> Result<Page<Candle>, IndexError> {
        let mut page = Page { items: Vec::new(), total: 0 };
        if from > to {
            return Ok(page);
        }
        let (first, last) = (candle_key(pool, width, from), candle_key(pool, width, to));
        let rows: Box<dyn Iterator<Item = _>> = if self.is_newest {
            Box::new(self.snapshot.range(&CANDLES, &first, &last))
        } else {
            let rows = self.snapshot.prefix_at(&CANDLES, &candle_prefix(pool, width), self.height)?;
            let rows = rows.skip_while(move |row| row.as_ref().is_ok_and(|(key, _)| *key < first));
            Box::new(rows.take_while(move |row| row.as_ref().map_or(true, |(key, _)| *key <= last)))
        };
        for row in rows {
            let (key, value) = row?;
            if u64::from(page.total) >= offset && page.items.len() < limit as usize {
                page.items.push(Candle::decode(&key, &value)?);
            }
            page.total = page.total.saturating_add(1);
        }
        Ok(page)
    }

    /// The candle of the bucket that holds a time; `None` without trades.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn candle_at(&self, pool: AlkaneId, width: u32, time: u64) -> Result<Option<Candle>, IndexError> {
        let key = candle_key(pool, width, Candle::bucket(width, time));
        let stored = self.snapshot.get_at(&CANDLES, &key, self.height)?;
        stored.map(|stored| Candle::decode(&key, &stored)).transpose()
    }

    /// A slot of a pool or of a contract that may become one; `None` when it was never written while watched.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn slot(&self, pool: AlkaneId, name: &[u8]) -> Result<Option<RawSlot>, IndexError> {
        let stored = self.snapshot.get_at(&SLOTS, &slot_key(pool, name), self.height)?;
        let slot = stored.as_deref().map(decode_slot).transpose()?;
        Ok(slot.map(|(txid, value)| RawSlot { txid, value }))
    }

    /// Hash and time of a block up to the height, with its summary of pools; `None` above.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn summary(&self, height: Height) -> Result<Option<(bitcoin::BlockHash, BlockSummary)>, IndexError> {
        if height > self.height {
            return Ok(None);
        }
        let Some(record) = self.snapshot.block(height)? else { return Ok(None) };
        let stored = self.snapshot.get(&SUMMARIES, &height.to_be_bytes())?;
        Ok(Some((record.id.hash, stored.as_deref().map(BlockSummary::decode).transpose()?.unwrap_or_default())))
    }
}
