//! Operations one by one: refusals, limits, ramps, the claim inside an operation.

mod pools;

use paraffin_cryptoswap_math::{Coin, Curve, MathError, PRECISION, Pool, U256};
use pools::{NOW, int, live_parameters, live_pool};

fn fresh() -> Pool {
    let curve = Curve::from((400_000, 145_000_000_000_000));
    let mut pool =
        Pool::new(live_parameters(), curve, int(15_604_533_105_145), 1_000).expect("parameters within bounds");
    // One BTC against its worth in dollars.
    pool.add_liquidity([int(100_000_000), int(6_408_394_000_000)], U256::ZERO, 1_000).expect("a balanced deposit");
    pool
}

#[test]
fn the_first_deposit_makes_the_virtual_price_one() {
    let pool = fresh();
    assert_eq!(pool.virtual_price, PRECISION);
    assert!(pool.get_virtual_price().unwrap().abs_diff(PRECISION) <= int(1));
    assert_eq!(pool.xcp_profit, PRECISION);
    // Twice one BTC in the invariant, which the square root of the price makes liquidity tokens of.
    assert!(pool.d.abs_diff(int(2) * PRECISION) < PRECISION / int(1_000_000));
}

#[test]
fn a_killed_pool_allows_a_withdrawal_of_both_coins_alone() {
    let mut pool = live_pool();
    pool.is_killed = true;
    assert_eq!(pool.exchange(Coin::Zero, int(1_000), U256::ZERO, NOW), Err(MathError::Killed));
    assert_eq!(pool.add_liquidity([int(1_000); 2], U256::ZERO, NOW), Err(MathError::Killed));
    assert_eq!(pool.remove_liquidity_one_coin(PRECISION, Coin::Zero, U256::ZERO, NOW), Err(MathError::Killed));
    assert!(pool.remove_liquidity(PRECISION, [U256::ZERO; 2]).is_ok());
}

#[test]
fn limits_are_kept_to_the_unit() {
    let amount = int(10_000_000_000);
    let quote = live_pool().get_dy(Coin::One, amount, NOW).unwrap();
    let refused = live_pool().exchange(Coin::One, amount, quote + int(1), NOW);
    assert_eq!(refused, Err(MathError::Slippage { outcome: quote, limit: quote + int(1) }));
    assert!(live_pool().exchange(Coin::One, amount, quote, NOW).is_ok());

    let minted = live_pool().add_liquidity([int(1_000_000), U256::ZERO], U256::ZERO, NOW).unwrap();
    let refused = live_pool().add_liquidity([int(1_000_000), U256::ZERO], minted + int(1), NOW);
    assert_eq!(refused, Err(MathError::Slippage { outcome: minted, limit: minted + int(1) }));

    let out = live_pool().calc_withdraw(PRECISION).unwrap();
    let refused = live_pool().remove_liquidity(PRECISION, [out[0], out[1] + int(1)]);
    assert_eq!(refused, Err(MathError::Slippage { outcome: out[1], limit: out[1] + int(1) }));

    let out = live_pool().calc_withdraw_one_coin(PRECISION, Coin::Zero, NOW).unwrap();
    let refused = live_pool().remove_liquidity_one_coin(PRECISION, Coin::Zero, out + int(1), NOW);
    assert_eq!(refused, Err(MathError::Slippage { outcome: out, limit: out + int(1) }));
}

#[test]
fn amounts_of_zero_and_burns_above_the_supply_are_refused() {
    let mut pool = live_pool();
    let above = pool.total_supply + int(1);
    assert_eq!(pool.exchange(Coin::Zero, U256::ZERO, U256::ZERO, NOW), Err(MathError::AmountZero));
    assert_eq!(pool.add_liquidity([U256::ZERO; 2], U256::ZERO, NOW), Err(MathError::AmountZero));
    assert_eq!(pool.remove_liquidity(U256::ZERO, [U256::ZERO; 2]), Err(MathError::AmountZero));
    assert_eq!(pool.remove_liquidity_one_coin(U256::ZERO, Coin::One, U256::ZERO, NOW), Err(MathError::AmountZero));
    let refused = MathError::BurnAboveSupply { burned: above, supply: pool.total_supply };
    assert_eq!(pool.remove_liquidity(above, [U256::ZERO; 2]), Err(refused.clone()));
    assert_eq!(pool.remove_liquidity_one_coin(above, Coin::One, U256::ZERO, NOW), Err(refused));
    assert_eq!(pool, live_pool());
}

