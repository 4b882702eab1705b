//! Events of the chain as streams and webhooks follow them (docs/events.md): filters, positions, and look-ups in the node of blocks
//! that the index does not have.

mod body;
mod follower;
mod prepared;
mod tips;
mod watched;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bitcoin::BlockHash;
use paraffin_events::{
    BlockParent, Bounds, Cursor, EventError, EventReader, Filter, FilterError, ParseCursorError, PoolModule, Position,
    PreparedFilter, Step, advance, end_of_block,
};
use paraffin_ordinals_index::reader::MayKeep;
use paraffin_primitives::{BlockId, Height, Network};
use paraffin_store::Snapshot;
use paraffin_webhooks::FILTER_BYTES_MAX;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::{Semaphore, watch};

use crate::state::{ChainState, Node};

pub use body::EventBody;
pub use follower::Follower;
use prepared::PreparedFilters;
use tips::Tips;
use watched::{ScriptBudget, descriptor_scripts};

/// Bytes of messages that are read together.
const STEP_BYTES: usize = 512 << 10;
/// Blocks that are read together.
const STEP_BLOCKS: u32 = 1_000;
/// Time after which a read ends with the block that it is at.
const STEP_TIME: Duration = Duration::from_millis(250);
/// Blocks of a stale branch that are looked up in the node. A client on a longer branch must resume from a height.
const PARENTS_MAX: usize = 300;
/// How long [`EventFeed::changed`] waits.
const CHANGED_WAIT_MAX: Duration = Duration::from_secs(1);
/// Keys that the descriptors of one filter may stand for.
const KEYS_MAX: usize = 20_000;
/// Reads for webhooks at the same time, which share their memory. The read of a very large block takes all of it alone.
const FEED_READS_MAX: u32 = 2;

/// Errors of reading events.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    /// The filter is not valid JSON of a filter.
    #[error("the filter cannot be read: {0}")]
    Json(serde_json::Error),
    /// The filter is invalid.
    #[error("{0}")]
    Filter(#[from] FilterError),
    /// The cursor is invalid.
    #[error("{0}")]
    Cursor(#[from] ParseCursorError),
    /// The cursor has the height of another block.
    #[error("the block of the cursor has another height")]
    WrongHeight,
    /// The block of the cursor is unknown, to the index and to the node.
    #[error(
        "the block of the cursor is neither in the index nor known to the node: resume from a height (from_height) below the fork, and \
         take back what is above it"
    )]
    UnknownCursor,
    /// The height is beyond the next block.
    #[error("the newest block is {0}: from_height is at most the height after it")]
    AboveTip(Height),
    /// Nothing is indexed yet.
    #[error("nothing is indexed yet")]
    Starting,
    /// The requested events are not indexed here.
    #[error("{0}")]
    NotIndexed(EventError),
    /// The requested history has been pruned.
    #[error("{0}")]
    HistoryNotKept(EventError),
    /// The node did not answer a look-up of a block.
    #[error("the Bitcoin node is not available")]
    NodeAway,
    /// There is no memory, or there are too many reads.
    #[error("overloaded: resume later from the last cursor")]
    Overloaded,
    /// A failure of ours.
    #[error("internal error")]
    Internal,
}

impl FeedError {
    /// A stable code.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(_) | Self::Filter(_) => "invalid_filter",
            Self::Cursor(_) | Self::WrongHeight => "invalid_cursor",
            Self::UnknownCursor => "unknown_cursor",
            Self::AboveTip(_) => "height_above_tip",
            Self::Starting => "starting",
            Self::NotIndexed(_) => "not_indexed",
            Self::HistoryNotKept(_) => "history_not_kept",
            Self::NodeAway => "upstream_unavailable",
            Self::Overloaded => "overloaded",
            Self::Internal => "internal",
        }
    }

    /// Converts an error of reading that is not about the position.
    fn of(error: EventError) -> Self {
        match error {
            EventError::WrongHeight => Self::WrongHeight,
            EventError::NotIndexed(_) => Self::NotIndexed(error),
            EventError::HistoryNotKept { .. } => Self::HistoryNotKept(error),
            error if error.is_abandoned() || error.is_out_of_memory() => Self::Overloaded,
            error => {
                tracing::error!(%error, "events were not read");
                Self::Internal
            }
        }
    }
}

/// The start of a client's stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// With what comes after the newest block.
    Tip,
    /// With a block.
    Height(Height),
    /// After a cursor.
    Cursor(Cursor),
}

/// The events after a position.
#[derive(Debug)]
pub struct FeedPage {
    /// Events in order, as JSON.
    pub events: Vec<Box<RawValue>>,
    /// The position after the last event that was read.
    pub cursor: String,
    /// Whether there are no further events.
    pub is_at_tip: bool,
}

