//! Floats as their bits, and the one form of a result that is not a number.

use std::fmt;

macro_rules! float {
    ($name:ident, $float:ident, $bits:ident, nan: $nan:literal, $doc:literal) => {
        #[doc = $doc]
        #[doc = "Held as its bits, so that moving it can never change one."]
        #[derive(Clone, Copy)]
        pub struct $name($bits);

        impl $name {
            pub(crate) const SIGN: $bits = 1 << ($bits::BITS - 1);

            /// The float with these bits.
            #[inline]
            pub fn from_bits(bits: $bits) -> Self {
                Self(bits)
            }

            /// The bits.
            #[inline]
            pub fn to_bits(self) -> $bits {
                self.0
            }

            /// A result of arithmetic. One that is not a number becomes positive and quiet, with no payload: the canonical NaN
            /// of the standard. Processors differ in its sign and in what they keep of an operand's payload.
            #[inline]
            pub fn canonical(result: $float) -> Self {
                Self(if result.is_nan() { $nan } else { result.to_bits() })
            }
        }

        impl From<$float> for $name {
            #[inline]
            fn from(value: $float) -> Self {
                Self(value.to_bits())
            }
        }

        impl From<$name> for $float {
            #[inline]
            fn from(value: $name) -> Self {
                $float::from_bits(value.0)
            }
        }

        impl From<$bits> for $name {
            #[inline]
            fn from(bits: $bits) -> Self {
                Self(bits)
            }
        }

        impl From<$name> for $bits {
            #[inline]
            fn from(value: $name) -> Self {
                value.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                let value = $float::from(*self);
                if value.is_nan() { write!(formatter, "nan:{:#x}", self.0) } else { value.fmt(formatter) }
            }
        }
    };
}

float! { F32, f32, u32, nan: 0x7FC0_0000, "A 32-bit float." }
float! { F64, f64, u64, nan: 0x7FF8_0000_0000_0000, "A 64-bit float." }