#[test]
fn a_trade_too_small_for_a_price_of_its_own_takes_the_price_of_the_curve() {
    let mut pool = fresh();
    let amount = int(100_000);
    let traded = pool.exchange(Coin::Zero, amount, U256::ZERO, 1_001).unwrap();
    assert!(traded.amount_out > amount, "dollars have more base units");
    let paid = amount * PRECISION / traded.amount_out;
    assert_ne!(pool.last_prices, paid);
    // The curve's price of now is near the scale: within a tenth of a percent after so small a trade.
    assert!(pool.last_prices.abs_diff(pool.price_scale) < pool.price_scale / int(1_000));

    let mut pool = fresh();
    let traded = pool.exchange(Coin::Zero, int(100_001), U256::ZERO, 1_001).unwrap();
    assert_eq!(pool.last_prices, int(100_001) * PRECISION / traded.amount_out);
}

#[test]
fn the_average_moves_once_per_moment() {
    let mut pool = fresh();
    pool.exchange(Coin::Zero, int(5_000_000), U256::ZERO, 1_010).unwrap();
    let average = pool.price_oracle;
    let last = pool.last_prices;
    pool.exchange(Coin::Zero, int(5_000_000), U256::ZERO, 1_010).unwrap();
    assert_eq!(pool.price_oracle, average, "the same block");
    assert_ne!(pool.last_prices, last);
    let viewed = pool.price_oracle(1_020).unwrap();
    pool.exchange(Coin::One, int(1_000_000_000), U256::ZERO, 1_020).unwrap();
    assert_eq!(pool.price_oracle, viewed, "the view equals the stored value");
}

#[test]
fn profit_moves_the_scale_towards_the_average_and_then_claims() {
    let mut pool = fresh();
    let scale = pool.price_scale;
    let (mut now, mut moved, mut claimed) = (1_000, false, false);
    // Dollars are bought all the time, so the BTC token falls: coin 0 per coin 1 rises.
    for round in 0..400u64 {
        now += 3;
        let before = pool.clone();
        pool.exchange(Coin::Zero, int(3_000_000), U256::ZERO, now).unwrap();
        let back = if round % 8 == 0 { 20_000_000_000 } else { 180_000_000_000 };
        pool.exchange(Coin::One, int(back), U256::ZERO, now).unwrap();
        moved |= pool.price_scale != scale;
        claimed |= pool.total_supply > before.total_supply;
        assert!(pool.virtual_price >= PRECISION);
    }
    assert!(moved, "the scale never moved");
    assert!(claimed, "no claim happened inside a trade");
    assert!(pool.price_scale > scale);
    assert!(pool.virtual_price * int(2) - PRECISION + int(10) >= pool.xcp_profit, "half of the profit stays");
}

#[test]
fn while_a_ramp_is_pending_the_invariant_is_computed_anew_and_a_loss_is_let_pass() {
    let mut pool = fresh();
    pool.exchange(Coin::Zero, int(20_000_000), U256::ZERO, 1_001).unwrap();
    let before = pool.clone();
    let future = Curve::from((100_000, 145_000_000_000_000));
    pool.ramp = pool.ramp.begin(1_002, future, 1_202, 144).unwrap();
    assert_eq!(pool.invariant(1_002).map(|d| d.abs_diff(before.d) < int(1_000)), Ok(true), "nothing has moved yet");
    let quote = pool.get_dy(Coin::One, int(1_000_000_000), 1_150);
    assert_ne!(quote, before.get_dy(Coin::One, int(1_000_000_000), 1_150));
    assert_eq!(pool.exchange(Coin::One, int(1_000_000_000), U256::ZERO, 1_150).map(|t| t.amount_out), quote);
    assert!(pool.virtual_price < before.virtual_price, "a flatter curve holds less");
    assert_eq!(pool.ramp.end, 1_202);
    assert!(pool.ramp.is_moving(1_150));

    // At its end height the ramp is over.
    let mut at_end = pool.clone();
    at_end.exchange(Coin::One, int(1_000_000_000), U256::ZERO, 1_202).unwrap();
    assert_eq!(at_end.ramp.end, 0);

    // The first operation after the end computes it once more, and the next uses what is stored.
    pool.exchange(Coin::One, int(1_000_000_000), U256::ZERO, 1_300).unwrap();
    assert_eq!(pool.ramp.end, 0);
    assert_eq!(pool.curve(1_300), Ok(future));
    assert_eq!(pool.invariant(1_300), Ok(pool.d));
}