/// State in the node of a block that the index does not hold.
enum NodeBlock {
    /// It is not in the node's best chain; its parent has been recorded.
    Stale,
    /// It is in the node's best chain: the index is behind.
    Ahead,
}

/// Events of an instance.
pub struct EventFeed {
    chain: Arc<dyn ChainState>,
    node: Arc<dyn Node>,
    tips: Tips,
    prepared: PreparedFilters,
    reads: Semaphore,
    /// Bytes of events and rows of undo records that all reads together may hold.
    read_bytes_max: usize,
    checks: Semaphore,
}

impl EventFeed {
    /// Events of `chain`; `node` is queried for stale blocks that were never indexed here. Reads for webhooks keep at most
    /// `read_bytes_max` together.
    pub fn new(chain: Arc<dyn ChainState>, node: Arc<dyn Node>, read_bytes_max: usize) -> Self {
        Self {
            tips: Tips::new(Arc::downgrade(&chain)),
            chain,
            node,
            prepared: PreparedFilters::new(FILTER_BYTES_MAX),
            reads: Semaphore::new(FEED_READS_MAX as usize),
            read_bytes_max,
            checks: Semaphore::new(1),
        }
    }

    /// The canonical form of a filter. Derives the scripts of descriptors, up to seconds, one filter at a time.
    ///
    /// # Errors
    /// [`FeedError::Json`], [`FeedError::Filter`].
    pub async fn check(&self, filter: &RawValue) -> Result<Box<RawValue>, FeedError> {
        let _permit = self.checks.acquire().await.map_err(|_| FeedError::Internal)?;
        let prepared = self.prepared(filter).await?;
        to_raw_value(prepared.canonical()).map_err(FeedError::Json)
    }

    /// The position after the newest block.
    ///
    /// # Errors
    /// [`FeedError::Starting`] while there is none.
    pub fn tip(&self) -> Result<String, FeedError> {
        let tip = self.chain.snapshot().tip().map(|record| record.id).ok_or(FeedError::Starting)?;
        Ok(Cursor::end_of(tip).to_string())
    }

    /// Height of the newest block.
    pub fn newest(&self) -> Option<Height> {
        self.chain.snapshot().tip().map(|record| record.id.height)
    }

    /// The position before the block at `height`, from 1 on; at most the height after the newest block.
    ///
    /// # Errors
    /// [`FeedError::AboveTip`], [`FeedError::Starting`].
    pub fn before(&self, height: Height) -> Result<String, FeedError> {
        let snapshot = self.chain.snapshot();
        let newest = snapshot.tip().map(|tip| tip.id.height).ok_or(FeedError::Starting)?;
        let before = height.checked_sub(1).ok_or(FeedError::AboveTip(newest))?;
        let block = snapshot.block(before).map_err(|error| FeedError::of(error.into()))?;
        Ok(Cursor::end_of(block.ok_or(FeedError::AboveTip(newest))?.id).to_string())
    }

