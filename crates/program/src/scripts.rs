//! Scripts of callers, and the processes of this same program that run them.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use paraffin_access::DatabaseKeyStore;
use paraffin_gateway::ScriptParts;
use paraffin_lua::{LuaSettings, WorkerProgram, Workers};

/// The command by which this program runs scripts; for its own use.
pub(crate) const WORKER_COMMAND: &str = "lua-worker";

/// What the gateway runs scripts with; `None` where they are switched off. The log says soon after what isolates them.
///
/// # Errors
/// The program does not know where it stands on the disk.
pub(crate) fn parts(settings: &LuaSettings, keys: &Arc<DatabaseKeyStore>) -> std::io::Result<Option<ScriptParts>> {
    if !settings.enabled {
        return Ok(None);
    }
    let workers = Arc::new(workers(settings)?);
    let checked = Arc::clone(&workers);
    // The start waits for nothing of it.
    tokio::spawn(async move { checked.check_isolation().await });
    let store = Arc::clone(keys) as Arc<dyn paraffin_access::ScriptStore>;
    Ok(Some(ScriptParts { runner: workers, store }))
}

/// Processes of this program that run scripts.
///
/// # Errors
/// The program does not know where it stands on the disk.
pub(crate) fn workers(settings: &LuaSettings) -> std::io::Result<Workers> {
    let program = WorkerProgram { path: program()?, arguments: vec![WORKER_COMMAND.to_owned()] };
    Ok(Workers::new(settings.clone(), program))
}

/// On Linux the file that runs, also after an upgrade has put another one in its place: both sides of the pipe are then of
/// the same version.
fn program() -> std::io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Runs scripts from standard input until it ends.
pub(crate) fn work(arguments: &[OsString]) -> ExitCode {
    match paraffin_lua::work(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{WORKER_COMMAND}: {error}");
            ExitCode::FAILURE
        }
    }
}
