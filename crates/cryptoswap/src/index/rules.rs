//! The configuration of pools: canonical pools, names of storage slots, and opcodes.

use paraffin_primitives::AlkaneId;

use super::slots::SlotNames;

/// Everything about pools that does not follow from the chain. Slots and opcodes change the rows of the index, so a changed
/// configuration needs a reindex of the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolRules {
    /// Pools that are indexed from their first block on and reported as canonical.
    pub canonical: Vec<CanonicalPool>,
    /// Names of the slots.
    pub slots: SlotNames,
    /// Numbers of the operations.
    pub opcodes: Opcodes,
}

impl Default for PoolRules {
    fn default() -> Self {
        Self { canonical: vec![CanonicalPool::default()], slots: SlotNames::default(), opcodes: Opcodes::default() }
    }
}

impl PoolRules {
    /// The configured pool with an id.
    pub fn canonical(&self, id: AlkaneId) -> Option<&CanonicalPool> {
        self.canonical.iter().find(|pool| pool.id == id)
    }
}

/// A configured pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CanonicalPool {
    /// The proxy that holds the state and is the LP token.
    pub id: AlkaneId,
    /// Its coins in the contract's order, for contracts whose slots do not hold them under the names given.
    pub coins: [AlkaneId; 2],
}

/// The BTC/USD pool 4:1778: coin 0 is the wrapped bitcoin 32:0, coin 1 the USD token 4:1776.
impl Default for CanonicalPool {
    fn default() -> Self {
        let id = |block, tx| AlkaneId { block, tx };
        Self { id: id(4, 1778), coins: [id(32, 0), id(4, 1776)] }
    }
}

/// First inputs of the calls that are counted (docs/contracts.md, "cryptoswap-pool"). A number must not stand in two lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opcodes {
    /// `init_pool`.
    pub init: Vec<u128>,
    /// `exchange`.
    pub exchange: Vec<u128>,
    /// `add_liquidity`.
    pub add_liquidity: Vec<u128>,
    /// `remove_liquidity` and `remove_liquidity_one_coin`.
    pub remove_liquidity: Vec<u128>,
    /// Claims of the protocol's part of the fees. Their number on the live contract is not published; the default is that
    /// of `docs/contracts.md`.
    pub claim_fees: Vec<u128>,
    /// Ramps, parameters, kill and unkill (numbers as for claims), and the upgrade of the proxy.
    pub admin: Vec<u128>,
    /// `lp_price`: a contract that answers it is a pool.
    pub lp_price: u128,
}

impl Default for Opcodes {
    fn default() -> Self {
        Self {
            init: vec![0],
            exchange: vec![5],
            add_liquidity: vec![1],
            remove_liquidity: vec![2, 3],
            claim_fees: vec![10],
            admin: vec![11, 12, 13, 14, 15, 32766],
            lp_price: 106,
        }
    }
}

/// The operation of a call on a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Init,
    Exchange,
    AddLiquidity,
    RemoveLiquidity,
    ClaimFees,
    Admin,
    Other,
}

impl Opcodes {
    /// The operation of a call whose first input is `opcode`.
    pub(crate) fn operation(&self, opcode: Option<u128>) -> Operation {
        let Some(opcode) = opcode else { return Operation::Other };
        let lists = [
            (&self.init, Operation::Init),
            (&self.exchange, Operation::Exchange),
            (&self.add_liquidity, Operation::AddLiquidity),
            (&self.remove_liquidity, Operation::RemoveLiquidity),
            (&self.claim_fees, Operation::ClaimFees),
            (&self.admin, Operation::Admin),
        ];
        lists.iter().find(|(list, _)| list.contains(&opcode)).map_or(Operation::Other, |(_, operation)| *operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row PI24
    #[test]
    fn the_opcodes_of_the_seed_are_the_defaults() {
        let opcodes = Opcodes::default();
        for (opcode, operation) in [
            (0, Operation::Init),
            (1, Operation::AddLiquidity),
            (2, Operation::RemoveLiquidity),
            (3, Operation::RemoveLiquidity),
            (5, Operation::Exchange),
            (32766, Operation::Admin),
            (10, Operation::ClaimFees),
            (11, Operation::Admin),
            (15, Operation::Admin),
            (32767, Operation::Other),
            (32764, Operation::Other),
            (36863, Operation::Other),
            (107, Operation::Other),
            (u128::MAX, Operation::Other),
        ] {
            assert_eq!(opcodes.operation(Some(opcode)), operation, "{opcode}");
        }
        assert_eq!(opcodes.operation(None), Operation::Other);
        assert_eq!(opcodes.lp_price, 106);
        let lists = [
            &opcodes.init,
            &opcodes.exchange,
            &opcodes.add_liquidity,
            &opcodes.remove_liquidity,
            &opcodes.claim_fees,
            &opcodes.admin,
        ];
        let mut all: Vec<u128> = lists.into_iter().flatten().copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "a number stands in two lists");
    }
}
