//! Events of all pools in a range of blocks, in the order of the chain, with the reserves after each event.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use paraffin_primitives::{AlkaneId, Height};

use crate::pools::pool_reserves;
use crate::rows::{Parser, decode_event, position_key};
use crate::{Action, AmmError, ChainPosition, ContractHistory, Event, Markets, PoolIdentity};

/// An event and the reserves of its pool after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolEvent {
    /// A successful event of a pool.
    pub event: Event,
    /// Base units of the pool's alkanes; `None` when something beside the events of its block has changed them, as a gift does, and
    /// the event is not the last one on the pool in its block.
    pub reserves: Option<[u128; 2]>,
}

impl Markets {
    /// Events of pools in the blocks `from..=to` that were kept, in the order of the chain; `None` when these blocks have more than
    /// `limit` events of any kind. Blocks above the height have none. It reads one scan of at most `limit` rows.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn events_of_blocks(&self, from: Height, to: Height, limit: usize) -> Result<Option<Vec<Event>>, AmmError> {
        let to = to.min(self.height);
        if from > to {
            return Ok(Some(Vec::new()));
        }
        let first = position_key(ChainPosition { height: from, transaction: 0, event: 0 });
        let last = position_key(ChainPosition { height: to, transaction: u32::MAX, event: u32::MAX });
        let mut events = Vec::new();
        for (number, row) in self.snapshot.range(&self.journal.events, &first, &last).enumerate() {
            if number == limit {
                return Ok(None);
            }
            let (key, value) = row?;
            let mut parser = Parser::new("events", &key);
            let position = parser.position()?;
            let event = decode_event(parser.end(position)?, &value)?;
            if event.successful && event.action.pool().is_some() {
                events.push(event);
            }
        }
        Ok(Some(events))
    }
}

/// The events of whole blocks with the reserves after each of them. Costs four reads for each pool of each block.
///
/// # Errors
/// The state cannot be read; `is_over` returned true ([`AmmError::Interrupted`]).
pub fn with_reserves(
    events: Vec<Event>,
    contracts: &dyn ContractHistory,
    is_over: &dyn Fn() -> bool,
) -> Result<Vec<PoolEvent>, AmmError> {
    let mut found: Vec<PoolEvent> = events.into_iter().map(|event| PoolEvent { event, reserves: None }).collect();
    for block in found.chunk_by_mut(|one, other| one.event.position.height == other.event.position.height) {
        let mut pools: HashMap<AlkaneId, Holdings> = HashMap::new();
        for PoolEvent { event, reserves } in &mut *block {
            let Some(pool) = event.action.pool() else { continue };
            let holdings = match pools.entry(pool.id) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(vacant) if !is_over() => {
                    vacant.insert(Holdings::of(pool, event.position.height, contracts)?)
                }
                Entry::Vacant(_) => return Err(AmmError::Interrupted),
            };
            holdings.now = holdings.now.and_then(|now| after(now, &event.action));
            *reserves = holdings.now;
        }
        // Where the events do not lead to the reserves at the end, only those are known.
        for PoolEvent { event, reserves } in block.iter_mut().rev() {
            let Some(holdings) = event.action.pool().and_then(|pool| pools.get_mut(&pool.id)) else { continue };
            if holdings.now != Some(holdings.end) {
                *reserves = (!holdings.is_end_given).then_some(holdings.end);
                holdings.is_end_given = true;
            }
        }
    }
    Ok(found)
}

/// Reserves of a pool in a block.
struct Holdings {
    /// After the events so far; `None` when they cannot be.
    now: Option<[u128; 2]>,
    /// At the end of the block.
    end: [u128; 2],
    is_end_given: bool,
}

impl Holdings {
    /// Before the first event of the block at `height`.
    fn of(pool: &PoolIdentity, height: Height, contracts: &dyn ContractHistory) -> Result<Self, AmmError> {
        let before = match height.checked_sub(1) {
            Some(before) => pool_reserves(&*contracts.at(before), pool)?,
            None => [0, 0],
        };
        Ok(Self { now: Some(before), end: pool_reserves(&*contracts.at(height), pool)?, is_end_given: false })
    }
}

