//! Published programs that tests and bars use where they are: Bitcoin Core, electrs, ord.
//!
//! They are looked for where a variable says, in `bin/` of the shared folder (`PARAFFIN_SHARED`, else `../shared` beside the clone),
//! and in `target/peers/bin`, where `cargo xtask peers build` puts what it compiles, up to a quarter of an hour each.
//!
//! The source of Bitcoin Core comes through cargo, as the published crate that carries its tree; it is a development snapshot,
//! which is fit for tests and not for running a node with money. All its files are under `target/peers/bitcoind/`: `source/`
//! (fetched), `build/` (cmake) and `stamp` (what the result was built from).

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;

use crate::debian;
use crate::process::{Failure, Outcome, answers, capture, run};
use crate::repository::target;
use crate::versions::pinned;

/// A published program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// Bitcoin Core.
    Bitcoind,
    /// The Electrum server that imports of ours are measured beside.
    Electrs,
    /// The indexer of inscriptions and runes that answers of ours are compared with.
    Ord,
}

impl Peer {
    const ALL: [Self; 3] = [Self::Bitcoind, Self::Electrs, Self::Ord];

    const fn name(self) -> &'static str {
        match self {
            Self::Bitcoind => "bitcoind",
            Self::Electrs => "electrs",
            Self::Ord => "ord",
        }
    }

    /// The variable that names one of the caller's own.
    const fn variable(self) -> &'static str {
        match self {
            Self::Bitcoind => "PARAFFIN_BITCOIND",
            Self::Electrs => "PARAFFIN_ELECTRS",
            Self::Ord => "PARAFFIN_ORD",
        }
    }
}

/// The program, where it is on this machine.
///
/// # Errors
/// It is nowhere; the text says how to get it.
pub fn find(root: &Path, peer: Peer) -> Outcome<PathBuf> {
    find_with(root, peer, |name| std::env::var_os(name))
}

fn find_with(root: &Path, peer: Peer, variable: impl Fn(&str) -> Option<OsString>) -> Outcome<PathBuf> {
    let name = peer.name();
    if let Some(given) = variable(peer.variable()) {
        let given = PathBuf::from(given);
        let missing = || Failure::new(format!("{}: there is no file {}", peer.variable(), given.display()));
        return given.is_file().then(|| given.clone()).ok_or_else(missing);
    }
    let shared = variable("PARAFFIN_SHARED").map_or_else(|| root.join("../shared"), PathBuf::from);
    let candidates = [shared.join("bin").join(name), built(root).join(name)];
    candidates.into_iter().find(|candidate| candidate.is_file()).ok_or_else(|| {
        Failure::new(format!(
            "there is no {name}: `cargo xtask peers build {name}` makes one, {} or PARAFFIN_SHARED names it",
            peer.variable()
        ))
    })
}

/// Builds the programs named, or all.
///
/// # Errors
/// What is missing for it, or why it failed.
pub fn build(root: &Path, peers: &[Peer], install: bool) -> Outcome {
    for peer in if peers.is_empty() { &Peer::ALL[..] } else { peers } {
        let path = match peer {
            Peer::Bitcoind => build_bitcoind(root, install)?,
            Peer::Electrs => {
                if install {
                    debian::install_packages(&["clang", "libclang-dev", "cmake"])?;
                }
                if !answers("clang", &["--version"]) {
                    return Err(Failure::new(
                        "electrs needs clang and libclang to compile RocksDB.\n\
                         On Debian or Ubuntu:  sudo apt-get install -y clang libclang-dev cmake",
                    ));
                }
                cargo_install(root, "electrs", &[])?
            }
            // Unoptimised: the chains are short, and this builds in a fraction of the time.
            Peer::Ord => cargo_install(root, "ord", &["--debug"])?,
        };
        println!("{}", path.display());
    }
    Ok(())
}

fn built(root: &Path) -> PathBuf {
    target(root).join("peers/bin")
}

fn cargo_install(root: &Path, name: &str, flags: &[&str]) -> Outcome<PathBuf> {
    let version = pinned(root, name, "version")?;
    println!("building {name} {version}, up to a quarter of an hour");
    let peer_folder = target(root).join("peers");
    let mut install = Command::new("cargo");
    install.args(["install", name, "--locked", "--version", &version]).args(flags).arg("--root").arg(&peer_folder);
    // Its dependencies share nothing with ours.
    run(install.env("CARGO_TARGET_DIR", peer_folder.join("build")))?;
    Ok(built(root).join(name))
}

const DEBIAN_PACKAGES: &[&str] = &["cmake", "g++", "libboost-dev", "libevent-dev", "ninja-build", "pkg-config"];

