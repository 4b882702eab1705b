//! Builds a real `bitcoind` and `bitcoin-cli` for the integration tests.
//!
//! The source comes through cargo, as the published crate that carries Bitcoin Core's tree; it is a development
//! snapshot, which is fit for tests and not for running a node with money. Everything lies under `target/bitcoind/`:
//! `source/` (fetched), `build/` (cmake), `bin/` (the result) and `stamp` (what the result was built from).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::process::{Failure, Outcome, answers, capture, run};
use crate::versions::pinned;

const DEBIAN_PACKAGES: &[&str] = &["cmake", "g++", "libboost-dev", "libevent-dev", "ninja-build", "pkg-config"];

/// What is built, and what is left out to keep the build at a few minutes.
const CMAKE_FLAGS: &[&str] = &[
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_DAEMON=ON",
    "-DBUILD_CLI=ON",
    "-DBUILD_BITCOIN_BIN=OFF",
    "-DBUILD_GUI=OFF",
    "-DBUILD_TESTS=OFF",
    "-DBUILD_TX=OFF",
    "-DBUILD_UTIL=OFF",
    "-DBUILD_BENCH=OFF",
    "-DBUILD_FUZZ_BINARY=OFF",
    "-DENABLE_WALLET=OFF",
    "-DENABLE_EXTERNAL_SIGNER=OFF",
    "-DENABLE_IPC=OFF",
    "-DWITH_ZMQ=OFF",
    "-DWITH_EMBEDDED_ASMAP=OFF",
    "-DINSTALL_MAN=OFF",
];

const PROGRAMS: &[&str] = &["bitcoind", "bitcoin-cli"];

/// How a call may behave when the build needs Debian packages that are absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingPackages {
    /// Install them (a build machine, or `--install`).
    Install,
    /// Name them and stop (somebody's own computer).
    Name,
}

/// The binary that tests should use: `PARAFFIN_BITCOIND`, or the one built here, when it is there.
pub(crate) fn found(root: &Path) -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("PARAFFIN_BITCOIND") {
        return Some(PathBuf::from(given));
    }
    let built = root.join("target/bitcoind/bin/bitcoind");
    built.is_file().then_some(built)
}

/// Builds what is missing and returns the path of `bitcoind`. A second call finds the stamp and does nothing.
pub(crate) fn build(root: &Path, missing: MissingPackages) -> Outcome<PathBuf> {
    let place = root.join("target/bitcoind");
    let bin = place.join("bin");
    let version = pinned(root, "bitcoind", "version")?;
    let sha256 = pinned(root, "bitcoind", "sha256")?;
    let wanted = stamp(&version, &sha256);
    fs::create_dir_all(&place).map_err(|error| Failure::new(format!("{}: {error}", place.display())))?;
    let _one_at_a_time = lock(&place)?;
    if is_current(&place, &wanted) {
        return Ok(bin.join("bitcoind"));
    }
    let started = Instant::now();
    println!("building bitcoind from {} {version} (a development snapshot of Bitcoin Core)", package(root)?);
    provide_packages(missing)?;
    let source = fetch_source(root, &place, &version, &sha256)?;
    compile(&source, &place.join("build"))?;
    install(&place)?;
    fs::write(place.join("stamp"), wanted).map_err(|error| Failure::new(format!("stamp: {error}")))?;
    println!("bitcoind built in {} s", started.elapsed().as_secs());
    Ok(bin.join("bitcoind"))
}

fn package(root: &Path) -> Outcome<String> {
    pinned(root, "bitcoind", "package")
}

fn stamp(version: &str, sha256: &str) -> String {
    format!("{version}\n{sha256}\n{}\n", CMAKE_FLAGS.join("\n"))
}

fn is_current(place: &Path, wanted: &str) -> bool {
    let same = fs::read_to_string(place.join("stamp")).is_ok_and(|stamp| stamp == wanted);
    same && PROGRAMS.iter().all(|program| place.join("bin").join(program).is_file())
}

