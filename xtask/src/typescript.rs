//! Installs the compiler of TypeScript, which a test of the program compiles the TypeScript client with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::debian;
use xtask::process::{Failure, Outcome, answers, capture, run};
use xtask::repository::target;

use crate::test::cargo;

/// Where the client is, with the compiler that it is pinned to.
const CLIENT: &str = "clients/typescript";
const MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

/// Runs that test alone.
pub(crate) fn check(root: &Path) -> Outcome {
    let program = provide(root)?;
    let mut test = cargo(root);
    test.args(["test", "--locked", "--package", "paraffin", "--test", "program", "clients::", "--", "--nocapture"]);
    run(test.env("PARAFFIN_TSC", program))
}

/// The compiler, installed into `target/tools` with exactly the packages of the client's lock file.
pub(crate) fn provide(root: &Path) -> Outcome<PathBuf> {
    let folder = target(root).join("tools/typescript");
    let program = folder.join("node_modules/.bin/tsc");
    let read = |path: PathBuf| fs::read(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())));
    let wanted = MANIFESTS.iter().map(|name| read(root.join(CLIENT).join(name))).collect::<Outcome<Vec<_>>>()?;
    let is_there =
        MANIFESTS.iter().zip(&wanted).all(|(name, text)| fs::read(folder.join(name)).is_ok_and(|is| is == *text));
    if is_there && answers(&program.to_string_lossy(), &["--version"]) {
        return Ok(program);
    }
    if !answers("npm", &["--version"]) {
        if std::env::var_os("CI").is_none_or(|value| value != "true") {
            return Err(Failure::new(
                "the compiler of TypeScript comes by npm. On Debian or Ubuntu:  sudo apt-get install npm",
            ));
        }
        debian::install_packages(&["npm"])?;
    }
    println!("installing the compiler of TypeScript into target/tools, once");
    let failed = |error: std::io::Error| Failure::new(format!("{}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(failed)?;
    for (name, text) in MANIFESTS.iter().zip(&wanted) {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    // No script of a package is run.
    capture(Command::new("npm").args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder))?;
    Ok(program)
}
