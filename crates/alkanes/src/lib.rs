//! The alkanes metaprotocol: messages in Bitcoin transactions, run as contracts, and their effects.
//!
//! ```text
//!  block ─▶ codec ─protostones─▶ protorune ─messages─▶ message ─▶ vm ─host calls─▶ state (overlay)
//!                                   │ balances of outputs                              │
//!                                   └──────────────────────────────────────────────────┴─▶ BlockEffects ─▶ module ─▶ store
//!  views ◀─ state as of a height
//! ```
//!
//! Invariants: contracts are run, never imitated; what a block does depends on the chain alone, not on threads, memory or
//! time; nothing that the chain chooses makes the engine return [`Halt`], for which a block is not applied. [`codec`] is pure functions:
//! every byte string is a possible input and none of them panics.
#![forbid(unsafe_code)]

pub mod codec;
mod engine;
mod fuel;
mod halt;
mod message;
mod module;
mod native;
mod parameters;
mod patches;
pub mod proto;
mod protorune;
mod reader;
mod rows;
mod runes;
mod sheet;
mod state;
mod tables;
mod touched;
mod trace;
mod trace_log;
mod transaction;
pub mod views;
mod vm;
mod work;
mod world;
mod wrapped_bitcoin;

pub use engine::{BlockEffects, EffectsPart, Engine};
pub use fuel::FuelTank;
pub use halt::Halt;
pub use message::{Message, MessageEnd, handle_message};
pub use module::AlkanesModule;
pub use native::{Deployer, NativeEngine};
pub use parameters::Parameters;
pub use protorune::{MessageRunner, runtime_amount};
pub use reader::{
    ActivityEntry, BlockState, BlockTrace, ChainState, Creation, FundedOutput, Holding, HoldingOf, Order,
    ScriptMessage, StorageEntry,
};
pub use rows::{Cursor, Etching, Holder, HolderCounts, Page, ParseCursorError, ScriptKey};
pub use sheet::{SavedSheet, Sheet, SheetOverflow, Transfer};
pub use state::{Overlay, RECENT_BLOCKS, StateError, StateKey, StateReader};
pub use tables::{MODULE, SCHEMA, TABLES};
pub use trace::{CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus};
pub use trace_log::{LARGE_TRACES_BYTES, MESSAGE_TRACE_BYTES_MAX, TraceLog, event_bytes};
pub use vm::{
    BLOCK_CODE_BYTES, Builtins, BuiltinsError, CodeCache, META_FUEL, ReleasedModule, SIMULATION_FUEL, SimulatedCall,
    Simulation, contract_code, deploy_builtins, meta, simulate, simulate_within,
};
pub use work::{BLOCK_WORK, MESSAGE_BYTES_MAX, STATE_BYTES_MAX, TRANSACTION_WORK};
pub use world::World;
pub use wrapped_bitcoin::Payment;
