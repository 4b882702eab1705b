//! The BTC/USD pool: an automated market maker of two coins whose curve follows the price (`CryptoSwap`).
//!
//! [`math`] computes what such a pool answers and how each operation changes it, in exact integers, without any input or
//! output: a wallet, a test or a contract can use it alone.
//!
//! Invariant: exact integers only; a float in this room is a defect. No network, no storage, no clock in [`math`].
#![forbid(unsafe_code)]

pub mod math;
