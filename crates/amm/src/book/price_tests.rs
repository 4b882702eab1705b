//! Who can move a price, and with what.

use std::collections::HashMap;

use paraffin_primitives::AlkaneId;
use proptest::prelude::*;
use ruint::aliases::U256;

use super::fake::{FACTORY, WRAPPED, id};
use super::prices::{Priced, prices};
use super::{BookRules, UnitPrice, worth};
use crate::{PoolIdentity, PoolState, Volumes};

const BITCOIN: u128 = 100_000_000;
/// An honest alkane and another.
const TOKEN: AlkaneId = id(1);
const OTHER: AlkaneId = id(2);

/// Alkanes of an attacker, who makes as many as he likes.
fn fake(number: u128) -> AlkaneId {
    id(1_000 + number)
}

fn pool_of(factory: AlkaneId, number: u128, mut sides: [(AlkaneId, u128); 2]) -> PoolState {
    sides.sort_unstable_by_key(|(token, _)| *token);
    PoolState {
        pool: PoolIdentity { id: id(1_000_000 + number), factory, tokens: sides.map(|(token, _)| token) },
        reserves: sides.map(|(_, amount)| amount),
        supply: 1_000_000,
        fee_per_1000: 10,
        claimable_fees: 0,
        name: String::new(),
    }
}

fn pool(number: u128, sides: [(AlkaneId, u128); 2]) -> PoolState {
    pool_of(FACTORY, number, sides)
}

fn priced(pools: &[PoolState]) -> HashMap<AlkaneId, Priced> {
    prices(pools.iter().map(|state| (state, state.reserves)), &BookRules::default())
}

/// Price and depth as a text.
fn price(pools: &[PoolState], token: AlkaneId) -> String {
    priced(pools).get(&token).map_or_else(|| "none".to_owned(), |priced| text(&priced.price.to_decimal(), priced.depth))
}

fn text(price: &str, depth: u128) -> String {
    format!("{price} by {depth}")
}

/// 100 bitcoin for 1,000 times as many units: 0.001.
fn honest() -> PoolState {
    pool(1, [(TOKEN, 100_000 * BITCOIN), (WRAPPED, 100 * BITCOIN)])
}

#[test]
fn a_price_is_the_ratio_of_reserves_along_a_route_of_at_most_three_pools() {
    let chain = [
        pool(1, [(id(1), 4_000_000), (WRAPPED, 1_000_000)]),
        pool(2, [(id(2), 500_000), (id(1), 2_000_000)]),
        pool(3, [(id(3), 3_000_000), (id(2), 100_000)]),
        pool(4, [(id(4), 1_000_000), (id(3), 3_000_000)]),
    ];
    assert_eq!(price(&chain, id(1)), text("0.25", 1_000_000));
    // The second pool holds 2,000,000 at 0.25.
    assert_eq!(price(&chain, id(2)), text("1", 500_000));
    // The least along the way: 100,000 at 1.
    assert_eq!(price(&chain, id(3)), text("0.033333333333333333333333", 100_000));
    assert_eq!(price(&chain, id(4)), "none");
    assert_eq!(price(&chain, WRAPPED), text("1", u128::MAX));
}

#[test]
fn routes_count_by_their_depth() {
    // 3,000,000 at 1 and 1,000,000 at 1.2.
    let pools = [
        pool(1, [(TOKEN, 3_000_000), (WRAPPED, 3_000_000)]),
        pool(2, [(OTHER, 1_000_000), (WRAPPED, 1_000_000)]),
        pool(3, [(TOKEN, 1_000_000), (OTHER, 1_200_000)]),
    ];
    assert_eq!(price(&pools, TOKEN), text("1.05", 4_000_000));
}

#[test]
fn a_pool_that_several_routes_use_counts_once() {
    // Two ways to the same last pool, which holds 1,000,000.
    let pools = [
        pool(1, [(id(9), 1_000_000), (WRAPPED, 1_000_000)]),
        pool(2, [(id(3), 5_000_000), (id(9), 5_000_000)]),
        pool(3, [(id(4), 5_000_000), (id(9), 5_000_000)]),
        pool(4, [(TOKEN, 5_000_000), (id(3), 5_000_000)]),
        pool(5, [(TOKEN, 4_000_000), (id(4), 5_000_000)]),
    ];
    assert_eq!(priced(&pools)[&TOKEN].depth, 1_000_000);
}

