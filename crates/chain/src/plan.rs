//! The verified headers that lead from the local chain to the node's tip, and how they are found.

use std::collections::VecDeque;

use bitcoin::block::Header;
use bitcoin::constants::genesis_block;
use bitcoin::{BlockHash, Work};
use paraffin_primitives::{BlockId, Height, Network};

use crate::client::NodeClient;
use crate::error::{NodeError, RPC_INVALID_PARAMETER};
use crate::follower::LocalChain;
use crate::headers::{HeaderFault, HeaderVerifier, RETARGET_INTERVAL, work_of};

/// Hashes of the local branch whose headers are requested at once.
const LOCAL_HEADERS_PER_CALL: usize = 500;

/// Unused capacity that a plan may keep.
const SPARE_HEADERS_MAX: usize = 16 << 10;

/// Verified headers above `base`, oldest first, as far as they are not connected yet.
pub(crate) struct Plan {
    /// The block that the first header follows; `None` when that is the genesis block.
    base: Option<BlockId>,
    headers: VecDeque<Header>,
    verifier: HeaderVerifier,
    /// Height of the local tip that this plan has more work than; blocks between the base and it may be undone.
    leaves: Option<Height>,
    /// Whether the plan reached the node's tip when it was last extended.
    pub(crate) complete: bool,
}

/// Position of the local tip in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// On it: the block at this height comes next.
    On(Height),
    /// Above the fork point on another branch: its tip is to be disconnected.
    Off,
    /// The plan does not fit the local chain any more.
    Stale,
}

impl Plan {
    pub(crate) fn from_genesis(network: Network) -> Self {
        let genesis = genesis_block(network.bitcoin()).header;
        Self {
            base: None,
            verifier: HeaderVerifier::anchored(network, 0, &genesis, None),
            headers: VecDeque::from([genesis]),
            leaves: None,
            complete: false,
        }
    }

    pub(crate) fn anchored(verifier: HeaderVerifier) -> Self {
        Self { base: Some(verifier.tip()), headers: VecDeque::new(), verifier, leaves: None, complete: false }
    }

    /// Verifies and appends; headers verified before a fault stay.
    pub(crate) fn append(&mut self, headers: Vec<Header>) -> Result<(), HeaderFault> {
        for header in headers {
            self.verifier.push(&header)?;
            self.headers.push_back(header);
        }
        Ok(())
    }

    pub(crate) fn tip(&self) -> BlockId {
        self.verifier.tip()
    }

    pub(crate) fn base(&self) -> Option<BlockId> {
        self.base
    }

    fn first_height(&self) -> Height {
        self.base.map_or(0, |base| base.height + 1)
    }

    /// Hash at `height` if the plan holds it or it is the base.
    fn hash_at(&self, height: Height) -> Option<BlockHash> {
        if let Some(base) = self.base
            && base.height == height
        {
            return Some(base.hash);
        }
        let tip = self.tip();
        let index = height.checked_sub(self.first_height())?;
        if height == tip.height {
            return Some(tip.hash);
        }
        self.headers.get(index as usize + 1).map(|next| next.prev_blockhash)
    }

    pub(crate) fn position(&self, local: &dyn LocalChain, tip: Option<BlockId>) -> Position {
        match (tip, self.base) {
            (None, None) => Position::On(0),
            (Some(tip), _) if self.hash_at(tip.height) == Some(tip.hash) => Position::On(tip.height + 1),
            (Some(tip), Some(base))
                if tip.height > base.height
                    && self.leaves.is_some_and(|height| tip.height <= height)
                    && local.hash_at(base.height) == Some(base.hash) =>
            {
                Position::Off
            }
            (_, _) => Position::Stale,
        }
    }

    /// Drops headers below `next`, which are connected.
    pub(crate) fn trim(&mut self, next: Height) {
        while self.first_height() < next && !self.headers.is_empty() {
            let height = self.first_height();
            self.base = self.hash_at(height).map(|hash| BlockId { height, hash });
            self.headers.pop_front();
        }
        // A first import holds every header of the chain; the memory is freed as it proceeds.
        if self.headers.capacity() > SPARE_HEADERS_MAX && self.headers.len() < self.headers.capacity() / 4 {
            self.headers.shrink_to(self.headers.len() * 2);
        }
    }

    /// The blocks from `height` on, or from the first one when `height` is below.
    pub(crate) fn upcoming(&self, height: Height) -> impl Iterator<Item = BlockId> + '_ {
        let first = height.max(self.first_height());
        (first..=self.tip().height).filter_map(|height| self.hash_at(height).map(|hash| BlockId { height, hash }))
    }

    fn work(&self) -> Option<Work> {
        self.verifier.work()
    }
}

