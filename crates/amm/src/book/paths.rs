//! The ways from one alkane to another through at most three pools of a factory.

use std::cmp::Reverse;
use std::collections::HashMap;

use paraffin_primitives::AlkaneId;

use crate::{BookPool, MarketBook};

/// Ways that are found at most.
const PATHS_MAX: usize = 1_000;
/// Pools that are looked at before a search ends with what it has.
const STEPS_MAX: usize = 200_000;

/// Alkanes on a way, and the pools between them.
pub type PoolPath<'b> = (Vec<AlkaneId>, Vec<&'b BookPool>);

/// What a search found.
pub struct PoolPaths<'b> {
    /// The shortest first, among those the one whose least pool is worth most; no alkane twice on one.
    pub paths: Vec<PoolPath<'b>>,
    /// Whether there are no others.
    pub is_whole: bool,
}

/// A pool seen from one of its alkanes.
struct Step<'b> {
    to: AlkaneId,
    pool: &'b BookPool,
}

impl MarketBook {
    /// The ways between two different alkanes; a pool that lacks one of its alkanes leads nowhere. At most 1,000 ways are found.
    pub fn paths(&self, factory: AlkaneId, [start, finish]: [AlkaneId; 2]) -> PoolPaths<'_> {
        let mut search = Search { paths: Vec::new(), steps: 0, is_whole: true };
        let steps = |from: AlkaneId| -> Vec<Step<'_>> {
            let mut steps: Vec<Step<'_>> = self
                .pools_trading(factory, from)
                .filter(|pool| !pool.state.reserves.contains(&0))
                .map(|pool| Step { to: pool.record.pool.other(from), pool })
                .collect();
            // The search may end early, so what is worth most is tried first.
            steps.sort_by_key(|step| (Reverse(step.pool.worth.tvl), step.pool.record.pool.id));
            steps
        };
        let (firsts, lasts) = (steps(start), steps(finish));
        let mut into: HashMap<AlkaneId, Vec<&Step<'_>>> = HashMap::new();
        for last in &lasts {
            into.entry(last.to).or_default().push(last);
        }
        for first in firsts.iter().filter(|first| first.to == finish) {
            search.take((vec![start, finish], vec![first.pool]));
        }
        for first in firsts.iter().filter(|first| first.to != finish) {
            for last in into.get(&first.to).into_iter().flatten() {
                search.take((vec![start, first.to, finish], vec![first.pool, last.pool]));
            }
        }
        for first in firsts.iter().filter(|first| first.to != finish) {
            if !search.goes_on() {
                break;
            }
            for middle in steps(first.to).iter().filter(|middle| middle.to != start && middle.to != finish) {
                for last in into.get(&middle.to).into_iter().flatten() {
                    let tokens = vec![start, first.to, middle.to, finish];
                    search.take((tokens, vec![first.pool, middle.pool, last.pool]));
                }
                search.step();
            }
        }
        let Search { mut paths, is_whole, .. } = search;
        paths.sort_by_cached_key(|(_, pools)| {
            let least = pools.iter().map(|pool| pool.worth.tvl).min();
            (pools.len(), Reverse(least), pools.iter().map(|pool| pool.record.pool.id).collect::<Vec<_>>())
        });
        PoolPaths { paths, is_whole }
    }
}

/// A search that is bounded.
struct Search<'b> {
    paths: Vec<PoolPath<'b>>,
    steps: usize,
    is_whole: bool,
}

impl<'b> Search<'b> {
    fn take(&mut self, path: PoolPath<'b>) {
        if self.paths.len() < PATHS_MAX {
            self.paths.push(path);
        } else {
            self.is_whole = false;
        }
        self.step();
    }

    fn step(&mut self) {
        self.steps += 1;
    }

    fn goes_on(&mut self) -> bool {
        let goes_on = self.paths.len() < PATHS_MAX && self.steps < STEPS_MAX;
        self.is_whole &= goes_on;
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use crate::book::fake::{FACTORY, MarketFixture, WRAPPED, id};

    #[test]
    fn paths_are_the_shortest_first_and_then_those_whose_least_pool_is_worth_most() {
        let (a, b, c) = (id(1), id(2), id(3));
        let mut town = MarketFixture::new();
        town.block(1_700_000_000, |_| {});
        town.block(1_700_000_600, |block| {
            block.create(FACTORY, 100, [(a, 1_000_000), (WRAPPED, 1_000_000)]);
            block.create(FACTORY, 101, [(b, 1_000_000), (WRAPPED, 4_000_000)]);
            block.create(FACTORY, 102, [(a, 1_000_000), (b, 250_000)]);
            block.create(FACTORY, 103, [(a, 3_000_000), (b, 750_000)]);
            block.create(FACTORY, 104, [(a, 2_000_000), (c, 2_000_000)]);
            block.create(FACTORY, 105, [(c, 0), (WRAPPED, 1_000_000)]);
            block.create(id(9), 106, [(a, 1_000_000), (b, 1_000_000)]);
            block.create(FACTORY, 107, [(c, 1_000_000), (b, 250_000)]);
        });
        let book = town.book(None);
        let found = book.paths(FACTORY, [a, b]);
        let mut pools: Vec<Vec<u128>> =
            found.paths.iter().map(|(_, pools)| pools.iter().map(|pool| pool.record.pool.id.tx).collect()).collect();
        pools[2..].sort_unstable();
        assert!(found.is_whole);
        assert_eq!(pools, [vec![103], vec![102], vec![100, 101], vec![104, 107]]);
        assert!(found.paths.iter().any(|(tokens, _)| *tokens == [a, c, b]));
        assert_eq!(book.paths(FACTORY, [WRAPPED, c]).paths.len(), 6, "not through the empty pool");
        assert!(book.paths(FACTORY, [a, id(8)]).paths.is_empty());
    }
}
