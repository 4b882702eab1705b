//! The commands of the program, its configuration, and the wiring of an instance.
//!
//! Invariant: no surface is named here. [`Program`] has those that the program is made with.
#![forbid(unsafe_code)]

mod account_file;
mod accounts;
mod bridge;
mod call;
mod client;
mod cluster;
mod command_line;
mod config;
mod console;
mod contracts;
mod control;
mod dev;
mod diff;
mod disk;
mod disk_need;
mod doctor;
mod export;
mod forex;
mod hosted;
mod import_time;
mod index;
mod instance;
mod keys;
mod leave;
mod log;
mod manual;
mod markets;
mod memory;
mod mempool;
mod orderbook;
mod ordinals;
mod pools;
mod prices;
mod program;
mod progress;
mod protect;
mod replay;
mod rows_file;
mod scripts;
mod serve;
mod snapshot;
mod tx;
mod upstream;
mod verify;

use std::process::ExitCode;

use crate::command_line::{Command, SnapshotCommand};
use crate::config::{Config, LogSection};

pub use crate::program::{KeyedSources, Program};

/// Code when a command failed.
const FAILED: u8 = 1;

/// Runs the command that the arguments of this process name, as its main thread.
pub fn run(program: &'static Program) -> ExitCode {
    log::hush_panics();
    let command_line = command_line::read(program.version);
    // Each is a process of its own, without the runtime's threads: their children's lives hang on the main thread.
    match &command_line.command {
        Command::VerifyWorker => return paraffin_verify::run_worker(),
        Command::VerifyTool { arguments } => return paraffin_verify::run_tool(arguments),
        Command::VerifyConfine { arguments } => return paraffin_verify::run_confined(arguments),
        Command::LuaWorker { arguments } => return scripts::work(arguments),
        command => {
            // Not above: those confine themselves, and must have one thread.
            if let Err(error) = paraffin_allocator::give_back_when_idle() {
                eprintln!("paraffin: memory that was used once is given back late: error {error} of the allocator");
            }
            // Without it each memory of a contract goes back to the system, as the documentation says.
            let _ = paraffin_allocator::use_memories_again();
            protect::protect(command);
        }
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("paraffin").build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("paraffin: the async runtime cannot be started: {error}");
            return ExitCode::from(FAILED);
        }
    };
    let result = runtime.block_on(carry_out(command_line.command, program));
    // Blocking work that is still under way (a request that was cut off) must not keep the process from ending.
    runtime.shutdown_background();
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("paraffin: {error}");
            ExitCode::from(FAILED)
        }
    }
}

/// A write beyond `ulimit -f` ends a process by default. With a handler in place the write fails instead, which the store
/// reports like a full disk.
fn survive_file_size_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    // The handler stays when the listener is dropped.
    if let Err(error) = signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())) {
        eprintln!("paraffin: writes beyond a file size limit will end the process: {error}");
    }
}

async fn carry_out(command: Command, program: &Program) -> Result<ExitCode, Box<dyn std::error::Error>> {
    survive_file_size_limit();
    match command {
        Command::Dev(arguments) => {
            let _log = log::start(&LogSection { filter: "warn".to_owned(), ..LogSection::default() })?;
            // Everything is in it, from the chain to the gateway.
            Box::pin(dev::run(arguments, program)).await?;
        }
        Command::Serve(arguments) => {
            let config = Config::load(&arguments.config)?;
            let _log = log::start(&config.log)?;
            serve::run(config, program).await?;
        }
        Command::Index(arguments) => {
            let config = Config::load(&arguments.config.config)?;
            let _log = log::start(&config.log)?;
            index::run(config, arguments.once, program.version).await?;
        }
        Command::Reindex(arguments) => {
            let config = Config::load(&arguments.config.config)?;
            let _log = log::start(&config.log)?;
            index::reindex(config, arguments.module, arguments.from, program.version).await?;
        }
        Command::Snapshot(arguments) => match arguments.command {
            SnapshotCommand::Export { config, rate, file } => {
                let config = Config::load(&config.config)?;
                let _log = log::start(&config.log)?;
                snapshot::export(&config, &file, rate.map(|kib| kib << 10)).await?;
            }
            SnapshotCommand::Import { config, file } => {
                let config = Config::load(&config.config)?;
                let _log = log::start(&config.log)?;
                snapshot::import(&config, &file)?;
            }
        },
        Command::Export(arguments) => export::run(arguments, program.version).await?,
        Command::Doctor(arguments) => {
            let config = Config::load(&arguments.config)?;
            return Ok(if doctor::run(&config, &arguments.config).await {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(FAILED)
            });
        }
        Command::Diff(arguments) => return Ok(diff::run(&arguments).await),
        Command::Keys(arguments) => keys::run(arguments.command).await?,
        Command::Account(arguments) => console::run(arguments.command).await?,
        Command::Replay(arguments) => replay::run(&arguments)?,
        Command::Hosted(arguments) => hosted::extract(&arguments.command)?,
        Command::Bridge(arguments) => return Ok(bridge::run(&arguments)),
        Command::Call(arguments) => call::run(arguments).await?,
        Command::Tx(arguments) => tx::run(&arguments).await?,
        Command::Completions { shell } => manual::completions(shell, program.version)?,
        Command::Man { folder } => manual::pages(folder.as_deref(), program.version)?,
        // Run before there is a runtime.
        Command::VerifyWorker
        | Command::VerifyTool { .. }
        | Command::VerifyConfine { .. }
        | Command::LuaWorker { .. } => {
            return Ok(ExitCode::from(FAILED));
        }
    }
    Ok(ExitCode::SUCCESS)
}
