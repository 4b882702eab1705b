//! A local copy of one market of the order book, updated by its stream (docs/orderbook.md).

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::{Value, json};

use super::Diverged;
use super::connection::{Connection, Received};
use crate::client::{Client, parsed_message, read};
use crate::error::{Error, Refusal, printable};
use crate::rest::{Order, OrderStatus, ReadOrderbookSnapshot, ReadOrderbookSnapshotAnswer as Snapshot};

/// One further change is left unchecked for each so many orders: a checksum covers all orders, so that of a large market is compared after
/// several changes, and when no changes arrive.
const ORDERS_PER_UNCHECKED_CHANGE: usize = 4_096;

/// A change of a market.
#[derive(Debug, Clone, PartialEq)]
pub enum OrderbookEvent {
    /// An order is new, or changed.
    Changed(Box<Order>),
    /// An order was removed from the market.
    Removed {
        /// Its id.
        id: String,
        /// Its final status; an active one when it moved to another market.
        status: OrderStatus,
    },
    /// The market was reloaded; the single changes since the last event are not known.
    Resynced,
}

/// The active orders of a market. A lost stream is resumed where it stopped; where that is not possible, or the copy differs from the
/// instance, the market is reloaded.
pub struct OrderbookMirror {
    connection: Connection,
    market: String,
    book: BookState,
    /// Whether the market must be reloaded.
    is_stale: bool,
}

/// Orders and the position in the stream.
#[derive(Debug, Default)]
struct BookState {
    /// Sequence number of the newest applied change.
    seq: u64,
    orders: BTreeMap<String, Order>,
    /// The newest checksum that was not compared, and the changes since the last comparison.
    unchecked: Option<(String, usize)>,
    waiting: VecDeque<OrderbookEvent>,
}

/// A message of the stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame {
    Snapshot {},
    Order {
        op: Operation,
        seq: u64,
        checksum: String,
    },
    Ping {
        seq: u64,
    },
    Error {
        code: String,
        message: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Upsert,
    Remove,
}

#[derive(Debug, Deserialize)]
struct Removal {
    id: String,
    status: OrderStatus,
}

impl OrderbookMirror {
    /// Reads a market (`orbitals:mainnet:book:*`) and follows it. Needs a key in the path.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open(client: &Client, market: &str) -> Result<Self, Error> {
        let connection = Connection::new(client, "orderbook", "/ws")?;
        let book = BookState::read(client, market).await?;
        Ok(Self { connection, market: market.to_owned(), book, is_stale: false })
    }

    /// The active orders by their ids.
    pub fn orders(&self) -> &BTreeMap<String, Order> {
        &self.book.orders
    }

    /// Sequence number of the newest known change, of all markets.
    pub fn seq(&self) -> u64 {
        self.book.seq
    }

    /// The checksum of the orders, in the format of a snapshot.
    pub fn checksum(&self) -> String {
        checksum(&self.book.orders)
    }

    /// The next change, however long that takes; lost connections are reopened meanwhile. Cancel-safe.
    ///
    /// # Errors
    /// The instance refuses: the key was revoked, or [`Error::AuthUnavailable`]. A further call tries again.
    pub async fn next(&mut self) -> Result<OrderbookEvent, Error> {
        loop {
            if let Some(event) = self.book.waiting.pop_front() {
                return Ok(event);
            }
            if self.is_stale {
                self.read_again().await?;
                continue;
            }
            match self.connection.next().await? {
                Received::Opened => {
                    let subscribe = json!({ "action": "subscribe", "market": self.market, "since_seq": self.book.seq });
                    self.connection.subscribe(Some(&subscribe)).await;
                }
                Received::Message(text) => self.take(&text)?,
            }
        }
    }

    fn take(&mut self, text: &str) -> Result<(), Error> {
        let before = self.book.seq;
        match parsed_message(text).and_then(|message| self.book.apply(message)) {
            Ok(Ok(())) if self.book.seq > before => self.connection.works(),
            Ok(Ok(())) => {}
            Ok(Err(Diverged)) => {
                self.connection.lose();
                self.is_stale = true;
            }
            Err(error) => self.connection.lose_by(error)?,
        }
        Ok(())
    }

    async fn read_again(&mut self) -> Result<(), Error> {
        self.connection.rest().await;
        match BookState::read(self.connection.client(), &self.market).await {
            Ok(book) => {
                self.book = book;
                self.book.waiting.push_back(OrderbookEvent::Resynced);
                self.is_stale = false;
            }
            Err(error) => self.connection.lose_by(error)?,
        }
        Ok(())
    }
}

