//! Results of every float instruction, computed without the processor's floats: by the soft floats of `rustc_apfloat`, which
//! the Rust compiler evaluates constants with, and square roots by integers.

use std::fmt::Write as _;

use rustc_apfloat::ieee::{Double, Single};
use rustc_apfloat::{Float, FloatConvert as _, Round, Status};

use crate::operations::operand_type;

/// What the standard leaves open, closed.
const NAN: [u64; 2] = [0x7FC0_0000, 0x7FF8_0000_0000_0000];

/// Zeros, numbers around halves, around the ends of the integer types and of the format, infinities, and what is no number:
/// canonical, negative, with a payload, signalling.
const SINGLES: [u64; 40] = [
    0,
    0x8000_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0xBF00_0000,
    0x3FC0_0000,
    0x4020_0000,
    0xC020_0000,
    0x3EFF_FFFF,
    0x3F7F_FFFF,
    0xBF7F_FFFF,
    0x4AFF_FFFF,
    0x4B00_0001,
    0xCAFF_FFFF,
    1,
    0x8000_0001,
    0x007F_FFFF,
    0x0080_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0xCF00_0001,
    0x4F7F_FFFF,
    0x4F80_0000,
    0x5EFF_FFFF,
    0x5F00_0000,
    0xDF00_0000,
    0xDF00_0001,
    0x5F7F_FFFF,
    0x5F80_0000,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC0_0000,
    0x7FC1_2345,
    0x7F80_0001,
    0xFFA5_4321,
];
const DOUBLES: [u64; 48] = [
    0,
    0x8000_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0000,
    0x3FE0_0000_0000_0000,
    0xBFE0_0000_0000_0000,
    0x3FF8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0xC004_0000_0000_0000,
    0x3FDF_FFFF_FFFF_FFFF,
    0x3FEF_FFFF_FFFF_FFFF,
    0xBFEF_FFFF_FFFF_FFFF,
    0x432F_FFFF_FFFF_FFFF,
    0x4330_0000_0000_0001,
    0xC32F_FFFF_FFFF_FFFF,
    1,
    0x8000_0000_0000_0001,
    0x000F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0xFFEF_FFFF_FFFF_FFFF,
    0x41DF_FFFF_FFFF_FFFF,
    0x41E0_0000_0000_0000,
    0xC1E0_0000_0000_0000,
    0xC1E0_0000_001F_FFFF,
    0xC1E0_0000_0020_0000,
    0x41EF_FFFF_FFFF_FFFF,
    0x41F0_0000_0000_0000,
    0x43DF_FFFF_FFFF_FFFF,
    0x43E0_0000_0000_0000,
    0xC3E0_0000_0000_0000,
    0xC3E0_0000_0000_0001,
    0x43EF_FFFF_FFFF_FFFF,
    0x43F0_0000_0000_0000,
    0x47EF_FFFF_E000_0000,
    0x47EF_FFFF_EFFF_FFFF,
    0x47EF_FFFF_F000_0000,
    0x36A0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x3690_0000_0000_0001,
    0x380F_FFFF_E000_0000,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0xFFF8_0000_0000_0000,
    0x7FF8_1234_2000_0000,
    0x7FF0_0000_0000_0001,
    0xFFF4_5678_9ABC_DEF0,
];

/// Operands of which every pair is in the table.
const SINGLES_CROSSED: [u64; 11] = [
    0,
    0x8000_0000,
    0x3F80_0000,
    0xC020_0000,
    1,
    0x7F7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0xFFC0_0000,
    0x7FC1_2345,
    0x7F80_0001,
];
const DOUBLES_CROSSED: [u64; 11] = [
    0,
    0x8000_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0xC004_0000_0000_0000,
    1,
    0x7FEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0xFFF8_0000_0000_0000,
    0x7FF8_1234_2000_0000,
    0x7FF0_0000_0000_0001,
];

/// Around the ends of the integer types, and around where a float has no more digits for one.
const INTEGERS: [u64; 26] = [
    0,
    1,
    2,
    0x00FF_FFFF,
    0x0100_0000,
    0x0100_0001,
    0x0100_0003,
    0x7FFF_FFBF,
    0x7FFF_FFC0,
    0x7FFF_FFFF,
    0x8000_0000,
    0x8000_0080,
    0x8000_0081,
    0xFFFF_FF7F,
    0xFFFF_FF80,
    0xFFFF_FFFF,
    0x20_0000_0000_0001,
    0x20_0000_0000_0003,
    0x7FFF_FFBF_FFFF_FFFF,
    0x7FFF_FFFF_FFFF_FDFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0x8000_0080_0000_0001,
    0xFFFF_FFFF_FFFF_FBFF,
    0xFFFF_FFFF_FFFF_FC00,
    u64::MAX,
];

