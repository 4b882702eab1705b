//! A compiler that builds for wasm, for the tests of verification: Debian's, with the sources of its library.

use std::path::Path;
use std::process::Command;

use crate::process::{Outcome, capture, run};

const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];
/// Where rustup keeps the library of a target, and where Debian keeps the library's sources.
const TARGET: &str = "lib/rustlib/wasm32-unknown-unknown/lib";
const SOURCES: &str = "/usr/lib/rustlib/src/rust/library/core";

/// What to do about a missing compiler, for the list of what a run left out.
pub(crate) const HOW: &str = "`apt-get install rustc-web rust-web-src`, or `rustup target add wasm32-unknown-unknown`";

/// Whether something here builds for wasm.
pub(crate) fn is_found() -> bool {
    let sysroot = capture(Command::new("rustc").args(["--print", "sysroot"]));
    sysroot.is_ok_and(|sysroot| Path::new(sysroot.trim()).join(TARGET).is_dir()) || Path::new(SOURCES).is_dir()
}

/// Installs what is missing; on a build machine, as root.
pub(crate) fn install() -> Outcome {
    if is_found() {
        return Ok(());
    }
    let mut update = Command::new("apt-get");
    run(update.args(["update", "-q"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "-q", "--no-install-recommends"]).args(PACKAGES);
    run(install.env("DEBIAN_FRONTEND", "noninteractive"))
}
