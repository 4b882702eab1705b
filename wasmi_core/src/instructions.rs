//! The numeric instructions, each defined once.

mod conversion;
mod float;
mod integer;
mod memory;

/// Defines instructions of one or two operands: on `UntypedVal` as they are executed, and on `TypedVal`, with types checked in
/// debug builds, as the translator computes with constants. `total` instructions always have a result, `partial` ones answer
/// with a `Result` of it.
macro_rules! instructions {
    ($($kind:ident $name:ident($first:ident: $first_type:ty $(, $second:ident: $second_type:ty)?) -> $result:ty $body:block)+) => {
        $(instructions! { @$kind $name($first: $first_type $(, $second: $second_type)?) -> $result $body })+
    };
    (@total $name:ident($first:ident: $first_type:ty $(, $second:ident: $second_type:ty)?) -> $result:ty $body:block) => {
        impl crate::UntypedVal {
            #[doc = concat!("Executes `", stringify!($name), "`.")]
            #[inline]
            #[must_use]
            pub fn $name(self $(, $second: Self)?) -> Self {
                let $first = <$first_type>::from(self);
                $(let $second = <$second_type>::from($second);)?
                let result: $result = $body;
                Self::from(result)
            }
        }

        impl crate::TypedVal {
            #[doc = concat!("Computes `", stringify!($name), "` of constants.")]
            #[must_use]
            pub fn $name(self $(, $second: Self)?) -> Self {
                debug_assert_eq!(self.ty(), <$first_type as crate::Typed>::TY, "the module was validated");
                $(debug_assert_eq!($second.ty(), <$second_type as crate::Typed>::TY, "the module was validated");)?
                Self::new(<$result as crate::Typed>::TY, self.untyped().$name($($second.untyped())?))
            }
        }
    };
    (@partial $name:ident($first:ident: $first_type:ty $(, $second:ident: $second_type:ty)?) -> $result:ty $body:block) => {
        impl crate::UntypedVal {
            #[doc = concat!("Executes `", stringify!($name), "`.")]
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = "The operands have no result."]
            #[inline]
            pub fn $name(self $(, $second: Self)?) -> Result<Self, crate::TrapCode> {
                let $first = <$first_type>::from(self);
                $(let $second = <$second_type>::from($second);)?
                let result: Result<$result, crate::TrapCode> = $body;
                result.map(Self::from)
            }
        }

        impl crate::TypedVal {
            #[doc = concat!("Computes `", stringify!($name), "` of constants.")]
            #[doc = ""]
            #[doc = "# Errors"]
            #[doc = "The operands have no result."]
            pub fn $name(self $(, $second: Self)?) -> Result<Self, crate::TrapCode> {
                debug_assert_eq!(self.ty(), <$first_type as crate::Typed>::TY, "the module was validated");
                $(debug_assert_eq!($second.ty(), <$second_type as crate::Typed>::TY, "the module was validated");)?
                let result = self.untyped().$name($($second.untyped())?)?;
                Ok(Self::new(<$result as crate::Typed>::TY, result))
            }
        }
    };
}

use instructions;
