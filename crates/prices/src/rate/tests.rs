use proptest::prelude::*;

use super::*;

/// The default pool (docs/configuration.md): token0 is bitcoin with 8 decimals, token1 the dollar with 6.
const SIDES: Sides = Sides { bitcoin_is_token0: true, bitcoin_decimals: 8, usd_decimals: 6 };
/// The same pool with its tokens the other way round.
const FLIPPED: Sides = Sides { bitcoin_is_token0: false, ..SIDES };

fn dollars(amount: u128) -> UsdPrice {
    UsdPrice(amount * UsdPrice::DOLLAR.0)
}

/// Square root by the textbook, for tests alone.
fn root(of: U512) -> U256 {
    U256::from(of.root(2))
}

/// row RB12
#[test]
fn the_square_root_of_a_pool_is_a_price_whichever_token_is_bitcoin() {
    // 100,000 USD for one bitcoin: 10^11 units of the dollar for 10^8 of bitcoin, a ratio of 1000.
    let sqrt_price = root(U512::from(1000) << 192);
    let price = SIDES.of_sqrt_price(sqrt_price).unwrap();
    // The root is cut to an integer, so its square is a little short.
    assert!(price <= dollars(100_000) && !is_far_off(price, dollars(100_000)), "{price:?}");
    let flipped = root((U512::from(1) << 192) / U512::from(1000));
    assert!(!is_far_off(FLIPPED.of_sqrt_price(flipped).unwrap(), dollars(100_000)));
    // Exactly 2^96: one unit for one unit, a hundred dollars.
    let even = U256::from(1) << 96;
    assert_eq!(SIDES.of_sqrt_price(even), Some(dollars(100)));
    assert_eq!(FLIPPED.of_sqrt_price(even), Some(dollars(100)));
    // As that pool answered on a day with bitcoin at some 65,000 dollars.
    let seen = U256::from(2_020_000_000_000_000_000_000_000_000_000_u128);
    let expected = (2_020_000_000_000_000_000_000_000_000_000_f64 / 2_f64.powi(96)).powi(2) * 100.0;
    assert!((SIDES.of_sqrt_price(seen).unwrap().to_f64() - expected).abs() < 1e-6 * expected);
}

/// Farther than one part in a billion.
fn is_far_off(price: UsdPrice, from: UsdPrice) -> bool {
    price.0.abs_diff(from.0) > from.0 / 1_000_000_000
}

#[test]
fn prices_that_no_bitcoin_has_are_none() {
    for sqrt_price in [U256::ZERO, U256::from(1), U256::from(4_295_128_739_u64), (U256::from(1) << 160) - U256::from(1)]
    {
        assert_eq!(SIDES.of_sqrt_price(sqrt_price), None, "{sqrt_price}");
        assert_eq!(FLIPPED.of_sqrt_price(sqrt_price), None, "{sqrt_price}");
    }
    assert_eq!(SIDES.of_sqrt_price(U256::MAX), None);
    assert_eq!(Sides { bitcoin_decimals: 255, ..SIDES }.of_sqrt_price(U256::from(1) << 96), None);
    assert_eq!(Sides { usd_decimals: 255, ..SIDES }.of_sqrt_price(U256::from(1) << 96), None);
    // The widest decimals do not overflow.
    let wide = Sides { bitcoin_decimals: 36, usd_decimals: 36, ..SIDES };
    assert_eq!(wide.of_sqrt_price(U256::from(1) << 96), Some(dollars(1)));
}

#[test]
fn reserves_are_a_ratio() {
    assert_eq!(SIDES.of_reserves([2 * 10_u128.pow(8), 130_000 * 10_u128.pow(6)]), Some(dollars(65_000)));
    assert_eq!(FLIPPED.of_reserves([130_000 * 10_u128.pow(6), 2 * 10_u128.pow(8)]), Some(dollars(65_000)));
    for reserves in [[0, 0], [0, 1], [1, 0], [1, (1 << 112) - 1], [(1 << 112) - 1, 1]] {
        assert_eq!(SIDES.of_reserves(reserves), None, "{reserves:?}");
    }
    // Thirds are rounded to the nearest, halves to the even one.
    assert_eq!(SIDES.of_reserves([3, 3_200]).map(|price| price.0 % 10), Some(7));
    assert_eq!(half_even(U512::from(5), U512::from(2)), Some(U512::from(2)));
    assert_eq!(half_even(U512::from(7), U512::from(2)), Some(U512::from(4)));
    assert_eq!(half_even(U512::from(1), U512::ZERO), None);
}

