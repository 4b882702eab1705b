//! Licences, bans and sources of everything that is linked in, by cargo-deny and `deny.toml`.
//!
//! The advisory database is a download of its own and may be out of reach, so it is not a part of the checks;
//! `target/tools/bin/cargo-deny check advisories` asks it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Outcome, capture, run};
use crate::versions::pinned;

/// Runs the check, installing the pinned cargo-deny into `target/tools` first when no such version is at hand.
pub(crate) fn check(root: &Path) -> Outcome {
    let program = provide(root)?;
    let mut command = Command::new(program);
    command.current_dir(root).args(["--locked", "--workspace", "check", "--hide-inclusion-graph"]);
    run(command.args(["licenses", "bans", "sources"]))
}

fn provide(root: &Path) -> Outcome<PathBuf> {
    let version = pinned(root, "cargo-deny", "version")?;
    let tools = root.join("target/tools");
    let own = tools.join("bin/cargo-deny");
    for program in [PathBuf::from("cargo-deny"), own.clone()] {
        let told = capture(Command::new(&program).arg("--version")).unwrap_or_default();
        if told.split_whitespace().any(|word| word == version) {
            return Ok(program);
        }
    }
    println!("installing cargo-deny {version} into target/tools, once; this takes minutes");
    // It runs for seconds, so it is not worth the minutes that its authors let the compiler think.
    let quick = [("LTO", "off"), ("CODEGEN_UNITS", "16"), ("OPT_LEVEL", "1")];
    let mut install = Command::new("cargo");
    install.current_dir(root).args(["install", "cargo-deny", "--locked", "--quiet", "--version", &version]);
    // Its own target folder is kept out of the workspace's, whose profile it does not share.
    install.arg("--root").arg(&tools).env("CARGO_TARGET_DIR", tools.join("build"));
    install.envs(quick.map(|(setting, value)| (format!("CARGO_PROFILE_RELEASE_{setting}"), value)));
    run(&mut install)?;
    // What was compiled on the way is of no further use.
    let _ = std::fs::remove_dir_all(tools.join("build"));
    Ok(own)
}
