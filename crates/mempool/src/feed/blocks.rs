//! Transactions of blocks leave the set when the blocks are indexed, and return when they are undone.

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Block, BlockHash};
use paraffin_primitives::BlockId;

use super::Feed;

/// When further behind than this, blocks are not applied one by one: the node's list corrects the set.
const STEPS_MAX: u32 = 144;

/// Follows the index block by block.
pub(super) async fn follow(feed: Feed) {
    let mut every = tokio::time::interval(feed.options.blocks_every);
    let mut at: Option<BlockId> = None;
    loop {
        every.tick().await;
        if let Some(tip) = feed.store.snapshot().tip().map(|record| record.id)
            && at != Some(tip)
        {
            let agreement = feed.mempool.agreement();
            agreement.leave();
            let reached = walk(&feed, at, tip).await;
            agreement.reach(reached.hash);
            // Transactions that a reorg invalidated are known only after a comparison with the node.
            agreement.want();
            at = Some(reached);
        }
    }
}

/// Brings the set from one block to another; returns the last applied block.
async fn walk(feed: &Feed, from: Option<BlockId>, to: BlockId) -> BlockId {
    let Some(mut at) = from else { return to };
    if at.height.abs_diff(to.height) > STEPS_MAX {
        tracing::debug!(from = %at, to = %to, "the set skips blocks");
        return to;
    }
    let snapshot = feed.store.snapshot();
    let hash_at = |height| snapshot.block(height).ok().flatten().map(|record| (record.id.hash, record.previous));
    // Down to a block that is still on the chain.
    while hash_at(at.height).is_none_or(|(hash, _)| hash != at.hash) {
        let Some(block) = block(feed, at.hash).await else {
            // Its transactions return by the node's list.
            return to;
        };
        let previous = block.header.prev_blockhash;
        let (mempool, now) = (std::sync::Arc::clone(&feed.mempool), (feed.options.clock)());
        let undone = tokio::task::spawn_blocking(move || mempool.disconnect_block(&block, now));
        let Some(below) = at.height.checked_sub(1) else { return to };
        if undone.await.is_err() {
            return at;
        }
        at = BlockId { height: below, hash: previous };
    }
    while at.height < to.height {
        let Some((hash, _)) = hash_at(at.height + 1) else { return at };
        let Some(block) = block(feed, hash).await else { return at };
        let (mempool, height) = (std::sync::Arc::clone(&feed.mempool), at.height + 1);
        if tokio::task::spawn_blocking(move || mempool.connect_block(height, &block)).await.is_err() {
            return at;
        }
        at = BlockId { height, hash };
    }
    at
}

async fn block(feed: &Feed, hash: BlockHash) -> Option<Block> {
    let bytes = feed.client.block(hash).await.inspect_err(|error| tracing::debug!(%error, %hash, "no block")).ok()?;
    let block: Block = deserialize(&bytes).ok()?;
    (block.block_hash() == hash).then_some(block)
}
