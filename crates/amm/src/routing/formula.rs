//! Pools of other curves than the constant product.

use std::fmt::Debug;
use std::sync::Arc;

use paraffin_primitives::AlkaneId;

/// How a pool trades that is no constant-product pool. Its fee is part of it: a flat fee that a route is quoted with does not
/// replace it.
pub trait Formula: Debug + Send + Sync {
    /// The output for `amount` of the alkane at `index`; `None` when it is 0, or when the pool refuses.
    /// More in never gives less out.
    fn amount_out(&self, index: usize, amount: u128) -> Option<u128>;

    /// The input of the alkane at `index` for an output of `wanted` of the other; `None` when no amount suffices. More
    /// out never costs less.
    fn amount_in(&self, index: usize, wanted: u128) -> Option<u128>;
}

/// A pool with a formula of its own, as an edge of the routing graph.
#[derive(Debug, Clone)]
pub struct FormulaPool {
    /// The pool.
    pub id: AlkaneId,
    /// Its alkanes.
    pub tokens: [AlkaneId; 2],
    /// Reserves, base units.
    pub reserves: [u128; 2],
    /// Its exchange function.
    pub formula: Arc<dyn Formula>,
}