/// `name operands = result`, a line for each vector; a trap is its text.
pub(crate) fn table(names: &[&str]) -> String {
    let mut table = String::new();
    for name in names.iter().filter(|name| name.contains("f32") || name.contains("f64")) {
        for operands in operands(name) {
            write!(table, "{name}").unwrap();
            for operand in &operands {
                write!(table, " {operand:x}").unwrap();
            }
            match result(name, &operands) {
                Ok(bits) => writeln!(table, " = {bits:x}").unwrap(),
                Err(trap) => writeln!(table, " = {trap}").unwrap(),
            }
        }
    }
    table
}

fn operands(name: &str) -> Vec<Vec<u64>> {
    let (_, rest) = name.split_once('_').unwrap();
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let (listed, crossed) = match operand_type(name) {
        "f32" => (&SINGLES[..], &SINGLES_CROSSED[..]),
        "f64" => (&DOUBLES[..], &DOUBLES_CROSSED[..]),
        "i32" => {
            let listed = INTEGERS.iter().filter(|integer| u32::try_from(**integer).is_ok());
            return listed.map(|integer| vec![*integer]).collect();
        }
        _ => return INTEGERS.iter().map(|integer| vec![*integer]).collect(),
    };
    let is_double = operand_type(name) == "f64";
    match rest {
        "add" | "sub" | "mul" | "div" | "min" | "max" | "copysign" | "eq" | "ne" | "lt" | "gt" | "le" | "ge" => {
            let pairs = crossed.iter().flat_map(|left| crossed.iter().map(|right| vec![*left, *right]));
            let more = if ["add", "sub", "mul", "div"].contains(&rest) { 36 } else { 4 };
            pairs.chain((0..more).map(|number| chance.pair(is_double, number))).collect()
        }
        _ => listed.iter().map(|value| vec![*value]).chain((0..8).map(|_| vec![chance.float(is_double, 0)])).collect(),
    }
}

fn result(name: &str, operands: &[u64]) -> Result<u64, &'static str> {
    let (result_type, rest) = name.split_once('_').unwrap();
    match (operand_type(name), rest) {
        ("f64", "demote_f64") => {
            let value: Single = double(operands[0]).convert(&mut false).value;
            Ok(bits(value, 0))
        }
        ("f32", "promote_f32") => {
            let value: Double = single(operands[0]).convert(&mut false).value;
            Ok(bits(value, 1))
        }
        ("f32", _) if rest.starts_with("trunc_") => integer(single(operands[0]), result_type, rest),
        ("f64", _) if rest.starts_with("trunc_") => integer(double(operands[0]), result_type, rest),
        ("f32", _) => Ok(arithmetic::<Single>(0, rest, operands)),
        ("f64", _) => Ok(arithmetic::<Double>(1, rest, operands)),
        (integer_type, _) => {
            // The integer with its sign, where the instruction sees one.
            let value = match (integer_type, rest.ends_with("_s")) {
                ("i32", true) => i128::from(operands[0] as i32),
                (_, true) => i128::from(operands[0] as i64),
                (_, false) => i128::from(operands[0]),
            };
            Ok(match result_type {
                "f32" => bits(Single::from_i128(value).value, 0),
                _ => bits(Double::from_i128(value).value, 1),
            })
        }
    }
}

/// `format` is 0 for 32 bits and 1 for 64.
fn arithmetic<F: Float>(format: usize, rest: &str, operands: &[u64]) -> u64 {
    let sign = [1 << 31, 1 << 63][format];
    let first = F::from_bits(operands[0].into());
    let rounded = |round| bits(first.round_to_integral(round).value, format);
    match rest {
        // These look at no number at all.
        "abs" => return operands[0] & !sign,
        "neg" => return operands[0] ^ sign,
        "copysign" => return operands[0] & !sign | operands[1] & sign,
        "ceil" => return rounded(Round::TowardPositive),
        "floor" => return rounded(Round::TowardNegative),
        "trunc" => return rounded(Round::TowardZero),
        "nearest" => return rounded(Round::NearestTiesToEven),
        "sqrt" => return square_root(first, operands[0], format),
        _ => {}
    }
    let second = F::from_bits(operands[1].into());
    let are_numbers = !first.is_nan() && !second.is_nan();
    match rest {
        "add" => bits((first + second).value, format),
        "sub" => bits((first - second).value, format),
        "mul" => bits((first * second).value, format),
        "div" => bits((first / second).value, format),
        "min" | "max" if !are_numbers => NAN[format],
        // Two zeros are equal, and the negative one is the lesser.
        "min" if first < second || (first == second && first.is_negative()) => operands[0],
        "max" if first > second || (first == second && !first.is_negative()) => operands[0],
        "min" | "max" => operands[1],
        "eq" => u64::from(first == second),
        "ne" => u64::from(first != second),
        "lt" => u64::from(first < second),
        "gt" => u64::from(first > second),
        "le" => u64::from(first <= second),
        "ge" => u64::from(first >= second),
        other => panic!("{other}"),
    }
}

