//! The BTC/USD pool as it is deployed: every opcode, and what it refuses.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use std::rc::Rc;

use cryptoswap_math::{Coin, PRECISION, U256};
use paraffin_contract::Parcel;
use paraffin_contract::testing::{Frame, Program};
use scene::cryptoswap::{
    A, BTC, Exchange, GAMMA, HEIGHT, ITS_WORTH, ONE_BTC, POOL, POOL_CODE, PRICE, SETTINGS, SHORTEST_RAMP, SLOTS, USD,
    init_inputs, number,
};
use scene::{Brought, FORMS, Form, id, parcel, program, refused, run};

fn int(value: u128) -> U256 {
    U256::from(value)
}

/// row PI24
#[test]
fn a_new_pool_has_the_documented_slots() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let expected: &[(&str, U256)] = &[
            ("/balances/0", int(ONE_BTC)),
            ("/balances/1", int(ITS_WORTH)),
            ("/precisions/0", int(10_000_000_000)),
            ("/precisions/1", int(10_000_000_000)),
            ("/price_scale", int(PRICE)),
            ("/price_oracle", int(PRICE)),
            ("/last_prices", int(PRICE)),
            ("/last_prices_height", int(HEIGHT.into())),
            ("/virtual_price", PRECISION),
            ("/xcp_profit", PRECISION),
            ("/xcp_profit_a", PRECISION),
            ("/not_adjusted", U256::ZERO),
            ("/is_killed", U256::ZERO),
            ("/initial_A_gamma", int(A) << 128 | int(GAMMA)),
            ("/future_A_gamma", int(A) << 128 | int(GAMMA)),
            ("/initial_A_gamma_height", U256::ZERO),
            ("/future_A_gamma_height", U256::ZERO),
            ("/mid_fee", int(SETTINGS[0])),
            ("/out_fee", int(SETTINGS[1])),
            ("/fee_gamma", int(SETTINGS[2])),
            ("/admin_fee", int(SETTINGS[3])),
            ("/allowed_extra_profit", int(SETTINGS[4])),
            ("/adjustment_step", int(SETTINGS[5])),
            ("/ma_half_time", int(SETTINGS[6])),
        ];
        for (name, value) in expected {
            assert_eq!(exchange.slot(name), *value, "{name}");
        }
        assert_eq!(expected.len() + 1, SLOTS.len(), "and the invariant");
        let d = exchange.slot("/D");
        assert!(d.abs_diff(int(2) * PRECISION) < int(10_000_000_000_000), "two bitcoin's worth: {d}");
        assert_eq!(exchange.world.storage(POOL, b"/coins/0"), BTC.to_bytes());
        assert_eq!(exchange.world.storage(POOL, b"/coins/1"), USD.to_bytes());
        assert_eq!(exchange.world.storage(POOL, b"/shortest_ramp"), SHORTEST_RAMP.to_le_bytes());
        assert_eq!(exchange.world.storage(POOL, b"/totalsupply").len(), 16);
        assert_eq!(exchange.world.storage(POOL, b"/implementation"), POOL_CODE.to_bytes());
    }
}

/// row PI24
#[test]
fn every_view_answers_the_figure_of_the_mathematics_in_32_bytes() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        exchange.world.set_height(HEIGHT + 3);
        exchange.run(&[5, 0, 1, ONE_BTC / 50, 0], &[(BTC, ONE_BTC / 50)]);
        exchange.world.set_height(HEIGHT + 9);
        let (pool, now) = (exchange.pool(), HEIGHT + 9);
        assert_eq!(exchange.view(&[100]), pool.get_virtual_price().unwrap());
        let balances = exchange.run(&[101], &[]).data;
        assert_eq!([number(&balances[..32]), number(&balances[32..])], pool.balances);
        assert_eq!(exchange.view(&[102]), int(A));
        assert_eq!(exchange.view(&[103]), int(GAMMA));
        assert_eq!(exchange.view(&[104]), pool.price_oracle(now).unwrap());
        assert_ne!(exchange.view(&[104]), exchange.slot("/price_oracle"), "the average of now, not the stored one");
        assert_eq!(exchange.view(&[105]), pool.price_scale);
        assert_eq!(exchange.view(&[106]), pool.lp_price(now).unwrap());
        for (i, j, coin) in [(0, 1, Coin::Zero), (1, 0, Coin::One)] {
            assert_eq!(exchange.view(&[107, i, j, 1_234_567]), pool.get_dy(coin, int(1_234_567), now).unwrap());
            assert_eq!(
                exchange.view(&[109, 1_234_567_890, i]),
                pool.calc_withdraw_one_coin(int(1_234_567_890), coin, now).unwrap()
            );
        }
        assert_eq!(exchange.view(&[108, 5_000, 70]), pool.calc_token_amount([int(5_000), int(70)], now).unwrap());
        assert_eq!(exchange.view(&[110]), pool.fee().unwrap());
        assert_eq!(exchange.view(&[111]), int(exchange.supply()));
    }
}

