use std::time::{Duration, Instant};

use paraffin_chain::{ChainEvent, Follower};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::{IndexState, IndexStatus, Indexer, IndexerError};

/// Options of following.
#[derive(Debug, Clone, Copy, Default)]
pub struct FollowOptions {
    /// Return as soon as the index equals the node's best chain.
    pub stop_when_synced: bool,
}

/// Follows the node until `stop` turns true, publishing an [`IndexStatus`] after every commit.
///
/// Runs on the calling thread, which must not be an async worker: applying blocks is computation and disk work.
/// `runtime` runs the node client.
///
/// # Errors
/// Errors that are not retryable: the store failed, a module halted, the node is on another network. The reason is also published
/// as [`IndexState::Stopped`], so that the API can keep serving and report it.
pub fn follow(
    indexer: &mut Indexer,
    follower: &mut Follower,
    options: FollowOptions,
    runtime: &tokio::runtime::Handle,
    status: &watch::Sender<IndexStatus>,
    mut stop: watch::Receiver<bool>,
) -> Result<(), IndexerError> {
    let result = follow_until_stopped(indexer, follower, options, runtime, status, &mut stop);
    let committed = indexer.commit();
    publish_tip(indexer, follower, status);
    let result = result.and(committed);
    if let Err(error) = &result {
        tracing::error!(%error, "indexing has stopped; reads go on");
        status.send_modify(|status| status.state = IndexState::Stopped { reason: error.to_string() });
    }
    result
}

fn follow_until_stopped(
    indexer: &mut Indexer,
    follower: &mut Follower,
    options: FollowOptions,
    runtime: &tokio::runtime::Handle,
    status: &watch::Sender<IndexStatus>,
    stop: &mut watch::Receiver<bool>,
) -> Result<(), IndexerError> {
    let mut pace = Pace::start();
    // Of the block that was applied last: its transactions are many small pieces of memory, which another thread gives back.
    let mut dropping: Option<JoinHandle<()>> = None;
    publish_tip(indexer, follower, status);
    while !*stop.borrow() {
        let event = {
            let local = indexer.local_chain();
            runtime.block_on(async {
                tokio::select! {
                    event = follower.next(&local) => Some(event),
                    _ = stop.wait_for(|stopped| *stopped) => None,
                }
            })
        };
        let Some(event) = event else { break };
        match event? {
            ChainEvent::Connect(block) => {
                let best = follower.best_header().map(|best| best.height);
                if let Some(best) = best {
                    indexer.expect_tip(best);
                }
                let span = indexer.begin_span(&block, follower.last_fetch());
                let next = runtime.block_on(follower.ready());
                indexer.apply_within(&block, next, &span)?;
                let at_tip = best.is_none_or(|best| best <= block.id.height);
                if at_tip {
                    let _span = span.child("commit");
                    indexer.commit()?;
                }
                drop(span);
                status.send_modify(|status| {
                    status.blocks_applied += 1;
                    status.bytes_applied += u64::from(block.size);
                    status.applied = Some(block.id);
                    status.target_height = best.or(status.target_height);
                    status.state = if at_tip { IndexState::Synced } else { IndexState::Importing };
                });
                pace.applied(u64::from(block.size));
                pace.log_when_due(block.id.height, best);
                if let Some(dropping) = dropping.take() {
                    // No more than one at a time.
                    let _ = runtime.block_on(dropping);
                }
                dropping = Some(runtime.spawn_blocking(move || drop(block)));
            }
            ChainEvent::Disconnect(block) => {
                if let Some(fork) = follower.fork() {
                    indexer.check_undo(block.height.saturating_sub(fork.height))?;
                }
                let undone = indexer.undo()?;
                tracing::info!(height = undone.id.height, hash = %undone.id.hash, "undid a block that left the best chain");
                debug_assert_eq!(undone.id, block, "the follower disconnects the tip");
                status.send_modify(|status| {
                    status.blocks_undone += 1;
                    status.applied = indexer.tip().map(|record| record.id);
                });
            }
            ChainEvent::Synced { height } => {
                indexer.commit()?;
                status.send_modify(|status| {
                    status.target_height = Some(height);
                    status.state = IndexState::Synced;
                });
                if options.stop_when_synced {
                    return Ok(());
                }
            }
        }
        publish_tip(indexer, follower, status);
    }
    Ok(())
}

fn publish_tip(indexer: &Indexer, follower: &Follower, status: &watch::Sender<IndexStatus>) {
    let tip = indexer.store().snapshot().tip().map(|record| record.id);
    let best = follower.best_header().map(|best| best.height);
    status.send_if_modified(|status| {
        let before = (status.tip, status.target_height);
        status.tip = tip;
        status.target_height = best.or(status.target_height);
        before != (status.tip, status.target_height)
    });
}

/// Writes one progress line at most every ten seconds.
struct Pace {
    since: Instant,
    blocks: u64,
    bytes: u64,
}

impl Pace {
    const EVERY: Duration = Duration::from_secs(10);

    fn start() -> Self {
        Self { since: Instant::now(), blocks: 0, bytes: 0 }
    }

    fn applied(&mut self, bytes: u64) {
        self.blocks += 1;
        self.bytes += bytes;
    }

    fn log_when_due(&mut self, height: u32, best: Option<u32>) {
        let elapsed = self.since.elapsed();
        if elapsed < Self::EVERY {
            return;
        }
        let seconds = elapsed.as_secs().max(1);
        tracing::info!(
            height,
            target = best,
            blocks_per_second = self.blocks / seconds,
            bytes_per_second = self.bytes / seconds,
            "importing"
        );
        *self = Self::start();
    }
}
