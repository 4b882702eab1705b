//! Every instruction beside the crate that this one replaces, on operands at the ends of their types and on random ones.
//!
//! The published 0.37.2 cannot stand beside its replacement in one build; 0.38.0 can, and its sources are those of 0.37.2, byte
//! for byte.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(clippy::cast_possible_wrap, clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::float_cmp)] // bits of one type as another's

#[path = "../floats/operations.rs"]
mod operations;

use operations::{Operation, operand_type, operations};
use wasmi_core::{Pages, TrapCode, Typed as _, TypedVal, UntypedVal, ValType};
use wasmi_core_published as published;

/// Ends of the types as integers and as floats, and what is around them.
const ENDS: [u64; 42] = [
    0,
    1,
    2,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x007F_FFFF,
    0x0080_0000,
    0x3F7F_FFFF,
    0x3F80_0000,
    0xBF80_0000,
    0x4F00_0000,
    0xCF00_0000,
    0x7F80_0000,
    0x7F80_0001,
    0x7FC0_0000,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFC1_2345,
    0xFFFF_FFFF,
    0x000F_FFFF_FFFF_FFFF,
    0x3FF0_0000_0000_0000,
    0x3FDF_FFFF_FFFF_FFFF,
    0xBFEF_FFFF_FFFF_FFFF,
    0x41EF_FFFF_FFFF_FFFF,
    0xC3E0_0000_0000_0000,
    0x7FF0_0000_0000_0000,
    0x7FF0_0000_0000_0001,
    0x7FF8_0000_0000_0000,
    0x7FFF_FFFF_FFFF_FFFF,
    0x8000_0000_0000_0000,
    0xFFF8_1234_5678_9ABC,
    u64::MAX,
];

/// Random bits, whole and with few digits, with exponents of every size.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let shift = (self.0 >> 4) % 64;
        match self.0 % 4 {
            0 => self.0.rotate_left(27) >> shift,
            1 => self.0.rotate_left(27) & !(u64::MAX >> shift),
            _ => self.0.rotate_left(27),
        }
    }
}

/// Whether the instruction answers with a number that is canonical when it is none.
fn is_canonical(name: &str) -> bool {
    const CANONICAL: [&str; 13] = [
        "add",
        "sub",
        "mul",
        "div",
        "min",
        "max",
        "sqrt",
        "ceil",
        "floor",
        "trunc",
        "nearest",
        "demote_f64",
        "promote_f32",
    ];
    let (result, rest) = name.split_once('_').unwrap();
    ["f32", "f64"].contains(&result) && CANONICAL.contains(&rest)
}

/// The published result, with the one form of what is not a number.
fn canonical(name: &str, bits: u64) -> u64 {
    match &name[..3] {
        "f32" if is_canonical(name) && f32::from_bits(bits as u32).is_nan() => 0x7FC0_0000,
        "f64" if is_canonical(name) && f64::from_bits(bits).is_nan() => 0x7FF8_0000_0000_0000,
        _ => bits,
    }
}

#[test]
fn every_instruction_is_that_of_the_published_crate_but_for_what_is_not_a_number() {
    let theirs: Vec<(&str, Operation)> = operations!(published::UntypedVal);
    let ours: Vec<(&str, Operation)> = operations!(UntypedVal);
    let mut chance = Chance(0x0123_4567_89AB_CDEF);
    let random: Vec<u64> = (0..20_000).map(|_| chance.next()).collect();
    let mut compared = 0_u64;
    for ((name, ours), (_, theirs)) in ours.into_iter().zip(theirs) {
        let mask = if operand_type(name).ends_with("32") { u64::from(u32::MAX) } else { u64::MAX };
        let mut compare = |operands: &[u64]| {
            let operands: Vec<u64> = operands.iter().map(|operand| operand & mask).collect();
            let expected = theirs.apply(&operands).map(|bits| canonical(name, bits));
            assert_eq!(ours.apply(&operands), expected, "{name} {operands:x?}");
            compared += 1;
        };
        match ours {
            Operation::Unary(_) => ENDS.iter().chain(&random).for_each(|value| compare(&[*value])),
            Operation::Binary(_) => {
                for left in ENDS {
                    for right in ENDS {
                        compare(&[left, right]);
                    }
                }
                random.windows(2).for_each(&mut compare);
                random.iter().zip(ENDS.iter().cycle()).for_each(|(left, right)| compare(&[*left, *right]));
            }
        }
    }
    assert!(compared > 3_000_000, "{compared}");
}

