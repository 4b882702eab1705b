//! The BTC/USD pool as it is deployed.
#![allow(clippy::unwrap_used, reason = "the functions beside the tests are tests as well")]

mod scene;

use scene::cryptoswap::{BTC, Exchange, POOL, USD};
use scene::Form;

#[test]
fn fuel_now() {
    let exchange = Exchange::empty(Form::Compiled);
    let fuel = |what: &str| println!("{what} {}", exchange.world.fuel_used());
    fuel("init");
    exchange.run(&[1, 100_000_000, 6_408_394_000_000, 0], &[(BTC, 100_000_000), (USD, 6_408_394_000_000)]);
    fuel("first add");
    exchange.run(&[107, 0, 1, 100_000], &[]);
    fuel("get_dy");
    for h in 0..8 {
        exchange.world.set_height(1001 + h);
        let out = exchange.run(&[5, 0, 1, 10_000_000, 0], &[(BTC, 10_000_000)]);
        fuel("exchange");
        let usd = out.alkanes.amount_of(USD);
        exchange.run(&[5, 1, 0, usd, 0], &[(USD, usd)]);
        fuel("exchange back");
        println!("{}", exchange.slot("/price_scale"));
    }
    for h in 0..8 {
        exchange.world.set_height(1011 + h);
        exchange.run(&[5, 0, 1, 10_000_000, 0], &[(BTC, 10_000_000)]);
        fuel("exchange on");
    }
    exchange.run(&[1, 100_000, 0, 0], &[(BTC, 100_000)]);
    fuel("add one");
    exchange.run(&[1, 100_000, 6_408_394_0, 0], &[(BTC, 100_000), (USD, 6_408_394_0)]);
    fuel("add both");
    exchange.run(&[3, 1_000_000_000_000, 0, 0], &[(POOL, 1_000_000_000_000)]);
    fuel("remove one");
    exchange.run(&[2, 1_000_000_000_000, 0, 0], &[(POOL, 1_000_000_000_000)]);
    fuel("remove");
    for op in 100..=106 {
        exchange.run(&[op], &[]);
        fuel(&op.to_string());
    }
    exchange.run(&[108, 1_000_000, 0], &[]);
    fuel("108");
    exchange.run(&[109, 1_000_000_000_000, 0], &[]);
    fuel("109");
}
