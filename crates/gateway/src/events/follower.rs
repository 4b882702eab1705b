//! The position of one client that follows the chain.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bitcoin::BlockHash;
use paraffin_events::{BlockParent, EventError, Message, Position, PreparedFilter, Step, advance};
use paraffin_primitives::BlockId;
use tokio::sync::watch;

use super::{EventFeed, FeedError, From, NodeBlock, STEP_TIME, position_of, reader_of, step_bounds};
use crate::byte_budget::{HeldBytes, HeldFor};
use crate::interrupt::HeldRows;
use crate::state::RequestContext;

/// Wait before the node is asked again about a block that the index does not have yet.
const BEHIND_WAIT: Duration = Duration::from_secs(5);

/// Messages, with the count of their memory until they are dropped.
pub struct Batch {
    /// The messages, in order.
    pub messages: Vec<Message>,
    _rows: HeldRows,
}

/// A client that follows the chain with a filter.
pub struct Follower {
    feed: Arc<EventFeed>,
    context: RequestContext,
    filter: Arc<PreparedFilter>,
    position: Position,
    parents: BTreeMap<BlockHash, BlockParent>,
    tips: watch::Receiver<Option<BlockId>>,
    /// The batch of the first read.
    first: Option<Batch>,
    _filter_bytes: HeldBytes,
}

/// Result of one read.
enum Read {
    Messages(Batch),
    /// No event that was read passes the filter.
    Nothing,
    /// There are no further events.
    AtTip,
    /// The index is behind the position.
    Behind,
}

impl Follower {
    /// Starts with a first read, so that errors of the filter or the position are returned here.
    ///
    /// # Errors
    /// [`FeedError`].
    pub async fn begin(
        feed: Arc<EventFeed>,
        context: &RequestContext,
        filter: paraffin_events::Filter,
        from: From,
    ) -> Result<Self, FeedError> {
        let context = context.again();
        let network = context.network();
        let filter = if filter.descriptors.is_empty() {
            super::prepare(&filter, network)?
        } else {
            // Deriving the keys of descriptors takes long.
            let prepared = context.scan_account(move |_, _| super::prepare(&filter, network)).await;
            prepared.map_err(|_| FeedError::Overloaded)??
        };
        let mut filter_bytes = context.held_bytes(HeldFor::Streams);
        if !filter_bytes.reach_now(filter.bytes()) {
            return Err(FeedError::Overloaded);
        }
        let tips = feed.tips();
        let position = context.read(move |snapshot| {
            let reader = reader_of(snapshot, network, Arc::new(|_| true));
            position_of(&reader, snapshot, from)
        });
        let position = position.await.map_err(|_| FeedError::Overloaded)??;
        let mut follower = Self {
            feed,
            context,
            filter: Arc::new(filter),
            position,
            parents: BTreeMap::new(),
            tips,
            first: None,
            _filter_bytes: filter_bytes,
        };
        // A long range without events is read further while the client waits.
        if let Read::Messages(batch) = follower.read().await? {
            follower.first = Some(batch);
        }
        Ok(follower)
    }

    /// The filter in its canonical form.
    pub fn filter(&self) -> &PreparedFilter {
        &self.filter
    }

    /// The next messages, once there are any; may be dropped and called again without losing any.
    ///
    /// # Errors
    /// [`FeedError`].
    pub async fn next(&mut self) -> Result<Batch, FeedError> {
        if let Some(first) = self.first.take() {
            return Ok(first);
        }
        loop {
            // A change during the read is noticed after it.
            self.tips.mark_unchanged();
            match self.read().await? {
                Read::Messages(batch) => return Ok(batch),
                Read::Nothing => {}
                Read::AtTip => self.tips.changed().await.map_err(|_| FeedError::Internal)?,
                Read::Behind => {
                    let _ = tokio::time::timeout(BEHIND_WAIT, self.tips.changed()).await;
                }
            }
        }
    }

    async fn read(&mut self) -> Result<Read, FeedError> {
        loop {
            let context = self.context.again();
            let (network, position) = (context.network(), self.position);
            let (filter, parents) = (Arc::clone(&self.filter), self.parents.clone());
            let read = context.read_rows(move |snapshot, interrupt| {
                let begun = Instant::now();
                let counted = interrupt.clone();
                let may_keep = Arc::new(move |bytes| counted.keep(bytes));
                let is_over = || interrupt.is_over() || begun.elapsed() > STEP_TIME;
                let mut reader = reader_of(snapshot, network, may_keep);
                advance(&mut reader, position, &filter, &parents, &step_bounds(&is_over))
            });
            let (step, rows) = read.await.map_err(|_| FeedError::Overloaded)?;
            match step {
                Ok(step) => return Ok(self.take(step, rows)),
                Err(EventError::UnknownBlock(block)) => {
                    let feed = Arc::clone(&self.feed);
                    match feed.learn(block, &mut self.parents).await? {
                        NodeBlock::Stale => {}
                        NodeBlock::Ahead => return Ok(Read::Behind),
                    }
                }
                Err(error) => return Err(FeedError::of(error)),
            }
        }
    }

    fn take(&mut self, step: Step, rows: HeldRows) -> Read {
        let Step { messages, position, is_at_tip } = step;
        self.position = position;
        self.parents.clear();
        match (messages.is_empty(), is_at_tip) {
            (false, _) => Read::Messages(Batch { messages, _rows: rows }),
            (true, false) => Read::Nothing,
            (true, true) => Read::AtTip,
        }
    }
}
