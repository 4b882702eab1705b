//! `paraffin hosted`: built-in contracts out of an indexer program.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use paraffin_alkanes::{Builtins, BuiltinsError, Parameters, ReleasedModule};
use paraffin_hosted::{LoadError, read_file};

use crate::command_line::HostedCommand;
use data_encoding::HEXLOWER;

/// Built-in contracts cannot be extracted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExtractError {
    /// The program cannot be read.
    #[error(transparent)]
    Program(#[from] LoadError),
    /// The program does not hold all of them. Those that it holds were written.
    #[error(transparent)]
    Builtins(#[from] BuiltinsError),
    /// A file cannot be written.
    #[error("{file}: {source}")]
    File {
        /// The file or folder.
        file: String,
        /// The I/O error.
        source: std::io::Error,
    },
    /// A file of the same name holds something else.
    #[error("{0} is there and holds something else: give another folder")]
    Taken(PathBuf),
    /// Standard output is closed.
    #[error("standard output: {0}")]
    Output(std::io::Error),
}

/// Writes the built-in contracts that a program holds into files, and prints a line for each: contract, first height, SHA-256, file.
///
/// # Errors
/// See [`ExtractError`].
pub(crate) fn extract(command: &HostedCommand) -> Result<(), ExtractError> {
    let HostedCommand::ExtractBuiltins { network, program, folder } = command;
    let builtins = Builtins::from_operator_wasm(&Parameters::of(*network), &read_file(program)?)?;
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut output = std::io::stdout().lock();
    for module in builtins.released_modules() {
        let file = folder.join(module.file_name);
        write(&file, &module)?;
        let ReleasedModule { name, from, hash, .. } = module;
        writeln!(output, "{name} from block {from}: {} {}", HEXLOWER.encode(&hash), file.display())
            .map_err(ExtractError::Output)?;
    }
    Ok(builtins.require()?)
}

fn failed(file: &Path) -> impl FnOnce(std::io::Error) -> ExtractError {
    let file = file.display().to_string();
    |source| ExtractError::File { file, source }
}

/// Writes a module. What is there already is left, and refused where it is something else.
fn write(file: &Path, module: &ReleasedModule<'_>) -> Result<(), ExtractError> {
    match std::fs::File::create_new(file) {
        Ok(mut created) => created.write_all(module.code).map_err(failed(file)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let there = std::fs::read(file).map_err(failed(file))?;
            if there == module.code { Ok(()) } else { Err(ExtractError::Taken(file.to_owned())) }
        }
        Err(error) => Err(failed(file)(error)),
    }
}
