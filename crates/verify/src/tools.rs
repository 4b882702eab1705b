//! Compiler and linker of a build. Cargo calls two wrappers of ours instead: each checks the whole command line, whatever
//! it was put together from, refuses what is not allowed, and executes the real tool. Calls of the compiler are recorded.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

use crate::allowed::{self, ToolPaths};
use crate::git::open;

/// The subcommand of the program that is the wrapper of a tool.
pub const SUBCOMMAND: &str = "verify-tool";
const COMPILER: &str = "compiler";
const LINKER: &str = "linker";
/// File with the [`ToolPaths`], beside the entries of the tools.
const PATHS: &str = "paths.json";
/// The entry of the compiler.
pub(crate) const COMPILER_ENTRY: &str = "rustc";
/// Prefix of the error of a tool whose command line is refused.
pub(crate) const COMPLAINT: &str = "paraffin-verify: ";
/// Largest call that is read back, bytes, and the number of calls.
const CALL_BYTES_MAX: u64 = 1 << 20;
const CALLS_MAX: usize = 20_000;

/// One call of the compiler.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) folder: PathBuf,
}

/// Writes the two entries into a folder, which the build sees as `inside`; `program` is this program as the build sees it.
pub(crate) fn install(folder: &Path, inside: &Path, program: &Path, paths: &ToolPaths) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(PATHS), serde_json::to_vec(paths)?)?;
    let linker = paths.linker_entry.file_name().unwrap_or_default();
    for (name, tool) in [(COMPILER_ENTRY.as_ref(), COMPILER), (linker, LINKER)] {
        let entry = folder.join(name);
        let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
        let script =
            format!("#!/bin/sh\nexec {} {SUBCOMMAND} {} {tool} \"$@\"\n", quoted(program), quoted(&inside.join(PATHS)));
        fs::write(&entry, script)?;
        fs::set_permissions(&entry, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

/// The hidden subcommand: `verify-tool <paths> compiler <rustc> …` or `verify-tool <paths> linker …`. Returns only on failure.
pub fn run(arguments: &[OsString]) -> ExitCode {
    let error = match checked(arguments) {
        Ok(mut command) => command.exec().to_string(),
        Err(error) => error,
    };
    eprintln!("{COMPLAINT}{error}");
    ExitCode::FAILURE
}

fn checked(arguments: &[OsString]) -> Result<Command, String> {
    let words: Option<Vec<String>> = arguments.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let words = words.ok_or("an argument is not text")?;
    let [paths, tool, rest @ ..] = &words[..] else { return Err("it is for builds alone".to_owned()) };
    let paths = fs::read(paths).map_err(|error| error.to_string())?;
    let paths: ToolPaths = serde_json::from_slice(&paths).map_err(|error| error.to_string())?;
    let (program, rest) = match (tool.as_str(), rest) {
        (LINKER, rest) => {
            allowed::linker(rest, &paths)?;
            (&paths.linker, rest)
        }
        // The first argument is the path of the compiler that cargo calls; there is only one.
        (COMPILER, [_, rest @ ..]) => {
            allowed::compiler(rest, &paths)?;
            if rest.iter().any(|word| word == "--out-dir") {
                record(rest, &paths.record)?;
            }
            (&paths.compiler, rest)
        }
        _ => return Err("it is for builds alone".to_owned()),
    };
    let mut command = Command::new(program);
    command.args(rest);
    Ok(command)
}

fn record(arguments: &[String], folder: &Path) -> Result<(), String> {
    let call = Call {
        arguments: arguments.to_vec(),
        environment: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        folder: std::env::current_dir().map_err(|error| error.to_string())?,
    };
    let text = serde_json::to_vec(&call).map_err(|error| error.to_string())?;
    // Process ids are reused.
    let free = (0..CALLS_MAX).find_map(|round| {
        let name = format!("{}-{round}", std::process::id());
        match File::create_new(folder.join(name)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
            created => Some(created),
        }
    });
    let mut file = free.ok_or("too many calls")?.map_err(|error| error.to_string())?;
    file.write_all(&text).map_err(|error| error.to_string())
}

/// The calls of a build that has ended. Build scripts had the folder too, so files that are no calls are skipped.
pub(crate) fn calls(folder: &Path) -> std::io::Result<Vec<Call>> {
    let files = fs::read_dir(folder)?.flatten().take(CALLS_MAX);
    let call = |file: File| {
        let mut text = Vec::new();
        file.take(CALL_BYTES_MAX).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    };
    Ok(files.filter_map(|entry| call(open(&entry.path()).ok()?)).collect())
}
