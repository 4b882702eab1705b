//! The numeric instructions by name, on the registers of a crate of this interface.

/// An instruction, from bits to bits or to the text of a trap.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    Unary(fn(u64) -> Result<u64, String>),
    Binary(fn(u64, u64) -> Result<u64, String>),
}

impl Operation {
    pub(crate) fn apply(self, operands: &[u64]) -> Result<u64, String> {
        match (self, operands) {
            (Self::Unary(run), &[value]) => run(value),
            (Self::Binary(run), &[left, right]) => run(left, right),
            _ => panic!("{operands:?}"),
        }
    }
}

/// Type of the operands of an instruction: the second type in its name, where there is one.
pub(crate) fn operand_type(name: &str) -> &str {
    name.split('_').rfind(|part| ["i32", "i64", "f32", "f64"].contains(part)).unwrap()
}

/// `(name, operation)` of every instruction, on the register type given.
macro_rules! operations {
    ($value:ty) => {
        operations! { $value,
            unary total: f32_abs f32_neg f32_ceil f32_floor f32_trunc f32_nearest f32_sqrt f64_abs f64_neg f64_ceil
                f64_floor f64_trunc f64_nearest f64_sqrt f32_demote_f64 f64_promote_f32 f32_convert_i32_s
                f32_convert_i32_u f32_convert_i64_s f32_convert_i64_u f64_convert_i32_s f64_convert_i32_u
                f64_convert_i64_s f64_convert_i64_u i32_trunc_sat_f32_s i32_trunc_sat_f32_u i32_trunc_sat_f64_s
                i32_trunc_sat_f64_u i64_trunc_sat_f32_s i64_trunc_sat_f32_u i64_trunc_sat_f64_s i64_trunc_sat_f64_u
                i32_clz i32_ctz i32_popcnt i32_extend8_s i32_extend16_s i32_eqz i64_clz i64_ctz i64_popcnt
                i64_extend8_s i64_extend16_s i64_extend32_s i64_eqz i32_wrap_i64 i64_extend_i32_s;
            unary partial: i32_trunc_f32_s i32_trunc_f32_u i32_trunc_f64_s i32_trunc_f64_u i64_trunc_f32_s
                i64_trunc_f32_u i64_trunc_f64_s i64_trunc_f64_u;
            binary total: f32_add f32_sub f32_mul f32_div f32_min f32_max f32_copysign f32_eq f32_ne f32_lt f32_gt
                f32_le f32_ge f64_add f64_sub f64_mul f64_div f64_min f64_max f64_copysign f64_eq f64_ne f64_lt f64_gt
                f64_le f64_ge i32_add i32_sub i32_mul i32_and i32_or i32_xor i32_shl i32_shr_s i32_shr_u i32_rotl
                i32_rotr i32_eq i32_ne i32_lt_s i32_lt_u i32_gt_s i32_gt_u i32_le_s i32_le_u i32_ge_s i32_ge_u i64_add
                i64_sub i64_mul i64_and i64_or i64_xor i64_shl i64_shr_s i64_shr_u i64_rotl i64_rotr i64_eq i64_ne
                i64_lt_s i64_lt_u i64_gt_s i64_gt_u i64_le_s i64_le_u i64_ge_s i64_ge_u;
            binary partial: i32_div_s i32_div_u i32_rem_s i32_rem_u i64_div_s i64_div_u i64_rem_s i64_rem_u;
        }
    };
    ($value:ty, unary total: $($unary:ident)+; unary partial: $($unary_partial:ident)+;
        binary total: $($binary:ident)+; binary partial: $($binary_partial:ident)+;) => {
        vec![
            $((stringify!($unary), Operation::Unary(|value| Ok(<$value>::from_bits(value).$unary().to_bits()))),)+
            $((stringify!($unary_partial), Operation::Unary(|value| {
                let result = <$value>::from_bits(value).$unary_partial();
                result.map(<$value>::to_bits).map_err(|trap| trap.to_string())
            })),)+
            $((stringify!($binary), Operation::Binary(|left, right| {
                Ok(<$value>::from_bits(left).$binary(<$value>::from_bits(right)).to_bits())
            })),)+
            $((stringify!($binary_partial), Operation::Binary(|left, right| {
                let result = <$value>::from_bits(left).$binary_partial(<$value>::from_bits(right));
                result.map(<$value>::to_bits).map_err(|trap| trap.to_string())
            })),)+
        ]
    };
}

pub(crate) use operations;
