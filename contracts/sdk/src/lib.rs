//! Write alkanes contracts in Rust.
//!
//! A contract is a list of opcodes and one function for each:
//!
//! ```
//! use paraffin_contract::{Environment, Revert, Slot, contract};
//!
//! contract! {
//!     /// A number that anyone may raise.
//!     Counter {
//!         0 => initialize();
//!         1 => increment(by: u128) -> u128;
//!         2 => value() -> u128;
//!     }
//! }
//!
//! fn count() -> Slot<u128> {
//!     Slot::new("/count")
//! }
//!
//! fn initialize(env: &mut Environment) -> Result<(), Revert> {
//!     env.initialize_once()
//! }
//!
//! fn increment(env: &mut Environment, by: u128) -> Result<u128, Revert> {
//!     let raised = count().get(env)?.checked_add(by).ok_or("the count overflows")?;
//!     count().set(env, &raised);
//!     Ok(raised)
//! }
//!
//! fn value(env: &mut Environment) -> Result<u128, Revert> {
//!     count().get(env)
//! }
//! # fn main() {}
//! ```
//!
//! Compiled to `wasm32-unknown-unknown`, the macro exports `__execute` and `__meta`; on every other target the same contract
//! runs in [`testing::World`], so its logic is tested by plain `cargo test`.
//!
//! What holds for every call:
//! - **Everything or nothing.** A handler that returns [`Revert`] changes nothing: storage, balances and creations are undone
//!   and the incoming alkanes go back. The text of the revert is in the trace.
//! - **Storage** is a map from byte keys to byte values ([`Slot`], [`List`]). Writes are kept in the [`Environment`] and leave it
//!   with the next call to another contract or with the response, so a callee that calls back sees them.
//! - **Alkanes** that came in belong to the contract unless its response sends them on. A handler that returns a plain value
//!   sends back everything that came in; one that returns a [`Response`] says itself what goes out.
//! - **Fuel** is paid per instruction, per byte read, and most for bytes written (40 per byte of key, value and lengths).
//!   A failed call to another contract leaves no fuel, so it cannot be caught in practice.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

pub mod bitcoin;
mod call;
mod codec;
mod contract;
mod environment;
mod host;
mod id;
mod macros;
mod revert;
pub mod standard;
mod storage;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;
#[cfg(target_arch = "wasm32")]
mod wasm;

/// The growable byte string, text and list of contracts, which have no standard library.
pub mod prelude {
    pub use alloc::borrow::ToOwned;
    pub use alloc::string::{String, ToString};
    pub use alloc::vec;
    pub use alloc::vec::Vec;
}

pub use call::{Call, Context, Response};
pub use codec::{Reader, decimal};
pub use contract::{Contract, Inputs, Method, Parameter, Reply};
pub use environment::Environment;
pub use host::{CallKind, Host};
pub use id::{AlkaneId, Parcel, Transfer};
pub use revert::Revert;
pub use ruint;
pub use ruint::aliases::{U256, U512};
pub use storage::{List, Pointer, Slot, StorageMap, StorageValue};

/// What the macro [`contract!`] expands to; not for use by hand.
#[doc(hidden)]
pub mod entry {
    #[cfg(target_arch = "wasm32")]
    pub use crate::wasm::{describe, execute};
}
