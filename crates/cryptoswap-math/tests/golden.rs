//! Figures of the live pool, digit by digit.

mod pools;

use paraffin_cryptoswap_math::{Coin, U256, deposit_fee, fee, newton_d, virtual_price};
use pools::{NOW, int, live_pool};

/// Four quotes published for the state at height 962472.
#[test]
fn get_dy_gives_the_published_quotes() {
    let pool = live_pool();
    for (sold, amount, out) in [
        (Coin::One, 10_000_000_000, 155_712),
        (Coin::One, 100_000_000_000, 1_500_719),
        (Coin::One, 188_121_438_907, 2_698_741),
        (Coin::Zero, 3_000_000, 174_596_643_829),
    ] {
        assert_eq!(pool.get_dy(sold, int(amount), NOW), Ok(int(out)), "{amount}");
    }
}

/// The answer of opcode 107 on mainnet: 32 bytes, little-endian.
#[test]
fn a_quote_is_the_word_that_the_contract_answered() {
    let mut word = [0u8; 32];
    word[..5].copy_from_slice(&[0xf5, 0x5b, 0xc5, 0xa6, 0x28]);
    let quote = live_pool().get_dy(Coin::Zero, int(3_000_000), NOW).unwrap();
    assert_eq!(quote.to_le_bytes::<32>(), word);
}

#[test]
fn the_virtual_price_follows_from_the_stored_invariant() {
    let pool = live_pool();
    assert_eq!(pool.get_virtual_price(), Ok(pool.virtual_price));
    assert_eq!(virtual_price(pool.d, pool.price_scale, pool.total_supply), Ok(int(1_000_089_524_433_596_945)));
}

/// The pool had just moved its scale: its invariant is the one of the balances carried over from the scale before, and a
/// recomputation from the balances alone is one unit beside it. A quote must use the stored one.
#[test]
fn the_stored_invariant_is_the_one_of_the_moved_scale() {
    let pool = live_pool();
    let curve = pool.curve(NOW).unwrap();
    let plain = pool.normalised_balances().unwrap();
    assert_eq!(newton_d(curve, plain), Ok(pool.d + int(1)));

    let mut before = live_pool();
    before.price_scale = int(15_602_255_175_890);
    let carried = before.normalised_balances().unwrap();
    let carried = [carried[0], carried[1] * pool.price_scale / before.price_scale];
    assert_eq!(newton_d(curve, carried), Ok(pool.d));
}

#[test]
fn deposits_and_withdrawals_at_the_live_state() {
    let pool = live_pool();
    for (amounts, minted) in [
        ([1_000_000, 0], 1_257_841_257_196_943_580),
        ([0, 64_000_000_000], 1_259_664_653_899_362_459),
        ([1_000_000, 64_000_000_000], 2_529_569_443_761_671_021),
    ] {
        assert_eq!(pool.calc_token_amount(amounts.map(int), NOW), Ok(int(minted)), "{amounts:?}");
    }
    let one = int(1_000_000_000_000_000_000);
    assert_eq!(pool.calc_withdraw_one_coin(one, Coin::Zero, NOW), Ok(int(788_846)));
    assert_eq!(pool.calc_withdraw_one_coin(one, Coin::One, NOW), Ok(int(50_464_439_950)));
    assert_eq!(pool.calc_withdraw(one), Ok([int(396_177), int(25_245_513_745)]));
}

#[test]
fn the_fee_at_the_live_state() {
    let pool = live_pool();
    assert_eq!(pool.fee(), Ok(int(22_014_453)));
    let x = pool.normalised_balances().unwrap();
    assert_eq!(fee(&pool.parameters, [x[0], x[0]]), Ok(pool.parameters.mid_fee), "in balance");
    let far = fee(&pool.parameters, [x[0], x[0] * int(1_000)]).unwrap();
    assert!(far > pool.parameters.out_fee - int(20_000) && far <= pool.parameters.out_fee, "{far}");
    let even = deposit_fee(&pool.parameters, [x[0], x[0]], [x[0], x[0]]);
    assert_eq!(even, Ok(int(100_000)), "an even deposit pays the noise fee alone");
}

/// The rate printed for the ladder: USD per BTC from what was paid and received.
#[test]
fn the_quotes_have_the_published_effective_prices() {
    let pool = live_pool();
    let nearest = |dollars: U256, bitcoin: U256| (dollars + (bitcoin >> 1)) / bitcoin;
    for (amount, rate) in [(10_000_000_000u128, 64_221), (100_000_000_000, 66_635), (188_121_438_907, 69_707)] {
        let out = pool.get_dy(Coin::One, int(amount), NOW).unwrap();
        assert_eq!(nearest(int(amount), out), int(rate));
    }
    let out = pool.get_dy(Coin::Zero, int(3_000_000), NOW).unwrap();
    assert_eq!(nearest(out, int(3_000_000)), int(58_199));
}

#[test]
fn the_oracle_moves_from_the_stored_average_to_the_last_price() {
    let pool = live_pool();
    assert_eq!(pool.price_oracle(962_472), Ok(pool.price_oracle));
    let half = pool.price_oracle(962_472 + pool.parameters.ma_half_time).unwrap();
    assert_eq!(half, (pool.price_oracle + pool.last_prices) >> 1);
    assert_eq!(pool.price_oracle(u64::MAX), Ok(pool.last_prices));
}

#[test]
fn the_price_of_a_liquidity_token_is_twice_its_virtual_price_at_the_root_of_the_oracle() {
    let pool = live_pool();
    let price = pool.lp_price(962_472).unwrap();
    // 2 * 1.000089524... * sqrt(1.5609065122168e-5) = 0.0079023...
    let root = (pool.price_oracle * int(1_000_000_000_000_000_000)).root(2);
    let expected = int(2) * pool.virtual_price * root / int(1_000_000_000_000_000_000);
    assert!(price.abs_diff(expected) <= int(3), "{price} {expected}");
    assert!(price > int(7_902_000_000_000_000) && price < int(7_903_000_000_000_000), "{price}");
}

/// Regression: what this state becomes by one trade, with the parameters that are not public set as in `pools`.
#[test]
fn a_trade_changes_the_live_state_as_it_did_before() {
    let mut pool = live_pool();
    let quote = pool.get_dy(Coin::One, int(10_000_000_000), NOW).unwrap();
    let traded = pool.exchange(Coin::One, int(10_000_000_000), quote, NOW).unwrap();
    assert_eq!(traded.amount_out, quote);
    assert_eq!(pool.balances, [int(29_521_902 - 155_712), int(1_891_214_389_078)]);
    assert_eq!(pool.last_prices, int(155_712) * int(10).pow(int(18)) / int(10_000_000_000), "the price paid");
    assert_eq!(pool.last_prices_time, NOW);
    assert!(pool.virtual_price > live_pool().virtual_price || pool.price_scale != live_pool().price_scale);
    assert!(pool.xcp_profit > live_pool().xcp_profit);
    assert_ne!(pool.d, U256::ZERO);
}
