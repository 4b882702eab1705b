//! The exact mathematics of the two-coin `CryptoSwap`, for contracts.
//!
//! These are the very files of `crates/cryptoswap-math`, compiled without the standard library, so that a pool on the chain
//! and the index that checks it cannot disagree in a digit.
#![cfg_attr(target_arch = "wasm32", no_std)]
#![forbid(unsafe_code)]

#[path = "../../../crates/cryptoswap-math/src/lib.rs"]
mod math;

pub use math::*;
