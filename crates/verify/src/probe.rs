//! Whether this machine can isolate builds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use paraffin_confine::{Confinement, SUBCOMMAND, system_folders};

use crate::settings::Settings;

/// Builds cannot be isolated on this machine.
#[derive(Debug, thiserror::Error)]
#[error(
    "builds cannot be isolated on this machine ({0}). They need the program `unshare`, user namespaces (or root), and a filter \
     of system calls for this processor; \
     [verify] isolation = \"limits\" builds without them, which gives submitted code access to the files and the network of this machine"
)]
pub struct NotIsolated(String);

/// Runs a program that does nothing as builds are run; `program` is this one, and `folder` may be written.
///
/// # Errors
/// [`NotIsolated`] with what the machine lacks.
pub fn isolation(settings: &Settings, program: &Path, folder: &Path) -> Result<(), NotIsolated> {
    let failed = |error: &dyn std::fmt::Display| NotIsolated(error.to_string());
    let probe = folder.join("runs/probe");
    let root = probe.join("root");
    std::fs::create_dir_all(&root).map_err(|error| failed(&error))?;
    let confinement = Confinement {
        isolation: settings.isolation,
        network: false,
        root,
        shown: system_folders(),
        tmp_bytes: 1 << 20,
        limits: settings.process_limits(),
        user: settings.build_user(),
        program: PathBuf::from("/bin/true"),
        arguments: Vec::new(),
        environment: BTreeMap::new(),
        folder: PathBuf::from("/"),
    };
    let description = probe.join("probe.json");
    let text = serde_json::to_vec(&confinement).map_err(|error| failed(&error))?;
    std::fs::write(&description, text).map_err(|error| failed(&error))?;
    let output = Command::new(program)
        .arg(SUBCOMMAND)
        .arg(&description)
        .arg(std::process::id().to_string())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(&error))?;
    let _ = std::fs::remove_dir_all(&probe);
    if output.status.success() { Ok(()) } else { Err(failed(&String::from_utf8_lossy(&output.stderr).trim())) }
}
