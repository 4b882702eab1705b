//! One trade, in the integers of the contract (docs/contracts.md) or with a flat fee (docs/api.md, "Analytics").

use ruint::aliases::{U256, U512};

use super::RoutePool;

/// The fee of a calculation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fees {
    /// Every pool's own, rounded as its contract does, so that quotes are exact.
    Pool,
    /// The same in every hop, in parts of 10,000.
    Bps(u32),
}

/// The fee of a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HopFee {
    /// In parts of 1,000.
    Per1000(u128),
    /// In parts of 10,000.
    Bps(u32),
    /// Part of the pool's own formula.
    Formula,
}

impl Fees {
    pub(crate) fn of(self, pool: &RoutePool) -> HopFee {
        match self {
            Self::Pool => HopFee::Per1000(pool.fee_per_1000),
            Self::Bps(fee) => HopFee::Bps(fee),
        }
    }

    /// Denominator of the fee and the part left after it; `None` when nothing is left.
    pub(super) fn parts(self, pool: &RoutePool) -> Option<(u128, u128)> {
        let (whole, fee): (u128, u128) = match self {
            Self::Pool => (1_000, pool.fee_per_1000),
            Self::Bps(fee) => (10_000, u128::from(fee)),
        };
        let kept = whole.checked_sub(fee)?;
        (kept > 0).then_some((whole, kept))
    }
}

/// The output for `amount` of the alkane at `index`; `None` when it is 0, or when the pool cannot hold more.
pub fn amount_out(pool: &RoutePool, index: usize, amount: u128, fees: Fees) -> Option<u128> {
    let (whole, kept) = fees.parts(pool)?;
    let (reserve_in, reserve_out) = (pool.reserves[index], pool.reserves[1 - index]);
    if reserve_in == 0 {
        return None;
    }
    reserve_in.checked_add(amount)?;
    // Where it fits, without wide numbers: the same integers.
    if let Some(effective) = amount.checked_mul(kept)
        && let Some(product) = effective.checked_mul(reserve_out)
        && let Some(divisor) = whole.checked_mul(reserve_in).and_then(|product| product.checked_add(effective))
    {
        return Some(product / divisor).filter(|out| *out > 0);
    }
    // Products of at most 128 + 14 + 128 bits.
    let effective = U256::from(amount) * U256::from(kept);
    let divisor = U256::from(whole) * U256::from(reserve_in) + effective;
    let product = U512::from(effective) * U512::from(reserve_out);
    u128::try_from(product / U512::from(divisor)).ok().filter(|out| *out > 0)
}

/// The input of the alkane at `index` for an output of `wanted` of the other; `None` when no amount suffices.
///
/// With the pool's own fee the contract's amount, which can be one more than needed; with a flat fee the smallest amount.
pub fn amount_in(pool: &RoutePool, index: usize, wanted: u128, fees: Fees) -> Option<u128> {
    needed(pool, index, wanted, fees, matches!(fees, Fees::Pool))
}

/// The least amount of the alkane at `index` for which at least `wanted` of the other comes out; `None` when none suffices.
pub(super) fn least_in(pool: &RoutePool, index: usize, wanted: u128, fees: Fees) -> Option<u128> {
    needed(pool, index, wanted, fees, false)
}

/// The input: the quotient rounded up, or, as the contract computes it, rounded down and one more.
fn needed(pool: &RoutePool, index: usize, wanted: u128, fees: Fees, is_contract: bool) -> Option<u128> {
    let (whole, kept) = fees.parts(pool)?;
    let (reserve_in, reserve_out) = (pool.reserves[index], pool.reserves[1 - index]);
    let left = reserve_out.checked_sub(wanted).filter(|left| *left > 0)?;
    if reserve_in == 0 || wanted == 0 {
        return None;
    }
    let narrow =
        whole.checked_mul(reserve_in).and_then(|product| product.checked_mul(wanted)).zip(kept.checked_mul(left));
    let (exact, is_whole) = if let Some((product, divisor)) = narrow {
        (product / divisor, product % divisor == 0)
    } else {
        let product = U512::from(U256::from(whole) * U256::from(reserve_in)) * U512::from(wanted);
        let (quotient, rest) = product.div_rem(U512::from(U256::from(kept) * U256::from(left)));
        (u128::try_from(quotient).ok()?, rest.is_zero())
    };
    let needed = if is_whole && !is_contract { exact } else { exact.checked_add(1)? };
    reserve_in.checked_add(needed)?;
    Some(needed)
}

#[cfg(test)]
mod tests {
    use paraffin_primitives::AlkaneId;

    use super::*;

    fn pool(reserves: [u128; 2], fee_per_1000: u128) -> RoutePool {
        let id = |tx| AlkaneId { block: 2, tx };
        RoutePool { id: id(9), tokens: [id(1), id(2)], reserves, fee_per_1000 }
    }

    #[test]
    fn vectors_of_an_even_pool() {
        let even = |fee| pool([1_000_000; 2], fee);
        assert_eq!(amount_out(&even(10), 0, 10_000, Fees::Pool), Some(9_802));
        assert_eq!(amount_out(&even(5), 1, 10_000, Fees::Pool), Some(9_851));
        assert_eq!(amount_out(&even(10), 0, 10_000, Fees::Bps(100)), Some(9_802));
        assert_eq!(amount_out(&even(10), 0, 10_000, Fees::Bps(30)), Some(9_871));
        assert_eq!(amount_out(&even(10), 0, 1, Fees::Pool), None);
        assert_eq!(amount_out(&even(1_000), 0, 10_000, Fees::Pool), None);
        assert_eq!(amount_out(&pool([0, 5], 10), 0, 10_000, Fees::Pool), None);
        assert_eq!(amount_out(&pool([u128::MAX, 5], 10), 0, 1, Fees::Pool), None);
        assert_eq!(amount_in(&even(10), 0, 1_000_000, Fees::Pool), None);
        assert_eq!(amount_in(&even(10), 0, 0, Fees::Pool), None);
    }

    #[test]
    fn with_a_flat_fee_one_unit_less_does_not_suffice() {
        for (reserve_in, reserve_out) in [(1_000_000, 1_000_000), (17, 1 << 60), (1 << 100, 999_999_937), (3, 5)] {
            for wanted in [1, 2, 3, reserve_out / 7, reserve_out / 2, reserve_out - 1] {
                let pool = pool([reserve_in, reserve_out], 10);
                for fees in [Fees::Bps(0), Fees::Bps(30), Fees::Bps(9_999)] {
                    let Some(needed) = amount_in(&pool, 0, wanted, fees) else { continue };
                    assert!(amount_out(&pool, 0, needed, fees).unwrap() >= wanted);
                    assert!(amount_out(&pool, 0, needed - 1, fees).unwrap_or(0) < wanted);
                }
                let Some(needed) = amount_in(&pool, 0, wanted, Fees::Pool) else { continue };
                assert!(amount_out(&pool, 0, needed, Fees::Pool).unwrap() >= wanted);
            }
        }
    }
}
