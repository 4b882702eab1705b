//! `cargo xtask hosted`: the program with the machine that runs indexer programs of the operator.
//!
//! That machine is a compiler of its own and takes minutes to build, so the default build does without. Both builds have a target
//! folder each and never rebuild each other's parts.

use std::path::Path;
use std::process::Command;

use crate::process::{Outcome, run};
use crate::test::cargo;

/// Where this build goes, from the root.
const TARGET: &str = "target/hosted";
/// Features of the build.
const FEATURES: &str = "paraffin/hosted,paraffin-hosted/machine";

/// Builds the program and says where it is.
pub(crate) fn build(root: &Path) -> Outcome {
    let mut command = cargo(root);
    command.args(["build", "--release", "--locked", "--package", "paraffin", "--features", "hosted"]);
    run(command.args(["--target-dir", TARGET]))?;
    println!("{}", root.join(TARGET).join("release/paraffin").display());
    Ok(())
}

/// Lints and tests what the default build leaves out. A long run prints its figures.
pub(crate) fn test(root: &Path) -> Outcome {
    run(of_both(cargo(root).args(["clippy", "--all-targets", "--quiet"])).args(["--", "-D", "warnings"]))?;
    let mut tests = cargo(root);
    of_both(tests.args(["test", "--lib", "--test", "shadow", "--test", "programs", "--test", "hosted"]));
    if std::env::var_os("PARAFFIN_LONG").is_some() {
        tests.args(["--", "--nocapture"]);
    }
    run(&mut tests)
}

/// The room and the program, with the machine.
fn of_both(command: &mut Command) -> &mut Command {
    command.args(["--locked", "--package", "paraffin-hosted", "--package", "paraffin", "--features", FEATURES]);
    command.args(["--target-dir", TARGET])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::capture;
    use crate::repository;

    #[test]
    fn the_default_build_has_no_machine_and_the_other_one_has() {
        let tree = |more: &[&str]| {
            let mut command = cargo(&repository::root());
            command.args(["tree", "--edges", "normal", "--prefix", "none", "--locked"]);
            capture(command.args(more)).unwrap()
        };
        let has_machine = |tree: &str| tree.lines().any(|line| line.starts_with("wasmtime"));
        assert!(!has_machine(&tree(&["--package", "paraffin"])));
        assert!(!has_machine(&tree(&["--workspace"])));
        assert!(has_machine(&tree(&["--package", "paraffin", "--features", "hosted"])));
    }
}
