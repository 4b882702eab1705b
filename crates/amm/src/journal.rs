//! Events on disk: each once, and numbered in lists, so that a page far from the newest costs as much as the first, with the candles
//! of the trades among them. Every module
//! that keeps events of pools has tables of this form of its own, which [`crate::Markets`] reads; two such lists are read as one without
//! walking them.

use paraffin_primitives::Height;
use paraffin_store::{ModuleWriter, Snapshot, Table};
use ruint::aliases::U256;

use crate::candles::candle_key;
use crate::lists::lists_of;
use crate::rows::{
    POSITION_LEN, Parser, append_volumes, decode_count, decode_event, encode_event, id_key, position_key,
};
use crate::{AmmError, Candle, ChainPosition, Event, EventKind, Page, Scope, Status, Timeframe, series};

/// The tables of a module that hold its events.
#[derive(Debug, Clone, Copy)]
pub struct Journal {
    /// Position (12 bytes) to event; write-once.
    pub events: Table,
    /// List and number (4 bytes) to position; write-once.
    pub lists: Table,
    /// List to the number of its events; versioned.
    pub lengths: Table,
    /// Pool, timeframe and start to candle; versioned.
    pub candles: Table,
    /// Pool and timeframe to the number of its candles; versioned.
    pub candle_counts: Table,
    /// Pool, timeframe and number (4 bytes) to start; versioned.
    pub candle_starts: Table,
    /// Pool to its total volume; versioned.
    pub totals: Table,
    /// Whether its pools are those of factories, so that there are lists of all events and of the events of each factory.
    pub of_factories: bool,
}

impl Journal {
    /// Adds an event to the lists it belongs to, and a successful trade to its candles. Positions must ascend.
    ///
    /// # Errors
    /// The store cannot be read or written, or a list has 2^32 events.
    pub fn append(&self, event: &Event, rows: &mut ModuleWriter<'_>) -> Result<(), AmmError> {
        let position = position_key(event.position);
        rows.put(&self.events, &position, &encode_event(event))?;
        for list in lists_of(event, self.of_factories) {
            let length = decode_count("list_lengths", rows.get(&self.lengths, &list)?.as_deref())?;
            let mut key = list.clone();
            key.extend_from_slice(&length.to_be_bytes());
            rows.put(&self.lists, &key, &position)?;
            let length = length.checked_add(1).ok_or_else(|| AmmError::Damaged("a list is full".to_owned()))?;
            rows.put(&self.lengths, &list, &length.to_be_bytes())?;
        }
        if event.successful { write_trade(self, event, rows) } else { Ok(()) }
    }

    /// A list as of the end of the block at `height`; without a kind, that of all kinds ([`Scope::Token`] and
    /// [`Scope::ScriptToken`] have none, it is empty).
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn list(
        &self,
        snapshot: &Snapshot,
        height: Height,
        scope: Scope,
        kind: Option<EventKind>,
        status: Status,
    ) -> Result<EventList, AmmError> {
        let key = scope.list(kind, status);
        let total = decode_count("list_lengths", snapshot.get_at(&self.lengths, &key, height)?.as_deref())?;
        Ok(EventList { journal: *self, snapshot: snapshot.clone(), key, total })
    }
}

/// Candles and totals of a swap.
fn write_trade(journal: &Journal, event: &Event, rows: &mut ModuleWriter<'_>) -> Result<(), AmmError> {
    let Some((amounts, price)) = event.action.traded().zip(event.action.price()) else { return Ok(()) };
    let Some(pool) = event.action.pool() else { return Ok(()) };
    for timeframe in Timeframe::ALL {
        let start = timeframe.start(event.time);
        let key = candle_key(pool.id, timeframe, start);
        let trade = Candle::of(start, price, amounts);
        let candle = match rows.get(&journal.candles, &key)? {
            None => {
                series::insert(journal, pool.id, timeframe, start, rows)?;
                trade
            }
            Some(stored) => {
                let mut candle = Candle::decode(start, &stored)?;
                candle.merge(&trade);
                candle
            }
        };
        rows.put(&journal.candles, &key, &candle.encode())?;
    }
    let key = id_key(pool.id);
    let (mut volumes, mut trades) = ([U256::ZERO; 2], 0u32);
    if let Some(stored) = rows.get(&journal.totals, &key)? {
        let mut parser = Parser::new("totals", &stored);
        (volumes, trades) = ([parser.wide()?, parser.wide()?], parser.number()?);
    }
    for (volume, amount) in volumes.iter_mut().zip(amounts) {
        *volume = volume.saturating_add(U256::from(amount));
    }
    let mut value = Vec::with_capacity(68);
    append_volumes(volumes, trades.saturating_add(1), &mut value);
    rows.put(&journal.totals, &key, &value)?;
    Ok(())
}