/// A plan for a local chain with `tip`.
pub(crate) async fn make_plan(
    client: &NodeClient,
    local: &dyn LocalChain,
    tip: Option<BlockId>,
) -> Result<Plan, NodeError> {
    let network = client.network();
    let Some(tip) = tip else {
        let expected = genesis_block(network.bitcoin()).block_hash();
        let reported = client.block_hash(0).await?;
        if reported != expected {
            return Err(client.noted(NodeError::wrong_genesis(network, expected, reported)));
        }
        return Ok(Plan::from_genesis(network));
    };
    let Some(headers) = client.headers_after(tip.hash).await? else {
        return make_fork_plan(client, local, tip).await;
    };
    let mut plan = anchor(client, local, tip).await?;
    plan.append(headers).map_err(|fault| client.invalid(fault.to_string()))?;
    Ok(plan)
}

/// A plan for a local `tip` that is not on the node's best chain: every header of the other branch verified, and one of the
/// two rules of the crate's documentation met.
pub(crate) async fn make_fork_plan(
    client: &NodeClient,
    local: &dyn LocalChain,
    tip: BlockId,
) -> Result<Plan, NodeError> {
    let fork = find_fork(client, local, tip).await?;
    let mut plan = anchor(client, local, fork).await?;
    loop {
        match client.headers_after(plan.tip().hash).await? {
            None => return Err(NodeError::Unavailable("its best chain changed while it was read".to_owned())),
            Some(headers) if headers.is_empty() => break,
            Some(headers) => plan.append(headers).map_err(|fault| client.invalid(fault.to_string()))?,
        }
    }
    plan.complete = true;
    plan.leaves = Some(tip.height);
    client.status_cell().set_height(plan.tip().height);
    if fork == tip || has_more_work(client, local, &plan, fork, tip).await? {
        tracing::info!(from = %tip, fork = %fork, to = %plan.tip(), "the node's best chain has more work: switching");
        return Ok(plan);
    }
    if has_dropped(client, tip).await? {
        tracing::warn!(from = %tip, fork = %fork, to = %plan.tip(), "the node has dropped the local tip: following it");
        return Ok(plan);
    }
    Err(NodeError::Unavailable(format!(
        "its best chain ends at {} without more work than the index at {tip}; waiting for it to catch up",
        plan.tip()
    )))
}

