//! One change of a market as sent to its subscribers, and a ring of the newest for subscribers that reconnect.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use serde_json::json;

use crate::name::Name;
use crate::order::Order;

/// What happened to an order in a market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It is in the market, with these values.
    Upsert,
    /// It is no longer in the market.
    Remove,
}

/// The effect of one change in one market. Its text is written once for all readers.
#[derive(Debug)]
pub struct Part {
    /// The market.
    pub market: Name,
    /// What happened there.
    pub op: Op,
    /// CRC-32 over the market's active orders afterwards.
    pub checksum: u32,
    text: OnceLock<Bytes>,
}

impl Part {
    pub(crate) fn new(market: Name, op: Op, checksum: u32) -> Self {
        Self { market, op, checksum, text: OnceLock::new() }
    }
}

/// A change of one order.
#[derive(Debug)]
pub struct Change {
    /// Its number.
    pub seq: u64,
    /// The order as it is now.
    pub order: Arc<Order>,
    /// Its effect in each of the order's markets.
    pub parts: Vec<Part>,
}

/// A checksum as text: 8 hexadecimal digits.
pub fn checksum_text(checksum: u32) -> String {
    format!("{checksum:08x}")
}

impl Change {
    /// What subscribers of the market of `part` are sent: JSON in UTF-8.
    pub fn text(&self, part: &Part) -> Bytes {
        part.text.get_or_init(|| self.write(part)).clone()
    }

    fn write(&self, part: &Part) -> Bytes {
        let checksum = checksum_text(part.checksum);
        let order = &self.order;
        match part.op {
            Op::Upsert => {
                let mut head = json!({
                    "type": "order", "op": "upsert", "seq": self.seq, "market": part.market, "checksum": checksum,
                })
                .to_string();
                head.pop();
                [head.as_bytes(), b",\"order\":", order.text(), b"}"].concat().into()
            }
            Op::Remove => json!({
                "type": "order", "op": "remove", "seq": self.seq, "market": part.market, "checksum": checksum,
                "source": order.source(), "id": order.id(), "marketKey": order.market_key(), "status": order.status(),
            })
            .to_string()
            .into(),
        }
    }

    /// Bytes that it holds, about, once all its texts are written.
    fn bytes(&self) -> usize {
        const PART_BYTES: usize = 400;
        let text = self.order.text().len();
        self.order.bytes() + self.parts.len() * (PART_BYTES + text)
    }
}

/// A reader's position is before the oldest change in the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the changes after {since} are not kept any more")]
pub struct Missed {
    /// The position.
    pub since: u64,
}

/// The newest changes in order, without gaps, bounded by number and bytes.
#[derive(Debug)]
pub(crate) struct Ring {
    changes: VecDeque<Arc<Change>>,
    bytes: usize,
    changes_max: usize,
    bytes_max: usize,
    newest: u64,
}

impl Ring {
    pub(crate) fn new(newest: u64, changes_max: usize, bytes_max: usize) -> Self {
        Self { changes: VecDeque::new(), bytes: 0, changes_max, bytes_max, newest }
    }

    pub(crate) fn push(&mut self, order: Arc<Order>, parts: Vec<Part>) {
        self.newest += 1;
        let change = Change { seq: self.newest, order, parts };
        self.bytes += change.bytes();
        self.changes.push_back(Arc::new(change));
        while self.changes.len() > self.changes_max || self.bytes > self.bytes_max {
            let Some(oldest) = self.changes.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// Number of the newest change; 0 before the first.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// Number of the oldest change in the ring; one more than the newest when it is empty.
    pub(crate) fn oldest(&self) -> u64 {
        self.newest + 1 - self.changes.len() as u64
    }

    /// At most `limit` changes after `since`.
    pub(crate) fn after(&self, since: u64, limit: usize) -> Result<Vec<Arc<Change>>, Missed> {
        if since >= self.newest {
            return Ok(Vec::new());
        }
        let skip = (since + 1).checked_sub(self.oldest()).ok_or(Missed { since })?;
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        Ok(self.changes.iter().skip(skip).take(limit).cloned().collect())
    }
}
