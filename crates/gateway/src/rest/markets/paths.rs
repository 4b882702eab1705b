//! The ways from one alkane to another through at most three pools of a factory.

use std::cmp::Reverse;
use std::collections::HashMap;

use paraffin_amm::{BookPool, MarketBook};
use paraffin_primitives::AlkaneId;

/// Ways that are found at most.
const WAYS_MAX: usize = 1_000;
/// Pools that are looked at before a search ends with what it has.
const STEPS_MAX: usize = 200_000;

/// Alkanes on a way, and the pools between them.
pub(super) type Way<'b> = (Vec<AlkaneId>, Vec<&'b BookPool>);

/// What a search found.
pub(super) struct Paths<'b> {
    /// The shortest first, among those the one whose least pool is worth most; no alkane twice on one.
    pub(super) ways: Vec<Way<'b>>,
    /// Whether there are no others.
    pub(super) is_whole: bool,
}

/// A pool seen from one of its alkanes.
struct Step<'b> {
    to: AlkaneId,
    pool: &'b BookPool,
}

/// The ways between two alkanes. Pools that lack one of theirs lead nowhere.
pub(super) fn paths(book: &MarketBook, factory: AlkaneId, [start, finish]: [AlkaneId; 2]) -> Paths<'_> {
    let mut search = Search { ways: Vec::new(), steps: 0, is_whole: true };
    let steps = |from: AlkaneId| -> Vec<Step<'_>> {
        let mut steps: Vec<Step<'_>> = book
            .pools_with(from)
            .filter(|pool| pool.record.pool.factory == factory && !pool.state.reserves.contains(&0))
            .map(|pool| {
                let [first, second] = pool.record.pool.tokens;
                Step { to: if first == from { second } else { first }, pool }
            })
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
    let Search { mut ways, is_whole, .. } = search;
    ways.sort_by_cached_key(|(_, pools)| {
        let least = pools.iter().map(|pool| pool.worth.tvl).min();
        (pools.len(), Reverse(least), pools.iter().map(|pool| pool.record.pool.id).collect::<Vec<_>>())
    });
    Paths { ways, is_whole }
}

/// A search that is bounded.
struct Search<'b> {
    ways: Vec<Way<'b>>,
    steps: usize,
    is_whole: bool,
}

impl<'b> Search<'b> {
    fn take(&mut self, way: Way<'b>) {
        if self.ways.len() < WAYS_MAX {
            self.ways.push(way);
        } else {
            self.is_whole = false;
        }
        self.step();
    }

    fn step(&mut self) {
        self.steps += 1;
    }

    fn goes_on(&mut self) -> bool {
        let goes_on = self.ways.len() < WAYS_MAX && self.steps < STEPS_MAX;
        self.is_whole &= goes_on;
        goes_on
    }
}
