//! Parameters and results of calls as Rust tuples.

use std::fmt;

use crate::UntypedVal;

/// The tuple has another length than the slice of values.
#[derive(Debug, Clone, Copy)]
pub enum UntypedError {
    /// The lengths differ.
    InvalidLen,
}

impl UntypedError {
    /// The lengths differ.
    #[cold]
    pub fn invalid_len() -> Self {
        Self::InvalidLen
    }
}

impl fmt::Display for UntypedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("mismatched length of the untyped slice")
    }
}

impl std::error::Error for UntypedError {}

/// A value, or a tuple of up to sixteen, that is read from registers.
pub trait DecodeUntypedSlice: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// The lengths differ.
    fn decode_untyped_slice(values: &[UntypedVal]) -> Result<Self, UntypedError>;
}

/// A value, or a tuple of up to sixteen, that is written to registers.
pub trait EncodeUntypedSlice {
    /// Writes it.
    ///
    /// # Errors
    /// The lengths differ, and nothing is written.
    fn encode_untyped_slice(self, values: &mut [UntypedVal]) -> Result<(), UntypedError>;
}

impl UntypedVal {
    /// Reads a value or a tuple.
    ///
    /// # Errors
    /// The lengths differ.
    pub fn decode_slice<T: DecodeUntypedSlice>(values: &[Self]) -> Result<T, UntypedError> {
        T::decode_untyped_slice(values)
    }

    /// Writes a value or a tuple.
    ///
    /// # Errors
    /// The lengths differ, and nothing is written.
    pub fn encode_slice<T: EncodeUntypedSlice>(values: &mut [Self], input: T) -> Result<(), UntypedError> {
        input.encode_untyped_slice(values)
    }
}

impl<T: From<UntypedVal>> DecodeUntypedSlice for T {
    #[inline]
    fn decode_untyped_slice(values: &[UntypedVal]) -> Result<Self, UntypedError> {
        let (value,) = UntypedVal::decode_slice(values)?;
        Ok(value)
    }
}

impl<T: Into<UntypedVal>> EncodeUntypedSlice for T {
    #[inline]
    fn encode_untyped_slice(self, values: &mut [UntypedVal]) -> Result<(), UntypedError> {
        (self,).encode_untyped_slice(values)
    }
}

/// Both traits for a tuple; each member is named by its type and by its index.
macro_rules! tuple {
    ($($type:ident $value:ident),*) => {
        impl<$($type: From<UntypedVal>),*> DecodeUntypedSlice for ($($type,)*) {
            #[inline]
            fn decode_untyped_slice(values: &[UntypedVal]) -> Result<Self, UntypedError> {
                let &[$($value),*] = values else { return Err(UntypedError::invalid_len()) };
                Ok(($($type::from($value),)*))
            }
        }

        impl<$($type: Into<UntypedVal>),*> EncodeUntypedSlice for ($($type,)*) {
            #[inline]
            #[allow(non_snake_case)] // a type's name stands for the member of that type
            fn encode_untyped_slice(self, values: &mut [UntypedVal]) -> Result<(), UntypedError> {
                let [$($value),*] = values else { return Err(UntypedError::invalid_len()) };
                let ($($type,)*) = self;
                $(*$value = $type.into();)*
                Ok(())
            }
        }
    };
}

/// A tuple and all shorter ones.
macro_rules! tuples {
    () => {
        tuple!();
    };
    ($first_type:ident $first:ident $(, $type:ident $value:ident)*) => {
        tuple!($first_type $first $(, $type $value)*);
        tuples!($($type $value),*);
    };
}

tuples! { A a, B b, C c, D d, E e, F f, G g, H h, I i, J j, K k, L l, M m, N n, O o, P p }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_read_and_written_in_order_and_only_at_their_own_length() {
        let mut values = [UntypedVal::default(); 3];
        UntypedVal::encode_slice(&mut values, (-1_i32, 2.5_f64, true)).unwrap();
        assert_eq!(values.map(UntypedVal::to_bits), [0xFFFF_FFFF, 0x4004_0000_0000_0000, 1]);
        assert_eq!(UntypedVal::decode_slice::<(i32, f64, bool)>(&values).unwrap(), (-1, 2.5, true));
        assert_eq!(UntypedVal::decode_slice::<u64>(&values[..1]).unwrap(), 0xFFFF_FFFF);
        assert!(UntypedVal::decode_slice::<(i32, f64)>(&values).is_err());
        assert!(UntypedVal::encode_slice(&mut values[..2], (7_i32, 7_i32, 7_i32)).is_err());
        assert_eq!(values[0].to_bits(), 0xFFFF_FFFF);
        UntypedVal::encode_slice(&mut [], ()).unwrap();
    }
}
