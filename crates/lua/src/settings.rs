//! Budgets of scripts, and how many run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `[lua]`: scripts that run at the server. Budgets are for one call (docs/lua.md); sizes in bytes, times in
/// milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LuaSettings {
    /// Whether scripts are run and stored at all.
    pub enabled: bool,
    /// Instructions of the Lua machine, with what its library does for them: each step of a pattern, every 16 bytes that a
    /// function reads.
    pub instructions_max: u64,
    /// Time from the first instruction to the result, waiting for answers of `_RPC` included.
    pub time_ms_max: u64,
    /// Memory of everything that the script holds.
    pub memory_bytes_max: usize,
    /// Calls of `_RPC`.
    pub rpc_calls_max: u32,
    /// One answer of `_RPC`.
    pub rpc_answer_bytes_max: usize,
    /// Source text.
    pub source_bytes_max: usize,
    /// The result, and the parameters of one call of `_RPC`, as JSON.
    pub result_bytes_max: usize,
    /// Nesting of tables that become JSON, and of JSON that becomes tables.
    pub depth_max: usize,
    /// Scripts that run at the same time; each has a process of its own.
    pub scripts_max: usize,
    /// Of these, scripts of one caller.
    pub scripts_per_caller_max: usize,
    /// How long a script waits for its turn before its caller gets the answer that the server is busy.
    pub wait_ms_max: u64,
    /// Saved scripts of one account; beyond it the oldest is removed.
    pub saved_scripts_max: u32,
    /// The same for the bytes of all saved scripts of one account.
    pub saved_bytes_max: u64,
}

impl Default for LuaSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            instructions_max: 100_000_000,
            time_ms_max: 5_000,
            memory_bytes_max: 64 << 20,
            rpc_calls_max: 1_000,
            rpc_answer_bytes_max: 8 << 20,
            source_bytes_max: 256 << 10,
            result_bytes_max: 4 << 20,
            depth_max: 64,
            scripts_max: 4,
            scripts_per_caller_max: 2,
            wait_ms_max: 10_000,
            saved_scripts_max: 256,
            saved_bytes_max: 4 << 20,
        }
    }
}

impl LuaSettings {
    /// Finds a value with which no script could run.
    ///
    /// # Errors
    /// A sentence that names the member.
    pub fn check(&self) -> Result<(), String> {
        let least = |name: &str, value: u64, least: u64| {
            if value < least { Err(format!("[lua] {name} must be at least {least}")) } else { Ok(()) }
        };
        least("instructions_max", self.instructions_max, 1)?;
        least("time_ms_max", self.time_ms_max, 1)?;
        // The machine itself with its library takes some tens of KiB.
        least("memory_bytes_max", self.memory_bytes_max as u64, 1 << 20)?;
        least("source_bytes_max", self.source_bytes_max as u64, 1)?;
        least("result_bytes_max", self.result_bytes_max as u64, 4)?;
        least("scripts_max", self.scripts_max as u64, 1)?;
        least("scripts_per_caller_max", self.scripts_per_caller_max as u64, 1)?;
        least("saved_scripts_max", self.saved_scripts_max.into(), 1)?;
        least("saved_bytes_max", self.saved_bytes_max, self.source_bytes_max as u64)?;
        // Every table that is converted takes a frame of the native stack.
        if self.depth_max == 0 || self.depth_max > 128 {
            return Err("[lua] depth_max must be from 1 to 128".to_owned());
        }
        if self.memory_bytes_max > 1 << 30 || self.rpc_answer_bytes_max > 1 << 28 || self.result_bytes_max > 1 << 28 {
            return Err(
                "[lua] memory_bytes_max is at most 1 GiB, result_bytes_max and rpc_answer_bytes_max 256 MiB".to_owned()
            );
        }
        Ok(())
    }

    /// See [`LuaSettings::time_ms_max`].
    pub const fn time(&self) -> Duration {
        Duration::from_millis(self.time_ms_max)
    }

    /// See [`LuaSettings::wait_ms_max`].
    pub const fn wait(&self) -> Duration {
        Duration::from_millis(self.wait_ms_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_which_no_script_could_run_are_named() {
        assert_eq!(LuaSettings::default().check(), Ok(()));
        let with = |change: fn(&mut LuaSettings)| {
            let mut settings = LuaSettings::default();
            change(&mut settings);
            settings.check().unwrap_err()
        };
        assert!(with(|settings| settings.instructions_max = 0).contains("instructions_max"));
        assert!(with(|settings| settings.memory_bytes_max = 1000).contains("memory_bytes_max"));
        assert!(with(|settings| settings.depth_max = 1000).contains("depth_max"));
        assert!(with(|settings| settings.scripts_max = 0).contains("scripts_max"));
        assert!(with(|settings| settings.saved_bytes_max = 1).contains("saved_bytes_max"));
        assert!(with(|settings| settings.result_bytes_max = usize::MAX).contains("result_bytes_max"));
    }
}
