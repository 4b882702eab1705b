//! Events of the chain, received through the event stream (docs/events.md).
//!
//! Events of a block are held until its checkpoint shows that they are complete and unchanged, and are returned then. A lost stream is
//! resumed at the last checkpoint, so that each event is returned exactly once.

use std::collections::VecDeque;

use bitcoin::hashes::{Hash as _, sha256};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Diverged;
use super::connection::{Connection, Received};
use super::event::{ChainEvent, EventContent, EventFilter};
use crate::client::{Client, parsed_message, read};
use crate::error::{Error, Refusal, printable};

/// The index of a cursor at the end of a block.
const END: u64 = (1 << 53) - 1;
/// Largest text of all events of a block, bytes.
const BLOCK_BYTES_MAX: usize = 256 << 20;
/// Consecutive attempts to read a block whose events do not match its checkpoint.
const REPEATS_MAX: u32 = 3;
/// Errors of a stream after which the same subscription may succeed.
const TEMPORARY: [&str; 4] = ["overloaded", "internal", "upstream_unavailable", "starting"];

/// Start of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventStart {
    /// After the newest block.
    Tip,
    /// With the block at a height; at most the height after the newest block.
    Height(u32),
    /// After a cursor. In the middle of a block, the rest of that block is returned without a comparison of its checksum.
    Cursor(String),
}

/// The events of a chain that pass a filter, in order and each once. A lost stream is resumed where it stopped.
pub struct EventStream {
    connection: Connection,
    filter: EventFilter,
    start: EventStart,
    blocks: Blocks,
    repeats: u32,
}

/// The events received so far.
#[derive(Debug, Default)]
struct Blocks {
    /// Events up to here were returned or are ready to be.
    position: Option<Position>,
    /// The block whose checkpoint has not been received yet.
    open: Option<OpenBlock>,
    waiting: VecDeque<ChainEvent>,
}

/// A parsed cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    height: u32,
    hash: String,
    index: u64,
}

#[derive(Debug, Default)]
struct OpenBlock {
    hash: String,
    events: Vec<ChainEvent>,
    bytes: usize,
    /// Sum of the first 8 bytes of SHA-256 of each text.
    sum: u64,
}

/// A message that is not an event.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Control {
    Hello {
        cursor: Option<String>,
    },
    Error {
        code: String,
        message: String,
    },
    #[serde(other)]
    Other,
}

impl EventStream {
    /// Follows the chain from `start` on. Needs a key in the path; connects when [`Self::next`] is called.
    ///
    /// # Errors
    /// [`Error::Address`]: there is no key in the path. [`Error::Request`]: the cursor is invalid.
    pub fn open(client: &Client, filter: EventFilter, start: EventStart) -> Result<Self, Error> {
        let connection = Connection::new(client, "events", "")?;
        let position = match &start {
            EventStart::Cursor(cursor) => {
                let position = Position::read(cursor);
                Some(position.ok_or_else(|| Error::Request("a cursor is <height>-<hash>-<index>".to_owned()))?)
            }
            EventStart::Tip | EventStart::Height(_) => None,
        };
        Ok(Self { connection, filter, start, blocks: Blocks { position, ..Blocks::default() }, repeats: 0 })
    }

    /// The next event, however long that takes; lost connections are reopened meanwhile. Cancel-safe.
    ///
    /// # Errors
    /// The instance refuses: the filter or the cursor is invalid, the requested history was pruned (`HISTORY_NOT_KEPT`), the key was
    /// revoked, or [`Error::AuthUnavailable`]. [`Error::Answer`]: a block differs from its checkpoint after repeated reads. A further call
    /// tries again.
    pub async fn next(&mut self) -> Result<ChainEvent, Error> {
        loop {
            if let Some(event) = self.blocks.waiting.pop_front() {
                return Ok(event);
            }
            match self.connection.next().await? {
                Received::Opened => {
                    // The events of an incomplete block are sent again.
                    self.blocks.open = None;
                    let subscribe = self.subscribe();
                    self.connection.subscribe(subscribe.as_ref()).await;
                }
                Received::Message(text) => self.take(&text)?,
            }
        }
    }

    /// The command that subscribes; `None` while the tip is unknown, which the first message names.
    fn subscribe(&self) -> Option<Value> {
        let (filter, position) = (&self.filter, self.blocks.position.as_ref());
        match (position, &self.start) {
            (Some(position), _) => Some(json!({ "op": "subscribe", "filter": filter, "cursor": position.text() })),
            (None, EventStart::Height(height)) => {
                Some(json!({ "op": "subscribe", "filter": filter, "from_height": height }))
            }
            (None, _) => None,
        }
    }

    fn take(&mut self, text: &str) -> Result<(), Error> {
        match parsed_message(text).and_then(|message| self.apply(text, message)) {
            Ok(Ok(())) if !self.blocks.waiting.is_empty() => {
                self.repeats = 0;
                self.connection.works();
                Ok(())
            }
            Ok(Ok(())) => Ok(()),
            Ok(Err(Diverged)) => {
                self.connection.lose();
                self.repeats += 1;
                if self.repeats <= REPEATS_MAX {
                    return Ok(());
                }
                self.repeats = 0;
                Err(Error::Answer("events of a block that are not those of its checkpoint".to_owned()))
            }
            Err(error) => self.connection.lose_by(error),
        }
    }

