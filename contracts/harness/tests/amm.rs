//! The exchange as it is deployed: factory behind its proxy, pools behind their beacon.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use paraffin_contract::testing::World;
use paraffin_contract::{AlkaneId, Parcel, U256};
use scene::{FORMS, Form, header, id, number, parcel, program, run, word, world};

const FACTORY: AlkaneId = id(4, 65522);
const FACTORY_CODE: AlkaneId = id(4, 65524);
const POOL_CODE: AlkaneId = id(4, 65520);
const BEACON: AlkaneId = id(4, 0xbeac0);
const PROXY: u128 = 0xbeac1;

/// Deploys everything; answers the owner token of the factory and two tokens.
fn deploy(form: Form) -> (World, AlkaneId, [AlkaneId; 2]) {
    let world = world(form);
    world.install_program(POOL_CODE, program(form, "amm-pool"));
    world.install_program(FACTORY_CODE, program(form, "amm-factory"));
    world.install_program(FACTORY, program(form, "upgradeable-proxy"));
    world.install_program(BEACON, program(form, "upgradeable-beacon"));
    world.install_program(id(4, PROXY), program(form, "beacon-proxy"));
    world.install_program(id(4, 1), program(form, "owned-token"));
    run(&world, BEACON, &[0x7fff, 4, POOL_CODE.tx, 1], &[]);
    let owner = run(&world, FACTORY, &[0x7fff, 4, FACTORY_CODE.tx, 5], &[]).alkanes.single().unwrap().id;
    run(&world, FACTORY, &[0, PROXY, BEACON.block, BEACON.tx], &[(owner, 1)]);
    let mut tokens = Vec::new();
    for name in ["Alpha", "Beta"] {
        let made = run(&world, id(6, 1), &[1, 1, 1 << 80, word(name), word(name)], &[]);
        tokens.push(made.alkanes.0[1].id);
    }
    (world, owner, tokens.try_into().unwrap())
}

fn create(world: &World, a: AlkaneId, b: AlkaneId, amount_a: u128, amount_b: u128) -> (AlkaneId, Parcel) {
    let inputs = [1, a.block, a.tx, b.block, b.tx, amount_a, amount_b];
    let made = run(world, FACTORY, &inputs, &[(a, amount_a + 5), (b, amount_b)]);
    (AlkaneId::from_bytes(&made.data).unwrap(), made.alkanes)
}

fn reserves(world: &World, pool: AlkaneId) -> [u128; 2] {
    let data = run(world, pool, &[97], &[]).data;
    [u128::from_le_bytes(data[..16].try_into().unwrap()), u128::from_le_bytes(data[16..].try_into().unwrap())]
}

#[test]
fn a_new_pool_has_the_documented_numbers_slots_and_details() {
    for form in FORMS {
        let (world, _, [a, b]) = deploy(form);
        let expected = id(2, world.sequence());
        let (pool, out) = create(&world, b, a, 1_000_000, 1_000_000);
        assert_eq!(pool, expected);
        assert_eq!(out, parcel(&[(b, 5), (pool, 999_000)]), "leftover and liquidity");
        assert_eq!(reserves(&world, pool), [1_000_000, 1_000_000]);
        let details = run(&world, pool, &[999], &[]).data;
        assert_eq!(details[..64], [a.to_bytes(), b.to_bytes()].concat());
        assert_eq!(details[96..112], 1_000_000u128.to_le_bytes(), "total supply");
        assert_eq!(details[112..116], 15u32.to_le_bytes());
        assert_eq!(&details[116..], b"Alpha / Beta LP");
        assert_eq!(world.storage(pool, b"/alkane/0"), a.to_bytes());
        assert_eq!(world.storage(pool, b"/factory_id"), FACTORY.to_bytes());
        assert_eq!(world.storage(pool, b"/beacon"), BEACON.to_bytes());
        assert_eq!(world.storage(pool, b"/klast"), U256::from(10u64.pow(12)).to_le_bytes::<32>());
        assert_eq!(run(&world, FACTORY, &[2, b.block, b.tx, a.block, a.tx], &[]).data, pool.to_bytes());
        assert_eq!(number(&world, FACTORY, &[4]), 1);
        assert_eq!(run(&world, FACTORY, &[3], &[]).data, [&1u128.to_le_bytes()[..], &pool.to_bytes()].concat());
        let again = [1, a.block, a.tx, b.block, b.tx, 5_000, 5_000];
        assert!(world.message(FACTORY, &again, parcel(&[(a, 5_000), (b, 5_000)])).is_err(), "one pool for a pair");
    }
}

