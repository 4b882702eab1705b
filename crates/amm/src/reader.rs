//! Reads for the API: pages of events, pools, candles and volumes.

use paraffin_primitives::{AlkaneId, Height};
use paraffin_store::{Row, Snapshot, StoreError};
use ruint::aliases::U256;

use crate::candles::candle_key;
use crate::journal::{EventList, Journal};
use crate::rows::{Parser, decode_count, decode_pool, id_key, kind_number};
use crate::tables::{FACTORIES, JOURNAL, POOLS, SUMS};
use crate::{Action, AmmError, Candle, ChainPosition, Event, EventKind, PoolIdentity, Ratio, Scope, Status, Timeframe};

/// Seconds of an hour.
const HOUR: u32 = 3_600;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Number of items in the whole list.
    pub total: u32,
}

/// A pool and the position of its creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRecord {
    /// The pool.
    pub pool: PoolIdentity,
    /// Position of its creation in the chain.
    pub created: ChainPosition,
}

/// Traded volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Volumes {
    /// Amounts of both alkanes in both directions, base units.
    pub amounts: [U256; 2],
    /// Number of trades.
    pub trades: u32,
}

/// The rolling figures of a pool. Windows are whole hours and end with the hour of the pool's newest trade (docs/markets.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// In the newest 24 hours.
    pub day: Volumes,
    /// In the newest 168 hours.
    pub week: Volumes,
    /// In the newest 720 hours.
    pub month: Volumes,
    /// Since the creation.
    pub all_time: Volumes,
    /// Price of the newest trade, units of the second alkane for one of the first.
    pub price: Option<Ratio>,
    /// Price of the last trade before the newest 24 hours; `None` when there was none.
    pub price_a_day_ago: Option<Ratio>,
    /// The same for 168 hours.
    pub price_a_week_ago: Option<Ratio>,
}

/// The market index as of the end of the block at a height. Cheap to clone; keep it for one request, not longer.
#[derive(Clone)]
pub struct Markets {
    pub(crate) snapshot: Snapshot,
    pub(crate) height: Height,
    pub(crate) journal: Journal,
}

impl Markets {
    /// The index at the end of the block at `height`; above the newest block it is that of the newest.
    pub fn at(snapshot: &Snapshot, height: Height) -> Self {
        Self::over(JOURNAL, snapshot, height)
    }

    /// The same over the events and candles of another module. Pools, factories and sums are of the market index all the same.
    pub fn over(journal: Journal, snapshot: &Snapshot, height: Height) -> Self {
        Self { snapshot: snapshot.clone(), height, journal }
    }

    /// The snapshot behind it.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The height that was requested.
    pub fn height(&self) -> Height {
        self.height
    }

