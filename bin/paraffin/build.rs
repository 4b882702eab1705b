//! Finds out which commit the program is built from, for `paraffin --version`.
//!
//! `PARAFFIN_COMMIT` names it where there is no git: in a source archive, in a container. Without both it is `unknown`. A tree whose
//! tracked files differ from the commit is marked `-dirty`.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// Read by this script, and set for the program.
const VARIABLE: &str = "PARAFFIN_COMMIT";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let commit = env::var(VARIABLE).ok().filter(|commit| !commit.is_empty()).or_else(of_git);
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    if commit.len() > 64 || !commit.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+~-".contains(&byte)) {
        eprintln!("{VARIABLE} has 1 to 64 letters, digits and . + ~ -");
        return ExitCode::FAILURE;
    }
    println!("cargo::rustc-env={VARIABLE}={commit}");
    ExitCode::SUCCESS
}

/// The commit of the clone that this folder belongs to.
fn of_git() -> Option<String> {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
    let root = folder.join("../..").canonicalize().ok()?;
    // An unpacked archive may lie in a clone of something else.
    if Path::new(&git(&root, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()? != root {
        return None;
    }
    // A path that does not exist would run this script, and compile the program, every time.
    let watch = |path: PathBuf| {
        if fs::exists(&path).unwrap_or_default() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    };
    let branch = git(&root, &["rev-parse", "--symbolic-full-name", "HEAD"])?;
    for name in ["HEAD", "logs/HEAD", &branch] {
        watch(root.join(git(&root, &["rev-parse", "--git-path", name])?));
    }
    // A development build is not linked again for the mark alone: there it is that of the last commit or clean build.
    if env::var_os("PROFILE").is_some_and(|profile| profile == "release") {
        for name in ["crates", "bin/paraffin/src", "bin/paraffin/Cargo.toml", "Cargo.toml", "Cargo.lock"] {
            watch(root.join(name));
        }
    }
    let commit = git(&root, &["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&root, &["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// What git prints, without the end of the line.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    // Asking must not lock the index, which another git may be writing.
    let output = command.arg("--no-optional-locks").args(arguments).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
