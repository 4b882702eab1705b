//! How a script ended.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A limited resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// [`crate::LuaSettings::instructions_max`].
    Instructions,
    /// [`crate::LuaSettings::time_ms_max`].
    Time,
    /// [`crate::LuaSettings::memory_bytes_max`].
    Memory,
    /// [`crate::LuaSettings::rpc_calls_max`].
    RpcCalls,
}

impl Budget {
    /// Its name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Time => "time",
            Self::Memory => "memory",
            Self::RpcCalls => "rpc_calls",
        }
    }

    /// The message as text.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Instructions => "the script has used up its instructions",
            Self::Time => "the script has used up its time",
            Self::Memory => "the script has used up its memory",
            Self::RpcCalls => "the script has used up its RPC calls",
        }
    }
}

/// Why a script has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ScriptError {
    /// More than [`crate::LuaSettings::source_bytes_max`].
    #[error("Script exceeds maximum size limit")]
    SourceTooLarge,
    /// The source is no Lua.
    #[error("Lua syntax error: {0}")]
    Syntax(String),
    /// A budget is used up.
    #[error("{}", .0.sentence())]
    Exhausted(Budget),
    /// The script raised an error and nothing in it caught it, or its result has no form in JSON.
    #[error("{0}")]
    Raised(String),
    /// The process that ran the script has ended.
    #[error("the script broke the process that ran it")]
    Broken,
}

/// The outcome of one script.
#[derive(Debug)]
pub struct Outcome {
    /// Calls of `_RPC` that were made.
    pub calls: u32,
    /// The first value that the script returned; `null` for none.
    pub returns: Result<Box<RawValue>, ScriptError>,
    /// Time from the first instruction to the result.
    pub runtime_ms: u64,
}
