//! A local copy of the unconfirmed transactions of an instance, updated by its stream (docs/mempool.md).

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use serde_json::{Value, json};

use super::Diverged;
use super::connection::{Connection, Received};
use crate::client::{Client, parsed_message, read};
use crate::error::{Error, Refusal};
use crate::mempool::{MempoolEntryRecord as MempoolEntry, MempoolSnapshot};

/// Entries of a page of the snapshot.
const PAGE: u64 = 5_000;

/// A change of the set.
#[derive(Debug, Clone, PartialEq)]
pub enum MempoolEvent {
    /// A transaction was added.
    Added(Box<MempoolEntry>),
    /// Data of a transaction changed.
    Updated(Box<MempoolEntry>),
    /// A transaction was removed.
    Removed {
        /// Its id.
        txid: String,
        /// `mined`, `replaced`, `evicted`, `expired` and such.
        reason: String,
    },
    /// A new block; its transactions were removed before. The checksum of the set matches the instance's.
    Block {
        /// Its height.
        height: u32,
        /// Its hash in display order.
        hash: String,
    },
    /// The set was reloaded; the single changes since the last event are not known.
    Resynced,
}

/// The set of unconfirmed transactions. A lost stream is resumed where it stopped; where that is not possible, or the copy differs from
/// the instance, the set is reloaded.
pub struct MempoolMirror {
    connection: Connection,
    set: Set,
    /// Whether the set must be reloaded.
    is_stale: bool,
}

/// Transactions and the position in the stream.
#[derive(Debug, Default)]
struct Set {
    instance: String,
    seq: u64,
    /// Changes up to this one may already be applied: pages of a snapshot are read at different times.
    ahead: u64,
    checksum: u64,
    entries: BTreeMap<String, MempoolEntry>,
    waiting: VecDeque<MempoolEvent>,
}

/// A message of the stream.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame {
    Update {
        seq: u64,
        txid: String,
    },
    Remove {
        seq: u64,
        txid: String,
        reason: String,
    },
    Block {
        seq: u64,
        height: u32,
        hash: String,
        checksum: String,
    },
    Add {
        seq: u64,
    },
    Reset {},
    #[serde(other)]
    Other,
}

impl MempoolMirror {
    /// Reads the set and follows it. Needs a key in the path.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open(client: &Client) -> Result<Self, Error> {
        let connection = Connection::new(client, "mempool", "/ws")?;
        Ok(Self { connection, set: Set::read(client).await?, is_stale: false })
    }

    /// The transactions by their ids.
    pub fn entries(&self) -> &BTreeMap<String, MempoolEntry> {
        &self.set.entries
    }

    /// The XOR of the first 8 bytes of every id, as `mempool_info` reports it.
    pub fn checksum(&self) -> String {
        format!("{:016x}", self.set.checksum)
    }

    /// The next change, however long that takes; lost connections are reopened meanwhile. Cancel-safe.
    ///
    /// # Errors
    /// The instance refuses: the key was revoked, or [`Error::AuthUnavailable`]. A further call tries again.
    pub async fn next(&mut self) -> Result<MempoolEvent, Error> {
        loop {
            if let Some(event) = self.set.waiting.pop_front() {
                return Ok(event);
            }
            if self.is_stale {
                self.read_again().await?;
                continue;
            }
            match self.connection.next().await? {
                Received::Opened => {
                    let (seq, instance) = (self.set.seq, &self.set.instance);
                    let subscribe = json!({ "op": "subscribe", "since_seq": seq, "instance": instance });
                    self.connection.subscribe(Some(&subscribe)).await;
                }
                Received::Message(text) => self.take(&text)?,
            }
        }
    }

    fn take(&mut self, text: &str) -> Result<(), Error> {
        let before = self.set.seq;
        match parsed_message(text).and_then(|message| self.set.apply(&message)) {
            Ok(Ok(())) if self.set.seq > before => self.connection.works(),
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
        match Set::read(self.connection.client()).await {
            Ok(set) => {
                self.set = set;
                self.set.waiting.push_back(MempoolEvent::Resynced);
                self.is_stale = false;
            }
            Err(error) => self.connection.lose_by(error)?,
        }
        Ok(())
    }
}

impl Set {
    /// Reads the set page by page.
    async fn read(client: &Client) -> Result<Self, Error> {
        loop {
            match Self::read_pages(client).await {
                // The instance was restarted between two pages.
                Err(Error::Refused(Refusal { word: Some(word), .. })) if word == "UNKNOWN_INSTANCE" => {}
                other => return other,
            }
        }
    }

    async fn read_pages(client: &Client) -> Result<Self, Error> {
        let mut set = Self::default();
        let mut page = client.call(&MempoolSnapshot { limit: Some(PAGE), ..MempoolSnapshot::new() }).await?;
        set.seq = page.seq;
        set.instance = page.instance;
        loop {
            set.ahead = page.seq;
            for entry in page.entries {
                set.insert(entry);
            }
            if !page.has_more {
                return Ok(set);
            }
            let method = MempoolSnapshot {
                limit: Some(PAGE),
                cursor: Some(page.cursor),
                instance: Some(set.instance.clone()),
                ..MempoolSnapshot::new()
            };
            page = client.call(&method).await?;
        }
    }

    fn insert(&mut self, entry: MempoolEntry) {
        let part = part_of(&entry.txid);
        if self.entries.insert(entry.txid.clone(), entry).is_none() {
            self.checksum ^= part;
        }
    }