/// row PI34
#[test]
fn the_pool_is_no_token_and_only_a_pool_answers_opcode_106() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        assert_eq!(exchange.refused(&[99], &[]), "unknown opcode");
        assert_eq!(exchange.view(&[100]), exchange.slot("/virtual_price"), "where a token has its symbol");
        assert_eq!(exchange.view(&[102]), int(A), "where a token has its decimals");
        assert!(!exchange.view(&[106]).is_zero());
        for token in [BTC, USD, id(4, 0xffed)] {
            assert!(exchange.world.message(token, &[106], Parcel::new()).is_err(), "{token:?}");
        }
        assert!(refused(&exchange.world, POOL_CODE, &[106], &[]).ends_with("the pool is not initialized"));
        let bare = Exchange::bare(form);
        assert_eq!(bare.refused(&[106], &[]), "the pool is not initialized");
    }
}

/// row PI24
#[test]
fn an_exchange_pays_exactly_what_the_view_said_and_returns_the_rest() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        for (height, i, sold) in [(1, 0u128, 3_000_000u128), (1, 1, 10_000_000_000), (2, 1, 77), (9, 0, 1_000)] {
            exchange.world.set_height(HEIGHT + height);
            let (from, to) = if i == 0 { (BTC, USD) } else { (USD, BTC) };
            let told = u128::try_from(exchange.view(&[107, i, 1 - i, sold])).unwrap();
            let stranger = id(2, 77);
            let incoming = [(from, sold + 5), (stranger, 9), (to, 4)];
            let limit = exchange.refused(&[5, i, 1 - i, sold, told + 1], &incoming);
            assert_eq!(limit, "the outcome is below the limit");
            let answer = exchange.run(&[5, i, 1 - i, sold, told], &incoming);
            assert_eq!(number(&answer.data), int(told));
            assert_eq!(answer.alkanes.amount_of(from), 5);
            assert_eq!(answer.alkanes.amount_of(to), told + 4);
            assert_eq!(answer.alkanes.amount_of(stranger), 9);
            assert_eq!(exchange.held(), exchange.pool().balances, "the pool holds its balances and nothing else");
        }
    }
}

/// row PI24
#[test]
fn liquidity_goes_in_and_comes_out() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let first = exchange.supply();
        let pool = exchange.pool();
        assert_eq!(exchange.world.balance(POOL, POOL), 0, "all of the first deposit's liquidity went out");

        let (a, b) = (ONE_BTC / 10, ITS_WORTH / 7);
        let mut model = pool.clone();
        let minted = u128::try_from(model.add_liquidity([int(a), int(b)], U256::ZERO, HEIGHT).unwrap()).unwrap();
        let limit = exchange.refused(&[1, a, b, minted + 1], &[(BTC, a), (USD, b)]);
        assert_eq!(limit, "the outcome is below the limit");
        let answer = exchange.run(&[1, a, b, minted], &[(USD, b + 3), (BTC, a)]);
        assert_eq!(answer.alkanes.amount_of(POOL), minted);
        assert_eq!(answer.alkanes.amount_of(USD), 3);
        assert_eq!(number(&answer.data), int(minted));
        assert_eq!(exchange.supply(), first + minted + exchange.claimable());
        assert_eq!(exchange.pool(), model);

        let share = minted / 2;
        let told = exchange.pool().calc_withdraw(int(share)).unwrap().map(|out| u128::try_from(out).unwrap());
        for smallest in [[told[0] + 1, told[1]], [told[0], told[1] + 1]] {
            let limit = exchange.refused(&[2, share, smallest[0], smallest[1]], &[(POOL, share)]);
            assert_eq!(limit, "the outcome is below the limit");
        }
        let answer = exchange.run(&[2, share, told[0], told[1]], &[(POOL, share + 1)]);
        assert_eq!(answer.alkanes, parcel(&[(POOL, 1), (BTC, told[0]), (USD, told[1])]));
        // The second limit may be left out.
        exchange.run(&[2, 1_000_000_000, 0], &[(POOL, 1_000_000_000)]);

        for i in 0..2u128 {
            let share = minted / 8;
            let told = u128::try_from(exchange.view(&[109, share, i])).unwrap();
            let limit = exchange.refused(&[3, share, i, told + 1], &[(POOL, share)]);
            assert_eq!(limit, "the outcome is below the limit");
            let answer = exchange.run(&[3, share, i, told], &[(POOL, share)]);
            let coin = if i == 0 { BTC } else { USD };
            assert_eq!(answer.alkanes, parcel(&[(coin, told)]));
        }
        assert_eq!(exchange.held(), exchange.pool().balances);
    }
}