impl BookState {
    async fn read(client: &Client, market: &str) -> Result<Self, Error> {
        let snapshot = client.ask(&ReadOrderbookSnapshot::new(market)).await?;
        let wrong =
            || Error::Answer("a snapshot of the order book whose checksum is not that of its orders".to_owned());
        Self::of(snapshot).map_err(|Diverged| wrong())
    }

    fn of(snapshot: Snapshot) -> Result<Self, Diverged> {
        let Snapshot { orders, seq, checksum: expected, .. } = snapshot;
        let orders = orders.into_iter().map(|order| (order.id.clone(), order)).collect();
        if checksum(&orders) != expected {
            return Err(Diverged);
        }
        Ok(Self { seq, orders, ..Self::default() })
    }

    /// Applies a message.
    ///
    /// # Errors
    /// [`Error::Answer`]: it cannot be read. [`Error::Refused`]: there is no such market.
    fn apply(&mut self, mut message: Value) -> Result<Result<(), Diverged>, Error> {
        match read(message.clone())? {
            Frame::Snapshot {} => {
                let Ok(book) = Self::of(read(message)?) else { return Ok(Err(Diverged)) };
                *self = book;
                self.waiting.push_back(OrderbookEvent::Resynced);
            }
            Frame::Order { seq, .. } if seq <= self.seq => return Ok(Err(Diverged)),
            Frame::Order { op, seq, checksum } => {
                self.seq = seq;
                match op {
                    Operation::Upsert => self.insert(read(message["order"].take())?),
                    Operation::Remove => self.remove(read(message)?),
                }
                return Ok(self.check_now_and_then(checksum));
            }
            // All changes up to this one were sent.
            Frame::Ping { seq } => {
                self.seq = self.seq.max(seq);
                return Ok(self.check());
            }
            Frame::Error { code, message } => {
                return Err(Error::Refused(Refusal { code: None, word: Some(code), message: printable(&message) }));
            }
            Frame::Other => {}
        }
        Ok(Ok(()))
    }

    fn insert(&mut self, order: Order) {
        self.orders.insert(order.id.clone(), order.clone());
        self.waiting.push_back(OrderbookEvent::Changed(Box::new(order)));
    }

    fn remove(&mut self, Removal { id, status }: Removal) {
        if self.orders.remove(&id).is_some() {
            self.waiting.push_back(OrderbookEvent::Removed { id, status });
        }
    }

    fn check_now_and_then(&mut self, checksum: String) -> Result<(), Diverged> {
        let changes = self.unchecked.take().map_or(1, |(_, changes)| changes + 1);
        self.unchecked = Some((checksum, changes));
        if self.orders.len() / ORDERS_PER_UNCHECKED_CHANGE <= changes { self.check() } else { Ok(()) }
    }

    /// Compares with the newest checksum, unless that was done.
    fn check(&mut self) -> Result<(), Diverged> {
        match self.unchecked.take() {
            Some((expected, _)) if expected != checksum(&self.orders) => Err(Diverged),
            _ => Ok(()),
        }
    }
}

/// The CRC-32 over id, status and price of each order by ascending id.
fn checksum(orders: &BTreeMap<String, Order>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for Order { id, status, price, .. } in orders.values() {
        let price = price.as_deref().unwrap_or_default();
        for part in [id.as_str(), " ", status_text(status), " ", price, "\n"] {
            hasher.update(part.as_bytes());
        }
    }
    format!("{:08x}", hasher.finalize())
}