/// Two builds at once would write the same files; the second waits here and then finds the stamp.
fn lock(place: &Path) -> Outcome<fs::File> {
    let path = place.join("lock");
    let file = fs::File::create(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    file.lock().map_err(|error| Failure::new(format!("{} cannot be locked: {error}", path.display())))?;
    Ok(file)
}

fn provide_packages(missing: MissingPackages) -> Outcome {
    if packages_present() {
        return Ok(());
    }
    let line = format!("apt-get install -y --no-install-recommends {}", DEBIAN_PACKAGES.join(" "));
    if missing == MissingPackages::Name {
        return Err(Failure::new(format!(
            "building bitcoind needs cmake, ninja, pkg-config, a C++20 compiler and the headers of Boost and libevent.\n\
             On Debian or Ubuntu:  sudo {line}\n\
             or, as root, `cargo xtask bitcoind --install` does it. A bitcoind of your own serves as well: set \
             PARAFFIN_BITCOIND to its path."
        )));
    }
    println!("installing: {line}");
    let mut update = Command::new("apt-get");
    run(update.args(["update", "-q"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", "--no-install-recommends"]).args(DEBIAN_PACKAGES);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    if packages_present() { Ok(()) } else { Err(Failure::new("the packages were installed, yet a part is not found")) }
}

fn packages_present() -> bool {
    let programs = [("cmake", "--version"), ("ninja", "--version"), ("pkg-config", "--version")];
    programs.iter().all(|(program, argument)| answers(program, &[argument])) && headers_present()
}

/// Asks the preprocessor, which knows where this system keeps its headers.
fn headers_present() -> bool {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let mut command = Command::new(compiler);
    command.args(["-E", "-x", "c++", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // A compiler that closes its input early also fails, which the status tells.
        let _ = input.write_all(b"#include <boost/version.hpp>\n#include <event2/event.h>\n");
    }
    child.wait().is_ok_and(|status| status.success())
}

/// Lets cargo vendor the pinned crate into `source/` and checks that it is the archive that was pinned.
fn fetch_source(root: &Path, place: &Path, version: &str, sha256: &str) -> Outcome<PathBuf> {
    let package = package(root)?;
    let scratch = place.join("source");
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
    };
    fs::create_dir_all(scratch.join("src")).map_err(|error| Failure::new(format!("{}: {error}", scratch.display())))?;
    write(
        scratch.join("Cargo.toml"),
        &format!(
            "[package]\nname = \"bitcoind-source\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\n{package} = \"={version}\"\n"
        ),
    )?;
    write(scratch.join("src/lib.rs"), "")?;
    let mut vendor = Command::new("cargo");
    vendor.current_dir(&scratch).args(["vendor", "--quiet", "--versioned-dirs", "vendor"]);
    capture(&mut vendor).map_err(|error| {
        Failure::new(format!("the source of bitcoind cannot be fetched through cargo; is the network there?\n{error}"))
    })?;
    let source = scratch.join(format!("vendor/{package}-{version}"));
    let checksum = fs::read_to_string(source.join(".cargo-checksum.json")).unwrap_or_default();
    if !checksum.contains(sha256) {
        return Err(Failure::new(format!(
            "{package} {version} is not the archive pinned in xtask/versions.toml (SHA-256 {sha256}); \
             remove {} and try again",
            scratch.display()
        )));
    }
    Ok(source.join("bitcoin"))
}

fn compile(source: &Path, build: &Path) -> Outcome {
    let mut configure = Command::new("cmake");
    configure.args(["-G", "Ninja", "-S"]).arg(source).arg("-B").arg(build).args(CMAKE_FLAGS);
    capture(&mut configure)?;
    // The build yields to whatever else the machine does.
    let mut make = Command::new("nice");
    make.args(["-n", "10", "cmake", "--build"]).arg(build).arg("--target").args(PROGRAMS);
    // Without this the program would call itself after the commit of the repository around it.
    run(make.env("BITCOIN_GENBUILD_NO_GIT", "1"))
}

fn install(place: &Path) -> Outcome {
    let bin = place.join("bin");
    fs::create_dir_all(&bin).map_err(|error| Failure::new(format!("{}: {error}", bin.display())))?;
    for program in PROGRAMS {
        let made = place.join("build/bin").join(program);
        let goal = bin.join(program);
        // A rename never leaves a half-written program where a test could start it.
        let fresh = bin.join(format!("{program}.new"));
        let copied = fs::copy(&made, &fresh).and_then(|_| fs::rename(&fresh, &goal));
        copied.map_err(|error| Failure::new(format!("{} to {}: {error}", made.display(), goal.display())))?;
        capture(Command::new(&goal).arg("-version"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_of_other_flags_or_a_missing_program_means_a_new_build() {
        let place = tempfile::tempdir().unwrap();
        let wanted = stamp("0.4.1", "aa");
        assert!(!is_current(place.path(), &wanted));
        fs::create_dir_all(place.path().join("bin")).unwrap();
        for program in PROGRAMS {
            fs::write(place.path().join("bin").join(program), "").unwrap();
        }
        fs::write(place.path().join("stamp"), &wanted).unwrap();
        assert!(is_current(place.path(), &wanted));
        assert!(!is_current(place.path(), &stamp("0.4.2", "aa")));
        fs::remove_file(place.path().join("bin/bitcoin-cli")).unwrap();
        assert!(!is_current(place.path(), &wanted));
    }
}
