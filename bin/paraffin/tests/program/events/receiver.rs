//! What a client makes of the messages: the events of each block of its chain. It checks what the protocol promises.

use bitcoin::hashes::{Hash as _, sha256};
use serde_json::Value;

/// A block and its events as they were sent, each with its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) height: u64,
    pub(super) hash: String,
    pub(super) events: Vec<(u64, String)>,
}

#[derive(Debug, Default, Clone)]
pub(super) struct Receiver {
    pub(super) blocks: Vec<Block>,
    pub(super) cursor: Option<String>,
    pub(super) checkpoints: usize,
    pub(super) undone: usize,
    /// Cursors that it had, in order.
    pub(super) seen: Vec<String>,
}

/// Height, hash and index of a cursor.
pub(super) fn parts(cursor: &str) -> (u64, String, u64) {
    let mut parts = cursor.split('-');
    let mut next = || parts.next().unwrap();
    (next().parse().unwrap(), next().to_owned(), next().parse().unwrap())
}

/// The checksum as docs/events.md describes it.
fn checksum(events: &[(u64, String)]) -> String {
    let sum = events.iter().fold(0_u64, |sum, (_, text)| {
        let digest = sha256::Hash::hash(text.as_bytes()).to_byte_array();
        sum.wrapping_add(u64::from_be_bytes(digest[..8].try_into().unwrap()))
    });
    format!("{sum:016x}")
}

impl Receiver {
    #[track_caller]
    pub(super) fn take(&mut self, text: &str) {
        let message: Value = serde_json::from_str(text).unwrap();
        let name = message["type"].as_str().unwrap();
        if matches!(name, "hello" | "subscribed" | "pong") {
            return;
        }
        assert_ne!(name, "error", "{text}");
        let cursor = message["cursor"].as_str().unwrap().to_owned();
        let (height, hash, index) = parts(&cursor);
        match name {
            "block_disconnected" => {
                let left = self.blocks.pop().unwrap_or_else(|| panic!("nothing is left to undo: {text}"));
                assert_eq!(message["block_hash"], left.hash.as_str(), "{text}");
                assert_eq!((message["height"].as_u64(), height + 1), (Some(left.height), left.height), "{text}");
                if let Some(below) = self.blocks.last() {
                    assert_eq!((below.height, &below.hash), (height, &hash), "{text}");
                }
                self.undone += 1;
            }
            "checkpoint" => {
                let events = match self.blocks.last() {
                    Some(block) if block.hash == hash => &block.events[..],
                    _ => &[],
                };
                assert_eq!(message["count"], events.len(), "{text}");
                assert_eq!(message["checksum"], checksum(events).as_str(), "{text}");
                self.checkpoints += 1;
            }
            _ => {
                assert_eq!((&message["height"], &message["block_hash"]), (&height.into(), &hash.as_str().into()));
                match self.blocks.last() {
                    Some(last) if last.hash == hash => assert!(last.events.last().unwrap().0 < index, "{text}"),
                    Some(last) => assert!(last.height < height, "{text} after {}", last.height),
                    None => {}
                }
                if self.blocks.last().is_none_or(|last| last.hash != hash) {
                    self.blocks.push(Block { height, hash, events: Vec::new() });
                }
                self.blocks.last_mut().unwrap().events.push((index, text.to_owned()));
            }
        }
        self.seen.push(cursor.clone());
        self.cursor = Some(cursor);
    }

    /// All events in order.
    pub(super) fn events(&self) -> impl Iterator<Item = Value> + '_ {
        self.blocks.iter().flat_map(|block| &block.events).map(|(_, text)| serde_json::from_str(text).unwrap())
    }

    /// What a client that has all up to a cursor of this receiver has.
    pub(super) fn cut(&self, cursor: &str) -> Self {
        let (height, _, index) = parts(cursor);
        let mut cut = Self { cursor: Some(cursor.to_owned()), ..Self::default() };
        for block in self.blocks.iter().filter(|block| block.height <= height) {
            let mut block = block.clone();
            block.events.retain(|(other, _)| block.height < height || *other <= index);
            if !block.events.is_empty() {
                cut.blocks.push(block);
            }
        }
        cut
    }
}
