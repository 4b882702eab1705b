//! Types of values.

use crate::{F32, F64};

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValType {
    /// A 32-bit integer; instructions determine whether it is signed.
    I32,
    /// A 64-bit integer; instructions determine whether it is signed.
    I64,
    /// A 32-bit float.
    F32,
    /// A 64-bit float.
    F64,
    /// A reference to a function, or null.
    FuncRef,
    /// A reference to something of the embedder, or null.
    ExternRef,
}

impl ValType {
    /// Whether it is an integer or a float.
    pub fn is_num(&self) -> bool {
        !self.is_ref()
    }

    /// Whether it is a reference.
    pub fn is_ref(&self) -> bool {
        matches!(self, Self::FuncRef | Self::ExternRef)
    }
}

/// A Rust type whose values are of one type in WebAssembly.
pub trait Typed {
    /// That type.
    const TY: ValType;

    /// Whether a constant comes back as this type after the translator was given another float for it ([`crate::TypedVal`]).
    const HAS_STAND_IN: bool = false;
}

macro_rules! typed {
    ($($rust:ty => $wasm:ident),+ $(,)?) => {
        $(impl Typed for $rust {
            const TY: ValType = ValType::$wasm;
        })+
    };
}

typed! { bool => I32, i32 => I32, u32 => I32, i64 => I64, u64 => I64, f32 => F32, F32 => F32, F64 => F64 }

impl Typed for f64 {
    const TY: ValType = ValType::F64;
    const HAS_STAND_IN: bool = true;
}
