//! Prices of alkanes in satoshis (docs/markets.md, "Prices of alkanes").
//!
//! A route leads from an alkane through at most [`ROUTE_POOLS_MAX`] pools to wrapped bitcoin. Its price is the product of the
//! pools' reserve ratios, its depth the least of what the pools hold on their far side, in satoshis at the prices of the
//! route itself. Behind its first pool a route follows the deepest way, so an alkane has as many routes as pools.
//!
//! Fixed point: satoshis for one base unit times 10^48, below 2^288 (2^128 satoshis for one unit), so that a product with a
//! reserve fits 512 bits.

use std::collections::HashMap;

use paraffin_primitives::AlkaneId;
use ruint::UintTryFrom as _;
use ruint::aliases::{U256, U512};

use super::{BookRules, UnitPrice};
use crate::PoolState;

/// Pools on the longest route to wrapped bitcoin.
pub const ROUTE_POOLS_MAX: usize = 3;

/// Bits of the greatest price inside of this file.
const PRICE_BITS_MAX: usize = 288;

/// 10^48: one satoshi for one base unit.
const ONE: U512 =
    U512::from_limbs([0x7f41_0000_0000_0000, 0x0e43_95d6_9670_b12b, 0x0000_0000_af29_8d05, 0, 0, 0, 0, 0]);

/// The price of an alkane and its depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Priced {
    /// Satoshis for one base unit.
    pub(super) price: UnitPrice,
    /// Depth of the routes that make the price, satoshis, every pool counted once.
    pub(super) depth: u128,
}

/// A pool that may set prices.
struct Source {
    /// Numbers of its alkanes.
    tokens: [usize; 2],
    reserves: [u128; 2],
}

/// A route, or the rest of one.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// Satoshis for one base unit, times 10^48.
    price: U512,
    /// Satoshis.
    depth: u128,
    /// Where its first pool leads.
    next: usize,
    /// Its pools and what each holds on its far side, satoshis; the first pool first.
    pools: [(u32, u128); ROUTE_POOLS_MAX],
    length: usize,
}

impl Way {
    /// Nothing: wrapped bitcoin itself.
    fn end() -> Self {
        Self { price: ONE, depth: u128::MAX, next: WRAPPED, pools: [(0, 0); ROUTE_POOLS_MAX], length: 0 }
    }

    /// The route that enters a pool by its alkane at `index` and goes on along this; `None` when it is worth nothing.
    fn behind(&self, number: u32, source: &Source, index: usize) -> Option<Self> {
        let (here, there) = (source.reserves[index], source.reserves[1 - index]);
        if here == 0 || there == 0 || self.length == ROUTE_POOLS_MAX {
            return None;
        }
        // At most 288 + 128 bits.
        let worth = self.price * U512::from(there);
        let price = worth / U512::from(here);
        let held = u128::try_from(worth / ONE).unwrap_or(u128::MAX);
        if price.is_zero() || price.bit_len() > PRICE_BITS_MAX || held == 0 {
            return None;
        }
        let mut pools = self.pools;
        pools.copy_within(..ROUTE_POOLS_MAX - 1, 1);
        pools[0] = (number, held);
        Some(Self {
            price,
            depth: self.depth.min(held),
            next: source.tokens[1 - index],
            pools,
            length: self.length + 1,
        })
    }

    /// Deeper is better, then shorter, then along lower pools.
    fn is_better(&self, other: &Self) -> bool {
        let numbers = |way: &Self| way.pools.map(|(number, _)| number);
        (other.depth, self.length, numbers(self)) < (self.depth, other.length, numbers(other))
    }
}

/// Number of wrapped bitcoin.
const WRAPPED: usize = 0;

/// The deepest ways of an alkane of at most two pools: the best, and the best of those that lead elsewhere at first, so that
/// there is one that does not lead through a given alkane.
type Ways = [Option<Way>; 2];

fn offer(ways: &mut Ways, way: Way) {
    match ways {
        [Some(first), second] if first.next == way.next => {
            if way.is_better(first) {
                *first = way;
            }
            let _ = second;
        }
        [Some(first), second] if way.is_better(first) => {
            *second = Some(*first);
            *first = way;
        }
        [Some(_), Some(second)] => {
            if way.is_better(second) {
                *second = way;
            }
        }
        [Some(_), second] => *second = Some(way),
        [first, _] => *first = Some(way),
    }
}

/// Prices of all alkanes that have one. Pools of other factories than the trusted ones are passed over.
pub(super) fn prices<'p>(
    pools: impl Iterator<Item = (&'p PoolState, [u128; 2])>,
    rules: &BookRules,
) -> HashMap<AlkaneId, Priced> {
    let mut numbers: HashMap<AlkaneId, usize> = HashMap::from([(rules.wrapped_bitcoin, WRAPPED)]);
    let mut trusted: Vec<_> =
        pools.filter(|(state, _)| rules.trusted_factories.contains(&state.pool.factory)).collect();
    trusted.sort_unstable_by_key(|(state, _)| state.pool.id);
    let sources: Vec<Source> = trusted
        .into_iter()
        .map(|(state, reserves)| {
            let tokens = state.pool.tokens.map(|token| {
                let next = numbers.len();
                *numbers.entry(token).or_insert(next)
            });
            Source { tokens, reserves }
        })
        .collect();
    let routes = routes(&sources, numbers.len(), rules);
    let mut prices = HashMap::from([(rules.wrapped_bitcoin, Priced { price: UnitPrice::ONE, depth: u128::MAX })]);
    for (token, number) in numbers {
        if let Some(priced) = weigh(&routes[number], rules) {
            prices.insert(token, priced);
        }
    }
    prices
}

