//! A CryptoSwap pool as it is deployed: behind its proxy, with bitcoin as coin 0 and the USD token as coin 1.
#![allow(dead_code, reason = "every test uses its own part")]

use cryptoswap_math::{Curve, Parameters, Pool, Ramp};
use paraffin_contract::testing::World;
use paraffin_contract::{AlkaneId, Response, U256};

use super::{Form, id, program, run, string, world};

pub(crate) const BTC: AlkaneId = id(32, 0);
pub(crate) const USD: AlkaneId = id(4, 1776);
pub(crate) const USD_CODE: AlkaneId = id(4, 1777);
pub(crate) const POOL: AlkaneId = id(4, 1778);
pub(crate) const POOL_CODE: AlkaneId = id(4, 1786);

/// Where the scene starts.
pub(crate) const HEIGHT: u64 = 1_000;
/// Bitcoin per dollar, times 1e18: 64,084 dollars.
pub(crate) const PRICE: u128 = 15_604_533_105_145;
pub(crate) const A: u128 = 400_000;
pub(crate) const GAMMA: u128 = 145_000_000_000_000;
/// Fees, fee gamma, the owner's part, extra profit, step and half time, in the order of the calldata.
pub(crate) const SETTINGS: [u128; 7] =
    [20_000_000, 80_000_000, 230_000_000_000_000, 5_000_000_000, 2_000_000_000_000, 146_000_000_000_000, 6];
pub(crate) const SHORTEST_RAMP: u128 = 6;

/// One bitcoin, and what it is worth in dollars.
pub(crate) const ONE_BTC: u128 = 100_000_000;
pub(crate) const ITS_WORTH: u128 = 6_408_394_000_000;

/// Every slot that holds a number of 32 bytes.
pub(crate) const SLOTS: [&str; 25] = [
    "/D",
    "/adjustment_step",
    "/admin_fee",
    "/allowed_extra_profit",
    "/balances/0",
    "/balances/1",
    "/fee_gamma",
    "/future_A_gamma",
    "/future_A_gamma_height",
    "/initial_A_gamma",
    "/initial_A_gamma_height",
    "/is_killed",
    "/last_prices",
    "/last_prices_height",
    "/ma_half_time",
    "/mid_fee",
    "/not_adjusted",
    "/out_fee",
    "/precisions/0",
    "/precisions/1",
    "/price_oracle",
    "/price_scale",
    "/virtual_price",
    "/xcp_profit",
    "/xcp_profit_a",
];

/// The pool with its tokens in a world of their own. What comes in with a message is taken as given.
pub(crate) struct Exchange {
    form: Form,
    pub(crate) world: World,
    /// The ownership token of the pool.
    pub(crate) owner: AlkaneId,
    /// The authority to mint dollars.
    pub(crate) mint: AlkaneId,
}

/// Calldata of the pool's opcode 0.
pub(crate) fn init_inputs() -> Vec<u128> {
    let coins = [0, BTC.block, BTC.tx, USD.block, USD.tx, 8, 8];
    [&coins[..], &[PRICE, A, GAMMA], &SETTINGS, &[SHORTEST_RAMP]].concat()
}

impl Exchange {
    /// Deployed, not yet initialized.
    pub(crate) fn bare(form: Form) -> Self {
        let world = world(form);
        world.set_height(HEIGHT);
        for (id, name) in [
            (BTC, "wrapped-bitcoin"),
            (USD_CODE, "usd-token"),
            (POOL_CODE, "cryptoswap-pool"),
            (USD, "upgradeable-proxy"),
            (POOL, "upgradeable-proxy"),
        ] {
            world.install_program(id, program(form, name));
        }
        let mint = run(&world, USD, &[0x7fff, USD_CODE.block, USD_CODE.tx, 5], &[]).alkanes.single().unwrap().id;
        let owner = run(&world, POOL, &[0x7fff, POOL_CODE.block, POOL_CODE.tx, 5], &[]).alkanes.single().unwrap().id;
        run(&world, USD, &[&[0], &string("Dollar")[..], &string("USD")].concat(), &[(mint, 1)]);
        Self { form, world, owner, mint }
    }

    /// Initialized, without liquidity.
    pub(crate) fn empty(form: Form) -> Self {
        let exchange = Self::bare(form);
        exchange.run(&init_inputs(), &[(exchange.owner, 1)]);
        exchange
    }

