//! A constant-product pool as an order book: the results of trades of growing size, cut into levels.
//!
//! Each level is a thousandth of the pool's reserve of its first alkane. Its price is that of buying or selling the slice after those
//! before it, the pool's fee included, by the integers of the contract: taking the first levels costs exactly as much as one trade of
//! their size.

use ruint::aliases::U256;

use crate::Ratio;
use crate::routing::{Fees, RoutePool, amount_in, amount_out};

/// Slices of the reserve.
const SLICES: u128 = 1_000;

/// Orders at one price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthLevel {
    /// Of the pool's first alkane, base units.
    pub amount: u128,
    /// Of the pool's second alkane for all of it, base units.
    pub total: u128,
}

/// Both sides of the book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Depth {
    /// Offers to buy the first alkane, the highest price first.
    pub bids: Vec<DepthLevel>,
    /// Offers to sell it, the lowest price first.
    pub asks: Vec<DepthLevel>,
}

impl DepthLevel {
    /// Units of the second alkane for one of the first; `None` when either is 0.
    pub fn price(&self) -> Option<Ratio> {
        Ratio::new(self.total, self.amount)
    }

    /// Whether its price is above that of another level.
    fn is_above(&self, other: &Self) -> bool {
        U256::from(self.total) * U256::from(other.amount) > U256::from(other.total) * U256::from(self.amount)
    }
}

/// The order book of a pool with at most `levels` on each side; empty when nothing can be traded.
pub fn depth(pool: &RoutePool, levels: u16) -> Depth {
    let slice = (pool.reserves[0] / SLICES).max(1);
    let amounts = || (1..=u128::from(levels)).map_while(move |number| slice.checked_mul(number));
    let asks = amounts().map_while(|amount| Some((amount, amount_in(pool, 1, amount, Fees::Pool)?)));
    // The first slices of a small pool may bring nothing.
    let bids = amounts()
        .take_while(|amount| pool.reserves[0].checked_add(*amount).is_some())
        .map(|amount| (amount, amount_out(pool, 0, amount, Fees::Pool).unwrap_or(0)));
    let mut depth =
        Depth { asks: leveled(asks, DepthLevel::is_above), bids: leveled(bids, |next, last| last.is_above(next)) };
    // The last of them may give nothing.
    depth.bids.retain(|level| level.total > 0);
    depth
}

/// Levels out of running sums of amount and total. Whole units can give a slice a better price than the one before it: such
/// neighbours are one level, so that prices are ordered and sums do not change.
fn leveled(
    sums: impl Iterator<Item = (u128, u128)>,
    is_worse: impl Fn(&DepthLevel, &DepthLevel) -> bool,
) -> Vec<DepthLevel> {
    let mut levels: Vec<DepthLevel> = Vec::new();
    let mut before = (0, 0);
    for (amount, total) in sums {
        let mut level = DepthLevel { amount: amount - before.0, total: total.saturating_sub(before.1) };
        before = (amount, total);
        while let Some(last) = levels.pop_if(|last| !is_worse(&level, last)) {
            level = DepthLevel { amount: level.amount + last.amount, total: level.total + last.total };
        }
        levels.push(level);
    }
    levels
}

#[cfg(test)]
mod tests {
    use paraffin_primitives::AlkaneId;
    use proptest::prelude::*;

    use super::*;

    fn pool(reserves: [u128; 2], fee_per_1000: u128) -> RoutePool {
        let id = |tx| AlkaneId { block: 2, tx };
        RoutePool { id: id(9), tokens: [id(1), id(2)], reserves, fee_per_1000 }
    }

    #[test]
    fn a_deep_pool_has_every_level_and_a_spread_of_its_fee() {
        let pool = pool([100_000_000_000, 2_000_000_000], 10);
        let Depth { bids, asks } = depth(&pool, 50);
        assert_eq!((bids.len(), asks.len()), (50, 50));
        assert!(bids.iter().chain(&asks).all(|level| level.amount == 100_000_000));
        // 0.02, less and more 1 % of fee and half of the 0.1 % of the slice.
        assert_eq!((bids[0].total, asks[0].total), (1_978_041, 2_022_225));
    }

    #[test]
    fn pools_that_cannot_trade_have_an_empty_book() {
        for (reserves, fee) in [([0, 0], 10), ([0, 5], 10), ([1, 1], 1_000), ([1_000, 1_000], 5_000)] {
            assert_eq!(depth(&pool(reserves, fee), 10), Depth::default(), "{reserves:?} {fee}");
        }
    }

    proptest! {
        #[test]
        fn levels_are_in_order_and_cost_what_one_trade_costs(
            reserves in [prop_oneof![1u128..5_000, 1u128..1 << 60, any::<u128>()], prop_oneof![1u128..5_000, 1u128..1 << 60, any::<u128>()]],
            fee in 0u128..1_000,
            levels in 1u16..200,
        ) {
            let pool = pool(reserves, fee);
            let Depth { bids, asks } = depth(&pool, levels);
            prop_assert!(bids.len() <= usize::from(levels) && asks.len() <= usize::from(levels));
            prop_assert!(asks.is_sorted_by(|one, other| other.is_above(one)));
            prop_assert!(bids.is_sorted_by(DepthLevel::is_above));
            let sums = |levels: &[DepthLevel]| {
                levels.iter().fold((0u128, 0u128), |sum, level| (sum.0 + level.amount, sum.1 + level.total))
            };
            if let (amount @ 1.., total) = sums(&asks) {
                prop_assert_eq!(Some(total), amount_in(&pool, 1, amount, Fees::Pool));
            }
            if let (amount @ 1.., total) = sums(&bids) {
                prop_assert_eq!(Some(total), amount_out(&pool, 0, amount, Fees::Pool));
            }
            if let (Some(ask), Some(bid)) = (asks.first(), bids.first()) {
                prop_assert!(!bid.is_above(ask), "{:?} {:?}", bid, ask);
            }
        }
    }
}
