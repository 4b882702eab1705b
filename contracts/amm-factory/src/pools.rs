//! Which pools there are, and what they hold.

use amm_math::sorted;
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Call, Environment, Pointer, Revert, Slot, ensure};

/// Opcodes of a pool.
pub(crate) mod pool_opcode {
    pub(crate) const INITIALIZE: u128 = 0;
    pub(crate) const ADD_LIQUIDITY: u128 = 1;
    pub(crate) const WITHDRAW_AND_BURN: u128 = 2;
    pub(crate) const SWAP: u128 = 3;
    pub(crate) const COLLECT_FEES: u128 = 10;
    pub(crate) const GET_TOTAL_FEE: u128 = 20;
    pub(crate) const SET_TOTAL_FEE: u128 = 21;
}

/// Slot `/pool_factory_id`: pools are copies of `4:<this>`.
pub(crate) fn template() -> Slot<u128> {
    Slot::new("/pool_factory_id")
}

/// Slot `/beacon_id`.
pub(crate) fn beacon() -> Slot<AlkaneId> {
    Slot::new("/beacon_id")
}

/// Slot `/all_pools_length`.
pub(crate) fn pool_count() -> Slot<u128> {
    Slot::new("/all_pools_length")
}

/// Slot `/all_pools/` and the index as u128, oldest first.
pub(crate) fn pool_at(index: u128) -> Slot<AlkaneId> {
    Pointer::new("/all_pools/").select(&index.to_le_bytes()).slot()
}

/// Two different alkanes, the lower id first.
pub(crate) struct Pair([AlkaneId; 2]);

impl Pair {
    pub(crate) fn of(first: AlkaneId, second: AlkaneId) -> Result<Self, Revert> {
        ensure!(first != second, "a pool needs two different alkanes");
        let [(lower, ()), (higher, ())] = sorted((first, ()), (second, ()));
        Ok(Self([lower, higher]))
    }

    pub(crate) const fn lower(&self) -> AlkaneId {
        self.0[0]
    }

    pub(crate) const fn higher(&self) -> AlkaneId {
        self.0[1]
    }

    /// Slot `/pools/<lower>/<higher>`.
    fn slot(&self) -> Slot<AlkaneId> {
        Pointer::new("/pools/").select(&self.lower().to_bytes()).keyword("/").select(&self.higher().to_bytes()).slot()
    }
}

/// The pool of a pair.
pub(crate) fn find(env: &Environment, pair: &Pair) -> Result<Option<AlkaneId>, Revert> {
    pair.slot().find(env)
}

/// Adds a pool to the list and to the look-up by pair.
pub(crate) fn register(env: &mut Environment, pair: &Pair, pool: AlkaneId) -> Result<(), Revert> {
    ensure!(find(env, pair)?.is_none(), "the pool exists already");
    let count = pool_count().get(env)?;
    pair.slot().set(env, &pool);
    pool_at(count).set(env, &pool);
    pool_count().set(env, &(count + 1));
    Ok(())
}

/// One side of a pool as a trader sees it: in goes one alkane, out comes the other.
pub(crate) struct Hop {
    pub(crate) pool: AlkaneId,
    /// True when the alkane that goes in is the pool's first.
    pub(crate) first_in: bool,
    pub(crate) reserve_in: u128,
    pub(crate) reserve_out: u128,
    pub(crate) fee: u128,
}

impl Hop {
    /// The pool between two alkanes with what it holds now. Reverts when there is none.
    pub(crate) fn between(env: &Environment, token_in: AlkaneId, token_out: AlkaneId) -> Result<Self, Revert> {
        let pair = Pair::of(token_in, token_out)?;
        let pool = find(env, &pair)?.ok_or("there is no pool of these two alkanes")?;
        let answer = env.static_call(&Call::new(pool, vec![pool_opcode::GET_TOTAL_FEE]))?;
        let fee =
            answer.data.as_slice().try_into().map(u128::from_le_bytes).map_err(|_| "the pool's fee is no number")?;
        Ok(Self {
            pool,
            first_in: token_in == pair.lower(),
            reserve_in: env.balance(pool, token_in),
            reserve_out: env.balance(pool, token_out),
            fee,
        })
    }
}