    /// Events strictly after `cursor` that pass `filter`, at most `count_max`: those of undone blocks first.
    ///
    /// # Errors
    /// [`FeedError`].
    pub async fn after(&self, cursor: &str, filter: &RawValue, count_max: usize) -> Result<FeedPage, FeedError> {
        let position = Position::After(cursor.parse()?);
        let filter = self.prepared(filter).await?;
        let mut parents = BTreeMap::new();
        // Half of the memory for each of two reads, or all of it for one.
        let mut permits = 1;
        loop {
            let permit = self.reads.acquire_many(permits).await.map_err(|_| FeedError::Internal)?;
            let bytes_max = self.read_bytes_max / (FEED_READS_MAX / permits) as usize;
            let (snapshot, network, filter, parents_copy) =
                (self.chain.snapshot(), self.chain.network(), Arc::clone(&filter), parents.clone());
            let begun = Instant::now();
            let read = tokio::task::spawn_blocking(move || {
                let taken = AtomicUsize::new(0);
                let may_keep =
                    move |bytes| taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) <= bytes_max;
                let is_over = || begun.elapsed() > STEP_TIME;
                let bounds = Bounds { events_max: count_max, ..step_bounds(&is_over) };
                let mut reader = reader_of(&snapshot, network, Arc::new(may_keep));
                advance(&mut reader, position, &filter, &parents_copy, &bounds)
            });
            let read = read.await.map_err(|_| FeedError::Internal)?;
            drop(permit);
            match read {
                Ok(step) => return page(step),
                Err(error) if error.is_out_of_memory() && permits < FEED_READS_MAX => permits = FEED_READS_MAX,
                Err(EventError::UnknownBlock(block)) => match self.learn(block, &mut parents).await? {
                    NodeBlock::Stale => {}
                    NodeBlock::Ahead => {
                        return Ok(FeedPage { events: Vec::new(), cursor: cursor.to_owned(), is_at_tip: true });
                    }
                },
                Err(error) => return Err(FeedError::of(error)),
            }
        }
    }

    /// Resolves when the newest block has changed, and after a second in any case, since a change just before this call is
    /// not seen.
    pub async fn changed(&self) {
        let mut tips = self.tips.subscribe();
        tips.mark_unchanged();
        let _ = tokio::time::timeout(CHANGED_WAIT_MAX, tips.changed()).await;
    }

    async fn prepared(&self, filter: &RawValue) -> Result<Arc<PreparedFilter>, FeedError> {
        if let Some(cached) = self.prepared.get(filter.get()) {
            return Ok(cached);
        }
        let (network, text) = (self.chain.network(), filter.get().to_owned());
        let read = tokio::task::spawn_blocking(move || {
            let filter: Filter = serde_json::from_str(&text).map_err(FeedError::Json)?;
            prepare(&filter, network).map(Arc::new)
        });
        let prepared = read.await.map_err(|_| FeedError::Internal)??;
        self.prepared.insert(filter.get(), Arc::clone(&prepared));
        Ok(prepared)
    }

    /// Changes whenever the newest block does.
    pub fn tips(&self) -> watch::Receiver<Option<BlockId>> {
        self.tips.subscribe()
    }

    /// Asks the node about a block that the index does not have.
    async fn learn(
        &self,
        block: BlockId,
        parents: &mut BTreeMap<BlockHash, BlockParent>,
    ) -> Result<NodeBlock, FeedError> {
        #[derive(Deserialize)]
        struct Header {
            height: Height,
            confirmations: i64,
            previousblockhash: Option<BlockHash>,
        }
        if parents.len() >= PARENTS_MAX {
            return Err(FeedError::UnknownCursor);
        }
        let params = [to_raw_value(&block.hash).map_err(FeedError::Json)?];
        let answer = match self.node.rpc("getblockheader", &params).await {
            Ok(answer) => answer,
            Err(error) if error.is_not_found() => return Err(FeedError::UnknownCursor),
            Err(_) => return Err(FeedError::NodeAway),
        };
        let header: Header = serde_json::from_str(answer.get()).map_err(|_| FeedError::NodeAway)?;
        if header.height != block.height {
            return Err(FeedError::WrongHeight);
        }
        if header.confirmations >= 0 {
            return Ok(NodeBlock::Ahead);
        }
        let previous = header.previousblockhash.ok_or(FeedError::UnknownCursor)?;
        parents.insert(block.hash, BlockParent { height: header.height, previous });
        Ok(NodeBlock::Stale)
    }
}

/// Reads a filter; blocking, and up to seconds where it has descriptors.
///
/// # Errors
/// [`FeedError::Filter`].
pub fn prepare(filter: &Filter, network: Network) -> Result<PreparedFilter, FeedError> {
    let budget = ScriptBudget::new(KEYS_MAX);
    Ok(filter.prepare(network, |text| descriptor_scripts(network, text, &budget))?)
}

/// Reads events, trades with `CryptoSwap` pools among them.
fn reader_of(snapshot: &Snapshot, network: Network, may_keep: MayKeep) -> EventReader {
    let pools =
        PoolModule { id: paraffin_cryptoswap::MODULE, journal: paraffin_cryptoswap::JOURNAL, name: "CryptoSwap pools" };
    EventReader::new(snapshot, network, may_keep).with_unlisted_pools(pools)
}

/// The start position of a client in a snapshot.
fn position_of(reader: &EventReader, snapshot: &Snapshot, from: From) -> Result<Position, FeedError> {
    let tip = snapshot.tip().map(|record| record.id);
    Ok(match from {
        From::Cursor(cursor) => Position::After(cursor),
        From::Tip => tip.map_or(Position::Beginning, |tip| Position::After(Cursor::end_of(tip))),
        From::Height(height) => match height.checked_sub(1) {
            None => Position::Beginning,
            Some(before) => {
                let end = end_of_block(reader, before).map_err(FeedError::of)?;
                let newest = tip.map(|tip| tip.height).ok_or(FeedError::Starting)?;
                Position::After(end.ok_or(FeedError::AboveTip(newest))?)
            }
        },
    })
}

fn step_bounds(is_over: &dyn Fn() -> bool) -> Bounds<'_> {
    Bounds { bytes_max: STEP_BYTES, blocks_max: STEP_BLOCKS, events_max: usize::MAX, is_over }
}

fn page(step: Step) -> Result<FeedPage, FeedError> {
    let Position::After(cursor) = step.position else { return Err(FeedError::Starting) };
    let events = step.messages.into_iter().filter(paraffin_events::Message::is_event);
    let events = events.map(|event| RawValue::from_string(event.text)).collect::<Result<_, _>>();
    let events = events.map_err(FeedError::Json)?;
    Ok(FeedPage { events, cursor: cursor.to_string(), is_at_tip: step.is_at_tip })
}