/// As in the contract that the mathematics follows: what rounding leaves behind keeps the pool from beginning anew.
#[test]
fn everybody_can_leave_and_then_the_pool_is_over() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let supply = exchange.supply();
        let out = exchange.run(&[2, supply, 0, 0], &[(POOL, supply)]).alkanes;
        assert!(out.amount_of(BTC) >= ONE_BTC - 1 && out.amount_of(USD) >= ITS_WORTH - 1, "{out:?}");
        assert_eq!(exchange.supply(), 0);
        assert_eq!(exchange.refused(&[5, 0, 1, 1_000, 0], &[(BTC, 1_000)]), "the invariant is out of range");
        assert_eq!(exchange.refused(&[2, 1, 0, 0], &[(POOL, 1)]), "more liquidity than there is");
        let again = exchange.refused(&[1, ONE_BTC, ITS_WORTH, 0], &[(BTC, ONE_BTC), (USD, ITS_WORTH)]);
        assert_eq!(again, "the deposit is too small");
    }
}

/// row PI24
#[test]
fn a_ramp_moves_the_curve_block_by_block_and_can_be_stopped() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let owner = [(exchange.owner, 1)];
        let end = u128::from(HEIGHT) + 20;
        assert_eq!(exchange.refused(&[11, 2 * A, GAMMA, u128::from(HEIGHT) + 5], &owner), "the ramp is too short");
        assert_eq!(exchange.refused(&[11, 11 * A, GAMMA, end], &owner), "the ramp is too steep");
        assert_eq!(exchange.refused(&[11, 2 * A, GAMMA, u128::MAX], &owner), "a height is beyond 64 bits");
        assert_eq!(exchange.run(&[11, 2 * A, GAMMA / 2, end], &owner).alkanes, parcel(&owner));
        assert_eq!(exchange.slot("/future_A_gamma"), int(2 * A) << 128 | int(GAMMA / 2));
        assert_eq!(exchange.slot("/initial_A_gamma_height"), int(HEIGHT.into()));
        assert_eq!(exchange.slot("/future_A_gamma_height"), int(end));
        for (blocks, a) in [(0, A), (5, A + A / 4), (10, A + A / 2), (20, 2 * A), (99, 2 * A)] {
            exchange.world.set_height(HEIGHT + blocks);
            assert_eq!(exchange.view(&[102]), int(a));
        }
        exchange.world.set_height(HEIGHT + 10);
        let before = exchange.pool();
        let told = exchange.view(&[107, 0, 1, 1_000_000]);
        assert_eq!(told, before.get_dy(Coin::Zero, int(1_000_000), HEIGHT + 10).unwrap());
        let answer = exchange.run(&[5, 0, 1, 1_000_000, 0], &[(BTC, 1_000_000)]);
        assert_eq!(number(&answer.data), told);
        assert_ne!(exchange.slot("/D"), before.d, "the invariant follows the curve");
        assert_eq!(exchange.refused(&[12], &[]), "the ownership token did not come in");
        exchange.run(&[12], &owner);
        exchange.world.set_height(HEIGHT + 15);
        assert_eq!(exchange.view(&[102]), int(A + A / 2));
        assert_eq!(exchange.pool().curve(HEIGHT + 15).unwrap().gamma, int(GAMMA - GAMMA / 4));
        // The next operation sees the end and clears it.
        exchange.run(&[5, 0, 1, 1_000_000, 0], &[(BTC, 1_000_000)]);
        assert_eq!(exchange.slot("/future_A_gamma_height"), U256::ZERO);
        assert_eq!(exchange.refused(&[11, A, GAMMA, 9_999], &owner), "the ramp is too short", "so soon after the last");
        exchange.world.set_height(HEIGHT + 16);
        exchange.run(&[11, A, GAMMA, 9_999], &owner);
    }
}

