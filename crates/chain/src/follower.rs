use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bitcoin::BlockHash;
use paraffin_primitives::{BlockId, ConnectedBlock, Height, Network};
use tokio::time::{Instant, sleep};

use crate::client::NodeClient;
use crate::error::NodeError;
use crate::plan::{Plan, Position, make_fork_plan, make_plan};
use crate::prefetch::{FetchPeriod, Prefetch};

/// First wait after a failure; it doubles up to [`WAIT_MAX`].
const WAIT_MIN: Duration = Duration::from_millis(200);
/// Longest wait between two attempts.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// Least time between two queries of the best block, however many blocks are announced.
const ANNOUNCED_MIN: Duration = Duration::from_millis(50);

/// The indexed chain, in which the follower looks for the fork point.
pub trait LocalChain: Send + Sync {
    /// The last block that is connected; `None` when there is none, not even the genesis block.
    fn tip(&self) -> Option<BlockId>;
    /// Hash of the connected block at `height`, for every height up to the tip.
    fn hash_at(&self, height: Height) -> Option<BlockHash>;
}

/// The next change of the local chain.
#[derive(Debug)]
pub enum ChainEvent {
    /// The next block of the best chain, checked: its header links to the previous one, its proof of work, merkle root and
    /// witness commitment hold, txids are computed.
    Connect(Box<ConnectedBlock>),
    /// The local tip is not on the node's best chain: undo it. Comes only after the other branch has been verified.
    Disconnect(BlockId),
    /// Nothing to do at the moment: the local chain equals the node's. Comes once for each tip.
    Synced {
        /// Height of both.
        height: Height,
    },
}

/// Options of a follower.
#[derive(Debug, Clone, Copy)]
pub struct FollowerOptions {
    /// Blocks fetched ahead, at least 1.
    pub prefetch: usize,
    /// Whether spent outputs are requested where the node has the route.
    pub spent_outputs: bool,
    /// Interval of polling the node's best block where no peer announces one ([`NodeClient::announce_block`]).
    pub poll: Duration,
}

impl FollowerOptions {
    /// The defaults of `network`: 16 blocks ahead, spent outputs, asking every second (every 200 ms on regtest).
    pub fn for_network(network: Network) -> Self {
        let poll = match network {
            Network::Mainnet | Network::Signet => Duration::from_secs(1),
            Network::Regtest => Duration::from_millis(200),
        };
        Self { prefetch: 16, spent_outputs: true, poll }
    }
}

/// Follows a node headers-first.
pub struct Follower {
    client: NodeClient,
    poll: Duration,
    plan: Option<Plan>,
    prefetch: Prefetch,
    /// The node's best block as last seen, and when.
    best: Option<BlockHash>,
    looked: Option<Instant>,
    /// The tip that `Synced` has been reported for.
    synced: Option<BlockHash>,
    failures: u32,
}

impl Follower {
    /// A follower of the client's node. No request is made before [`Self::next`].
    pub fn new(client: NodeClient, options: FollowerOptions) -> Self {
        Self {
            prefetch: Prefetch::new(client.clone(), options.prefetch, options.spent_outputs),
            client,
            poll: options.poll,
            plan: None,
            best: None,
            looked: None,
            synced: None,
            failures: 0,
        }
    }

    /// The next event for `local`. Waits while there is nothing to do, retries with backoff while the node is unreachable,
    /// and fails only with errors that are not retryable.
    ///
    /// The caller applies the event to `local` before the next call; one that is not applied comes again. The wait may be
    /// cancelled at any time without losing anything.
    ///
    /// # Errors
    /// Only `WrongNetwork`.
    pub fn next<'a>(
        &'a mut self,
        local: &'a dyn LocalChain,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<ChainEvent, NodeError>> + Send + 'a>> {
        Box::pin(async move {
            loop {
                match self.step(local).await {
                    Ok(Some(event)) => {
                        self.is_well();
                        return Ok(event);
                    }
                    // The last failure is not cleared: this progress may still be discarded.
                    Ok(None) => {}
                    Err(error) => {
                        self.client.status_cell().set_follower_error(Some(error.to_string()));
                        if !error.is_retryable() {
                            return Err(error);
                        }
                        tracing::debug!(%error, failures = self.failures, "waiting for the node");
                        self.prefetch.clear();
                        // Verified headers are kept over an outage or a missing block, but not after an invalid response.
                        if matches!(error, NodeError::Invalid(_)) {
                            self.plan = None;
                        }
                        let wait = backoff(self.failures, jitter());
                        self.failures = self.failures.saturating_add(1);
                        sleep(wait).await;
                    }
                }
            }
        })
    }

    /// Clears the last failure.
    fn is_well(&mut self) {
        self.failures = 0;
        self.client.status_cell().set_follower_error(None);
    }

    /// Height and hash of the best verified header of the node.
    pub fn best_header(&self) -> Option<BlockId> {
        self.plan.as_ref().map(Plan::tip)
    }

    /// The block after that of the last [`ChainEvent::Connect`], if it has been fetched. It may still be given up for another one.
    pub async fn ready(&mut self) -> Option<&ConnectedBlock> {
        self.prefetch.ready().await
    }

    /// When the block of the last [`ChainEvent::Connect`] was fetched.
    pub fn last_fetch(&self) -> Option<FetchPeriod> {
        self.prefetch.last()
    }

    /// The block that the verified headers branch off from: where a series of disconnects will end.
    pub fn fork(&self) -> Option<BlockId> {
        self.plan.as_ref().and_then(Plan::base)
    }

