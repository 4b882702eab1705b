//! What the C library does with memory that was given back.
//!
//! GNU's keeps up to eight pools for each core, each of which holds on to what it once had, and keeps larger and larger pieces in
//! them: a minute after an attack the process had five times what it had before. Both are settings that it reads when a process begins, so a
//! server or an import begins once more with them (decision 0044).

use crate::command_line::Command;

/// Begins the program anew with these settings, where they count and are not set: the same process and the same arguments.
pub(crate) fn settle(command: &Command) {
    const POOLS: &str = "MALLOC_ARENA_MAX";
    let is_server = matches!(command, Command::Serve(_) | Command::Dev(_));
    let is_import = matches!(command, Command::Index(_) | Command::Reindex(_));
    if !cfg!(target_env = "gnu") || !(is_server || is_import) || std::env::var_os(POOLS).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let mut again = std::process::Command::new(program);
    again.args(std::env::args_os().skip(1)).env(POOLS, cores.max(2).to_string());
    // Setting it ends the growth of the size from which on pieces are the system's own.
    again.env("MALLOC_TRIM_THRESHOLD_", (1 << 20).to_string());
    if is_import {
        // Rows that wait grow by pieces of some megabytes; each of them new from the system would cost a tenth of an import.
        again.env("MALLOC_MMAP_THRESHOLD_", (4 << 20).to_string());
    }
    let error = std::os::unix::process::CommandExt::exec(&mut again);
    eprintln!("paraffin: memory that was used once is given back late: {error}");
}