/// Numbered events of one list.
#[derive(Clone)]
pub struct EventList {
    journal: Journal,
    snapshot: Snapshot,
    key: Vec<u8>,
    total: u32,
}

impl EventList {
    /// Number of its events.
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Events, the newest first, behind the newest `offset`; at most `limit`. A page costs as many reads as it has items,
    /// wherever it is.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn page(&self, offset: u32, limit: u32) -> Result<Page<Event>, AmmError> {
        let end = self.total.saturating_sub(offset);
        let items = self.positions(end.saturating_sub(limit), end).rev().map(|position| self.event(position?));
        Ok(Page { items: items.collect::<Result<_, _>>()?, total: self.total })
    }

    /// Positions of the events numbered `from..end`, the oldest first, in one scan.
    pub(crate) fn positions(
        &self,
        from: u32,
        end: u32,
    ) -> impl DoubleEndedIterator<Item = Result<ChainPosition, AmmError>> + use<> {
        let rows = (from < end).then(|| self.snapshot.range(&self.journal.lists, &self.row(from), &self.row(end - 1)));
        rows.into_iter().flatten().map(|row| position(&row?.1))
    }

    pub(crate) fn event(&self, position: ChainPosition) -> Result<Event, AmmError> {
        let key: [u8; POSITION_LEN] = position_key(position);
        let missing = || AmmError::Damaged(format!("the event at {position:?} is missing"));
        decode_event(position, &self.snapshot.get(&self.journal.events, &key)?.ok_or_else(missing)?)
    }

    fn row(&self, number: u32) -> Vec<u8> {
        [self.key.as_slice(), &number.to_be_bytes()].concat()
    }

    /// The event that has `newer` newer ones, and its list.
    fn behind_newest(&self, newer: u32) -> Result<(ChainPosition, &Self), AmmError> {
        let missing = || AmmError::Damaged(format!("an event of a list of {} is missing", self.total));
        let number = self.total.checked_sub(newer).and_then(|end| end.checked_sub(1)).ok_or_else(missing)?;
        let stored = self.snapshot.get(&self.journal.lists, &self.row(number))?.ok_or_else(missing)?;
        Ok((position(&stored)?, self))
    }
}

fn position(stored: &[u8]) -> Result<ChainPosition, AmmError> {
    let mut parser = Parser::new("lists", stored);
    let position = parser.position()?;
    parser.end(position)
}

/// Whether an event of one list happened after one of the other. Modules number the events of a transaction each for itself, so
/// within one the messages decide, and within one message the second list's are the later ones.
fn is_later(one: (ChainPosition, &EventList), other: (ChainPosition, &EventList)) -> Result<bool, AmmError> {
    let block = |position: ChainPosition| (position.height, position.transaction);
    if block(one.0) != block(other.0) {
        return Ok(block(one.0) > block(other.0));
    }
    Ok(one.1.event(one.0)?.vout > other.1.event(other.0)?.vout)
}

/// A page of two lists as one, the newest first, behind the newest `offset`; at most `limit`. Where it begins in either list is
/// found by halving, so that a page costs its items and the logarithm of the shorter list, wherever it is.
///
/// # Errors
/// The store cannot be read or is damaged.
pub fn merged(first: &EventList, second: &EventList, offset: u32, limit: u32) -> Result<Page<Event>, AmmError> {
    let total = first.total.saturating_add(second.total);
    let offset = offset.min(total);
    let limit = limit.min(total - offset);
    let taken = newest_of_first(first, second, offset)?;
    let until = newest_of_first(first, second, offset + limit)?;
    let mut ones = first.page(taken, until - taken)?.items.into_iter().peekable();
    let behind = offset - taken;
    let mut others = second.page(behind, offset + limit - until - behind)?.items.into_iter().peekable();
    let mut items = Vec::with_capacity(limit as usize);
    let key = |event: &Event| (event.position.height, event.position.transaction, event.vout);
    loop {
        let next = match (ones.peek(), others.peek()) {
            (Some(one), Some(other)) if key(one) > key(other) => ones.next(),
            (_, Some(_)) => others.next(),
            (_, None) => ones.next(),
        };
        let Some(event) = next else { break };
        items.push(event);
    }
    Ok(Page { items, total })
}

/// How many of the newest `count` events of both lists stand in the first.
fn newest_of_first(first: &EventList, second: &EventList, count: u32) -> Result<u32, AmmError> {
    let (mut low, mut high) = (count.saturating_sub(second.total), count.min(first.total));
    while low < high {
        let middle = low + (high - low) / 2;
        // `middle` are too few when the next of the first list is later than the last that the second would give.
        let last = count - middle - 1;
        if is_later(first.behind_newest(middle)?, second.behind_newest(last)?)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests;