/// row PI24
#[test]
fn a_killed_pool_pays_out_both_coins_and_refuses_everything_else_until_it_is_revived() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let owner = [(exchange.owner, 1)];
        assert_eq!(exchange.refused(&[14], &[]), "the ownership token did not come in");
        exchange.run(&[14], &owner);
        assert_eq!(exchange.slot("/is_killed"), int(1));
        let calls: [(&[u128], Brought<'_>); 4] = [
            (&[5, 0, 1, 1_000_000, 0], &[(BTC, 1_000_000)]),
            (&[1, 1_000_000, 0, 0], &[(BTC, 1_000_000)]),
            (&[1, 1_000_000, 64_084_000_000, 0], &[(BTC, 1_000_000), (USD, 64_084_000_000)]),
            (&[3, 10u128.pow(15), 0, 0], &[(POOL, 10u128.pow(15))]),
        ];
        for (inputs, incoming) in calls {
            assert_eq!(exchange.refused(inputs, incoming), "the pool is killed");
        }
        exchange.run(&[2, 10u128.pow(15), 1, 1], &[(POOL, 10u128.pow(15))]);
        assert!(!exchange.view(&[107, 0, 1, 1_000_000]).is_zero(), "views go on");
        exchange.run(&[14], &owner);
        assert_eq!(exchange.refused(&[15], &[]), "the ownership token did not come in");
        exchange.run(&[15], &owner);
        assert_eq!(exchange.slot("/is_killed"), U256::ZERO);
        for (inputs, incoming) in calls {
            exchange.run(inputs, incoming);
        }
    }
}

#[test]
fn the_owner_gets_his_part_of_the_profit_as_liquidity() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        for round in 0..10 {
            exchange.world.set_height(HEIGHT + 1 + round);
            let sold = exchange.run(&[5, 0, 1, ONE_BTC / 5, 0], &[(BTC, ONE_BTC / 5)]).alkanes;
            let dollars = sold.amount_of(USD);
            exchange.run(&[5, 1, 0, dollars, 0], &[(USD, dollars)]);
        }
        let mut model = exchange.pool();
        let held_back = exchange.claimable();
        assert_eq!(exchange.refused(&[10], &[]), "the ownership token did not come in");
        let minted = u128::try_from(model.claim_admin_fees(HEIGHT + 10).unwrap()).unwrap();
        assert!(held_back + minted > 0, "the trades earned something");
        let answer = exchange.run(&[10], &[(exchange.owner, 1)]);
        assert_eq!(answer.alkanes, parcel(&[(exchange.owner, 1), (POOL, held_back + minted)]));
        assert_eq!(number(&answer.data), int(held_back + minted));
        assert_eq!(exchange.claimable(), 0);
        assert_eq!(exchange.pool(), model);
        assert_eq!(exchange.run(&[10], &[(exchange.owner, 1)]).alkanes, parcel(&[(exchange.owner, 1)]), "once");
        // It is liquidity like any other.
        exchange.run(&[2, held_back + minted, 0, 0], &[(POOL, held_back + minted)]);
    }
}

