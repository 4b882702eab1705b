//! Installs programs that come as Python packages, each into a virtual environment of its own in `target/tools`.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::debian;
use xtask::process::{Failure, Outcome, answers, capture, run};
use xtask::repository::target;
use xtask::versions::{pinned, pinned_list};

/// What Debian has apart from Python itself.
const VENV_PACKAGE: &str = "python3-venv";

/// The folder of a virtual environment that has the package with exactly the version and the further packages that are pinned under its name.
pub(crate) fn provide(root: &Path, package: &str) -> Outcome<PathBuf> {
    let version = pinned(root, package, "version")?;
    let venv_dir = target(root).join("tools").join(package);
    let mut packages = vec![format!("{package}=={version}")];
    packages.extend(pinned_list(root, package, "with")?);
    let wanted = packages.join("\n") + "\n";
    let list = venv_dir.join("packages.txt");
    let is_there = std::fs::read_to_string(&list).is_ok_and(|installed| installed == wanted);
    if is_there && answers(&venv_dir.join("bin/python").to_string_lossy(), &["--version"]) {
        return Ok(venv_dir);
    }
    println!("installing {package} {version} into target/tools, once");
    if venv_dir.exists() {
        std::fs::remove_dir_all(&venv_dir).map_err(|error| Failure::new(format!("{}: {error}", venv_dir.display())))?;
    }
    provide_venv(&venv_dir, package)?;
    let requirements = venv_dir.join("requirements.txt");
    write(&requirements, &wanted)?;
    let pip = venv_dir.join("bin/pip");
    // What is not on the list is not installed, so that nothing comes in a version of its own.
    let mut install = Command::new(&pip);
    install.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "-r"]);
    run(install.arg(&requirements))?;
    run(Command::new(&pip).args(["--disable-pip-version-check", "check"]))?;
    write(&list, &wanted)?;
    Ok(venv_dir)
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

fn provide_venv(venv_dir: &Path, package: &str) -> Outcome {
    let venv = || {
        let mut command = Command::new("python3");
        command.args(["-m", "venv"]).arg(venv_dir);
        command
    };
    if capture(&mut venv()).is_ok() {
        return Ok(());
    }
    if std::env::var_os("CI").is_none_or(|value| value != "true") {
        return Err(Failure::new(format!(
            "{package} needs Python 3.11 or newer with `venv`. On Debian or Ubuntu:  sudo apt-get install {VENV_PACKAGE}"
        )));
    }
    debian::install_packages(&[VENV_PACKAGE])?;
    run(&mut venv())
}
