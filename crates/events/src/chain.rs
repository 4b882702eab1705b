//! Streams from a cursor to the newest block: the events of consecutive blocks, across reorganisations.

use std::collections::{BTreeMap, HashMap};

use bitcoin::BlockHash;
use paraffin_primitives::{BlockId, Height};
use paraffin_store::UndoneBlock;

use crate::event::{BlockDisconnected, Checkpoint, Event, Occasion};
use crate::{Checksum, Cursor, EventError, EventReader, Kind, PreparedFilter};

/// A block without matching events has a checkpoint at multiples of this height, so that cursors advance.
const CHECKPOINT_EVERY: Height = 1_000;
/// Blocks of a step that reads undo records, all of which count in the memory of the step.
const UNDO_BLOCKS_MAX: u32 = 32;
/// Undone blocks that are read from the store.
const UNDONE_MAX: usize = 1_000;

/// Position of a client in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Before the first block.
    Beginning,
    /// After a cursor.
    After(Cursor),
}

/// One message to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The position of a client that has received it.
    pub cursor: Cursor,
    /// Its type.
    pub name: &'static str,
    /// Its JSON.
    pub text: String,
}

impl Message {
    /// Whether it is an event, and no checkpoint.
    pub fn is_event(&self) -> bool {
        self.name != "checkpoint"
    }
}

/// The next messages of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The position after them, and after examined events that did not match.
    pub position: Position,
    /// Whether there is nothing more as of this snapshot.
    pub is_at_tip: bool,
}

/// The height of an undone block that the node still knows, and the hash of the block before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockParent {
    /// Height of the block itself.
    pub height: Height,
    /// Hash of the block before it.
    pub previous: BlockHash,
}

/// Limits of a step. A block is never cut but by `events_max`.
pub struct Bounds<'a> {
    /// Most bytes of texts.
    pub bytes_max: usize,
    /// Most blocks that are read.
    pub blocks_max: u32,
    /// Most events.
    pub events_max: usize,
    /// Whether the time is over; called between blocks.
    pub is_over: &'a dyn Fn() -> bool,
}

/// The end of a block of the chain; `None` when it is not indexed.
///
/// # Errors
/// Those of reading.
pub fn end_of_block(reader: &EventReader, height: Height) -> Result<Option<Cursor>, EventError> {
    let hash = reader.bitcoin().block_hash(height)?;
    Ok(hash.map(|hash| Cursor::end_of(BlockId { height, hash })))
}

/// The messages after a position: first the blocks that were undone since, newest first, then the events of the current chain. `parents`
/// are undone blocks of which the store has no record, as reported by the node.
///
/// # Errors
/// [`EventError::UnknownBlock`] when neither the store nor `parents` have a block of the branch of the position; those of reading.
pub fn advance(
    reader: &mut EventReader,
    position: Position,
    filter: &PreparedFilter,
    parents: &BTreeMap<BlockHash, BlockParent>,
    bounds: &Bounds<'_>,
) -> Result<Step, EventError> {
    let mut step = Step { messages: Vec::new(), position, is_at_tip: false };
    let Some(newest) = reader.newest(filter)? else {
        step.is_at_tip = true;
        return Ok(step);
    };
    leave_branch(reader, &mut step, parents)?;
    let (mut next, mut begin) = match step.position {
        Position::Beginning => (0, None),
        Position::After(cursor) if cursor.index == crate::INDEX_MAX => (cursor.height.saturating_add(1), None),
        Position::After(cursor) => (cursor.height, Some(cursor.index)),
    };
    let reads_undo = filter.wants(Kind::Inscription) || filter.wants(Kind::Rune);
    let blocks_max = if reads_undo { bounds.blocks_max.min(UNDO_BLOCKS_MAX) } else { bounds.blocks_max };
    let (mut bytes, mut blocks, mut events) = (0, 0, 0);
    while next <= newest {
        if bytes >= bounds.bytes_max || blocks >= blocks_max || events >= bounds.events_max || (bounds.is_over)() {
            return Ok(step);
        }
        let read = match reader.block(next, filter) {
            // The messages so far are sent; the rest is read with the time and the memory of the next step.
            Err(error) if error.is_abandoned() && !step.messages.is_empty() => return Ok(step),
            Err(error) if error.is_out_of_memory() && blocks > 0 => return Ok(step),
            read => read?,
        };
        let Some(block) = read else { break };
        let id = block.block;
        let count = block.events.len();
        for event in block.events.into_iter().filter(|event| begin.is_none_or(|begin| event.index > begin)) {
            if events >= bounds.events_max {
                return Ok(step);
            }
            let cursor = Cursor { height: id.height, hash: id.hash, index: event.index };
            bytes += event.text.len();
            events += 1;
            step.position = Position::After(cursor);
            step.messages.push(Message { cursor, name: name_of(&event.text), text: event.text });
        }
        step.position = Position::After(Cursor::end_of(id));
        if count > 0 || next == newest || next.is_multiple_of(CHECKPOINT_EVERY) {
            step.messages.push(checkpoint(id, count as u64, block.checksum)?);
        }
        begin = None;
        blocks += 1;
        next = next.saturating_add(1);
    }
    step.is_at_tip = true;
    Ok(step)
}