#[test]
fn parameters_are_checked_and_past_profit_is_shared_at_the_old_part() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let owner = [(exchange.owner, 1)];
        let set = |settings: [u128; 7]| [&[13], &settings[..]].concat();
        for (place, value, name) in [
            (0, 80_000_001, "mid_fee"),
            (1, 499_999, "out_fee"),
            (1, 10_000_000_001, "out_fee"),
            (2, 0, "fee_gamma"),
            (2, 10u128.pow(18), "fee_gamma"),
            (3, 10_000_000_001, "admin_fee"),
            (4, 10u128.pow(18) + 1, "allowed_extra_profit"),
            (5, 10u128.pow(18) + 1, "adjustment_step"),
            (6, 0, "ma_half_time"),
        ] {
            let mut settings = SETTINGS;
            settings[place] = value;
            assert_eq!(exchange.refused(&set(settings), &owner), format!("{name} is out of range"));
        }
        for round in 0..4 {
            exchange.world.set_height(HEIGHT + 1 + round);
            exchange.run(&[5, 0, 1, ONE_BTC / 5, 0], &[(BTC, ONE_BTC / 5)]);
        }
        let (before, held_back) = (exchange.supply(), exchange.claimable());
        let changed = [1_000_000, 30_000_000, 10u128.pow(15), 0, 10u128.pow(12), 10u128.pow(14), 12];
        assert_eq!(exchange.refused(&set(changed), &[]), "the ownership token did not come in");
        exchange.run(&set(changed), &owner);
        assert!(exchange.supply() > before, "the part of the past was put aside");
        assert_eq!(exchange.claimable() - held_back, exchange.supply() - before);
        for (name, value) in
            ["mid_fee", "out_fee", "fee_gamma", "admin_fee", "allowed_extra_profit", "adjustment_step", "ma_half_time"]
                .into_iter()
                .zip(changed)
        {
            assert_eq!(exchange.slot(&format!("/{name}")), int(value));
        }
    }
}

/// row PI34
#[test]
fn the_proxy_hands_over_to_an_ownership_token_that_exists_and_can_be_upgraded() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let (world, second) = (&exchange.world, id(4, 1_780));
        world.install_program(second, program(form, "upgradeable-proxy"));
        let owner = exchange.owner;
        run(world, second, &[32764, POOL_CODE.block, POOL_CODE.tx, owner.block, owner.tx], &[]);
        assert!(refused(world, second, &[32767, 4, 1786, 5], &[]).contains("already initialized"));
        assert!(refused(world, second, &[32764, 4, 1786, 2, 1], &[]).contains("already initialized"));
        run(world, second, &init_inputs(), &[(owner, 1)]);
        run(world, second, &[1, ONE_BTC, ITS_WORTH, 0], &[(BTC, ONE_BTC), (USD, ITS_WORTH)]);
        assert_eq!(run(world, second, &[36863], &[(BTC, 7)]).alkanes, parcel(&[(BTC, 7)]));
        assert!(world.message(second, &[32766, 4, 1777], Parcel::new()).is_err(), "only the owner upgrades");
        run(world, second, &[32766, 4, 1777], &[(owner, 1)]);
        assert!(world.message(second, &[106], Parcel::new()).is_err(), "other code on the same storage");
        run(world, second, &[32766, 4, 1786], &[(owner, 1)]);
        assert_eq!(run(world, second, &[106], &[]).data, exchange.run(&[106], &[]).data);
    }
}

#[test]
fn a_pool_is_set_up_once_and_by_its_owner_alone() {
    for form in FORMS {
        let exchange = Exchange::bare(form);
        let owner = [(exchange.owner, 1)];
        assert_eq!(exchange.refused(&init_inputs(), &[]), "the ownership token did not come in");
        assert_eq!(exchange.refused(&init_inputs(), &[(exchange.mint, 1)]), "the ownership token did not come in");
        let direct = refused(&exchange.world, POOL_CODE, &init_inputs(), &owner);
        assert!(direct.ends_with("the contract has no owner"), "{direct}");
        let changed = |place: usize, value: u128| {
            let mut inputs = init_inputs();
            inputs[place] = value;
            inputs
        };
        for (inputs, reason) in [
            (changed(5, 19), "a coin has at most 18 decimals"),
            (changed(6, u128::MAX), "a coin has at most 18 decimals"),
            (changed(7, 0), "the pool is empty"),
            (changed(8, 3_999), "A is out of range"),
            (changed(9, u128::MAX), "gamma is out of range"),
            (changed(13, u128::MAX), "admin_fee is out of range"),
            (changed(16, u128::MAX), "a height is beyond 64 bits"),
            ([&[0, 32, 0], &init_inputs()[1..3], &init_inputs()[5..]].concat(), "a pool needs two different coins"),
            ([&[0, 4, 1778], &init_inputs()[3..]].concat(), "a pool cannot trade its own liquidity"),
            (init_inputs()[..16].to_vec(), "missing or malformed parameter: ma_half_time"),
        ] {
            assert_eq!(exchange.refused(&inputs, &owner), reason);
        }
        assert_eq!(exchange.refused(&[1, 1, 1, 0], &[(BTC, 1), (USD, 1)]), "the pool is not initialized");
        exchange.run(&init_inputs(), &owner);
        assert_eq!(exchange.refused(&init_inputs(), &owner), "already initialized");
        assert_eq!(exchange.refused(&[5, 0, 1, 1_000, 0], &[(BTC, 1_000)]), "the invariant is out of range");
    }
}

