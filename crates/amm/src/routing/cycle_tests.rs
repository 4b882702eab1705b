//! The best cycle against trying every cycle with every input.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::hop::amount_out;
use super::*;

fn id(tx: u128) -> AlkaneId {
    AlkaneId { block: 2, tx }
}

const START: u128 = 0;

/// All ways of two or three trades from the start back to it, each with another pool; a trade is a pool and the index of
/// what goes in.
fn cycles(pools: &[RoutePool], hops_max: usize) -> Vec<Vec<(usize, usize)>> {
    fn extend(
        pools: &[RoutePool],
        at: AlkaneId,
        way: &mut Vec<(usize, usize)>,
        hops_max: usize,
        found: &mut Vec<Vec<(usize, usize)>>,
    ) {
        if at == id(START) && !way.is_empty() {
            found.push(way.clone());
            return;
        }
        let pools_left = if way.len() < hops_max { pools } else { &[] };
        for (number, pool) in pools_left.iter().enumerate() {
            for index in 0..2 {
                if pool.tokens[index] == at && way.iter().all(|(other, _)| *other != number) {
                    way.push((number, index));
                    extend(pools, pool.tokens[1 - index], way, hops_max, found);
                    way.pop();
                }
            }
        }
    }
    let mut found = Vec::new();
    extend(pools, id(START), &mut Vec::new(), hops_max, &mut found);
    found
}

fn profit(pools: &[RoutePool], way: &[(usize, usize)], amount: u128, fees: Fees) -> u128 {
    let out = way.iter().try_fold(amount, |amount, (number, index)| amount_out(&pools[*number], *index, amount, fees));
    out.unwrap_or(0).saturating_sub(amount)
}

/// The greatest profit over all cycles and all inputs below the reserve of the last pool.
fn brute_force(pools: &[RoutePool], fees: Fees, hops_max: usize) -> u128 {
    let mut best = 0;
    for way in cycles(pools, hops_max) {
        let (last, index) = way[way.len() - 1];
        for amount in 1..pools[last].reserves[1 - index] {
            best = best.max(profit(pools, &way, amount, fees));
        }
    }
    best
}

/// The trades follow from each other in the contract's integers, and give the stated amounts.
fn check(cycle: &Cycle, pools: &[RoutePool], fees: Fees, hops_max: usize) {
    assert!((2..=hops_max).contains(&cycle.hops.len()));
    let (first, last) = (&cycle.hops[0], &cycle.hops[cycle.hops.len() - 1]);
    assert_eq!((first.token_in, last.token_out), (id(START), id(START)));
    assert_eq!((first.amount_in, last.amount_out), (cycle.amount_in, cycle.amount_out));
    assert_eq!(cycle.profit, cycle.amount_out - cycle.amount_in);
    assert!(cycle.profit > 0 && cycle.profit_bound >= cycle.profit);
    for pair in cycle.hops.windows(2) {
        assert_eq!((pair[0].token_out, pair[0].amount_out), (pair[1].token_in, pair[1].amount_in));
    }
    for (number, hop) in cycle.hops.iter().enumerate() {
        assert!(cycle.hops[..number].iter().all(|other| other.pool != hop.pool));
        let pool = pools.iter().find(|pool| pool.id == hop.pool).unwrap();
        let index = usize::from(pool.tokens[0] != hop.token_in);
        assert_eq!([pool.tokens[index], pool.tokens[1 - index]], [hop.token_in, hop.token_out]);
        assert_eq!(amount_out(pool, index, hop.amount_in, fees), Some(hop.amount_out));
    }
}

/// Pools between four alkanes. Of the first, in which profit is counted, they hold at most `most`.
fn pools(most: u128) -> impl Strategy<Value = Vec<RoutePool>> {
    let of_start = 0..=most;
    let of_others = prop_oneof![0u128..60, 0u128..3_000, 0u128..10_000_000_000];
    let fee = prop_oneof![Just(10u128), Just(0), Just(5), 0u128..1_001];
    let pool = (0u128..4, 1u128..4, of_start, of_others.clone(), of_others, fee);
    prop::collection::vec(pool, 2..8).prop_map(|pools| {
        let made = pools.into_iter().zip(100..).map(|((a, apart, own, first, second, fee_per_1000), number)| {
            let mut tokens = [id(a), id((a + apart) % 4)];
            tokens.sort_unstable();
            let reserves = if tokens[0] == id(START) { [own, second] } else { [first, second] };
            RoutePool { id: id(number), tokens, reserves, fee_per_1000 }
        });
        made.collect()
    })
}