#[test]
fn a_loss_without_a_ramp_is_refused() {
    let mut pool = fresh();
    pool.virtual_price = PRECISION * int(2);
    let before = pool.clone();
    let refused = pool.exchange(Coin::Zero, int(1_000_000), U256::ZERO, 1_001);
    assert!(matches!(refused, Err(MathError::Loss { .. })), "{refused:?}");
    assert_eq!(pool, before);
}

#[test]
fn a_claim_takes_in_what_was_sent_without_an_operation() {
    let mut pool = fresh();
    pool.surplus = [int(1_000_000), int(64_000_000_000)];
    let balances = pool.balances;
    assert_eq!(pool.claim_admin_fees(1_001), Ok(U256::ZERO), "no profit yet");
    assert_eq!(pool.balances, [balances[0] + int(1_000_000), balances[1] + int(64_000_000_000)]);
    assert_eq!(pool.surplus, [U256::ZERO; 2]);
    assert!(pool.virtual_price > PRECISION);
}

#[test]
fn a_claim_mints_half_of_the_admin_part_of_the_profit() {
    let mut pool = live_pool();
    let profit = pool.xcp_profit - pool.xcp_profit_a;
    let fees = profit / int(4);
    let share = pool.virtual_price * PRECISION / (pool.virtual_price - fees) - PRECISION;
    let expected = pool.total_supply * share / PRECISION;
    let (supply, xcp_profit) = (pool.total_supply, pool.xcp_profit);
    assert_eq!(pool.claim_admin_fees(NOW), Ok(expected));
    assert_eq!(pool.total_supply, supply + expected);
    assert_eq!(pool.xcp_profit, xcp_profit - fees * int(2));
    assert_eq!(pool.xcp_profit_a, pool.xcp_profit);

    let mut unpaid = live_pool();
    unpaid.parameters.admin_fee_is_paid = false;
    assert_eq!(unpaid.claim_admin_fees(NOW), Ok(U256::ZERO));
    assert_eq!(unpaid.xcp_profit_a, unpaid.xcp_profit);
}

/// A one-sided operation trades a part of itself, so the price that it reports is one of a trade: near the scale while the pool
/// is near balance, whichever coin it was.
#[test]
fn one_sided_operations_give_a_price_near_the_scale() {
    let scale = fresh().price_scale;
    let near = |pool: &Pool| pool.last_prices != scale && pool.last_prices.abs_diff(scale) < scale / int(100);
    for (zero, one) in [(1_000_000u128, 0u128), (0, 64_000_000_000)] {
        let mut pool = fresh();
        pool.add_liquidity([int(zero), int(one)], U256::ZERO, 1_001).unwrap();
        assert!(near(&pool), "after a deposit of {zero} and {one}: {} beside {scale}", pool.last_prices);
        // More of a coin makes it cheaper: coin 0 per coin 1 falls with more of coin 1.
        assert_eq!(pool.last_prices < scale, one > 0);
    }
    for coin in [Coin::Zero, Coin::One] {
        let mut pool = fresh();
        let burned = pool.total_supply / int(200);
        pool.remove_liquidity_one_coin(burned, coin, U256::ZERO, 1_001).unwrap();
        assert!(near(&pool), "after a withdrawal of {coin:?}: {} beside {scale}", pool.last_prices);
        assert_eq!(pool.last_prices < scale, coin == Coin::Zero);
    }
}

#[test]
fn a_withdrawal_in_one_coin_leaves_its_fee_and_one_unit_in_the_invariant() {
    let mut pool = fresh();
    let (d, supply, fee) = (pool.d, pool.total_supply, pool.fee().unwrap());
    let burned = supply / int(50);
    pool.remove_liquidity_one_coin(burned, Coin::One, U256::ZERO, 1_000).unwrap();
    let share = burned * d / supply;
    assert_eq!(pool.d, d - share + fee * share / int(20_000_000_000) + int(1));
    assert_eq!(pool.total_supply, supply - burned);
}