#[test]
fn wrong_coins_and_amounts_are_refused() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let short = "too little of a coin came in";
        let stranger = id(2, 77);
        let calls: &[(&[u128], Brought<'_>, &str)] = &[
            (&[5, 0, 1, 1_000, 0], &[], short),
            (&[5, 0, 1, 1_000, 0], &[(BTC, 999)], short),
            (&[5, 0, 1, 1_000, 0], &[(USD, 1_000)], short),
            (&[5, 0, 1, 1_000, 0], &[(stranger, 1_000)], short),
            (&[5, 0, 1, u128::MAX, 0], &[(BTC, 1_000)], short),
            (&[5, 0, 1, 0, 0], &[(BTC, 1_000)], "the amount is zero"),
            (&[5, 0, 0, 1_000, 0], &[(BTC, 1_000)], "a coin cannot be exchanged for itself"),
            (&[5, 0, 2, 1_000, 0], &[(BTC, 1_000)], "there is no such coin"),
            (&[5, u128::MAX, 0, 1_000, 0], &[(BTC, 1_000)], "there is no such coin"),
            (&[5, 0, 1, 1_000, u128::MAX], &[(BTC, 1_000)], "the outcome is below the limit"),
            (&[5, 0, 1, 1_000], &[(BTC, 1_000)], "missing or malformed parameter: smallest"),
            (
                &[5, 0, 1, u128::MAX >> 1, 0],
                &[(BTC, u128::MAX >> 1)],
                "the pool is too small, too large or too one-sided",
            ),
            (&[1, 0, 0, 0], &[(BTC, 1_000), (USD, 1_000)], "the amount is zero"),
            (&[1, 1_000, 1_000, 0], &[(BTC, 1_000)], short),
            (&[1, 1_000, 0, 0], &[(USD, 1_000)], short),
            (
                &[1, u128::MAX >> 1, u128::MAX >> 1, 0],
                &[(BTC, u128::MAX >> 1), (USD, u128::MAX >> 1)],
                "the pool is too small, too large or too one-sided",
            ),
            (&[2, 1_000, 0, 0], &[], short),
            (&[2, 1_000, 0, 0], &[(BTC, 1_000)], short),
            (&[2, 0, 0, 0], &[(POOL, 1_000)], "the amount is zero"),
            (&[2, u128::MAX, 0, 0], &[(POOL, u128::MAX)], "more liquidity than there is"),
            (&[3, 1_000, 0, 0], &[(USD, 1_000)], short),
            (&[3, 0, 0, 0], &[(POOL, 1_000)], "the amount is zero"),
            (&[3, 1_000, 2, 0], &[(POOL, 1_000)], "there is no such coin"),
            (&[3, u128::MAX, 0, 0], &[(POOL, u128::MAX)], "more liquidity than there is"),
            (&[107, 0, 1, u128::MAX], &[], "the pool is too small, too large or too one-sided"),
            (&[108, u128::MAX, u128::MAX], &[], "the pool is too small, too large or too one-sided"),
            (&[109, u128::MAX, 0], &[], "more liquidity than there is"),
            (&[4], &[], "unknown opcode"),
            (&[], &[], "no opcode"),
        ];
        let before = exchange.pool();
        for (inputs, incoming, reason) in calls {
            assert_eq!(exchange.refused(inputs, incoming), *reason, "{inputs:?}");
        }
        assert_eq!(exchange.pool(), before);
        assert_eq!(exchange.held(), before.balances);
    }
}

