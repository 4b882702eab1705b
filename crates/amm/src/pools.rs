//! What a pool holds, read from the contracts' state as of any height.

use paraffin_alkanes::StateKey;
use paraffin_primitives::AlkaneId;

use crate::{AmmError, ContractReads, PoolIdentity};

/// Fee of a pool that was given none, per 1000 (research on the AMM, 1.4).
const FEE_DEFAULT: u128 = 10;
/// A name longer than this is cut; it comes from contracts, which may store anything.
const NAME_BYTES_MAX: usize = 256;

/// A pool at the end of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolState {
    /// Which pool.
    pub pool: PoolIdentity,
    /// What the pool holds of its alkanes, base units. These are its balances, so gifts count.
    pub reserves: [u128; 2],
    /// Liquidity in existence, the locked 1,000 units included.
    pub supply: u128,
    /// Fee in parts of 1,000.
    pub fee_per_1000: u128,
    /// Liquidity that the protocol earned and did not collect.
    pub claimable_fees: u128,
    /// Its name as stored, lossy and cut after 256 bytes.
    pub name: String,
}

/// The state of a pool as of the height that `contracts` stands at.
///
/// # Errors
/// The state cannot be read.
pub fn pool_state(contracts: &dyn ContractReads, pool: PoolIdentity) -> Result<PoolState, AmmError> {
    let slot = |name: &str| contracts.state(&StateKey::Storage(pool.id, name.as_bytes().to_vec()));
    let number = |name: &str| Ok::<_, AmmError>(slot(name)?.as_deref().and_then(integer));
    let held = |what| contracts.state(&StateKey::Balance { what, who: pool.id });
    let reserve = |what| Ok::<_, AmmError>(held(what)?.as_deref().and_then(integer).unwrap_or_default());
    let mut name = slot("/name")?.unwrap_or_default();
    name.truncate(NAME_BYTES_MAX);
    Ok(PoolState {
        pool,
        reserves: [reserve(pool.tokens[0])?, reserve(pool.tokens[1])?],
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
fn integer(bytes: &[u8]) -> Option<u128> {
    bytes.try_into().map(u128::from_le_bytes).ok()
}
