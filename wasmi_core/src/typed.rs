//! Values with their types: constants, which the translator computes with.

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

impl<T: Typed + Into<UntypedVal>> From<T> for TypedVal {
    fn from(value: T) -> Self {
        Self::new(T::TY, value.into())
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

back! { bool, i32, u32, i64, u64, f32, F32, f64, F64 }