/// What is built, and what is left out to keep the build at a few minutes.
const CMAKE_FLAGS: &[&str] = &[
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_DAEMON=ON",
    "-DBUILD_CLI=OFF",
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

const PROGRAMS: &[&str] = &["bitcoind"];

/// Builds what is missing and returns the path of `bitcoind`. A second call finds the stamp and does nothing.
fn build_bitcoind(root: &Path, install: bool) -> Outcome<PathBuf> {
    let peer_folder = target(root).join("peers/bitcoind");
    let bin = built(root);
    let version = pinned(root, "bitcoind", "version")?;
    let sha256 = pinned(root, "bitcoind", "sha256")?;
    let wanted = stamp(&version, &sha256);
    fs::create_dir_all(&peer_folder).map_err(|error| Failure::new(format!("{}: {error}", peer_folder.display())))?;
    let _one_at_a_time = lock(&peer_folder)?;
    if is_current(&peer_folder, &bin, &wanted) {
        return Ok(bin.join("bitcoind"));
    }
    let started = Instant::now();
    println!("building bitcoind from {} {version} (a development snapshot of Bitcoin Core)", package(root)?);
    provide_packages(install)?;
    let source = fetch_source(root, &peer_folder, &version, &sha256)?;
    compile(&source, &peer_folder.join("build"))?;
    copy(&peer_folder, &bin)?;
    fs::write(peer_folder.join("stamp"), wanted).map_err(|error| Failure::new(format!("stamp: {error}")))?;
    println!("bitcoind built in {} s", started.elapsed().as_secs());
    Ok(bin.join("bitcoind"))
}

fn package(root: &Path) -> Outcome<String> {
    pinned(root, "bitcoind", "package")
}

fn stamp(version: &str, sha256: &str) -> String {
    format!("{version}\n{sha256}\n{}\n", CMAKE_FLAGS.join("\n"))
}

fn is_current(peer_folder: &Path, bin: &Path, wanted: &str) -> bool {
    let same = fs::read_to_string(peer_folder.join("stamp")).is_ok_and(|stamp| stamp == wanted);
    same && PROGRAMS.iter().all(|program| bin.join(program).is_file())
}

/// Two builds at once would write the same files; the second waits here and then finds the stamp.
fn lock(peer_folder: &Path) -> Outcome<fs::File> {
    let path = peer_folder.join("lock");
    let file = fs::File::create(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    file.lock().map_err(|error| Failure::new(format!("{} cannot be locked: {error}", path.display())))?;
    Ok(file)
}

fn provide_packages(install: bool) -> Outcome {
    if packages_present() {
        return Ok(());
    }
    let line = format!("apt-get install -y --no-install-recommends {}", DEBIAN_PACKAGES.join(" "));
    if !install {
        return Err(Failure::new(format!(
            "building bitcoind needs cmake, ninja, pkg-config, a C++20 compiler and the headers of Boost and libevent.\n\
             On Debian or Ubuntu:  sudo {line}\n\
             or, as root, `cargo xtask peers build --install bitcoind` does it. A bitcoind of your own serves as well: set \
             PARAFFIN_BITCOIND to its path."
        )));
    }
    println!("installing: {line}");
    debian::install_packages(DEBIAN_PACKAGES)?;
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
        // A compiler that closes its input early also fails, which the status shows.
        let _ = input.write_all(b"#include <boost/version.hpp>\n#include <event2/event.h>\n");
    }
    child.wait().is_ok_and(|status| status.success())
}

/// Lets cargo vendor the pinned crate into `source/` and checks that it is the archive that was pinned.
fn fetch_source(root: &Path, peer_folder: &Path, version: &str, sha256: &str) -> Outcome<PathBuf> {
    let package = package(root)?;
    let scratch = peer_folder.join("source");
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

fn copy(peer_folder: &Path, bin: &Path) -> Outcome {
    fs::create_dir_all(bin).map_err(|error| Failure::new(format!("{}: {error}", bin.display())))?;
    for program in PROGRAMS {
        let made = peer_folder.join("build/bin").join(program);
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
        let folder = tempfile::tempdir().unwrap();
        let (peer_folder, bin) = (folder.path(), folder.path().join("bin"));
        let wanted = stamp("0.4.1", "aa");
        assert!(!is_current(peer_folder, &bin, &wanted));
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("bitcoind"), "").unwrap();
        fs::write(peer_folder.join("stamp"), &wanted).unwrap();
        assert!(is_current(peer_folder, &bin, &wanted));
        assert!(!is_current(peer_folder, &bin, &stamp("0.4.2", "aa")));
        fs::remove_file(bin.join("bitcoind")).unwrap();
        assert!(!is_current(peer_folder, &bin, &wanted));
    }

    #[test]
    fn a_program_that_is_nowhere_is_named_with_the_way_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        let text = find_with(&folder.path().join("clone"), Peer::Electrs, |_| None).unwrap_err().to_string();
        assert!(text.contains("cargo xtask peers build electrs") && text.contains("PARAFFIN_ELECTRS"), "{text}");
    }
}
