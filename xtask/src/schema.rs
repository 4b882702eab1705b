//! Installs schemathesis, with which a test of the program tries every REST route as its description says.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::debian;
use xtask::process::{Failure, Outcome, answers, capture, run};
use xtask::repository::target;
use xtask::versions::{pinned, pinned_list};

use crate::test::cargo;

/// What Debian has apart from Python itself.
const VENV_PACKAGE: &str = "python3-venv";

/// Runs that test alone.
pub(crate) fn check(root: &Path) -> Outcome {
    let program = provide(root)?;
    let mut test = cargo(root);
    test.args(["test", "--locked", "--package", "paraffin", "--test", "program", "schema::", "--", "--nocapture"]);
    run(test.env("PARAFFIN_SCHEMATHESIS", program))
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

/// The program, installed into `target/tools` with exactly the packages that are pinned.
pub(crate) fn provide(root: &Path) -> Outcome<PathBuf> {
    let version = pinned(root, "schemathesis", "version")?;
    let place = target(root).join("tools/schemathesis");
    let program = place.join("bin/schemathesis");
    let mut packages = vec![format!("schemathesis=={version}")];
    packages.extend(pinned_list(root, "schemathesis", "with")?);
    let wanted = packages.join("\n") + "\n";
    let list = place.join("packages.txt");
    let is_there = std::fs::read_to_string(&list).is_ok_and(|installed| installed == wanted);
    if is_there && answers(&program.to_string_lossy(), &["--version"]) {
        return Ok(program);
    }
    println!("installing schemathesis {version} into target/tools, once");
    if place.exists() {
        std::fs::remove_dir_all(&place).map_err(|error| Failure::new(format!("{}: {error}", place.display())))?;
    }
    provide_venv(&place)?;
    let requirements = place.join("requirements.txt");
    write(&requirements, &wanted)?;
    let pip = place.join("bin/pip");
    // What is not on the list is not installed, so that nothing comes in a version of its own.
    let mut install = Command::new(&pip);
    install.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "-r"]);
    run(install.arg(&requirements))?;
    run(Command::new(&pip).args(["--disable-pip-version-check", "check"]))?;
    write(&list, &wanted)?;
    Ok(program)
}

fn provide_venv(place: &Path) -> Outcome {
    let venv = || {
        let mut command = Command::new("python3");
        command.args(["-m", "venv"]).arg(place);
        command
    };
    if capture(&mut venv()).is_ok() {
        return Ok(());
    }
    if std::env::var_os("CI").is_none_or(|value| value != "true") {
        return Err(Failure::new(format!(
            "schemathesis needs Python 3.11 or newer with `venv`. On Debian or Ubuntu:  sudo apt-get install {VENV_PACKAGE}"
        )));
    }
    debian::install_packages(&[VENV_PACKAGE])?;
    run(&mut venv())
}