    /// With one bitcoin and its worth.
    pub(crate) fn founded(form: Form) -> Self {
        let exchange = Self::empty(form);
        exchange.run(&[1, ONE_BTC, ITS_WORTH, 0], &[(BTC, ONE_BTC), (USD, ITS_WORTH)]);
        exchange
    }

    /// A message to the pool that must go well.
    pub(crate) fn run(&self, inputs: &[u128], incoming: &[(AlkaneId, u128)]) -> Response {
        run(&self.world, POOL, inputs, incoming)
    }

    /// Why the pool refuses a message. Behind the proxy the reason stands in the trace alone, so the code is asked itself, on
    /// the proxy's storage.
    pub(crate) fn refused(&self, inputs: &[u128], incoming: &[(AlkaneId, u128)]) -> String {
        super::refused(&self.world, POOL, inputs, incoming);
        self.without_proxy(|| {
            let text = super::refused(&self.world, POOL, inputs, incoming);
            text.strip_prefix("ALKANES: revert: ").unwrap_or(&text).to_owned()
        })
    }

    /// With the pool's code where its proxy is.
    pub(crate) fn without_proxy<T>(&self, then: impl FnOnce() -> T) -> T {
        self.world.install_program(POOL, program(self.form, "cryptoswap-pool"));
        let outcome = then();
        self.world.install_program(POOL, program(self.form, "upgradeable-proxy"));
        outcome
    }

    /// The number that a view answers.
    pub(crate) fn view(&self, inputs: &[u128]) -> U256 {
        number(&self.run(inputs, &[]).data)
    }

    /// A stored number of 32 bytes.
    pub(crate) fn slot(&self, name: &str) -> U256 {
        number(&self.world.storage(POOL, name.as_bytes()))
    }

    pub(crate) fn supply(&self) -> u128 {
        u128::from_le_bytes(self.world.storage(POOL, b"/totalsupply").try_into().unwrap())
    }

    /// Liquidity put aside for the owner.
    pub(crate) fn claimable(&self) -> u128 {
        self.world.storage(POOL, b"/claimable_fees").try_into().map_or(0, u128::from_le_bytes)
    }

    /// What the pool holds of both coins.
    pub(crate) fn held(&self) -> [U256; 2] {
        [BTC, USD].map(|coin| U256::from(self.world.balance(POOL, coin)))
    }

    /// The pool as its slots tell it.
    pub(crate) fn pool(&self) -> Pool {
        let curve = |name: &str| {
            let packed = self.slot(name);
            Curve { ann: packed >> 128, gamma: packed & U256::from(u128::MAX) }
        };
        let time = |name: &str| u64::try_from(self.slot(name)).unwrap();
        Pool {
            parameters: Parameters {
                precisions: [self.slot("/precisions/0"), self.slot("/precisions/1")],
                mid_fee: self.slot("/mid_fee"),
                out_fee: self.slot("/out_fee"),
                fee_gamma: self.slot("/fee_gamma"),
                admin_fee: self.slot("/admin_fee"),
                admin_fee_is_paid: true,
                allowed_extra_profit: self.slot("/allowed_extra_profit"),
                adjustment_step: self.slot("/adjustment_step"),
                adjustment_divisor: 10,
                ma_half_time: time("/ma_half_time"),
            },
            ramp: Ramp {
                initial: curve("/initial_A_gamma"),
                future: curve("/future_A_gamma"),
                begin: time("/initial_A_gamma_height"),
                end: time("/future_A_gamma_height"),
            },
            balances: [self.slot("/balances/0"), self.slot("/balances/1")],
            surplus: [U256::ZERO; 2],
            d: self.slot("/D"),
            total_supply: U256::from(self.supply()),
            price_scale: self.slot("/price_scale"),
            price_oracle: self.slot("/price_oracle"),
            last_prices: self.slot("/last_prices"),
            last_prices_time: time("/last_prices_height"),
            virtual_price: self.slot("/virtual_price"),
            xcp_profit: self.slot("/xcp_profit"),
            xcp_profit_a: self.slot("/xcp_profit_a"),
            not_adjusted: !self.slot("/not_adjusted").is_zero(),
            is_killed: !self.slot("/is_killed").is_zero(),
        }
    }
}

/// A number of exactly 32 bytes.
pub(crate) fn number(data: &[u8]) -> U256 {
    U256::from_le_bytes::<32>(data.try_into().unwrap())
}