    /// Applies a message.
    ///
    /// # Errors
    /// [`Error::Answer`]: it cannot be read.
    fn apply(&mut self, message: &Value) -> Result<Result<(), Diverged>, Error> {
        let frame: Frame = read(message.clone())?;
        let seq = match &frame {
            Frame::Add { seq, .. }
            | Frame::Update { seq, .. }
            | Frame::Remove { seq, .. }
            | Frame::Block { seq, .. } => *seq,
            Frame::Reset { .. } => return Ok(Err(Diverged)),
            Frame::Other => return Ok(Ok(())),
        };
        if seq != self.seq + 1 {
            return Ok(Err(Diverged));
        }
        self.seq = seq;
        match frame {
            Frame::Add { .. } => {
                let entry: MempoolEntry = read(message.clone())?;
                self.insert(entry.clone());
                self.waiting.push_back(MempoolEvent::Added(Box::new(entry)));
            }
            Frame::Update { txid, .. } => {
                // The transaction was already removed when its page was read.
                let Some(entry) = self.entries.get_mut(&txid) else { return Ok(Ok(())) };
                *entry = merged(entry, message)?;
                self.waiting.push_back(MempoolEvent::Updated(Box::new(entry.clone())));
            }
            Frame::Remove { txid, reason, .. } => {
                if self.entries.remove(&txid).is_some() {
                    self.checksum ^= part_of(&txid);
                    self.waiting.push_back(MempoolEvent::Removed { txid, reason });
                }
            }
            Frame::Block { height, hash, checksum, .. } => {
                if seq >= self.ahead && checksum != format!("{:016x}", self.checksum) {
                    return Ok(Err(Diverged));
                }
                self.waiting.push_back(MempoolEvent::Block { height, hash });
            }
            Frame::Reset { .. } | Frame::Other => {}
        }
        Ok(Ok(()))
    }
}

/// An entry updated by a message.
fn merged(entry: &MempoolEntry, message: &Value) -> Result<MempoolEntry, Error> {
    let mut whole = serde_json::to_value(entry).map_err(|error| Error::Request(error.to_string()))?;
    for (name, value) in message.as_object().into_iter().flatten() {
        // Its number is that of its arrival.
        if name != "seq" && name != "type" {
            whole[name] = value.clone();
        }
    }
    read(whole)
}

/// The first 8 bytes of an id in display order; 0 for an invalid one.
fn part_of(txid: &str) -> u64 {
    txid.get(..16).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u8, seq: u64) -> Value {
        let txid = format!("{id:02x}").repeat(32);
        json!({
            "type": "add", "txid": txid, "wtxid": txid, "vsize": 100, "weight": 400, "first_seen": 1, "seq": seq, "origin": "p2p",
            "provisional": false, "rbf": false, "fee": 7, "feerate": 0.07,
        })
    }

    fn set() -> Set {
        Set { seq: 10, ahead: 10, ..Set::default() }
    }

    fn apply(set: &mut Set, message: &Value) -> Result<(), Diverged> {
        set.apply(message).unwrap()
    }

    #[test]
    fn changes_lead_to_the_checksum_of_the_instance() {
        let mut set = set();
        apply(&mut set, &entry(1, 11)).unwrap();
        apply(&mut set, &entry(2, 12)).unwrap();
        assert_eq!(set.checksum, 0x0101_0101_0101_0101 ^ 0x0202_0202_0202_0202);
        let update = json!({ "type": "update", "seq": 13, "txid": "01".repeat(32), "provisional": true });
        apply(&mut set, &update).unwrap();
        assert!(set.entries[&"01".repeat(32)].provisional);
        apply(
            &mut set,
            &json!({ "type": "remove", "seq": 14, "txid": "01".repeat(32), "vsize": 100, "reason": "mined" }),
        )
        .unwrap();
        let block = json!({ "type": "block", "seq": 15, "height": 5, "hash": "00", "removed": 1, "checksum": "0202020202020202" });
        apply(&mut set, &block).unwrap();
        assert_eq!(set.waiting.len(), 5);
        assert_eq!(set.waiting.back(), Some(&MempoolEvent::Block { height: 5, hash: "00".to_owned() }));
    }

    #[test]
    fn a_gap_a_wrong_checksum_and_a_reset_are_noticed() {
        assert_eq!(apply(&mut set(), &entry(1, 12)), Err(Diverged));
        assert_eq!(apply(&mut set(), &entry(1, 10)), Err(Diverged));
        let block = json!({ "type": "block", "seq": 11, "height": 5, "hash": "00", "removed": 0, "checksum": "0000000000000001" });
        assert_eq!(apply(&mut set(), &block), Err(Diverged));
        // Between the pages of a snapshot the set is inconsistent.
        assert_eq!(apply(&mut Set { ahead: 12, ..set() }, &block), Ok(()));
        assert_eq!(
            apply(&mut set(), &json!({ "type": "reset", "seq": 1, "reason": "lagged", "action": "resync" })),
            Err(Diverged)
        );
        assert_eq!(apply(&mut set(), &json!({ "type": "hello", "seq": 99 })), Ok(()));
        assert_eq!(apply(&mut set(), &json!({ "type": "news", "seq": 99 })), Ok(()));
    }

    #[test]
    fn the_same_transaction_twice_changes_nothing() {
        let mut set = set();
        apply(&mut set, &entry(1, 11)).unwrap();
        let sum = set.checksum;
        apply(&mut set, &entry(1, 12)).unwrap();
        assert_eq!(set.checksum, sum);
    }
}