/// Extremes in every place of every opcode never run into a trap, and what succeeds leaves the pool whole.
#[test]
fn extreme_numbers_never_trap() {
    for form in FORMS {
        let exchange = Exchange::founded(form);
        let all = [0, 1, 2, 1 << 63, 1 << 64, 1 << 127, u128::MAX];
        // A compiled message costs a millisecond or more.
        let extremes = if form == Form::Native { &all[..] } else { &[0, u128::MAX] };
        exchange.without_proxy(|| try_extremes(&exchange, extremes));
    }
}

fn try_extremes(exchange: &Exchange, extremes: &[u128]) {
    let count = [(0, 17), (1, 3), (2, 3), (3, 3), (5, 4), (11, 3), (13, 7), (107, 3), (108, 2), (109, 2)];
    for (opcode, parameters) in count {
        for fill in extremes.iter().copied() {
            for (place, other) in (0..parameters).flat_map(|place| extremes.iter().map(move |other| (place, *other))) {
                let mut inputs = vec![opcode];
                inputs.resize(parameters + 1, fill);
                inputs[1 + place] = other;
                let incoming = parcel(&[(BTC, 1 << 40), (USD, 1 << 50), (POOL, 1 << 30), (exchange.owner, 1)]);
                if let Err(text) = exchange.world.message(POOL, &inputs, incoming) {
                    assert!(!text.contains("wasm") && !text.contains("fuel"), "{inputs:?}: {text}");
                }
                assert_eq!(exchange.held(), exchange.pool().balances, "{inputs:?}");
            }
        }
    }
}

/// A coin whose every call runs through the pool again.
struct Malicious;

impl Program for Malicious {
    fn execute(&self, _: &Rc<Frame>) -> Result<Vec<u8>, String> {
        panic!("the pool called a coin");
    }
}

#[test]
fn a_malicious_coin_is_never_called() {
    for form in FORMS {
        let exchange = Exchange::bare(form);
        for coin in [BTC, USD] {
            exchange.world.install_program(coin, Rc::new(Malicious));
        }
        exchange.run(&init_inputs(), &[(exchange.owner, 1)]);
        exchange.run(&[1, ONE_BTC, ITS_WORTH, 0], &[(BTC, ONE_BTC), (USD, ITS_WORTH)]);
        for height in 1..6 {
            exchange.world.set_height(HEIGHT + height);
            exchange.run(&[5, 0, 1, 5_000_000, 0], &[(BTC, 5_000_000)]);
            exchange.run(&[3, 10u128.pow(15), 1, 0], &[(POOL, 10u128.pow(15))]);
            exchange.run(&[2, 10u128.pow(15), 0, 0], &[(POOL, 10u128.pow(15))]);
            exchange.run(&[10], &[(exchange.owner, 1)]);
        }
        for view in 100..=106 {
            exchange.run(&[view], &[]);
        }
    }
}

/// What lies on the pool's account beside its balances has no owner until a claim takes it in.
#[test]
fn a_surplus_is_taken_in_by_the_next_claim() {
    let exchange = Exchange::founded(Form::Compiled);
    let owner = [(exchange.owner, 1)];
    // No opcode of the pool keeps what it does not need, so other code has to, for one call.
    let probe = id(4, 1);
    exchange.world.install_program(probe, program(Form::Compiled, "probe"));
    exchange.run(&[32766, probe.block, probe.tx], &owner);
    exchange.run(&[62], &[(BTC, 1_000)]);
    exchange.run(&[32766, POOL_CODE.block, POOL_CODE.tx], &owner);
    assert_eq!(exchange.held()[0], int(ONE_BTC + 1_000));
    let told = exchange.view(&[107, 0, 1, 1_000_000]);
    assert_eq!(number(&exchange.run(&[5, 0, 1, 1_000_000, 0], &[(BTC, 1_000_000)]).data), told);
    assert_eq!(exchange.slot("/balances/0"), int(ONE_BTC + 1_000_000));
    exchange.run(&[10], &owner);
    assert_eq!(exchange.slot("/balances/0"), int(ONE_BTC + 1_001_000));
    assert_eq!(exchange.held(), exchange.pool().balances);
}
