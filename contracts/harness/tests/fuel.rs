//! Fuel of common calls on the committed modules, to the unit: a change here is a change for everyone who pays for the calls.
//!
//! A message costs its instructions, host functions and calls, and 40 per byte of its response's storage map.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use paraffin_contract::testing::{TransactionBuilder, World};
use paraffin_contract::{AlkaneId, Parcel};
use scene::cryptoswap::{BTC, Exchange, HEIGHT, ITS_WORTH, ONE_BTC, POOL, USD, init_inputs};
use scene::{Form, id, parcel, program, word, world};

struct Meter {
    world: World,
    measured: Vec<(&'static str, u64)>,
}

impl Meter {
    fn install(&self, id: AlkaneId, name: &str) {
        self.world.install_program(id, program(Form::Compiled, name));
    }

    fn run(&mut self, what: &'static str, target: AlkaneId, inputs: &[u128], incoming: Parcel) {
        self.world.message(target, inputs, incoming).unwrap();
        self.measured.push((what, self.world.fuel_used()));
    }
}

#[test]
fn fuel_of_common_calls_is_pinned() {
    let mut meter = Meter { world: world(Form::Compiled), measured: Vec::new() };
    let (counter, probe, diesel, frbtc) = (id(2, 100), id(2, 101), id(2, 0), id(32, 0));
    meter.install(counter, "counter");
    meter.install(probe, "probe");
    meter.install(diesel, "genesis-token");
    meter.install(frbtc, "wrapped-bitcoin");
    meter.install(id(4, 1), "owned-token");
    meter.world.set_precompile(2, 1u128.to_le_bytes());
    meter.world.set_precompile(3, 5_000_000_000u128.to_le_bytes());
    meter.run("counter 0 initialize", counter, &[0], Parcel::new());
    meter.run("counter 1 increment", counter, &[1, 5], Parcel::new());
    meter.run("counter 2 value", counter, &[2], Parcel::new());
    meter.run("probe 1 nothing", probe, &[1], Parcel::new());
    meter.run("probe 45 nest 1", probe, &[45, 1], Parcel::new());
    meter.run("probe 45 nest 24", probe, &[45, 24], Parcel::new());
    meter.run("genesis token 0 initialize", diesel, &[0], Parcel::new());
    meter.run("genesis token 77 mint", diesel, &[77], Parcel::new());
    meter.run("genesis token 99 name", diesel, &[99], Parcel::new());
    meter.run("wrapped bitcoin 0 initialize", frbtc, &[0], Parcel::new());
    let signer = meter.world.storage(frbtc, b"/signer_script_cached");
    meter.world.set_transaction(&TransactionBuilder::new().paying(100_000, signer));
    meter.run("wrapped bitcoin 77 wrap", frbtc, &[77], Parcel::new());
    meter.run("owned token 1 initialize", id(6, 1), &[1, 1, 1_000, word("Token"), word("TKN")], Parcel::new());
    let expected: &[(&str, u64)] = &[
        ("counter 0 initialize", 3622),
        ("counter 1 increment", 4408),
        ("counter 2 value", 2667),
        ("probe 1 nothing", 2911),
        ("probe 45 nest 1", 8668),
        ("probe 45 nest 24", 132_063),
        ("genesis token 0 initialize", 6570),
        ("genesis token 77 mint", 25_537),
        ("genesis token 99 name", 2607),
        ("wrapped bitcoin 0 initialize", 1_687_481),
        ("wrapped bitcoin 77 wrap", 35_705),
        ("owned token 1 initialize", 134_923),
    ];
    assert_eq!(meter.measured, expected);
}

#[test]
fn fuel_of_the_btc_usd_pool_is_pinned() {
    let bare = Exchange::bare(Form::Compiled);
    let (owner, mint) = (bare.owner, bare.mint);
    let mut meter = Meter { world: bare.world, measured: Vec::new() };
    let lots = 10u128.pow(17);
    meter.run("token 77 mint", USD, &[77, 2 * ITS_WORTH], parcel(&[(mint, 1)]));
    meter.run("token 5 burn", USD, &[5, 1, 2, 0], parcel(&[(USD, 1_000)]));
    meter.run("pool 0 init", POOL, &init_inputs(), parcel(&[(owner, 1)]));
    meter.run("pool 1 first deposit", POOL, &[1, ONE_BTC, ITS_WORTH, 0], parcel(&[(BTC, ONE_BTC), (USD, ITS_WORTH)]));
    meter.run("pool 107 get_dy", POOL, &[107, 0, 1, ONE_BTC / 100], Parcel::new());
    meter.run("pool 5 exchange", POOL, &[5, 0, 1, ONE_BTC / 100, 0], parcel(&[(BTC, ONE_BTC / 100)]));
    for block in 1..=6 {
        meter.world.set_height(HEIGHT + block);
        meter.run(
            "pool 5 exchange in another block",
            POOL,
            &[5, 0, 1, ONE_BTC / 10, 0],
            parcel(&[(BTC, ONE_BTC / 10)]),
        );
    }
    meter.run("pool 1 deposit of one coin", POOL, &[1, 0, ITS_WORTH / 50, 0], parcel(&[(USD, ITS_WORTH / 50)]));
    meter.run("pool 108 calc_token_amount", POOL, &[108, ONE_BTC, 0], Parcel::new());
    meter.run("pool 3 one coin", POOL, &[3, lots, 0, 0], parcel(&[(POOL, lots)]));
    meter.run("pool 2 both coins", POOL, &[2, lots, 0, 0], parcel(&[(POOL, lots)]));
    meter.run("pool 10 claim", POOL, &[10], parcel(&[(owner, 1)]));
    meter.run("pool 11 ramp", POOL, &[11, 500_000, 145_000_000_000_000, 2_000], parcel(&[(owner, 1)]));
    meter.run("pool 5 exchange in a ramp", POOL, &[5, 1, 0, ITS_WORTH / 10, 0], parcel(&[(USD, ITS_WORTH / 10)]));
    meter.run("pool 14 kill", POOL, &[14], parcel(&[(owner, 1)]));
    meter.run("pool 106 lp_price", POOL, &[106], Parcel::new());
    // No message may need more than 3,500,000, which is what each gets at least.
    let expected: &[(&str, u64)] = &[
        ("token 77 mint", 12_920),
        ("token 5 burn", 17_733),
        ("pool 0 init", 101_128),
        ("pool 1 first deposit", 97_311),
        ("pool 107 get_dy", 104_785),
        ("pool 5 exchange", 238_111),
        ("pool 5 exchange in another block", 613_108),
        ("pool 5 exchange in another block", 653_891),
        ("pool 5 exchange in another block", 693_524),
        ("pool 5 exchange in another block", 694_465),
        ("pool 5 exchange in another block", 733_627),
        ("pool 5 exchange in another block", 733_992),
        ("pool 1 deposit of one coin", 524_252),
        ("pool 108 calc_token_amount", 232_897),
        ("pool 3 one coin", 507_516),
        ("pool 2 both coins", 52_995),
        ("pool 10 claim", 282_997),
        ("pool 11 ramp", 48_790),
        ("pool 5 exchange in a ramp", 1_053_243),
        ("pool 14 kill", 39_262),
        ("pool 106 lp_price", 39_253),
    ];
    assert_eq!(meter.measured, expected);
}
