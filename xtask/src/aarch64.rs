//! The float tests for another processor: `cargo xtask aarch64` compiles them for aarch64 and runs them on an emulated one.
//!
//! rustup's targets may be out of reach, so the compiler and its library are Debian's (`rustc-web`), a release near the one that
//! the workspace asks for. The programs are linked statically: a dynamic one hangs at its first thread under Debian 12's qemu.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome, answers, capture};
use xtask::repository::target;

const TARGET: &str = "aarch64-unknown-linux-gnu";
const RUSTC: &str = "/usr/bin/rustc";
const LIBRARY: &str = "/usr/lib/rustlib/aarch64-unknown-linux-gnu/lib";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";
const INSTALL: &str = "dpkg --add-architecture arm64 && apt-get update && apt-get install --no-install-recommends rustc-web \
                       libstd-rust-web-dev libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user";
/// Ours, not the published one that it is compared with.
const PACKAGE: &str = "wasmi_core@0.37.2";

/// Runs the tests and keeps which passed in `benches/results/`.
pub(crate) fn check(root: &Path) -> Outcome {
    let has_compiler = Path::new(RUSTC).is_file() && Path::new(LIBRARY).is_dir();
    if !has_compiler || [LINKER, EMULATOR].iter().any(|program| !answers(program, &["--version"])) {
        return Err(Failure::new(format!("a compiler for aarch64, its library or an emulator is missing: {INSTALL}")));
    }
    let mut command = Command::new("cargo");
    command.current_dir(root).args(["test", "--quiet", "--locked", "--package", PACKAGE, "--target", TARGET]);
    // Examples of the documentation are compiled by a `rustdoc` that would have to fit the compiler.
    command.args(["--lib", "--tests"]);
    // What another compiler made stands apart.
    command.arg("--target-dir").arg(target(root).join("aarch64")).args(["--", "--format", "pretty"]);
    command.env("RUSTC", RUSTC);
    for (setting, value) in [("LINKER", LINKER), ("RUNNER", EMULATOR), ("RUSTFLAGS", "-C target-feature=+crt-static")] {
        command.env(format!("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_{setting}"), value);
    }
    let printed = capture(&mut command)?;
    let passed: Vec<&str> = printed.lines().filter_map(passed).collect();
    if passed.is_empty() {
        return Err(Failure::new("no test was run"));
    }
    let versions = [RUSTC, EMULATOR].map(|program| capture(Command::new(program).arg("--version")).unwrap_or_default());
    let [compiler, emulator] = versions.each_ref().map(|version| version.lines().next().unwrap_or_default());
    let bar = Bar {
        name: "floats on aarch64".to_owned(),
        value: f64::from(u32::try_from(passed.len()).unwrap_or(u32::MAX)),
        floor: Floor::None,
        how: format!("tests of wasmi_core that passed, and none that failed, for {TARGET}: {compiler}, {emulator}"),
    };
    let mut rows = String::new();
    for test in &passed {
        let _ = writeln!(rows, "{test},passed");
    }
    bar.report(root, "cargo xtask aarch64", &format!("test,result\n{rows}"))
}

/// The test of a line `test NAME ... ok`.
fn passed(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... ok")
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn only_tests_that_passed_are_counted() {
        assert_eq!(passed("test slices::tests::tuples ... ok"), Some("slices::tests::tuples"));
        for other in ["test a ... FAILED", "test a ... ignored", "test result: ok. 1 passed", "running 3 tests"] {
            assert_eq!(passed(other), None, "{other}");
        }
    }
}
