//! Programs of Debian packages that tests start.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{Failure, Outcome, capture};

/// Where Debian keeps servers, which the `PATH` of a user need not name.
const SERVERS: &str = "/usr/sbin";

/// What some tests need and most machines lack.
pub struct Part {
    /// Which tests.
    pub tests: &'static str,
    is_found: fn() -> bool,
    packages: &'static [&'static str],
}

/// All of them. A test that lacks its part fails in CI.
pub const PARTS: [Part; 7] = [
    Part {
        tests: "tests with a browser",
        is_found: || programs_found(&["chromium", "chromedriver"]),
        packages: &["chromium", "chromium-driver"],
    },
    Part {
        tests: "tests of the order book with a message server",
        is_found: || programs_found(&["nats-server", "openssl"]),
        packages: &["nats-server", "openssl"],
    },
    // Its wrapper stands for the programs, which Debian keeps in a folder for each version.
    Part {
        tests: "tests of many gateways with a database server",
        is_found: || programs_found(&["psql", "pg_createcluster"]),
        packages: &["postgresql"],
    },
    Part {
        tests: "tests of many gateways with a cache server",
        is_found: || programs_found(&["redis-server"]),
        packages: &["redis-server"],
    },
    Part {
        tests: "a rolling upgrade behind nginx",
        is_found: || programs_found(&["nginx"]),
        packages: &["nginx-light"],
    },
    Part {
        tests: "tests of the Electrum protocol with a wallet",
        is_found: || programs_found(&["electrum"]),
        packages: &["electrum"],
    },
    Part {
        tests: "builds of contract verification",
        is_found: wasm_is_found,
        packages: &["rustc-web", "rust-web-src"],
    },
];

impl Part {
    /// How to get it, for the list of what a run left out.
    pub fn how(&self) -> String {
        format!("apt-get install {}", self.packages.join(" "))
    }
}

/// The parts that are not there.
pub fn missing() -> Vec<&'static Part> {
    PARTS.iter().filter(|part| !(part.is_found)()).collect()
}

/// Installs the packages of the given parts in one go; as root.
///
/// # Errors
/// The package manager refuses, or a program is still not found.
pub fn install(parts: &[&Part]) -> Outcome {
    let packages: Vec<&str> = parts.iter().flat_map(|part| part.packages.iter().copied()).collect();
    install_packages(&packages)?;
    let still: Vec<&str> = parts.iter().filter(|part| !(part.is_found)()).map(|part| part.tests).collect();
    if still.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} were installed, yet a program for these is not found: {}",
        packages.join(", "),
        still.join("; ")
    )))
}

/// `apt-get install`, after an update of its lists.
///
/// # Errors
/// The package manager refuses.
pub fn install_packages(packages: &[&str]) -> Outcome {
    if packages.is_empty() {
        return Ok(());
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        capture(&mut command)
    };
    apt(&["update", "-q"])?;
    apt(&[&["install", "-y", "-q", "--no-install-recommends"], packages].concat())?;
    Ok(())
}

fn programs_found(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([SERVERS.into()]).collect();
    programs.iter().all(|program| folders.iter().any(|folder| folder.join(program).is_file()))
}

/// A compiler that builds for wasm: rustup's target, or Debian's compiler with the sources of its library.
fn wasm_is_found() -> bool {
    const TARGET: &str = "lib/rustlib/wasm32-unknown-unknown/lib";
    const SOURCES: &str = "/usr/lib/rustlib/src/rust/library/core";
    let sysroot = capture(Command::new("rustc").args(["--print", "sysroot"]));
    sysroot.is_ok_and(|sysroot| Path::new(sysroot.trim()).join(TARGET).is_dir()) || Path::new(SOURCES).is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_packages() {
        assert!(programs_found(&["sh"]));
        let nothing = Part { tests: "x", is_found: || programs_found(&["no-such-program"]), packages: &["one", "two"] };
        assert!(!(nothing.is_found)());
        assert_eq!(nothing.how(), "apt-get install one two");
        install(&[]).unwrap();
    }
}
