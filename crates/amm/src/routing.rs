//! The best way from one alkane to another through pools.
//!
//! A route names no alkane twice. Within a hop more in never gives less out, so the best route of n hops to an alkane is made
//! of the best routes of n - 1 hops; up to three hops no other condition couples them, and one pass for each hop over the
//! pools between reached alkanes and those that lead to the end finds the same routes as trying all of them.

mod cycle;
#[cfg(test)]
mod cycle_tests;
mod formula;
mod hop;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use paraffin_primitives::AlkaneId;

pub use cycle::Cycle;
pub use formula::{Formula, FormulaPool};
pub use hop::{Fees, HopFee, amount_in, amount_out};

/// Greatest length of a route.
pub const HOPS_MAX: usize = 3;

/// A pool as routes see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutePool {
    /// The pool.
    pub id: AlkaneId,
    /// Its alkanes.
    pub tokens: [AlkaneId; 2],
    /// Reserves, base units.
    pub reserves: [u128; 2],
    /// Its own fee in parts of 1,000.
    pub fee_per_1000: u128,
}

/// One trade of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// The pool.
    pub pool: AlkaneId,
    /// The alkane that is sold.
    pub token_in: AlkaneId,
    /// The alkane that is bought.
    pub token_out: AlkaneId,
    /// Base units that go in.
    pub amount_in: u128,
    /// Base units that come out.
    pub amount_out: u128,
    /// The fee of the calculation.
    pub fee: HopFee,
}

/// A way through pools, first trade first; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Its trades.
    pub hops: Vec<Hop>,
}

impl Route {
    /// Base units that go in.
    pub fn amount_in(&self) -> u128 {
        self.hops.first().map_or(0, |hop| hop.amount_in)
    }

    /// Base units that come out.
    pub fn amount_out(&self) -> u128 {
        self.hops.last().map_or(0, |hop| hop.amount_out)
    }
}

/// Pools to route through. For routes that one call of a factory can execute, those of that factory alone.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// By id.
    edges: Vec<Edge>,
    numbers: HashMap<AlkaneId, usize>,
    /// The edges of each alkane.
    touching: Vec<Vec<usize>>,
}

/// A pool between two numbered alkanes.
#[derive(Debug, Clone)]
struct Edge {
    pool: RoutePool,
    ends: [usize; 2],
    /// Replaces the constant product.
    formula: Option<std::sync::Arc<dyn Formula>>,
}

impl Edge {
    /// Index of an alkane among the two of the pool.
    fn index(&self, end: usize) -> usize {
        usize::from(self.ends[0] != end)
    }

    /// The alkane on the other side.
    fn other(&self, end: usize) -> usize {
        self.ends[1 - self.index(end)]
    }

    fn amount_out(&self, index: usize, amount: u128, fees: Fees) -> Option<u128> {
        match &self.formula {
            None => amount_out(&self.pool, index, amount, fees),
            Some(formula) => formula.amount_out(index, amount).filter(|out| *out > 0),
        }
    }

    fn amount_in(&self, index: usize, wanted: u128, fees: Fees) -> Option<u128> {
        match &self.formula {
            None => amount_in(&self.pool, index, wanted, fees),
            Some(formula) => formula.amount_in(index, wanted),
        }
    }

    /// The trade that enters by the alkane at `index`.
    fn hop(&self, index: usize, amount_in: u128, amount_out: u128, fees: Fees) -> Hop {
        let [token_in, token_out] = [self.pool.tokens[index], self.pool.tokens[1 - index]];
        let fee = if self.formula.is_some() { HopFee::Formula } else { fees.of(&self.pool) };
        Hop { pool: self.pool.id, token_in, token_out, amount_in, amount_out, fee }
    }
}

/// How an alkane is reached: the amount there, by which edge, and the amount at its other end.
#[derive(Debug, Clone, Copy)]
struct Reached {
    amount: u128,
    edge: usize,
    before: u128,
}

/// The best amounts after a fixed number of trades, by number of the alkane.
type Layer = HashMap<usize, Reached>;

/// From which end a route is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From the input; more is better.
    Forwards,
    /// From the output; less is better.
    Backwards,
}

impl Direction {
    fn is_better(self, amount: u128, other: u128) -> bool {
        match self {
            Self::Forwards => amount > other,
            Self::Backwards => amount < other,
        }
    }

    /// The amount behind a pool for `amount` of its alkane at `index`.
    fn step(self, edge: &Edge, index: usize, amount: u128, fees: Fees) -> Option<u128> {
        match self {
            Self::Forwards => edge.amount_out(index, amount, fees),
            Self::Backwards => edge.amount_in(1 - index, amount, fees),
        }
    }
}

impl Graph {
    /// A graph of pools; their order decides nothing. An alkane of which pools hold more than 2^128 - 1 together has no honest
    /// supply: what one pool gives of it may not fit the next, so its pools are left out.
    pub fn new(pools: Vec<RoutePool>) -> Self {
        Self::with_formulas(pools, Vec::new())
    }