/// Goes from a position on a stale branch down to the chain.
fn leave_branch(
    reader: &EventReader,
    step: &mut Step,
    parents: &BTreeMap<BlockHash, BlockParent>,
) -> Result<(), EventError> {
    let mut undone: Option<HashMap<BlockHash, UndoneBlock>> = None;
    while let Position::After(cursor) = step.position {
        let BlockId { height, hash } = cursor.block();
        if reader.bitcoin().block_hash(height)? == Some(hash) {
            break;
        }
        if reader.bitcoin().block_height(&hash)?.is_some() {
            return Err(EventError::WrongHeight);
        }
        let undone = match &mut undone {
            Some(undone) => undone,
            none => {
                let blocks = reader.bitcoin().snapshot().undone_blocks(UNDONE_MAX)?;
                none.insert(blocks.into_iter().map(|block| (block.id.hash, block)).collect())
            }
        };
        let own = undone.get(&hash).map(|block| BlockParent { height: block.id.height, previous: block.previous });
        let parent = own.or_else(|| parents.get(&hash).copied()).ok_or(EventError::UnknownBlock(cursor.block()))?;
        let below = height.checked_sub(1).filter(|_| parent.height == height).ok_or(EventError::WrongHeight)?;
        let end = Cursor::end_of(BlockId { height: below, hash: parent.previous });
        let occasion = Occasion { cursor: end, height, block_hash: hash, txid: None };
        let text = serde_json::to_string(&Event::BlockDisconnected(BlockDisconnected { occasion }))?;
        step.messages.push(Message { cursor: end, name: "block_disconnected", text });
        step.position = Position::After(end);
    }
    Ok(())
}

fn checkpoint(block: BlockId, count: u64, checksum: Checksum) -> Result<Message, EventError> {
    let cursor = Cursor::end_of(block);
    let occasion = Occasion { cursor, height: block.height, block_hash: block.hash, txid: None };
    let text = serde_json::to_string(&Event::Checkpoint(Checkpoint { occasion, count, checksum }))?;
    Ok(Message { cursor, name: "checkpoint", text })
}

/// The type of an event, with which its text begins.
fn name_of(text: &str) -> &'static str {
    const NAMES: [&str; 7] = ["block_connected", "address", "transfer", "call", "trade", "inscription", "rune"];
    let name = text.strip_prefix("{\"type\":\"").and_then(|rest| rest.split('"').next()).unwrap_or_default();
    NAMES.into_iter().find(|candidate| *candidate == name).unwrap_or("event")
}
