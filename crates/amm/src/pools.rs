//! Reserves, supply and fee of a pool, read from the contracts' state as of any height.

use paraffin_alkanes::StateKey;
use paraffin_primitives::AlkaneId;

use ruint::aliases::U256;

use crate::routing::RoutePool;
use crate::{AmmError, ContractReads, PoolIdentity};

/// Fee of a pool that was created without one, per 1000 (docs/contracts.md).
const FEE_DEFAULT: u128 = 10;
/// A name longer than this is cut; it comes from contracts, which may store anything.
const NAME_BYTES_MAX: usize = 256;

/// A pool at the end of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolState {
    /// The pool.
    pub pool: PoolIdentity,
    /// Reserves, base units. These are its balances, so alkanes sent to it without an operation count.
    pub reserves: [u128; 2],
    /// Liquidity in existence, the locked 1,000 units included.
    pub supply: u128,
    /// Fee in parts of 1,000.
    pub fee_per_1000: u128,
    /// Liquidity of the protocol's fees that is not collected yet.
    pub claimable_fees: u128,
    /// Its name as stored, lossy and cut after 256 bytes.
    pub name: String,
}

impl PoolState {
    /// The amounts of its alkanes that `liquidity` stands for, base units, rounded down (docs/markets.md). Protocol fees
    /// since liquidity changed last are not subtracted, so a withdrawal can give slightly less.
    pub fn share(&self, liquidity: u128) -> [u128; 2] {
        self.reserves.map(|reserve| {
            let product = U256::from(liquidity) * U256::from(reserve);
            let amount = product.checked_div(U256::from(self.supply)).unwrap_or_default();
            u128::try_from(amount).unwrap_or(u128::MAX)
        })
    }

    /// The pool as an edge of the routing graph.
    pub fn for_routes(&self) -> RoutePool {
        RoutePool {
            id: self.pool.id,
            tokens: self.pool.tokens,
            reserves: self.reserves,
            fee_per_1000: self.fee_per_1000,
        }
    }
}

/// Reserves of a pool as of the height of `contracts`, base units.
///
/// # Errors
/// The state cannot be read.
pub fn pool_reserves(contracts: &dyn ContractReads, pool: &PoolIdentity) -> Result<[u128; 2], AmmError> {
    let [first, second] = pool.tokens;
    let balance = |what| -> Result<u128, AmmError> {
        let stored = contracts.state(&StateKey::Balance { what, who: pool.id })?;
        Ok(stored.as_deref().and_then(integer).unwrap_or_default())
    };
    Ok([balance(first)?, balance(second)?])
}

/// The state of a pool as of the height of `contracts`.
///
/// # Errors
/// The state cannot be read.
pub fn pool_state(contracts: &dyn ContractReads, pool: PoolIdentity) -> Result<PoolState, AmmError> {
    let slot = |name: &str| contracts.state(&StateKey::Storage(pool.id, name.as_bytes().to_vec()));
    let number = |name: &str| Ok::<_, AmmError>(slot(name)?.as_deref().and_then(integer));
    let mut name = slot("/name")?.unwrap_or_default();
    name.truncate(NAME_BYTES_MAX);
    Ok(PoolState {
        pool,
        reserves: pool_reserves(contracts, &pool)?,
        supply: number("/totalsupply")?.unwrap_or_default(),
        fee_per_1000: number("/totalfeeper1000")?.unwrap_or(FEE_DEFAULT),
        claimable_fees: number("/claimablefees")?.unwrap_or_default(),
        name: String::from_utf8_lossy(&name).into_owned(),
    })
}

/// Whether the factory's slot `/pools/<lower>/<higher>` names the pool.
pub(crate) fn is_registered(contracts: &dyn ContractReads, pool: &PoolIdentity) -> Result<bool, AmmError> {
    let [lower, higher] = pool.tokens.map(id_bytes);
    let key = [b"/pools/".as_slice(), &lower, b"/", &higher].concat();
    Ok(contracts.state(&StateKey::Storage(pool.factory, key))?.is_some_and(|stored| stored == id_bytes(pool.id)))
}

/// An id as contracts store it: both parts with the lowest byte first.
fn id_bytes(id: AlkaneId) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&id.block.to_le_bytes());
    bytes[16..].copy_from_slice(&id.tx.to_le_bytes());
    bytes
}

/// An integer as contracts and balances store it.
pub(crate) fn integer(bytes: &[u8]) -> Option<u128> {
    bytes.try_into().map(u128::from_le_bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use paraffin_primitives::Height;

    use super::*;
    use crate::MessageTrace;

    struct Slots(HashMap<StateKey, Vec<u8>>);

    impl ContractReads for Slots {
        fn traces(&self, _: Height) -> Result<Vec<MessageTrace>, AmmError> {
            Ok(Vec::new())
        }

        fn state(&self, key: &StateKey) -> Result<Option<Vec<u8>>, AmmError> {
            Ok(self.0.get(key).cloned())
        }
    }

    fn pool() -> PoolIdentity {
        let id = |tx| AlkaneId { block: 2, tx };
        PoolIdentity { id: id(9), factory: AlkaneId { block: 4, tx: 65_522 }, tokens: [id(1), id(2)] }
    }

    fn slot(name: &str, value: &[u8]) -> (StateKey, Vec<u8>) {
        (StateKey::Storage(pool().id, name.as_bytes().to_vec()), value.to_vec())
    }

    #[test]
    fn a_fee_that_was_set_is_read_and_one_that_was_not_is_the_default() {
        let state = |slots: Vec<(StateKey, Vec<u8>)>| pool_state(&Slots(slots.into_iter().collect()), pool()).unwrap();
        let empty = state(Vec::new());
        assert_eq!((empty.fee_per_1000, empty.reserves, empty.supply), (10, [0, 0], 0));
        assert_eq!(empty.share(5), [0, 0]);
        let held = (StateKey::Balance { what: pool().tokens[1], who: pool().id }, 8u128.to_le_bytes().to_vec());
        let set = state(vec![
            slot("/totalfeeper1000", &5u128.to_le_bytes()),
            slot("/totalsupply", &4u128.to_le_bytes()),
            held,
        ]);
        assert_eq!((set.fee_per_1000, set.reserves, set.share(3)), (5, [0, 8], [0, 6]));
    }

    #[test]
    fn slots_that_a_hostile_pool_stored_do_no_harm() {
        let slots =
            [slot("/totalfeeper1000", &[1]), slot("/totalsupply", &[9; 40]), slot("/name", &vec![0xff; 100_000])];
        let state = pool_state(&Slots(slots.into_iter().collect()), pool()).unwrap();
        assert_eq!((state.fee_per_1000, state.supply), (10, 0));
        assert!(state.name.chars().count() <= NAME_BYTES_MAX);
    }

    #[test]
    fn a_share_of_the_greatest_amounts_does_not_overflow() {
        let (reserves, name) = ([u128::MAX, 1], String::new());
        let state = PoolState { pool: pool(), reserves, supply: u128::MAX, fee_per_1000: 10, claimable_fees: 0, name };
        assert_eq!(state.share(u128::MAX), [u128::MAX, 1]);
        assert_eq!(state.share(0), [0, 0]);
    }
}
