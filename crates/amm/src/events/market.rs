//! Recognises calls that are operations of a market.

use std::cell::OnceCell;
use std::collections::HashMap;

use paraffin_alkanes::{CallKind, Transfer};
use paraffin_primitives::AlkaneId;

use super::{Action, PoolIdentity, PoolLookup};
use crate::AmmError;
use crate::calls::{Call, Flow};

/// Opcodes of a pool.
const INITIALIZE: u128 = 0;
const ADD_LIQUIDITY: u128 = 1;
const WITHDRAW: u128 = 2;
const SWAP: u128 = 3;
/// Opcodes of wrapped bitcoin.
const WRAP: u128 = 77;
const UNWRAP: u128 = 78;

/// Pools before and during a transaction.
pub(super) struct Market<'p> {
    wrapped_bitcoin: AlkaneId,
    pools: &'p dyn PoolLookup,
    known: HashMap<AlkaneId, Option<PoolIdentity>>,
}

impl<'p> Market<'p> {
    pub(super) fn new(wrapped_bitcoin: AlkaneId, pools: &'p dyn PoolLookup) -> Self {
        Self { wrapped_bitcoin, pools, known: HashMap::new() }
    }

    /// The actions of a message, each with whether its effects were kept.
    pub(super) fn actions(&mut self, calls: &[Call<'_>]) -> Result<Vec<(bool, Action)>, AmmError> {
        let mut actions = Vec::new();
        let creations = OnceCell::new();
        for (index, call) in calls.iter().enumerate() {
            // A proxy shows every operation twice: the call itself, and the delegated one in its name, which is passed over.
            if call.kind != CallKind::Call || call.is_static {
                continue;
            }
            let Some(opcode) = call.context.inputs.first().copied() else { continue };
            let action = if call.context.myself == self.wrapped_bitcoin {
                wrap(calls, index, opcode)
            } else if opcode == INITIALIZE {
                self.creation(calls, index, creations.get_or_init(|| Creations::of(calls)))?
            } else if matches!(opcode, ADD_LIQUIDITY | WITHDRAW | SWAP) {
                self.pool(call.context.myself)?.map(|pool| operation(calls, index, opcode, pool))
            } else {
                None
            };
            actions.extend(action.map(|action| (call.stands, action)));
        }
        Ok(actions)
    }

    fn pool(&mut self, id: AlkaneId) -> Result<Option<PoolIdentity>, AmmError> {
        if let Some(known) = self.known.get(&id) {
            return Ok(*known);
        }
        let found = self.pools.pool(id)?;
        self.known.insert(id, found);
        Ok(found)
    }

    /// A pool comes to be when the contract that created it, earlier in the same message, initializes it in its own name and
    /// has registered it when the block ends.
    fn creation(
        &mut self,
        calls: &[Call<'_>],
        index: usize,
        creations: &Creations,
    ) -> Result<Option<Action>, AmmError> {
        let call = &calls[index];
        let context = call.context;
        let [_, block_a, tx_a, block_b, tx_b, block, tx, ..] = context.inputs[..] else { return Ok(None) };
        let factory = AlkaneId { block, tx };
        let mut tokens = [AlkaneId { block: block_a, tx: tx_a }, AlkaneId { block: block_b, tx: tx_b }];
        tokens.sort_unstable();
        if !call.stands
            || context.caller != factory
            || tokens[0] == tokens[1]
            || tokens.contains(&context.myself)
            || !creations.has(factory, context.myself, index)
            || self.pool(context.myself)?.is_some()
        {
            return Ok(None);
        }
        let pool = PoolIdentity { id: context.myself, factory, tokens };
        if !self.pools.is_registered(&pool)? {
            return Ok(None);
        }
        self.known.insert(pool.id, Some(pool));
        let flow = Flow::of(calls, index, pool.id);
        let amounts = tokens.map(|token| flow.gained(token));
        Ok(Some(Action::Creation { pool, amounts, liquidity: flow.given(pool.id) }))
    }
}

/// Which contracts created which in a message. A message may make tens of thousands of calls that look like the first one of a
/// pool, so they are looked up.
struct Creations(HashMap<(AlkaneId, AlkaneId), usize>);

impl Creations {
    fn of(calls: &[Call<'_>]) -> Self {
        let mut first = HashMap::new();
        for (index, call) in calls.iter().enumerate().filter(|(_, call)| call.stands) {
            for created in &call.created {
                first.entry((call.context.myself, *created)).or_insert(index);
            }
        }
        Self(first)
    }

    /// Whether a call before that at `index` did.
    fn has(&self, creator: AlkaneId, created: AlkaneId, index: usize) -> bool {
        self.0.get(&(creator, created)).is_some_and(|first| *first < index)
    }
}

/// Wraps and unwraps; amounts are net of what was returned.
fn wrap(calls: &[Call<'_>], index: usize, opcode: u128) -> Option<Action> {
    let id = calls[index].context.myself;
    // Of a call that was undone nothing flowed.
    let flow = Flow::of(calls, index, id);
    match opcode {
        WRAP => Some(Action::Wrap { amount: flow.given(id) }),
        UNWRAP => Some(Action::Unwrap { amount: flow.gained(id) }),
        _ => None,
    }
}

fn operation(calls: &[Call<'_>], index: usize, opcode: u128, pool: PoolIdentity) -> Action {
    let flow = Flow::of(calls, index, pool.id);
    match opcode {
        ADD_LIQUIDITY => {
            Action::Mint { pool, amounts: pool.tokens.map(|token| flow.gained(token)), liquidity: flow.given(pool.id) }
        }
        WITHDRAW => {
            Action::Burn { pool, amounts: pool.tokens.map(|token| flow.given(token)), liquidity: flow.gained(pool.id) }
        }
        _ => {
            let sold = sold(&calls[index], &flow, &pool);
            let [sold, bought] = [pool.tokens[sold], pool.tokens[1 - sold]];
            Action::Swap {
                pool,
                sold: Transfer { id: sold, value: flow.gained(sold) },
                bought: Transfer { id: bought, value: flow.given(bought) },
            }
        }
    }
}

/// Which of the pool's alkanes is sold: the one that the pool gained. An attempt that was undone moved nothing: there the
/// one that was asked for is bought, or else the one that came in is sold.
fn sold(call: &Call<'_>, flow: &Flow, pool: &PoolIdentity) -> usize {
    let [first, second] = pool.tokens;
    let (first_out, second_out) = match call.context.inputs[..] {
        [_, first, second, ..] => (first, second),
        _ => (0, 0),
    };
    if flow.given(second) > 0 || (flow.gained(first) > 0 && flow.given(first) == 0 && flow.gained(second) == 0) {
        0
    } else if flow.given(first) > 0 || flow.gained(second) > 0 {
        1
    } else if (first_out == 0) != (second_out == 0) {
        usize::from(second_out == 0)
    } else {
        usize::from(!call.context.incoming.iter().any(|transfer| transfer.id == first))
    }
}
