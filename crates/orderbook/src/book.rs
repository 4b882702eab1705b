//! All orders, and the active ones by market. Pure: the same events give the same book, in whichever order they come.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::change::{Change, Missed, Op, Part, Ring};
use crate::event::Effect;
use crate::market::Market;
use crate::market_orders::MarketOrders;
use crate::name::Name;
use crate::order::{Order, Position, Status};

/// Bounds of the memory of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most active orders; more are refused.
    pub active_max: usize,
    /// Orders that have ended and can still be read; the oldest are removed first.
    pub finished_max: usize,
    /// Orders beyond those of which only the position is remembered, so that an old event does not bring one back.
    pub remembered_max: usize,
    /// Changes held for subscribers that reconnect.
    pub changes_max: usize,
    /// Bytes of those changes, about.
    pub change_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            active_max: 1_000_000,
            finished_max: 100_000,
            remembered_max: 1_000_000,
            changes_max: 100_000,
            change_bytes_max: 128 << 20,
        }
    }
}

/// A market that has active orders as their main one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarketRecord {
    /// Where its orders come from.
    pub source: String,
    /// Bitcoin network.
    pub network: String,
    /// Its name.
    pub market_key: Name,
    /// How many active orders it has.
    pub open_orders: usize,
}

/// The active orders of a market at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Number of the newest change.
    pub seq: u64,
    /// By ascending id.
    pub orders: Vec<Arc<Order>>,
    /// CRC-32 over them.
    pub checksum: u32,
}

type Key = (Name, Box<str>);

/// All orders by source and id, with the active ones indexed by market.
#[derive(Debug)]
pub struct MarketBook {
    limits: Limits,
    orders: HashMap<Key, Arc<Order>>,
    active: usize,
    active_by_market: HashMap<Name, MarketOrders>,
    /// How many active orders have a market as their main one.
    mains: BTreeMap<Name, usize>,
    /// Orders that have ended, in the order in which they did.
    finished: VecDeque<(Key, Position)>,
    remembered: HashMap<u128, Position>,
    remembered_order: VecDeque<(u128, Position)>,
    /// Position of the last truncation of each table: orders up to it are removed.
    floors: BTreeMap<Name, Position>,
    ring: Ring,
}

/// Parts of a saved book beside its orders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) seq: u64,
    pub(crate) floors: BTreeMap<Name, Position>,
    pub(crate) remembered: Vec<(u128, Position)>,
}

fn digest(source: &str, id: &str) -> u128 {
    xxh3_128(&[source.as_bytes(), &[0], id.as_bytes()].concat())
}

impl MarketBook {
    /// An empty book.
    pub fn new(limits: Limits) -> Self {
        Self::restore(limits, Rest::default(), Vec::new())
    }

    /// A book from its saved parts; `orders` hold those that have ended in the order in which they did.
    pub(crate) fn restore(limits: Limits, rest: Rest, orders: Vec<Arc<Order>>) -> Self {
        let mut book = Self {
            limits,
            orders: HashMap::with_capacity(orders.len()),
            active: 0,
            active_by_market: HashMap::new(),
            mains: BTreeMap::new(),
            finished: VecDeque::new(),
            remembered: rest.remembered.iter().copied().collect(),
            remembered_order: rest.remembered.into(),
            floors: rest.floors,
            ring: Ring::new(rest.seq, limits.changes_max, limits.change_bytes_max),
        };
        for order in orders {
            let key = (order.source().clone(), order.id().into());
            if order.status().is_active() {
                book.enter(&order);
            } else {
                book.finished.push_back((key.clone(), order.position()));
            }
            book.orders.insert(key, order);
        }
        book.forget();
        book
    }

    /// The parts to save: the rest, and all orders, those that have ended in the order in which they did.
    pub(crate) fn to_parts(&self) -> (Rest, Vec<Arc<Order>>) {
        let rest = Rest {
            seq: self.ring.newest(),
            floors: self.floors.clone(),
            remembered: self
                .remembered_order
                .iter()
                .copied()
                .filter(|(digest, position)| self.remembered.get(digest) == Some(position))
                .collect(),
        };
        let active = self.orders.values().filter(|order| order.status().is_active()).cloned();
        let finished = self.finished.iter().filter_map(|(key, position)| {
            let order = self.orders.get(key)?;
            (order.position() == *position && !order.status().is_active()).then(|| Arc::clone(order))
        });
        (rest, active.chain(finished).collect())
    }

