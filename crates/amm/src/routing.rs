//! The best way from one alkane to another through pools.
//!
//! A route names no alkane twice. Within a hop more in never gives less out, so the best route of n hops to an alkane is made
//! of the best routes of n - 1 hops; up to three hops no other condition couples them, and one pass over the pools for each
//! hop finds what trying every route would.

mod hop;

use std::collections::HashMap;

use paraffin_primitives::AlkaneId;

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
    /// What it holds of them, base units.
    pub reserves: [u128; 2],
    /// Its own fee in parts of 1,000.
    pub fee_per_1000: u128,
}

/// One trade of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    /// With which pool.
    pub pool: AlkaneId,
    /// What goes in.
    pub token_in: AlkaneId,
    /// What comes out.
    pub token_out: AlkaneId,
    /// Base units that go in.
    pub amount_in: u128,
    /// Base units that come out.
    pub amount_out: u128,
    /// The fee that was reckoned with.
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
    pools: Vec<RoutePool>,
}

/// How an alkane is reached: the amount there, and the trade that leads to it.
type Reached = HashMap<AlkaneId, (u128, Hop)>;

/// From which end a route is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From what goes in; more is better.
    Forwards,
    /// From what comes out; less is better.
    Backwards,
}

impl Direction {
    fn is_better(self, amount: u128, other: u128) -> bool {
        match self {
            Self::Forwards => amount > other,
            Self::Backwards => amount < other,
        }
    }

    /// The trade of a pool when `amount` of the alkane at `place` is reached, and the amount that is reached by it.
    fn step(self, pool: &RoutePool, place: usize, amount: u128, fees: Fees) -> Option<(u128, Hop)> {
        let (here, there) = (pool.tokens[place], pool.tokens[1 - place]);
        let fee = fees.of(pool);
        match self {
            Self::Forwards => {
                let out = amount_out(pool, place, amount, fees)?;
                let hop =
                    Hop { pool: pool.id, token_in: here, token_out: there, amount_in: amount, amount_out: out, fee };
                Some((out, hop))
            }
            Self::Backwards => {
                let needed = amount_in(pool, 1 - place, amount, fees)?;
                let hop =
                    Hop { pool: pool.id, token_in: there, token_out: here, amount_in: needed, amount_out: amount, fee };
                Some((needed, hop))
            }
        }
    }
}