#[test]
fn a_dust_pool_with_a_wild_price_moves_nothing() {
    let honest_price = price(&[honest()], TOKEN);
    assert_eq!(honest_price, text("0.001", 100 * BITCOIN));
    // Less than a hundredth of the deepest route, and below the least depth of all.
    for held in [BITCOIN - 1, 9_999, 1] {
        let dust = [honest(), pool(2, [(fake(0), held), (WRAPPED, held)]), pool(3, [(TOKEN, 1), (fake(0), u128::MAX)])];
        assert_eq!(price(&dust, TOKEN), honest_price, "{held}");
    }
    // An alkane of which dust is all there is has no price.
    assert_eq!(price(&[pool(1, [(TOKEN, 5), (WRAPPED, 9_999)])], TOKEN), "none");
    assert_eq!(price(&[pool(1, [(TOKEN, 5), (WRAPPED, 10_000)])], TOKEN), text("2000", 10_000));
}

#[test]
fn a_route_counts_from_a_hundredth_of_the_deepest_on() {
    for (held, depth) in [(BITCOIN, 101 * BITCOIN), (BITCOIN - 1, 100 * BITCOIN)] {
        let pools = [
            honest(),
            pool(2, [(OTHER, BITCOIN), (WRAPPED, BITCOIN)]),
            pool(3, [(TOKEN, held * 1_000), (OTHER, held)]),
        ];
        assert_eq!(price(&pools, TOKEN), text("0.001", depth));
    }
}

#[test]
fn a_trade_counts_for_no_more_than_stands_behind_the_price() {
    let pools = [pool(1, [(TOKEN, 20_000), (WRAPPED, 20_000)]), pool(2, [(TOKEN, 1 << 100), (OTHER, 1 << 100)])];
    let known = priced(&pools);
    let volumes = |amount: U256, trades| Volumes { amounts: [amount; 2], trades };
    let traded = |volumes| worth::traded(&pools[1].pool, &volumes, &known);
    assert_eq!(traded(volumes(U256::from(7_000), 3)), Some(7_000));
    assert_eq!(traded(volumes(U256::MAX, 3)), Some(60_000));
    assert_eq!(traded(volumes(U256::ZERO, 0)), Some(0));
    // The lower side counts, and one with a price is enough.
    let sides = Volumes { amounts: [U256::from(900), U256::from(5)], trades: 1 };
    assert_eq!(traded(sides), Some(5));
    let unknown = pool(3, [(fake(1), 1), (fake(2), 1)]);
    assert_eq!(worth::traded(&unknown.pool, &sides, &known), None);
    let half = pool(4, [(TOKEN, 1), (fake(2), 1)]);
    assert_eq!(worth::traded(&half.pool, &sides, &known), Some(900));
}

#[test]
fn two_alkanes_of_an_attacker_are_worth_no_more_than_the_bitcoin_behind_them() {
    let much = 1u128 << 120;
    let pools = [
        honest(),
        pool(2, [(fake(0), 20_000), (WRAPPED, 20_000)]),
        pool(3, [(fake(0), much), (fake(1), much)]),
        pool(4, [(fake(1), much), (TOKEN, 1)]),
    ];
    assert_eq!(price(&pools, TOKEN), text("0.001", 100 * BITCOIN));
    assert_eq!(price(&pools, fake(1)), text("1", 20_000));
    let (values, tvl) = worth::held(pools[2].pool.tokens, pools[2].reserves, &priced(&pools));
    assert_eq!((values, tvl), ([Some(20_000); 2], Some(40_000)));
}