fn status_text(status: &OrderStatus) -> &str {
    match status {
        OrderStatus::Open => "open",
        OrderStatus::Matched => "matched",
        OrderStatus::Pending => "pending",
        OrderStatus::Filled => "filled",
        OrderStatus::Taken => "taken",
        OrderStatus::Cancelled => "cancelled",
        OrderStatus::Expired => "expired",
        OrderStatus::Removed => "removed",
        OrderStatus::Other(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(id: &str, status: &str, price: Option<&str>) -> Value {
        let mut order = json!({
            "id": id, "status": status, "assets": [], "ext": {}, "kind": "listing", "marketKey": "orbitals:regtest:book:*",
            "network": "regtest", "source": "orbitals", "topics": [],
        });
        if let Some(price) = price {
            order["price"] = price.into();
        }
        order
    }

    fn upsert(seq: u64, order: &Value, checksum: &str) -> Value {
        json!({ "type": "order", "op": "upsert", "market": "m", "order": order, "seq": seq, "checksum": checksum })
    }

    fn sum_of(text: &str) -> String {
        format!("{:08x}", crc32fast::hash(text.as_bytes()))
    }

    fn book() -> BookState {
        BookState { seq: 10, ..BookState::default() }
    }

    #[test]
    fn changes_lead_to_the_checksum_of_the_instance() {
        let mut book = book();
        let first = upsert(11, &order("b", "open", Some("1200")), &sum_of("b open 1200\n"));
        book.apply(first).unwrap().unwrap();
        // The price of an order without one is empty, and ids are sorted by bytes.
        let second = upsert(14, &order("a", "pending", None), &sum_of("a pending \nb open 1200\n"));
        book.apply(second).unwrap().unwrap();
        let removal = json!({
            "type": "order", "op": "remove", "market": "m", "source": "orbitals", "id": "b", "marketKey": "k", "status": "filled",
            "seq": 15, "checksum": sum_of("a pending \n"),
        });
        book.apply(removal).unwrap().unwrap();
        assert_eq!((book.seq, book.orders.len(), book.waiting.len()), (15, 1, 3));
        let removed = OrderbookEvent::Removed { id: "b".to_owned(), status: OrderStatus::Filled };
        assert_eq!(book.waiting.back(), Some(&removed));
    }

    #[test]
    fn a_change_of_the_past_and_a_wrong_checksum_are_noticed() {
        let open = order("b", "open", None);
        assert_eq!(book().apply(upsert(10, &open, &sum_of("b open \n"))).unwrap(), Err(Diverged));
        assert_eq!(book().apply(upsert(11, &open, "00000000")).unwrap(), Err(Diverged));
        let snapshot = json!({ "type": "snapshot", "market": "m", "orders": [open], "seq": 3, "checksum": "00000000" });
        assert_eq!(book().apply(snapshot).unwrap(), Err(Diverged));
    }

    #[test]
    fn a_large_market_is_checked_after_some_changes_and_when_idle() {
        let wrong = || upsert(11, &order("x", "open", None), "00000000");
        let large = || {
            let mut book = book();
            for number in 0..ORDERS_PER_UNCHECKED_CHANGE * 3 {
                let order: Order = read(order(&number.to_string(), "open", None)).unwrap();
                book.orders.insert(order.id.clone(), order);
            }
            book
        };
        let mut resting = large();
        assert_eq!(resting.apply(wrong()).unwrap(), Ok(()));
        assert_eq!(resting.apply(json!({ "type": "ping", "seq": 11 })).unwrap(), Err(Diverged));
        let mut busy = large();
        let mut changes = (11..).map(|seq| upsert(seq, &order("x", "open", None), "00000000"));
        let noticed = changes.by_ref().take(10).position(|change| busy.apply(change).unwrap() == Err(Diverged));
        assert_eq!(noticed, Some(2));
    }

    #[test]
    fn a_snapshot_replaces_all_orders_and_an_error_is_final() {
        let mut book = book();
        let orders = [order("a", "open", Some("1"))];
        let snapshot =
            json!({ "type": "snapshot", "market": "m", "orders": orders, "seq": 3, "checksum": sum_of("a open 1\n") });
        book.apply(snapshot).unwrap().unwrap();
        assert_eq!((book.seq, book.waiting.back()), (3, Some(&OrderbookEvent::Resynced)));
        book.apply(json!({ "type": "ping", "seq": 9 })).unwrap().unwrap();
        assert_eq!(book.seq, 9);
        let error = book.apply(json!({ "type": "error", "code": "INVALID_MARKET", "message": "x", "seq": 3 }));
        assert!(matches!(error, Err(Error::Refused(refusal)) if refusal.word.as_deref() == Some("INVALID_MARKET")));
    }
}