/// Loads and stores at every address around both ends of a memory.
#[test]
fn loads_and_stores_are_those_of_the_published_crate() {
    let memory: Vec<u8> = (0..40_u8).map(|index| index.wrapping_mul(37) ^ 0x9A).collect();
    let reaches =
        [(0, 0), (1, 5), (0, 32), (0, 33), (30, 2), (36, 0), (38, 0), (39, 0), (40, 0), (41, 0), (1, u32::MAX)];
    let value = 0xFEDC_BA98_7FA5_4321_u64;
    macro_rules! compare {
        (loads $($load:ident)+; stores $($store:ident)+;) => {
            for (address, offset) in reaches {
                $(
                    let ours = UntypedVal::$load(&memory, UntypedVal::from(address), offset);
                    let theirs = published::UntypedVal::$load(&memory, published::UntypedVal::from(address), offset);
                    assert_eq!(
                        ours.map(UntypedVal::to_bits).map_err(|trap| trap.to_string()),
                        theirs.map(published::UntypedVal::to_bits).map_err(|trap| trap.to_string()),
                        "{} {address} {offset}", stringify!($load)
                    );
                )+
                $(
                    let (mut ours, mut theirs) = (memory.clone(), memory.clone());
                    let end = UntypedVal::$store(
                        &mut ours, UntypedVal::from(address), offset, UntypedVal::from_bits(value),
                    );
                    let their_end = published::UntypedVal::$store(
                        &mut theirs, published::UntypedVal::from(address), offset, published::UntypedVal::from_bits(value),
                    );
                    assert_eq!(
                        (end.map_err(|trap| trap.to_string()), ours),
                        (their_end.map_err(|trap| trap.to_string()), theirs),
                        "{} {address} {offset}", stringify!($store)
                    );
                )+
            }
        };
    }
    compare! {
        loads i32_load i32_load8_s i32_load8_u i32_load16_s i32_load16_u i64_load i64_load8_s i64_load8_u i64_load16_s
            i64_load16_u i64_load32_s i64_load32_u f32_load f64_load;
        stores i32_store i32_store8 i32_store16 i64_store i64_store8 i64_store16 i64_store32 f32_store f64_store;
    }
}

#[test]
fn traps_sizes_and_values_are_those_of_the_published_crate() {
    macro_rules! compare {
        ($($trap:ident)+) => {
            $(assert_eq!(TrapCode::$trap.to_string(), published::TrapCode::$trap.to_string());)+
        };
    }
    compare! {
        UnreachableCodeReached MemoryOutOfBounds TableOutOfBounds IndirectCallToNull IntegerDivisionByZero IntegerOverflow
        BadConversionToInteger StackOverflow BadSignature OutOfFuel GrowthOperationLimited
    }
    for pages in [0, 1, 65_535, 65_536, 65_537, u32::MAX] {
        assert_eq!(
            Pages::new(pages).map(Pages::to_bytes),
            published::Pages::new(pages).map(published::Pages::to_bytes),
            "{pages}"
        );
        for more in [0, 1, 65_536, u32::MAX] {
            let ours = Pages::new(pages).and_then(|pages| pages.checked_add(more)).map(u32::from);
            let theirs = published::Pages::new(pages).and_then(|pages| pages.checked_add(more)).map(u32::from);
            assert_eq!(ours, theirs, "{pages} {more}");
        }
    }
    macro_rules! values {
        ($($type:ty: $($value:expr),+;)+) => {
            $($(
                let (ours, theirs) = (UntypedVal::from($value), published::UntypedVal::from($value));
                assert_eq!(ours.to_bits(), theirs.to_bits(), stringify!($value));
                for bits in ENDS {
                    let ours = UntypedVal::from(<$type>::from(UntypedVal::from_bits(bits)));
                    let theirs = <$type>::from(published::UntypedVal::from_bits(bits));
                    assert_eq!(ours.to_bits(), published::UntypedVal::from(theirs).to_bits(), "{bits:x}");
                }
            )+)+
        };
    }
    values! {
        i8: i8::MIN, -1_i8, i8::MAX; u8: 0_u8, u8::MAX; i16: i16::MIN, -1_i16, i16::MAX; u16: 0_u16, u16::MAX;
        i32: i32::MIN, -1_i32, i32::MAX; u32: 0_u32, u32::MAX; i64: i64::MIN, -1_i64, i64::MAX; u64: 0_u64, u64::MAX;
        bool: true, false; f32: 1.5_f32, f32::from_bits(0xFFA5_4321); f64: -0.0_f64, f64::from_bits(0xFFF4_5678_9ABC_DEF0);
    }
}

/// The translator computes with constants as the interpreter does with registers, and knows the type of the result.
#[test]
fn constants_are_computed_with_as_registers_are() {
    let value = TypedVal::from(-1.0_f64).f64_sqrt();
    assert_eq!((value.ty(), value.untyped().to_bits()), (ValType::F64, 0x7FF8_0000_0000_0000));
    let value = TypedVal::from(f64::from_bits(0xFFF4_5678_9ABC_DEF0)).f32_demote_f64();
    assert_eq!((value.ty(), value.untyped().to_bits()), (ValType::F32, 0x7FC0_0000));
    let value = TypedVal::from(1.0_f32).f32_lt(TypedVal::from(2.0_f32));
    assert_eq!((value.ty(), value.untyped().to_bits()), (bool::TY, 1));
    let value = TypedVal::from(f32::INFINITY).i64_trunc_f32_s();
    assert_eq!(value, Err(TrapCode::IntegerOverflow));
    assert_eq!(u64::from(TypedVal::from(7_u64).i64_div_u(TypedVal::from(2_u64)).unwrap()), 3);
}