    /// One step; `None` when there is no event to report.
    async fn step(&mut self, local: &dyn LocalChain) -> Result<Option<ChainEvent>, NodeError> {
        let tip = local.tip();
        let Some(plan) = &mut self.plan else {
            let plan = make_plan(&self.client, local, tip).await?;
            self.client.status_cell().set_height(plan.tip().height);
            self.plan = Some(plan);
            return Ok(None);
        };
        let position = plan.position(local, tip);
        match (position, tip) {
            (Position::Off, Some(tip)) => {
                if self.grows().await? {
                    return Ok(None);
                }
                let Some(plan) = &self.plan else { return Ok(None) };
                self.prefetch.fill(plan.upcoming(0));
                // The old branch is disconnected only when the first blocks of the new one are ready.
                self.prefetch.settle_all().await?;
                self.synced = None;
                Ok(Some(ChainEvent::Disconnect(tip)))
            }
            (Position::On(next), tip) => {
                plan.trim(next);
                if let Some(tip) = tip
                    && plan.complete
                    && next > plan.tip().height
                {
                    return self.watch(local, tip).await;
                }
                if self.grows().await? {
                    return Ok(None);
                }
                let Some(plan) = &self.plan else { return Ok(None) };
                self.prefetch.fill(plan.upcoming(next));
                let block = self.prefetch.first().await?;
                self.synced = None;
                Ok(block.map(ChainEvent::Connect))
            }
            (Position::Stale | Position::Off, _) => {
                self.plan = None;
                Ok(None)
            }
        }
    }

    /// Extends the plan towards the node's tip, and polls whether the node's best chain has changed.
    /// True when something was done.
    async fn grows(&mut self) -> Result<bool, NodeError> {
        let Some(plan) = &mut self.plan else { return Ok(true) };
        if plan.complete {
            if self.looked.is_some_and(|looked| looked.elapsed() < self.poll) {
                return Ok(false);
            }
            self.looked = Some(Instant::now());
            // While the node is unreachable, blocks that were fetched are still delivered.
            let Ok(best) = self.client.best_block_hash().await else { return Ok(false) };
            if self.best.replace(best) == Some(best) || plan.tip().hash == best {
                return Ok(false);
            }
            plan.complete = false;
        }
        match self.client.headers_after(plan.tip().hash).await? {
            None => {
                tracing::info!(tip = %plan.tip(), "the node left the chain that was being followed");
                self.plan = None;
            }
            Some(headers) => {
                let ended = headers.is_empty();
                plan.append(headers).map_err(|fault| self.client.invalid(fault.to_string()))?;
                plan.complete = ended || self.best == Some(plan.tip().hash);
                self.client.status_cell().set_height(plan.tip().height);
            }
        }
        Ok(true)
    }

    /// The plan is used up: reports once that the chains are equal, then waits for the node to move.
    async fn watch(&mut self, local: &dyn LocalChain, tip: BlockId) -> Result<Option<ChainEvent>, NodeError> {
        let best = self.client.best_block_hash().await?;
        self.best = Some(best);
        self.looked = Some(Instant::now());
        if best == tip.hash {
            self.is_well();
            self.client.status_cell().set_height(tip.height);
            if self.synced.replace(best) != Some(best) {
                return Ok(Some(ChainEvent::Synced { height: tip.height }));
            }
            self.pause().await;
            return Ok(None);
        }
        let Some(headers) = self.client.headers_after(tip.hash).await? else {
            self.plan = Some(make_fork_plan(&self.client, local, tip).await?);
            return Ok(None);
        };
        if headers.is_empty() {
            // The node's tip changed between the two queries.
            self.pause().await;
        } else if let Some(plan) = &mut self.plan {
            plan.append(headers).map_err(|fault| self.client.invalid(fault.to_string()))?;
            plan.complete = plan.tip().hash == best;
            self.client.status_cell().set_height(plan.tip().height);
        }
        Ok(None)
    }

    /// Waits for the next poll: until a peer announces a block, at the latest for the polling interval. The
    /// announcement is only a hint; a peer that sends many causes at most one query in [`ANNOUNCED_MIN`].
    async fn pause(&self) {
        let least = self.poll.min(ANNOUNCED_MIN);
        sleep(least).await;
        tokio::select! {
            () = sleep(self.poll.saturating_sub(least)) => {}
            () = self.client.block_announced() => {}
        }
    }
}

/// The wait after `failures` failures before this one: doubling, with a quarter of it left to chance so that several
/// instances do not return at the same moment. `jitter` is 0 to 255.
fn backoff(failures: u32, jitter: u8) -> Duration {
    let whole = WAIT_MIN.saturating_mul(2u32.saturating_pow(failures.min(16))).min(WAIT_MAX);
    whole.saturating_sub(whole / 4 * u32::from(jitter) / 255)
}

/// Jitter from the low bits of the clock.
fn jitter() -> u8 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| (elapsed.subsec_nanos() >> 8) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap_and_keep_three_quarters_whatever_the_jitter() {
        assert_eq!(backoff(0, 0), WAIT_MIN);
        assert_eq!(backoff(3, 0), WAIT_MIN * 8);
        for failures in [7, 20, u32::MAX] {
            assert_eq!(backoff(failures, 0), WAIT_MAX);
            assert_eq!(backoff(failures, 255), WAIT_MAX * 3 / 4);
        }
    }
}
