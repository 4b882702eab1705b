//! What a pool stores and holds.

use amm_math::FEE_DEFAULT;
use paraffin_contract::{AlkaneId, Environment, Revert, Slot, U256, ensure};

/// Slots `/alkane/0` and `/alkane/1`, the lower id first.
pub(crate) fn alkane(index: usize) -> Slot<AlkaneId> {
    Slot::new(["/alkane/0", "/alkane/1"][index])
}

/// Slot `/factory_id`.
pub(crate) fn factory() -> Slot<AlkaneId> {
    Slot::new("/factory_id")
}

/// Slot `/klast`: product of the reserves after the last change of liquidity.
pub(crate) fn product_last() -> Slot<U256> {
    Slot::new("/klast")
}

/// Slot `/claimablefees`: liquidity that the protocol earned and did not collect.
pub(crate) fn claimable_fees() -> Slot<u128> {
    Slot::new("/claimablefees")
}

/// Slot `/totalfeeper1000`; absent means the default.
pub(crate) fn total_fee() -> Slot<u128> {
    Slot::new("/totalfeeper1000")
}

/// Slots `/price0CumLast` and `/price1CumLast`.
pub(crate) fn price_cumulative(index: usize) -> Slot<U256> {
    Slot::new(["/price0CumLast", "/price1CumLast"][index])
}

fn timestamp_last() -> Slot<u32> {
    Slot::new("/blockTimestampLast")
}

/// Slot `/lock`: 1 while the receiver of a trade is called.
pub(crate) fn lock() -> Slot<u128> {
    Slot::new("/lock")
}

/// The fee per 1000.
pub(crate) fn fee(env: &Environment) -> Result<u128, Revert> {
    Ok(total_fee().find(env)?.unwrap_or(FEE_DEFAULT))
}

/// Reverts unless the factory calls.
pub(crate) fn require_factory(env: &Environment) -> Result<(), Revert> {
    ensure!(env.caller() == factory().require(env, NOT_INITIALIZED)?, "only the factory may do this");
    Ok(())
}

/// Reverts inside the call that a trade makes to its receiver.
pub(crate) fn require_unlocked(env: &Environment) -> Result<(), Revert> {
    ensure!(lock().get(env)? == 0, "the pool is in the middle of a trade");
    Ok(())
}

const NOT_INITIALIZED: &str = "the pool is not initialized";

/// The two alkanes of the pool.
pub(crate) struct Pool {
    pub(crate) alkanes: [AlkaneId; 2],
}

impl Pool {
    pub(crate) fn load(env: &Environment) -> Result<Self, Revert> {
        Ok(Self { alkanes: [alkane(0).require(env, NOT_INITIALIZED)?, alkane(1).require(env, NOT_INITIALIZED)?] })
    }

    /// What the pool holds now, what came in with this call included.
    pub(crate) fn balances(&self, env: &Environment) -> [u128; 2] {
        self.alkanes.map(|alkane| env.balance(env.myself(), alkane))
    }

    /// What came in with this call.
    pub(crate) fn incoming(&self, env: &Environment) -> [u128; 2] {
        self.alkanes.map(|alkane| env.incoming().amount_of(alkane))
    }

    /// What the pool held before this call.
    pub(crate) fn reserves(&self, env: &Environment) -> [u128; 2] {
        let (balances, incoming) = (self.balances(env), self.incoming(env));
        // What came in is part of the balance; a static view may claim to bring what it does not.
        [balances[0].saturating_sub(incoming[0]), balances[1].saturating_sub(incoming[1])]
    }
}

/// Adds price times seconds since the last change, at the reserves that held until now.
pub(crate) fn accumulate_prices(env: &mut Environment, reserves: [u128; 2]) -> Result<(), Revert> {
    let header = env.block_header()?;
    let time = header.get(68..72).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    let time = time.ok_or("the block header cannot be read")?;
    let elapsed = time.wrapping_sub(timestamp_last().get(env)?);
    if elapsed == 0 {
        return Ok(());
    }
    timestamp_last().set(env, &time);
    if reserves.contains(&0) {
        // Nothing was priced before the first deposit.
        return Ok(());
    }
    for index in 0..2 {
        let (own, other) = (U256::from(reserves[index]), U256::from(reserves[1 - index]));
        let price: U256 = (other << 128) / own;
        let step = price.wrapping_mul(U256::from(elapsed));
        let slot = price_cumulative(index);
        let sum = slot.get(env)?.wrapping_add(step);
        slot.set(env, &sum);
    }
    Ok(())
}
