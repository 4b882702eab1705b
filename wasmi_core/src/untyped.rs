//! Values whose types the translator has checked.

use crate::{F32, F64};

/// A value in a register: 64 bits, of which a shorter type has the lower ones and leaves the others zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct UntypedVal(u64);

impl UntypedVal {
    /// The register with these bits.
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits of the register.
    #[inline]
    pub const fn to_bits(self) -> u64 {
        self.0
    }
}

/// Into a register by way of the unsigned type of the same length, out of it by dropping the upper bits.
macro_rules! integers {
    ($($integer:ty as $unsigned:ty),+ $(,)?) => {
        $(
            impl From<$integer> for UntypedVal {
                #[inline]
                fn from(value: $integer) -> Self {
                    Self(u64::from(value as $unsigned))
                }
            }

            impl From<UntypedVal> for $integer {
                #[inline]
                fn from(value: UntypedVal) -> Self {
                    value.0 as $integer
                }
            }
        )+
    };
}

integers! { u8 as u8, i8 as u8, u16 as u16, i16 as u16, u32 as u32, i32 as u32, u64 as u64, i64 as u64 }

impl From<bool> for UntypedVal {
    #[inline]
    fn from(value: bool) -> Self {
        Self(value.into())
    }
}

impl From<UntypedVal> for bool {
    #[inline]
    fn from(value: UntypedVal) -> Self {
        value.0 != 0
    }
}

/// The bits of a float, none of them changed.
macro_rules! floats {
    ($($float:ty: $bits:ty),+ $(,)?) => {
        $(
            impl From<$float> for UntypedVal {
                #[inline]
                fn from(value: $float) -> Self {
                    Self(u64::from(value.to_bits()))
                }
            }

            impl From<UntypedVal> for $float {
                #[inline]
                fn from(value: UntypedVal) -> Self {
                    Self::from_bits(value.0 as $bits)
                }
            }
        )+
    };
}

floats! { f32: u32, F32: u32, f64: u64, F64: u64 }
