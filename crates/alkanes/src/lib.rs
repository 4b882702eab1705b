//! The alkanes metaprotocol: messages in Bitcoin transactions, run as contracts, and what they leave behind.
//!
//! ```text
//!  block ─▶ codec ─protostones─▶ protorune ─messages─▶ message ─▶ vm ─host calls─▶ state (overlay)
//!                                   │ balances of outputs                              │
//!                                   └──────────────────────────────────────────────────┴─▶ BlockEffects ─▶ module ─▶ store
//!  views ◀─ state as of a height
//! ```
//!
//! Invariants: contracts are run, never imitated; what a block does depends on the chain alone, not on threads, memory or
//! time; where the reference halts the engine returns [`Halt`] and the block is not applied. [`codec`] is pure functions:
//! every byte string is a possible input and none of them panics.
#![forbid(unsafe_code)]

pub mod codec;
mod engine;
mod fuel;
mod halt;
mod message;
mod parameters;
mod protorune;
mod sheet;
mod state;
mod trace;
mod vm;
mod world;

pub use engine::{BlockEffects, Engine};
pub use fuel::FuelTank;
pub use halt::Halt;
pub use message::{Message, MessageEnd, handle_message};
pub use parameters::Parameters;
pub use sheet::{Sheet, SheetOverflow, Transfer};
pub use state::{Overlay, StateError, StateKey, StateReader};
pub use trace::{CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus};
pub use vm::{Builtins, CodeCache};
pub use world::World;
