//! Whether the set equals the mempool of the node.
//!
//! The set follows the blocks of the index and compares itself with the node's own list. Between a new block and the first
//! comparison after it the set may hold transactions that can never confirm (after a reorg) or lack some of the node: this state is
//! tracked, so that readers do not rely on the set meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bitcoin::BlockHash;
use tokio::sync::{Notify, watch};

/// State of the set relative to the node.
pub struct Agreement {
    state: watch::Sender<SyncState>,
    /// Number of the newest comparison that has begun, and of the newest that has ended.
    begun: AtomicU64,
    ended: watch::Sender<u64>,
    wanted: Notify,
    /// Whether comparisons are made at all.
    is_fed: AtomicBool,
    /// Whether the set was ever equal to the node's list; before, it is being filled, which may take minutes.
    was_equal: AtomicBool,
    /// Whether the newest comparison failed, or took longer than a caller could wait.
    is_overdue: AtomicBool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct SyncState {
    /// The last block that was applied to the set; `None` while blocks are being applied.
    block: Option<BlockHash>,
    /// Whether the set was equal to the node's list since.
    is_equal: bool,
}

impl Default for Agreement {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(SyncState::default()),
            begun: AtomicU64::new(0),
            ended: watch::Sender::new(0),
            wanted: Notify::new(),
            is_fed: AtomicBool::new(false),
            was_equal: AtomicBool::new(false),
            is_overdue: AtomicBool::new(false),
        }
    }
}

impl Agreement {
    /// Whether the set was equal to the node's list when `tip` was the newest block of both.
    pub fn holds_at(&self, tip: BlockHash) -> bool {
        *self.state.borrow() == SyncState { block: Some(tip), is_equal: true }
    }

    /// Whether the set was equal to the node's list since its last block was applied.
    pub fn is_equal(&self) -> bool {
        self.state.borrow().is_equal
    }

    /// Whether an agreement that does not hold can be waited for: it did hold once, and the node answers.
    pub fn is_expected(&self) -> bool {
        self.was_equal.load(Ordering::Acquire) && !self.is_overdue.load(Ordering::Acquire)
    }

    /// Waits until [`Agreement::holds_at`] the block, at most for `patience`; whether it does.
    pub async fn wait_at(&self, tip: BlockHash, patience: Duration) -> bool {
        let wanted = SyncState { block: Some(tip), is_equal: true };
        let mut state = self.state.subscribe();
        let reached = tokio::time::timeout(patience, state.wait_for(|state| *state == wanted)).await;
        matches!(reached, Ok(Ok(_)))
    }

    /// Waits for a comparison that begins from now on, at most for `patience`. Where no comparisons are made, or the node is
    /// known to be slow or unreachable, this returns at once.
    pub async fn refresh(&self, patience: Duration) {
        if !self.is_fed.load(Ordering::Acquire) {
            return;
        }
        let next = self.begun.load(Ordering::Acquire) + 1;
        self.wanted.notify_one();
        if self.is_overdue.load(Ordering::Acquire) {
            return;
        }
        let mut ended = self.ended.subscribe();
        if tokio::time::timeout(patience, ended.wait_for(|ended| *ended >= next)).await.is_err() {
            self.is_overdue.store(true, Ordering::Release);
        }
    }

    /// The last block that was applied to the set; `None` while blocks are being applied.
    pub fn block(&self) -> Option<BlockHash> {
        self.state.borrow().block
    }

    /// Records that blocks are being applied.
    pub fn leave(&self) {
        self.state.send_replace(SyncState::default());
    }

    /// Records that all blocks up to this one were applied.
    pub fn reach(&self, block: BlockHash) {
        self.state.send_replace(SyncState { block: Some(block), is_equal: false });
    }

    /// Records that the set is equal to the node's list at this block, if it is still the last one.
    pub fn settle(&self, block: BlockHash) {
        self.state.send_if_modified(|state| {
            let is_new = state.block == Some(block) && !state.is_equal;
            state.is_equal |= is_new;
            is_new
        });
        if self.is_equal() {
            self.was_equal.store(true, Ordering::Release);
        }
    }

    /// Requests a comparison without waiting for it.
    pub(crate) fn want(&self) {
        self.wanted.notify_one();
    }

    /// Waits until a caller requests a comparison.
    pub(crate) async fn wanted(&self) {
        self.wanted.notified().await;
    }

    /// Sets whether comparisons are made.
    pub(crate) fn set_fed(&self, is_fed: bool) {
        self.is_fed.store(is_fed, Ordering::Release);
    }

    /// A comparison begins; its number.
    pub(crate) fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// A comparison has ended.
    pub(crate) fn end(&self, number: u64, is_made: bool) {
        self.is_overdue.store(!is_made, Ordering::Release);
        self.ended.send_replace(number);
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::hashes::Hash as _;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(50);

    fn block(number: u8) -> BlockHash {
        BlockHash::from_byte_array([number; 32])
    }

    #[tokio::test]
    async fn a_comparison_counts_for_the_block_it_was_made_at_and_no_other() {
        let agreement = Agreement::default();
        agreement.settle(block(1));
        assert!(!agreement.holds_at(block(1)), "the set has not come there");
        agreement.reach(block(1));
        assert!(!agreement.holds_at(block(1)));
        agreement.settle(block(2));
        assert!(!agreement.holds_at(block(1)) && !agreement.holds_at(block(2)) && !agreement.is_expected());
        agreement.settle(block(1));
        assert!(agreement.holds_at(block(1)) && agreement.wait_at(block(1), PATIENCE).await);
        assert!(agreement.is_expected());
        // There and back: the former comparison does not count any more.
        agreement.leave();
        agreement.settle(block(1));
        agreement.reach(block(1));
        assert!(!agreement.holds_at(block(1)) && !agreement.wait_at(block(1), PATIENCE).await);
    }

    #[tokio::test]
    async fn a_refresh_waits_for_a_comparison_that_begins_afterwards() {
        let agreement = Agreement::default();
        // No comparisons are made: there is no wait.
        agreement.refresh(Duration::from_secs(60)).await;
        agreement.set_fed(true);
        let running = agreement.begin();
        let asking = agreement.refresh(Duration::from_secs(60));
        tokio::pin!(asking);
        assert!(tokio::time::timeout(PATIENCE, asking.as_mut()).await.is_err());
        agreement.wanted().await;
        agreement.end(running, true);
        assert!(tokio::time::timeout(PATIENCE, asking.as_mut()).await.is_err(), "it had begun before");
        let next = agreement.begin();
        agreement.end(next, true);
        asking.await;
        // A node that does not answer delays one of them, not all.
        agreement.refresh(PATIENCE).await;
        assert!(!agreement.is_expected());
        agreement.refresh(Duration::from_secs(60)).await;
        let next = agreement.begin();
        agreement.end(next, true);
        assert!(tokio::time::timeout(PATIENCE, agreement.refresh(Duration::from_secs(60))).await.is_err());
    }
}