/// The bits of a result of arithmetic.
fn bits<F: Float>(value: F, format: usize) -> u64 {
    if value.is_nan() { NAN[format] } else { value.to_bits() as u64 }
}

fn single(bits: u64) -> Single {
    Single::from_bits(bits.into())
}

fn double(bits: u64) -> Double {
    Double::from_bits(bits.into())
}

/// The integer part, as the bits of its type.
fn integer<F: Float>(value: F, result_type: &str, rest: &str) -> Result<u64, &'static str> {
    let width = if result_type == "i32" { 32 } else { 64 };
    let (bits, status) = if rest.ends_with("_s") {
        let part = value.to_i128_r(width, Round::TowardZero, &mut false);
        (part.value as u64, part.status)
    } else {
        let part = value.to_u128_r(width, Round::TowardZero, &mut false);
        (part.value as u64, part.status)
    };
    let bits = if width == 32 { bits & u64::from(u32::MAX) } else { bits };
    let is_saturating = rest.starts_with("trunc_sat_");
    match value.is_nan() {
        true if is_saturating => Ok(0),
        true => Err("invalid conversion to integer"),
        // The soft float itself ends at the ends of the type.
        false if is_saturating || !status.contains(Status::INVALID_OP) => Ok(bits),
        false => Err("integer overflow"),
    }
}

/// The root of the significand with more digits than the format has, rounded to the nearest, ties to even. No root is below
/// the normal numbers or above the finite ones.
fn square_root<F: Float>(value: F, bits: u64, format: usize) -> u64 {
    if value.is_nan() || (value.is_negative() && !value.is_zero()) {
        return NAN[format];
    }
    if value.is_zero() || value.is_infinite() {
        return bits;
    }
    let (digits, bias) = [(24_u32, 127_i32), (53, 1023)][format];
    let fraction = bits & ((1 << (digits - 1)) - 1);
    let stored = (bits >> (digits - 1)) as i32;
    // The value is `significand * 2^exponent`, the significand of exactly `digits` bits.
    let significand = if stored == 0 { fraction } else { fraction | 1 << (digits - 1) };
    let lacking = digits - (u64::BITS - significand.leading_zeros());
    let significand = u128::from(significand) << lacking;
    let exponent = stored.max(1) - bias - (digits as i32 - 1) - lacking as i32;
    let shift = digits as i32 + 3 + (exponent - (digits as i32 + 3)).rem_euclid(2);
    let radicand = significand << shift;
    let root = radicand.isqrt();
    let root_exponent = (exponent - shift) / 2;
    let extra = (u128::BITS - root.leading_zeros()) - digits;
    let (mut kept, rest) = (root >> extra, root & ((1 << extra) - 1));
    let half = 1 << (extra - 1);
    let is_exact = root * root == radicand;
    if rest > half || (rest == half && (!is_exact || kept & 1 == 1)) {
        kept += 1;
    }
    // A carry out of the significand goes into the exponent by itself.
    let stored = (root_exponent + extra as i32 + bias + digits as i32 - 1) as u64;
    (stored << (digits - 1)) + (kept as u64 - (1 << (digits - 1)))
}

/// The same numbers everywhere (xorshift).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A float of the exponent given, relative to that of 1, and any sign and digits.
    fn float(&mut self, is_double: bool, exponent: i64) -> u64 {
        let exponent = exponent + (self.next() % 9) as i64 - 4;
        let random = self.next();
        let (digits, bias, sign) = if is_double { (52, 1023, 1 << 63) } else { (23, 127, 1 << 31) };
        let stored = (bias + exponent).clamp(0, 2 * bias) as u64;
        (random & sign) | stored << digits | (random >> 8) & ((1 << digits) - 1)
    }

    /// Two floats: near one another, or with a product or quotient around the ends of the format.
    fn pair(&mut self, is_double: bool, number: usize) -> Vec<u64> {
        let end = if is_double { 1023 } else { 127 };
        let apart = if is_double { 50 } else { 22 };
        let (left, right) = match number % 4 {
            0 => (0, 0),
            1 => (3, 3 - apart),
            2 => (-end / 2, -end / 2 - apart / 2),
            _ => (end / 2, if number % 8 == 3 { end / 2 } else { -end / 2 }),
        };
        vec![self.float(is_double, left), self.float(is_double, right)]
    }
}
