//! A `CryptoSwap` pool of two alkanes, which is also its liquidity token.
//!
//! The price of coin 1 in coin 0 wanders, and the liquidity is kept around it. Every number follows the exact mathematics of
//! `cryptoswap-math`; here are the opcodes, the storage and the alkanes that move. Time is the block height.
//!
//! It runs behind an upgradeable proxy, whose ownership token is the owner of the pool. No call of the pool calls another
//! contract, so there is no way back into one that has not ended.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

mod liquidity;
mod owner;
mod state;
mod views;

use liquidity::{add_liquidity, exchange, remove_liquidity, remove_liquidity_one_coin};
use owner::{claim_admin_fees, init_pool, kill_me, ramp_a_gamma, set_parameters, stop_ramp_a_gamma, unkill_me};
use paraffin_contract::prelude::*;
use paraffin_contract::{AlkaneId, Environment, Response, Revert, contract};
use views::{
    calc_token_amount, calc_withdraw_one_coin, fee, get_a, get_balances, get_dy, get_gamma, get_virtual_price,
    lp_price, price_oracle, price_scale, total_supply,
};

contract! {
    /// A pool of two alkanes whose price wanders.
    CryptoSwapPool {
        0 => init_pool(
            coin_0: AlkaneId, coin_1: AlkaneId, decimals_0: u128, decimals_1: u128, price: u128, a: u128, gamma: u128,
            mid_fee: u128, out_fee: u128, fee_gamma: u128, admin_fee: u128,
            allowed_extra_profit: u128, adjustment_step: u128, ma_half_time: u128, shortest_ramp: u128,
        );
        1 => add_liquidity(amount_0: u128, amount_1: u128, smallest_liquidity: u128) -> Response;
        2 => remove_liquidity(liquidity: u128, smallest_0: u128, smallest_1: Optional) -> Response;
        3 => remove_liquidity_one_coin(liquidity: u128, i: u128, smallest: u128) -> Response;
        5 => exchange(i: u128, j: u128, amount: u128, smallest: u128) -> Response;
        10 => claim_admin_fees() -> Response;
        11 => ramp_a_gamma(a: u128, gamma: u128, end_height: u128);
        12 => stop_ramp_a_gamma();
        13 => set_parameters(
            mid_fee: u128, out_fee: u128, fee_gamma: u128, admin_fee: u128,
            allowed_extra_profit: u128, adjustment_step: u128, ma_half_time: u128,
        );
        14 => kill_me();
        15 => unkill_me();
        50 => forward();
        100 => get_virtual_price() -> Vec<u8>;
        101 => get_balances() -> Vec<u8>;
        102 => get_a() -> Vec<u8>;
        103 => get_gamma() -> Vec<u8>;
        104 => price_oracle() -> Vec<u8>;
        105 => price_scale() -> Vec<u8>;
        106 => lp_price() -> Vec<u8>;
        107 => get_dy(i: u128, j: u128, amount: u128) -> Vec<u8>;
        108 => calc_token_amount(amount_0: u128, amount_1: u128) -> Vec<u8>;
        109 => calc_withdraw_one_coin(liquidity: u128, i: u128) -> Vec<u8>;
        110 => fee() -> Vec<u8>;
        111 => total_supply() -> Vec<u8>;
    }
}

/// An integer that may be left out, which makes it 0.
#[derive(Debug, Clone, Copy)]
struct Optional(u128);

impl paraffin_contract::Parameter for Optional {
    fn take(inputs: &mut paraffin_contract::Inputs) -> Option<Self> {
        Some(Self(inputs.word().unwrap_or(0)))
    }
}

/// Gives back what came in.
fn forward(_: &mut Environment) -> Result<(), Revert> {
    Ok(())
}