impl Graph {
    /// A graph of pools; their order decides nothing. An alkane of which pools hold more than 2^128 - 1 together has no honest
    /// supply: what one pool gives of it may not fit the next, so its pools are left out.
    pub fn new(mut pools: Vec<RoutePool>) -> Self {
        let mut held: HashMap<AlkaneId, Option<u128>> = HashMap::new();
        for (token, reserve) in pools.iter().flat_map(|pool| pool.tokens.into_iter().zip(pool.reserves)) {
            let sum = held.entry(token).or_insert(Some(0));
            *sum = sum.and_then(|sum| sum.checked_add(reserve));
        }
        pools.retain(|pool| pool.tokens.iter().all(|token| held.get(token).is_some_and(Option::is_some)));
        // Between equals the pool with the lower id wins.
        pools.sort_unstable_by_key(|pool| pool.id);
        Self { pools }
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
        if start == finish || amount == 0 {
            return None;
        }
        // What is reached by exactly so many trades.
        let mut layers: Vec<Reached> = Vec::new();
        let mut best: Option<(u128, usize)> = None;
        for length in 1..=hops_max.min(HOPS_MAX) {
            let mut reached = Reached::new();
            for (pool, place) in self.pools.iter().flat_map(|pool| [(pool, 0), (pool, 1)]) {
                let (here, there) = (pool.tokens[place], pool.tokens[1 - place]);
                let amount = match layers.last() {
                    None => (here == start).then_some(amount),
                    Some(_) if here == finish => None,
                    Some(layer) => layer.get(&here).map(|(amount, _)| *amount),
                };
                let Some(amount) = amount.filter(|_| there != start && there != here) else { continue };
                let Some(step) = direction.step(pool, place, amount, fees) else { continue };
                if reached.get(&there).is_none_or(|(other, _)| direction.is_better(step.0, *other)) {
                    reached.insert(there, step);
                }
            }
            if let Some((amount, _)) = reached.get(&finish)
                && best.is_none_or(|(other, _)| direction.is_better(*amount, other))
            {
                best = Some((*amount, length));
            }
            layers.push(reached);
        }
        let (_, length) = best?;
        let mut at = finish;
        let hops = layers[..length].iter().rev().map(|layer| {
            let (_, hop) = layer.get(&at)?;
            at = if hop.token_out == at { hop.token_in } else { hop.token_out };
            Some(*hop)
        });
        hops.collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(tx: u128) -> AlkaneId {
        AlkaneId { block: 2, tx }
    }

    /// The best amount over every route, by trying each.
    fn brute_force(
        pools: &[RoutePool],
        path: &mut Vec<AlkaneId>,
        to: AlkaneId,
        amount: u128,
        fees: Fees,
        left: usize,
    ) -> u128 {
        let here = path[path.len() - 1];
        if here == to {
            return amount;
        }
        let mut best = 0;
        for pool in pools.iter().filter(|_| left > 0) {
            for place in 0..2 {
                let there = pool.tokens[1 - place];
                if pool.tokens[place] == here && !path.contains(&there) {
                    let Some(out) = amount_out(pool, place, amount, fees) else { continue };
                    path.push(there);
                    best = best.max(brute_force(pools, path, to, out, fees, left - 1));
                    path.pop();
                }
            }
        }
        best
    }

    /// The least amount over every route, by trying each from its end.
    fn brute_force_out(
        pools: &[RoutePool],
        path: &mut Vec<AlkaneId>,
        from: AlkaneId,
        wanted: u128,
        fees: Fees,
        left: usize,
    ) -> Option<u128> {
        let here = path[path.len() - 1];
        if here == from {
            return Some(wanted);
        }
        let mut best: Option<u128> = None;
        for pool in pools.iter().filter(|_| left > 0) {
            for place in 0..2 {
                let there = pool.tokens[1 - place];
                if pool.tokens[place] == here && !path.contains(&there) {
                    let Some(needed) = amount_in(pool, 1 - place, wanted, fees) else { continue };
                    path.push(there);
                    let found = brute_force_out(pools, path, from, needed, fees, left - 1);
                    best = [best, found].into_iter().flatten().min();
                    path.pop();
                }
            }
        }
        best
    }

    fn check_chain(route: &Route, pools: &[RoutePool], from: AlkaneId, to: AlkaneId, fees: Fees) {
        assert_eq!((route.hops[0].token_in, route.hops[route.hops.len() - 1].token_out), (from, to));
        for pair in route.hops.windows(2) {
            assert_eq!((pair[0].token_out, pair[0].amount_out), (pair[1].token_in, pair[1].amount_in));
        }
        for hop in &route.hops {
            let pool = pools.iter().find(|pool| pool.id == hop.pool).unwrap();
            let place = usize::from(pool.tokens[0] != hop.token_in);
            assert_eq!((pool.tokens[place], pool.tokens[1 - place]), (hop.token_in, hop.token_out));
            assert!(amount_out(pool, place, hop.amount_in, fees).unwrap() >= hop.amount_out);
        }
    }

    fn reserve() -> impl Strategy<Value = u128> {
        prop_oneof![1 => Just(0u128), 4 => 1u128..200, 8 => 1_000u128..10_000_000, 1 => any::<u128>(), 1 => any::<u128>().prop_map(|reserve| reserve / 8)]
    }

    fn graph() -> impl Strategy<Value = Vec<RoutePool>> {
        let pool = (0u128..5, 1u128..5, reserve(), reserve(), prop_oneof![Just(10u128), Just(0), 0u128..1_001]);
        prop::collection::vec(pool, 0..9).prop_map(|pools| {
            let numbered = pools.into_iter().zip(100..);
            numbered
                .map(|((a, apart, first, second, fee_per_1000), number)| {
                    let mut tokens = [id(a), id((a + apart) % 5)];
                    tokens.sort_unstable();
                    RoutePool { id: id(number), tokens, reserves: [first, second], fee_per_1000 }
                })
                .collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100_000))]

        #[test]
        fn the_best_route_is_what_trying_every_route_finds(
            pools in graph(),
            amount in prop_oneof![1u128..100_000, any::<u128>()],
            fees in prop_oneof![Just(Fees::Pool), Just(Fees::Bps(30)), (0u32..10_001).prop_map(Fees::Bps)],
            hops_max in 0usize..4,
        ) {
            let (from, to) = (id(0), id(1));
            let graph = Graph::new(pools.clone());
            let fits = |token: AlkaneId| {
                let held = pools.iter().flat_map(|pool| pool.tokens.into_iter().zip(pool.reserves));
                held.filter(|(other, _)| *other == token).try_fold(0u128, |sum, (_, more)| sum.checked_add(more)).is_some()
            };
            let pools: Vec<RoutePool> = pools.iter().copied().filter(|pool| pool.tokens.into_iter().all(fits)).collect();
            let route = graph.exact_in(from, to, amount, fees, hops_max);
            let best = if amount == 0 { 0 } else { brute_force(&pools, &mut vec![from], to, amount, fees, hops_max) };
            prop_assert_eq!(route.as_ref().map_or(0, Route::amount_out), best);
            if let Some(route) = route {
                prop_assert_eq!(route.amount_in(), amount);
                check_chain(&route, &pools, from, to, fees);
            }
            let route = graph.exact_out(from, to, amount, fees, hops_max);
            let best = brute_force_out(&pools, &mut vec![to], from, amount, fees, hops_max).filter(|_| amount > 0);
            prop_assert_eq!(route.as_ref().map(Route::amount_in), best);
            if let Some(route) = route {
                prop_assert_eq!(route.amount_out(), amount);
                check_chain(&route, &pools, from, to, fees);
            }
        }
    }

