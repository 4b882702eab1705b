//! Floats: arithmetic and rounding with canonical results, signs on the bits alone, comparisons.

use super::instructions;
use crate::{F32, F64};

/// The lesser operand; of two zeros the negative one, and no number as soon as one operand is none.
macro_rules! lesser {
    ($float:ident, $left:ident, $right:ident) => {
        if $left < $right {
            $left
        } else if $right < $left {
            $right
        } else if $left == $right {
            // They are the same, or zeros of two signs.
            $float::from_bits($left.to_bits() | $right.to_bits())
        } else {
            $float::NAN
        }
    };
}

/// The greater operand; of two zeros the positive one, and no number as soon as one operand is none.
macro_rules! greater {
    ($float:ident, $left:ident, $right:ident) => {
        if $left > $right {
            $left
        } else if $right > $left {
            $right
        } else if $left == $right {
            $float::from_bits($left.to_bits() & $right.to_bits())
        } else {
            $float::NAN
        }
    };
}

instructions! {
    total f32_add(left: f32, right: f32) -> F32 { F32::canonical(left + right) }
    total f32_sub(left: f32, right: f32) -> F32 { F32::canonical(left - right) }
    total f32_mul(left: f32, right: f32) -> F32 { F32::canonical(left * right) }
    total f32_div(left: f32, right: f32) -> F32 { F32::canonical(left / right) }
    total f32_min(left: f32, right: f32) -> F32 { F32::canonical(lesser!(f32, left, right)) }
    total f32_max(left: f32, right: f32) -> F32 { F32::canonical(greater!(f32, left, right)) }
    total f32_sqrt(value: f32) -> F32 { F32::canonical(value.sqrt()) }
    total f32_ceil(value: f32) -> F32 { F32::canonical(value.ceil()) }
    total f32_floor(value: f32) -> F32 { F32::canonical(value.floor()) }
    total f32_trunc(value: f32) -> F32 { F32::canonical(value.trunc()) }
    total f32_nearest(value: f32) -> F32 { F32::canonical(value.round_ties_even()) }
    total f32_abs(value: F32) -> F32 { F32::from_bits(value.to_bits() & !F32::SIGN) }
    total f32_neg(value: F32) -> F32 { F32::from_bits(value.to_bits() ^ F32::SIGN) }
    total f32_copysign(left: F32, right: F32) -> F32 {
        F32::from_bits(left.to_bits() & !F32::SIGN | right.to_bits() & F32::SIGN)
    }

    total f32_eq(left: f32, right: f32) -> bool { left == right }
    total f32_ne(left: f32, right: f32) -> bool { left != right }
    total f32_lt(left: f32, right: f32) -> bool { left < right }
    total f32_gt(left: f32, right: f32) -> bool { left > right }
    total f32_le(left: f32, right: f32) -> bool { left <= right }
    total f32_ge(left: f32, right: f32) -> bool { left >= right }

    total f64_add(left: f64, right: f64) -> F64 { F64::canonical(left + right) }
    total f64_sub(left: f64, right: f64) -> F64 { F64::canonical(left - right) }
    total f64_mul(left: f64, right: f64) -> F64 { F64::canonical(left * right) }
    total f64_div(left: f64, right: f64) -> F64 { F64::canonical(left / right) }
    total f64_min(left: f64, right: f64) -> F64 { F64::canonical(lesser!(f64, left, right)) }
    total f64_max(left: f64, right: f64) -> F64 { F64::canonical(greater!(f64, left, right)) }
    total f64_sqrt(value: f64) -> F64 { F64::canonical(value.sqrt()) }
    total f64_ceil(value: f64) -> F64 { F64::canonical(value.ceil()) }
    total f64_floor(value: f64) -> F64 { F64::canonical(value.floor()) }
    total f64_trunc(value: f64) -> F64 { F64::canonical(value.trunc()) }
    total f64_nearest(value: f64) -> F64 { F64::canonical(value.round_ties_even()) }
    total f64_abs(value: F64) -> F64 { F64::from_bits(value.to_bits() & !F64::SIGN) }
    total f64_neg(value: F64) -> F64 { F64::from_bits(value.to_bits() ^ F64::SIGN) }
    total f64_copysign(left: F64, right: F64) -> F64 {
        F64::from_bits(left.to_bits() & !F64::SIGN | right.to_bits() & F64::SIGN)
    }

    total f64_eq(left: f64, right: f64) -> bool { left == right }
    total f64_ne(left: f64, right: f64) -> bool { left != right }
    total f64_lt(left: f64, right: f64) -> bool { left < right }
    total f64_gt(left: f64, right: f64) -> bool { left > right }
    total f64_le(left: f64, right: f64) -> bool { left <= right }
    total f64_ge(left: f64, right: f64) -> bool { left >= right }
}
