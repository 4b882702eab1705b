//! The values and the arithmetic of WebAssembly under the interpreter that runs contracts, wasmi 0.37.2.
//!
//! Replaces the published crate of the same name and version, for one reason: a result that is not a number has one
//! form, whatever the processor. The standard leaves sign and payload of a NaN open ([`F32::canonical`]); the reference's host
//! does not, and a contract can look at the bits. Every other result is the one that the standard asks for, so nothing else
//! differs from the published crate. It has no part in fuel: wasmi counts instructions, not results.
//!
//! Written from the numerics of the [standard](https://webassembly.github.io/spec/core/exec/numerics.html) and from what wasmi
//! calls; it holds no more than that.
#![forbid(unsafe_code)]
// These casts and comparisons are the instructions themselves.
#![allow(clippy::cast_possible_wrap, clippy::cast_precision_loss, clippy::cast_sign_loss, clippy::float_cmp)]

mod float;
pub mod hint;
mod host_error;
mod instructions;
mod pages;
mod slices;
mod trap;
mod typed;
mod untyped;
mod value_type;

pub use float::{F32, F64};
pub use host_error::HostError;
pub use pages::Pages;
pub use slices::{DecodeUntypedSlice, EncodeUntypedSlice, UntypedError};
pub use trap::TrapCode;
pub use typed::TypedVal;
pub use untyped::UntypedVal;
pub use value_type::{Typed, ValType};