/// The last block that both chains share. Chains that share a block share all before it, so steps double on the way down
/// and halve on the way back.
async fn find_fork(client: &NodeClient, local: &dyn LocalChain, tip: BlockId) -> Result<BlockId, NodeError> {
    let shared = async |height: Height| -> Result<Option<BlockId>, NodeError> {
        let Some(hash) = local.hash_at(height) else { return Ok(None) };
        match client.block_hash(height).await {
            Ok(reported) if reported == hash => Ok(Some(BlockId { height, hash })),
            Ok(reported) if height == 0 => {
                Err(client.noted(NodeError::wrong_genesis(client.network(), hash, reported)))
            }
            Ok(_) | Err(NodeError::Rpc { code: RPC_INVALID_PARAMETER, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let mut different = tip.height.saturating_add(1);
    let mut step: Height = 1;
    let mut found = loop {
        let height = different.saturating_sub(step);
        if let Some(block) = shared(height).await? {
            break block;
        }
        if height == 0 {
            return Err(NodeError::Unavailable("it has no block 0".to_owned()));
        }
        different = height;
        step = step.saturating_mul(2);
    };
    while different - found.height > 1 {
        let middle = found.height + (different - found.height) / 2;
        match shared(middle).await? {
            Some(block) => found = block,
            None => different = middle,
        }
    }
    Ok(found)
}

/// An empty plan on top of `base`, a block of the local chain that is on the node's best chain.
async fn anchor(client: &NodeClient, local: &dyn LocalChain, base: BlockId) -> Result<Plan, NodeError> {
    let unknown = || NodeError::Unavailable("its best chain changed while it was read".to_owned());
    let header = client.header(base.hash).await?.ok_or_else(unknown)?;
    let period_start = base.height - base.height % RETARGET_INTERVAL;
    let period_start_time = match local.hash_at(period_start) {
        Some(hash) if client.network() == Network::Mainnet && period_start != base.height => {
            client.header(hash).await?.map(|header| header.time)
        }
        _ => None,
    };
    Ok(Plan::anchored(HeaderVerifier::anchored(client.network(), base.height, &header, period_start_time)))
}

/// Whether the plan has more work than the local branch between `fork` and `tip`.
///
/// The headers of the local branch come from the node and prove themselves by their hash. One that the node never saw counts
/// with the difficulty of the fork point, which is exact within one difficulty period.
async fn has_more_work(
    client: &NodeClient,
    local: &dyn LocalChain,
    plan: &Plan,
    fork: BlockId,
    tip: BlockId,
) -> Result<bool, NodeError> {
    let Some(offered) = plan.work() else { return Ok(false) };
    let bits_at_fork = client.header(fork.hash).await?.map(|header| header.bits);
    let work_at_fork = bits_at_fork.and_then(|bits| work_of(client.network(), bits));
    let mut own: Option<Work> = None;
    let mut height = fork.height + 1;
    while height <= tip.height {
        let last = tip.height.min(height + LOCAL_HEADERS_PER_CALL as Height - 1);
        let hashes: Option<Vec<BlockHash>> = (height..=last).map(|height| local.hash_at(height)).collect();
        let Some(hashes) = hashes else {
            return Err(NodeError::Unavailable("the local chain changed while a fork was examined".to_owned()));
        };
        for header in client.headers(&hashes).await? {
            let work = match header {
                Some(header) => work_of(client.network(), header.bits),
                None => work_at_fork,
            };
            own = match (own, work) {
                (Some(own), Some(work)) => Some(own + work),
                (own, work) => own.or(work),
            };
            if own >= Some(offered) {
                return Ok(false);
            }
        }
        height = last + 1;
    }
    // Even the whole local branch had less.
    Ok(true)
}

/// Whether the node knows `tip`, does not count it to its best chain, and has nothing left to connect.
async fn has_dropped(client: &NodeClient, tip: BlockId) -> Result<bool, NodeError> {
    let Some(standing) = client.standing(tip.hash).await? else { return Ok(false) };
    if standing.confirmations >= 0 {
        return Ok(false);
    }
    let info = client.chain_info().await?;
    Ok(info.headers <= info.blocks)
}

#[cfg(test)]
mod tests {
    use bitcoin::hashes::Hash;

    use super::*;

    struct Local(Vec<BlockHash>);

    impl LocalChain for Local {
        fn tip(&self) -> Option<BlockId> {
            let height = self.0.len().checked_sub(1)?;
            Some(BlockId { height: height as Height, hash: self.0[height] })
        }
        fn hash_at(&self, height: Height) -> Option<BlockHash> {
            self.0.get(height as usize).copied()
        }
    }

    fn mined(after: BlockHash, count: u32, time: u32) -> Vec<Header> {
        let mut previous = after;
        (0..count)
            .map(|step| {
                let mut header = genesis_block(bitcoin::Network::Regtest).header;
                (header.prev_blockhash, header.time, header.nonce) = (previous, time + step, 0);
                while !header.target().is_met_by(header.block_hash()) {
                    header.nonce += 1;
                }
                previous = header.block_hash();
                header
            })
            .collect()
    }

    fn hashes(headers: &[Header]) -> Vec<BlockHash> {
        let genesis = genesis_block(bitcoin::Network::Regtest).block_hash();
        std::iter::once(genesis).chain(headers.iter().map(Header::block_hash)).collect()
    }

    #[test]
    fn the_position_determines_the_next_step() {
        let genesis = genesis_block(bitcoin::Network::Regtest);
        let chain = mined(genesis.block_hash(), 5, 1);
        let other = mined(genesis.block_hash(), 2, 100);
        let mut plan = Plan::from_genesis(Network::Regtest);
        plan.append(chain.clone()).unwrap();
        let position = |plan: &Plan, local: &Local| plan.position(local, local.tip());

        assert_eq!(position(&plan, &Local(vec![])), Position::On(0));
        for length in 1..=6 {
            let local = Local(hashes(&chain)[..length].to_vec());
            assert_eq!(position(&plan, &local), Position::On(length as Height));
        }
        assert_eq!(position(&plan, &Local(hashes(&other))), Position::Stale, "no fork point is known");
        plan.trim(1);
        assert_eq!(position(&plan, &Local(hashes(&other))), Position::Stale, "nothing says that it is better");
        plan.leaves = Some(2);
        assert_eq!(position(&plan, &Local(hashes(&other))), Position::Off);
        plan.leaves = Some(1);
        assert_eq!(position(&plan, &Local(hashes(&other))), Position::Stale, "the local branch has grown");
        assert_eq!(position(&plan, &Local(vec![])), Position::Stale);
        plan.trim(4);
        assert_eq!(position(&plan, &Local(hashes(&chain)[..4].to_vec())), Position::On(4));
        assert_eq!(position(&plan, &Local(hashes(&chain)[..3].to_vec())), Position::Stale, "below the base");
        let upcoming: Vec<_> = plan.upcoming(0).collect();
        assert_eq!(upcoming.iter().map(|block| block.height).collect::<Vec<_>>(), [4, 5]);
        assert_eq!(upcoming[1].hash, chain[4].block_hash());
        plan.trim(6);
        assert_eq!(position(&plan, &Local(hashes(&chain))), Position::On(6));
        assert_eq!(plan.upcoming(6).count(), 0);
    }

    #[test]
    fn a_bad_header_ends_the_plan_where_it_was_good() {
        let genesis = genesis_block(bitcoin::Network::Regtest);
        let mut chain = mined(genesis.block_hash(), 3, 1);
        chain[2].prev_blockhash = BlockHash::all_zeros();
        let mut plan = Plan::from_genesis(Network::Regtest);
        assert!(plan.append(chain.clone()).is_err());
        assert_eq!(plan.tip().height, 2);
        assert_eq!(plan.upcoming(0).count(), 3);
    }
}
