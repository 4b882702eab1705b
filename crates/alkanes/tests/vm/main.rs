//! Contracts run by messages and simulations, with the contracts of this repository and with modules written as text.
#![allow(missing_docs, clippy::unwrap_used)]

mod builtins;
mod calls;
mod creation;
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
