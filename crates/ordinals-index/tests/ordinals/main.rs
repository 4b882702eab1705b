//! The index over whole chains: against a naive recomputation, through reorgs, over real blocks, and beside the published `ord`.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod chain;
mod envelopes;
mod instance;
mod memory;
mod naive;
/// Also compiled into the tests of the gateway.
#[allow(dead_code, reason = "those ask for the address of `ord`")]
mod node;
mod peer;
mod random;
mod real_blocks;
mod reorgs;
mod rules;
mod rune_rules;
mod runestones;
mod satpoints;
mod tokens;
