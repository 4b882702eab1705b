//! A host for indexer programs of the operator: modules of WASM that are given one block at a time, write keys and values, and
//! answer views (protocol A).
//!
//! ```text
//!  block ─▶ Program::run_block ─Flush─▶ HostedModule ─▶ store (values as of every height)
//!             ▲ reads as of the block before                │
//!  views ◀─ Program::view ◀─────── HostedState at a height ─┘
//!                     Flush ─▶ layout ─▶ BlockEffects ─▶ HostedEngine, ShadowEngine ─▶ the alkanes module
//! ```
//!
//! Invariants: a program sees nothing but what it imports, and each run begins in a fresh memory; the writes of a block are stored
//! whole or not at all; a program that fails, does not end or takes too much is an error with its reason and never a panic.
//! The machine that runs programs is behind the feature `machine`; everything else uses programs through [`Program`] alone.
#![forbid(unsafe_code)]

pub mod abi;
mod engine;
mod flush;
mod layout;
#[cfg(feature = "machine")]
mod machine;
mod module;
mod program;
mod rows;
mod shadow;
mod state;
mod tables;
mod views;

pub use abi::BadPointer;
pub use engine::HostedEngine;
pub use flush::{BYTES_MAX, Flush, FlushError, PAIRS_MAX};
pub use layout::{LEFT_OUT, LayoutError, Translated, translate};
pub use module::{Handover, HostedModule};
pub use program::{
    BlockLimits, LoadError, PROGRAM_LEN_MAX, Program, ProgramError, Reads, RunLimits, START, load, load_file, read_file,
};
pub use rows::{BlockRow, UnknownKey};
pub use shadow::{Differences, OnDifference, Serves, ShadowEngine, difference};
pub use state::{HostedState, ReadError};
pub use tables::{MODULE, SCHEMA};
pub use views::{HostedViews, ViewError, ViewLimits};
