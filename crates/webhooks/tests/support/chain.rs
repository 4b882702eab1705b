//! A chain whose blocks are connected and disconnected, as a source of events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use paraffin_testkit::Random;
use paraffin_webhooks::{BoxFuture, EventPage, EventSource, SourceError};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Notify;

/// One event; `index` is its number in the block, 0 for the block itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub kind: String,
    pub hash: u64,
    pub parent: u64,
    pub index: u64,
}

#[derive(Clone)]
struct Block {
    parent: u64,
    height: u64,
    events: u64,
}

#[derive(Default)]
struct Blocks {
    all: HashMap<u64, Block>,
    best: Vec<u64>,
    next: u64,
}

/// Positions are `<hash>-<events of the block that were given>`; hashes are never used again.
#[derive(Clone, Default)]
pub struct Chain(Arc<(Mutex<Blocks>, Notify)>);

impl Chain {
    /// A chain of one block without events.
    pub fn new() -> Self {
        let chain = Self::default();
        chain.add(0);
        chain
    }

    /// A block with so many events beside its own.
    pub fn add(&self, events: u64) {
        let mut blocks = self.0.0.lock().unwrap();
        blocks.next += 1;
        let (hash, parent) = (blocks.next, blocks.best.last().copied().unwrap_or(0));
        let height = blocks.best.len() as u64;
        blocks.all.insert(hash, Block { parent, height, events: events + 1 });
        blocks.best.push(hash);
        drop(blocks);
        self.0.1.notify_waiters();
    }

    /// Disconnects the newest blocks, but not the first, and adds one more than there were.
    pub fn reorganise(&self, depth: usize, random: &mut Random) {
        let depth = {
            let mut blocks = self.0.0.lock().unwrap();
            let depth = depth.min(blocks.best.len() - 1);
            let length = blocks.best.len() - depth;
            blocks.best.truncate(length);
            depth
        };
        for _ in 0..=depth {
            self.add(random.below(6));
        }
    }

    /// All events of the best chain after its first block, in order.
    pub fn all_events(&self) -> Vec<Event> {
        let blocks = self.0.0.lock().unwrap();
        blocks.best[1..].iter().flat_map(|hash| events_of(*hash, &blocks.all[hash], 0)).collect()
    }

    /// The position after the first block.
    pub fn first(&self) -> String {
        let blocks = self.0.0.lock().unwrap();
        format!("{}-1", blocks.best[0])
    }

    fn read(&self, cursor: &str, count_max: usize) -> Result<EventPage, SourceError> {
        let unknown = || SourceError::UnknownCursor(format!("{cursor} is no position"));
        let blocks = self.0.0.lock().unwrap();
        let (hash, given) = cursor.split_once('-').ok_or_else(unknown)?;
        let (mut hash, mut given): (u64, u64) =
            (hash.parse().map_err(|_| unknown())?, given.parse().map_err(|_| unknown())?);
        let mut events = Vec::new();
        while events.len() < count_max {
            let block = blocks.all.get(&hash).ok_or_else(unknown)?;
            if blocks.best.get(block.height as usize) != Some(&hash) {
                // A block of which nothing was given has nothing to take back.
                if given > 0 {
                    events.push(Event { kind: "undone".to_owned(), hash, parent: block.parent, index: 0 });
                }
                hash = block.parent;
                given = blocks.all[&hash].events;
                continue;
            }
            if given < block.events {
                events.push(events_of(hash, block, given).remove(0));
                given += 1;
                continue;
            }
            let Some(next) = blocks.best.get(block.height as usize + 1) else { break };
            (hash, given) = (*next, 0);
        }
        let is_at_tip = blocks.best.last() == Some(&hash) && given == blocks.all[&hash].events;
        let events = events.iter().map(|event| to_raw_value(event).unwrap()).collect();
        Ok(EventPage { events, cursor: format!("{hash}-{given}"), is_at_tip })
    }
}

fn events_of(hash: u64, block: &Block, first: u64) -> Vec<Event> {
    let kind = |index| if index == 0 { "block" } else { "event" }.to_owned();
    (first..block.events).map(|index| Event { kind: kind(index), hash, parent: block.parent, index }).collect()
}

impl EventSource for Chain {
    fn check<'a>(&'a self, filter: &'a RawValue) -> BoxFuture<'a, Result<Box<RawValue>, String>> {
        let checked =
            if filter.get() == "{}" { Ok(filter.to_owned()) } else { Err("the filter has to be {}".to_owned()) };
        Box::pin(std::future::ready(checked))
    }

    fn tip(&self) -> BoxFuture<'_, Result<String, SourceError>> {
        Box::pin(async {
            let blocks = self.0.0.lock().unwrap();
            let hash = blocks.best[blocks.best.len() - 1];
            Ok(format!("{hash}-{}", blocks.all[&hash].events))
        })
    }

    fn after<'a>(
        &'a self,
        cursor: &'a str,
        _filter: &'a RawValue,
        count_max: usize,
    ) -> BoxFuture<'a, Result<EventPage, SourceError>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.read(cursor, count_max)
        })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.0.1.notified())
    }
}
