//! Conversions. From a float to an integer goes towards zero, everything else to the nearest, ties to even.

use super::instructions;
use crate::TrapCode;
use crate::hint::unlikely;
use crate::{F32, F64};

/// The integer part of a float, if the integer type holds it.
///
/// The least integer and the power of two past the greatest are floats of either length. Values between the least integer
/// and the one below have the least one as their integer part; where the float has no such values, the difference is the least
/// integer again and the second comparison adds nothing.
macro_rules! integer_part {
    ($value:ident: $float:ident => $integer:ident) => {{
        const LEAST: $float = $integer::MIN as $float;
        const PAST: $float = ($integer::MAX / 2 + 1) as $float * 2.0;
        if ($value >= LEAST || $value > LEAST - 1.0) && $value < PAST {
            Ok($value as $integer)
        } else if unlikely($value.is_nan()) {
            Err(TrapCode::BadConversionToInteger)
        } else {
            Err(TrapCode::IntegerOverflow)
        }
    }};
}

instructions! {
    total i32_wrap_i64(value: u64) -> u32 { value as u32 }
    total i64_extend_i32_s(value: i32) -> i64 { value.into() }

    partial i32_trunc_f32_s(value: f32) -> i32 { integer_part!(value: f32 => i32) }
    partial i32_trunc_f32_u(value: f32) -> u32 { integer_part!(value: f32 => u32) }
    partial i32_trunc_f64_s(value: f64) -> i32 { integer_part!(value: f64 => i32) }
    partial i32_trunc_f64_u(value: f64) -> u32 { integer_part!(value: f64 => u32) }
    partial i64_trunc_f32_s(value: f32) -> i64 { integer_part!(value: f32 => i64) }
    partial i64_trunc_f32_u(value: f32) -> u64 { integer_part!(value: f32 => u64) }
    partial i64_trunc_f64_s(value: f64) -> i64 { integer_part!(value: f64 => i64) }
    partial i64_trunc_f64_u(value: f64) -> u64 { integer_part!(value: f64 => u64) }

    // A cast of Rust ends at the least and the greatest integer, and takes 0 for what is not a number, as these do.
    total i32_trunc_sat_f32_s(value: f32) -> i32 { value as i32 }
    total i32_trunc_sat_f32_u(value: f32) -> u32 { value as u32 }
    total i32_trunc_sat_f64_s(value: f64) -> i32 { value as i32 }
    total i32_trunc_sat_f64_u(value: f64) -> u32 { value as u32 }
    total i64_trunc_sat_f32_s(value: f32) -> i64 { value as i64 }
    total i64_trunc_sat_f32_u(value: f32) -> u64 { value as u64 }
    total i64_trunc_sat_f64_s(value: f64) -> i64 { value as i64 }
    total i64_trunc_sat_f64_u(value: f64) -> u64 { value as u64 }

    total f32_convert_i32_s(value: i32) -> F32 { F32::from(value as f32) }
    total f32_convert_i32_u(value: u32) -> F32 { F32::from(value as f32) }
    total f32_convert_i64_s(value: i64) -> F32 { F32::from(value as f32) }
    total f32_convert_i64_u(value: u64) -> F32 { F32::from(value as f32) }
    total f64_convert_i32_s(value: i32) -> F64 { F64::from(f64::from(value)) }
    total f64_convert_i32_u(value: u32) -> F64 { F64::from(f64::from(value)) }
    total f64_convert_i64_s(value: i64) -> F64 { F64::from(value as f64) }
    total f64_convert_i64_u(value: u64) -> F64 { F64::from(value as f64) }

    total f32_demote_f64(value: f64) -> F32 { F32::canonical(value as f32) }
    total f64_promote_f32(value: f32) -> F64 { F64::canonical(value.into()) }
}
