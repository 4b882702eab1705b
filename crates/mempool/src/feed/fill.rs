//! The node's own list: missing transactions are fetched, those that the node has dropped are removed.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bitcoin::consensus::encode::deserialize;
use bitcoin::{Transaction, Txid};
use paraffin_chain::NodeError;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::Feed;
use crate::{Entry, Origin};

/// Transactions that are fetched at the same time.
const PARALLEL_MAX: usize = 16;
/// With more than one peer, one of them may have a transaction that the node gets a moment later.
const GRACE: Duration = Duration::from_secs(2);
/// Pause between two comparisons: a multiple of the last duration, and a minimum.
const PAUSE_FACTOR: u32 = 20;
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// Compares the set with the node's list: again and again, after every block, and on request.
pub(super) async fn follow(feed: Feed) {
    let agreement = feed.mempool.agreement();
    loop {
        let began = Instant::now();
        let number = agreement.begin();
        let compared = compare(&feed).await;
        feed.mempool.figures().add_comparison(compared.is_ok());
        agreement.end(number, compared.is_ok());
        if let Err(error) = compared {
            tracing::debug!(%error, "the node's list of its mempool was not read");
            // After a failure, requests do not shorten the pause.
            tokio::time::sleep(PAUSE_MIN).await;
            continue;
        }
        // A small mempool is compared often, a large one only for a small part of the time.
        let pause = (began.elapsed() * PAUSE_FACTOR).clamp(PAUSE_MIN, feed.options.list_every.max(PAUSE_MIN));
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = agreement.wanted() => {}
        }
    }
}

/// Makes the set equal to the node's list, as far as both are at the same block.
async fn compare(feed: &Feed) -> Result<(), NodeError> {
    let agreement = feed.mempool.agreement();
    let stands_at = agreement.block();
    let newest = feed.mempool.read(|pool| pool.ring().newest());
    let reply = feed.client.rpc("getrawmempool", json!([false])).await?;
    let node_txids: HashSet<Txid> =
        serde_json::from_value(reply).map_err(|error| NodeError::Invalid(error.to_string()))?;
    // The index follows the node: a block that was the tip of both before and after the list was the tip during it.
    let tip = feed.client.best_block_hash().await?;

    let (absent, provisional) = feed.mempool.read(|pool| {
        let absent: Vec<Txid> = node_txids.iter().filter(|txid| !pool.contains(txid)).copied().collect();
        let is_provisional = |txid: &&Txid| pool.get(txid).is_some_and(|entry| entry.provisional);
        (absent, node_txids.iter().filter(is_provisional).copied().collect::<Vec<Txid>>())
    });
    for txid in &provisional {
        feed.mempool.confirm_relayed(txid);
    }
    // New transactions first, since they may be the reason why others are gone.
    let is_complete = fetch(feed, absent).await;
    // While a block is being indexed, its transactions are in neither list.
    if stands_at == Some(tip) && agreement.block() == Some(tip) {
        let lost = feed.mempool.read(|pool| {
            let now = (feed.options.clock)();
            pool.relayed_but(newest, |entry| node_txids.contains(&entry.txid) || is_in_dispute(feed, entry, now))
        });
        if !lost.is_empty() {
            feed.mempool.drop_unknown(&lost);
        }
        if is_complete {
            agreement.settle(tip);
        }
    }
    Ok(())
}

/// Whether another peer than the node may have announced it just before the node itself.
fn is_in_dispute(feed: &Feed, entry: &Entry, now: u64) -> bool {
    feed.options.peers.len() > 1 && u128::from(now.saturating_sub(entry.first_seen)) <= GRACE.as_millis()
}

/// Fetches transactions from the node, parents and children in any order. Whether the node answered every time; it may have
/// lost some of them meanwhile.
async fn fetch(feed: &Feed, txids: Vec<Txid>) -> bool {
    let permits = Arc::new(Semaphore::new(PARALLEL_MAX));
    let mut tasks = JoinSet::new();
    let count = txids.len();
    let mut is_complete = true;
    for txid in txids {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { break };
        let feed = feed.clone();
        tasks.spawn(async move {
            let _permit = permit;
            fetch_one(&feed, txid).await.is_ok()
        });
        while let Some(fetched) = tasks.try_join_next() {
            is_complete &= fetched.unwrap_or(false);
        }
    }
    while let Some(fetched) = tasks.join_next().await {
        is_complete &= fetched.unwrap_or(false);
    }
    if count > 1_000 {
        tracing::info!(count, "the mempool was filled from the node");
    }
    is_complete
}

async fn fetch_one(feed: &Feed, txid: Txid) -> Result<(), NodeError> {
    let Some(raw) = feed.client.raw_transaction(txid).await? else { return Ok(()) };
    let transaction: Transaction = deserialize(&raw).map_err(|error| NodeError::Invalid(error.to_string()))?;
    feed.mempool.figures().add_fetched(1);
    let (mempool, now) = (Arc::clone(&feed.mempool), (feed.options.clock)());
    let taken = tokio::task::spawn_blocking(move || mempool.insert(&transaction, raw, Origin::P2p, now)).await;
    // The task fails only when the process stops.
    if let Ok(Err(error)) = taken {
        tracing::debug!(%txid, %error, "a transaction of the node was not taken in");
    }
    Ok(())
}