#[test]
fn one_pool_with_bitcoin_behind_a_thousand_routes_weighs_once() {
    // 40 bitcoin, a thousand alkanes between them and the honest one, each at a hundred times the price.
    let mut pools = vec![honest(), pool(2, [(fake(0), 1 << 60), (WRAPPED, 40 * BITCOIN)])];
    for number in 1..=1_000 {
        pools.push(pool(2 * number + 1, [(fake(number), 1 << 60), (fake(0), 1 << 60)]));
        pools.push(pool(2 * number + 2, [(fake(number), 1 << 60), (TOKEN, 400 * BITCOIN)]));
    }
    assert_eq!(price(&pools, TOKEN), text("0.001", 100 * BITCOIN));
    // With a trusted price it changes the sum by at most its own reserves.
    for state in &mut pools[3..] {
        let index = usize::from(state.pool.tokens[0] != TOKEN);
        if state.pool.tokens[index] == TOKEN {
            state.reserves[index] = 20_000 * BITCOIN;
        }
    }
    let Priced { price, depth } = priced(&pools)[&TOKEN];
    // Rounding leaves one satoshi of the pool to the other routes: dust.
    assert_eq!(depth, 140 * BITCOIN - 1);
    // (100 * 0.001 + 40 * 0.002) / 140, up to rounding.
    assert!(price.to_decimal().starts_with("0.00128571428"), "{price:?}");
}

#[test]
fn pools_of_a_factory_that_looks_alike_are_valued_and_set_nothing() {
    let alike = AlkaneId { block: 4, tx: 65_523 };
    let pools = [
        honest(),
        pool_of(alike, 2, [(TOKEN, 1), (WRAPPED, 10_000 * BITCOIN)]),
        pool_of(alike, 3, [(fake(0), 1_000_000), (WRAPPED, 1_000_000)]),
    ];
    assert_eq!(price(&pools, TOKEN), text("0.001", 100 * BITCOIN));
    assert_eq!(price(&pools, fake(0)), "none");
    let known = priced(&pools);
    let value = |state: &PoolState| worth::held(state.pool.tokens, state.reserves, &known);
    assert_eq!(value(&pools[1]).1, Some(10_000 * BITCOIN));
    let (values, tvl) = value(&pools[2]);
    assert_eq!((values.into_iter().flatten().collect::<Vec<_>>(), tvl), (vec![1_000_000], None));
    let trusted = BookRules { trusted_factories: vec![FACTORY, alike], ..BookRules::default() };
    let prices = prices(pools.iter().map(|state| (state, state.reserves)), &trusted);
    assert_eq!(prices[&fake(0)].price, UnitPrice::ONE);
}

#[test]
fn a_gift_to_the_lesser_pool_does_not_move_the_price() {
    let with = |given: u128| {
        [
            honest(),
            pool(2, [(OTHER, 20 * BITCOIN), (WRAPPED, 20 * BITCOIN)]),
            pool(3, [(TOKEN, 20_000 * BITCOIN), (OTHER, 20 * BITCOIN + given)]),
        ]
    };
    assert_eq!(price(&with(0), TOKEN), text("0.001", 120 * BITCOIN));
    // Ten times the price: it is left out.
    assert_eq!(price(&with(180 * BITCOIN), TOKEN), text("0.001", 100 * BITCOIN));
    assert_eq!(price(&with(u128::MAX - 20 * BITCOIN), TOKEN), text("0.001", 100 * BITCOIN));
}

/// Two deep routes disagree; what they leave of a pool to a third is a remainder, in the middle of their prices.
#[test]
fn what_deeper_routes_left_as_dust_does_not_decide_between_them() {
    let pools = [
        pool(1, [(TOKEN, u128::MAX), (OTHER, u128::MAX - 1)]),
        pool(2, [(OTHER, u128::MAX), (WRAPPED, u128::MAX)]),
        pool(3, [(TOKEN, 1), (WRAPPED, u128::MAX)]),
        pool(4, [(TOKEN, 2), (OTHER, u128::MAX - 1)]),
    ];
    let price = priced(&pools)[&TOKEN];
    assert!(price.depth >= u128::MAX - 2, "{price:?}");
}