    /// The pool with an id; `None` when there is none.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn pool(&self, id: AlkaneId) -> Result<Option<PoolRecord>, AmmError> {
        let Some(stored) = self.snapshot.get(&POOLS, &id_key(id))? else { return Ok(None) };
        let (pool, created) = decode_pool(&stored)?;
        Ok((created.height <= self.height).then_some(PoolRecord { pool, created }))
    }

    /// The factories that have created pools, by id, each with the number of its pools; at most `limit` behind `after`.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn factories(&self, after: Option<AlkaneId>, limit: usize) -> Result<Vec<(AlkaneId, u32)>, AmmError> {
        let rows = self.snapshot.prefix_at(&FACTORIES, &[], self.height)?;
        let rows = rows.map(|row| -> Result<_, AmmError> {
            let (key, value) = row?;
            Ok((Parser::new("factories", &key).id()?, decode_count("factories", Some(&value))?))
        });
        rows.skip_while(|row| row.as_ref().is_ok_and(|(id, _)| after.is_some_and(|after| *id <= after)))
            .take(limit)
            .collect()
    }

    /// Pools of [`Scope::All`], [`Scope::Factory`] or [`Scope::Token`], the oldest first: with a factory, in its own order.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn pools(&self, scope: Scope, offset: u32, limit: u32) -> Result<Page<PoolRecord>, AmmError> {
        let list = self.list(scope, Some(EventKind::Creation), Status::Successful)?;
        let total = list.total();
        let end = offset.saturating_add(limit).min(total);
        let items = list.positions(offset, end).map(|position| {
            let event = list.event(position?)?;
            match event.action {
                Action::Creation { pool, .. } => Ok(PoolRecord { pool, created: event.position }),
                _ => Err(AmmError::Damaged("a list of creations holds another event".to_owned())),
            }
        });
        Ok(Page { items: items.collect::<Result<_, _>>()?, total })
    }

    /// Events of a scope, the newest first; without a kind, all kinds ([`Scope::Token`] and [`Scope::ScriptToken`] have no
    /// such list, it is empty). A page costs as many reads as it has items, wherever it is.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn events(
        &self,
        scope: Scope,
        kind: Option<EventKind>,
        status: Status,
        offset: u32,
        limit: u32,
    ) -> Result<Page<Event>, AmmError> {
        self.list(scope, kind, status)?.page(offset, limit)
    }

    /// A list of events.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn list(&self, scope: Scope, kind: Option<EventKind>, status: Status) -> Result<EventList, AmmError> {
        self.journal.list(&self.snapshot, self.height, scope, kind, status)
    }

    /// Number of events in a list.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn count(&self, scope: Scope, kind: Option<EventKind>, status: Status) -> Result<u32, AmmError> {
        Ok(self.list(scope, kind, status)?.total())
    }

    /// The event that created a pool.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn creation(&self, pool: &PoolRecord) -> Result<Event, AmmError> {
        let list = self.list(Scope::Pool(pool.pool.id), Some(EventKind::Creation), Status::Successful)?;
        list.event(pool.created)
    }

    /// All that was ever wrapped or unwrapped successfully, base units; 0 for other kinds.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn sum(&self, kind: EventKind) -> Result<U256, AmmError> {
        let stored = self.snapshot.get_at(&SUMS, &[kind_number(kind)], self.height)?;
        Ok(stored.map(|stored| Parser::new("sums", &stored).wide()).transpose()?.unwrap_or_default())
    }

    /// Candles of a pool that begin in `from..=to`, Unix seconds, the newest first, after the newest `skip`; at most `limit`.
    /// Buckets without trades have none.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn candles(
        &self,
        pool: AlkaneId,
        timeframe: Timeframe,
        from: u32,
        to: u32,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<Candle>, AmmError> {
        let Some((_, newest)) = self.candle_before(pool, timeframe, to)? else { return Ok(Vec::new()) };
        let newest = u32::try_from(skip).ok().and_then(|skip| newest.checked_sub(skip));
        let (Some(newest), Some(further)) = (newest, limit.checked_sub(1)) else { return Ok(Vec::new()) };
        let oldest = newest.saturating_sub(u32::try_from(further).unwrap_or(u32::MAX));
        self.candles_numbered(pool, timeframe, oldest, newest, from)
    }

    /// Volume of a pool since its creation; `None` without a trade.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn totals(&self, pool: AlkaneId) -> Result<Option<Volumes>, AmmError> {
        let Some(stored) = self.snapshot.get_at(&self.journal.totals, &id_key(pool), self.height)? else {
            return Ok(None);
        };
        let mut parser = Parser::new("totals", &stored);
        let volumes = Volumes { amounts: [parser.wide()?, parser.wide()?], trades: parser.number()? };
        parser.end(Some(volumes))
    }

    /// Volumes and prices of a pool, from at most 720 hours of candles.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn figures(&self, pool: AlkaneId) -> Result<Figures, AmmError> {
        let mut figures = Figures::default();
        let Some(totals) = self.totals(pool)? else { return Ok(figures) };
        figures.all_time = totals;
        let Some((newest, _)) = self.candle_before(pool, Timeframe::Hour, u32::MAX)? else { return Ok(figures) };
        figures.price = Some(newest.close);
        let begin = |hours: u32| newest.start.saturating_sub((hours - 1) * HOUR);
        let (day, week, month) = (begin(24), begin(168), begin(720));
        for candle in self.candles_between(pool, Timeframe::Hour, month, newest.start)? {
            let candle = candle?;
            figures.month.add(&candle);
            if candle.start >= week {
                figures.week.add(&candle);
            }
            if candle.start >= day {
                figures.day.add(&candle);
            }
        }
        for (price, begin) in [(&mut figures.price_a_day_ago, day), (&mut figures.price_a_week_ago, week)] {
            if let Some(before) = begin.checked_sub(1) {
                *price = self.candle_before(pool, Timeframe::Hour, before)?.map(|(candle, _)| candle.close);
            }
        }
        Ok(figures)
    }

    /// The candles of a pool that begin in `from..=to`, the newest first: one scan.
    pub(crate) fn candles_between(
        &self,
        pool: AlkaneId,
        timeframe: Timeframe,
        from: u32,
        to: u32,
    ) -> Result<impl Iterator<Item = Result<Candle, AmmError>>, AmmError> {
        let key = |start| candle_key(pool, timeframe, start);
        Ok(self.snapshot.range_at(&self.journal.candles, &key(from), &key(to), self.height)?.rev().map(candle))
    }
}

impl Volumes {
    fn add(&mut self, candle: &Candle) {
        for (amount, more) in self.amounts.iter_mut().zip(candle.volumes) {
            *amount = amount.saturating_add(more);
        }
        self.trades = self.trades.saturating_add(candle.trades);
    }
}

fn candle(row: Result<Row, StoreError>) -> Result<Candle, AmmError> {
    let (key, value) = row?;
    let start = key.last_chunk::<4>().map(|start| u32::from_be_bytes(*start));
    Candle::decode(start.ok_or_else(|| AmmError::Damaged("a key of candles is too short".to_owned()))?, &value)
}