#[test]
fn a_tick_is_a_power_of_1_0001() {
    // The least and the greatest square root of a price that such a pool may have, as in its contract.
    for (tick, sqrt_price) in
        [(-TICK_MAX, "4295128739"), (TICK_MAX, "1461446703485210103287273052203988822378723970342")]
    {
        let sqrt_price: U256 = sqrt_price.parse().unwrap();
        let (token1, token0) = ratio_of_tick(tick).unwrap();
        let exact = U512::from(sqrt_price) * U512::from(sqrt_price);
        let ours = (token1 << 192) / token0;
        // The root at the lowest tick has ten digits, so its square is right to nine.
        assert!(exact.abs_diff(ours) <= exact / U512::from(1_000_000_000), "{tick}");
    }
    assert_eq!(ratio_of_tick(0), Some((U512::from(1) << 256, U512::from(1) << 256)));
    assert_eq!(ratio_of_tick(TICK_MAX + 1), None);
    assert_eq!(ratio_of_tick(i32::MIN + 1), None);
    assert_eq!(SIDES.of_mean_tick(1, 1).unwrap(), UsdPrice(1_000_100_000_000_000_000));
}

#[test]
fn the_mean_lies_between_its_ticks_and_rounds_negative_ticks_down() {
    let low = SIDES.of_mean_tick(64_771 * 600, 600).unwrap();
    let high = SIDES.of_mean_tick(64_772 * 600, 600).unwrap();
    let middle = SIDES.of_mean_tick(64_771 * 600 + 300, 600).unwrap();
    assert!(low < middle && middle < high);
    assert!(middle.0.abs_diff(u128::midpoint(low.0, high.0)) <= 1);
    let flipped = FLIPPED.of_mean_tick(-64_771 * 600 - 300, 600).unwrap();
    assert!(!flipped.0.abs_diff(middle.0) > middle.0 / 100_000_000, "{flipped:?} {middle:?}");
    assert!(
        FLIPPED.of_mean_tick(-64_771 * 600 - 599, 600).unwrap() > FLIPPED.of_mean_tick(-64_771 * 600 - 1, 600).unwrap()
    );
    for (ticks, seconds) in [(0, 0), (i64::MAX, 1), (i64::MIN, 1), (i64::MIN, u32::MAX), (887_273, 1), (-887_273, 1)] {
        assert_eq!(SIDES.of_mean_tick(ticks, seconds), None, "{ticks} {seconds}");
    }
}

#[test]
fn distance_is_measured_against_the_reference() {
    assert!(!is_farther(dollars(105), dollars(100), 5));
    assert!(is_farther(UsdPrice(dollars(105).0 + 1), dollars(100), 5));
    assert!(!is_farther(dollars(95), dollars(100), 5));
    assert!(is_farther(UsdPrice(u128::MAX), UsdPrice(1), 1_000));
}

#[test]
fn a_tick_of_another_price_does_not_fit() {
    let even = U256::from(1) << 96;
    for (tick, fits) in [(0, true), (-1, true), (1, false), (-2, false), (TICK_MAX, false), (-TICK_MAX, false)] {
        assert_eq!(tick_fits(tick, even), fits, "{tick}");
    }
    assert!(!tick_fits(0, U256::ZERO) && !tick_fits(0, U256::MAX) && !tick_fits(i32::MAX, even));
    assert!(tick_fits(-TICK_MAX, U256::from(4_295_128_739_u64)));
}

proptest! {
    #[test]
    fn both_orders_of_the_tokens_give_the_same_price(reserve in 10_u128.pow(6)..10_u128.pow(14), usd in 10_u128.pow(9)..10_u128.pow(18)) {
        prop_assert_eq!(SIDES.of_reserves([reserve, usd]), FLIPPED.of_reserves([usd, reserve]));
    }

    #[test]
    fn a_square_root_fits_its_own_tick_and_gives_its_price(tick in 1_i32..160_000) {
        let (token1, token0) = ratio_of_tick(tick).unwrap();
        let sqrt_price = root((token1 << 192) / token0) + U256::from(1);
        prop_assert!(tick_fits(tick, sqrt_price));
        prop_assert!(!tick_fits(tick + 2, sqrt_price) && !tick_fits(tick - 2, sqrt_price));
        let spot = SIDES.of_sqrt_price(sqrt_price).unwrap();
        let mean = SIDES.of_mean_tick(i64::from(tick) * 60, 60).unwrap();
        prop_assert!(!is_far_off(spot, mean), "{:?} {:?}", spot, mean);
    }

    #[test]
    fn arbitrary_numbers_never_panic(words: [u64; 4], first: u128, second: u128, ticks: i64, seconds: u32, tick: i32, decimals: [u8; 2], order: bool) {
        let sides = Sides { bitcoin_is_token0: order, bitcoin_decimals: decimals[0], usd_decimals: decimals[1] };
        let word = U256::from_limbs(words);
        let _ = (sides.of_sqrt_price(word), sides.of_reserves([first, second]), sides.of_mean_tick(ticks, seconds));
        let _ = tick_fits(tick.saturating_abs(), word);
    }
}
