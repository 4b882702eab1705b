//! The differential lane: generated hostile chains through the native engine and through the reference's release program at once
//! (`docs/decisions/0041`).
//!
//! `cargo xtask reference` runs as much of it as its options say.
#![cfg(feature = "machine")]
#![allow(clippy::unwrap_used, missing_docs)]

mod answers;
mod asks;
mod chain;
mod generator;
mod kept;
mod lane;
mod minimise;
mod modules;
mod numbers;
mod run;