fn fees() -> impl Strategy<Value = Fees> {
    prop_oneof![2 => Just(Fees::Pool), 1 => Just(Fees::Bps(30)), 1 => (0u32..10_001).prop_map(Fees::Bps)]
}

/// `modest` cases, or `many` when `PARAFFIN_LONG` is set.
fn cases(modest: u32, many: u32) -> ProptestConfig {
    ProptestConfig::with_cases(if std::env::var_os("PARAFFIN_LONG").is_some() { many } else { modest })
}

proptest! {
    #![proptest_config(cases(10_000, 100_000))]

    #[test]
    fn the_best_cycle_is_what_trying_every_cycle_with_every_input_finds(
        pools in pools(120),
        fees in fees(),
        hops_max in 0usize..5,
    ) {
        let graph = Graph::new(pools.clone());
        let found = graph.best_cycle(id(START), fees, hops_max);
        let hops_max = hops_max.min(HOPS_MAX);
        prop_assert_eq!(found.as_ref().map_or(0, |cycle| cycle.profit), brute_force(&pools, fees, hops_max));
        if let Some(cycle) = found {
            check(&cycle, &pools, fees, hops_max);
            prop_assert_eq!(cycle.profit_bound, cycle.profit, "not proven");
        }
    }
}

proptest! {
    #![proptest_config(cases(200, 10_000))]

    #[test]
    fn it_is_so_for_reserves_of_some_thousands_too(pools in pools(6_000), fees in fees()) {
        let found = Graph::new(pools.clone()).best_cycle(id(START), fees, 3);
        prop_assert_eq!(found.as_ref().map_or(0, |cycle| cycle.profit), brute_force(&pools, fees, 3));
        prop_assert!(found.is_none_or(|cycle| cycle.profit_bound == cycle.profit));
    }
}

/// Pools of any size, the greatest included; in half of the graphs all hold about the same, as where prices nearly agree.
fn large_pools() -> impl Strategy<Value = Vec<RoutePool>> {
    let any_size =
        prop_oneof![1_000u128..10_000_000, 1_000_000u128..10u128.pow(12), 1u128 << 50..1 << 62, 1u128 << 100..1 << 124];
    let alike = (4u32..37).prop_flat_map(|digits| pool_list(10u128.pow(digits)..10u128.pow(digits) * 11 / 10));
    prop_oneof![pool_list(any_size), alike]
}

fn pool_list(reserve: impl Strategy<Value = u128> + Clone) -> impl Strategy<Value = Vec<RoutePool>> {
    let pool = (0u128..4, 1u128..4, reserve.clone(), reserve, prop_oneof![Just(10u128), Just(5)]);
    prop::collection::vec(pool, 2..8).prop_map(|pools| {
        let made = pools.into_iter().zip(100..).map(|((a, apart, first, second, fee_per_1000), number)| {
            let mut tokens = [id(a), id((a + apart) % 4)];
            tokens.sort_unstable();
            RoutePool { id: id(number), tokens, reserves: [first, second], fee_per_1000 }
        });
        made.collect()
    })
}

proptest! {
    #![proptest_config(cases(300, 20_000))]

    #[test]
    fn no_input_of_any_cycle_beats_the_bound(
        pools in large_pools(),
        fees in fees(),
        inputs in prop::collection::vec((0u32..124, any::<u128>()), 20),
    ) {
        let found = Graph::new(pools.clone()).best_cycle(id(START), fees, 3);
        if let Some(cycle) = &found {
            check(cycle, &pools, fees, 3);
        }
        let bound = found.as_ref().map_or(0, |cycle| cycle.profit_bound);
        let best = found.as_ref().map_or(1, |cycle| cycle.amount_in);
        let tried = inputs.iter().flat_map(|(bits, random)| {
            let spread = random % (1 << bits);
            [spread, best.saturating_sub(spread), best.saturating_add(spread)]
        });
        for amount in tried.filter(|amount| *amount > 0) {
            for way in cycles(&pools, 3) {
                prop_assert!(profit(&pools, &way, amount, fees) <= bound, "{way:?} with {amount}");
            }
        }
    }
}

#[test]
fn nearly_every_best_cycle_is_proven_to_be_the_best() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut found, mut proven) = (0, 0);
    for _ in 0..500 {
        let pools = large_pools().new_tree(&mut runner).unwrap().current();
        if let Some(cycle) = Graph::new(pools).best_cycle(id(START), Fees::Pool, 3) {
            found += 1;
            proven += usize::from(cycle.profit_bound == cycle.profit);
        }
    }
    assert!(found >= 100, "{found}");
    assert!(proven * 100 >= found * 95, "{proven} of {found}");
}
