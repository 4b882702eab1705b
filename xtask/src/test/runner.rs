//! Runs the tests of the workspace, with nextest where it is installed and with plain `cargo test` where it is not.
//!
//! Either way the last line is the verdict: nextest's summary, or `N passed, N failed` summed over all test programs.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::cargo;
use crate::process::{Failure, Outcome, answers, run, typed};

/// What the tests find in their environment.
pub(super) struct Environment {
    /// A real `bitcoind`.
    pub(super) node: Option<PathBuf>,
    /// Real blocks.
    pub(super) fixtures: Option<PathBuf>,
    /// A test whose optional part is missing must fail instead of saying so: it sees `CI=true`.
    pub(super) strict: bool,
}

impl Environment {
    fn give_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        if let Some(node) = &self.node {
            command.env("PARAFFIN_BITCOIND", node);
        }
        if let Some(fixtures) = &self.fixtures {
            command.env("PARAFFIN_FIXTURES", fixtures);
        }
        if self.strict {
            command.env("CI", "true");
        }
        command
    }
}

/// Runs all tests; the verdict is the last thing printed.
pub(super) fn test(root: &Path, environment: &Environment) -> Outcome {
    if !answers("cargo", &["nextest", "--version"]) {
        println!("=== tests, with cargo test (cargo-nextest is not installed)");
        let mut command = cargo(root);
        command.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
        return summed(environment.give_to(&mut command));
    }
    println!("=== examples in the documentation");
    let mut examples = cargo(root);
    examples.args(["test", "--workspace", "--locked", "--doc", "--quiet"]);
    run(environment.give_to(&mut examples))?;
    println!("=== tests");
    let mut command = cargo(root);
    command.args(["nextest", "run", "--workspace", "--locked", "--no-fail-fast"]);
    run(environment.give_to(&mut command)).map_err(|_| Failure::new("tests failed: see the summary above"))
}

/// Runs the tests of `contracts/`, a workspace of its own with versions of its own.
pub(super) fn contracts(root: &Path) -> Outcome {
    let folder = root.join("contracts");
    let mut command = cargo(&folder);
    command.args(["test", "--workspace", "--locked", "--no-fail-fast", "--quiet"]);
    // Beside the other builds, where a build machine keeps them from one run to the next.
    command.arg("--target-dir").arg(crate::bars::target(root).join("contracts"));
    summed(&mut command)
}

/// Shows what `cargo test` prints and adds up the verdicts of its test programs.
fn summed(command: &mut Command) -> Outcome {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::new(format!("`{}` does not start: {error}", typed(command))))?;
    let mut total = Verdict::default();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            total.add(&line);
        }
    }
    let status = child.wait().map_err(|error| Failure::new(format!("`{}`: {error}", typed(command))))?;
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if status.success() { Ok(()) } else { Err(Failure::new("tests failed: see the summary above")) }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Verdict {
    passed: u64,
    failed: u64,
}

impl Verdict {
    /// Understands `test result: ok. 12 passed; 0 failed; …`.
    fn add(&mut self, line: &str) {
        let Some(result) = line.trim_start().strip_prefix("test result:") else { return };
        let count = |word: &str| {
            let clause = result.split([';', '.']).find_map(|clause| clause.trim().strip_suffix(word))?;
            clause.trim().parse::<u64>().ok()
        };
        self.passed += count("passed").unwrap_or(0);
        self.failed += count("failed").unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_of_several_test_programs_are_added_up() {
        let mut total = Verdict::default();
        total.add("running 3 tests");
        total.add("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        total.add("test result: FAILED. 10 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.50s");
        assert_eq!(total, Verdict { passed: 13, failed: 2 });
    }
}
