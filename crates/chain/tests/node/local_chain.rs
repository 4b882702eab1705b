//! The chain of an index that keeps only hashes, and a way to drive a follower over it.

use std::time::Duration;

use bitcoin::BlockHash;
use paraffin_chain::{ChainEvent, Follower, LocalChain, NodeError};
use paraffin_primitives::{BlockId, ConnectedBlock, Height};

/// Longer than any test that passes takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct MemoryChain {
    pub(crate) hashes: Vec<BlockHash>,
    /// Every block ever connected, in order.
    pub(crate) connected: Vec<ConnectedBlock>,
    /// Every block ever disconnected, in order.
    pub(crate) disconnected: Vec<BlockId>,
}

impl LocalChain for MemoryChain {
    fn tip(&self) -> Option<BlockId> {
        let height = self.hashes.len().checked_sub(1)?;
        Some(BlockId { height: height as Height, hash: self.hashes[height] })
    }

    fn hash_at(&self, height: Height) -> Option<BlockHash> {
        self.hashes.get(height as usize).copied()
    }
}

impl MemoryChain {
    /// Applies an event as the index does, which must fit.
    pub(crate) fn apply(&mut self, event: ChainEvent) -> Option<Height> {
        match event {
            ChainEvent::Connect(block) => {
                assert_eq!(block.id.height as usize, self.hashes.len());
                assert_eq!(block.id.hash, block.block.block_hash());
                if let Some(tip) = self.tip() {
                    assert_eq!(block.block.header.prev_blockhash, tip.hash);
                }
                self.hashes.push(block.id.hash);
                self.connected.push(*block);
                None
            }
            ChainEvent::Disconnect(id) => {
                assert_eq!(Some(id), self.tip());
                self.hashes.pop();
                self.disconnected.push(id);
                None
            }
            ChainEvent::Synced { height } => {
                assert_eq!(self.tip().map(|tip| tip.height), Some(height));
                Some(height)
            }
        }
    }

    /// Follows until the chains are equal.
    pub(crate) async fn sync(&mut self, follower: &mut Follower) -> Result<Height, NodeError> {
        tokio::time::timeout(PATIENCE, async {
            loop {
                if let Some(height) = self.apply(follower.next(self).await?) {
                    return Ok(height);
                }
            }
        })
        .await
        .expect("the follower gets there in time")
    }

    /// True when the follower reports nothing for a while.
    pub(crate) async fn is_left_alone(&mut self, follower: &mut Follower, time: Duration) -> bool {
        tokio::time::timeout(time, follower.next(self)).await.is_err()
    }
}
