//! Trades of a pool in a span of time.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use paraffin_primitives::{AlkaneId, Height};

use crate::{AmmError, ContractHistory, Event, EventKind, Markets, PoolIdentity, Scope, Status, pool_reserves};

/// Times in block headers go back by less than this, seconds: a header is at most two hours ahead of a node's clock, and later
/// than the median of the eleven before it.
const TIME_SLACK: u32 = 4 * 3_600;
/// Events that are read at once.
const PAGE: u32 = 1_000;

/// Bounds of a search for trades.
#[derive(Debug, Clone, Copy)]
pub struct TradeSpan {
    /// At or after this time, Unix seconds.
    pub from: u32,
    /// At or before this time, Unix seconds.
    pub to: u32,
    /// Most trades that are returned.
    pub limit: usize,
    /// Most trades that are read.
    pub scanned_max: usize,
}

/// A trade and its number among those of its pool, the oldest 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedTrade {
    /// Index from 1; it changes only when a reorganisation replaces the branch.
    pub number: u32,
    /// The trade.
    pub event: Event,
}

impl Markets {
    /// Trades of a pool in a span of time that are `wanted`, the newest of the chain first.
    ///
    /// # Errors
    /// The store cannot be read or is damaged; `is_over` returned true ([`AmmError::Interrupted`]).
    pub fn trades_between(
        &self,
        pool: AlkaneId,
        span: TradeSpan,
        wanted: impl Fn(&Event) -> bool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<NumberedTrade>, AmmError> {
        let TradeSpan { from, to, limit, scanned_max } = span;
        let list = self.list(Scope::Pool(pool), Some(EventKind::Swap), Status::Successful)?;
        // Where to begin: by halves, since times go back only a little.
        let (mut low, mut high) = (0, list.total());
        let latest = to.saturating_add(TIME_SLACK);
        while latest < u32::MAX && low < high {
            let middle = low + (high - low) / 2;
            let is_later = list.page(middle, 1)?.items.first().is_some_and(|event| event.time > latest);
            if is_later { low = middle + 1 } else { high = middle }
        }
        let mut found = Vec::new();
        let mut left = u32::try_from(scanned_max).unwrap_or(u32::MAX);
        while left > 0 {
            if is_over() {
                return Err(AmmError::Interrupted);
            }
            let items = list.page(low, PAGE.min(left))?.items;
            let Some(last) = items.last() else { break };
            let is_last = last.time < from.saturating_sub(TIME_SLACK);
            let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
            for (number, event) in (0..=list.total().saturating_sub(low)).rev().zip(items) {
                if (from..=to).contains(&event.time) && wanted(&event) {
                    found.push(NumberedTrade { number, event });
                }
            }
            (low, left) = (low.saturating_add(count), left.saturating_sub(count));
            if is_last || found.len() >= limit {
                break;
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Trades of a pool in a span of time, the newest of the chain first, each with what the pool held at the end of its block,
    /// base units. The pool may be one that no factory lists.
    ///
    /// # Errors
    /// Index or state cannot be read or are damaged; `is_over` said so ([`AmmError::Interrupted`]).
    pub fn trades_with_reserves(
        &self,
        pool: &PoolIdentity,
        span: TradeSpan,
        contracts: &dyn ContractHistory,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<(Event, [u128; 2])>, AmmError> {
        let mut after: HashMap<Height, [u128; 2]> = HashMap::new();
        let trades = self.trades_between(pool.id, span, |_| true, is_over)?.into_iter();
        trades
            .map(|NumberedTrade { event, .. }| {
                let reserves = match after.entry(event.position.height) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(_) if is_over() => return Err(AmmError::Interrupted),
                    Entry::Vacant(vacant) => {
                        *vacant.insert(pool_reserves(&*contracts.at(event.position.height), pool)?)
                    }
                };
                Ok((event, reserves))
            })
            .collect()
    }
}
