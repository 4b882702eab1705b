//! Values with their types: constants, which the translator computes with.

use std::cell::Cell;

use crate::{F32, F64, Typed, UntypedVal, ValType};

/// A value and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypedVal {
    ty: ValType,
    value: UntypedVal,
}

impl TypedVal {
    /// The value as one of the type.
    pub fn new(ty: ValType, value: UntypedVal) -> Self {
        Self { ty, value }
    }

    /// The type.
    pub fn ty(&self) -> ValType {
        self.ty
    }

    /// The value without its type.
    pub fn untyped(&self) -> UntypedVal {
        self.value
    }

    /// The same bits as a value of another type.
    #[must_use]
    pub fn reinterpret(self, ty: ValType) -> Self {
        Self { ty, ..self }
    }
}

impl From<TypedVal> for UntypedVal {
    fn from(value: TypedVal) -> Self {
        value.value
    }
}

macro_rules! back {
    ($($type:ty),+ $(,)?) => {
        $(impl From<TypedVal> for $type {
            fn from(value: TypedVal) -> Self {
                debug_assert_eq!(value.ty, <$type as Typed>::TY, "the module was validated");
                value.value.into()
            }
        })+
    };
}

back! { bool, i32, u32, i64, u64, f32, F32, F64 }

/// The bits that a float of 64 bits has and one of 32 lacks.
const LACKING: u64 = (1 << 29) - 1;

thread_local! {
    /// The bits that the translator was last given for those of a constant, and the constant's own.
    static STAND_IN: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// A constant as the translator looks at it: whether it is a number, and whether 32 bits hold it, which is so when a conversion
/// there and back leaves the bits as they are.
///
/// The host of the reference makes the results of these conversions canonical, too, so of all that is not a number it keeps the
/// canonical one alone in 32 bits; the processor would keep others. How a constant is kept decides which copies become one
/// instruction, which is fuel, and how large a frame is. Therefore one of the others comes with a bit that 32 do not hold.
impl From<TypedVal> for f64 {
    fn from(value: TypedVal) -> Self {
        debug_assert_eq!(value.ty, ValType::F64, "the module was validated");
        let bits = value.value.to_bits();
        let float = Self::from_bits(bits);
        if !float.is_nan() {
            return float;
        }
        let is_kept = bits & LACKING == 0 && bits != F64::canonical(float).to_bits();
        let given = if is_kept { bits | 1 } else { bits };
        STAND_IN.set((given, bits));
        Self::from_bits(given)
    }
}

/// The translator takes a float that it was just given as the result of arithmetic with it; the constant then is the result.
impl<T: Typed + Into<UntypedVal>> From<T> for TypedVal {
    fn from(value: T) -> Self {
        let value: UntypedVal = value.into();
        let (given, constant) = STAND_IN.get();
        let is_given = T::HAS_STAND_IN && value.to_bits() == given;
        Self::new(T::TY, if is_given { UntypedVal::from_bits(constant) } else { value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `wasmi_ir` decides.
    fn is_kept_in_32_bits(float: f64) -> bool {
        f64::from(float as f32).to_bits() == float.to_bits()
    }

    #[test]
    fn of_all_that_is_no_number_the_canonical_one_alone_is_kept_in_32_bits() {
        let constant = |bits| TypedVal::new(ValType::F64, UntypedVal::from_bits(bits));
        for (bits, is_kept) in [
            (0x3FF0_0000_0000_0000, true),
            (0x3FB9_9999_9999_999A, false),
            (0x7FF8_0000_0000_0000, true),
            (0xFFF8_0000_0000_0000, false),
            (0x7FFC_0000_0000_0000, false),
            (0x7FFC_0000_0000_0001, false),
            (0x7FFC_0000_0000_0000, false),
            (0x7FF0_0000_2000_0000, false),
        ] {
            assert_eq!(TypedVal::from(F64::from_bits(bits)), constant(bits), "{bits:x}");
            let float = f64::from(constant(bits));
            assert_eq!(is_kept_in_32_bits(float), is_kept, "{bits:x}");
            assert_eq!(float.is_sign_negative(), bits >> 63 == 1, "{bits:x}");
            // What comes back is the constant, whichever came before.
            assert_eq!(TypedVal::from(float), constant(bits), "{bits:x}");
        }
    }
}