    fn apply(&mut self, text: &str, message: Value) -> Result<Result<(), Diverged>, Error> {
        if message.get("block_hash").is_some() {
            return self.blocks.apply(text, message);
        }
        match read(message)? {
            Control::Hello { cursor } if self.subscribe().is_none() => {
                // Nothing is indexed yet: all blocks will be sent.
                match cursor {
                    None => self.start = EventStart::Height(0),
                    Some(cursor) => self.blocks.position = Some(Position::read_sent(&cursor)?),
                }
                self.connection.unsubscribed();
            }
            Control::Error { code, .. } if TEMPORARY.contains(&code.as_str()) => self.connection.lose(),
            Control::Error { code, message } => {
                let word = Some(printable(&code).to_uppercase());
                return Err(Error::Refused(Refusal { code: None, word, message: printable(&message) }));
            }
            Control::Hello { .. } | Control::Other => {}
        }
        Ok(Ok(()))
    }
}

impl Blocks {
    /// Applies a message.
    ///
    /// # Errors
    /// [`Error::Answer`]: it cannot be read, or its block is too large.
    fn apply(&mut self, text: &str, message: Value) -> Result<Result<(), Diverged>, Error> {
        let checksum = message.get("checksum").and_then(Value::as_str).unwrap_or_default().to_owned();
        let event = ChainEvent { text: text.to_owned(), ..read(message)? };
        let at = Position::read_sent(&event.cursor)?;
        match event.content {
            EventContent::BlockDisconnected {} => Ok(self.disconnect(at, event)),
            EventContent::Checkpoint { count } => Ok(self.end_block(at, event, count, &checksum)),
            _ => self.add(at, event),
        }
    }

    fn add(&mut self, at: Position, event: ChainEvent) -> Result<Result<(), Diverged>, Error> {
        let is_next = at.hash == event.block_hash
            && at.height == event.height
            && match (&self.open, &self.position) {
                (Some(open), _) => {
                    open.hash == at.hash
                        && open.events.last().and_then(ChainEvent::index).is_none_or(|last| at.index > last)
                }
                (None, Some(position)) if position.hash == at.hash => at.index > position.index,
                (None, Some(position)) => at.height > position.height,
                (None, None) => true,
            };
        if !is_next {
            return Ok(Err(Diverged));
        }
        let open = self.open.get_or_insert_with(|| OpenBlock { hash: at.hash, ..OpenBlock::default() });
        open.bytes += event.text.len();
        if open.bytes > BLOCK_BYTES_MAX {
            return Err(Error::Answer(format!("a block with more than {} MiB of events", BLOCK_BYTES_MAX >> 20)));
        }
        open.sum = open.sum.wrapping_add(part_of(&event.text));
        open.events.push(event);
        Ok(Ok(()))
    }

    fn end_block(&mut self, at: Position, event: ChainEvent, count: u64, checksum: &str) -> Result<(), Diverged> {
        let open = self.open.take().unwrap_or_else(|| OpenBlock { hash: at.hash.clone(), ..OpenBlock::default() });
        // The events of this block before the initial cursor are not known.
        let is_part = self.position.as_ref().is_some_and(|position| position.hash == at.hash && position.index < END);
        let is_later = self.position.as_ref().is_none_or(|position| at.height > position.height || is_part);
        let received = open.events.len() as u64;
        let is_whole = received == count && format!("{:016x}", open.sum) == checksum;
        let is_rest = is_part && received <= count;
        let is_of_block = at.index == END && open.hash == at.hash && at.hash == event.block_hash;
        if !is_of_block || !is_later || (!is_whole && !is_rest) {
            return Err(Diverged);
        }
        self.waiting.extend(open.events);
        self.waiting.push_back(event);
        self.position = Some(at);
        Ok(())
    }

    /// Applies the disconnection of a block. It is returned only if events of the block were returned.
    fn disconnect(&mut self, below: Position, event: ChainEvent) -> Result<(), Diverged> {
        if below.index != END || below.height.checked_add(1) != Some(event.height) {
            return Err(Diverged);
        }
        if self.open.take().is_some_and(|open| open.hash != event.block_hash) {
            return Err(Diverged);
        }
        match &self.position {
            Some(position) if position.height > event.height => Err(Diverged),
            Some(position) if position.height == event.height => {
                if position.hash != event.block_hash {
                    return Err(Diverged);
                }
                self.position = Some(below);
                self.waiting.push_back(event);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl ChainEvent {
    fn index(&self) -> Option<u64> {
        self.cursor.rsplit('-').next()?.parse().ok()
    }
}

impl Position {
    fn read(cursor: &str) -> Option<Self> {
        let mut parts = cursor.split('-');
        let (height, hash, index) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?.parse().ok()?);
        let is_hash = hash.len() == 64 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
        (parts.next().is_none() && is_hash && index <= END).then(|| Self { height, hash: hash.to_owned(), index })
    }

    /// Parses a cursor of the instance.
    fn read_sent(cursor: &str) -> Result<Self, Error> {
        Self::read(cursor).ok_or_else(|| Error::Answer("an event whose cursor is none".to_owned()))
    }

    fn text(&self) -> String {
        format!("{}-{}-{}", self.height, self.hash, self.index)
    }
}

/// The first 8 bytes of SHA-256 of a text, big-endian.
fn part_of(text: &str) -> u64 {
    let digest = sha256::Hash::hash(text.as_bytes()).to_byte_array();
    // A digest has 32 bytes.
    digest.first_chunk().map_or(0, |head| u64::from_be_bytes(*head))
}

#[cfg(test)]
#[path = "events_tests.rs"]
mod tests;
