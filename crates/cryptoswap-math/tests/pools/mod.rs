//! The pool of the golden figures, and random pools for properties.
#![allow(dead_code)] // each test program uses a part of it

use paraffin_cryptoswap_math::{Coin, Curve, Parameters, Pool, Ramp, U256};
use proptest::prelude::*;
use proptest::test_runner::Config;

pub(crate) fn int(value: u128) -> U256 {
    U256::from(value)
}

pub(crate) fn live_parameters() -> Parameters {
    Parameters {
        precisions: [int(10_000_000_000); 2],
        mid_fee: int(20_000_000),
        out_fee: int(80_000_000),
        fee_gamma: int(230_000_000_000_000),
        admin_fee: int(5_000_000_000),
        admin_fee_is_paid: true,
        allowed_extra_profit: int(2_000_000_000_000),
        adjustment_step: int(146_000_000_000_000),
        adjustment_divisor: 10,
        ma_half_time: 6,
    }
}

/// The mainnet pool at height 962472. Coin 0 is the BTC token, coin 1 the USD token.
pub(crate) fn live_pool() -> Pool {
    Pool {
        parameters: live_parameters(),
        ramp: Ramp::still(Curve::from((400_000, 145_000_000_000_000))),
        balances: [int(29_521_902), int(1_881_214_389_078)],
        surplus: [U256::ZERO; 2],
        d: int(588_773_618_736_294_948),
        total_supply: int(74_516_779_814_608_897_626),
        price_scale: int(15_604_533_105_145),
        price_oracle: int(15_609_065_122_168),
        last_prices: int(15_607_494_853_323),
        last_prices_time: 962_472,
        virtual_price: int(1_000_089_524_433_596_945),
        xcp_profit: int(1_000_093_261_471_212_942),
        xcp_profit_a: int(1_000_000_000_000_000_000),
        not_adjusted: true,
        is_killed: false,
    }
}

pub(crate) const NOW: u64 = 962_502;

/// `modest` cases, or at least a million when `PARAFFIN_LONG` is set.
pub(crate) fn cases(modest: u32) -> Config {
    let cases = if std::env::var_os("PARAFFIN_LONG").is_some() { modest.max(1_000_000) } else { modest };
    Config { cases, failure_persistence: None, max_global_rejects: cases.saturating_mul(4), ..Config::default() }
}

/// A number between two powers of ten, spread over the magnitudes.
pub(crate) fn spread(from: u32, to: u32) -> impl Strategy<Value = u128> {
    (from..to).prop_flat_map(|exponent| 10u128.pow(exponent)..10u128.pow(exponent + 1))
}

pub(crate) fn any_coin() -> impl Strategy<Value = Coin> {
    prop_oneof![Just(Coin::Zero), Just(Coin::One)]
}

prop_compose! {
    pub(crate) fn any_curve()(ann in spread(4, 9), gamma in spread(11, 16)) -> Curve {
        Curve { ann: int(ann), gamma: int(gamma) }
    }
}

prop_compose! {
    pub(crate) fn any_parameters()(
        decimals in [prop_oneof![Just(2u32), Just(6), Just(8), Just(18)], prop_oneof![Just(2u32), Just(6), Just(8), Just(18)]],
        mid_fee in 0u128..50_000_000,
        more in 500_000u128..100_000_000,
        fee_gamma in spread(12, 17),
        admin_fee in 0u128..=10_000_000_000,
        admin_fee_is_paid in any::<bool>(),
        allowed_extra_profit in spread(8, 13),
        adjustment_step in spread(12, 16),
        adjustment_divisor in prop_oneof![Just(5u64), Just(10)],
        ma_half_time in 1u64..2_000,
    ) -> Parameters {
        Parameters {
            precisions: decimals.map(|decimals| int(10u128.pow(18 - decimals))),
            mid_fee: int(mid_fee),
            out_fee: int(mid_fee + more),
            fee_gamma: int(fee_gamma),
            admin_fee: int(admin_fee),
            admin_fee_is_paid,
            allowed_extra_profit: int(allowed_extra_profit),
            adjustment_step: int(adjustment_step),
            adjustment_divisor,
            ma_half_time,
        }
    }
}

/// What a balance of `value` in 1e18 units of coin 0 is in base units of `coin`.
pub(crate) fn base_units(parameters: &Parameters, price: U256, coin: Coin, value: U256) -> U256 {
    let one = int(10).pow(int(18));
    match coin {
        Coin::Zero => value / parameters.precisions[0],
        Coin::One => value * one / price / parameters.precisions[1],
    }
}

prop_compose! {
    /// A pool after its first deposit, at most five to one away from balance.
    pub(crate) fn any_pool()(
        parameters in any_parameters(),
        curve in any_curve(),
        price in spread(13, 22),
        value in spread(19, 27),
        per_mille in 170u128..830,
    ) -> Option<Pool> {
        let mut pool = Pool::new(parameters, curve, int(price), 1_000).expect("parameters within bounds");
        let (left, right) = (value / 1_000 * per_mille, value / 1_000 * (1_000 - per_mille));
        let amounts = [
            base_units(&pool.parameters, pool.price_scale, Coin::Zero, int(left)),
            base_units(&pool.parameters, pool.price_scale, Coin::One, int(right)),
        ];
        pool.add_liquidity(amounts, U256::ZERO, 1_000).ok()?;
        Some(pool)
    }
}