/// The reserves after an event; `None` when they would be out of range.
fn after([first, second]: [u128; 2], action: &Action) -> Option<[u128; 2]> {
    match action {
        Action::Creation { amounts: [one, other], .. } | Action::Mint { amounts: [one, other], .. } => {
            Some([first.checked_add(*one)?, second.checked_add(*other)?])
        }
        Action::Burn { amounts: [one, other], .. } => Some([first.checked_sub(*one)?, second.checked_sub(*other)?]),
        Action::Swap { pool, sold, bought } if sold.id == pool.tokens[0] => {
            Some([first.checked_add(sold.value)?, second.checked_sub(bought.value)?])
        }
        Action::Swap { sold, bought, .. } => Some([first.checked_sub(bought.value)?, second.checked_add(sold.value)?]),
        Action::Wrap { .. } | Action::Unwrap { .. } => Some([first, second]),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use bitcoin::Txid;
    use bitcoin::hashes::Hash as _;
    use paraffin_alkanes::{StateKey, Transfer};

    use super::*;
    use crate::{ContractReads, MessageTrace};

    const TOKENS: [AlkaneId; 2] = [AlkaneId { block: 2, tx: 1 }, AlkaneId { block: 32, tx: 0 }];

    fn pool() -> PoolIdentity {
        PoolIdentity { id: AlkaneId { block: 2, tx: 9 }, factory: AlkaneId { block: 4, tx: 1 }, tokens: TOKENS }
    }

    /// Reserves of the pool at the end of each block.
    struct Ends(Vec<[u128; 2]>);

    struct End([u128; 2]);

    impl ContractHistory for Ends {
        fn at(&self, height: Height) -> Box<dyn ContractReads + '_> {
            Box::new(End(self.0[height as usize]))
        }

        fn touched(&self, _: Height) -> Result<Option<HashSet<AlkaneId>>, AmmError> {
            Ok(None)
        }
    }

    impl ContractReads for End {
        fn traces(&self, _: Height) -> Result<Vec<MessageTrace>, AmmError> {
            Ok(Vec::new())
        }

        fn state(&self, key: &StateKey) -> Result<Option<Vec<u8>>, AmmError> {
            let StateKey::Balance { what, .. } = key else { return Ok(None) };
            let index = TOKENS.iter().position(|token| token == what).unwrap();
            Ok(Some(self.0[index].to_le_bytes().to_vec()))
        }
    }

    fn event(height: Height, number: u32, action: Action) -> Event {
        Event {
            position: ChainPosition { height, transaction: 0, event: number },
            txid: Txid::all_zeros(),
            time: 0,
            protostone: 0,
            vout: 0,
            actor: None,
            successful: true,
            action,
        }
    }

    fn swap(sold: usize, given: u128, got: u128) -> Action {
        let sold_of = Transfer { id: TOKENS[sold], value: given };
        Action::Swap { pool: pool(), sold: sold_of, bought: Transfer { id: TOKENS[1 - sold], value: got } }
    }

    fn reserves(ends: Vec<[u128; 2]>, events: Vec<Event>) -> Vec<Option<[u128; 2]>> {
        let found = with_reserves(events, &Ends(ends), &|| false).unwrap();
        found.into_iter().map(|found| found.reserves).collect()
    }

    #[test]
    fn reserves_follow_the_events_of_each_block() {
        let events = vec![
            event(1, 0, Action::Creation { pool: pool(), amounts: [100, 200], liquidity: 1 }),
            event(1, 1, swap(0, 10, 15)),
            event(3, 0, swap(1, 5, 2)),
            event(3, 1, Action::Burn { pool: pool(), amounts: [8, 10], liquidity: 1 }),
            event(3, 2, Action::Mint { pool: pool(), amounts: [1, 1], liquidity: 1 }),
        ];
        let ends = vec![[0, 0], [110, 185], [110, 185], [101, 181]];
        let expected = [[100, 200], [110, 185], [108, 190], [100, 180], [101, 181]].map(Some);
        assert_eq!(reserves(ends, events), expected);
    }

    #[test]
    fn a_gift_leaves_only_the_end_of_the_block() {
        let events = vec![event(1, 0, swap(0, 10, 15)), event(1, 1, swap(0, 10, 14)), event(2, 0, swap(0, 1, 1))];
        let ends = vec![[100, 200], [127, 171], [128, 170]];
        assert_eq!(reserves(ends, events), [None, Some([127, 171]), Some([128, 170])]);
        // More went out than there was: the end is known all the same.
        assert_eq!(reserves(vec![[1, 1], [5, 5]], vec![event(1, 0, swap(0, 1, 9))]), [Some([5, 5])]);
        let interrupted = with_reserves(vec![event(1, 0, swap(0, 1, 1))], &Ends(vec![[0; 2]; 2]), &|| true);
        assert!(matches!(interrupted, Err(AmmError::Interrupted)));
    }
}