#[test]
fn trades_give_the_quoted_amount_and_at_a_lower_fee_more() {
    for form in FORMS {
        let (world, owner, [a, b]) = deploy(form);
        let (pool, _) = create(&world, a, b, 1_000_000, 1_000_000);
        let swap = [13, 2, a.block, a.tx, b.block, b.tx, 10_000, 9_802, 0];
        assert_eq!(run(&world, FACTORY, &swap, &[(a, 10_010)]).alkanes, parcel(&[(a, 10), (b, 9_802)]));
        assert_eq!(reserves(&world, pool), [1_010_000, 990_198]);

        let (world, owner_2, [a, b]) = deploy(form);
        assert_eq!(owner, owner_2);
        let (pool, _) = create(&world, a, b, 1_000_000, 1_000_000);
        assert!(world.message(FACTORY, &[21, pool.block, pool.tx, 5], Parcel::new()).is_err(), "only the owner");
        run(&world, FACTORY, &[21, pool.block, pool.tx, 5], &[(owner, 1)]);
        assert_eq!(number(&world, pool, &[20]), 5);
        let swap = [29, 1, b.block, b.tx, 0, 0];
        assert_eq!(run(&world, FACTORY, &swap, &[(a, 10_000)]).alkanes, parcel(&[(b, 9_851)]));
    }
}

#[test]
fn limits_and_deadlines_hold() {
    for form in FORMS {
        let (world, _, [a, b]) = deploy(form);
        create(&world, a, b, 1_000_000, 1_000_000);
        world.set_height(100);
        let path = [2, a.block, a.tx, b.block, b.tx];
        let exact_in = |smallest, deadline| [&[13], &path[..], &[10_000, smallest, deadline]].concat();
        assert!(world.message(FACTORY, &exact_in(9_803, 0), parcel(&[(a, 10_000)])).is_err());
        assert!(world.message(FACTORY, &exact_in(0, 99), parcel(&[(a, 10_000)])).is_err());
        assert!(world.message(FACTORY, &exact_in(0, 100), parcel(&[(a, 9_999)])).is_err());
        let exact_out = |largest| [&[14], &path[..], &[9_802, largest, 0]].concat();
        assert!(world.message(FACTORY, &exact_out(9_999), parcel(&[(a, 20_000)])).is_err());
        let traded = run(&world, FACTORY, &exact_out(10_000), &[(a, 20_000)]);
        assert_eq!(traded.alkanes, parcel(&[(a, 10_000), (b, 9_802)]));
        run(&world, FACTORY, &exact_in(0, 100), &[(a, 10_000)]);
    }
}

#[test]
fn a_direct_trade_that_pays_one_unit_too_little_is_refused() {
    for form in FORMS {
        let (world, _, [a, b]) = deploy(form);
        let (pool, _) = create(&world, a, b, 1_000_000, 1_000_000);
        let swap = |out| [3, 0, out, 0, 0, 0];
        assert!(world.message(pool, &swap(9_803), parcel(&[(a, 10_000)])).is_err());
        assert!(world.message(pool, &swap(0), parcel(&[(a, 10_000)])).is_err());
        assert!(world.message(pool, &swap(1_000_000), parcel(&[(a, 10_000)])).is_err());
        assert_eq!(run(&world, pool, &swap(9_802), &[(a, 10_000)]).alkanes, parcel(&[(b, 9_802)]));
    }
}

#[test]
fn liquidity_comes_and_goes_and_the_protocol_earns() {
    for form in FORMS {
        let (world, owner, [a, b]) = deploy(form);
        let (pool, _) = create(&world, a, b, 1_000_000, 4_000_000);
        let add = [11, a.block, a.tx, b.block, b.tx, 500_000, 3_000_000, 500_000, 1, 0];
        let added = run(&world, FACTORY, &add, &[(a, 500_000), (b, 3_000_000)]);
        assert_eq!(added.alkanes, parcel(&[(b, 1_000_000), (pool, 1_000_000)]), "half as much again");
        for _ in 0..6 {
            run(&world, FACTORY, &[29, 1, b.block, b.tx, 0, 0], &[(a, 100_000)]);
            run(&world, FACTORY, &[29, 1, a.block, a.tx, 0, 0], &[(b, 300_000)]);
        }
        let before = number_of_supply(&world, pool);
        let collected = run(&world, FACTORY, &[10, pool.block, pool.tx], &[(owner, 1)]).alkanes;
        let earned = collected.amount_of(pool);
        assert!(earned > 0);
        assert_eq!(collected, parcel(&[(owner, 1), (pool, earned)]));
        assert_eq!(number_of_supply(&world, pool), before + earned);
        assert_eq!(world.storage(pool, b"/claimablefees"), 0u128.to_le_bytes());
        assert!(world.message(pool, &[10], Parcel::new()).is_err(), "only the factory collects");

        let held = reserves(&world, pool);
        let burn = [12, a.block, a.tx, b.block, b.tx, 1_000_000, 1, 1, 0];
        let out = run(&world, FACTORY, &burn, &[(pool, 1_000_000)]).alkanes;
        let share = |index: usize| held[index] * 1_000_000 / (before + earned);
        assert_eq!(out, parcel(&[(a, share(0)), (b, share(1))]));
    }
}