/// The routes of every alkane, none below the depth that counts.
fn routes(sources: &[Source], tokens: usize, rules: &BookRules) -> Vec<Vec<Way>> {
    let entries = || (0u32..).zip(sources).flat_map(|(number, source)| [(number, source, 0), (number, source, 1)]);
    let counts = |way: &Way| way.depth >= rules.depth_min;
    let mut direct: Vec<Ways> = vec![[None; 2]; tokens];
    for (number, source, index) in entries().filter(|(_, source, index)| source.tokens[1 - index] == WRAPPED) {
        if let Some(way) = Way::end().behind(number, source, index).filter(counts) {
            offer(&mut direct[source.tokens[index]], way);
        }
    }
    let mut ways = direct.clone();
    for (number, source, index) in entries() {
        let [here, there] = [source.tokens[index], source.tokens[1 - index]];
        if here == WRAPPED || there == WRAPPED {
            continue;
        }
        let way = direct[there][0].and_then(|rest| rest.behind(number, source, index));
        if let Some(way) = way.filter(counts) {
            offer(&mut ways[here], way);
        }
    }
    let mut routes = vec![Vec::new(); tokens];
    for (number, source, index) in entries() {
        let [here, there] = [source.tokens[index], source.tokens[1 - index]];
        if here == WRAPPED {
            continue;
        }
        let rest = if there == WRAPPED {
            Some(Way::end())
        } else {
            ways[there].into_iter().flatten().find(|rest| rest.next != here)
        };
        routes[here].extend(rest.and_then(|rest| rest.behind(number, source, index)).filter(counts));
    }
    routes
}

/// The price that routes make together; its depth is at least that which counts.
fn weigh(routes: &[Way], rules: &BookRules) -> Option<Priced> {
    let deepest = routes.iter().map(|way| way.depth).max()?;
    let is_dust = |depth: u128| {
        let is_small_beside =
            U256::from(depth) * U256::from(1_000) < U256::from(deepest) * U256::from(rules.share_min_per_1000);
        depth < rules.depth_min || is_small_beside
    };
    let mut routes: Vec<&Way> = routes.iter().filter(|way| !is_dust(way.depth)).collect();
    routes.sort_unstable_by(|a, b| if a.is_better(b) { std::cmp::Ordering::Less } else { std::cmp::Ordering::Greater });
    if let [only] = routes[..] {
        return priced(only.price, U256::from(only.depth));
    }
    // Reserves of a pool count once: the deeper route takes them from those behind it.
    let mut left: HashMap<u32, u128> = HashMap::new();
    let mut weighed: Vec<(U512, u128)> = Vec::new();
    for way in routes {
        let pools = &way.pools[..way.length];
        let weight = pools.iter().map(|(pool, held)| *left.entry(*pool).or_insert(*held)).min().unwrap_or_default();
        // A route of which the deeper ones left dust is dust: it would decide between two that disagree.
        if weight == 0 || is_dust(weight) {
            continue;
        }
        for (pool, _) in pools {
            left.entry(*pool).and_modify(|left| *left -= weight);
        }
        weighed.push((way.price, weight));
    }
    weighed.sort_unstable();
    let total = |weighed: &[(U512, u128)]| {
        weighed.iter().fold(U256::ZERO, |sum, (_, weight)| sum.saturating_add(U256::from(*weight)))
    };
    let whole = total(&weighed);
    let mut below = U256::ZERO;
    let (median, _) = *weighed.iter().find(|(_, weight)| {
        below += U256::from(*weight);
        below << 1 >= whole
    })?;
    weighed.retain(|(price, _)| *price <= median << 1 && *price << 1 >= median);
    let weights = total(&weighed);
    // Fewer than 2^64 routes: at most 288 + 128 + 64 bits.
    let sum = weighed.iter().fold(U512::ZERO, |sum, (price, weight)| sum + *price * U512::from(*weight));
    priced(sum.checked_div(U512::from(weights))?, weights)
}

/// A price out of the fixed point of this file, and its depth.
fn priced(price: U512, depth: U256) -> Option<Priced> {
    let scaled = U256::uint_try_from(price / U512::from(UnitPrice::ONE.scaled())).ok()?;
    Some(Priced { price: UnitPrice::from_scaled(scaled)?, depth: u128::try_from(depth).unwrap_or(u128::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_the_square_of_that_of_prices() {
        assert_eq!(ONE, U512::from(UnitPrice::ONE.scaled()) * U512::from(UnitPrice::ONE.scaled()));
        assert!(ONE.bit_len() + 128 <= PRICE_BITS_MAX);
    }
}
