//! Contracts run by messages and simulations, with the contracts of this repository and with modules written as text.
#![allow(missing_docs, clippy::unwrap_used)]

mod builtins;
mod calls;
mod creation;
mod crowded;
mod dear;
mod dearest;
mod failures;
mod floats;
mod host;
mod hostile;
mod long_code;
mod message;
mod pinned_fuel;
mod precompiles;
mod simulate;
mod stage;
mod tank;

/// That of the program: what a call costs depends on it (docs/decisions/0050).
#[global_allocator]
static ALLOCATOR: paraffin_allocator::Allocator = paraffin_allocator::Allocator;
