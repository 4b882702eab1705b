//! Reserves and prices at the end of an earlier block, updated from one block to the next.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use paraffin_alkanes::{ChainState, StateKey, TraceEvent};
use paraffin_primitives::{AlkaneId, BlockId, Height};
use paraffin_store::Snapshot;

use super::prices::{Priced, prices};
use super::{BookRules, Watch};
use crate::{AmmError, ChainContracts, ContractReads, PoolState};

/// After more blocks than these everything is read again: traces of so many blocks cost more than balances.
const BLOCKS_MAX: Height = 16;

/// The contracts of a chain as of any height.
pub trait ContractHistory {
    /// The contracts at the end of the block at `height`.
    fn at(&self, height: Height) -> Box<dyn ContractReads + '_>;

    /// Contracts that were entered in the block at `height`, whether the calls succeeded or not: the state of all others is
    /// unchanged. `None` when the list costs more than reading the state again.
    ///
    /// # Errors
    /// Reading failed.
    fn touched(&self, height: Height) -> Result<Option<HashSet<AlkaneId>>, AmmError>;
}

impl ContractHistory for ChainContracts {
    fn at(&self, height: Height) -> Box<dyn ContractReads + '_> {
        Box::new(Self(ChainState::at(self.0.snapshot(), height)))
    }

    fn touched(&self, height: Height) -> Result<Option<HashSet<AlkaneId>>, AmmError> {
        let mut touched = HashSet::new();
        for message in self.0.each_block_trace(height)? {
            for event in &message?.trace.events {
                match event {
                    TraceEvent::Enter { context, .. } => _ = touched.insert(context.myself),
                    TraceEvent::Omitted { contracts, .. } => touched.extend(contracts),
                    TraceEvent::Create(_) | TraceEvent::Exit { .. } => {}
                }
            }
        }
        Ok(Some(touched))
    }
}

/// Which contracts changed between a block and a later one of the same chain.
pub(super) enum Changes {
    /// At most these.
    Of(HashSet<AlkaneId>),
    /// Any.
    Unknown,
}

impl Changes {
    /// The changes between the end of the block `from` and that of the block at `to`.
    pub(super) fn between(
        contracts: &dyn ContractHistory,
        snapshot: &Snapshot,
        from: BlockId,
        to: Height,
    ) -> Result<Self, AmmError> {
        let stands = snapshot.block(from.height)?.is_some_and(|block| block.id == from);
        if !stands || to < from.height || to - from.height > BLOCKS_MAX {
            return Ok(Self::Unknown);
        }
        let mut changed = HashSet::new();
        for height in from.height + 1..=to {
            match contracts.touched(height)? {
                Some(touched) => changed.extend(touched),
                None => return Ok(Self::Unknown),
            }
        }
        Ok(Self::Of(changed))
    }

    pub(super) fn may_hold(&self, id: AlkaneId) -> bool {
        match self {
            Self::Of(changed) => changed.contains(&id),
            Self::Unknown => true,
        }
    }
}

/// Reserves and prices at the end of a block.
#[derive(Clone)]
pub(super) struct Moment {
    pub(super) block: BlockId,
    /// Reserves of the pools there were, the oldest first.
    pub(super) reserves: Vec<[u128; 2]>,
    pub(super) prices: Arc<HashMap<AlkaneId, Priced>>,
}

impl Moment {
    /// The moment at the end of `block`; `pools` are those that there were, the oldest first.
    pub(super) fn at(
        block: BlockId,
        pools: &[&PoolState],
        contracts: &dyn ContractHistory,
        snapshot: &Snapshot,
        rules: &BookRules,
        previous: Option<&Self>,
        watch: &Watch<'_>,
    ) -> Result<Self, AmmError> {
        if let Some(same) = previous.filter(|previous| previous.block == block) {
            return Ok(same.clone());
        }
        let changes = match previous {
            Some(previous) => Changes::between(contracts, snapshot, previous.block, block.height)?,
            None => Changes::Unknown,
        };
        let reads = contracts.at(block.height);
        let mut reserves = Vec::with_capacity(pools.len());
        for (index, state) in pools.iter().enumerate() {
            let pool = state.pool;
            let known = previous.and_then(|previous| previous.reserves.get(index));
            reserves.push(match known.filter(|_| !changes.may_hold(pool.id)) {
                Some(known) => *known,
                None => {
                    watch.check()?;
                    [held(&*reads, pool.tokens[0], pool.id)?, held(&*reads, pool.tokens[1], pool.id)?]
                }
            });
        }
        let prices = prices(pools.iter().copied().zip(reserves.iter().copied()), rules);
        Ok(Self { block, reserves, prices: Arc::new(prices) })
    }
}

fn held(reads: &dyn ContractReads, what: AlkaneId, who: AlkaneId) -> Result<u128, AmmError> {
    let stored = reads.state(&StateKey::Balance { what, who })?;
    Ok(stored.as_deref().and_then(crate::pools::integer).unwrap_or_default())
}

/// The newest block whose time is at or before `time`, among those up to `newest`: a search by halves, so where header times
/// go backwards it is a block at or before that time with one after it next to it. `None` when the first block is later.
pub(super) fn block_at(snapshot: &Snapshot, newest: Height, time: u32) -> Result<Option<BlockId>, AmmError> {
    let is_before = |height| -> Result<Option<BlockId>, AmmError> {
        let block = snapshot.block(height)?;
        Ok(block.filter(|block| block.time <= time).map(|block| block.id))
    };
    let (mut low, mut high) = (0, newest);
    let mut found = None;
    while low <= high {
        let middle = low + (high - low) / 2;
        match is_before(middle)? {
            Some(block) => {
                found = Some(block);
                low = middle + 1;
            }
            None if middle == 0 => break,
            None => high = middle - 1,
        }
    }
    Ok(found)
}