    /// [`Self::new`] with pools that trade by formulas of their own beside the others.
    pub fn with_formulas(pools: Vec<RoutePool>, others: Vec<FormulaPool>) -> Self {
        let plain = pools.into_iter().map(|pool| (pool, None));
        let others = others.into_iter().map(|FormulaPool { id, tokens, reserves, formula }| {
            (RoutePool { id, tokens, reserves, fee_per_1000: 0 }, Some(formula))
        });
        let mut pools: Vec<_> = plain.chain(others).filter(|(pool, _)| pool.tokens[0] != pool.tokens[1]).collect();
        let mut held: HashMap<AlkaneId, Option<u128>> = HashMap::new();
        for (token, reserve) in pools.iter().flat_map(|(pool, _)| pool.tokens.into_iter().zip(pool.reserves)) {
            let sum = held.entry(token).or_insert(Some(0));
            *sum = sum.and_then(|sum| sum.checked_add(reserve));
        }
        pools.retain(|(pool, _)| pool.tokens.iter().all(|token| held.get(token).is_some_and(Option::is_some)));
        // Between equals the pool with the lower id wins.
        pools.sort_by_key(|(pool, _)| pool.id);
        let mut graph = Self::default();
        for (number, (pool, formula)) in pools.into_iter().enumerate() {
            let ends = pool.tokens.map(|token| {
                let next = graph.numbers.len();
                *graph.numbers.entry(token).or_insert(next)
            });
            graph.touching.resize_with(graph.numbers.len(), Vec::new);
            for end in ends {
                graph.touching[end].push(number);
            }
            graph.edges.push(Edge { pool, ends, formula });
        }
        graph
    }

    /// Whether every pool lacks one of its alkanes, so that nothing can be traded.
    pub fn is_empty(&self) -> bool {
        self.edges.iter().all(|edge| edge.pool.reserves.contains(&0))
    }

    /// The route that gives most for `amount`, the shorter one between equals; also for all of an amount that is at hand
    /// ("implicit"). `None` when nothing would come out. `hops_max` is cut at [`HOPS_MAX`].
    pub fn exact_in(&self, from: AlkaneId, to: AlkaneId, amount: u128, fees: Fees, hops_max: usize) -> Option<Route> {
        let mut hops = self.search(Direction::Forwards, [from, to], amount, fees, hops_max)?;
        hops.reverse();
        Some(Route { hops })
    }

    /// The route that costs least for `amount` to come out, the shorter one between equals. `None` when nothing suffices.
    pub fn exact_out(&self, from: AlkaneId, to: AlkaneId, amount: u128, fees: Fees, hops_max: usize) -> Option<Route> {
        let hops = self.search(Direction::Backwards, [to, from], amount, fees, hops_max)?;
        Some(Route { hops })
    }

    /// The trades between two alkanes, the last one reached first.
    fn search(
        &self,
        direction: Direction,
        [start, finish]: [AlkaneId; 2],
        amount: u128,
        fees: Fees,
        hops_max: usize,
    ) -> Option<Vec<Hop>> {
        let (start, finish) = (*self.numbers.get(&start)?, *self.numbers.get(&finish)?);
        let hops_max = hops_max.min(HOPS_MAX);
        if start == finish || amount == 0 || hops_max == 0 {
            return None;
        }
        // By one trade: everything next to the start.
        let mut layers = vec![Layer::new()];
        for number in &self.touching[start] {
            self.reach(&mut layers[0], direction, *number, start, amount, fees);
        }
        for length in 2..=hops_max {
            let known = &layers[length - 2];
            // Worth reaching are the finish and, with one more trade to come, what lies next to it.
            let mut ends = vec![finish];
            if length < hops_max {
                ends.extend(self.neighbours(finish).filter(|end| *end != start));
                ends.sort_unstable();
                ends.dedup();
            }
            let mut layer = Layer::new();
            let degree = |end: &usize| self.touching[*end].len();
            if ends.iter().map(degree).sum::<usize>() <= known.keys().map(degree).sum() {
                for (there, number) in
                    ends.iter().flat_map(|end| self.touching[*end].iter().map(move |number| (*end, *number)))
                {
                    let here = self.edges[number].other(there);
                    if let Some(reached) = known.get(&here).filter(|_| here != finish) {
                        self.reach(&mut layer, direction, number, here, reached.amount, fees);
                    }
                }
            } else {
                for (here, reached) in known.iter().filter(|(here, _)| **here != finish) {
                    for number in
                        self.touching[*here].iter().filter(|number| self.edges[**number].other(*here) != start)
                    {
                        self.reach(&mut layer, direction, *number, *here, reached.amount, fees);
                    }
                }
            }
            layers.push(layer);
        }
        self.way(&layers, direction, finish, fees)
    }

    /// Goes through a pool from `here`, where `before` is reached, and stores better amounts than the present ones: between
    /// equals the lower pool.
    fn reach(&self, layer: &mut Layer, direction: Direction, number: usize, here: usize, before: u128, fees: Fees) {
        let edge = &self.edges[number];
        let Some(amount) = direction.step(edge, edge.index(here), before, fees) else { return };
        let found = Reached { amount, edge: number, before };
        let known = layer.entry(edge.other(here)).or_insert(found);
        if direction.is_better(amount, known.amount) || (amount == known.amount && number < known.edge) {
            *known = found;
        }
    }

    /// The best of the ways that end at the finish, the shorter one between equals; its last trade first.
    fn way(&self, layers: &[Layer], direction: Direction, finish: usize, fees: Fees) -> Option<Vec<Hop>> {
        let mut best: Option<(u128, usize)> = None;
        for (number, layer) in layers.iter().enumerate() {
            if let Some(reached) = layer.get(&finish)
                && best.is_none_or(|(other, _)| direction.is_better(reached.amount, other))
            {
                best = Some((reached.amount, number));
            }
        }
        let (_, last) = best?;
        let mut at = finish;
        let hops = layers[..=last].iter().rev().map(|layer| {
            let Reached { amount, edge, before } = *layer.get(&at)?;
            let edge = &self.edges[edge];
            at = edge.other(at);
            Some(match direction {
                Direction::Forwards => edge.hop(edge.index(at), before, amount, fees),
                Direction::Backwards => edge.hop(1 - edge.index(at), amount, before, fees),
            })
        });
        hops.collect()
    }

    fn neighbours(&self, end: usize) -> impl Iterator<Item = usize> {
        self.touching[end].iter().map(move |number| self.edges[*number].other(end))
    }
}
