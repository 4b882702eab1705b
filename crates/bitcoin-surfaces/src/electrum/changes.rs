//! Watches for new blocks and unconfirmed transactions, and for the scripts that they touch.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bitcoin::BlockHash;
use paraffin_bitcoin_index::{BitcoinIndex, ReadError};
use paraffin_electrum::{Changes, ScriptHash, Touched};
use paraffin_mempool::TouchedScripts;
use paraffin_primitives::BlockId;

use super::Instance;

/// Polling interval.
const EVERY: Duration = Duration::from_millis(100);
/// Newest blocks whose scripts are kept, for a reorganisation; a deeper one, and more new blocks at once, touch every script. A full block
/// of mainnet has about 15,000 scripts, which take a megabyte.
const BLOCKS_KEPT: usize = 8;

/// A block and the scripts of its transactions.
struct Block {
    id: BlockId,
    scripts: Arc<HashSet<[u8; 32]>>,
}

/// Polls until it is aborted.
pub(super) async fn watch(instance: Arc<Instance>) {
    let mut every = tokio::time::interval(EVERY);
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut last: Option<BlockHash> = None;
    let mut blocks = VecDeque::new();
    loop {
        every.tick().await;
        if instance.changes.receiver_count() == 0 {
            // The first session reads the state itself.
            last = None;
            blocks.clear();
            instance.mempool.take_touched();
            continue;
        }
        let newest = instance.shared.chain.snapshot().tip().map(|record| record.id);
        let mut touched = match instance.mempool.take_touched() {
            TouchedScripts::All => Touched::All,
            TouchedScripts::Scripts(scripts) => {
                Touched::Scripts(scripts.into_iter().map(|script| ScriptHash(script.0)).collect())
            }
        };
        let is_new = newest.map(|id| id.hash) != last;
        if is_new {
            let reader = Arc::clone(&instance);
            let moved = std::mem::take(&mut blocks);
            let read = tokio::task::spawn_blocking(move || follow(&reader, moved)).await;
            let of_blocks = match read {
                Ok(Ok((followed, of_blocks))) => {
                    blocks = followed;
                    of_blocks
                }
                Ok(Err(error)) => {
                    tracing::error!(%error, "the scripts of a block were not read");
                    Touched::All
                }
                Err(_) => Touched::All,
            };
            last = newest.map(|id| id.hash);
            touched = join(touched, of_blocks);
        }
        let is_empty = matches!(&touched, Touched::Scripts(scripts) if scripts.is_empty());
        if is_new || !is_empty {
            // Fails without a session.
            let _ = instance.changes.send(Arc::new(Changes { tip: instance.tip(), touched }));
        }
    }
}

fn join(one: Touched, other: Touched) -> Touched {
    match (one, other) {
        (Touched::Scripts(mut one), Touched::Scripts(other)) => {
            one.extend(other);
            Touched::Scripts(one)
        }
        _ => Touched::All,
    }
}

/// Advances from the known blocks to the newest one, and returns the scripts of removed and of added blocks.
fn follow(instance: &Instance, mut blocks: VecDeque<Block>) -> Result<(VecDeque<Block>, Touched), ReadError> {
    let index = BitcoinIndex::new(instance.shared.chain.snapshot(), instance.shared.chain.network());
    let mut touched: HashSet<ScriptHash> = HashSet::new();
    let mut add = |scripts: &HashSet<[u8; 32]>| touched.extend(scripts.iter().copied().map(ScriptHash));
    while let Some(block) = blocks.back() {
        if index.block_hash(block.id.height)? == Some(block.id.hash) {
            break;
        }
        add(&block.scripts);
        blocks.pop_back();
    }
    let Some(tip) = index.tip()? else { return Ok((blocks, Touched::All)) };
    let next = blocks.back().map(|block| block.id.height.saturating_add(1));
    let missing = next.map(|next| tip.height.saturating_add(1).saturating_sub(next) as usize);
    let is_far = missing.is_none_or(|missing| missing > BLOCKS_KEPT);
    if is_far {
        blocks.clear();
    }
    let first = if is_far { tip.height } else { next.unwrap_or(tip.height) };
    for height in first..=tip.height {
        let (Some(hash), Some(scripts)) = (index.block_hash(height)?, index.scripts_of_block(height)?) else { break };
        add(&scripts);
        blocks.push_back(Block { id: BlockId { height, hash }, scripts: Arc::new(scripts) });
        if blocks.len() > BLOCKS_KEPT {
            blocks.pop_front();
        }
    }
    let touched = if is_far { Touched::All } else { Touched::Scripts(touched) };
    Ok((blocks, touched))
}
