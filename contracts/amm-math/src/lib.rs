//! Exact arithmetic of constant-product pools: products in 256 or 512 bits, every division rounds down.
//!
//! A function answers `None` where a result does not fit, a divisor is 0, or a trade is impossible.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

use paraffin_contract::{AlkaneId, U256, U512};

/// Fees are in parts of this.
pub const FEE_DENOMINATOR: u128 = 1000;
/// Fee of a pool that was given none, per 1000.
pub const FEE_DEFAULT: u128 = 10;
/// The part of the fee, per 1000, that goes to the protocol.
pub const FEE_PROTOCOL: u128 = 2;
/// Liquidity that exists from the first deposit on and that nobody holds, so that a unit of liquidity cannot be made dear.
pub const LIQUIDITY_LOCKED: u128 = 1000;

fn wide(value: u128) -> U256 {
    U256::from(value)
}

fn narrow(value: U256) -> Option<u128> {
    u128::try_from(value).ok()
}

/// `left * right / divisor`.
pub fn multiply_divide(left: u128, right: u128, divisor: u128) -> Option<u128> {
    narrow((wide(left) * wide(right)).checked_div(wide(divisor))?)
}

/// The product of two amounts.
pub fn product(left: u128, right: u128) -> U256 {
    wide(left) * wide(right)
}

/// The largest integer whose square is not above `value`.
pub fn square_root(value: U256) -> u128 {
    if value.is_zero() {
        return 0;
    }
    // Newton's steps from above never pass below the root; 2^ceil(bits / 2) is not below it.
    let mut root = U256::ONE << value.bit_len().div_ceil(2);
    loop {
        let next: U256 = (root + value / root) >> 1;
        if next >= root {
            return narrow(root).unwrap_or(u128::MAX);
        }
        root = next;
    }
}

/// What comes out for `amount_in`, at a fee per 1000.
pub fn amount_out(amount_in: u128, reserve_in: u128, reserve_out: u128, fee: u128) -> Option<u128> {
    let kept = wide(FEE_DENOMINATOR.checked_sub(fee)?);
    let effective = wide(amount_in) * kept;
    let divisor = wide(FEE_DENOMINATOR) * wide(reserve_in) + effective;
    // The product of 138 and 128 bits may pass 256.
    let product: U512 = effective.widening_mul::<256, 4, 512, 8>(wide(reserve_out));
    let amount = product.checked_div(U512::from(divisor))?;
    u128::try_from(amount).ok()
}

/// What must go in for `amount_out`, at a fee per 1000.
pub fn amount_in(amount_out: u128, reserve_in: u128, reserve_out: u128, fee: u128) -> Option<u128> {
    let kept = wide(FEE_DENOMINATOR.checked_sub(fee)?);
    let left = wide(reserve_out.checked_sub(amount_out)?);
    let product: U512 = (wide(FEE_DENOMINATOR) * wide(reserve_in)).widening_mul::<256, 4, 512, 8>(wide(amount_out));
    let amount = product.checked_div(U512::from(kept * left))?;
    u128::try_from(amount).ok()?.checked_add(1)
}

/// The amount of the second token that goes with `desired` of the first at the pool's ratio.
pub fn quote(desired: u128, reserve: u128, reserve_other: u128) -> Option<u128> {
    multiply_divide(desired, reserve_other, reserve)
}

/// True when a trade leaves the pool at least as deep as it was, the fee on what came in not counted.
///
/// `balances` after the trade, `reserves` before it, `amounts_in` what came in of each.
pub fn keeps_product(balances: [u128; 2], reserves: [u128; 2], amounts_in: [u128; 2], fee: u128) -> bool {
    let adjusted = |index: usize| {
        let charged = wide(amounts_in[index]) * wide(fee);
        (wide(balances[index]) * wide(FEE_DENOMINATOR)).checked_sub(charged)
    };
    let (Some(first), Some(second)) = (adjusted(0), adjusted(1)) else { return false };
    let after: U512 = first.widening_mul::<256, 4, 512, 8>(second);
    let scale = wide(FEE_DENOMINATOR * FEE_DENOMINATOR);
    let before: U512 = product(reserves[0], reserves[1]).widening_mul::<256, 4, 512, 8>(scale);
    after >= before
}

/// Liquidity of the first deposit; `None` when it is too small.
pub fn first_liquidity(amounts: [u128; 2]) -> Option<u128> {
    square_root(product(amounts[0], amounts[1])).checked_sub(LIQUIDITY_LOCKED).filter(|liquidity| *liquidity != 0)
}