    /// Applies the effect of an event.
    pub fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Order(order) => self.update(order),
            Effect::Truncate { table, position } => self.truncate(&table, position),
        }
    }

    fn truncate(&mut self, table: &Name, position: Position) {
        let floor = self.floors.entry(table.clone()).or_insert(position);
        *floor = position.max(*floor);
        let position = *floor;
        let mut gone: Vec<Arc<Order>> = self
            .orders
            .values()
            .filter(|order| order.table() == table && order.position() <= position && order.status() != Status::Removed)
            .cloned()
            .collect();
        // The same changes in the same order in every run.
        gone.sort_unstable_by(|left, right| (left.source(), left.id()).cmp(&(right.source(), right.id())));
        for order in gone {
            self.set(Some(&order), Arc::new(order.with_status(Status::Removed)));
        }
    }

    fn update(&mut self, order: Arc<Order>) {
        let order = match self.floors.get(order.table()) {
            Some(floor) if order.position() <= *floor => Arc::new(order.with_status(Status::Removed)),
            _ => order,
        };
        let key = (order.source().clone(), Box::from(order.id()));
        match self.orders.get(&key).cloned() {
            Some(now) if order.compare(&now).is_le() => {}
            Some(now) => self.set(Some(&now), order),
            None => {
                let remembered = self.remembered.get(&digest(order.source(), order.id()));
                if remembered.is_none_or(|position| order.position() > *position) {
                    self.set(None, order);
                }
            }
        }
    }

    /// Replaces `before` by `order` and publishes the change.
    fn set(&mut self, before: Option<&Arc<Order>>, order: Arc<Order>) {
        let key: Key = (order.source().clone(), order.id().into());
        let was_active = before.filter(|before| before.status().is_active());
        let is_active = order.status().is_active();
        let is_same = before.is_some_and(|before| before.text() == order.text());
        if let Some(was) = was_active {
            self.leave(was, is_active.then_some(&order));
        }
        if is_active {
            self.enter(&order);
        } else if !is_same || before.is_none_or(|before| before.position() != order.position()) {
            self.finished.push_back((key.clone(), order.position()));
        }
        self.orders.insert(key, Arc::clone(&order));
        if !is_same {
            let mut parts = Vec::new();
            let left = was_active.map(|was| was.topics()).unwrap_or_default();
            let entered = if is_active { order.topics() } else { &[] };
            for market in left.iter().filter(|market| !entered.contains(market)) {
                parts.push(Part::new(market.clone(), Op::Remove, self.checksum(market)));
            }
            for market in entered {
                parts.push(Part::new(market.clone(), Op::Upsert, self.checksum(market)));
            }
            if !parts.is_empty() {
                self.ring.push(order, parts);
            }
        }
        self.forget();
    }

    /// Removes an order from the markets that it is no longer in; `next` is inserted afterwards.
    fn leave(&mut self, was: &Arc<Order>, next: Option<&Arc<Order>>) {
        self.active -= 1;
        let stays = |market: &Name| next.is_some_and(|next| next.topics().contains(market));
        for market in was.topics().iter().filter(|market| !stays(market)) {
            if let Some(orders_of_market) = self.active_by_market.get_mut(market) {
                orders_of_market.take(was.id());
                if orders_of_market.len() == 0 {
                    self.active_by_market.remove(market);
                }
            }
        }
        if let Some(count) = self.mains.get_mut(was.market_key()) {
            *count -= 1;
            if *count == 0 {
                self.mains.remove(was.market_key());
            }
        }
    }

    fn enter(&mut self, order: &Arc<Order>) {
        self.active += 1;
        let piece = order.piece();
        for market in order.topics() {
            match self.active_by_market.get_mut(market) {
                Some(orders_of_market) => orders_of_market.put(Arc::clone(order), piece),
                None => self.active_by_market.entry(market.clone()).or_default().put(Arc::clone(order), piece),
            }
        }
        *self.mains.entry(order.market_key().clone()).or_default() += 1;
    }

    /// Removes the oldest orders that have ended, and remembers only their positions.
    fn forget(&mut self) {
        let is_this = |order: &Arc<Order>, position| order.position() == position && !order.status().is_active();
        while self.orders.len() - self.active > self.limits.finished_max {
            let Some((key, position)) = self.finished.pop_front() else { break };
            if self.orders.get(&key).is_some_and(|order| is_this(order, position)) {
                self.orders.remove(&key);
                let digest = digest(&key.0, &key.1);
                self.remembered.insert(digest, position);
                self.remembered_order.push_back((digest, position));
            }
        }
        // Entries of orders that have changed since.
        if self.finished.len() > 2 * self.limits.finished_max + 1_000 {
            let orders = &self.orders;
            self.finished.retain(|(key, position)| orders.get(key).is_some_and(|order| is_this(order, *position)));
        }
        while self.remembered_order.len() > self.limits.remembered_max {
            let Some((digest, position)) = self.remembered_order.pop_front() else { break };
            if self.remembered.get(&digest) == Some(&position) {
                self.remembered.remove(&digest);
            }
        }
    }

    fn checksum(&self, market: &str) -> u32 {
        self.active_by_market.get(market).map_or(0, MarketOrders::checksum)
    }

    /// One order by source and id, ended or not.
    pub fn order(&self, source: &str, id: &str) -> Option<&Arc<Order>> {
        self.orders.get(&(Name::from(source), Box::from(id)))
    }

    /// How many orders are active.
    pub fn active(&self) -> usize {
        self.active
    }

    /// How many orders more may become active.
    pub(crate) fn active_left(&self) -> usize {
        self.limits.active_max.saturating_sub(self.active)
    }

    /// The markets that are the main one of an active order, by name.
    pub fn markets(&self) -> Vec<MarketRecord> {
        let record = |(name, count): (&Name, &usize)| {
            // Names of markets are checked when a row becomes an order.
            let market = Market::parse(name).ok()?;
            let (source, network) = (market.source.to_owned(), market.network.to_owned());
            Some(MarketRecord { source, network, market_key: name.clone(), open_orders: *count })
        };
        self.mains.iter().filter_map(record).collect()
    }

    /// The active orders of a market; none for an unknown one.
    pub fn snapshot(&self, market: &str) -> Snapshot {
        let orders = self.active_by_market.get(market).map(MarketOrders::orders).unwrap_or_default();
        Snapshot { seq: self.ring.newest(), orders, checksum: self.checksum(market) }
    }

    /// Number of the newest change; 0 before the first.
    pub fn newest(&self) -> u64 {
        self.ring.newest()
    }

    /// Number of the oldest change in the ring; one more than the newest when it is empty.
    pub fn oldest(&self) -> u64 {
        self.ring.oldest()
    }

    /// At most `limit` changes after `since`, oldest first. A position in the future has none.
    ///
    /// # Errors
    /// [`Missed`] when some after `since` are gone.
    pub fn after(&self, since: u64, limit: usize) -> Result<Vec<Arc<Change>>, Missed> {
        self.ring.after(since, limit)
    }
}
