//! A pool as an edge of the routing graph.

use std::sync::Arc;

use paraffin_amm::routing::{Formula, FormulaPool};
use paraffin_primitives::{AlkaneId, Height};
use ruint::aliases::U256;

use super::{IndexError, PoolIndex, PoolRecord, PoolState, Slot};
use paraffin_cryptoswap_math::{Coin, MathError, Pool};

/// The exchange function of a pool in one block.
#[derive(Debug)]
struct PoolFormula {
    pool: Pool,
    /// Height of the block.
    now: u64,
    /// Coins in the order of the tokens.
    coins: [Coin; 2],
}

impl PoolFormula {
    fn sale(&self, index: usize, amount: u128) -> Result<u128, MathError> {
        let coin = self.coins.get(index).copied().ok_or(MathError::NoSuchCoin(index as u128))?;
        let out = self.pool.get_dy(coin, U256::from(amount), self.now)?;
        u128::try_from(out).map_err(|_| MathError::Overflow)
    }

    /// Whether an amount is enough for `wanted`, or more than the pool takes. An amount so small that nothing comes out is not.
    fn suffices(&self, index: usize, amount: u128, wanted: u128) -> bool {
        match self.sale(index, amount) {
            Ok(out) => out >= wanted,
            Err(error) => !matches!(error, MathError::Underflow),
        }
    }
}

impl Formula for PoolFormula {
    fn amount_out(&self, index: usize, amount: u128) -> Option<u128> {
        self.sale(index, amount).ok().filter(|out| amount > 0 && *out > 0)
    }

    /// The least amount: more in never gives less out, so halving finds it.
    fn amount_in(&self, index: usize, wanted: u128) -> Option<u128> {
        if wanted == 0 {
            return None;
        }
        let mut enough = 1u128;
        while !self.suffices(index, enough, wanted) {
            enough = enough.checked_mul(2)?;
        }
        let mut short = enough / 2;
        while enough - short > 1 {
            let middle = short + (enough - short) / 2;
            if self.suffices(index, middle, wanted) { enough = middle } else { short = middle }
        }
        (self.amount_out(index, enough)? >= wanted).then_some(enough)
    }
}

impl PoolIndex {
    /// The pools that routes may go through: of those whose contracts are `trusted` (a third party's contract can claim to be any pool)
    /// the ones of which [`PoolRecord::for_routes`] makes one, in that order.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn routes(&self, trusted: &[AlkaneId]) -> Result<Vec<FormulaPool>, IndexError> {
        let mut routes = Vec::new();
        for id in trusted {
            if let (Some(record), Some(state)) = (self.pool(*id)?, self.state(*id)?) {
                routes.extend(record.for_routes(&state, self.height()));
            }
        }
        Ok(routes)
    }
}

impl PoolRecord {
    /// The pool for routes that are executed after `height`; `None` while trading is killed, without liquidity, or
    /// where it holds more than an amount can be. While its curve moves it is left out too: what is quoted for one block would
    /// not be paid in the one after.
    pub fn for_routes(&self, state: &PoolState, height: Height) -> Option<FormulaPool> {
        if state.is_killed() || state.is_ramping(height) || state.number(Slot::D).is_zero() {
            return None;
        }
        let balance = |slot| u128::try_from(state.number(slot)).ok();
        let reserves = [balance(Slot::Balance0)?, balance(Slot::Balance1)?];
        let formula = PoolFormula {
            pool: state.pool(&self.identity),
            now: u64::from(height) + 1,
            coins: self.identity.to_tokens([Coin::Zero, Coin::One]),
        };
        Some(FormulaPool {
            id: self.id,
            tokens: self.identity.tokens(),
            reserves: self.identity.to_tokens(reserves),
            formula: Arc::new(formula),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paraffin_cryptoswap_math::{Curve, Parameters};

    fn formula() -> PoolFormula {
        let int = |value: u64| U256::from(value);
        let parameters = Parameters {
            precisions: [int(10_000_000_000); 2],
            mid_fee: int(20_000_000),
            out_fee: int(80_000_000),
            fee_gamma: int(230_000_000_000_000),
            admin_fee: int(5_000_000_000),
            admin_fee_is_paid: true,
            allowed_extra_profit: int(2_000_000_000_000),
            adjustment_step: int(146_000_000_000_000),
            adjustment_divisor: 10,
            ma_half_time: 6,
        };
        let curve = Curve::from((400_000, 145_000_000_000_000));
        let mut pool = Pool::new(parameters, curve, int(15_604_533_105_145), 1).unwrap();
        pool.add_liquidity([int(100_000_000), int(6_408_394_000_000)], U256::ZERO, 1).unwrap();
        // Token 0 is coin 1, as in the BTC/USD pool.
        PoolFormula { pool, now: 2, coins: [Coin::One, Coin::Zero] }
    }

    #[test]
    fn the_least_amount_suffices_and_one_less_does_not() {
        let formula = formula();
        for index in [0, 1] {
            for wanted in [1u128, 2, 77, 10_000, 1_000_000, 33_000_000] {
                let needed = formula.amount_in(index, wanted).unwrap();
                assert!(formula.amount_out(index, needed).unwrap() >= wanted, "{index} {wanted}");
                assert!(formula.amount_out(index, needed - 1).unwrap_or(0) < wanted, "{index} {wanted}");
            }
        }
    }

    #[test]
    fn what_the_pool_does_not_have_cannot_be_bought() {
        let formula = formula();
        for (index, reserve) in [(0, 100_000_000u128), (1, 6_408_394_000_000)] {
            for wanted in [0, reserve, reserve + 1, u128::MAX] {
                assert_eq!(formula.amount_in(index, wanted), None, "{index} {wanted}");
            }
            for amount in [0, u128::MAX] {
                assert_eq!(formula.amount_out(index, amount), None, "{index} {amount}");
            }
        }
        assert_eq!((formula.amount_out(2, 5), formula.amount_in(2, 5)), (None, None));
    }
}