fn number_of_supply(world: &World, pool: AlkaneId) -> u128 {
    u128::from_le_bytes(run(world, pool, &[999], &[]).data[96..112].try_into().unwrap())
}

#[test]
fn prices_accumulate_over_time() {
    for form in FORMS {
        let (world, _, [a, b]) = deploy(form);
        let (pool, _) = create(&world, a, b, 1_000_000, 2_000_000);
        world.set_precompile(0, header(1_700_000_600));
        run(&world, FACTORY, &[29, 1, b.block, b.tx, 0, 0], &[(a, 1_000)]);
        let data = run(&world, pool, &[98], &[]).data;
        let expected: U256 = (U256::from(2_000_000u64) << 128) / U256::from(1_000_000u64) * U256::from(600u64);
        assert_eq!(data[..32], expected.to_le_bytes::<32>());
        assert_eq!(world.storage(pool, b"/blockTimestampLast"), 1_700_000_600u32.to_le_bytes());
    }
}

#[test]
fn a_beacon_moves_all_pools_to_new_code_and_only_for_its_owner() {
    for form in FORMS {
        let (world, owner, [a, b]) = deploy(form);
        let (pool, _) = create(&world, a, b, 1_000_000, 1_000_000);
        world.install_program(id(4, 77), program(form, "counter"));
        assert!(world.message(BEACON, &[0x7ffe, 4, 77], Parcel::new()).is_err());
        assert!(world.message(BEACON, &[0x7ffe, 4, 77], parcel(&[(owner, 1)])).is_err(), "another contract's owner");
        let beacon_owner = AlkaneId::from_bytes(&world.storage(BEACON, b"/auth")).unwrap();
        run(&world, BEACON, &[0x7ffe, 4, 77], &[(beacon_owner, 1)]);
        assert_eq!(number(&world, pool, &[1, 42]), 42, "the pool is a counter now");
        run(&world, FACTORY, &[0x7ffe, 4, 77], &[(owner, 1)]);
        assert_eq!(number(&world, FACTORY, &[1, 7]), 7);
    }
}

#[test]
fn fuel_of_a_new_pool_and_a_trade_is_pinned() {
    let (world, _, [a, b]) = deploy(Form::Compiled);
    create(&world, a, b, 1_000_000, 1_000_000);
    assert_eq!(world.fuel_used(), 202_874);
    run(&world, FACTORY, &[29, 1, b.block, b.tx, 0, 0], &[(a, 10_000)]);
    assert_eq!(world.fuel_used(), 59_152);
}

mod borrower {
    //! Takes what the pool lends and pays back what it is told to.

    use paraffin_contract::{AlkaneId, Call, Environment, Parcel, Response, Revert, contract};

    contract! {
        /// A receiver of a trade.
        Borrower {
            9 => lent(caller: AlkaneId, amount_0: u128, amount_1: u128, id: AlkaneId, repaid: u128) -> Response;
            10 => reenter(caller: AlkaneId, amount_0: u128, amount_1: u128) -> Response;
        }
    }

    fn lent(
        _: &mut Environment,
        caller: AlkaneId,
        _: u128,
        _: u128,
        id: AlkaneId,
        repaid: u128,
    ) -> Result<Response, Revert> {
        assert_eq!(caller, AlkaneId::TRANSACTION);
        Ok(Response::sending(Parcel::of(id, repaid)))
    }

    fn reenter(env: &mut Environment, _: AlkaneId, _: u128, _: u128) -> Result<Response, Revert> {
        let pool = env.caller();
        env.call(&Call::new(pool, vec![1]).sending(env.incoming().clone()))
    }
}

#[test]
fn a_receiver_may_pay_in_the_middle_of_a_trade_and_may_not_reenter() {
    for form in FORMS {
        let (world, _, [a, b]) = deploy(form);
        let (pool, _) = create(&world, a, b, 1_000_000, 1_000_000);
        let receiver = id(2, 50);
        world.install::<borrower::Borrower>(receiver);
        let swap = |repaid| [3, 10_000, 0, receiver.block, receiver.tx, 4, 9, a.block, a.tx, repaid];
        // A loan of 10,000 is paid back in kind with the fee: 10,000 * 1000 / 990, rounded up.
        assert!(world.message(pool, &swap(10_101), Parcel::new()).is_err());
        world.message(receiver, &[9, 0, 0, 0, 0, 2, 99, 0], parcel(&[(a, 500)])).unwrap();
        assert_eq!(run(&world, pool, &swap(10_102), &[]).alkanes, Parcel::new());
        assert_eq!(reserves(&world, pool), [1_000_102, 1_000_000]);
        assert_eq!(world.storage(pool, b"/lock"), 0u128.to_le_bytes());
        let again = [3, 10_000, 0, receiver.block, receiver.tx, 1, 10];
        assert!(world.message(pool, &again, Parcel::new()).is_err());
    }
}
