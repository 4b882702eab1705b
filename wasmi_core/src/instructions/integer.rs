//! Integers: wrapping arithmetic, bits, shifts by the amount modulo the length, comparisons.

use super::instructions;
use crate::TrapCode;
use crate::hint::unlikely;

/// The quotient of a division that is checked for both of its traps.
macro_rules! quotient {
    ($left:ident / $right:ident) => {
        if unlikely($right == 0) {
            Err(TrapCode::IntegerDivisionByZero)
        } else {
            // The one quotient out of range is that of the least number and -1.
            $left.checked_div($right).ok_or(TrapCode::IntegerOverflow)
        }
    };
}

/// The remainder, which is 0 where the quotient is out of range.
macro_rules! remainder {
    ($left:ident % $right:ident) => {
        if unlikely($right == 0) { Err(TrapCode::IntegerDivisionByZero) } else { Ok($left.wrapping_rem($right)) }
    };
}

instructions! {
    total i32_add(left: u32, right: u32) -> u32 { left.wrapping_add(right) }
    total i32_sub(left: u32, right: u32) -> u32 { left.wrapping_sub(right) }
    total i32_mul(left: u32, right: u32) -> u32 { left.wrapping_mul(right) }
    partial i32_div_s(left: i32, right: i32) -> i32 { quotient!(left / right) }
    partial i32_div_u(left: u32, right: u32) -> u32 { quotient!(left / right) }
    partial i32_rem_s(left: i32, right: i32) -> i32 { remainder!(left % right) }
    partial i32_rem_u(left: u32, right: u32) -> u32 { remainder!(left % right) }
    total i32_and(left: u32, right: u32) -> u32 { left & right }
    total i32_or(left: u32, right: u32) -> u32 { left | right }
    total i32_xor(left: u32, right: u32) -> u32 { left ^ right }
    total i32_shl(left: u32, right: u32) -> u32 { left.wrapping_shl(right) }
    total i32_shr_s(left: i32, right: u32) -> i32 { left.wrapping_shr(right) }
    total i32_shr_u(left: u32, right: u32) -> u32 { left.wrapping_shr(right) }
    total i32_rotl(left: u32, right: u32) -> u32 { left.rotate_left(right % u32::BITS) }
    total i32_rotr(left: u32, right: u32) -> u32 { left.rotate_right(right % u32::BITS) }
    total i32_clz(value: u32) -> u32 { value.leading_zeros() }
    total i32_ctz(value: u32) -> u32 { value.trailing_zeros() }
    total i32_popcnt(value: u32) -> u32 { value.count_ones() }
    total i32_extend8_s(value: i32) -> i32 { i32::from(value as i8) }
    total i32_extend16_s(value: i32) -> i32 { i32::from(value as i16) }

    total i32_eqz(value: u32) -> bool { value == 0 }
    total i32_eq(left: u32, right: u32) -> bool { left == right }
    total i32_ne(left: u32, right: u32) -> bool { left != right }
    total i32_lt_s(left: i32, right: i32) -> bool { left < right }
    total i32_lt_u(left: u32, right: u32) -> bool { left < right }
    total i32_gt_s(left: i32, right: i32) -> bool { left > right }
    total i32_gt_u(left: u32, right: u32) -> bool { left > right }
    total i32_le_s(left: i32, right: i32) -> bool { left <= right }
    total i32_le_u(left: u32, right: u32) -> bool { left <= right }
    total i32_ge_s(left: i32, right: i32) -> bool { left >= right }
    total i32_ge_u(left: u32, right: u32) -> bool { left >= right }

    total i64_add(left: u64, right: u64) -> u64 { left.wrapping_add(right) }
    total i64_sub(left: u64, right: u64) -> u64 { left.wrapping_sub(right) }
    total i64_mul(left: u64, right: u64) -> u64 { left.wrapping_mul(right) }
    partial i64_div_s(left: i64, right: i64) -> i64 { quotient!(left / right) }
    partial i64_div_u(left: u64, right: u64) -> u64 { quotient!(left / right) }
    partial i64_rem_s(left: i64, right: i64) -> i64 { remainder!(left % right) }
    partial i64_rem_u(left: u64, right: u64) -> u64 { remainder!(left % right) }
    total i64_and(left: u64, right: u64) -> u64 { left & right }
    total i64_or(left: u64, right: u64) -> u64 { left | right }
    total i64_xor(left: u64, right: u64) -> u64 { left ^ right }
    total i64_shl(left: u64, right: u64) -> u64 { left.wrapping_shl(right as u32) }
    total i64_shr_s(left: i64, right: u64) -> i64 { left.wrapping_shr(right as u32) }
    total i64_shr_u(left: u64, right: u64) -> u64 { left.wrapping_shr(right as u32) }
    total i64_rotl(left: u64, right: u64) -> u64 { left.rotate_left(right as u32 % u64::BITS) }
    total i64_rotr(left: u64, right: u64) -> u64 { left.rotate_right(right as u32 % u64::BITS) }
    total i64_clz(value: u64) -> u64 { value.leading_zeros().into() }
    total i64_ctz(value: u64) -> u64 { value.trailing_zeros().into() }
    total i64_popcnt(value: u64) -> u64 { value.count_ones().into() }
    total i64_extend8_s(value: i64) -> i64 { i64::from(value as i8) }
    total i64_extend16_s(value: i64) -> i64 { i64::from(value as i16) }
    total i64_extend32_s(value: i64) -> i64 { i64::from(value as i32) }

    total i64_eqz(value: u64) -> bool { value == 0 }
    total i64_eq(left: u64, right: u64) -> bool { left == right }
    total i64_ne(left: u64, right: u64) -> bool { left != right }
    total i64_lt_s(left: i64, right: i64) -> bool { left < right }
    total i64_lt_u(left: u64, right: u64) -> bool { left < right }
    total i64_gt_s(left: i64, right: i64) -> bool { left > right }
    total i64_gt_u(left: u64, right: u64) -> bool { left > right }
    total i64_le_s(left: i64, right: i64) -> bool { left <= right }
    total i64_le_u(left: u64, right: u64) -> bool { left <= right }
    total i64_ge_s(left: i64, right: i64) -> bool { left >= right }
    total i64_ge_u(left: u64, right: u64) -> bool { left >= right }
}
