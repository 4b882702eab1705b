//! The node's own list: what is missing is fetched, what the node has lost leaves.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bitcoin::Txid;
use bitcoin::consensus::encode::deserialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::Feed;
use crate::Origin;

/// Transactions that are fetched at the same time.
const PARALLEL_MAX: usize = 16;
/// A transaction that the node's list lacks leaves when it has been here for so long and was missing twice.
const GRACE: Duration = Duration::from_secs(2);
/// Pause between two looks, in times of what a look took, and at least.
const PAUSE_FACTOR: u32 = 20;
const PAUSE_MIN: Duration = Duration::from_secs(1);

/// Compares the set with the node's list, again and again.
pub(super) async fn follow(feed: Feed) {
    let mut missing_before = HashSet::new();
    loop {
        let began = tokio::time::Instant::now();
        match compare(&feed, &missing_before).await {
            Ok(missing) => {
                missing_before = missing;
                feed.mempool.set_filled();
            }
            Err(error) => tracing::debug!(%error, "the node's list of its mempool was not read"),
        }
        // A small mempool is looked at often, a large one no more than a small part of the time.
        let pause = (began.elapsed() * PAUSE_FACTOR).clamp(PAUSE_MIN, feed.options.list_every.max(PAUSE_MIN));
        tokio::time::sleep(pause).await;
    }
}

/// Answers what the set has and the node's list lacks.
async fn compare(feed: &Feed, missing_before: &HashSet<Txid>) -> Result<HashSet<Txid>, paraffin_chain::NodeError> {
    let indexed = || feed.store.snapshot().tip().map(|record| record.id.hash);
    let before = feed.client.best_block_hash().await?;
    let listed = feed.client.rpc("getrawmempool", json!([false])).await?;
    let after = feed.client.best_block_hash().await?;
    let listed: HashSet<Txid> = serde_json::from_value(listed).unwrap_or_default();

    let (absent, missing) = feed.mempool.read(|pool| {
        let absent: Vec<Txid> = listed.iter().filter(|txid| !pool.contains(txid)).copied().collect();
        let now = (feed.options.clock)();
        let is_settled = |since: u64| u128::from(now.saturating_sub(since)) > GRACE.as_millis();
        let own = pool.txids(usize::MAX).into_iter().filter(|txid| !listed.contains(txid));
        let missing: HashSet<Txid> = own
            .filter(|txid| pool.get(txid).is_some_and(|entry| !entry.provisional && is_settled(entry.first_seen)))
            .collect();
        (absent, missing)
    });
    let provisional: Vec<Txid> = feed.mempool.read(|pool| {
        listed.iter().filter(|txid| pool.get(txid).is_some_and(|entry| entry.provisional)).copied().collect()
    });
    for txid in &provisional {
        feed.mempool.confirm_relayed(txid);
    }
    fetch(feed, absent).await;
    // While a block is on its way, what it holds is in neither list.
    if before == after && indexed() == Some(after) {
        let lost: Vec<Txid> = missing.intersection(missing_before).copied().collect();
        if !lost.is_empty() {
            feed.mempool.drop_unknown(&lost);
        }
        return Ok(missing);
    }
    Ok(HashSet::new())
}

/// Fetches transactions from the node, parents and children in any order.
async fn fetch(feed: &Feed, txids: Vec<Txid>) {
    let places = Arc::new(Semaphore::new(PARALLEL_MAX));
    let mut tasks = JoinSet::new();
    let count = txids.len();
    for txid in txids {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let feed = feed.clone();
        tasks.spawn(async move {
            let _place = place;
            let Ok(Some(raw)) = feed.client.raw_transaction(txid).await else { return };
            let Ok(transaction) = deserialize::<bitcoin::Transaction>(&raw) else { return };
            let now = (feed.options.clock)();
            let taken = tokio::task::spawn_blocking(move || {
                let taken = feed.mempool.insert(&transaction, raw, Origin::P2p, now);
                if let Err(error) = taken {
                    tracing::debug!(%txid, %error, "a transaction of the node was not taken in");
                }
            });
            let _ = taken.await;
        });
        while tasks.try_join_next().is_some() {}
    }
    while tasks.join_next().await.is_some() {}
    if count > 1_000 {
        tracing::info!(count, "the mempool was filled from the node");
    }
}