/// Liquidity of a later deposit.
pub fn later_liquidity(amounts: [u128; 2], reserves: [u128; 2], supply: u128) -> Option<u128> {
    let first = multiply_divide(amounts[0], supply, reserves[0])?;
    let second = multiply_divide(amounts[1], supply, reserves[1])?;
    Some(first.min(second))
}

/// Liquidity that the protocol earned since the product was `product_last`; 0 when nothing was earned.
pub fn protocol_liquidity(reserves: [u128; 2], product_last: U256, supply: u128, fee: u128) -> Option<u128> {
    let last = square_root(product_last);
    let now = square_root(product(reserves[0], reserves[1]));
    let Some(grown) = now.checked_sub(last).filter(|grown| *grown != 0 && last != 0) else { return Some(0) };
    let others = fee.checked_sub(FEE_PROTOCOL)?;
    let divisor = wide(now) * wide(others) / wide(FEE_PROTOCOL) + wide(last);
    narrow((wide(supply) * wide(grown)).checked_div(divisor)?)
}

/// The two ids in ascending order, with what belongs to each.
pub fn sorted<T>(first: (AlkaneId, T), second: (AlkaneId, T)) -> [(AlkaneId, T); 2] {
    if first.0 < second.0 { [first, second] } else { [second, first] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_of_an_even_pool() {
        let million = 1_000_000;
        assert_eq!(first_liquidity([million, million]), Some(999_000));
        assert_eq!(amount_out(10_000, million, million, 10), Some(9_802));
        assert_eq!(amount_out(10_000, million, million, 5), Some(9_851));
    }

    #[test]
    fn amount_in_is_the_smallest_plus_at_most_one() {
        for (reserve_in, reserve_out) in [(1_000_000, 1_000_000), (17, 1 << 60), (1 << 100, 999_999_937), (3, 5)] {
            for wanted in [1, 2, 3, reserve_out / 7, reserve_out / 2, reserve_out - 1] {
                if wanted == 0 || wanted >= reserve_out {
                    continue;
                }
                let Some(needed) = amount_in(wanted, reserve_in, reserve_out, 10) else { continue };
                assert!(amount_out(needed, reserve_in, reserve_out, 10).unwrap() >= wanted);
                if needed > 2 {
                    assert!(amount_out(needed - 2, reserve_in, reserve_out, 10).unwrap() < wanted);
                }
            }
        }
    }

    #[test]
    fn a_quoted_trade_keeps_the_product_and_one_unit_more_does_not() {
        for (amount, first, second) in
            [(10_000u128, 1_000_000u128, 1_000_000u128), (1, 7, 1 << 90), (1 << 80, 1 << 90, 12_345_678_901)]
        {
            let out = amount_out(amount, first, second, 10).unwrap();
            let after = [first + amount, second - out];
            assert!(keeps_product(after, [first, second], [amount, 0], 10));
            assert!(!keeps_product([after[0], after[1] - 1], [first, second], [amount, 0], 10));
        }
    }

    #[test]
    fn the_root_is_exact_at_every_edge() {
        for root in [1u128, 2, 3, 1000, u64::MAX.into(), 1 << 100, u128::MAX] {
            let square = product(root, root);
            assert_eq!(square_root(square), root);
            assert_eq!(square_root(square - U256::ONE), root - 1);
            assert_eq!(square_root(square + U256::ONE), root);
        }
        assert_eq!(square_root(U256::ZERO), 0);
        assert_eq!(square_root(U256::MAX), u128::MAX);
    }

    #[test]
    fn the_protocol_earns_its_part_of_the_fee() {
        // Fees doubled the root of the product: the protocol gets 2 of 10 parts of the growth.
        let liquidity = protocol_liquidity([2_000, 2_000], U256::from(1_000_000u64), 1_000_000, 10).unwrap();
        assert_eq!(liquidity, 1_000_000 * 1_000 / (2_000 * 8 / 2 + 1_000));
        assert_eq!(protocol_liquidity([1_000, 1_000], U256::from(1_000_000u64), 1_000_000, 10), Some(0));
        assert_eq!(protocol_liquidity([2_000, 2_000], U256::ZERO, 1_000_000, 10), Some(0));
    }

    #[test]
    fn amounts_near_the_limit_do_not_overflow() {
        let large = u128::MAX / 2;
        assert!(amount_out(large, large, large, 10).unwrap() < large);
        assert!(keeps_product([u128::MAX, u128::MAX], [large, large], [large, large], 10));
        assert_eq!(amount_in(large, large, large, 10), None);
        assert_eq!(amount_out(1, 0, 1, 1000), None);
    }
}