    #[test]
    fn an_alkane_without_an_honest_supply_loses_its_pools_and_takes_no_other_with_it() {
        let pool =
            |number, a, b, reserves| RoutePool { id: id(number), tokens: [id(a), id(b)], reserves, fee_per_1000: 10 };
        let large = u128::MAX / 2 + 1;
        // Through 2 the price would be better, but what the first pool gives does not fit the second.
        let pools = vec![pool(11, 0, 1, [1_000; 2]), pool(12, 0, 2, [10, large]), pool(13, 1, 2, [1 << 20, large])];
        let graph = Graph::new(pools.clone());
        let route = graph.exact_in(id(0), id(1), 100, Fees::Pool, 3).unwrap();
        assert_eq!(route.hops.iter().map(|hop| hop.pool).collect::<Vec<_>>(), [id(11)]);
        let honest: Vec<RoutePool> = pools
            .into_iter()
            .map(|pool| RoutePool { reserves: pool.reserves.map(|held| held.min(1 << 120)), ..pool })
            .collect();
        assert_eq!(Graph::new(honest).exact_in(id(0), id(1), 100, Fees::Pool, 3).unwrap().hops.len(), 2);
    }

    #[test]
    fn nothing_leads_from_an_alkane_to_itself_and_equal_routes_are_decided_by_length_then_id() {
        let pool = |number, a, b| RoutePool {
            id: id(number),
            tokens: [id(a), id(b)],
            reserves: [1 << 40; 2],
            fee_per_1000: 0,
        };
        let graph = Graph::new(vec![pool(13, 0, 2), pool(14, 1, 2), pool(12, 0, 1), pool(11, 0, 1)]);
        assert_eq!(graph.exact_in(id(0), id(0), 5, Fees::Pool, 3), None);
        assert_eq!(graph.exact_in(id(0), id(7), 5, Fees::Pool, 3), None);
        let route = graph.exact_in(id(0), id(1), 1_000, Fees::Pool, 3).unwrap();
        assert_eq!(route.hops.iter().map(|hop| hop.pool).collect::<Vec<_>>(), [id(11)]);
    }
}