fn reserve() -> impl Strategy<Value = u128> {
    prop_oneof![
        Just(0u128),
        Just(1),
        Just(u128::MAX),
        Just(u128::MAX - 1),
        0u128..1_000_000_000,
        any::<u128>(),
        (0u32..128).prop_map(|bits| 1 << bits),
    ]
}

fn any_pools() -> impl Strategy<Value = Vec<PoolState>> {
    let side = |number: u128| if number == 0 { WRAPPED } else { id(number) };
    let made = (0u128..6, 1u128..6, reserve(), reserve(), 0u128..12);
    prop::collection::vec(made, 0..14).prop_map(move |made| {
        let numbered = made.into_iter().zip(0..);
        let pools = numbered.map(|((a, apart, first, second, factory), number)| {
            let factory = if factory == 0 { id(77) } else { FACTORY };
            pool_of(factory, number, [(side(a), first), (side((a + apart) % 6), second)])
        });
        pools.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_pools_hold_no_price_has_more_behind_it_than_there_is_bitcoin(pools in any_pools(), at in 0usize..14) {
        let known = priced(&pools);
        let trusted = || pools.iter().filter(|state| state.pool.factory == FACTORY);
        let held = |state: &PoolState| {
            let sides = state.pool.tokens.into_iter().zip(state.reserves);
            sides.filter(|(token, _)| *token == WRAPPED).map(|(_, held)| held).next().unwrap_or(0)
        };
        let all = trusted().fold(0u128, |sum, state| sum.saturating_add(held(state)));
        for (token, priced) in &known {
            prop_assert!(*token == WRAPPED || priced.depth <= all, "{token}: {} of {all}", priced.depth);
            prop_assert!(*token == WRAPPED || priced.depth >= 10_000);
            let _ = (priced.price.to_decimal(), priced.price.to_f64());
            prop_assert!(priced.value(u128::MAX) <= priced.depth);
        }
        prop_assert_eq!(known[&WRAPPED].price, UnitPrice::ONE);
        // The order in which pools are passed does not matter.
        let mut turned = pools.clone();
        turned.reverse();
        turned.rotate_left(at % pools.len().max(1));
        prop_assert_eq!(&priced(&turned), &known);
        for state in &pools {
            let worth = worth::worth(state, &crate::Figures::default(), &known);
            let sides = worth.token_tvl.into_iter().flatten();
            prop_assert_eq!(worth.tvl.is_some(), sides.clone().count() == 2);
            prop_assert!(worth.apr.is_none_or(f64::is_finite));
        }
    }

    #[test]
    fn an_attacker_with_less_than_the_honest_bitcoin_moves_a_price_by_his_share_at_most(
        made in prop::collection::vec((0u128..6, 1u128..6, reserve(), reserve()), 0..14),
    ) {
        // Alkane 0 is the honest one, 1 bitcoin, the others the attacker's. He puts in 40 of 140 bitcoin.
        let side = |number: u128| match number {
            0 => TOKEN,
            1 => WRAPPED,
            number => fake(number),
        };
        let mut left = 40 * BITCOIN;
        let mut pools = vec![honest()];
        for ((a, apart, first, second), number) in made.into_iter().zip(2..) {
            let (a, b) = (side(a), side((a + apart) % 6));
            if [a, b].contains(&TOKEN) && [a, b].contains(&WRAPPED) {
                // The factory has one pool of a pair.
                continue;
            }
            let mut paid = |token, amount: u128| {
                let amount = if token == WRAPPED { amount.min(left) } else { amount };
                left -= if token == WRAPPED { amount } else { 0 };
                amount
            };
            let (first, second) = (paid(a, first), paid(b, second));
            pools.push(pool(number, [(a, first), (b, second)]));
        }
        let price = priced(&pools)[&TOKEN].price.scaled();
        // At most twice or half the price for 40 of 140 parts.
        let thousandth = UnitPrice::ONE.scaled() / U256::from(1_000u64);
        prop_assert!(price * U256::from(140u64) <= thousandth * U256::from(180u64), "{price}");
        prop_assert!(price * U256::from(140u64) + U256::from(140u64) >= thousandth * U256::from(120u64), "{price}");
    }
}
