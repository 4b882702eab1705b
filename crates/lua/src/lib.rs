//! Scripts in Lua that run at the server: the sandbox, the processes that it runs in, and their budgets.
//!
//! Invariant: every resource has a budget, no script harms anything but its own process, and no process runs scripts of two callers.
#![forbid(unsafe_code)]

mod attempts;
mod exact;
mod fault;
mod frames;
mod isolation;
mod json;
mod meter;
mod names;
mod outcome;
mod patterns;
mod sandbox;
mod settings;
mod worker;
mod workers;

pub use isolation::WorkerIsolation;
pub use names::{is_callable, lua_spelling};
pub use outcome::{Budget, Outcome, ScriptError};
pub use sandbox::{CallError, Calls, Script, check, run};
pub use settings::LuaSettings;
pub use worker::work;
pub use workers::{Host, NotRun, Runner, ScriptFuture, WorkerProgram, Workers};
